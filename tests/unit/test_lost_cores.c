/* SPDX-License-Identifier: MIT */
/*
 * view/path/idle_view.c, wall_view.c: the overview has their first lines where one cause took cores, or wall
 * time, and only there
 */
#include "analyze/cores/idle_cores.h"
#include "analyze/cores/wall_shares.h"
#include "base/error.h"
#include "tests/unit/thread_scene.h"
#include "tests/unit/unit_test.h"
#include "view/path/idle_view.h"
#include "view/path/wall_view.h"
#include "view/shared/answer_words.h"

#include <stdio.h>
#include <string.h>

static struct thread_scene s;
static struct idle_cores cores;
static struct wall_shares shares;
static struct answer_words idle, wall;
static bool is_taken;

static void teardown(void)
{
        if (is_taken) {
                idle_cores_deinit(&cores);
                wall_shares_deinit(&shares);
        }
        is_taken = false;
        idle = wall = (struct answer_words){ .used_bytes = 0 };
        thread_scene_deinit(&s);
}

UNIT_TEST_PLAN(.teardown = teardown);

static void take(void)
{
        const struct idle_cores_request idle_request = { .filter = &s.filter };
        const struct wall_shares_request wall_request = { .filter = &s.filter };
        struct error err = ERROR_NONE;

        thread_scene_open(&s, NULL);
        is_taken = true;
        ck_assert_msg(idle_cores_take(&cores, &s.trace, &idle_request, &err) == 0, "%s", err.text);
        ck_assert_msg(wall_shares_take(&shares, &s.trace, &wall_request, &err) == 0, "%s", err.text);
}

static void expect_silence(void)
{
        ck_assert(!idle_view_say(&cores, 0.1, &idle));
        ck_assert(!wall_view_say(&shares, 0.1, &wall));
        ck_assert_uint_eq(idle.used_bytes + wall.used_bytes, 0);
}

static void add_worker(const char *name, uint32_t cpu, const char *function)
{
        uint32_t thread = thread_scene_thread(&s, name, 0);

        s.cpu = cpu;
        thread_scene_begin(&s, thread);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, function));
        thread_scene_end(&s);
}

/* main runs alone for @alone_ms of each 8 ms, while the other waits for it; then both run. */
static void build_serial(unsigned alone_ms)
{
        uint32_t one, two, serial, bar;

        thread_scene_init(&s, "2", 1000);
        serial = thread_scene_function(&s, "serial");
        bar = thread_scene_function(&s, "bar");
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < 125; i++) {
                thread_scene_work(&s, i * 8, i * 8 + alone_ms, serial);
                thread_scene_work(&s, i * 8 + alone_ms, i * 8 + 8, bar);
        }
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < 125; i++) {
                thread_scene_wait(&s, i * 8, s.queue, i * 8 + alone_ms, one);
                thread_scene_work(&s, i * 8 + alone_ms, i * 8 + 8, bar);
        }
        thread_scene_end(&s);
}

START_TEST(test_a_serial_section)
{
        build_serial(6);
        take();
        ck_assert(idle_view_say(&cores, 0.1, &idle));
        ck_assert_str_eq(
                idle.text,
                "38% of 2 cores were idle or had other programs while the program ran (0.75 core-seconds); 38 points: "
                "main alone ran serial(), 1 thread waited for it");
        ck_assert(wall_view_say(&shares, 0.1, &wall));
        ck_assert_str_eq(wall.text,
                         "75% of the wall time (1.00 s): serial(), alone; 25% bar(), 2.0 threads at a time");
        ck_assert(!idle_view_say(&cores, 0.5, &idle));
        ck_assert(!wall_view_say(&shares, 0.5, &wall));
}
END_TEST

/* w waits for main, and then it is queued on main's CPU: only record --idle knows what the other one did. */
START_LOOP_TEST(test_queued_behind_another, 0, 2)
{
        static const char *const words[] = {
                "points: threads could run; whether a CPU was free for them is not known",
                "points: threads could run, and the kernel had not put them on a CPU",
        };
        uint32_t one, two;

        thread_scene_init(&s, "2", 1000);
        if (_i == 1) {
                trace_builder_meta(&s.b, "idle", "1");
                trace_builder_meta(&s.b, "cpu_idle", "1=1000000000;");
        }
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "serial"));
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_wait(&s, 0, s.queue, 500, one);
        thread_scene_preempt(&s, 500);
        thread_scene_in(&s, 1000);
        thread_scene_end(&s);
        take();
        ck_assert(idle_view_say(&cores, 0.1, &idle));
        ck_assert_msg(strstr(idle.text, words[_i]) != NULL, "%s", idle.text);
}
END_TEST

/*
 * main runs alone for 6 of each 8 ms, in functions that take @parts of them; then both run.  Where there are
 * six functions, none has a tenth of the cores' time.
 */
static void build_parts(const unsigned *parts, unsigned n_parts)
{
        uint32_t one, two, bar, functions[6];
        char name[] = "part0";

        thread_scene_init(&s, "2", 1000);
        bar = thread_scene_function(&s, "bar");
        for (unsigned i = 0; i < n_parts; i++) {
                name[4] = (char)('0' + i);
                functions[i] = thread_scene_function(&s, name);
        }
        one = thread_scene_thread(&s, "main", 0);
        two = thread_scene_thread(&s, "w", 0);
        thread_scene_begin(&s, one);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < 125; i++) {
                unsigned at = i * 8;

                for (unsigned k = 0; k < n_parts; at += parts[k++])
                        thread_scene_work(&s, at, at + parts[k], functions[k]);
                thread_scene_work(&s, at, i * 8 + 8, bar);
        }
        thread_scene_end(&s);
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        for (unsigned i = 0; i < 125; i++) {
                thread_scene_wait(&s, i * 8, s.queue, i * 8 + 6, one);
                thread_scene_work(&s, i * 8 + 6, i * 8 + 8, bar);
        }
        thread_scene_end(&s);
}

