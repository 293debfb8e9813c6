/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/blob_area.c: blobs never overlap nor leave the area, whatever the header
 * says, and refusals count
 */
#include "instrument/client/blob_area.h"

#include "instrument/client/client.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS  4
#define N_BLOBS    2000
#define DATA_BYTES 1000

static struct client_abi_header *header(void)
{
        return client_self.region.header;
}

static void set_counts(uint64_t used, uint64_t freed)
{
        __atomic_store_n(&header()->blobs_used_bytes, used, __ATOMIC_RELAXED);
        __atomic_store_n(&header()->blobs_freed_bytes, freed, __ATOMIC_RELAXED);
        __atomic_store_n(&header()->n_refused_blobs, 0, __ATOMIC_RELAXED);
}

static void empty(void)
{
        set_counts(0, 0);
}

static const uint8_t *blob_at(uint64_t at)
{
        return client_self.region.blobs + at % client_self.region.blobs_bytes;
}

static bool put(const void *data, size_t n, uint64_t *ret_at)
{
        uint64_t bytes = 0;

        if (!blob_area_put(&data, &n, 1, ret_at, &bytes))
                return false;
        ck_assert_uint_eq(bytes, n);
        return true;
}

START_TEST(test_parts)
{
        const void *const parts[] = { "one", NULL, "two three", "" };
        const size_t bytes[] = { 3, 0, 9, 0 };
        uint64_t at, n, second;

        ck_assert(blob_area_put(parts, bytes, 4, &at, &n));
        ck_assert_uint_eq(at, 0);
        ck_assert_uint_eq(n, 12);
        ck_assert_mem_eq(blob_at(at), &at, sizeof(at));
        ck_assert_mem_eq(blob_at(at) + CLIENT_ABI_BLOB_HEADER_BYTES, "onetwo three", 12);

        ck_assert(put("next", 4, &second));
        ck_assert_uint_eq(second, 8 + 16); /* the header and whole words */
        ck_assert_mem_eq(blob_at(second), &second, sizeof(second));
        ck_assert_uint_eq(header()->blobs_used_bytes, 24 + 16);
        ck_assert_uint_eq(header()->n_refused_blobs, 0);
}
END_TEST

START_TEST(test_too_long)
{
        const void *const parts[] = { "x", "x" };
        const size_t too_long[] = { CLIENT_ABI_BLOB_BYTES_MAX, 1 };
        const size_t overflow[] = { 2, SIZE_MAX };
        uint64_t at = 1, n = 1;

        ck_assert(!blob_area_put(parts, too_long, 2, &at, &n));
        ck_assert(!blob_area_put(parts, overflow, 2, &at, &n));
        ck_assert_uint_eq(header()->n_refused_blobs, 2);
        ck_assert_uint_eq(header()->blobs_used_bytes, 0);
        ck_assert_uint_eq(at, 1);
        ck_assert_uint_eq(n, 1);
}
END_TEST

/* A blob of 16 + 8 bytes, at every place before the area's end. */
START_TEST(test_never_over_the_end)
{
        uint64_t area = client_self.region.blobs_bytes;
        uint64_t at;

        for (uint64_t before = 0; before <= 48; before += 8) {
                uint64_t used = 5 * area - before;

                set_counts(used, used);
                ck_assert(put("sixteen bytes...", 16, &at));
                ck_assert_uint_eq(at, before >= 24 ? used : 5 * area);
                ck_assert_uint_eq(header()->blobs_used_bytes, at + 24);
                ck_assert_uint_eq(header()->blobs_freed_bytes, at); /* with the gap, which is not read */
                ck_assert_mem_eq(blob_at(at), &at, sizeof(at));
                ck_assert_mem_eq(blob_at(at) + 8, "sixteen bytes...", 16);
        }
}
END_TEST

START_TEST(test_unread)
{
        uint64_t freed = 1 << 20;
        uint64_t at;

        set_counts(freed + CLIENT_ABI_BLOBS_UNREAD_BYTES_MAX - 24, freed);
        ck_assert(!put("seventeen bytes..", 17, &at));
        ck_assert_uint_eq(header()->n_refused_blobs, 1);
        ck_assert(put("sixteen bytes...", 16, &at));
        ck_assert(!put("", 0, &at));
        ck_assert_uint_eq(header()->n_refused_blobs, 2);
        __atomic_store_n(&header()->blobs_freed_bytes, freed + 8, __ATOMIC_RELAXED);
        ck_assert(put("", 0, &at));
        /* Others have put and freed more since: there is room. */
        set_counts(freed, freed + 8);
        ck_assert(put("", 0, &at));
}
END_TEST

/* Whatever a recorder writes there, nothing is put outside of the area, and impossible values are refused. */
START_TEST(test_hostile_header)
{
        static const uint64_t counts[][2] = {
                { UINT64_MAX, 0 },
                { UINT64_MAX - 7, UINT64_MAX - 7 },
                { 4, 0 },
                { 0, UINT64_MAX },
                { UINT64_C(1) << 40, 0 },
                { UINT64_C(1) << 63, UINT64_C(1) << 63 },
        };
        uint64_t at;

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                set_counts(counts[i][0], counts[i][1]);
                ck_assert(!put("text", 4, &at));
                ck_assert_uint_eq(header()->n_refused_blobs, 1);
                ck_assert_uint_eq(header()->blobs_used_bytes, counts[i][0]);
        }
}
END_TEST

struct writer {
        pthread_t thread;
        uint8_t byte; /* all of its blobs consist of */
        uint64_t at[N_BLOBS];
        size_t bytes[N_BLOBS];
};

static void *run_writer(void *arg)
{
        struct writer *w = arg;
        uint8_t data[DATA_BYTES];
        unsigned seed = w->byte;

        memset(data, w->byte, sizeof(data));
        for (size_t i = 0; i < N_BLOBS; i++) {
                seed = seed * 1103515245 + 12345;
                w->bytes[i] = (seed >> 16) % sizeof(data);
                if (!put(data, w->bytes[i], &w->at[i]))
                        return arg; /* a failure */
        }
        return NULL;
}

START_TEST(test_threads)
{
        struct writer *writers = calloc(N_THREADS, sizeof(*writers));
        uint8_t data[DATA_BYTES];
        uint64_t sum = 0;

        ck_assert_ptr_nonnull(writers);
        for (size_t i = 0; i < N_THREADS; i++) {
                writers[i].byte = (uint8_t)(i + 1);
                ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, run_writer, &writers[i]), 0);
        }
        for (size_t i = 0; i < N_THREADS; i++) {
                void *failure;

                ck_assert_int_eq(pthread_join(writers[i].thread, &failure), 0);
                ck_assert_ptr_null(failure);
        }
        for (size_t i = 0; i < N_THREADS; i++)
                for (size_t k = 0; k < N_BLOBS; k++) {
                        const uint8_t *blob = blob_at(writers[i].at[k]);

                        ck_assert_mem_eq(blob, &writers[i].at[k], 8);
                        memset(data, writers[i].byte, sizeof(data));
                        ck_assert_mem_eq(blob + 8, data, writers[i].bytes[k]);
                        sum += 8 + (writers[i].bytes[k] + 7) / 8 * 8;
                }
        ck_assert_uint_eq(header()->blobs_used_bytes, sum);
        free(writers);
}
END_TEST

UNIT_TEST_PLAN(.setup = empty, .teardown = empty);
