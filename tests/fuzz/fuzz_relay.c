/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: both ends of a connection between recorder and taker, by the first byte.  A taker may send
 * anything: no position is believed that was not sent.  A recorder may send anything: the taker ends with a
 * status, and a trace that it calls whole has had its index.
 */
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_chunk.h"
#include "format/trace_spec.h"
#include "sampler/relay/relay_address.h"
#include "sampler/relay/relay_intake.h"
#include "sampler/relay/relay_server.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORDING   7
#define BYTES_MAX   UINT64_C(4096)
#define SEND_MAX    ((size_t)128 << 10) /* fits into a socket before it is read */
#define CHUNK_BYTES 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(bool holds)
{
        if (!holds)
                abort();
}

/* ---- the recorder's side: a taker's bytes -------------------------------------------------------------- */

static void add(struct relay_server *s, uint8_t number)
{
        static const uint16_t kinds[] = { TRACE_CHUNK_EVENTS, TRACE_CHUNK_EVENTS, TRACE_CHUNK_STATES,
                                          TRACE_TABLE_STRINGS };
        struct trace_chunk_header header = { .kind = kinds[number % 4], .n_items = number };
        struct byte_buffer out = { .data = NULL };
        uint8_t body[CHUNK_BYTES];

        memset(body, number, sizeof(body));
        require(trace_chunk_encode(&header, body, sizeof(body), 1, &out, NULL) == 0);
        s->shelf.told_from = s->acked;
        s->shelf.told_to = s->next_at > s->sent_to ? s->next_at : s->sent_to;
        require(relay_shelf_add(&s->shelf, &header, out.data, (uint32_t)out.used_bytes,
                                s->taker_fd >= 0 ? s->next_at : 0) == 0);
}

static void feed_hello(struct relay_server *s, struct byte_reader *in)
{
        uint8_t bytes[RELAY_HELLO_BYTES] = { 0 };
        struct relay_hello answer;
        size_t n = in->left < sizeof(bytes) ? in->left : sizeof(bytes);

        memcpy(bytes, in->at, n);
        in->at += n;
        in->left -= n;
        if (relay_server_take_hello(s, bytes, &answer) < 0)
                return;
        require(answer.status <= RELAY_STALE);
        if (answer.status <= RELAY_RESUMED && s->taker_fd < 0)
                s->taker_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void acks(struct relay_server *s, struct byte_reader *in)
{
        size_t n = in->left < 16 ? in->left : 16;

        if (relay_server_take_acks(s, in->at, n) < 0)
                s->n_ack = 0;
        in->at += n;
        in->left -= n;
        require(s->acked <= s->whole_at || s->whole_at == 0);
}

static void server(struct byte_reader in)
{
        struct relay_server s = { .recording = RECORDING, .taker_fd = -1, .control_fd = -1 };

        relay_shelf_init(&s.shelf, -1, BYTES_MAX, in.left % 2 == 1);
        while (in.left > 0) {
                uint8_t step = bytes_u8(&in);

                if (step < 32) {
                        feed_hello(&s, &in);
                } else if (step < 64 && s.taker_fd >= 0) {
                        acks(&s, &in);
                } else if (step < 128 && s.taker_fd >= 0) {
                        require(relay_server_choose(&s) >= 0);
                        s.out_left = 0;
                        s.whole_at = s.next_at;
                } else {
                        add(&s, step);
                }
                require(s.next_at <= s.shelf.end && s.acked <= s.shelf.end);
        }
        free(s.own);
        io_close(&s.taker_fd);
        relay_shelf_deinit(&s.shelf);
}

/* ---- the taker's side: a recorder's bytes -------------------------------------------------------------- */

/* Chunks with the right checksum, so that what is in them is looked at: kind, items, length, body. */
static void seal(struct byte_reader in, struct byte_buffer *out)
{
        while (in.left > 4 && out->used_bytes < SEND_MAX) {
                struct trace_chunk_header header = { .kind = bytes_u16(&in) };
                size_t n = bytes_u8(&in);

                header.n_items = bytes_u8(&in);
                n = n < in.left ? n : in.left;
                require(trace_chunk_encode(&header, in.at, n, 1, out, NULL) == 0);
                in.at += n;
                in.left -= n;
        }
}

static void feed_intake(const uint8_t *bytes, size_t n_bytes, bool answers)
{
        struct relay_hello answer = { .recording = RECORDING, .features = RELAY_FEATURE_TIME };
        struct relay_place place = { .recording = 0 };
        struct relay_intake intake = { .n_chunks = 0 };
        uint8_t hello[RELAY_HELLO_BYTES];
        int file_fd = memfd_create("trace", MFD_CLOEXEC), place_fd = memfd_create("place", MFD_CLOEXEC);
        int ends[2], r;

        require(file_fd >= 0 && place_fd >= 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        relay_hello_encode(&answer, false, hello);
        require(!answers || io_write_all(ends[0], hello, sizeof(hello), NULL) == 0);
        require(io_write_all(ends[0], bytes, n_bytes < SEND_MAX ? n_bytes : SEND_MAX, NULL) == 0);
        require(shutdown(ends[0], SHUT_WR) == 0);
        require(relay_intake_ask(ends[1], &place, NULL) == 0);
        r = relay_intake_begin(&intake, ends[1], file_fd, place_fd, &place, NULL);
        relay_intake_measure(&intake, (struct boot_number){ .low = 1 });
        if (r == 0)
                while ((r = relay_intake_next(&intake, NULL)) == 1)
                        ;
        require((r == 0) == intake.is_complete);
        require(intake.wire_bytes <= n_bytes + sizeof(hello));
        relay_intake_deinit(&intake);
        for (int i = 0; i < 2; i++)
                io_close(&ends[i]);
        io_close(&file_fd);
        io_close(&place_fd);
}

/* ---- an address, as a person writes it ----------------------------------------------------------------- */

static void feed_address(struct byte_reader in)
{
        struct relay_address address;
        char text[300];
        size_t n = in.left < sizeof(text) - 1 ? in.left : sizeof(text) - 1;

        memcpy(text, in.at, n);
        text[n] = '\0';
        if (relay_address_parse(text, &address, NULL) < 0)
                return;
        require(memchr(address.path, '\0', sizeof(address.path)) != NULL);
        require(address.path[0] == '\0' || address.port == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct byte_buffer sealed = { .data = NULL };
        struct byte_reader in = byte_reader_of(data, n_bytes);
        uint8_t side = bytes_u8(&in);

        if (in.short_read)
                return 0;
        switch (side % 5) {
        case 0:
                server(in);
                break;
        case 1:
                feed_intake(in.at, in.left, false);
                break;
        case 2:
                feed_intake(in.at, in.left, true);
                break;
        case 3:
                seal(in, &sealed);
                feed_intake(sealed.data ? sealed.data : data, sealed.used_bytes, true);
                byte_buffer_deinit(&sealed);
                break;
        default:
                feed_address(in);
        }
        return 0;
}
