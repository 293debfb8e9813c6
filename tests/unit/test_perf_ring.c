/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/perf_ring.c: records come out whole and in order wherever they lie; a corrupt ring is
 * refused, not read past
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#define RING_BYTES 256

static struct perf_ring ring;

static void teardown(void)
{
        perf_ring_unmap(&ring);
}

/* A record of @n_bytes whose body is @fill all through. */
static void put(size_t n_bytes, uint8_t fill)
{
        struct perf_event_header header = { .type = fill, .size = (uint16_t)n_bytes };
        uint8_t record[RING_BYTES];

        memset(record, fill, sizeof(record));
        memcpy(record, &header, sizeof(header));
        fake_ring_write(&ring, record, n_bytes);
}

static void expect_record(const uint8_t *record, size_t n_bytes, size_t wanted_bytes, uint8_t fill)
{
        ck_assert_uint_eq(n_bytes, wanted_bytes);
        ck_assert_uint_eq(record[0], fill);
        for (size_t i = sizeof(struct perf_event_header); i < n_bytes; i++)
                ck_assert_uint_eq(record[i], fill);
}

/* Takes the oldest record, which is this one. */
static void take(size_t wanted_bytes, uint8_t fill)
{
        const uint8_t *record;
        size_t n_bytes;

        ck_assert_int_eq(perf_ring_peek(&ring, &record, &n_bytes, NULL), 1);
        expect_record(record, n_bytes, wanted_bytes, fill);
        perf_ring_consume(&ring, n_bytes);
}

static void expect_empty(void)
{
        const uint8_t *record;
        size_t n_bytes;

        ck_assert_int_eq(perf_ring_peek(&ring, &record, &n_bytes, NULL), 0);
}

START_TEST(test_peek_consume_release)
{
        const uint8_t *record, *again;
        size_t n_bytes;

        fake_ring_map(&ring, RING_BYTES, 0);
        expect_empty();
        put(16, 1);
        put(24, 2);
        ck_assert_int_eq(perf_ring_peek(&ring, &record, &n_bytes, NULL), 1);
        ck_assert_int_eq(perf_ring_peek(&ring, &again, &n_bytes, NULL), 1);
        ck_assert_ptr_eq(record, again);
        take(16, 1);
        ck_assert_uint_eq(ring.meta->data_tail, 0); /* the kernel may not write over it yet */
        ck_assert_uint_eq(perf_ring_count_to_release(&ring), 16);
        perf_ring_release(&ring);
        ck_assert_uint_eq(perf_ring_count_to_release(&ring), 0);
        ck_assert_uint_eq(ring.meta->data_tail, 16);
        put(8, 3); /* after the head was last looked at */
        take(24, 2);
        take(8, 3);
        expect_empty();
        perf_ring_release(&ring);
        ck_assert_uint_eq(ring.meta->data_tail, 48);
}
END_TEST

START_TEST(test_discard)
{
        fake_ring_map(&ring, RING_BYTES, 0);
        put(16, 1);
        take(16, 1);
        put(24, 2);
        perf_ring_discard(&ring);
        ck_assert_uint_eq(ring.meta->data_tail, 40);
        expect_empty();
        put(8, 3);
        take(8, 3);
}
END_TEST

/* loop test: a record begins at each place of the ring; at the later ones it goes on at the start */
START_LOOP_TEST(test_record_anywhere, 0, RING_BYTES / 8)
{
        uint64_t start = UINT64_MAX / 2 / RING_BYTES * RING_BYTES + (uint64_t)_i * 8;

        fake_ring_map(&ring, RING_BYTES, start);
        put(200, 9);
        put(56, 10);
        take(200, 9);
        take(56, 10);
        expect_empty();
        perf_ring_release(&ring);
        ck_assert_uint_eq(ring.meta->data_tail, start + RING_BYTES);
        put(RING_BYTES, 11);
        take(RING_BYTES, 11);
}
END_TEST

