/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_region.c: a blob is handed on whole or not at all, and its memory
 * goes back to the program
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/client_region.h"
#include "tests/unit/fake_region.h"
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
static void put_blob(const struct fake_region *p, uint64_t at, uint64_t n)
{
        *fake_region_blob_word(p, at) = at;
        for (uint64_t i = 0; i < n; i++)
                *((uint8_t *)fake_region_blob_word(p, at) + 8 + i) = (uint8_t)((at / 8 + i) % 255 + 1);
        p->header->blobs_used_bytes = at + whole_bytes(n);
}

static void expect_blob(const uint8_t *data, uint64_t at, uint64_t n)
{
        for (uint64_t i = 0; i < n; i++)
                ck_assert_uint_eq(data[i], (uint8_t)((at / 8 + i) % 255 + 1));
}

START_TEST(test_blobs)
{
        static const uint64_t sizes[] = { 1, 8, 17, 5000, FAKE_REGION_BLOBS_BYTES - 8 };
        struct client_abi_header h = fake_region_blob_header();
        struct client_region *region;
        struct fake_region p;

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                struct byte_buffer to = { .data = NULL };
                const uint64_t at = i * FAKE_REGION_BLOBS_BYTES;

                fake_region_make(&p, &h, F_SEAL_SHRINK);
                region = fake_region_open(&p);
                byte_buffer_add(&to, "before", 6);
                put_blob(&p, at, sizes[i]);
                ck_assert_int_eq(client_region_read_blob(region, at, sizes[i], &to, NULL), 0);
                ck_assert_uint_eq(to.used_bytes, 6 + sizes[i]);
                ck_assert_mem_eq(to.data, "before", 6);
                expect_blob(to.data + 6, at, sizes[i]);
                ck_assert_uint_eq(p.header->blobs_freed_bytes, whole_bytes(sizes[i]));
                byte_buffer_deinit(&to);
                client_region_close(region);
                fake_region_destroy(&p);
        }
}
END_TEST

/* Round and round the area, with a gap before each begin; the program sees that all is given back. */
START_TEST(test_blobs_wrap)
{
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;
        uint64_t at = 0;

        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        for (uint64_t n = 1; at < 10 * FAKE_REGION_BLOBS_BYTES; n = n * 7 % 40009 + 1) {
                uint64_t gap = FAKE_REGION_BLOBS_BYTES - at % FAKE_REGION_BLOBS_BYTES;

                if (gap < whole_bytes(n)) {
                        at += gap;
                        p.header->blobs_freed_bytes += gap;
                }
                put_blob(&p, at, n);
                ck_assert_int_eq(client_region_read_blob(region, at, n, &to, NULL), 0);
                ck_assert_uint_eq(to.used_bytes, n);
                expect_blob(to.data, at, n);
                byte_buffer_clear(&to);
                at += whole_bytes(n);
                ck_assert_uint_eq(p.header->blobs_freed_bytes, at);
        }
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
}
END_TEST

/* An overwritten blob is not handed on as the old one; its room is free all the same. */
START_TEST(test_stale_blobs)
{
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct error err = ERROR_NONE;
        struct fake_region p;

        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        put_blob(&p, 64, 100);
        *fake_region_blob_word(&p, 64) = 64 + FAKE_REGION_BLOBS_BYTES;
        ck_assert_int_eq(client_region_read_blob(region, 64, 100, &to, &err), -ESTALE);
        ck_assert_int_eq(err.code, -ESTALE);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, whole_bytes(100));

        put_blob(&p, 64, 100);
        p.header->blobs_used_bytes = 64 + FAKE_REGION_BLOBS_BYTES +
                                     8; /* its first word will be written, or is */
        ck_assert_int_eq(client_region_read_blob(region, 64, 100, &to, NULL), -ESTALE);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 2 * whole_bytes(100));
        p.header->blobs_used_bytes = 64 + FAKE_REGION_BLOBS_BYTES;
        ck_assert_int_eq(client_region_read_blob(region, 64, 100, &to, NULL), 0);
        ck_assert_uint_eq(to.used_bytes, 100);
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
}
END_TEST

/* One blob that a thousand events name costs one copy. */
START_TEST(test_blob_named_again)
{
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;

        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        put_blob(&p, 0, 1000);
        p.header->blobs_used_bytes = whole_bytes(1000);
        ck_assert_int_eq(client_region_read_blob(region, 0, 1000, &to, NULL), 0);
        put_blob(&p, 0, 1000); /* the hole that reading made is filled again */
        for (int i = 0; i < 1000; i++)
                ck_assert_int_eq(client_region_read_blob(region, 0, 1000, &to, NULL), -EBADMSG);
        ck_assert_uint_eq(to.used_bytes, 1000);
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
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
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;

        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        put_blob(&p, FAKE_REGION_BLOBS_BYTES - 8, 0);
        put_blob(&p, 64, 120);
        for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
                p.header->blobs_used_bytes = i == 7 ? FAKE_REGION_BLOBS_BYTES + 64 : 64 + whole_bytes(120);
                ck_assert_int_eq(client_region_read_blob(region, nonsense[i][0], nonsense[i][1], &to, NULL),
                                 -EBADMSG);
                client_region_free_blob(region, nonsense[i][0], nonsense[i][1]);
        }
        ck_assert_uint_eq(to.used_bytes, 0);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 0);
        p.header->blobs_used_bytes = 64 + whole_bytes(120);
        ck_assert_int_eq(client_region_read_blob(region, 64, 120, &to, NULL), 0);
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
}
END_TEST

