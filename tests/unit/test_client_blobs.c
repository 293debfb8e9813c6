/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_region.c: a blob is handed on whole or not at all, and its memory
 * goes back to the program
 */
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/client_region.h"
#include "tests/unit/one_region.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t whole_bytes(uint64_t n)
{
        return CLIENT_ABI_BLOB_HEADER_BYTES + (n + 7) / 8 * 8;
}

/* Writes @n bytes, not zero, as the program does. */
static void put_blob(uint64_t at, uint64_t n)
{
        *fake_region_blob_word(&p, at) = at;
        for (uint64_t i = 0; i < n; i++)
                *((uint8_t *)fake_region_blob_word(&p, at) + 8 + i) = (uint8_t)((at / 8 + i) % 255 + 1);
        p.header->blobs_used_bytes = at + whole_bytes(n);
}

static void expect_blob(const uint8_t *data, uint64_t at, uint64_t n)
{
        for (uint64_t i = 0; i < n; i++)
                ck_assert_uint_eq(data[i], (uint8_t)((at / 8 + i) % 255 + 1));
}

/* loop test: of each size, after something else */
START_LOOP_TEST(test_blobs, 0, 5)
{
        static const uint64_t sizes[] = { 1, 8, 17, 5000, FAKE_REGION_BLOBS_BYTES - 8 };
        const uint64_t at = (uint64_t)_i * FAKE_REGION_BLOBS_BYTES, n = sizes[_i];

        one_region_begin();
        byte_buffer_add(&bytes, "before", 6);
        put_blob(at, n);
        ck_assert_int_eq(client_region_read_blob(region, at, n, &bytes, NULL), 0);
        ck_assert_uint_eq(bytes.used_bytes, 6 + n);
        ck_assert_mem_eq(bytes.data, "before", 6);
        expect_blob(bytes.data + 6, at, n);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, whole_bytes(n));
}
END_TEST

/* Round and round the area, with a gap before each begin; the program sees that all is given back. */
START_TEST(test_blobs_wrap)
{
        uint64_t at = 0;

        one_region_begin();
        for (uint64_t n = 1; at < 10 * FAKE_REGION_BLOBS_BYTES; n = n * 7 % 40009 + 1) {
                uint64_t gap = FAKE_REGION_BLOBS_BYTES - at % FAKE_REGION_BLOBS_BYTES;

                if (gap < whole_bytes(n)) {
                        at += gap;
                        p.header->blobs_freed_bytes += gap;
                }
                put_blob(at, n);
                ck_assert_int_eq(client_region_read_blob(region, at, n, &bytes, NULL), 0);
                ck_assert_uint_eq(bytes.used_bytes, n);
                expect_blob(bytes.data, at, n);
                byte_buffer_clear(&bytes);
                at += whole_bytes(n);
                ck_assert_uint_eq(p.header->blobs_freed_bytes, at);
        }
}
END_TEST

/* An overwritten blob is not handed on as the old one; its room is free all the same. */
START_TEST(test_stale_blobs)
{
        struct error err = ERROR_NONE;

        one_region_begin();
        put_blob(64, 100);
        *fake_region_blob_word(&p, 64) = 64 + FAKE_REGION_BLOBS_BYTES;
        ck_assert_int_eq(client_region_read_blob(region, 64, 100, &bytes, &err), -ESTALE);
        ck_assert_int_eq(err.code, -ESTALE);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, whole_bytes(100));

        put_blob(64, 100);
        p.header->blobs_used_bytes = 64 + FAKE_REGION_BLOBS_BYTES +
                                     8; /* its first word will be written, or is */
        ck_assert_int_eq(client_region_read_blob(region, 64, 100, &bytes, NULL), -ESTALE);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 2 * whole_bytes(100));
        p.header->blobs_used_bytes = 64 + FAKE_REGION_BLOBS_BYTES;
        ck_assert_int_eq(client_region_read_blob(region, 64, 100, &bytes, NULL), 0);
        ck_assert_uint_eq(bytes.used_bytes, 100);
}
END_TEST

/* One blob that a thousand events name costs one copy. */
START_TEST(test_blob_named_again)
{
        one_region_begin();
        put_blob(0, 1000);
        p.header->blobs_used_bytes = whole_bytes(1000);
        ck_assert_int_eq(client_region_read_blob(region, 0, 1000, &bytes, NULL), 0);
        put_blob(0, 1000); /* the hole that reading made is filled again */
        for (int i = 0; i < 1000; i++)
                ck_assert_int_eq(client_region_read_blob(region, 0, 1000, &bytes, NULL), -EBADMSG);
        ck_assert_uint_eq(bytes.used_bytes, 1000);
}
END_TEST

