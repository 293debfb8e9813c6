/* SPDX-License-Identifier: MIT */
/*
 * relay_server.c, relay_shelf.c: memory stays within its bound, every event is sent or counted exactly once,
 * whatever takers do, and after a gap the STATES chunk comes before events
 */
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_chunk.h"
#include "sampler/relay/relay_server.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORDING  77
#define BYTES_MAX  UINT64_C(8192)
#define BODY_BYTES 200
#define CHUNKS_MAX 4096

/* A taker's file and connection. */
struct taker {
        struct relay_hello place;
        uint64_t position, n_items, n_dropped, n_taken; /* written */
        struct relay_gap gap;                           /* heard, and not written yet */
        bool has_gap, needs_states, has_end;
};

/* After each chunk, all together. */
struct added {
        uint64_t end, n_items;
};

struct fixture {
        struct relay_server server;
        struct taker taker;
        uint64_t n_items;    /* added */
        struct added *added; /* heap */
        size_t n_added;
};

static struct fixture f;

static void set_up(int file_fd, bool drops_newest)
{
        memset(&f, 0, sizeof(f));
        f.server = (struct relay_server){ .recording = RECORDING, .taker_fd = -1, .control_fd = -1 };
        relay_shelf_init(&f.server.shelf, file_fd, BYTES_MAX, drops_newest);
        f.added = calloc(CHUNKS_MAX, sizeof(*f.added));
        ck_assert_ptr_nonnull(f.added);
}

static void disconnect(void)
{
        struct relay_server *s = &f.server;

        if (s->taker_fd >= 0)
                (void)close(s->taker_fd);
        s->taker_fd = -1;
        free(s->own);
        s->own = NULL;
        s->out_left = 0;
        s->n_ack = 0;
        f.taker.has_gap = false;
}

static void teardown(void)
{
        disconnect();
        relay_shelf_deinit(&f.server.shelf);
        free(f.added);
}

static void add_chunk(uint16_t kind, uint32_t n_items)
{
        struct trace_chunk_header header = { .kind = kind, .n_items = n_items, .first_ns = 1, .last_ns = 2 };
        struct byte_buffer out = { .data = NULL };
        uint64_t state = f.server.shelf.end + 1;
        uint8_t body[BODY_BYTES];

        for (size_t i = 0; i < sizeof(body); i++) /* does not shrink */
                body[i] = (uint8_t)(fixed_random_next(&state) >> 32);
        ck_assert_int_eq(trace_chunk_encode(&header, body, sizeof(body), 1, &out, NULL), 0);
        f.server.shelf.told_from = f.server.acked;
        f.server.shelf.told_to = f.server.next_at > f.server.sent_to ? f.server.next_at : f.server.sent_to;
        ck_assert_int_eq(relay_shelf_add(&f.server.shelf, &header, out.data, (uint32_t)out.used_bytes,
                                         f.server.taker_fd >= 0 ? f.server.next_at : 0),
                         0);
        f.n_items += kind == TRACE_CHUNK_EVENTS ? n_items : 0;
        ck_assert_uint_lt(f.n_added, CHUNKS_MAX);
        f.added[f.n_added].end = f.server.shelf.end;
        f.added[f.n_added++].n_items = f.n_items;
}

/* Every event before the taker's position is in its file, or counted there. */
static void expect_all_counted(void)
{
        const struct taker *t = &f.taker;
        uint64_t n = 0;

        for (size_t i = 0; i < f.n_added && f.added[i].end <= t->position; i++)
                n = f.added[i].n_items;
        ck_assert_uint_eq(t->n_items + t->n_dropped + t->n_taken, n);
}

static enum relay_status ask(const struct relay_hello *hello, struct relay_hello *ret)
{
        uint8_t bytes[RELAY_HELLO_BYTES];

        relay_hello_encode(hello, true, bytes);
        ck_assert_int_eq(relay_server_take_hello(&f.server, bytes, ret), 0);
        return (enum relay_status)ret->status;
}