START_TEST(test_no_blobs)
{
        struct client_abi_header h = fake_region_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;

        h.blobs_offset = UINT64_MAX; /* not read */
        h.blobs_used_bytes = 4096;
        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        ck_assert_int_eq(client_region_read_blob(region, 0, 8, &to, NULL), -EBADMSG);
        client_region_close(region);
        fake_region_destroy(&p);
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
        struct client_abi_header h = fake_region_blob_header();
        struct client_region *region;
        struct fake_region p;

        h.blobs_offset = areas[_i][0];
        h.blobs_bytes = areas[_i][1];
        fake_region_make(&p, &h, F_SEAL_SHRINK);
        ck_assert_int_eq(client_region_open(p.fd, &region, NULL), -EBADMSG);
        fake_region_destroy(&p);
}
END_TEST

static uint64_t count_pages(const struct fake_region *p)
{
        struct stat st;

        ck_assert_int_eq(fstat(p->fd, &st), 0);
        return (uint64_t)st.st_blocks * 512 / (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The memory goes back, and not a byte of what is beside it. */
START_TEST(test_blobs_are_punched)
{
        const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        const uint64_t n = 6 * page, second = whole_bytes(n), third = 2 * second;
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;
        uint64_t n_pages;

        if (third + second > FAKE_REGION_BLOBS_BYTES / 2)
                return; /* pages that are too large for this */
        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        put_blob(&p, 0, n);
        put_blob(&p, second, n);
        put_blob(&p, third, n);
        n_pages = count_pages(&p);
        ck_assert_int_eq(client_region_read_blob(region, second, n, &to, NULL), 0);
        ck_assert_uint_eq(count_pages(&p), n_pages - 5); /* two at its ends belong to others as well */
        ck_assert_uint_eq(*fake_region_blob_word(&p, third), third);
        expect_blob((uint8_t *)fake_region_blob_word(&p, 0) + 8, 0, n);
        expect_blob((uint8_t *)fake_region_blob_word(&p, third) + 8, third, n);

        client_region_free_blob(region, third, n);
        ck_assert_uint_eq(count_pages(&p), n_pages - 5 - 6); /* the page between the two goes too */
        ck_assert_uint_eq(p.header->blobs_freed_bytes, 2 * second);
        byte_buffer_clear(&to);
        ck_assert_int_eq(client_region_read_blob(region, 0, n, &to, NULL), 0);
        expect_blob(to.data, 0, n);
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
}
END_TEST

/* Those that are smaller than a page go as well, if they are read in order. */
START_TEST(test_small_blobs_are_punched)
{
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;
        uint64_t n_pages;

        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        n_pages = count_pages(&p);
        for (uint64_t i = 0; i < 120; i++) {
                put_blob(&p, i * whole_bytes(1000), 1000);
                ck_assert_int_eq(client_region_read_blob(region, i * whole_bytes(1000), 1000, &to, NULL), 0);
        }
        for (uint64_t i = 0; i < 120; i++)
                expect_blob(to.data + i * 1000, i * whole_bytes(1000), 1000);
        ck_assert_uint_le(count_pages(&p),
                          n_pages + 2); /* the first page, that of the header, and the last */
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
}
END_TEST

/* When the program has nearly come round again, the pages may be its next blob's already. */
START_TEST(test_late_blobs_are_not_punched)
{
        struct client_abi_header h = fake_region_blob_header();
        struct byte_buffer to = { .data = NULL };
        struct client_region *region;
        struct fake_region p;
        uint64_t n_pages;

        fake_region_make(&p, &h, F_SEAL_SHRINK);
        region = fake_region_open(&p);
        put_blob(&p, 64, FAKE_REGION_BLOBS_BYTES / 4);
        n_pages = count_pages(&p);
        p.header->blobs_used_bytes = 64 + FAKE_REGION_BLOBS_BYTES - 8;
        ck_assert_int_eq(client_region_read_blob(region, 64, FAKE_REGION_BLOBS_BYTES / 4, &to, NULL), 0);
        ck_assert_uint_eq(count_pages(&p), n_pages);
        ck_assert_uint_eq(p.header->blobs_freed_bytes, whole_bytes(FAKE_REGION_BLOBS_BYTES / 4));
        byte_buffer_deinit(&to);
        client_region_close(region);
        fake_region_destroy(&p);
}
END_TEST