/* The thread is the cause, of whatever functions its work consists: it is named once. */
START_LOOP_TEST(test_a_serial_section_of_many_functions, 0, 2)
{
        static const struct {
                unsigned parts[6], n_parts;
                const char *doing;
        } cases[] = { { { 1, 1, 1, 1, 1, 1 }, 6, "main alone ran, 1 thread waited for it" },
                      { { 1, 4, 1 }, 3, "main alone ran, mostly in part1(), 1 thread waited for it" } };
        char words[256];

        build_parts(cases[_i].parts, cases[_i].n_parts);
        take();
        ck_assert(idle_view_say(&cores, 0.1, &idle));
        (void)snprintf(
                words, sizeof(words),
                "38%% of 2 cores were idle or had other programs while the program ran (0.75 core-seconds); 38 points: %s",
                cases[_i].doing);
        ck_assert_str_eq(idle.text, words);
}
END_TEST

/* Two threads run alone in turns, each for a sixteenth of the cores' time: no cause has a tenth. */
START_TEST(test_two_short_causes)
{
        uint32_t threads[2], work;

        thread_scene_init(&s, "2", 1000);
        work = thread_scene_function(&s, "work");
        threads[0] = thread_scene_thread(&s, "main", 0);
        threads[1] = thread_scene_thread(&s, "w", 0);
        for (unsigned k = 0; k < 2; k++) {
                thread_scene_begin(&s, threads[k]);
                thread_scene_in(&s, 0);
                for (unsigned i = 0; i < 125; i++) {
                        unsigned away = i * 8 + 4 * k;

                        thread_scene_work(&s, i * 8, away, work);
                        thread_scene_wait(&s, away, s.queue, away + 1, threads[1 - k]);
                        thread_scene_work(&s, away + 1, i * 8 + 8, work);
                }
                thread_scene_end(&s);
        }
        take();
        expect_silence();
}
END_TEST

/* An eighth of the time is half of that in cores: too little. */
START_TEST(test_a_short_serial_section)
{
        build_serial(1);
        take();
        expect_silence();
}
END_TEST

/* All cores compute. */
START_TEST(test_nothing_lost)
{
        thread_scene_init(&s, "2", 1000);
        add_worker("main", 0, "work");
        add_worker("w", 1, "other");
        take();
        expect_silence();
}
END_TEST

/* All that the program has could run, and other programs had the CPU, or the kernel was not ready. */
START_LOOP_TEST(test_other_programs, 0, 2)
{
        uint32_t two;

        thread_scene_init(&s, "2", 1000);
        add_worker("main", 0, "work");
        two = thread_scene_thread(&s, "w", 0);
        s.cpu = _i == 0 ? 1 : 0;
        thread_scene_begin(&s, two);
        thread_scene_in(&s, 0);
        thread_scene_preempt(&s, 0);
        thread_scene_in(&s, 1000);
        thread_scene_end(&s);
        take();
        expect_silence();
}
END_TEST

/* No thread can run for half of the time. */
START_TEST(test_waiting_for_a_timer)
{
        uint32_t work;

        thread_scene_init(&s, "1", 1000);
        work = thread_scene_function(&s, "work");
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 500, work);
        thread_scene_wait(&s, 500, s.timer, 1000, 0);
        thread_scene_end(&s);
        take();
        ck_assert(idle_view_say(&cores, 0.1, &idle));
        ck_assert_ptr_nonnull(strstr(idle.text, "waited for a timer in nap()"));
        ck_assert(wall_view_say(&shares, 0.1, &wall));
        ck_assert_ptr_nonnull(strstr(wall.text, "waiting for a timer"));
}
END_TEST

/* Half of the time main waits, until the kernel's thread that does the work of interrupts wakes it. */
START_TEST(test_waiting_for_an_interrupt)
{
        uint32_t work, softirqs;

        thread_scene_init(&s, "1", 1000);
        work = thread_scene_function(&s, "work");
        softirqs = trace_builder_string(&s.b, "ksoftirqd/0");
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_in(&s, 0);
        thread_scene_work(&s, 0, 500, work);
        thread_scene_out(&s, 500, s.none);
        TRACE_BUILDER_ADD(&s.b, THREAD_SCENE_START_NS + 999 * THREAD_SCENE_MS, WAKEUP, 0, 0, softirqs);
        thread_scene_in(&s, 1000);
        thread_scene_end(&s);
        take();
        ck_assert(idle_view_say(&cores, 0.1, &idle));
        ck_assert_ptr_nonnull(strstr(idle.text, ": main waited for an interrupt"));
        ck_assert(wall_view_say(&shares, 0.1, &wall));
        ck_assert_ptr_nonnull(strstr(wall.text, "; 50% waiting for an interrupt"));
}
END_TEST

/* Without context switches nothing is known. */
START_TEST(test_no_switches)
{
        thread_scene_init(&s, "2", 1000);
        thread_scene_begin(&s, thread_scene_thread(&s, "main", 0));
        thread_scene_work(&s, 0, 1000, thread_scene_function(&s, "work"));
        thread_scene_end(&s);
        take();
        expect_silence();
}
END_TEST
