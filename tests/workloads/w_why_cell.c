/* SPDX-License-Identifier: MIT */
/*
 * w_why_cell [CAUSE=path] [ZONE_NS=1000] [SECONDS=1.5] [SEED=1]
 *
 * Truth: for SECONDS, on a busy machine up to four times as long until 25 instances were slow, the thread
 * "worker" runs the zone "request", ZONE_NS long in usual_work() or walk(), and 4 us of between() outside of
 * it.  One instance in a hundred (of 10 ms: in five) takes longer, by 100 us, or ten times (of 10 ms: once)
 * ZONE_NS if that is more, for one reason:
 *
 *   CAUSE    the slow ones
 *   path     run slow_path()
 *   lock     wait for the lock "queue", which the thread "loader" holds for that time while it runs flush()
 *   faults   touch fresh memory in touch_pages()
 *   sleep    sleep in rest()
 *   move     move themselves to the other CPU and back, in move_about()
 *   memory   walk() through memory that is in no cache, where others walk() as far through some that is
 *   null     do ten times as much of the same: each instance runs a random mix of 12 functions,
 *            takes one of 3 locks that the thread "rival" takes as well, and touches fresh pages;
 *            slow ones are chosen at random
 *
 * Where a machine has one CPU, `move` ends with status 77.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND INT64_C(1000000000)
#define LONG_ZONE_NS  5000000 /* of longer ones there are few */
#define EXTRA_MIN_NS  100000
#define BETWEEN_NS    4000
#define FAULT_NS      700 /* about */
#define MOVE_NS       50000
#define COLD_STEP_NS  60
#define PAGE_BYTES    4096
#define HOT_ITEMS     64
#define COLD_ITEMS    (1U << 20)
#define LINE_ITEMS    16 /* of 4 bytes in a cache line */
#define N_LOCKS       3
#define SLOW_ENOUGH   25 /* slow instances, on a busy machine as well */
#define LONGEST       4  /* times SECONDS */
#define N_FUNCTIONS   12

BURN_FUNCTION(usual_work);
BURN_FUNCTION(slow_work);
BURN_FUNCTION(flush);
BURN_FUNCTION(between);
BURN_FUNCTION(one);
BURN_FUNCTION(two);
BURN_FUNCTION(three);
BURN_FUNCTION(four);
BURN_FUNCTION(five);
BURN_FUNCTION(six);
BURN_FUNCTION(seven);
BURN_FUNCTION(eight);
BURN_FUNCTION(nine);
BURN_FUNCTION(ten);
BURN_FUNCTION(eleven);
BURN_FUNCTION(twelve);

static void (*const functions[N_FUNCTIONS])(uint64_t n_rounds) = {
        one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve
};

struct work {
        uint64_t usual_rounds, extra_rounds, between_rounds, unit_rounds;
        int64_t zone_ns, extra_ns;
        uint64_t random;
        uint32_t *cold; /* a way through memory: the next item of each */
        uint32_t hot[HOT_ITEMS];
        uint64_t hot_steps, cold_steps;
        uint32_t at;
        int cpus[2];
        pthread_mutex_t mutex, turn;
        pthread_cond_t changed;
        bool wants_flush, is_held, over; /* under `turn` */
        pthread_mutex_t shared[N_LOCKS];
        atomic_bool is_over,
                is_asked; /* asked: for the lock, which is held until then and for a while more */
        char *fresh;
        size_t n_fresh_bytes, fresh_at;
};

static struct hyprof_lock queue = HYPROF_LOCK("queue");
static struct hyprof_lock shared[N_LOCKS] = { HYPROF_LOCK("first"), HYPROF_LOCK("second"),
                                              HYPROF_LOCK("third") };

static void check(int good)
{
        if (!good)
                abort();
}

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state >> 11;
}

static void bind(int cpu)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET((size_t)cpu, &set);
        check(sched_setaffinity(0, sizeof(set), &set) == 0);
}

/* ---- the thread that holds the lock -------------------------------------------------------------------- */

