/* SPDX-License-Identifier: MIT */
/* A chain of a spool gives its events in order, with patches, whatever went to a file meanwhile. */
#include "export/shared/event_spool.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_CHAINS 7
#define N_ITEMS  8000

static struct event_spool s;

/* Three words an item: chain, number, patch. */
static void add_items(void)
{
        for (uint64_t i = 0; i < N_ITEMS; i++) {
                uint32_t chain = (uint32_t)(i * i % N_CHAINS);
                uint64_t item[3] = { chain, i, 0 };

                ck_assert_int_eq(event_spool_add(&s, chain, item, sizeof(item), NULL), 0);
        }
}

static void check_chain(uint32_t chain, uint64_t patch, uint64_t patched_item)
{
        struct spool_cursor cursor;
        uint64_t n = 0, last = 0;
        const void *at;

        spool_cursor_init(&cursor, &s, chain);
        while (spool_cursor_next(&cursor, 24, &at, NULL) == 1) {
                const uint64_t *item = at;

                ck_assert_uint_eq(item[0], chain);
                ck_assert_uint_eq(item[1] * item[1] % N_CHAINS, chain);
                ck_assert(n == 0 || item[1] > last);
                ck_assert_uint_eq(item[2], n == patched_item ? patch : 0);
                last = item[1];
                n++;
        }
        spool_cursor_deinit(&cursor);
        ck_assert_uint_eq(n * 24, event_spool_bytes(&s, chain));
}

/* Loop: buffers that hold everything, that spill now and then, that spill all the time. */
START_LOOP_TEST(chains_keep_their_order, 0, 3)
{
        static const size_t buffers[] = { EVENT_SPOOL_BUFFERS_BYTES, 65536, 4096 };

        s.buffers_max = buffers[_i];
        add_items();
        ck_assert_int_eq(s.fd >= 0, _i > 0);
        ck_assert_uint_le(s.buffers_bytes, buffers[_i]);
        for (uint32_t chain = 0; chain < N_CHAINS; chain++)
                check_chain(chain, 0, UINT64_MAX);
}
END_TEST

START_TEST(patches_reach_file_and_buffer)
{
        uint64_t patch = 99, n;

        s.buffers_max = 16384;
        add_items();
        n = event_spool_bytes(&s, 1) / 24;
        for (uint64_t i = 0; i < n; i += n / 5) {
                const uint64_t zero = 0;

                ck_assert_int_eq(event_spool_patch(&s, 1, i * 24 + 16, &patch, 8, NULL), 0);
                check_chain(1, patch, i);
                ck_assert_int_eq(event_spool_patch(&s, 1, i * 24 + 16, &zero, 8, NULL), 0);
        }
        ck_assert_int_eq(event_spool_patch(&s, 1, (n - 1) * 24 + 16, &patch, 8, NULL), 0);
        check_chain(1, patch, n - 1);
}
END_TEST

/* One patch over all pieces of the file, and the buffer. */
START_TEST(a_patch_reaches_as_far_as_it_is_long)
{
        struct spool_cursor cursor;
        uint64_t *items, n, i = 0;
        const void *at;

        s.buffers_max = 16384;
        add_items();
        n = event_spool_bytes(&s, 1) / 24;
        items = calloc(n, 24);
        ck_assert_ptr_nonnull(items);
        for (uint64_t word = 0; word < 3 * n; word++)
                items[word] = word + 5;
        ck_assert_int_eq(event_spool_patch(&s, 1, 0, items, n * 24, NULL), 0);
        spool_cursor_init(&cursor, &s, 1);
        while (spool_cursor_next(&cursor, 24, &at, NULL) == 1)
                ck_assert_int_eq(memcmp(at, items + 3 * i++, 24), 0);
        ck_assert_uint_eq(i, n);
        spool_cursor_deinit(&cursor);
        free(items);
}
END_TEST

START_TEST(a_cursor_goes_where_it_is_put)
{
        struct spool_cursor cursor;
        const void *at;

        add_items();
        spool_cursor_init(&cursor, &s, 0);
        cursor.offset = 24 * 1000;
        ck_assert_int_eq(spool_cursor_next(&cursor, 24, &at, NULL), 1);
        ck_assert_uint_eq(((const uint64_t *)at)[1], 7000);
        cursor.offset = 0;
        ck_assert_int_eq(spool_cursor_next(&cursor, 24, &at, NULL), 1);
        ck_assert_uint_eq(((const uint64_t *)at)[1], 0);
        cursor.offset = event_spool_bytes(&s, 0) - 8;
        ck_assert_int_eq(spool_cursor_next(&cursor, 24, &at, NULL), 0);
        spool_cursor_deinit(&cursor);
        spool_cursor_init(&cursor, &s, 1000); /* a chain that nothing was added to */
        ck_assert_int_eq(spool_cursor_next(&cursor, 24, &at, NULL), 0);
        spool_cursor_deinit(&cursor);
}
END_TEST

START_TEST(no_folder_is_an_error)
{
        uint64_t item = 0;
        int r = 0;

        ck_assert_int_eq(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
        s.buffers_max = 1024;
        for (int i = 0; i < 1000 && r == 0; i++)
                r = event_spool_add(&s, 0, &item, sizeof(item), NULL);
        ck_assert_int_lt(r, 0);
}
END_TEST

static void set_up(void)
{
        UNIT_TEST_SPOIL(s);
        event_spool_init(&s);
}

static void tear_down(void)
{
        event_spool_deinit(&s);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
