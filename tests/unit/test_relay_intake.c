/* SPDX-License-Identifier: MIT */
/*
 * relay_intake.c: a trace that is taken is the trace that was sent; cut anywhere it goes on from there;
 * damaged anywhere it is refused; gaps are counted
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_chunk.h"
#include "format/trace_spec.h"
#include "sampler/relay/relay_intake.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORDING 99
#define SENT_MAX  ((size_t)64 << 10)

struct fixture {
        struct trace_builder trace;
        uint8_t *bytes; /* heap: the trace as it goes over the connection, without its trailer */
        size_t n_bytes;
        int file_fd, place_fd;
        bool is_deaf; /* the recorder: it hears nothing of the taker */
        struct relay_place place;
        struct relay_intake intake;
        struct error err;
};

static struct fixture f;

static void setup(void)
{
        off_t end;
        size_t got;

        memset(&f, 0, sizeof(f));
        trace_builder_init(&f.trace);
        small_trace_build(&f.trace);
        end = lseek(f.trace.fd, 0, SEEK_END);
        ck_assert(end > TRACE_TRAILER_BYTES && (size_t)end < SENT_MAX);
        f.n_bytes = (size_t)end - TRACE_TRAILER_BYTES;
        f.bytes = malloc((size_t)end);
        ck_assert_ptr_nonnull(f.bytes);
        ck_assert_int_eq(io_pread_full(f.trace.fd, f.bytes, (size_t)end, 0, &got, NULL), 0);
        f.file_fd = memfd_create("trace", MFD_CLOEXEC);
        f.place_fd = memfd_create("place", MFD_CLOEXEC);
        ck_assert(f.file_fd >= 0 && f.place_fd >= 0);
}

static void teardown(void)
{
        free(f.bytes);
        trace_builder_deinit(&f.trace);
        (void)close(f.file_fd);
        (void)close(f.place_fd);
}

/* The recorder hears a taker, which goes on where it was. */
static void check_asked(int socket_fd)
{
        struct relay_hello asked = { .position = UINT64_MAX };
        uint8_t hello[RELAY_HELLO_BYTES];

        ck_assert_int_eq(recv(socket_fd, hello, sizeof(hello), MSG_WAITALL), sizeof(hello));
        ck_assert_int_eq(relay_hello_decode(hello, true, &asked), 0);
        ck_assert_uint_eq(asked.recording, f.place.recording);
        ck_assert_uint_eq(asked.generation, f.place.generation);
        ck_assert_uint_eq(asked.position, f.place.position);
}

/* A recorder that answers, sends these bytes, and closes.  Returns the taker's status. */
static int take(enum relay_status status, const uint8_t *bytes, size_t n_bytes)
{
        struct relay_hello answer = { .recording = RECORDING, .generation = 1, .status = status };
        uint8_t hello[RELAY_HELLO_BYTES];
        int ends[2], r;

        answer.position = f.place.position;
        relay_hello_encode(&answer, false, hello);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        ck_assert_int_eq(io_write_all(ends[0], hello, sizeof(hello), NULL), 0);
        ck_assert_int_eq(io_write_all(ends[0], bytes, n_bytes, NULL), 0);
        ck_assert_int_eq(relay_intake_ask(ends[1], &f.place, NULL), 0);
        check_asked(ends[0]);
        ck_assert_int_eq(shutdown(ends[0], f.is_deaf ? SHUT_RDWR : SHUT_WR), 0);
        memset(&f.err, 0, sizeof(f.err));
        r = relay_intake_begin(&f.intake, ends[1], f.file_fd, f.place_fd, &f.place, &f.err);
        if (r == 0)
                while ((r = relay_intake_next(&f.intake, &f.err)) == 1)
                        ;
        relay_intake_deinit(&f.intake);
        (void)close(ends[0]);
        (void)close(ends[1]);
        return r;
}

static void read_place(void)
{
        uint8_t bytes[RELAY_PLACE_BYTES];
        size_t got = 0;

        ck_assert_int_eq(io_pread_full(f.place_fd, bytes, sizeof(bytes), 0, &got, NULL), 0);
        f.place = (struct relay_place){ .recording = 0 };
        ck_assert(got == 0 || relay_place_decode(bytes, &f.place) == 0);
}