/* Records of all sizes for many rounds, handed back at odd times. */
START_TEST(test_many_rounds)
{
        uint64_t seed = 1;
        size_t n_taken = 0, used = 0, n_put = 0;
        uint8_t sizes[4096];

        fake_ring_map(&ring, RING_BYTES, 0);
        while (n_taken < sizeof(sizes)) {
                size_t n_bytes;

                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                n_bytes = 8 + (seed >> 33) % 12 * 8;
                if (n_put < sizeof(sizes) && used + n_bytes <= RING_BYTES) {
                        sizes[n_put] = (uint8_t)n_bytes;
                        put(n_bytes, (uint8_t)n_put);
                        used += n_bytes;
                        n_put++;
                } else {
                        take(sizes[n_taken], (uint8_t)n_taken);
                        used -= sizes[n_taken];
                        n_taken++;
                        perf_ring_release(&ring);
                }
        }
        expect_empty();
}
END_TEST

START_TEST(test_scan_ahead)
{
        uint64_t position = 0;
        const uint8_t *record;
        size_t n_bytes;

        fake_ring_map(&ring, RING_BYTES, 1024 + 200);
        put(16, 1);
        put(80, 2); /* crosses the end */
        for (uint8_t i = 1; i <= 2; i++) {
                ck_assert_int_eq(perf_ring_scan(&ring, &position, &record, &n_bytes, NULL), 1);
                expect_record(record, n_bytes, i == 1 ? 16 : 80, i);
        }
        ck_assert_int_eq(perf_ring_scan(&ring, &position, &record, &n_bytes, NULL), 0);

        /* Nothing was consumed by it, and what comes later is found from there on. */
        put(24, 3);
        ck_assert_int_eq(perf_ring_scan(&ring, &position, &record, &n_bytes, NULL), 1);
        expect_record(record, n_bytes, 24, 3);
        take(16, 1);
        take(80, 2);
        take(24, 3);

        /* Records that were consumed unread are not read again. */
        put(32, 4);
        put(40, 5);
        take(32, 4);
        ck_assert_int_eq(perf_ring_scan(&ring, &position, &record, &n_bytes, NULL), 1);
        expect_record(record, n_bytes, 40, 5);
}
END_TEST

/* loop test: sizes that cannot be, of a record at the very end of the data */
START_LOOP_TEST(test_corrupt_size, 0, 11)
{
        static const uint16_t sizes[] = { 0, 1, 7, 9, 12, 20, 24, 256, 264, 65528, UINT16_MAX };
        struct perf_event_header header = { .type = 1, .size = sizes[_i] };
        struct error err = ERROR_NONE;
        uint64_t position = 0;
        const uint8_t *record;
        uint8_t two[16] = { 0 };
        size_t n_bytes;

        memcpy(two, &header, sizeof(header));
        fake_ring_map(&ring, RING_BYTES, RING_BYTES - 8);
        fake_ring_write(&ring, two, sizeof(two));
        ck_assert_int_eq(perf_ring_peek(&ring, &record, &n_bytes, &err), -EBADMSG);
        ck_assert_int_eq(err.code, -EBADMSG);
        ck_assert_int_eq(perf_ring_scan(&ring, &position, &record, &n_bytes, NULL), -EBADMSG);
        ck_assert_int_eq(perf_ring_peek(&ring, &record, &n_bytes, NULL), -EBADMSG);
}
END_TEST

/* loop test: a head that no kernel can have written, in front of a record that is larger than the ring */
START_LOOP_TEST(test_corrupt_head, 0, 6)
{
        static const uint64_t heads[] = { RING_BYTES + 8, 4096, 60000, UINT64_MAX - 7, UINT64_MAX, 4 };
        struct perf_event_header header = { .type = 1, .size = 4096 };
        const uint8_t *record;
        size_t n_bytes;

        fake_ring_map(&ring, RING_BYTES, 0);
        fake_ring_write(&ring, &header, sizeof(header));
        ring.meta->data_head = heads[_i];
        ck_assert_int_eq(perf_ring_peek(&ring, &record, &n_bytes, NULL), -EBADMSG);
}
END_TEST

START_TEST(test_map_of_no_event)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(perf_ring_map(&ring, -1, 1 << 16, &err), -EBADF);
        ck_assert_int_eq(err.code, -EBADF);
        ck_assert_ptr_null(ring.meta);
}
END_TEST

/* A CPU without events has no ring. */
START_TEST(test_not_mapped)
{
        const uint8_t *record;
        uint64_t position = 0;
        size_t n_bytes;

        expect_empty();
        ck_assert_int_eq(perf_ring_scan(&ring, &position, &record, &n_bytes, NULL), 0);
        ck_assert_uint_eq(perf_ring_count_unread(&ring), 0);
        perf_ring_release(&ring);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