static void hold_lock(struct work *w)
{
        check(pthread_mutex_lock(&w->mutex) == 0);
        hyprof_lock_obtain(&queue);
        check(pthread_mutex_lock(&w->turn) == 0);
        w->is_held = true;
        check(pthread_cond_broadcast(&w->changed) == 0);
        check(pthread_mutex_unlock(&w->turn) == 0);
        while (!atomic_load(&w->is_asked))
                (void)sched_yield();
        flush(w->extra_rounds);
        hyprof_lock_release(&queue);
        check(pthread_mutex_unlock(&w->mutex) == 0);
}

static void *load(void *context)
{
        struct work *w = context;

        check(pthread_setname_np(pthread_self(), "loader") == 0);
        check(pthread_mutex_lock(&w->turn) == 0);
        while (!w->over) {
                if (!w->wants_flush) {
                        check(pthread_cond_wait(&w->changed, &w->turn) == 0);
                        continue;
                }
                w->wants_flush = false;
                check(pthread_mutex_unlock(&w->turn) == 0);
                hold_lock(w);
                check(pthread_mutex_lock(&w->turn) == 0);
        }
        check(pthread_mutex_unlock(&w->turn) == 0);
        return NULL;
}

/* Returns when the loader has the lock. */
static void let_load(struct work *w)
{
        check(pthread_mutex_lock(&w->turn) == 0);
        w->wants_flush = true;
        atomic_store(&w->is_asked, false);
        w->is_held = false;
        check(pthread_cond_broadcast(&w->changed) == 0);
        while (!w->is_held)
                check(pthread_cond_wait(&w->changed, &w->turn) == 0);
        check(pthread_mutex_unlock(&w->turn) == 0);
}

static void end_loader(struct work *w, pthread_t loader)
{
        check(pthread_mutex_lock(&w->turn) == 0);
        w->over = true;
        check(pthread_cond_broadcast(&w->changed) == 0);
        check(pthread_mutex_unlock(&w->turn) == 0);
        check(pthread_join(loader, NULL) == 0);
}

/* ---- what slow instances do ---------------------------------------------------------------------------- */

static __attribute__((noinline)) void slow_path(struct work *w)
{
        slow_work(w->extra_rounds);
        __asm__ volatile("");
}

static __attribute__((noinline)) void take_queue(struct work *w)
{
        hyprof_lock_wait(&queue);
        atomic_store(&w->is_asked, true);
        check(pthread_mutex_lock(&w->mutex) == 0);
        hyprof_lock_obtain(&queue);
        hyprof_lock_release(&queue);
        check(pthread_mutex_unlock(&w->mutex) == 0);
}

static __attribute__((noinline)) void touch_pages(struct work *w)
{
        w->n_fresh_bytes = (size_t)(w->extra_ns / FAULT_NS) * PAGE_BYTES;
        w->fresh = mmap(NULL, w->n_fresh_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(w->fresh != MAP_FAILED);
        (void)madvise(w->fresh, w->n_fresh_bytes, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < w->n_fresh_bytes; i += PAGE_BYTES)
                w->fresh[i] = 1;
}

static __attribute__((noinline)) void rest(struct work *w)
{
        struct timespec t = { .tv_nsec = w->extra_ns };

        (void)nanosleep(&t, NULL);
        __asm__ volatile("");
}

static __attribute__((noinline)) void move_about(struct work *w)
{
        for (int64_t ns = 0; ns < w->extra_ns; ns += MOVE_NS) {
                bind(w->cpus[1]);
                bind(w->cpus[0]);
        }
}

static __attribute__((noinline)) uint32_t walk(const uint32_t *items, uint32_t at, uint64_t n_steps)
{
        while (n_steps-- > 0)
                at = items[at];
        __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
        return at;
}

/* ---- instances ----------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void handle(struct work *w, void (*slow_way)(struct work *w))
{
        HYPROF_ZONE("request");
        if (slow_way)
                slow_way(w);
        usual_work(w->usual_rounds);
        __asm__ volatile(""); /* no tail call */
}

static __attribute__((noinline)) void handle_memory(struct work *w, bool is_slow)
{
        HYPROF_ZONE("request");
        w->hot[0] = walk(w->hot, w->hot[0], w->hot_steps);
        if (is_slow)
                w->at = walk(w->cold, w->at, w->cold_steps);
        __asm__ volatile("");
}

