/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/ring_dump.c, dump_head.c, writer_thread.c: dumps of a ring are whole traces of
 * their own, while it goes on
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/chunk_ring.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "sampler/merge/dump_head.h"
#include "sampler/merge/ring_dump.h"
#include "sampler/merge/writer_thread.h"
#include "tests/unit/event_list.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define S UINT64_C(1000000000)

struct fixture {
        struct trace_dictionary dictionary;
        struct event_encoder *encoder; /* heap: it is large */
        struct chunk_ring ring;
        struct writer_thread *thread;
};

static struct fixture f;

/* A trace that a dump went into, in memory. */
struct dumped {
        int fd;
        struct trace_writer *writer;
};

static uint32_t string(const char *text)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(&f.dictionary, text, strlen(text), &id), 0);
        return id;
}

static void row(enum trace_table table, const void *bytes)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, table, bytes, &id), 0);
}

static void setup(void)
{
        struct writer_thread_target target = { .ring = &f.ring };

        memset(&f, 0, sizeof(f));
        trace_dictionary_init(&f.dictionary, 0);
        f.encoder = malloc(sizeof(*f.encoder));
        ck_assert_ptr_nonnull(f.encoder);
        event_encoder_init(f.encoder);
        chunk_ring_init(&f.ring,
                        &(struct chunk_ring_options){ .keep_ns = 5 * S, .bytes_max = UINT64_C(1) << 30 });
        ck_assert_int_eq(writer_thread_start_for(&target, -1, -1, &f.thread, NULL), 0);
        row(TRACE_TABLE_META,
            &(struct trace_meta){ .key = string("start_raw_ns"), .value = string("1000000000") });
        row(TRACE_TABLE_META, &(struct trace_meta){ .key = string("command"), .value = string("x") });
        row(TRACE_TABLE_LOSSES, &(struct trace_loss){ .reason = 1, .count = 1, .time_ns = 2 * S });
        row(TRACE_TABLE_LOSSES, &(struct trace_loss){ .reason = 1, .count = 2, .time_ns = 20 * S });
        row(TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 10 });
        row(TRACE_TABLE_THREADS, &(struct trace_thread){ .process = 1, .tid = 11 });
        row(TRACE_TABLE_LOCATIONS, &(struct trace_location){ .name = string("zone") });
        row(TRACE_TABLE_FRAMES, &(struct trace_frame){ .offset = 1 });
}

static void teardown(void)
{
        if (f.thread)
                ck_assert_int_eq(writer_thread_join(f.thread, NULL), 0); /* nothing was wrong */
        chunk_ring_deinit(&f.ring);
        event_encoder_deinit(f.encoder);
        free(f.encoder);
        trace_dictionary_deinit(&f.dictionary);
}

/* As the merge does. */
static void put_tables(void)
{
        for (uint32_t table = TRACE_TABLE_FIRST; table < TRACE_TABLE_FIRST + TRACE_TABLE_COUNT; table++) {
                struct trace_chunk_header header = { .kind = (uint16_t)table };
                struct byte_buffer body = { .data = NULL };

                if (dump_head_has_table(table))
                        continue;
                ck_assert_int_eq(trace_dictionary_encode(&f.dictionary, (enum trace_table)table, &body,
                                                         &header.n_items),
                                 0);
                if (header.n_items > 0)
                        ck_assert_int_eq(writer_thread_put(f.thread, &header, &body), 0);
                byte_buffer_deinit(&body);
        }
}

/*
 * A zone that begins at each second from @first on, and ends half a second later: one
 * ends as the dumps begin.
 */
static void put_zones(unsigned first, unsigned n)
{
        for (unsigned i = first; i < first + n; i++) {
                struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
                struct byte_buffer body = { .data = NULL };

                event_encoder_begin_run(f.encoder, 1);
                event_encoder_begin_zone(f.encoder, i * S, 1);
                event_encoder_end_zone(f.encoder, i * S + S / 2);
                event_encoder_end_run(f.encoder);
                ck_assert_int_eq(event_encoder_take(f.encoder, &body, &header.first_ns, &header.last_ns,
                                                    &header.n_items),
                                 0);
                ck_assert_int_eq(writer_thread_put(f.thread, &header, &body), 0);
        }
}

