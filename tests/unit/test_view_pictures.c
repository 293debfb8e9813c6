/* SPDX-License-Identifier: MIT */
/*
 * Pictures of frames are read as their rows say, or refused: none is longer, none is half, and of too many
 * some are taken
 */

#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "web/model/view_pictures.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct trace_builder b;
static struct loaded_trace trace;
static struct byte_buffer out;
static struct error err;
static bool is_open;

static void setup(void)
{
        trace_builder_init(&b);
        out = (struct byte_buffer){ .data = NULL };
        is_open = false;
}

static void teardown(void)
{
        byte_buffer_deinit(&out);
        if (is_open)
                loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static uint32_t add_row(uint32_t kind, uint64_t size_bytes)
{
        static uint64_t hash;
        struct trace_attachment row = { .kind = kind, .size_bytes = size_bytes };

        row.hash = ++hash; /* equal ones would be one */
        return trace_builder_row(&b, TRACE_TABLE_ATTACHMENTS, &row);
}

static void open_trace(void)
{
        trace_builder_finish(&b);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(loaded_trace_read_names(&trace, &err), 0);
        is_open = true;
}

static int read_one(uint32_t picture)
{
        byte_buffer_clear(&out);
        return view_pictures_read(&trace, picture, &out, &err);
}

START_TEST(test_parts_make_a_picture)
{
        uint32_t picture = add_row(TRACE_ATTACHMENT_FRAME_PICTURE, 6);
        uint32_t other = add_row(TRACE_ATTACHMENT_FRAME_PICTURE, 2);

        trace_builder_attachment_part(&b, picture, 0, "abc", 3);
        trace_builder_attachment_part(&b, other, 0, "xy", 2);
        trace_builder_attachment_part(&b, picture, 3, "def", 3);
        open_trace();
        ck_assert_int_eq(read_one(picture), 0);
        ck_assert_uint_eq(out.used_bytes, 6);
        ck_assert_mem_eq(out.data, "abcdef", 6);
        ck_assert_int_eq(read_one(other), 0);
        ck_assert_uint_eq(out.used_bytes, 2);
}
END_TEST

/* A row may say anything: too large a size, another kind, a picture that never came, or not all of it. */
START_TEST(test_what_is_no_picture)
{
        uint32_t large = add_row(TRACE_ATTACHMENT_FRAME_PICTURE, VIEW_PICTURE_BYTES_MAX + 1);
        uint32_t source = add_row(TRACE_ATTACHMENT_SOURCE_TEXT, 4);
        uint32_t half = add_row(TRACE_ATTACHMENT_FRAME_PICTURE, 6);
        uint32_t never = add_row(TRACE_ATTACHMENT_FRAME_PICTURE, VIEW_PICTURE_BYTES_MAX);
        uint32_t gap = add_row(TRACE_ATTACHMENT_FRAME_PICTURE, 6);
        struct view_pictures_count count;

        trace_builder_attachment_part(&b, source, 0, "text", 4);
        trace_builder_attachment_part(&b, half, 0, "abc", 3);
        trace_builder_attachment_part(&b, gap, 0, "abc", 3);
        trace_builder_attachment_part(&b, gap, 4, "ef", 2);
        open_trace();
        ck_assert(!view_pictures_has(trace.dictionary, 0));
        ck_assert(!view_pictures_has(trace.dictionary, large));
        ck_assert(!view_pictures_has(trace.dictionary, source));
        ck_assert(view_pictures_has(trace.dictionary, never));
        ck_assert(!view_pictures_has(trace.dictionary, gap + 1));
        ck_assert(!view_pictures_has(trace.dictionary, UINT32_MAX));
        ck_assert_int_eq(read_one(half), -ENODATA);
        ck_assert_str_eq(err.text, "picture 3: the trace has 3 of 6 bytes");
        ck_assert_int_eq(read_one(never), -ENODATA);
        ck_assert_int_eq(read_one(gap), -ENODATA);
        byte_buffer_clear(&out);
        ck_assert_int_eq(view_pictures_put(&trace, 1 << 20, &out, &count, &err), 0);
        ck_assert_uint_eq(count.n_all, 3);
        ck_assert_uint_eq(count.n_put, 0);
        ck_assert_uint_eq(out.used_bytes, 0);
}
END_TEST

/* @wanted: of ten pictures of 4 bytes, those that are taken. */
static void expect_put(uint64_t bytes_max, const char *wanted)
{
        struct view_pictures_count count;
        size_t n = strlen(wanted);

        byte_buffer_clear(&out);
        ck_assert_int_eq(view_pictures_put(&trace, bytes_max, &out, &count, &err), 0);
        ck_assert_uint_eq(count.n_all, 10);
        ck_assert_uint_eq(count.n_put, n);
        ck_assert_uint_eq(out.used_bytes, n * 12);
        for (size_t i = 0; i < n; i++) {
                const uint8_t *at = out.data + i * 12;

                ck_assert_int_eq(at[0], wanted[i] - 'a' + 1);
                ck_assert_int_eq(at[4], 4);
                ck_assert_int_eq(at[8], wanted[i]);
        }
}

START_TEST(test_of_too_many_some_are_taken)
{
        for (int i = 0; i < 10; i++) {
                const char bytes[] = { (char)('a' + i), 1, 2, 3 };

                trace_builder_attachment_part(&b, add_row(TRACE_ATTACHMENT_FRAME_PICTURE, 4), 0, bytes, 4);
        }
        open_trace();
        expect_put(120, "abcdefghij");
        expect_put(60, "acegi");
        expect_put(36, "aei");
        expect_put(0, "");
}
END_TEST