static __attribute__((noinline)) void take_shared(struct work *w, uint64_t i)
{
        hyprof_lock_wait(&shared[i]);
        check(pthread_mutex_lock(&w->shared[i]) == 0);
        hyprof_lock_obtain(&shared[i]);
        usual_work(w->unit_rounds / 4);
        hyprof_lock_release(&shared[i]);
        check(pthread_mutex_unlock(&w->shared[i]) == 0);
}

static __attribute__((noinline)) void touch_one(struct work *w)
{
        w->fresh[w->fresh_at] = 1;
        w->fresh_at += PAGE_BYTES;
        if (w->fresh_at < w->n_fresh_bytes)
                return;
        w->fresh_at = 0;
        (void)madvise(w->fresh, w->n_fresh_bytes, MADV_DONTNEED);
}

static __attribute__((noinline)) void handle_mix(struct work *w, bool is_slow)
{
        HYPROF_ZONE("request");
        for (int i = 0; i < (is_slow ? 200 : 20); i++) {
                uint64_t what = next_random(&w->random) % 16;

                if (what < N_FUNCTIONS)
                        functions[what](w->unit_rounds);
                else if (what < N_FUNCTIONS + N_LOCKS)
                        take_shared(w, what - N_FUNCTIONS);
                else
                        touch_one(w);
        }
}

static void *rival(void *context)
{
        struct work *w = context;
        uint64_t random = 99;

        check(pthread_setname_np(pthread_self(), "rival") == 0);
        while (!atomic_load(&w->is_over)) {
                struct timespec t = { .tv_nsec = 100000 };
                uint64_t i = next_random(&random) % N_LOCKS;

                check(pthread_mutex_lock(&w->shared[i]) == 0);
                hyprof_lock_obtain(&shared[i]);
                flush(4 * w->unit_rounds);
                hyprof_lock_release(&shared[i]);
                check(pthread_mutex_unlock(&w->shared[i]) == 0);
                (void)nanosleep(&t, NULL);
        }
        return NULL;
}

/* ---- the causes ---------------------------------------------------------------------------------------- */

enum cause { CAUSE_PATH, CAUSE_LOCK, CAUSE_FAULTS, CAUSE_SLEEP, CAUSE_MOVE, CAUSE_MEMORY, CAUSE_NULL };

static enum cause find_cause(const char *name)
{
        static const char *const names[] = { "path", "lock", "faults", "sleep", "move", "memory", "null" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(name, names[i]) == 0)
                        return (enum cause)i;
        (void)fprintf(stderr, "w_why_cell: no such cause: %s\n", name);
        exit(2);
}

static void run_one(struct work *w, enum cause cause, bool is_slow)
{
        static void (*const ways[])(struct work * w) = { slow_path, take_queue, touch_pages, rest,
                                                         move_about };

        if (cause == CAUSE_MEMORY) {
                handle_memory(w, is_slow);
        } else if (cause == CAUSE_NULL) {
                handle_mix(w, is_slow);
        } else {
                if (is_slow && cause == CAUSE_LOCK)
                        let_load(w);
                handle(w, is_slow ? ways[cause] : NULL);
        }
        if (w->fresh && cause == CAUSE_FAULTS) {
                check(munmap(w->fresh, w->n_fresh_bytes) == 0);
                w->fresh = NULL;
        }
}

static void run(struct work *w, enum cause cause, double seconds)
{
        uint64_t one_in = w->zone_ns > LONG_ZONE_NS ? 5 : 100;
        int64_t for_ns = (int64_t)(seconds * (double)NS_PER_SECOND);
        int64_t begin_ns = burn_clock_ns(CLOCK_MONOTONIC), now_ns = begin_ns;
        uint64_t enough = SLOW_ENOUGH * one_in, slow_at = 0;

        for (uint64_t i = 0;
             now_ns - begin_ns < for_ns || (i < enough && now_ns - begin_ns < LONGEST * for_ns); i++) {
                if (i % one_in == 0)
                        slow_at = next_random(&w->random) % one_in;
                run_one(w, cause, i % one_in == slow_at);
                between(w->between_rounds);
                now_ns = burn_clock_ns(CLOCK_MONOTONIC);
        }
}