/* The steps of a recorder for a dump. */
static struct dumped dump(uint64_t end_ns, bool is_last)
{
        struct dumped d = { .fd = memfd_create("dump", MFD_CLOEXEC) };
        struct dump_head head = { .keep = "5s",
                                  .cause = "test",
                                  .pauses = is_last ? "" : "1 time",
                                  .start_ns = S,
                                  .end_ns = end_ns,
                                  .is_last = is_last };
        struct writer_thread_snapshot snapshot;
        struct ring_dump *ring_dump, *done;

        ck_assert_int_ge(d.fd, 0);
        ck_assert_int_eq(trace_writer_new(d.fd, &d.writer, NULL), 0);
        ck_assert_int_eq(writer_thread_ask_snapshot(f.thread, end_ns), 0);
        ck_assert(writer_thread_take_snapshot(f.thread, true, &snapshot));
        head.from_ns = snapshot.from_ns;
        head.n_open = snapshot.n_open;
        head.is_cut = snapshot.is_cut;
        ring_dump = ring_dump_new(d.writer);
        ck_assert_ptr_nonnull(ring_dump);
        ring_dump->goes_on = is_last;
        ck_assert_int_eq(dump_head_add(&head, &f.dictionary, ring_dump), 0);
        put_tables();
        ck_assert_int_eq(writer_thread_put_dump(f.thread, ring_dump), 0);
        put_zones(1000, is_last ? 0 : 30); /* the ring rolls over meanwhile */
        done = writer_thread_take_dump(f.thread, true);
        ck_assert_ptr_eq(done, ring_dump);
        ck_assert_int_eq(done->failure.code, 0);
        ring_dump_free(done);
        return d;
}

static bool has_meta(const struct trace_dictionary *d, const char *key, const char *value)
{
        unsigned n_found = 0;
        bool equal = false;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_META); i++) {
                const struct trace_meta *meta = trace_dictionary_row(d, TRACE_TABLE_META, i);
                size_t n_bytes;
                const char *text = trace_dictionary_string(d, meta->key, &n_bytes);

                if (n_bytes != strlen(key) || memcmp(text, key, n_bytes) != 0)
                        continue;
                n_found++;
                text = trace_dictionary_string(d, meta->value, &n_bytes);
                equal = n_bytes == strlen(value) && memcmp(text, value, n_bytes) == 0;
        }
        return n_found == 1 && equal;
}

/* A whole trace of six zones, and what it says of itself. */
static struct trace_reader *expect_trace(const struct dumped *d, uint64_t first_ns, const char *from,
                                         const char *end, struct trace_dictionary **ret_rows)
{
        struct event_list list = { .events = NULL };
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        char path[40];

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", d->fd);
        ck_assert_msg(trace_reader_open(path, &reader, &err) == 0, "%s", err.text);
        event_list_read(&list, reader);
        *ret_rows = trace_reader_edit(reader);
        ck_assert_uint_eq(list.n_events, 12);
        ck_assert_uint_eq(event_list_get(&list, 1, 0)->time_ns, first_ns);
        ck_assert(has_meta(*ret_rows, "start_raw_ns", from));
        ck_assert(has_meta(*ret_rows, "end_raw_ns", end));
        ck_assert(has_meta(*ret_rows, "ring", "5s"));
        ck_assert(has_meta(*ret_rows, "ring_cause", "test"));
        ck_assert(has_meta(*ret_rows, "recording_start_raw_ns", "1000000000"));
        ck_assert(has_meta(*ret_rows, "command", "x"));
        event_list_deinit(&list);
        return reader;
}

static void close_dump(struct dumped *d)
{
        trace_writer_free(d->writer);
        ck_assert_int_eq(close(d->fd), 0);
}

/* One after the other, each with its own time and with the losses of that time. */
START_TEST(test_dumps)
{
        struct trace_dictionary *rows;
        struct trace_reader *reader;
        struct dumped first, second;

        put_zones(10, 15); /* 10 to 24.5 s */
        first = dump(24 * S + S / 2, false);
        reader = expect_trace(&first, 19 * S + S / 2, "19500000000", "24500000000", &rows);
        ck_assert_uint_eq(trace_dictionary_count(rows, TRACE_TABLE_LOSSES), 1);  /* the other is older */
        ck_assert_uint_eq(trace_dictionary_count(rows, TRACE_TABLE_NOTICES), 2); /* RING and PAUSED */
        trace_reader_close(reader);

        row(TRACE_TABLE_LOCATIONS, &(struct trace_location){ .name = string("another") });
        second = dump(1029 * S + S / 2, false);
        reader = expect_trace(&second, 1024 * S + S / 2, "1024500000000", "1029500000000", &rows);
        ck_assert_uint_eq(trace_dictionary_count(rows, TRACE_TABLE_LOSSES), 0);
        ck_assert_uint_eq(trace_dictionary_count(rows, TRACE_TABLE_LOCATIONS), 2);
        trace_reader_close(reader);
        close_dump(&first);
        close_dump(&second);
}
END_TEST

