/* SPDX-License-Identifier: MIT */
/*
 * w_ranges ZONES
 *
 * Truth: for as long as the two threads "left" and "right" go through ZONES zones together, there is
 * something of every kind at any time: nested zones, some with words, messages, plots, frames, memory and a
 * lock that they wait for.  The zone "all" of each is open all the time.  A thread "first" says a message
 * and ends at the beginning, a thread "last" is named and ends at the end, and a "middle" one sleeps in the
 * zone "asleep" in between.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hyprof_lock lock = HYPROF_LOCK("shared");
static long n_rounds; /* of each thread */

static void lock_shared(void)
{
        hyprof_lock_wait(&lock);
        (void)pthread_mutex_lock(&mutex);
        hyprof_lock_obtain(&lock);
}

static void unlock_shared(void)
{
        (void)pthread_mutex_unlock(&mutex);
        hyprof_lock_release(&lock);
}

/* Now and then something that is no zone. */
static void say(long round, const char *thread)
{
        static struct hyprof_location load = HYPROF_NAME("load");
        char text[64];
        int n = snprintf(text, sizeof(text), "round %ld of %s", round, thread);

        hyprof_message(text, (size_t)n, HYPROF_SEVERITY_INFO, 0);
        hyprof_plot_int(&load, round % 1000);
        HYPROF_FRAME_NAMED("round");
        HYPROF_ALLOC((const void *)text, 64);
        lock_shared();
        HYPROF_FREE((const void *)text);
        unlock_shared();
}

static void *work(void *argument)
{
        static struct hyprof_location all = HYPROF_LOCATION("all", 0), outer = HYPROF_LOCATION("outer", 0),
                                      inner = HYPROF_LOCATION("inner", 0);
        const char *name = argument;
        hyprof_zone a;

        hyprof_thread_name(name);
        a = hyprof_zone_begin(&all);
        for (long i = 0; i < n_rounds; i++) {
                hyprof_zone o = hyprof_zone_begin(&outer), n;

                if (i % 500 == 0)
                        hyprof_zone_text(o, "first of many", 13);
                for (int k = 0; k < 4; k++) {
                        n = hyprof_zone_begin(&inner);
                        hyprof_zone_end(n);
                }
                hyprof_zone_end(o);
                if (i % 5000 == 0)
                        say(i, name);
        }
        hyprof_zone_end(a);
        return NULL;
}

static void *speak(void *argument)
{
        hyprof_thread_name(argument);
        HYPROF_MESSAGE("here");
        return NULL;
}

static void *sleep_in_zone(void *argument)
{
        static struct hyprof_location asleep = HYPROF_LOCATION("asleep", 0);

        hyprof_thread_name(argument);
        for (int i = 0; i < 4; i++) {
                const struct timespec time = { .tv_nsec = 60000000 };
                hyprof_zone zone = hyprof_zone_begin(&asleep);

                (void)nanosleep(&time, NULL);
                hyprof_zone_end(zone);
        }
        return NULL;
}

static void run_thread(void *(*function)(void *), const char *name)
{
        pthread_t thread;

        if (pthread_create(&thread, NULL, function, (void *)(uintptr_t)name) == 0)
                (void)pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
        static char left[] = "left", right[] = "right", middle[] = "middle";
        pthread_t threads[3];

        n_rounds = (argc > 1 ? strtol(argv[1], NULL, 10) : 0) / 10;
        run_thread(speak, "first");
        if (pthread_create(&threads[0], NULL, work, left) != 0 ||
            pthread_create(&threads[1], NULL, work, right) != 0 ||
            pthread_create(&threads[2], NULL, sleep_in_zone, middle) != 0)
                return 1;
        for (int i = 0; i < 3; i++)
                (void)pthread_join(threads[i], NULL);
        run_thread(speak, "last");
        return 0;
}