/* One cycle through all lines, in an order that nothing foresees. */
static void prepare_memory(struct work *w)
{
        uint32_t n_lines = COLD_ITEMS, *order = calloc(n_lines, sizeof(*order));

        w->cold = calloc((size_t)n_lines * LINE_ITEMS, sizeof(*w->cold));
        check(w->cold && order);
        for (uint32_t i = 0; i < n_lines; i++)
                order[i] = i;
        for (uint32_t i = n_lines - 1; i > 0; i--) {
                uint32_t k = (uint32_t)(next_random(&w->random) % (i + 1)), swapped = order[i];

                order[i] = order[k];
                order[k] = swapped;
        }
        for (uint32_t i = 0; i < n_lines; i++)
                w->cold[order[i] * LINE_ITEMS] = order[(i + 1) % n_lines] * LINE_ITEMS;
        free(order);
        for (uint32_t i = 0; i < HOT_ITEMS; i++)
                w->hot[i] = (i + 1) % HOT_ITEMS;
}

/* Steps in memory that is near, by measuring; in the rest they are taken to be slow. */
static void measure_steps(struct work *w)
{
        int64_t best_ns = INT64_MAX;

        for (int i = 0; i < 5; i++) {
                int64_t begin_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;

                w->hot[0] = walk(w->hot, w->hot[0], 1000000);
                took_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
                if (took_ns < best_ns)
                        best_ns = took_ns;
        }
        w->hot_steps = (uint64_t)((double)w->zone_ns * 1e6 / (double)best_ns) + 1;
        w->cold_steps = (uint64_t)(w->extra_ns / COLD_STEP_NS) + 1;
}

static void prepare(struct work *w, enum cause cause)
{
        cpu_set_t set;
        int n = 0;

        check(sched_getaffinity(0, sizeof(set), &set) == 0);
        for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
                if (CPU_ISSET((size_t)cpu, &set))
                        w->cpus[n++] = cpu;
        if (cause == CAUSE_MOVE && n < 2)
                exit(77);
        if (cause == CAUSE_MOVE)
                bind(w->cpus[0]);
        if (cause == CAUSE_MEMORY) {
                prepare_memory(w);
                measure_steps(w);
        }
        if (cause == CAUSE_NULL) {
                w->n_fresh_bytes = (size_t)4 << 20;
                w->fresh = mmap(NULL, w->n_fresh_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);
                check(w->fresh != MAP_FAILED);
                (void)madvise(w->fresh, w->n_fresh_bytes, MADV_NOHUGEPAGE);
        }
}

int main(int argc, char **argv)
{
        enum cause cause = find_cause(argc > 1 ? argv[1] : "path");
        int64_t zone_ns = (int64_t)burn_argument(argc, argv, 2, 1000);
        int64_t extra_ns = zone_ns > LONG_ZONE_NS ? zone_ns : 10 * zone_ns;
        struct work w = { .zone_ns = zone_ns,
                          .extra_ns = extra_ns > EXTRA_MIN_NS ? extra_ns : EXTRA_MIN_NS,
                          .usual_rounds = burn_rounds_of(zone_ns),
                          .between_rounds = burn_rounds_of(BETWEEN_NS),
                          .unit_rounds = burn_rounds_of(zone_ns / 20 + 1),
                          .random = (uint64_t)burn_argument(argc, argv, 4, 1) * 2 + 1,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .turn = PTHREAD_MUTEX_INITIALIZER,
                          .changed = PTHREAD_COND_INITIALIZER,
                          .shared = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                      PTHREAD_MUTEX_INITIALIZER } };
        pthread_t thread;

        w.extra_rounds = burn_rounds_of(w.extra_ns);
        prepare(&w, cause);
        check(pthread_setname_np(pthread_self(), "worker") == 0);
        hyprof_thread_name("worker");
        if (cause == CAUSE_LOCK)
                check(pthread_create(&thread, NULL, load, &w) == 0);
        if (cause == CAUSE_NULL)
                check(pthread_create(&thread, NULL, rival, &w) == 0);
        run(&w, cause, burn_argument(argc, argv, 3, 1.5));
        atomic_store(&w.is_over, true);
        if (cause == CAUSE_LOCK)
                end_loader(&w, thread);
        if (cause == CAUSE_NULL)
                check(pthread_join(thread, NULL) == 0);
        return EXIT_SUCCESS;
}
