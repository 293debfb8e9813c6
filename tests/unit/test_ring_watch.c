/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/ring_watch.c: each record that is still there is seen once and whole, whatever the
 * ring's owner does meanwhile
 */
#include "sampler/events/ring_watch.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES    256
#define WANTED        PERF_RECORD_MMAP2
#define UNWANTED_MISC PERF_RECORD_MISC_MMAP_DATA
#define N_RECORDS     100000 /* of the thread */

static struct perf_ring ring;
static struct ring_watch w;

static void setup(void)
{
        fake_ring_map(&ring, RING_BYTES, 0);
        ring_watch_init(&w, &ring);
}

static void teardown(void)
{
        perf_ring_unmap(&ring);
}

static void begin_anew(size_t n_bytes, uint64_t start)
{
        perf_ring_unmap(&ring);
        fake_ring_map(&ring, n_bytes, start);
        ring_watch_init(&w, &ring);
}

/* A record of @n_bytes whose words are @fill, as the kernel writes it: with its head after it. */
static void put_with(struct perf_ring *of, uint32_t type, uint16_t misc, size_t n_bytes, uint64_t fill)
{
        struct perf_event_header header = { .type = type, .misc = misc, .size = (uint16_t)n_bytes };
        uint64_t head = of->meta->data_head;

        for (size_t i = 0; i < n_bytes; i += sizeof(fill)) {
                uint64_t word = fill;
                uint8_t *at = (uint8_t *)(uintptr_t)of->data + (head + i) % of->data_bytes;

                if (i == 0)
                        memcpy(&word, &header, sizeof(word));
                __atomic_store_n((uint64_t *)(void *)at, word, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&of->meta->data_head, head + n_bytes, __ATOMIC_RELEASE);
}

static void put_type(struct perf_ring *of, uint32_t type, size_t n_bytes, uint64_t fill)
{
        put_with(of, type, PERF_RECORD_MISC_USER, n_bytes, fill);
}

static void put(struct perf_ring *of, size_t n_bytes, uint64_t fill)
{
        put_type(of, WANTED, n_bytes, fill);
}

/* The owner is done with all that there is up to here. */
static void give_back(struct perf_ring *of, uint64_t until)
{
        of->tail_bytes = until;
        perf_ring_release(of);
}

static uint64_t word_at(const uint8_t *record, size_t i)
{
        uint64_t word;

        memcpy(&word, record + i * sizeof(word), sizeof(word));
        return word;
}

static void expect(size_t wanted_bytes, uint64_t fill)
{
        const uint8_t *record;
        size_t n_bytes;

        ck_assert_int_eq(ring_watch_next(&w, WANTED, UNWANTED_MISC, &record, &n_bytes), 1);
        ck_assert_uint_eq(n_bytes, wanted_bytes);
        for (size_t i = 1; i < n_bytes / sizeof(uint64_t); i++)
                ck_assert_uint_eq(word_at(record, i), fill);
}

static void expect_none(void)
{
        const uint8_t *record;
        size_t n_bytes;

        ck_assert_int_eq(ring_watch_next(&w, WANTED, UNWANTED_MISC, &record, &n_bytes), 0);
}

START_TEST(test_each_once)
{
        expect_none();
        put(&ring, 24, 1);
        put_type(&ring, PERF_RECORD_FORK, 40, 2);
        put_with(&ring, WANTED, PERF_RECORD_MISC_USER | UNWANTED_MISC, 24, 9);
        put(&ring, 16, 3);
        expect(24, 1);
        expect(16, 3);
        expect_none();
        ck_assert_uint_eq(ring.meta->data_tail, 0); /* all of it stays the owner's to take */
        put(&ring, 32, 4);
        expect(32, 4);
        expect_none();
}
END_TEST

/* loop test: a record begins at each place of the ring; at the later ones it goes on at the start */
START_LOOP_TEST(test_anywhere, 0, RING_BYTES / 8)
{
        uint64_t start = (uint64_t)_i * 8;

        begin_anew(RING_BYTES, start);
        put(&ring, 96, 7);
        put(&ring, 160, 8); /* now it is full */
        expect(96, 7);
        expect(160, 8);
        expect_none();
}
END_TEST

START_TEST(test_given_back_before)
{
        put(&ring, 64, 1);
        expect(64, 1);
        put(&ring, 64, 2);
        put(&ring, 64, 3);
        give_back(&ring, 128);
        expect(64, 3);
        for (uint64_t i = 4; i < 100; i++) { /* many rounds without a look */
                put(&ring, 64, i);
                give_back(&ring, ring.meta->data_head - 64);
        }
        expect(64, 99);
        give_back(&ring, ring.meta->data_head);
        expect_none();
        put(&ring, 48, 100);
        expect(48, 100);
}
END_TEST

/* loop test: a size that no record has; what comes after it is seen again */
START_LOOP_TEST(test_garbage, 0, 8)
{
        static const uint16_t sizes[] = { 0, 1, 7, 9, 15, 72, 256, 65528 };
        struct perf_event_header header = { .type = WANTED, .size = sizes[_i] };
        uint8_t bytes[64] = { 0 };

        memcpy(bytes, &header, sizeof(header));
        fake_ring_write(&ring, bytes, sizeof(bytes));
        expect_none();
        put(&ring, 32, 5);
        expect(32, 5);
}
END_TEST

START_TEST(test_too_long)
{
        begin_anew(16384, 0);
        put(&ring, RING_WATCH_RECORD_BYTES, 1);
        put(&ring, RING_WATCH_RECORD_BYTES + 8, 2);
        put(&ring, 16, 3);
        expect(RING_WATCH_RECORD_BYTES, 1);
        expect(16, 3);
        expect_none();
}
END_TEST

START_TEST(test_not_mapped)
{
        const struct perf_ring closed = { .meta = NULL };

        ring_watch_init(&w, &closed);
        expect_none();
}
END_TEST

/* The second page of a ring of two; who reads it for the first time finds it written over in that moment. */
static struct perf_ring trap;

static void write_over_now(int signal, siginfo_t *info, void *context)
{
        (void)signal;
        (void)info;
        (void)context;
        if (mprotect((uint8_t *)(uintptr_t)trap.data + trap.data_bytes / 2, trap.data_bytes / 2,
                     PROT_READ | PROT_WRITE) < 0)
                abort();
        give_back(&trap, trap.meta->data_head);
        put(&trap, 4000, 2);
        put(&trap, 4000, 3);
}

START_TEST(test_overtaken_within)
{
        struct sigaction action = { .sa_sigaction = write_over_now, .sa_flags = SA_SIGINFO };
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

        if (page_bytes != 4096)
                return; /* the records would have to be longer than any is */
        fake_ring_map(&trap, 2 * page_bytes, page_bytes - 32);
        ring_watch_init(&w, &trap);
        put(&trap, 256, 1); /* its first words lie in the first page */
        ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
        ck_assert_int_eq(mprotect((uint8_t *)(uintptr_t)trap.data + page_bytes, page_bytes, PROT_NONE), 0);
        expect_none();
        expect(4000, 2); /* they woke us again */
        expect(4000, 3);
        expect_none();
        perf_ring_unmap(&trap);
}
END_TEST

/*
 * The kernel and the ring's owner in one.  Records are longer than half the ring: each is
 * written over by the next.
 */
static void *write_over(void *context)
{
        (void)context;
        for (uint64_t i = 1; i <= N_RECORDS; i++) {
                give_back(&ring, ring.meta->data_head);
                put(&ring, 8 * (17 + i % 15), i);
        }
        return NULL;
}

START_TEST(test_overtaken)
{
        uint64_t last = 0;
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, write_over, NULL), 0);
        while (last < N_RECORDS) { /* the last one stays */
                const uint8_t *record;
                size_t n_bytes;
                uint64_t fill;

                if (ring_watch_next(&w, WANTED, UNWANTED_MISC, &record, &n_bytes) == 0)
                        continue;
                fill = word_at(record, 1);
                ck_assert_uint_gt(fill, last);
                ck_assert_uint_eq(n_bytes, 8 * (17 + fill % 15));
                for (size_t i = 2; i < n_bytes / sizeof(uint64_t); i++)
                        ck_assert_uint_eq(word_at(record, i), fill);
                last = fill;
        }
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