static void expect_whole(void)
{
        size_t n = f.n_bytes + TRACE_TRAILER_BYTES, got = 0;
        uint8_t *bytes = malloc(n + 1);

        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(io_pread_full(f.file_fd, bytes, n + 1, 0, &got, NULL), 0);
        ck_assert_uint_eq(got, n);
        ck_assert_mem_eq(bytes, f.bytes, n);
        free(bytes);
}

START_TEST(what_is_taken_is_what_was_sent)
{
        ck_assert_msg(take(RELAY_FRESH, f.bytes, f.n_bytes) == 0, "%s", f.err.text);
        ck_assert(f.intake.is_complete);
        expect_whole();
}
END_TEST

/* Cut every six bytes, it is gone on with, and is the same trace. */
START_LOOP_TEST(a_taker_that_was_cut_off_goes_on, 0, 4)
{
        for (size_t cut = (size_t)_i * 6; cut < f.n_bytes; cut += 24) {
                f.place = (struct relay_place){ .recording = 0 };
                ck_assert_int_eq(ftruncate(f.file_fd, 0) | ftruncate(f.place_fd, 0), 0);
                ck_assert_int_eq(lseek(f.file_fd, 0, SEEK_SET), 0);
                ck_assert_int_eq(take(RELAY_FRESH, f.bytes, cut), -EPIPE);
                read_place();
                ck_assert_uint_le(f.place.position, cut);
                ck_assert_int_eq(io_write_all(f.file_fd, "half a chunk", 12, NULL), 0);
                ck_assert_msg(take(f.place.recording == 0 ? RELAY_FRESH : RELAY_RESUMED,
                                   f.bytes + f.place.position, f.n_bytes - f.place.position) == 0,
                              "cut at %zu: %s", cut, f.err.text);
                expect_whole();
        }
}
END_TEST

/* A recorder that is killed hears no positions any more: what it had sent is taken all the same. */
START_TEST(what_a_dead_recorder_sent_is_taken)
{
        uint64_t positions[2];

        for (int i = 0; i < 2; i++) {
                if (i > 0) {
                        teardown();
                        setup();
                }
                f.is_deaf = i == 1;
                ck_assert_int_eq(take(RELAY_FRESH, f.bytes, f.n_bytes - 1), -EPIPE);
                read_place();
                positions[i] = f.place.position;
                ck_assert_int_eq(
                        take(RELAY_RESUMED, f.bytes + f.place.position, f.n_bytes - f.place.position), 0);
                expect_whole();
        }
        ck_assert_uint_gt(positions[0], 0);
        ck_assert_uint_eq(positions[0], positions[1]);
}
END_TEST

/* A byte that is another: no such trace is whole. */
START_LOOP_TEST(damage_is_refused, 0, 4)
{
        for (size_t i = (size_t)_i * 6; i < f.n_bytes; i += 24) {
                f.bytes[i] ^= 0x10;
                ck_assert_int_eq(ftruncate(f.file_fd, 0), 0);
                ck_assert_int_eq(lseek(f.file_fd, 0, SEEK_SET), 0);
                ck_assert_int_lt(take(RELAY_FRESH, f.bytes, f.n_bytes), 0);
                ck_assert(!f.intake.is_complete);
                f.bytes[i] ^= 0x10;
        }
}
END_TEST

START_TEST(answers_that_are_no_beginning)
{
        ck_assert_int_eq(take(RELAY_BUSY, f.bytes, 0), -EBUSY);
        ck_assert_int_eq(take(RELAY_STALE, f.bytes, 0), -ESTALE);
        ck_assert_int_eq(take(RELAY_RESUMED, f.bytes, 0), -EBADMSG); /* of what? */
        ck_assert_int_eq(take(RELAY_FOREIGN, f.bytes, 0), -EACCES);
        ck_assert_int_eq(take(RELAY_CROWDED, f.bytes, 0), -EUSERS);
        ck_assert_int_eq(take(RELAY_CROWDED + 1, f.bytes, f.n_bytes), -EBADMSG);
        f.place = (struct relay_place){ .recording = RECORDING, .generation = 1 };
        ck_assert_int_eq(take(RELAY_FRESH, f.bytes, 0), -EBADMSG);
}
END_TEST