START_TEST(test_nonsense_blobs)
{
        static const uint64_t nonsense[][2] = {
                { 64, 0 },
                { 64, 121 }, /* ends past what is used */
                { 64, CLIENT_ABI_BLOB_BYTES_MAX + 1 },
                { 64, UINT64_MAX },
                { 60, 100 },
                { 192, 8 },
                { UINT64_MAX - 7, 8 },
                { FAKE_REGION_BLOBS_BYTES - 8, 8 }, /* over the end of the area */
                { FAKE_REGION_BLOBS_BYTES + 64, 100 },
        };

        one_region_begin();
        put_blob(FAKE_REGION_BLOBS_BYTES - 8, 0);
        put_blob(64, 120);
        for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
                p.header->blobs_used_bytes = i == 7 ? FAKE_REGION_BLOBS_BYTES + 64 : 64 + whole_bytes(120);
                ck_assert_int_eq(
                        client_region_read_blob(region, nonsense[i][0], nonsense[i][1], &bytes, NULL),
                        -EBADMSG);
                client_region_free_blob(region, nonsense[i][0], nonsense[i][1]);
        }
        ck_assert_uint_eq(bytes.used_bytes, 0);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 0);
        p.header->blobs_used_bytes = 64 + whole_bytes(120);
        ck_assert_int_eq(client_region_read_blob(region, 64, 120, &bytes, NULL), 0);
}
END_TEST

START_TEST(test_no_blobs)
{
        h = fake_region_header();

        h.blobs_offset = UINT64_MAX; /* not read */
        h.blobs_used_bytes = 4096;
        one_region_begin();
        ck_assert_int_eq(client_region_read_blob(region, 0, 8, &bytes, NULL), -EBADMSG);
}
END_TEST

/* loop test: areas that lie outside of the region, or in its header */
START_LOOP_TEST(test_lies_about_blobs, 0, 8)
{
        static const uint64_t areas[][2] = {
                { 4 * FAKE_REGION_ROOM, 5 * FAKE_REGION_ROOM + 8 },
                { 9 * FAKE_REGION_ROOM, 8 },
                { FAKE_REGION_ROOM - 8, 4096 },
                { 4 * FAKE_REGION_ROOM + 4, 4096 },
                { 4 * FAKE_REGION_ROOM, 4096 + 4 },
                { UINT64_MAX - 7, 16 },
                { 0, 8 },
                { 4 * FAKE_REGION_ROOM, UINT64_MAX - 7 },
        };

        h.blobs_offset = areas[_i][0];
        h.blobs_bytes = areas[_i][1];
        one_region_make();
        ck_assert_int_eq(client_region_open(p.fd, &region, NULL), -EBADMSG);
}
END_TEST

static uint64_t count_pages(void)
{
        struct stat st;

        ck_assert_int_eq(fstat(p.fd, &st), 0);
        return (uint64_t)st.st_blocks * 512 / (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The memory goes back, and not a byte of what is beside it. */
START_TEST(test_blobs_are_punched)
{
        const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        const uint64_t n = 6 * page, second = whole_bytes(n), third = 2 * second;
        uint64_t n_pages;

        if (third + second > FAKE_REGION_BLOBS_BYTES / 2)
                return; /* pages that are too large for this */
        one_region_begin();
        put_blob(0, n);
        put_blob(second, n);
        put_blob(third, n);
        n_pages = count_pages();
        ck_assert_int_eq(client_region_read_blob(region, second, n, &bytes, NULL), 0);
        ck_assert_uint_eq(count_pages(), n_pages - 5); /* two at its ends belong to others as well */
        ck_assert_uint_eq(*fake_region_blob_word(&p, third), third);
        expect_blob((uint8_t *)fake_region_blob_word(&p, 0) + 8, 0, n);
        expect_blob((uint8_t *)fake_region_blob_word(&p, third) + 8, third, n);

        client_region_free_blob(region, third, n);
        ck_assert_uint_eq(count_pages(), n_pages - 5 - 6); /* the page between the two goes too */
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 2 * second);
        byte_buffer_clear(&bytes);
        ck_assert_int_eq(client_region_read_blob(region, 0, n, &bytes, NULL), 0);
        expect_blob(bytes.data, 0, n);
}
END_TEST

/* Those that are smaller than a page go as well, if they are read in order. */
START_TEST(test_small_blobs_are_punched)
{
        uint64_t n_pages;

        one_region_begin();
        n_pages = count_pages();
        for (uint64_t i = 0; i < 120; i++) {
                put_blob(i * whole_bytes(1000), 1000);
                ck_assert_int_eq(client_region_read_blob(region, i * whole_bytes(1000), 1000, &bytes, NULL),
                                 0);
        }
        for (uint64_t i = 0; i < 120; i++)
                expect_blob(bytes.data + i * 1000, i * whole_bytes(1000), 1000);
        ck_assert_uint_le(count_pages(), n_pages + 2); /* the first page, that of the header, and the last */
}
END_TEST

/* When the program has nearly come round again, the pages may be its next blob's already. */
START_TEST(test_late_blobs_are_not_punched)
{
        uint64_t n_pages;

        one_region_begin();
        put_blob(64, FAKE_REGION_BLOBS_BYTES / 4);
        n_pages = count_pages();
        p.header->blobs_used_bytes = 64 + FAKE_REGION_BLOBS_BYTES - 8;
        ck_assert_int_eq(client_region_read_blob(region, 64, FAKE_REGION_BLOBS_BYTES / 4, &bytes, NULL), 0);
        ck_assert_uint_eq(count_pages(), n_pages);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, whole_bytes(FAKE_REGION_BLOBS_BYTES / 4));
}
END_TEST

static void set_up(void)
{
        h = fake_region_blob_header();
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = one_region_end);