/* Goes on with its file, or begins anew if it has none. */
static void connect_taker(void)
{
        struct taker *t = &f.taker;
        struct relay_hello answer, hello = t->place;
        enum relay_status status;

        hello.position = t->position;
        status = ask(&hello, &answer);
        ck_assert_int_eq(status, hello.recording == 0 ? RELAY_FRESH : RELAY_RESUMED);
        if (status == RELAY_FRESH)
                *t = (struct taker){ .place = answer };
        ck_assert_uint_eq(answer.position, t->position);
        t->has_gap = false;
        f.server.taker_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        ck_assert_int_ge(f.server.taker_fd, 0);
}

static int acknowledge(uint64_t position)
{
        uint8_t bytes[RELAY_ACK_BYTES];

        relay_position_encode(position, bytes);
        return relay_server_take_acks(&f.server, bytes, sizeof(bytes));
}

/* The taker writes a chunk; a gap is written with the chunk after it. */
static void write_chunk(struct taker *t, const struct trace_chunk_header *header, const uint8_t *body,
                        size_t n_bytes)
{
        if (header->kind == RELAY_GAP_KIND) {
                struct byte_reader in = byte_reader_of(body, header->stored_bytes);

                if (!t->has_gap)
                        t->gap = (struct relay_gap){ .n_dropped = 0 };
                t->gap.n_dropped += bytes_u64(&in);
                t->gap.n_taken += bytes_u64(&in);
                t->gap.position = bytes_u64(&in);
                ck_assert(!in.short_read && t->gap.position >= t->position);
                t->has_gap = true;
                return;
        }
        if (t->has_gap) {
                t->n_dropped += t->gap.n_dropped;
                t->n_taken += t->gap.n_taken;
                t->position = t->gap.position;
                t->has_gap = false;
                t->needs_states = true;
        }
        if (header->kind == TRACE_CHUNK_STATES)
                t->needs_states = false;
        if (header->kind == TRACE_CHUNK_EVENTS) {
                ck_assert_msg(!t->needs_states, "events after a gap without what is open");
                t->n_items += header->n_items;
        }
        t->has_end = t->has_end || header->kind == TRACE_CHUNK_INDEX;
        t->position += n_bytes;
}

/* One chunk on its way; @is_written: else the taker dies before.  Returns false when there is nothing. */
static bool give_chunk(bool is_written)
{
        struct relay_server *s = &f.server;
        struct trace_chunk_header header;
        size_t n_bytes;
        int r = relay_server_choose(s);

        ck_assert_int_ge(r, 0);
        if (r == 0)
                return false;
        n_bytes = s->out_left;
        ck_assert_int_eq(trace_chunk_decode_header(s->out, n_bytes, &header, NULL), 0);
        ck_assert_uint_eq(n_bytes, TRACE_CHUNK_HEADER_BYTES + header.stored_bytes);
        if (is_written)
                write_chunk(&f.taker, &header, s->out + TRACE_CHUNK_HEADER_BYTES, n_bytes);
        expect_all_counted();
        s->out_left = 0;
        s->whole_at = s->next_at;
        return true;
}

static void take_all(void)
{
        while (give_chunk(true))
                ck_assert_int_eq(acknowledge(f.taker.position), 0);
}

static void check_memory(void)
{
        uint64_t used = 0, pinned = 0;

        for (size_t i = 0; i < f.server.shelf.n_chunks; i++) {
                const struct shelf_chunk *c = &f.server.shelf.chunks[i];

                if (!c->bytes || (c->kind != TRACE_CHUNK_EVENTS && c->kind != TRACE_CHUNK_STATES))
                        continue;
                used += c->n_bytes;
                pinned += f.server.taker_fd >= 0 && c->at < f.server.next_at ? c->n_bytes : 0;
        }
        ck_assert_uint_eq(used, f.server.shelf.used_bytes);
        ck_assert_uint_le(used - pinned, BYTES_MAX + BODY_BYTES + TRACE_CHUNK_HEADER_BYTES);
}

/* ---- what is dropped ----------------------------------------------------------------------------------- */

