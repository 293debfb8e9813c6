/* SPDX-License-Identifier: MIT */
/* instrument/client: what a program says is what a recorder reads, across threads, sessions, fork and kill */
#include "tests/unit/own_recording.h"

#include "base/clock.h"
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/region_finder.h"
#include "instrument/tick_clock.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <hyprof/hyprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread and a zone cost ten times as much with a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_SHORT_THREADS 1500
#define N_READ_ZONES    20000
#else
#define N_SHORT_THREADS 10000
#define N_READ_ZONES    200000
#endif
#define N_CHILD_ZONES 1000

static const char *own_path; /* this program, to be run again as a program under record */

static void record(uint32_t families)
{
        own_recording_open((uint32_t)getpid(), families);
}

START_TEST(test_nobody_records)
{
        static struct hyprof_location here = HYPROF_LOCATION("here", 0);

        ck_assert_int_eq(hyprof_is_recording(), 0);
        ck_assert_uint_eq(hyprof_zone_begin(&here), 0);
        hyprof_zone_end(0);
        HYPROF_MESSAGE("no recorder hears this");
        ck_assert_uint_eq(here.id, 0);

        record(CLIENT_ABI_FAMILY_ZONES);
        own_recording_drain();
        ck_assert_uint_eq(recorded.n_events, 0);
        own_recording_close();
        ck_assert_int_eq(hyprof_is_recording(), 0);
}
END_TEST

/* Now, in the clock that the region's events are stamped with. */
static uint64_t now_in_ticks(void)
{
        return client_region_clock_kind(recorded.region) == tick_source_kind() ? tick_source_read()
                                                                               : clock_raw_ns();
}

START_TEST(test_zones_nest)
{
        struct client_location l;
        uint64_t last_ticks;
        uint32_t line;

        record(CLIENT_ABI_FAMILY_ZONES);
        last_ticks = now_in_ticks();
        ck_assert_int_eq(hyprof_is_recording(), 1);
        {
                HYPROF_ZONE_COLOR("outer", 0x123456);
                line = __LINE__ - 1;
                for (int i = 0; i < 3; i++) {
                        HYPROF_ZONE("inner");
                }
                HYPROF_ZONE_BEGIN(named, "named");
                HYPROF_ZONE_END(named);
                HYPROF_ZONE_FUNCTION();
        }
        own_recording_drain();

        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 6);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 6);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_THREAD, 0)->argument, (uint32_t)gettid());
        ck_assert(own_recording_is_named(recorded.events[1].event.argument, "outer"));
        ck_assert(own_recording_is_named(recorded.events[2].event.argument, "inner"));
        ck_assert_uint_eq(recorded.events[2].event.argument, recorded.events[4].event.argument);
        ck_assert(own_recording_is_named(recorded.events[8].event.argument, "named"));
        ck_assert(own_recording_is_named(recorded.events[10].event.argument, __func__));
        for (size_t i = 0; i < recorded.n_events; i++) {
                ck_assert_uint_ge(recorded.events[i].event.ticks, last_ticks);
                last_ticks = recorded.events[i].event.ticks;
        }
        ck_assert_uint_ge(now_in_ticks(), last_ticks);

        ck_assert_int_eq(client_region_location(recorded.region, recorded.events[1].event.argument, &l, NULL),
                         0);
        ck_assert_uint_eq(l.line, line);
        ck_assert_uint_eq(l.color, 0x123456);
        ck_assert_uint_eq(l.function_bytes, strlen(__func__));
        ck_assert_mem_eq(l.function, __func__, l.function_bytes);
        ck_assert_uint_eq(l.file_bytes, strlen(__FILE__));
        ck_assert_mem_eq(l.file, __FILE__, l.file_bytes);
}
END_TEST

