/* SPDX-License-Identifier: MIT */
/* base/, format/: whichever allocation fails, the answer is -ENOMEM, and everything is given back */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS_MAX 10000

/* The linker turns our code's calls of the allocator to these, see the Makefile. */
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t n_bytes);
void *__wrap_realloc(void *block, size_t n_bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);
void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t n_bytes);
void *__real_realloc(void *block, size_t n_bytes);
char *__real_strdup(const char *text);
void __real_free(void *block);

static struct {
        long n_until_failure; /* allocations that still succeed */
        bool all_after;       /* all that follow fail as well, not only that one */
        long n_failed;
        long n_blocks; /* allocated and not freed */
} heap = { .n_until_failure = LONG_MAX };

static bool next_fails(void)
{
        bool fails = heap.n_until_failure == 0 || (heap.n_until_failure < 0 && heap.all_after);

        heap.n_until_failure--;
        heap.n_failed += fails;
        return fails;
}

/* Counts what a call that may have succeeded gave. */
static void *count(void *block)
{
        heap.n_blocks += block != NULL;
        return block;
}

void *__wrap_malloc(size_t n_bytes)
{
        return next_fails() ? NULL : count(__real_malloc(n_bytes));
}

void *__wrap_calloc(size_t n, size_t n_bytes)
{
        return next_fails() ? NULL : count(__real_calloc(n, n_bytes));
}

void *__wrap_realloc(void *block, size_t n_bytes)
{
        if (next_fails())
                return NULL;
        return block ? __real_realloc(block, n_bytes) : count(__real_realloc(block, n_bytes));
}

char *__wrap_strdup(const char *text)
{
        return next_fails() ? NULL : count(__real_strdup(text));
}

void __wrap_free(void *block)
{
        heap.n_blocks -= block != NULL;
        __real_free(block);
}

static int read_events(const struct trace_reader *reader, const struct trace_item *item, struct error *err)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = event_decoder_init(&decoder, trace_reader_dictionary(reader), item->body, item->body_bytes,
                                   err);

        while (r == 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1)
                while ((r = event_decoder_next(&decoder, &event, err)) == 1)
                        ;
        return r;
}

static int read_trace(const char *path, struct error *err)
{
        struct trace_reader *reader;
        struct trace_item item;
        int r = trace_reader_open(path, &reader, err);

        if (r < 0)
                return r;
        while ((r = trace_reader_next(reader, &item, err)) == 1) {
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        r = read_events(reader, &item, err);
                if (r < 0)
                        break;
        }
        if (r == 0 && trace_reader_ending(reader, NULL, NULL) != TRACE_ENDING_WHOLE)
                r = -EBADMSG; /* not a real ending: memory is not a property of the file */
        trace_reader_close(reader);
        return r;
}

static int write_events(struct trace_writer *writer, struct event_encoder *encoder, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct trace_event event = { .op = TRACE_OP_ZONE_BEGIN, .time_ns = 5, .operand = { 1 } };
        struct byte_buffer body = { .data = NULL };
        int r;

        event_encoder_begin_run(encoder, 1);
        for (int i = 0; i < 300; i++)
                event_encoder_add(encoder, &event);
        event_encoder_end_run(encoder);
        r = event_encoder_take(encoder, &body, &header.first_ns, &header.last_ns, &header.n_items);
        if (r == 0)
                r = trace_writer_put(writer, header, body.data, body.used_bytes, err);
        else
                (void)error_set(err, r, "no memory for events");
        byte_buffer_deinit(&body);
        return r;
}

static int add_rows(struct trace_dictionary *d)
{
        struct trace_location location = { .line = 1 };
        struct trace_process process = { .pid = 1 };
        struct trace_thread thread = { .process = 1 };
        uint32_t id = 0;
        int r = 0;

        for (uint32_t i = 0; i < 100 && r == 0; i++)
                r = trace_dictionary_add_string(d, &i, sizeof(i), &id);
        if (r == 0)
                r = trace_dictionary_add(d, TRACE_TABLE_PROCESSES, &process, &id);
        if (r == 0)
                r = trace_dictionary_add(d, TRACE_TABLE_THREADS, &thread, &id);
        for (; location.line < 100 && r == 0; location.line++)
                r = trace_dictionary_add(d, TRACE_TABLE_LOCATIONS, &location, &id);
        return r;
}

static int write_trace(int fd, struct error *err)
{
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        struct trace_writer *writer;
        int r = trace_writer_new(fd, &writer, err);

        if (r < 0)
                return r;
        trace_dictionary_init(&dictionary, 0);
        event_encoder_init(&encoder);
        r = add_rows(&dictionary);
        if (r < 0)
                (void)error_set(err, r, "no memory for rows");
        if (r == 0)
                r = trace_writer_put_tables(writer, &dictionary, err);
        if (r == 0)
                r = write_events(writer, &encoder, err);
        if (r == 0)
                r = trace_writer_finish(writer, err);
        event_encoder_deinit(&encoder);
        trace_dictionary_deinit(&dictionary);
        trace_writer_free(writer);
        return r;
}

/* The function that is tried again and again, each time with one allocation more that succeeds. */
struct attempt {
        int fd;
        const char *path;
        bool write;
        bool all_after;
};

/* Returns how many allocations it took to succeed. */
static long try_all(const struct attempt *a)
{
        for (long n = 0; n < ROUNDS_MAX; n++) {
                struct error err = ERROR_NONE;
                long n_blocks, n_lost;
                int r;

                if (a->write) {
                        ck_assert_int_eq(ftruncate(a->fd, 0), 0);
                        ck_assert_int_eq(lseek(a->fd, 0, SEEK_SET), 0);
                }
                n_blocks = heap.n_blocks;
                heap.n_failed = 0;
                heap.all_after = a->all_after;
                heap.n_until_failure = n;
                r = a->write ? write_trace(a->fd, &err) : read_trace(a->path, &err);
                heap.n_until_failure = LONG_MAX;
                n_lost = heap.n_blocks - n_blocks;

                ck_assert_msg(n_lost == 0, "%ld blocks lost when allocation %ld failed", n_lost, n);
                ck_assert_int_eq(err.code, r);
                if (heap.n_failed == 0) {
                        ck_assert_int_eq(r, 0);
                        return n;
                }
                ck_assert_msg(r == -ENOMEM, "allocation %ld failed: %d, %s", n, r, err.text);
                ck_assert_uint_gt(strlen(err.text), 0);
        }
        ck_abort_msg("it never succeeded");
        return 0;
}

/* loop test: one allocation fails; it and all after it fail */
START_LOOP_TEST(test_reading, 0, 2)
{
        struct trace_builder b;
        struct attempt a = { .write = false, .all_after = _i == 1 };

        trace_builder_init(&b);
        small_trace_build(&b);
        a.path = b.path;
        ck_assert_int_gt(try_all(&a), 20); /* else nothing was tried: the linker did not turn the calls */
        trace_builder_deinit(&b);
}
END_TEST

/* loop test: the same */
START_LOOP_TEST(test_writing, 0, 2)
{
        struct trace_builder b;
        struct attempt a = { .write = true, .all_after = _i == 1 };

        trace_builder_init(&b);
        a.fd = b.fd;
        ck_assert_int_gt(try_all(&a), 20);
        ck_assert_int_eq(read_trace(b.path, NULL), 0);
        trace_builder_deinit(&b);
}
END_TEST