/* ---- gaps ---------------------------------------------------------------------------------------------- */

static void add_gap(struct byte_buffer *out, uint64_t n_dropped, uint64_t n_taken, uint64_t position)
{
        struct trace_chunk_header header = { .kind = RELAY_GAP_KIND, .first_ns = 5, .last_ns = 6 };
        struct byte_buffer body = { .data = NULL };

        byte_buffer_add_u64(&body, n_dropped);
        byte_buffer_add_u64(&body, n_taken);
        byte_buffer_add_u64(&body, position);
        ck_assert_int_eq(trace_chunk_encode(&header, body.data, body.used_bytes, 1, out, NULL), 0);
        byte_buffer_deinit(&body);
}

/* The FILE chunk, the gaps, and the rest of the trace. */
static int take_with_gaps(size_t n_gaps, const uint64_t numbers[][3])
{
        struct byte_buffer out = { .data = NULL };
        struct trace_chunk_header header;
        size_t first;
        int r;

        ck_assert_int_eq(trace_chunk_decode_header(f.bytes, f.n_bytes, &header, NULL), 0);
        first = TRACE_CHUNK_HEADER_BYTES + (size_t)header.stored_bytes;
        byte_buffer_add(&out, f.bytes, first);
        for (size_t i = 0; i < n_gaps; i++)
                add_gap(&out, numbers[i][0], numbers[i][1], first + numbers[i][2]);
        byte_buffer_add(&out, f.bytes + first, f.n_bytes - first);
        r = take(RELAY_FRESH, out.data, out.used_bytes);
        byte_buffer_deinit(&out);
        return r;
}

START_TEST(gaps_in_a_row_add_up)
{
        static const uint64_t numbers[][3] = { { 7, 0, 100 }, { 30, 400, 200 } };

        ck_assert_msg(take_with_gaps(2, numbers) == 0, "%s", f.err.text);
        ck_assert_uint_eq(f.intake.n_dropped, 37);
        ck_assert_uint_eq(f.intake.n_taken, 400);
        ck_assert_uint_eq(f.intake.place.n_own_rows, 2);
}
END_TEST

START_TEST(gaps_that_make_no_sense_are_refused)
{
        static const uint64_t back[][3] = { { 7, 0, 100 }, { 1, 0, 99 } };
        static const uint64_t over[][3] = { { UINT64_MAX, 0, 100 }, { 1, 0, 100 } };
        static const uint64_t before[][3] = { { 1, 0, (uint64_t)-1 } };

        ck_assert_int_eq(take_with_gaps(2, back), -EBADMSG);
        ck_assert_int_eq(ftruncate(f.file_fd, 0), 0);
        ck_assert_int_eq(take_with_gaps(2, over), -EBADMSG);
        ck_assert_int_eq(ftruncate(f.file_fd, 0), 0);
        ck_assert_int_eq(take_with_gaps(1, before), -EBADMSG);
}
END_TEST

START_TEST(a_place_that_is_damaged_is_none)
{
        struct relay_place place;
        uint8_t bytes[RELAY_PLACE_BYTES];
        size_t got;

        ck_assert_int_eq(take(RELAY_FRESH, f.bytes, f.n_bytes / 2), -EPIPE);
        ck_assert_int_eq(io_pread_full(f.place_fd, bytes, sizeof(bytes), 0, &got, NULL), 0);
        ck_assert_int_eq(relay_place_decode(bytes, &place), 0);
        ck_assert_uint_eq(place.recording, RECORDING);
        for (size_t i = 0; i < sizeof(bytes); i++) {
                bytes[i] ^= 1;
                ck_assert_int_eq(relay_place_decode(bytes, &place), -EBADMSG);
                bytes[i] ^= 1;
        }
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