START_TEST(test_messages_plots_frames_names)
{
        static char big[100000];
        struct byte_buffer blob = { .data = NULL };
        const struct client_event *e;
        double value;

        hyprof_thread_name("named before");
        record(CLIENT_ABI_FAMILIES);
        HYPROF_MESSAGE("hello");
        hyprof_thread_name("renamed");
        hyprof_message("", 0, HYPROF_SEVERITY_ERROR, 0xff0000);
        memset(big, 'x', sizeof(big));
        hyprof_message(big, sizeof(big), HYPROF_SEVERITY_DEBUG, 0);
        HYPROF_PLOT_INT("queue", -7);
        HYPROF_PLOT_DOUBLE("load", 0.25);
        HYPROF_FRAME();
        HYPROF_FRAME_NAMED("audio");
        own_recording_drain();

        e = own_recording_get(CLIENT_ABI_EVENT_THREAD_NAME, 0);
        ck_assert_str_eq(e->text, "named before");
        e = own_recording_get(CLIENT_ABI_EVENT_THREAD_NAME,
                              own_recording_count(CLIENT_ABI_EVENT_THREAD_NAME) - 1);
        ck_assert_str_eq(e->text, "renamed");
        e = own_recording_get(CLIENT_ABI_EVENT_MESSAGE, 0);
        ck_assert_str_eq(e->text, "hello");
        ck_assert_uint_eq(e->value[0], (uint64_t)HYPROF_SEVERITY_INFO << 32);
        e = own_recording_get(CLIENT_ABI_EVENT_MESSAGE, 1);
        ck_assert_str_eq(e->text, "");
        ck_assert_uint_eq(e->value[0], (uint64_t)HYPROF_SEVERITY_ERROR << 32 | 0xff0000);
        e = own_recording_get(CLIENT_ABI_EVENT_MESSAGE, 2);
        ck_assert_uint_eq(e->prefix.blob_bytes, sizeof(big));
        ck_assert_int_eq(client_region_read_blob(recorded.region, e->prefix.blob_at, e->prefix.blob_bytes,
                                                 &blob, NULL),
                         0);
        ck_assert_uint_eq(blob.used_bytes, sizeof(big));
        ck_assert_mem_eq(blob.data, big, sizeof(big));
        e = own_recording_get(CLIENT_ABI_EVENT_PLOT_I64, 0);
        ck_assert(own_recording_is_named(e->argument, "queue"));
        ck_assert_int_eq((int64_t)e->value[0], -7);
        e = own_recording_get(CLIENT_ABI_EVENT_PLOT_F64, 0);
        ck_assert(own_recording_is_named(e->argument, "load"));
        memcpy(&value, &e->value[0], sizeof(value));
        ck_assert_double_eq(value, 0.25);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_FRAME_MARK, 0)->argument, 0);
        e = own_recording_get(CLIENT_ABI_EVENT_FRAME_MARK, 1);
        ck_assert(own_recording_is_named(e->argument, "audio"));
        byte_buffer_deinit(&blob);
}
END_TEST

START_TEST(test_only_wanted_families)
{
        record(CLIENT_ABI_FAMILY_PLOTS);
        HYPROF_MESSAGE("not wanted");
        HYPROF_FRAME();
        HYPROF_PLOT_INT("wanted", 1);
        {
                HYPROF_ZONE("not wanted");
        }
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_PLOT_I64), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_MESSAGE), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FRAME_MARK), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 0);
}
END_TEST

/* The end of a zone that an earlier recording saw begin must not end a zone of the next one. */
START_TEST(test_sessions_do_not_mix)
{
        static struct hyprof_location old = HYPROF_LOCATION("old", 0), new = HYPROF_LOCATION("new", 0);
        hyprof_zone old_zone, new_zone;

        record(CLIENT_ABI_FAMILY_ZONES);
        old_zone = hyprof_zone_begin(&old);
        ck_assert_uint_ne(old_zone, 0);
        own_recording_close();

        record(CLIENT_ABI_FAMILY_ZONES);
        new_zone = hyprof_zone_begin(&new);
        ck_assert_uint_ne(new_zone, old_zone);
        hyprof_zone_end(old_zone);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 0);
        hyprof_zone_end(new_zone);
        hyprof_zone_end(new_zone); /* one too many */
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 1);
        ck_assert(own_recording_is_named(own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 0)->argument, "new"));
}
END_TEST

static void *run_short_thread(void *unused)
{
        HYPROF_ZONE("short");
        return unused;
}

START_TEST(test_short_threads_reuse_slots)
{
        record(CLIENT_ABI_FAMILY_ZONES);
        for (int i = 0; i < N_SHORT_THREADS; i++) {
                pthread_t thread;

                ck_assert_int_eq(pthread_create(&thread, NULL, run_short_thread, NULL), 0);
                ck_assert_int_eq(pthread_join(thread, NULL), 0);
                if (i % 1000 == 0)
                        own_recording_drain();
        }
        own_recording_drain();
        ck_assert_uint_le(client_region_count_slots(recorded.region), 2);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), N_SHORT_THREADS);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_THREAD), N_SHORT_THREADS);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(client_region_drops_no_ring(recorded.region), 0);
}
END_TEST

