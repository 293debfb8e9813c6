/* SPDX-License-Identifier: MIT */
/*
 * w_why [CAUSE=none] [INSTANCES=1000] [EXTRA_MS=20]
 *
 * Truth: the thread "worker" runs the zone "request" INSTANCES times, each of which works 0.3 ms in
 * usual_work(); one in a hundred takes EXTRA_MS longer, for one reason:
 *
 *   CAUSE    the slow ones
 *   none     do what the others do
 *   path     run slow_path() for that time
 *   lock     wait for the lock "queue", which the thread "loader" holds for that time while it runs flush()
 *   mutex    the same without telling hyprof of the lock
 *   faults   map fresh memory and touch it in touch_pages(), 1 MiB for each 0.5 ms
 *   move     move themselves to the other CPU and back, EXTRA_MS / 2 times, where the
 *            threads "rival" are busy
 *
 * The slow ones are at places that a fixed sequence of numbers chooses.  Where a machine has one CPU,
 * `move` ends with status 77.
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
#include <unistd.h>

#define NS_PER_MS  1000000
#define USUAL_NS   300000
#define PAGE_BYTES 4096

BURN_FUNCTION(usual_work);
BURN_FUNCTION(slow_work);
BURN_FUNCTION(flush);
BURN_FUNCTION(rival_work);

enum cause { CAUSE_NONE, CAUSE_PATH, CAUSE_LOCK, CAUSE_MUTEX, CAUSE_FAULTS, CAUSE_MOVE };

struct work {
        enum cause cause;
        int n_instances;
        uint64_t usual_rounds, extra_rounds;
        size_t n_fault_bytes;
        int n_moves;
        pthread_mutex_t mutex;
        pthread_mutex_t turn; /* of the two members below */
        pthread_cond_t changed;
        bool wants_flush, is_held;
        bool over;
        atomic_bool rivals_over;
        int cpus[2]; /* that the worker runs on, and the other one */
        char *fresh; /* mapped in a slow instance, unmapped after it */
};

static struct hyprof_lock queue = HYPROF_LOCK("queue");

static void check(int good)
{
        if (!good)
                abort();
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
        if (w->cause == CAUSE_LOCK)
                hyprof_lock_obtain(&queue);
        check(pthread_mutex_lock(&w->turn) == 0);
        w->is_held = true;
        check(pthread_cond_broadcast(&w->changed) == 0);
        check(pthread_mutex_unlock(&w->turn) == 0);
        flush(w->extra_rounds);
        if (w->cause == CAUSE_LOCK)
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
        w->is_held = false;
        check(pthread_cond_broadcast(&w->changed) == 0);
        while (!w->is_held)
                check(pthread_cond_wait(&w->changed, &w->turn) == 0);
        check(pthread_mutex_unlock(&w->turn) == 0);
}

/* ---- what slow instances do ---------------------------------------------------------------------------- */

static __attribute__((noinline)) void slow_path(struct work *w)
{
        slow_work(w->extra_rounds);
        __asm__ volatile("");
}

static __attribute__((noinline)) void take_queue(struct work *w)
{
        if (w->cause == CAUSE_LOCK)
                hyprof_lock_wait(&queue);
        check(pthread_mutex_lock(&w->mutex) == 0);
        if (w->cause == CAUSE_LOCK) {
                hyprof_lock_obtain(&queue);
                hyprof_lock_release(&queue);
        }
        check(pthread_mutex_unlock(&w->mutex) == 0);
}

static __attribute__((noinline)) void touch_pages(struct work *w)
{
        w->fresh = mmap(NULL, w->n_fault_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(w->fresh != MAP_FAILED);
        (void)madvise(w->fresh, w->n_fault_bytes, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < w->n_fault_bytes; i += PAGE_BYTES)
                w->fresh[i] = 1;
}

static __attribute__((noinline)) void move_about(struct work *w)
{
        for (int i = 0; i < w->n_moves; i++) {
                bind(w->cpus[1]);
                bind(w->cpus[0]);
        }
}

/* By cause; called through a pointer, so that nothing stands between handle() and them. */
static void (*const slow_ways[])(struct work *w) = {
        [CAUSE_PATH] = slow_path,     [CAUSE_LOCK] = take_queue, [CAUSE_MUTEX] = take_queue,
        [CAUSE_FAULTS] = touch_pages, [CAUSE_MOVE] = move_about,
};

/* ---- instances ----------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void handle(struct work *w, bool is_slow)
{
        HYPROF_ZONE("request");
        usual_work(w->usual_rounds);
        if (is_slow)
                slow_ways[w->cause](w);
        __asm__ volatile(""); /* no tail call */
}

