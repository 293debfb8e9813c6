/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/live_names_file: frames get the names that the trace lacks, in groups as they were found;
 * rows of other frames, of frames that have names, and what is not whole are left out
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_spec.h"
#include "symbolize/process/live_names.h"
#include "tests/unit/unit_test.h"

#include <string.h>
#include <unistd.h>

#define N_FRAMES 3

struct fixture {
        struct trace_dictionary d;
        struct byte_buffer bytes;
        int fd;
};

static struct fixture f;

static void begin(void)
{
        uint32_t id;

        UNIT_TEST_SPOIL(f);
        f.bytes = (struct byte_buffer){ .data = NULL };
        trace_dictionary_init(&f.d, 0);
        for (uint64_t i = 1; i <= N_FRAMES; i++)
                ck_assert_int_eq(trace_dictionary_add(&f.d, TRACE_TABLE_FRAMES,
                                                      &(struct trace_frame){ .offset = i }, &id),
                                 0);
        f.fd = io_open_unnamed(NULL);
        ck_assert_int_ge(f.fd, 0);
}

static void end(void)
{
        byte_buffer_deinit(&f.bytes);
        trace_dictionary_deinit(&f.d);
        io_close(&f.fd);
}

static void put_name(uint32_t frame, uint32_t flags, const char *function)
{
        byte_buffer_add_u32(&f.bytes, frame);
        byte_buffer_add_u32(&f.bytes, flags);
        byte_buffer_add_u32(&f.bytes, 12);
        byte_buffer_add_u32(&f.bytes, (uint32_t)strlen(function));
        byte_buffer_add_u32(&f.bytes, 3);
        byte_buffer_add_u32(&f.bytes, 0); /* no declaration */
        byte_buffer_add_u32(&f.bytes, 0);
        byte_buffer_add_u32(&f.bytes, 0);
        byte_buffer_add_u32(&f.bytes, 0);
        byte_buffer_add_u32(&f.bytes, 0);
        byte_buffer_add(&f.bytes, function, strlen(function));
        byte_buffer_add(&f.bytes, "a.c", 3);
}

/* The file has all of the bytes but so many at their end. */
static void take(size_t n_cut)
{
        size_t n_bytes = f.bytes.used_bytes - n_cut;

        ck_assert_int_eq(pwrite(f.fd, f.bytes.data, n_bytes, 0), (ssize_t)n_bytes);
        ck_assert_int_eq(live_names_file_take(&f.d, f.fd, NULL), 0);
        ck_assert_int_eq(lseek(f.fd, 0, SEEK_CUR), 0);
}

static void expect_text(struct text_view text, const char *wanted)
{
        ck_assert_uint_eq(text.n_bytes, strlen(wanted));
        ck_assert_mem_eq(text.bytes, wanted, text.n_bytes);
}

static void expect_symbol(uint32_t id, uint32_t frame, uint32_t flags, const char *function)
{
        const struct trace_symbol *row = trace_dictionary_row(&f.d, TRACE_TABLE_SYMBOLS, id);

        ck_assert_uint_eq(row->frame, frame);
        ck_assert_uint_eq(row->flags, flags);
        ck_assert_uint_eq(row->line, 12);
        expect_text(trace_dictionary_text(&f.d, row->function), function);
        expect_text(trace_dictionary_text(&f.d, row->file), "a.c");
}

START_TEST(frames_get_the_names_that_were_found)
{
        put_name(2, TRACE_SYMBOL_INLINED, "inner");
        put_name(2, 0, "outer");
        put_name(1, 0, "main");
        take(0);
        ck_assert_uint_eq(trace_dictionary_count(&f.d, TRACE_TABLE_SYMBOLS), 3);
        expect_symbol(1, 2, TRACE_SYMBOL_INLINED, "inner");
        expect_symbol(2, 2, 0, "outer");
        expect_symbol(3, 1, 0, "main");
}
END_TEST

START_TEST(the_trace_knows_better)
{
        struct trace_symbol own = { .frame = 1, .line = 12 };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(&f.d, "own", 3, &own.function), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&f.d, "a.c", 3, &own.file), 0);
        ck_assert_int_eq(trace_dictionary_add(&f.d, TRACE_TABLE_SYMBOLS, &own, &id), 0);
        put_name(1, 0, "found");
        put_name(0, 0, "none");
        put_name(N_FRAMES + 1, 0, "later");
        put_name(3, UINT32_MAX, "flags");
        take(0);
        ck_assert_uint_eq(trace_dictionary_count(&f.d, TRACE_TABLE_SYMBOLS), 2);
        expect_symbol(1, 1, 0, "own");
        expect_symbol(2, 3, TRACE_SYMBOL_INLINED | TRACE_SYMBOL_STALE_FILE | TRACE_SYMBOL_UNNAMED, "flags");
}
END_TEST

START_LOOP_TEST(a_row_that_is_cut_is_left_out, 0, 28)
{
        put_name(1, 0, "first");
        put_name(2, 0, "last");
        take((size_t)_i);
        ck_assert_uint_eq(trace_dictionary_count(&f.d, TRACE_TABLE_SYMBOLS), _i == 0 ? 2 : 1);
}
END_TEST

/* More than is read at once. */
START_TEST(long_files_are_read_whole)
{
        static char name[70000];

        memset(name, 'x', sizeof(name) - 1);
        for (int i = 0; i < 10000; i++)
                put_name(N_FRAMES + 1, 0, "of a frame that is not there");
        put_name(1, 0, name);
        put_name(2, 0, "last");
        take(0);
        ck_assert_uint_eq(trace_dictionary_count(&f.d, TRACE_TABLE_SYMBOLS), 2);
        expect_symbol(1, 1, 0, name);
        expect_symbol(2, 2, 0, "last");
}
END_TEST

UNIT_TEST_PLAN(.setup = begin, .teardown = end);
