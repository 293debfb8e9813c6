/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/image_spool.c: code comes back byte for byte, whole or not at all, however its parts come
 */
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_spool.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static struct trace_dictionary dictionary;
static struct image_spool spool;

static void setup(void)
{
        trace_dictionary_init(&dictionary, 0);
        image_spool_init(&spool);
}

static void teardown(void)
{
        image_spool_deinit(&spool);
        trace_dictionary_deinit(&dictionary);
}

static uint32_t add_row(uint32_t kind, uint64_t size_bytes)
{
        static uint64_t hash;
        struct trace_attachment row = { .kind = kind, .size_bytes = size_bytes, .hash = ++hash };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_ATTACHMENTS, &row, &id), 0);
        return id;
}

static void add_part(uint32_t attachment, uint64_t offset, const char *text)
{
        const struct attachment_chunk part = { attachment, offset, (const uint8_t *)text, strlen(text) };

        ck_assert_int_eq(image_spool_add_part(&spool, &dictionary, &part, NULL), 0);
}

static bool is_there(uint32_t attachment, const char *wanted)
{
        struct spooled_image image;
        bool equal;
        int r = image_spool_map(&spool, &dictionary, attachment, &image, NULL);

        ck_assert_int_ge(r, 0);
        if (r == 0)
                return false;
        equal = image.n_bytes == strlen(wanted) && memcmp(image.bytes, wanted, image.n_bytes) == 0;
        image_spool_unmap(&image);
        ck_assert_ptr_null(image.bytes);
        return equal;
}

START_TEST(test_parts_in_turns)
{
        uint32_t a = add_row(TRACE_ATTACHMENT_MODULE_FILE, 6), b = add_row(TRACE_ATTACHMENT_MODULE_PARTS, 4);

        ck_assert(!is_there(a, ""));
        add_part(b, 0, "12");
        add_part(a, 0, "abc");
        add_part(b, 2, "34");
        ck_assert(!is_there(a, "abc"));
        add_part(a, 3, "def");
        ck_assert(is_there(a, "abcdef"));
        ck_assert(is_there(b, "1234"));
}
END_TEST

START_TEST(test_all_at_once_and_only_once)
{
        uint32_t a = add_row(TRACE_ATTACHMENT_MODULE_FILE, 3), b = add_row(TRACE_ATTACHMENT_CODE_BYTES, 3);

        ck_assert_int_eq(image_spool_add(&spool, b, "xyz", 3, NULL), 0);
        ck_assert_int_eq(image_spool_add(&spool, b, "uvw", 3, NULL), 0);
        ck_assert(is_there(b, "xyz"));
        ck_assert(!is_there(a, ""));
}
END_TEST

START_TEST(test_source_texts_are_passed_over)
{
        uint32_t source = add_row(TRACE_ATTACHMENT_SOURCE_TEXT, 3),
                 image = add_row(TRACE_ATTACHMENT_CODE_IMAGE, 3);

        add_part(source, 0, "abc");
        add_part(image, 0, "def");
        ck_assert(!is_there(source, "abc"));
        ck_assert(is_there(image, "def"));
}
END_TEST

/* Rows that a damaged or hostile trace can have. */
START_TEST(test_parts_that_do_not_fit)
{
        uint32_t gap = add_row(TRACE_ATTACHMENT_MODULE_FILE, 4),
                 twice = add_row(TRACE_ATTACHMENT_MODULE_FILE, 4);
        uint32_t late = add_row(TRACE_ATTACHMENT_MODULE_FILE, 4),
                 long_one = add_row(TRACE_ATTACHMENT_MODULE_FILE, 4);

        add_part(gap, 0, "a");
        add_part(gap, 2, "cd");
        add_part(gap, 3, "d");
        ck_assert(!is_there(gap, "abcd"));
        add_part(twice, 0, "ab");
        add_part(twice, 0, "cd");
        ck_assert(!is_there(twice, "abcd"));
        add_part(twice, 2, "cd");
        ck_assert(is_there(twice, "abcd"));
        add_part(late, 2, "cd");
        ck_assert(!is_there(late, "abcd"));
        add_part(long_one, 0, "abc");
        add_part(long_one, 3, "def");
        ck_assert(!is_there(long_one, "abcdef"));
}
END_TEST

/* Sizes that only say so take no memory and leave no room for lies. */
START_TEST(test_huge_sizes)
{
        uint32_t huge = add_row(TRACE_ATTACHMENT_MODULE_FILE, UINT64_MAX);
        uint32_t large = add_row(TRACE_ATTACHMENT_MODULE_FILE, IMAGE_SPOOL_BYTES_MAX - 1);
        uint32_t small = add_row(TRACE_ATTACHMENT_MODULE_FILE, 3);

        add_part(huge, 0, "abc");
        ck_assert(!is_there(huge, "abc"));
        add_part(large, 0, "abc");
        ck_assert(!is_there(large, "abc"));
        ck_assert_uint_le(spool.n_bytes, IMAGE_SPOOL_BYTES_MAX);
        add_part(small, 0, "abc");
        ck_assert(!is_there(small, "abc")); /* all the room was promised */
}
END_TEST

START_TEST(test_sealed)
{
        uint32_t a = add_row(TRACE_ATTACHMENT_MODULE_FILE, 3);

        ck_assert_int_eq(image_spool_seal(&spool, NULL), 0); /* nothing is there yet */
        add_part(a, 0, "abc");
        ck_assert_int_eq(image_spool_seal(&spool, NULL), 0);
        ck_assert_int_eq(image_spool_seal(&spool, NULL), 0);
        ck_assert_int_eq(pwrite(spool.fd, "x", 1, 0), -1);
        ck_assert_int_eq(errno, EPERM);
        ck_assert(is_there(a, "abc"));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
