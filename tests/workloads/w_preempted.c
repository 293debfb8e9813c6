/* SPDX-License-Identifier: MIT */
/*
 * w_preempted [CAUSE=none] [INSTANCES=1000] [EXTRA_MS=10]
 *
 * Truth: the thread "worker" runs the zone "request" INSTANCES times, each of which works 0.3 ms in
 * usual_work(); one in fifty is kept from running for EXTRA_MS by one cause:
 *
 *   CAUSE    in the slow ones
 *   none     nothing
 *   hog      the thread "hog" of the same process runs on the worker's CPU
 *   program  the process "rival", a child, runs there
 *   stop     the process is stopped by SIGSTOP, and continued by its parent
 *
 * All of it is on the first CPU that it may use.  Where permitted, all have real-time priorities and the
 * worker the lowest of them, so that other programs disturb little; else the worker is SCHED_IDLE.
 * Either way, who wakes up on its CPU runs at once.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000
#define USUAL_NS  300000

BURN_FUNCTION(usual_work);
BURN_FUNCTION(other_work);

enum cause { CAUSE_NONE, CAUSE_HOG, CAUSE_PROGRAM, CAUSE_STOP };

struct work {
        enum cause cause;
        int n_instances;
        uint64_t usual_rounds, extra_rounds;
        int64_t extra_ns;
        int ask[2]; /* pipe: a byte is a slow instance */
};

static void check(int good)
{
        if (!good)
                abort();
}

enum { PRIORITY_WORKER = 1, PRIORITY_OTHER = 2 };

static void set_priority(int priority)
{
        struct sched_param param = { .sched_priority = priority }, none = { .sched_priority = 0 };

        if (sched_setscheduler(0, SCHED_RR, &param) < 0 && priority == PRIORITY_WORKER)
                check(sched_setscheduler(0, SCHED_IDLE, &none) == 0);
}

/* Runs for each byte that comes, until the other end is closed; with the priority of its maker. */
static void run_when_asked(const struct work *w)
{
        char byte;

        while (read(w->ask[0], &byte, 1) == 1)
                other_work(w->extra_rounds);
}

static void *hog(void *context)
{
        check(pthread_setname_np(pthread_self(), "hog") == 0);
        run_when_asked(context);
        return NULL;
}

static __attribute__((noinline)) void handle(struct work *w, bool is_slow)
{
        HYPROF_ZONE("request");
        usual_work(w->usual_rounds / 2);
        if (is_slow && w->cause == CAUSE_STOP)
                check(raise(SIGSTOP) == 0);
        else if (is_slow)
                check(write(w->ask[1], "", 1) == 1);
        usual_work(w->usual_rounds / 2);
        __asm__ volatile(""); /* no tail call */
}

static void work(struct work *w)
{
        check(pthread_setname_np(pthread_self(), "worker") == 0);
        set_priority(PRIORITY_WORKER);
        for (int i = 0; i < w->n_instances; i++)
                handle(w, w->cause != CAUSE_NONE && i % 50 == 25);
}

static int run_with_hog(struct work *w)
{
        pthread_t thread;

        check(pthread_create(&thread, NULL, hog, w) == 0);
        work(w);
        check(close(w->ask[1]) == 0);
        check(pthread_join(thread, NULL) == 0);
        return EXIT_SUCCESS;
}

static int run_with_rival(struct work *w)
{
        pid_t pid = fork();
        int status;

        if (pid == 0) {
                check(close(w->ask[1]) == 0);
                check(prctl(PR_SET_NAME, "rival") == 0);
                run_when_asked(w);
                return EXIT_SUCCESS;
        }
        work(w);
        check(close(w->ask[1]) == 0);
        check(waitpid(pid, &status, 0) == pid && status == 0);
        return EXIT_SUCCESS;
}

static int run_stopped(struct work *w)
{
        struct timespec pause = { .tv_nsec = w->extra_ns };
        pid_t pid = fork();
        int status;

        if (pid == 0) {
                work(w);
                return EXIT_SUCCESS;
        }
        while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
                (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
                check(kill(pid, SIGCONT) == 0);
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static void bind_to_first(void)
{
        cpu_set_t may, set;
        size_t cpu = 0;

        check(sched_getaffinity(0, sizeof(may), &may) == 0);
        while (!CPU_ISSET(cpu, &may))
                cpu++;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        check(sched_setaffinity(0, sizeof(set), &set) == 0);
}

static enum cause find_cause(const char *name)
{
        static const char *const names[] = { "none", "hog", "program", "stop" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(name, names[i]) == 0)
                        return (enum cause)i;
        (void)fprintf(stderr, "w_preempted: no such cause: %s\n", name);
        exit(2);
}

int main(int argc, char **argv)
{
        double extra_ms = burn_argument(argc, argv, 3, 10);
        struct work w = { .cause = find_cause(argc > 1 ? argv[1] : "none"),
                          .n_instances = (int)burn_argument(argc, argv, 2, 1000),
                          .usual_rounds = burn_rounds_of(USUAL_NS),
                          .extra_rounds = burn_rounds_of((int64_t)(extra_ms * NS_PER_MS)),
                          .extra_ns = (int64_t)(extra_ms * NS_PER_MS) };

        bind_to_first();
        set_priority(PRIORITY_OTHER);
        check(pipe(w.ask) == 0);
        switch (w.cause) {
        case CAUSE_HOG:
                return run_with_hog(&w);
        case CAUSE_PROGRAM:
                return run_with_rival(&w);
        case CAUSE_STOP:
                return run_stopped(&w);
        case CAUSE_NONE:
                break;
        }
        work(&w);
        return EXIT_SUCCESS;
}
