/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/full_ring_event.c: wakes once when a program changes its word, and not before; again only
 * when it is set again
 */
#include "sampler/zones/full_ring_event.h"

#include "tests/unit/unit_test.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARMED     32
#define LONG_MS   20000 /* until it certainly rings */
#define MOMENT_MS 50    /* in which it might ring, and must not */

struct fixture {
        struct full_ring_event bell;
        struct full_ring_event_word words[2];
        uint32_t *shared; /* with the programs: both words */
};

static struct fixture f;

static bool has_waitv(void)
{
        return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == 0 || errno != ENOSYS;
}

static void setup(void)
{
        UNIT_TEST_SPOIL(f);
        f.shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(f.shared, MAP_FAILED);
        for (int i = 0; i < 2; i++) {
                f.shared[i] = ARMED;
                f.words[i] = (struct full_ring_event_word){ .at = &f.shared[i], .value = ARMED };
        }
        full_ring_event_init(&f.bell);
        ck_assert_int_ge(f.bell.fd, 0);
}

static void teardown(void)
{
        full_ring_event_deinit(&f.bell);
        ck_assert_int_eq(munmap(f.shared, 4096), 0);
}

static void ring(uint32_t *word)
{
        __atomic_store_n(word, 0, __ATOMIC_RELAXED);
        (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* True if it rang; then it is quiet again. */
static bool rings(int timeout_ms)
{
        struct pollfd fd = { .fd = f.bell.fd, .events = POLLIN };
        eventfd_t n;

        return poll(&fd, 1, timeout_ms) == 1 && eventfd_read(f.bell.fd, &n) == 0;
}

START_LOOP_TEST_IF(has_waitv(), test_rings_for_each_word, 0, 2)
{
        full_ring_event_set(&f.bell, f.words, 2, true);
        ck_assert(!rings(MOMENT_MS));
        ring(&f.shared[_i]);
        ck_assert(rings(LONG_MS));
}
END_TEST

/* A program that rings all the time is heard once for each time that the collector sets the words. */
START_TEST_IF(has_waitv(), test_rings_once_until_set_again)
{
        full_ring_event_set(&f.bell, f.words, 1, true);
        for (int i = 0; i < 3; i++) {
                ring(&f.shared[0]);
                ck_assert(rings(LONG_MS));
                ring(&f.shared[0]);
                ck_assert(!rings(MOMENT_MS));
                f.shared[0] = ARMED;
                full_ring_event_set(&f.bell, f.words, 1, true);
        }
        ck_assert(!rings(MOMENT_MS));
}
END_TEST

/* A region is closed while the thread waits on its word; the other program still rings. */
START_TEST_IF(has_waitv(), test_words_come_and_go)
{
        full_ring_event_set(&f.bell, f.words, 1, true);
        full_ring_event_set(&f.bell, f.words, 0, false);
        ring(&f.shared[0]);
        ck_assert(!rings(MOMENT_MS));
        full_ring_event_set(&f.bell, f.words + 1, 1, true);
        ring(&f.shared[1]);
        ck_assert(rings(LONG_MS));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