static void prepare(struct work *w, bool is_slow)
{
        if (is_slow && (w->cause == CAUSE_LOCK || w->cause == CAUSE_MUTEX))
                let_load(w);
}

static void clean_up(struct work *w)
{
        if (w->fresh)
                check(munmap(w->fresh, w->n_fault_bytes) == 0);
        w->fresh = NULL;
}

/* One of each hundred, where in it differs. */
static bool is_chosen(int i)
{
        return i % 100 == (i / 100 * 37 + 11) % 100;
}

static void *rival(void *context)
{
        const struct work *w = context;

        check(pthread_setname_np(pthread_self(), "rival") == 0);
        bind(w->cpus[1]);
        while (!atomic_load(&w->rivals_over))
                rival_work(100000);
        return NULL;
}

static int find_cpus(struct work *w)
{
        cpu_set_t set;
        int n = 0;

        check(sched_getaffinity(0, sizeof(set), &set) == 0);
        for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
                if (CPU_ISSET((size_t)cpu, &set))
                        w->cpus[n++] = cpu;
        return n;
}

static void run(struct work *w)
{
        pthread_t loader, rivals[2];
        bool has_loader = w->cause == CAUSE_LOCK || w->cause == CAUSE_MUTEX;

        if (has_loader)
                check(pthread_create(&loader, NULL, load, w) == 0);
        for (int i = 0; w->cause == CAUSE_MOVE && i < 2; i++)
                check(pthread_create(&rivals[i], NULL, rival, w) == 0);
        check(pthread_setname_np(pthread_self(), "worker") == 0);
        if (w->cause == CAUSE_MOVE)
                bind(w->cpus[0]);
        for (int i = 0; i < w->n_instances; i++) {
                bool is_slow = w->cause != CAUSE_NONE && is_chosen(i);

                prepare(w, is_slow);
                handle(w, is_slow);
                clean_up(w);
        }
        atomic_store(&w->rivals_over, true);
        for (int i = 0; w->cause == CAUSE_MOVE && i < 2; i++)
                check(pthread_join(rivals[i], NULL) == 0);
        if (!has_loader)
                return;
        check(pthread_mutex_lock(&w->turn) == 0);
        w->over = true;
        check(pthread_cond_broadcast(&w->changed) == 0);
        check(pthread_mutex_unlock(&w->turn) == 0);
        check(pthread_join(loader, NULL) == 0);
}

static enum cause find_cause(const char *name)
{
        static const char *const names[] = { "none", "path", "lock", "mutex", "faults", "move" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(name, names[i]) == 0)
                        return (enum cause)i;
        (void)fprintf(stderr, "w_why: no such cause: %s\n", name);
        exit(2);
}

int main(int argc, char **argv)
{
        double extra_ms = burn_argument(argc, argv, 3, 20);
        struct work w = { .cause = find_cause(argc > 1 ? argv[1] : "none"),
                          .n_instances = (int)burn_argument(argc, argv, 2, 1000),
                          .usual_rounds = burn_rounds_of(USUAL_NS),
                          .extra_rounds = burn_rounds_of((int64_t)(extra_ms * NS_PER_MS)),
                          .n_fault_bytes = ((size_t)(extra_ms * 2) + 1) << 20,
                          .n_moves = (int)(extra_ms / 2) + 1,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .turn = PTHREAD_MUTEX_INITIALIZER,
                          .changed = PTHREAD_COND_INITIALIZER };

        if (find_cpus(&w) < 2 && w.cause == CAUSE_MOVE)
                return 77;
        hyprof_thread_name("worker");
        run(&w);
        return EXIT_SUCCESS;
}