static void add_many(unsigned n)
{
        for (unsigned i = 1; i <= n; i++) {
                add_chunk(TRACE_CHUNK_EVENTS, i);
                if (i % 4 == 0)
                        add_chunk(TRACE_CHUNK_STATES, 1);
                check_memory();
        }
}

static const struct shelf_chunk *find_events(bool last)
{
        const struct shelf_chunk *found = NULL;

        for (size_t i = 0; i < f.server.shelf.n_chunks && (last || !found); i++)
                if (f.server.shelf.chunks[i].kind == TRACE_CHUNK_EVENTS && f.server.shelf.chunks[i].bytes)
                        found = &f.server.shelf.chunks[i];
        ck_assert_ptr_nonnull(found);
        return found;
}

START_LOOP_TEST(the_oldest_or_the_newest_events_are_dropped, 0, 2)
{
        bool newest = _i == 1;

        set_up(-1, newest);
        add_chunk(TRACE_TABLE_STRINGS, 5);
        add_many(200);
        ck_assert_uint_gt(f.server.shelf.n_dropped, 0);
        if (newest)
                ck_assert_uint_eq(find_events(false)->n_items, 1);
        else
                ck_assert_uint_ge(find_events(true)->n_items, 196);
        ck_assert_uint_eq(newest, find_events(true)->n_items < 100);
        ck_assert_ptr_nonnull(f.server.shelf.chunks[0].bytes); /* tables stay */
        add_chunk(TRACE_CHUNK_INDEX, 0);
        connect_taker();
        take_all();
        ck_assert(f.taker.has_end);
        ck_assert_uint_eq(f.taker.position, f.server.shelf.end);
        expect_all_counted();
        ck_assert_uint_eq(f.taker.n_dropped, f.server.shelf.n_dropped);
}
END_TEST

START_TEST(with_a_file_nothing_is_dropped)
{
        int fd = memfd_create("relay", MFD_CLOEXEC);

        set_up(fd, false);
        add_many(300);
        add_chunk(TRACE_CHUNK_INDEX, 0);
        ck_assert_uint_eq(f.server.shelf.used_bytes, 0);
        for (unsigned turn = 0; turn < 2; turn++) { /* the second begins anew, and has all of it, too */
                f.taker = (struct taker){ .position = 0 };
                connect_taker();
                take_all();
                ck_assert_uint_eq(f.taker.n_items, f.n_items);
                disconnect();
        }
        (void)close(fd);
}
END_TEST

