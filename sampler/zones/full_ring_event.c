/* SPDX-License-Identifier: MIT */
#include "sampler/zones/full_ring_event.h"

#include "base/helper_thread.h"
#include "base/io.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

void full_ring_event_init(struct full_ring_event *b)
{
        *b = (struct full_ring_event){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
        (void)pthread_mutex_init(&b->lock, NULL);
}

/* ---- the thread ---------------------------------------------------------------------------------------- */

/* Waits until one of the words changes, or the round is over.  False = the kernel cannot do that. */
static bool wait_for_change(struct full_ring_event *b, uint32_t round)
{
        struct futex_waitv waits[FULL_RING_EVENT_WORDS_MAX + 1];
        size_t n;

        memset(waits, 0, sizeof(waits));
        waits[0] = (struct futex_waitv){ .val = round,
                                         .uaddr = (uintptr_t)&b->round,
                                         .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG };
        (void)pthread_mutex_lock(&b->lock);
        for (n = 0; n < b->n_words; n++)
                waits[n + 1] = (struct futex_waitv){ .val = b->words[n].value,
                                                     .uaddr = (uintptr_t)b->words[n].at,
                                                     .flags = FUTEX_32 };
        (void)pthread_mutex_unlock(&b->lock);
        return syscall(SYS_futex_waitv, waits, n + 1, 0, NULL, 0) >= 0 || errno == EAGAIN || errno == EINTR ||
               errno == EFAULT; /* a region was closed meanwhile, and is removed in the next round */
}

static void *run(void *context)
{
        static const uint64_t one = 1;
        struct full_ring_event *b = context;

        (void)privileges_drop(NULL); /* the thread only waits; dropping rights cannot fail here */
        while (!__atomic_load_n(&b->is_ending, __ATOMIC_ACQUIRE)) {
                /* Acquire pairs with the release in next_round(). */
                uint32_t round = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE);

                if (!wait_for_change(b, round))
                        return NULL;
                if (__atomic_load_n(&b->round, __ATOMIC_ACQUIRE) != round)
                        continue;
                /* Pairs with the exchange in full_ring_event_set(). */
                __atomic_store_n(&b->has_rung, 1, __ATOMIC_RELEASE);
                (void)io_write_all(b->fd, &one, sizeof(one), NULL);
                while (__atomic_load_n(&b->round, __ATOMIC_ACQUIRE) == round)
                        (void)syscall(SYS_futex, &b->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
        }
        return NULL;
}

/* ---- the collector's side ------------------------------------------------------------------------------ */

static void next_round(struct full_ring_event *b)
{
        /* Pairs with the acquires in run(). */
        (void)__atomic_add_fetch(&b->round, 1, __ATOMIC_RELEASE);
        (void)syscall(SYS_futex, &b->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool has(const struct full_ring_event *b, const struct full_ring_event_word *words, size_t n)
{
        if (b->n_words != n)
                return false;
        for (size_t i = 0; i < n; i++)
                if (b->words[i].at != words[i].at || b->words[i].value != words[i].value)
                        return false;
        return true;
}

void full_ring_event_set(struct full_ring_event *b, const struct full_ring_event_word *words, size_t n,
                         bool rearmed)
{
        bool is_same;

        if (b->fd < 0)
                return;
        if (n > FULL_RING_EVENT_WORDS_MAX)
                n = FULL_RING_EVENT_WORDS_MAX;
        is_same = has(b, words, n);
        if (!is_same) {
                (void)pthread_mutex_lock(&b->lock);
                memcpy(b->words, words, n * sizeof(*words));
                b->n_words = n;
                (void)pthread_mutex_unlock(&b->lock);
        }
        if (!b->is_running && n > 0)
                b->is_running = helper_thread_start(&b->thread, "hyprof-bell", run, b) == 0;
        else if (__atomic_exchange_n(&b->has_rung, 0, __ATOMIC_ACQUIRE) != 0 || rearmed || !is_same)
                next_round(b);
}

void full_ring_event_deinit(struct full_ring_event *b)
{
        if (b->is_running) {
                __atomic_store_n(&b->is_ending, true, __ATOMIC_RELEASE);
                next_round(b);
                (void)pthread_join(b->thread, NULL);
        }
        (void)pthread_mutex_destroy(&b->lock);
        io_close(&b->fd);
}