struct worker {
        pthread_t thread;
        const atomic_bool *stop;
        uint64_t n_zones;
};

static void *run_worker(void *arg)
{
        struct worker *w = arg;

        while (!atomic_load(w->stop)) {
                HYPROF_ZONE("outer");
                {
                        HYPROF_ZONE("inner");
                        w->n_zones += 2;
                }
        }
        return NULL;
}

/* Each zone of four threads is recorded or counted as dropped, and none is torn, while we read. */
START_TEST(test_reading_while_threads_write)
{
        struct worker workers[4] = { { .n_zones = 0 } };
        atomic_bool stop = false;
        uint64_t n_zones = 0;
        size_t n_read = 0, n_seen = 0;

        record(CLIENT_ABI_FAMILY_ZONES);
        for (size_t i = 0; i < 4; i++) {
                workers[i].stop = &stop;
                ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
        }
        /* Each event is looked at once: on a slow machine there are many turns. */
        while (n_read < N_READ_ZONES) {
                own_recording_drain();
                for (; n_seen < recorded.n_events; n_seen++)
                        n_read += recorded.events[n_seen].event.kind == CLIENT_ABI_EVENT_ZONE_BEGIN;
        }
        atomic_store(&stop, true);
        for (size_t i = 0; i < 4; i++) {
                ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
                n_zones += workers[i].n_zones;
        }
        own_recording_drain();
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones,
                          n_zones);
}
END_TEST

/* The exit status of the child: 0 if its zone is in a region of its own, and nothing else is. */
static int record_in_child(uint32_t location)
{
        int status = 0;

        record(CLIENT_ABI_FAMILY_ZONES);
        {
                HYPROF_ZONE("child");
        }
        own_recording_drain();
        if (client_region_pid(recorded.region) != (uint32_t)getpid())
                status = 1;
        else if (own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) != 1 || own_recording_check_nesting() != 0)
                status = 2;
        else if (!own_recording_is_named(location, "parent")) /* known since before the fork */
                status = 3;
        own_recording_close();
        return status;
}

START_TEST(test_fork)
{
        static struct hyprof_location here = HYPROF_LOCATION("parent", 0);
        hyprof_zone zone;
        int status;
        pid_t child;

        record(CLIENT_ABI_FAMILY_ZONES);
        zone = hyprof_zone_begin(&here);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                hyprof_zone_end(zone); /* the parent's: nothing */
                _exit(record_in_child(here.id));
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        hyprof_zone_end(zone);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 1);
}
END_TEST

START_TEST(test_errno_is_left_alone)
{
        record(CLIENT_ABI_FAMILIES);
        errno = E2BIG;
        {
                HYPROF_ZONE("zone");
                HYPROF_MESSAGE("message");
                hyprof_thread_name("name");
        }
        ck_assert_int_eq(errno, E2BIG);
}
END_TEST