/* The file of a full disk is left as it is, and the rest waits in memory. */
START_TEST(a_file_that_cannot_be_written_is_no_end)
{
        int fd = open("/dev/full", O_RDWR | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        set_up(fd, false);
        add_many(10);
        ck_assert_int_eq(f.server.shelf.file_error, -ENOSPC);
        connect_taker();
        take_all();
        ck_assert_uint_eq(f.taker.n_items, f.n_items);
        (void)close(fd);
}
END_TEST

/* A disk that is full in the middle: who begins anew gets what is in the file and what is in memory. */
START_TEST(after_a_full_disk_a_taker_begins_anew)
{
        int fd = memfd_create("relay", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        uint64_t n_taken = 0;

        ck_assert_int_eq(ftruncate(fd, 2000), 0);
        ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
        set_up(fd, false);
        add_many(20);
        ck_assert_int_eq(f.server.shelf.file_error, -EPERM);
        for (unsigned turn = 0; turn < 2; turn++) {
                f.taker = (struct taker){ .position = 0 };
                connect_taker();
                take_all();
                ck_assert_uint_eq(f.taker.n_items + f.taker.n_taken, f.n_items);
                n_taken = f.taker.n_taken;
                disconnect();
        }
        ck_assert_uint_gt(n_taken, 0);
        ck_assert_uint_lt(n_taken, f.n_items);
        (void)close(fd);
}
END_TEST

/* ---- what comes from the recorder ---------------------------------------------------------------------- */

enum { HALF_A_CHUNK = 1, GARBAGE, QUIET };

/* How what the recorder writes ends, what becomes of the relay then, and how much of it is a trace. */
static const struct {
        int end;
        int wanted;
        unsigned n_whole; /* chunks */
        bool is_complete;
} inputs[] = {
        { 0, 0, 4, true },
        { HALF_A_CHUNK, 0, 3, false }, /* it was killed */
        { GARBAGE, -EBADMSG, 2, false },
        { QUIET, 0, 3, false }, /* it writes no more for now, and then says that the relay is to end */
};

static void add_input(struct byte_buffer *to, uint16_t kind)
{
        struct trace_chunk_header header = { .kind = kind, .n_items = 1, .first_ns = 1, .last_ns = 2 };
        uint8_t body[BODY_BYTES] = { 1, 2, 3 };

        ck_assert_int_eq(trace_chunk_encode(&header, body, sizeof(body), 1, to, NULL), 0);
}

/* In pieces, as a pipe gives them: each chunk is in the file, and what is no chunk ends the relay. */
START_LOOP_TEST(what_the_recorder_writes_is_in_the_file, 0, sizeof(inputs) / sizeof(inputs[0]))
{
        static const uint16_t kinds[] = { TRACE_TABLE_STRINGS, TRACE_CHUNK_EVENTS, TRACE_CHUNK_EVENTS,
                                          TRACE_CHUNK_INDEX };
        static const uint8_t trailer[TRACE_TRAILER_BYTES] = "trailer";
        int end = inputs[_i].end, pipe_fds[2], control[2], fd = memfd_create("relay", MFD_CLOEXEC);
        struct byte_buffer input = { .data = NULL };
        size_t ends[5] = { 0 }, n_bytes;
        struct relay_report report;
        uint8_t *bytes;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
        set_up(fd, false);
        f.server.input_fd = pipe_fds[0];
        f.server.control_fd = control[0];
        f.server.listen_fd = f.server.tcp_fd = -1;
        for (size_t i = 0; i < 4; i++) {
                add_input(&input, kinds[i]);
                ends[i + 1] = input.used_bytes;
        }
        if (end == GARBAGE)
                input.data[ends[2]] ^= 0xff; /* the beginning of the third */
        if (end == HALF_A_CHUNK || end == QUIET)
                input.used_bytes = ends[3] + (ends[4] - ends[3]) / 2;
        else
                byte_buffer_add(&input, trailer, sizeof(trailer));
        ck_assert_int_eq(write(pipe_fds[1], input.data, input.used_bytes), (ssize_t)input.used_bytes);
        if (end == QUIET)
                ck_assert_int_eq(write(control[1], "", 1), 1);
        else
                (void)close(pipe_fds[1]);

        ck_assert_int_eq(relay_server_run(&f.server), inputs[_i].wanted);
        ck_assert_int_eq(recv(control[1], &report, sizeof(report), MSG_DONTWAIT), sizeof(report));
        ck_assert_uint_eq(report.news, RELAY_ENDED);
        ck_assert_uint_eq(report.is_complete, inputs[_i].is_complete);
        ck_assert_int_eq(report.file_error, 0);
        ck_assert_uint_eq(f.server.shelf.n_chunks, inputs[_i].n_whole);
        n_bytes = inputs[_i].is_complete ? input.used_bytes : ends[inputs[_i].n_whole];
        bytes = malloc(n_bytes + 1);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(pread(fd, bytes, n_bytes + 1, 0), (ssize_t)n_bytes);
        ck_assert_mem_eq(bytes, input.data, n_bytes);
        free(bytes);
        free(f.server.in);
        byte_buffer_deinit(&input);
        (void)close(fd);
        (void)close(control[0]);
        (void)close(control[1]);
        (void)close(pipe_fds[0]);
        if (end == QUIET)
                (void)close(pipe_fds[1]);
}
END_TEST

/* ---- takers -------------------------------------------------------------------------------------------- */

START_TEST(one_taker_at_a_time_unless_it_is_the_same)
{
        struct relay_hello answer, hello = { .recording = 0 };

        set_up(-1, false);
        add_many(3);
        connect_taker();
        ck_assert(give_chunk(true));
        ck_assert_int_eq(acknowledge(f.taker.position), 0);
        ck_assert_int_eq(ask(&hello, &answer), RELAY_BUSY);
        hello = f.taker.place;
        hello.position = f.server.sent_to + 1;
        ck_assert_int_eq(ask(&hello, &answer), RELAY_BUSY); /* it cannot have that */
        ck_assert_int_ge(f.server.taker_fd, 0);
        hello.position = f.taker.position;
        ck_assert_int_eq(ask(&hello, &answer), RELAY_RESUMED);
        ck_assert_int_eq(f.server.taker_fd, -1); /* the connection before it is dead */
        hello.generation--;
        ck_assert_int_eq(ask(&hello, &answer), RELAY_STALE);
        hello.recording++;
        ck_assert_int_eq(ask(&hello, &answer), RELAY_STALE);
}
END_TEST

START_TEST(garbage_is_refused_and_changes_nothing)
{
        uint8_t bytes[RELAY_HELLO_BYTES];
        struct relay_hello answer, hello = { .recording = 0 };

        set_up(-1, false);
        add_many(3);
        for (size_t i = 0; i < 8; i++) { /* the magic */
                relay_hello_encode(&hello, true, bytes);
                bytes[i] ^= 1;
                ck_assert_int_eq(relay_server_take_hello(&f.server, bytes, &answer), -EBADMSG);
        }
        relay_hello_encode(&hello, false, bytes); /* a recorder's */
        ck_assert_int_eq(relay_server_take_hello(&f.server, bytes, &answer), -EBADMSG);
        ck_assert_uint_eq(f.server.generation, 0);
        connect_taker();
        ck_assert(give_chunk(true));
        ck_assert_int_eq(acknowledge(f.server.whole_at + 1), -EBADMSG); /* has not been sent */
        ck_assert_uint_eq(f.server.acked, 0);
        ck_assert_int_eq(acknowledge(f.taker.position), 0);
        ck_assert_int_eq(acknowledge(0), 0); /* never backwards */
        ck_assert_uint_eq(f.server.acked, f.taker.position);
}
END_TEST

/* A taker that does not confirm gets a window's worth; the recorder goes on within its memory. */
START_TEST(a_taker_that_stalls_holds_little)
{
        unsigned n = 0;

        set_up(-1, false);
        add_many(20);
        connect_taker();
        while (give_chunk(true))
                n++;
        ck_assert_uint_le(f.server.next_at, BYTES_MAX / 4 + 2 * (BODY_BYTES + TRACE_CHUNK_HEADER_BYTES));
        add_many(500);
        ck_assert_uint_gt(f.server.shelf.n_dropped, 0);
        add_chunk(TRACE_CHUNK_INDEX, 0);
        ck_assert_int_eq(acknowledge(f.taker.position), 0);
        take_all();
        ck_assert(f.taker.has_end && n > 0);
        expect_all_counted();
}
END_TEST

/* A taker that confirms one position for ever: a recorder with a file does not wait for it. */
START_TEST(the_same_position_again_is_no_progress)
{
        set_up(-1, false);
        add_many(4);
        connect_taker();
        ck_assert(give_chunk(true));
        f.server.progress_ns = 0;
        ck_assert_int_eq(acknowledge(0), 0);
        ck_assert_uint_eq(f.server.progress_ns, 0);
        ck_assert_int_eq(acknowledge(f.taker.position), 0);
        ck_assert_uint_gt(f.server.progress_ns, 0);
        f.server.progress_ns = 0;
        ck_assert_int_eq(acknowledge(f.taker.position), 0);
        ck_assert_uint_eq(f.server.progress_ns, 0);
}
END_TEST

/* Returns the chunk that is chosen next, decoded. */
static void expect_answer(uint64_t asked_ns)
{
        struct trace_chunk_header header;
        struct byte_buffer body = { .data = NULL };
        struct byte_reader in;
        uint64_t heard_ns;

        ck_assert_int_eq(relay_server_choose(&f.server), 1);
        ck_assert(f.server.sends_time);
        ck_assert_int_eq(trace_chunk_decode_header(f.server.out, f.server.out_left, &header, NULL), 0);
        ck_assert_uint_eq(header.kind, RELAY_TIME_KIND);
        ck_assert_int_eq(trace_chunk_decode_body(&header, f.server.out,
                                                 f.server.out + TRACE_CHUNK_HEADER_BYTES, &body, NULL),
                         0);
        ck_assert_uint_eq(body.used_bytes, RELAY_TIME_BYTES);
        in = byte_reader_of(body.data, body.used_bytes);
        ck_assert_uint_eq(bytes_u64(&in), asked_ns);
        heard_ns = bytes_u64(&in);
        ck_assert_uint_gt(heard_ns, 0);
        ck_assert_uint_ge(bytes_u64(&in), heard_ns);
        byte_buffer_deinit(&body);
        f.server.out_left = 0;
        f.server.sends_time = false;
}

/* A question is answered before what waits, moves no position and is no progress; a flood has one answer. */
START_TEST(questions_are_answered_first)
{
        uint64_t next_at;

        set_up(-1, false);
        add_many(4);
        connect_taker();
        ck_assert(give_chunk(true));
        ck_assert_int_eq(acknowledge(f.taker.position), 0);
        f.server.progress_ns = 0;
        next_at = f.server.next_at;
        for (uint64_t i = 0; i < 1000; i++)
                ck_assert_int_eq(acknowledge(RELAY_ASKS | (5000 + i)), 0);
        expect_answer(5999);
        ck_assert_uint_eq(f.server.next_at, next_at);
        ck_assert_uint_eq(f.server.acked, f.taker.position);
        ck_assert_uint_eq(f.server.progress_ns, 0);
        take_all();
        expect_all_counted();
        /* Any time is one, and a taker that does not confirm gets its answer all the same. */
        ck_assert_int_eq(acknowledge(UINT64_MAX), 0);
        expect_answer(UINT64_MAX >> 1);
}
END_TEST

/* Killed at any moment, with a file that is kept or lost: @_i is where chance begins. */
START_LOOP_TEST(every_event_is_there_or_counted, 0, 40)
{
        uint64_t chance = (uint64_t)_i + 1;

        set_up(-1, _i % 2 == 1);
        for (unsigned step = 0; step < 3000; step++) {
                uint64_t dice = fixed_random_next(&chance) >> 40;
                bool is_connected = f.server.taker_fd >= 0;

                if (dice % 16 < 5)
                        add_chunk(TRACE_CHUNK_EVENTS, (uint32_t)(dice >> 8) % 1000);
                else if (dice % 16 == 5)
                        add_chunk(TRACE_CHUNK_STATES, 1);
                else if (dice % 16 == 6)
                        add_chunk(TRACE_TABLE_STRINGS, 1);
                else if (!is_connected && dice % 16 < 9)
                        connect_taker();
                else if (is_connected && dice % 512 < 32)
                        disconnect();
                else if (is_connected && dice % 4 == 3 && !f.taker.has_gap)
                        ck_assert_int_eq(acknowledge(f.taker.position), 0);
                else if (is_connected && dice % 256 == 250) {
                        (void)give_chunk(false);
                        disconnect();
                } else if (is_connected)
                        (void)give_chunk(true);
                if (f.server.taker_fd < 0 && dice % 2048 == 1024) /* its file is lost */
                        f.taker = (struct taker){ .position = 0 };
                check_memory();
        }
        add_chunk(TRACE_CHUNK_STATES, 1);
        add_chunk(TRACE_CHUNK_INDEX, 0);
        if (f.server.taker_fd < 0)
                connect_taker();
        ck_assert(f.taker.has_gap || acknowledge(f.taker.position) == 0);
        take_all();
        ck_assert(f.taker.has_end);
        ck_assert_uint_eq(f.taker.position, f.server.shelf.end);
        expect_all_counted();
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