static void add_symbol(const struct dumped *d)
{
        struct trace_dictionary names;
        uint32_t id;

        trace_dictionary_init(&names, 0);
        ck_assert_int_eq(
                trace_dictionary_add(&names, TRACE_TABLE_SYMBOLS, &(struct trace_symbol){ .frame = 1 }, &id),
                0);
        ck_assert_int_eq(trace_writer_go_on(d->writer, NULL), 0);
        ck_assert_int_eq(trace_writer_put_tables(d->writer, &names, NULL), 0);
        ck_assert_int_eq(trace_writer_finish(d->writer, NULL), 0);
        trace_dictionary_deinit(&names);
}

/* Tables go on after the last one, and after one that was finished. */
START_TEST(test_goes_on)
{
        struct trace_dictionary *rows;
        struct trace_reader *reader;
        struct dumped early, last;

        put_zones(10, 15);
        early = dump(24 * S + S / 2, false);
        last = dump(1029 * S + S / 2, true);
        row(TRACE_TABLE_META, &(struct trace_meta){ .key = string("late"), .value = string("y") });
        ck_assert_int_eq(trace_writer_put_tables(last.writer, &f.dictionary, NULL), 0);
        ck_assert_int_eq(trace_writer_finish(last.writer, NULL), 0);
        reader = expect_trace(&last, 1024 * S + S / 2, "1024500000000", "1029500000000", &rows);
        ck_assert(has_meta(rows, "late", "y"));
        trace_reader_close(reader);

        add_symbol(&early);
        reader = expect_trace(&early, 19 * S + S / 2, "19500000000", "24500000000", &rows);
        ck_assert_uint_eq(trace_dictionary_count(rows, TRACE_TABLE_SYMBOLS), 1);
        trace_reader_close(reader);
        close_dump(&early);
        close_dump(&last);
}
END_TEST

/* A dump that cannot be written fails alone. */
START_TEST(test_full_disk)
{
        struct writer_thread_snapshot snapshot;
        struct dumped d = { .fd = memfd_create("dump", MFD_CLOEXEC | MFD_ALLOW_SEALING) };
        struct ring_dump *done;

        put_zones(10, 15);
        put_tables();
        ck_assert_int_eq(trace_writer_new(d.fd, &d.writer, NULL), 0);
        ck_assert_int_eq(fcntl(d.fd, F_ADD_SEALS, F_SEAL_GROW), 0);
        ck_assert_int_eq(writer_thread_ask_snapshot(f.thread, 24 * S), 0);
        ck_assert(writer_thread_take_snapshot(f.thread, true, &snapshot));
        ck_assert_int_eq(writer_thread_put_dump(f.thread, ring_dump_new(d.writer)), 0);
        done = writer_thread_take_dump(f.thread, true);
        ck_assert_ptr_nonnull(done);
        ck_assert_int_lt(done->failure.code, 0);
        ring_dump_free(done);
        close_dump(&d);

        d = dump(24 * S + S / 2, false);
        close_dump(&d);
}
END_TEST

/* Only the last rows of an endless table are kept. */
START_TEST(test_forgets)
{
        struct trace_loss loss = { .reason = 1 };
        const struct trace_loss *last;
        uint32_t n;

        for (loss.count = 1; loss.count <= 140000; loss.count++) {
                row(TRACE_TABLE_LOSSES, &loss);
                dump_head_forget(&f.dictionary);
        }
        n = trace_dictionary_count(&f.dictionary, TRACE_TABLE_LOSSES);
        ck_assert_uint_lt(n, 131072);
        ck_assert_uint_ge(n, 65536);
        last = trace_dictionary_row(&f.dictionary, TRACE_TABLE_LOSSES, n);
        ck_assert_uint_eq(last->count, 140000);
        last = trace_dictionary_row(&f.dictionary, TRACE_TABLE_LOSSES, 1);
        ck_assert_uint_eq(last->count, 140001 - n);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