START_TEST(test_two_recorders)
{
        struct client_region *second;
        struct error err = ERROR_NONE;
        int fd, status;
        pid_t child;
        uint32_t pid = (uint32_t)getpid();

        record(CLIENT_ABI_FAMILY_ZONES);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                /* Reads the parent's region: we live, so it must not get it. */
                int got = region_finder_open(pid, &fd, &err);

                if (got == 0)
                        got = client_region_open(fd, &second, &err);
                if (got == 0)
                        got = client_region_enable(second, CLIENT_ABI_FAMILIES, &err);
                _exit(got == -EBUSY ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(hyprof_is_recording(), 1);
}
END_TEST

/* Runs this program again under HYPROF_RECORD, up to where it waits for its end. */
static pid_t start_program(int *ret_go_fd)
{
        int ready[2], go[2];
        char byte;
        pid_t child;

        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
                (void)dup2(go[0], STDIN_FILENO);
                (void)dup2(ready[1], STDOUT_FILENO);
                (void)setenv("HYPROF_RECORD", "zones", 1);
                (void)execl(own_path, own_path, "program", (char *)NULL);
                _exit(127);
        }
        (void)close(go[0]);
        (void)close(ready[1]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        (void)close(ready[0]);
        *ret_go_fd = go[1];
        return child;
}

/* The program that start_program() runs: zones from its first instruction on, before any recorder. */
static int run_program(void)
{
        char byte = 0;

        for (int i = 0; i < N_CHILD_ZONES; i++) {
                HYPROF_ZONE("early");
        }
        if (write(STDOUT_FILENO, &byte, 1) != 1)
                return 1;
        return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
}

static int early_zone_was_recorded;

__attribute__((constructor)) static void begin_before_main(void)
{
        static struct hyprof_location here = HYPROF_LOCATION("constructor", 0);
        hyprof_zone zone = hyprof_zone_begin(&here);

        early_zone_was_recorded = zone != 0;
        hyprof_zone_end(zone);
}

/* loop test: 0 = the program lives while its region is read, 1 = it was killed before */
START_LOOP_TEST(test_recording_from_the_start, 0, 2)
{
        int go_fd, status;
        pid_t child = start_program(&go_fd);

        own_recording_open((uint32_t)child, CLIENT_ABI_FAMILY_ZONES);
        if (_i == 1) {
                ck_assert_int_eq(kill(child, SIGKILL), 0);
                ck_assert_int_eq(waitpid(child, &status, 0), child);
        }
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 1 + N_CHILD_ZONES);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert(own_recording_is_named(own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 0)->argument,
                                         "constructor"));
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_THREAD, 0)->argument, (uint32_t)child);
        (void)close(go_fd);
        if (_i == 0) {
                ck_assert_int_eq(waitpid(child, &status, 0), child);
                ck_assert_int_eq(status, 0);
        }
}
END_TEST

/* The sanitizers' runtimes make files of their own, need much of the address space, and die of the limits. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HAS_LIMITS 1

static const struct {
        enum __rlimit_resource resource;
        rlim_t bytes;
        int is_recording;
} limits[] = {
        { RLIMIT_FSIZE, 0, 0 },
        { RLIMIT_FSIZE, 1 << 20, 0 },
        { RLIMIT_FSIZE, 20 << 20, 1 },
        { RLIMIT_FSIZE, UINT64_C(1) << 30, 1 },
        { RLIMIT_AS, 100 << 20, 0 },
        { RLIMIT_AS, 200 << 20, 1 },
        { RLIMIT_AS, UINT64_C(1) << 30, 1 },
        { RLIMIT_AS, UINT64_C(1) << 34, 1 },
};
#define N_LIMITS ((int)(sizeof(limits) / sizeof(limits[0])))

/* loop test: under limits on files or addresses, a smaller region or none, and never a signal */
START_LOOP_TEST(test_limits, 0, N_LIMITS)
{
        int status;
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
                const struct rlimit limit = { .rlim_cur = limits[_i].bytes, .rlim_max = limits[_i].bytes };

                (void)setenv("HYPROF_RECORD", "zones", 1);
                (void)setrlimit(limits[_i].resource, &limit);
                (void)execl(own_path, own_path, "is recording", (char *)NULL);
                _exit(127);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), limits[_i].is_recording);
}
END_TEST

/*
 * The program that test_limits() runs.  All that a small region has is asked for, and
 * more.  2 = it went too far.
 */
static int run_under_limits(void)
{
        const struct client_abi_header *h = (const struct client_abi_header *)(const void *)hyprof_control;
        static struct hyprof_location locations[5000];
        static char text[1 << 20];
        int is_recording = hyprof_is_recording();

        memset(text, 'x', sizeof(text) - 1);
        for (size_t i = 0; i < 5000; i++) {
                locations[i] = (struct hyprof_location)HYPROF_NAME(text + sizeof(text) - 1 - i);
                hyprof_zone_end(hyprof_zone_begin(&locations[i]));
        }
        for (int i = 0; i < 3; i++)
                hyprof_message(text, sizeof(text) / 2, HYPROF_SEVERITY_INFO, 0);
        if (h->n_locations > h->n_locations_max || h->strings_used_bytes > h->strings_bytes)
                return 2;
        return is_recording;
}
#endif

static void begin(int argc, char **argv)
{
        if (argc > 1 && strcmp(argv[1], "program") == 0)
                exit(early_zone_was_recorded ? run_program() : 1);
#ifdef HAS_LIMITS
        if (argc > 1 && strcmp(argv[1], "is recording") == 0)
                exit(run_under_limits());
#endif
        own_path = realpath(argv[0], NULL);
}

UNIT_TEST_PLAN(.begin = begin, .teardown = own_recording_close);
