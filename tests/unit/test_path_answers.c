/* SPDX-License-Identifier: MIT */
/*
 * view/path/path_words.c, path_view.c: the first sentence says for each kind of delay who delayed the zone,
 * and no one where there was none
 */
#include "analyze/walk/trace_filter.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"
#include "view/path/path_words.h"
#include "view/path/what_if_words.h"
#include "view/shared/answer_words.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define N  20 /* instances */

static uint32_t m, a, b; /* threads */
static uint32_t frame;   /* zone */
static uint32_t serial, work, other, reads, takes;

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("main", 0);
        a = path_lab_thread("a", 1);
        b = path_lab_thread("b", 1);
        frame = trace_builder_location(&path_lab.b, "frame");
        serial = path_lab_function("serial");
        work = path_lab_function("work");
        other = path_lab_function("other");
        reads = path_lab_kernel(path_lab_call(path_lab_function("ask"), "__read"), "pipe_read");
        takes = path_lab_kernel(path_lab_call(path_lab_function("enter"), "___pthread_mutex_lock"),
                                "futex_wait");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static const char *answer_to(const struct path_request *request)
{
        static struct answer_words words;

        words = (struct answer_words){ .used_bytes = 0 };
        path_lab_get(request);
        path_words_answer(&path_lab.path, &words);
        return words.text;
}

static const char *answer(void)
{
        return answer_to(&(struct path_request){ .zone = "frame" });
}

/* Runs @stack in [begin, end) with a sample in each half of a millisecond. */
static void run(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint32_t stack)
{
        path_lab_samples(thread, begin_ns, end_ns, MS / 2, stack);
}

/* The thread waits in [begin, end): by an interrupt, if there is no waker. */
static void await(uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint32_t waker, uint32_t stack)
{
        path_lab_wait(thread, begin_ns, end_ns, end_ns, waker, stack);
}

/* Instances of 10 ms, each 20 ms. */
#define EACH_FRAME(t)                                                   \
        for (uint64_t t = 20 * MS; t < (N + 1) * 20 * MS; t += 20 * MS) \
                if (path_lab_zone(m, t, t + 10 * MS, frame), true)

/* ------------------------------------------------------------------ work */

/* As add_itself(), without a switch. */
static void add_work(void)
{
        EACH_FRAME(t)
        run(m, t, t + 10 * MS, serial);
}

static void add_itself(void)
{
        add_work();
        await(m, (20 * N + 15) * MS, (20 * N + 16) * MS, 0, reads);
}

START_TEST(test_itself)
{
        add_itself();
        ck_assert_str_eq(answer(),
                         "'frame' (20 instances, mean 10.0 ms) delays itself: 100% main ran serial(); "
                         "no thread, lock or device delayed it");
}
END_TEST

/* Whether it waited is not known then. */
START_TEST(test_without_switches)
{
        add_work();
        ck_assert_str_eq(answer(),
                         "100% of 'frame' (20 instances, mean 10.0 ms): main itself ran serial(); when "
                         "it ran and when it waited is not recorded: no context switches");
}
END_TEST

START_TEST(test_own_work)
{
        EACH_FRAME(t)
        {
                run(m, t, t + 7 * MS, serial);
                await(m, t + 7 * MS, t + 10 * MS, a, reads);
                run(a, t + 7 * MS, t + 10 * MS, work);
        }
        ck_assert_str_eq(answer(), "70% of 'frame' (20 instances, mean 10.0 ms): main itself ran serial(); "
                                   "30% 'a' ran work()");
}
END_TEST

START_TEST(test_thread)
{
        EACH_FRAME(t)
        {
                run(m, t, t + 2 * MS, serial);
                await(m, t + 2 * MS, t + 10 * MS, a, reads);
                run(a, t + 2 * MS, t + 10 * MS, work);
        }
        ck_assert_str_eq(answer(), "80% of 'frame' (20 instances, mean 10.0 ms): thread 'a' ran work(); "
                                   "main waited for it in read(); 20% main ran serial()");
}
END_TEST

START_TEST(test_through_another)
{
        EACH_FRAME(t)
        {
                await(a, t, t + 9 * MS, b, reads);
                await(m, t, t + 10 * MS, a, takes);
                run(b, t, t + 9 * MS, work);
                run(a, t + 9 * MS, t + 10 * MS, other);
        }
        ck_assert_str_eq(answer(), "90% of 'frame' (20 instances, mean 10.0 ms): thread 'b' ran work(); main "
                                   "waited for it in pthread_mutex_lock(), through 'a'; 10% 'a' ran other()");
}
END_TEST

START_TEST(test_process)
{
        uint32_t server = path_lab_new_thread("server", 2, 2811, 0, 0);

        EACH_FRAME(t)
        {
                await(m, t, t + 10 * MS, server, reads);
                run(server, t, t + 10 * MS, work);
        }
        ck_assert_str_eq(answer(),
                         "100% of 'frame' (20 instances, mean 10.0 ms): process 'server' (2811) ran "
                         "work(); main waited for it in read()");
}
END_TEST

/* No function has a tenth of the time: the threads are named. */
START_TEST(test_no_function)
{
        const uint64_t step_ns = 19 * MS / 2 / 12;
        char name[8] = "f?";
        uint32_t functions[12];

        for (int i = 0; i < 12; i++) {
                name[1] = (char)('a' + i);
                functions[i] = path_lab_function(name);
        }
        EACH_FRAME(t)
        {
                await(m, t + MS / 2, t + 10 * MS, a, reads);
                path_lab_samples(m, t, t + MS / 2, MS / 4, serial);
                for (uint64_t i = 0; i < 12; i++)
                        path_lab_samples(a, t + MS / 2 + i * step_ns, t + MS / 2 + i * step_ns + 1, step_ns,
                                         functions[i]);
        }
        ck_assert_str_eq(answer(),
                         "95% of 'frame' (20 instances, mean 10.0 ms): a (no function over 8%), main 5%");
}
END_TEST

/* The zone's threads have names of their own. */
START_TEST(test_several_threads)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint32_t thread = i % 2 == 0 ? a : b;

                path_lab_zone(thread, 20 * MS * i, 20 * MS * i + 10 * MS, frame);
                run(thread, 20 * MS * i, 20 * MS * i + 6 * MS, work);
                await(thread, 20 * MS * i + 6 * MS, 20 * MS * i + 10 * MS, m, reads);
                run(m, 20 * MS * i + 6 * MS, 20 * MS * i + 10 * MS, serial);
        }
        ck_assert_str_eq(answer(),
                         "60% of 'frame' (20 instances, mean 10.0 ms): its thread itself ran work(); "
                         "40% 'main' ran serial()");
}
END_TEST

START_TEST(test_one_instance)
{
        add_itself();
        ck_assert_str_eq(answer_to(&(struct path_request){ .zone = "frame", .instance = 2 }),
                         "'frame' (10.0 ms) delays itself: 100% main ran serial(); no thread, lock or device "
                         "delayed it");
}
END_TEST

START_TEST(test_spin)
{
        uint32_t spins = path_lab_function("spin_wait");

        EACH_FRAME(t)
        {
                run(m, t, t + 8 * MS, spins);
                run(m, t + 8 * MS, t + 10 * MS, serial);
                run(a, t, t + 8 * MS, work);
        }
        await(m, (20 * N + 15) * MS, (20 * N + 16) * MS, 0, reads);
        ck_assert_str_eq(answer(), "80% of 'frame' (20 instances, mean 10.0 ms): main spun in spin_wait(); "
                                   "meanwhile 'a' ran work() for 100%; 20% main ran serial()");
}
END_TEST

/* ------------------------------------------------------------------ waits that no recorded thread ends */

START_TEST(test_sleep)
{
        uint32_t sleeps = path_lab_kernel(path_lab_call(path_lab_function("poll_done"), "clock_nanosleep"),
                                          "do_nanosleep");

        EACH_FRAME(t)
        {
                await(m, t, t + 10 * MS, 0, sleeps);
                run(a, t, t + 7 * MS, work);
        }
        ck_assert_str_eq(answer(),
                         "100% of 'frame' (20 instances, mean 10.0 ms): main slept in poll_done() until "
                         "its own timer; meanwhile 'a' ran work() for 70%");
}
END_TEST

static const struct {
        const char *function, *call, *kernel, *waker, *words;
} ends[] = {
        { "commit", "fdatasync", "io_schedule", NULL, "waited for the disk in fdatasync()" },
        { "commit", "fdatasync", "jbd2_log_wait_commit", "kworker/0:1",
          "waited for the disk in fdatasync()" },
        { "ask", "recv", "sk_wait_data", NULL, "waited for the network in recv()" },
        { "ask", "__read", "pipe_read", "server", "waited for 'server', which was not recorded, in read()" },
        { "ask", "__read", "pipe_read", NULL,
          "waited for something that is not known in read(); 100% is not known: less certain" },
        { NULL, NULL, NULL, "server", "waited for 'server', which was not recorded" },
};

START_LOOP_TEST(test_ends, 0, sizeof(ends) / sizeof(ends[0]))
{
        uint32_t at = 0;
        char expected[256];

        if (ends[_i].function)
                at = path_lab_kernel(path_lab_call(path_lab_function(ends[_i].function), ends[_i].call),
                                     ends[_i].kernel);
        EACH_FRAME(t)
        {
                path_lab_out(m, t, at);
                path_lab_wake_by(m, t + 10 * MS, ends[_i].waker);
                path_lab_in(m, t + 10 * MS);
        }
        (void)snprintf(expected, sizeof(expected), "100%% of 'frame' (20 instances, mean 10.0 ms): main %s",
                       ends[_i].words);
        ck_assert_str_eq(answer(), expected);
}
END_TEST

/* Of 10 ms, so many in which it is not known for what main waited: beyond 20 and 50 %. */
static const struct {
        uint64_t unknown_ns;
        enum path_confidence confidence;
        const char *tail;
} unknowns[] = {
        { 0, PATH_CONFIDENCE_HIGH, "" },
        { MS, PATH_CONFIDENCE_HIGH, "10% main waited for something that is not known in read()" },
        { 2 * MS, PATH_CONFIDENCE_HIGH, "20% main waited for something that is not known in read()" },
        { 3 * MS, PATH_CONFIDENCE_MEDIUM, "; 30% is not known: less certain" },
        { 5 * MS, PATH_CONFIDENCE_MEDIUM, "; 50% is not known: less certain" },
        { 6 * MS, PATH_CONFIDENCE_LOW, "; 60% is not known: less certain" },
};

START_LOOP_TEST(test_unknown_lowers_the_confidence, 0, sizeof(unknowns) / sizeof(unknowns[0]))
{
        uint32_t at = path_lab_kernel(path_lab_call(path_lab_function("ask"), "__read"), "pipe_read");
        const char *words;

        EACH_FRAME(t)
        {
                uint64_t woken_ns = t + unknowns[_i].unknown_ns;

                if (woken_ns != t) {
                        path_lab_out(m, t, at);
                        path_lab_wake_by(m, woken_ns, NULL);
                        path_lab_in(m, woken_ns);
                }
                run(m, woken_ns, t + 9 * MS, serial);
                await(m, t + 9 * MS, t + 10 * MS, a, reads); /* of which all is known */
                run(a, t + 9 * MS, t + 10 * MS, work);
        }
        words = answer();
        ck_assert_int_eq(path_lab.path.confidence, unknowns[_i].confidence);
        ck_assert_msg(strlen(words) >= strlen(unknowns[_i].tail) && strstr(words, unknowns[_i].tail), "%s",
                      words);
        ck_assert_msg((strstr(words, "less certain") != NULL) == (unknowns[_i].unknown_ns > 2 * MS), "%s",
                      words);
}
END_TEST

/* Threads run, and so much of each 10 ms has no samples: beyond 30 and 60 %. */
static const struct {
        uint64_t unsampled_ns;
        enum path_confidence confidence;
        const char *tail;
} unsampled[] = {
        { 0, PATH_CONFIDENCE_HIGH, "'a' ran serial()" },
        { 2 * MS, PATH_CONFIDENCE_HIGH, "'a' ran serial()" },
        { 4 * MS, PATH_CONFIDENCE_MEDIUM, "; 40% of the time on CPUs has no samples: less certain" },
        { 6 * MS, PATH_CONFIDENCE_MEDIUM, "; 60% of the time on CPUs has no samples: less certain" },
        { 7 * MS, PATH_CONFIDENCE_LOW, "; 70% of the time on CPUs has no samples: less certain" },
};

START_LOOP_TEST(test_time_without_samples_lowers_the_confidence, 0, sizeof(unsampled) / sizeof(unsampled[0]))
{
        const char *words, *tail = unsampled[_i].tail;

        EACH_FRAME(t)
        {
                path_lab_samples(m, t + unsampled[_i].unsampled_ns, t + 9 * MS, MS / 4, serial);
                await(m, t + 9 * MS, t + 10 * MS, a, reads); /* so that switches are recorded */
                run(a, t + 9 * MS, t + 10 * MS, serial);
        }
        words = answer();
        ck_assert_int_eq(path_lab.path.confidence, unsampled[_i].confidence);
        ck_assert_msg(strlen(words) >= strlen(tail) &&
                              strcmp(words + strlen(words) - strlen(tail), tail) == 0,
                      "%s", words);
}
END_TEST

/* A fiber waits in which another one on the same thread runs; a thread has the name of the first one. */
START_TEST(test_fibers_and_namesakes)
{
        uint32_t asker = path_lab_fiber("asker"), hog = path_lab_fiber("hog");
        uint32_t second = path_lab_thread("main", 1);
        uint32_t joins = trace_builder_location(&path_lab.b, "join");

        EACH_FRAME(t)
        {
                path_lab_zone(asker, t, t + 8 * MS, joins);
                PATH_LAB_EVENT(a, t, FIBER_ENTER, asker);
                PATH_LAB_EVENT(a, t + MS, FIBER_LEAVE, 0);
                PATH_LAB_EVENT(a, t + MS, FIBER_ENTER, hog);
                PATH_LAB_EVENT(a, t + 7 * MS, FIBER_LEAVE, 0);
                PATH_LAB_EVENT(a, t + 7 * MS, FIBER_ENTER, asker);
                PATH_LAB_EVENT(a, t + 9 * MS, FIBER_LEAVE, 0);
                run(a, t, t + 9 * MS, work);
                await(m, t, t + 10 * MS, second, reads);
                run(second, t, t + 10 * MS, work);
        }
        ck_assert_str_eq(answer_to(&(struct path_request){ .zone = "join" }),
                         "75% of 'join' (20 instances, mean 8.00 ms): fiber 'hog' ran work(); asker waited "
                         "for it; 25% asker ran work()");
        ck_assert_str_eq(answer(), "100% of 'frame' (20 instances, mean 10.0 ms): another thread 'main' ran "
                                   "work(); main waited for it in read()");
}
END_TEST

/* Beside 40 context switches of the recording: beyond 1 and 10 %. */
static const struct {
        uint64_t n_lost;
        enum path_confidence confidence;
        const char *tail;
} losses[] = {
        { 0, PATH_CONFIDENCE_HIGH, "in read()" },
        { 1, PATH_CONFIDENCE_MEDIUM, "; 2% of the context switches were lost: less certain" },
        { 4, PATH_CONFIDENCE_MEDIUM, "; 9% of the context switches were lost: less certain" },
        { 10, PATH_CONFIDENCE_LOW, "; 20% of the context switches were lost: less certain" },
};

START_LOOP_TEST(test_lost_switches_lower_the_confidence, 0, sizeof(losses) / sizeof(losses[0]))
{
        const struct trace_loss loss = { .reason = TRACE_LOSS_SWITCHES_LOST, .count = losses[_i].n_lost };
        const char *words, *tail = losses[_i].tail;

        if (loss.count != 0)
                (void)trace_builder_row(&path_lab.b, TRACE_TABLE_LOSSES, &loss);
        EACH_FRAME(t)
        {
                await(m, t, t + 10 * MS, a, reads);
                run(a, t, t + 10 * MS, work);
        }
        words = answer();
        ck_assert_int_eq(path_lab.path.confidence, losses[_i].confidence);
        ck_assert_msg(strlen(words) >= strlen(tail) &&
                              strcmp(words + strlen(words) - strlen(tail), tail) == 0,
                      "%s", words);
}
END_TEST

START_TEST(test_without_wakeups)
{
        EACH_FRAME(t)
        {
                run(m, t, t + 4 * MS, serial);
                path_lab_out(m, t + 4 * MS, 0);
                path_lab_in(m, t + 10 * MS);
        }
        ck_assert_str_eq(
                answer(),
                "60% of 'frame' (20 instances, mean 10.0 ms): main waited; 40% main ran serial(); for whom it waited is not recorded: record with --off-cpu");
}
END_TEST

/* Another thread may have what it waits for, and nothing says so. */
START_TEST(test_what_if_without_wakeups)
{
        struct path_request request = { .zone = "frame" };
        struct answer_words words = { .used_bytes = 0 };
        struct error err = ERROR_NONE;

        EACH_FRAME(t)
        {
                run(m, t, t + 4 * MS, serial);
                path_lab_out(m, t + 4 * MS, 0);
                run(a, t + 4 * MS, t + 10 * MS, work);
                path_lab_in(m, t + 10 * MS);
        }
        ck_assert_int_eq(what_if_parse(&request.what_if, "work=0.5", &err), 0);
        path_lab_get(&request);
        what_if_words_answer(&path_lab.path, &words);
        ck_assert_str_eq(
                words.text,
                "'frame' would take no less (10.0 ms), as far as its own functions show, if work() took "
                "half the time; for whom threads waited is not recorded, and the gain may be far larger: "
                "record with --off-cpu");
}
END_TEST

/* ------------------------------------------------------------------ locks */

START_TEST(test_holder)
{
        uint32_t lock = path_lab_lock("table");

        EACH_FRAME(t)
        {
                PATH_LAB_EVENT(a, t - MS, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(m, t + 2 * MS - 1, LOCK_WAIT, lock);
                await(m, t + 2 * MS, t + 10 * MS - 2, a, takes);
                PATH_LAB_EVENT(m, t + 10 * MS - 1, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(a, t + 10 * MS - 3, LOCK_RELEASE, lock);
                run(m, t, t + 2 * MS, serial);
                run(a, t, t + 10 * MS, work);
                PATH_LAB_EVENT(m, t + 11 * MS, LOCK_RELEASE, lock);
        }
        ck_assert_str_eq(answer(),
                         "80% of 'frame' (20 instances, mean 10.0 ms): thread 'a' ran work(); main waited "
                         "for it in pthread_mutex_lock(); 20% main ran serial()");
}
END_TEST

/* Who holds the lock has no CPU: another thread has it. */
START_TEST(test_priority_inversion)
{
        uint32_t lock = path_lab_lock("table"), low = path_lab_thread("low", 3),
                 hog = path_lab_thread("hog", 3);

        path_lab_out(hog, MS, 0);
        EACH_FRAME(t)
        {
                PATH_LAB_EVENT(low, t - MS, LOCK_OBTAIN, lock);
                path_lab_preempt(low, t - MS / 2, t + 10 * MS - 5);
                path_lab_in(hog, t - MS / 2);
                run(hog, t - MS / 2, t + 10 * MS - 6, work);
                path_lab_out(hog, t + 10 * MS - 6, 0);
                PATH_LAB_EVENT(low, t + 10 * MS - 3, LOCK_RELEASE, lock);
                PATH_LAB_EVENT(m, t, LOCK_WAIT, lock);
                await(m, t, t + 10 * MS - 2, low, takes);
                PATH_LAB_EVENT(m, t + 10 * MS - 1, LOCK_OBTAIN, lock);
                PATH_LAB_EVENT(m, t + 11 * MS, LOCK_RELEASE, lock);
        }
        ck_assert_str_eq(
                answer(),
                "100% of 'frame' (20 instances, mean 10.0 ms): thread 'low' held the lock and could not run: thread 'hog' had its CPU, in work(); main waited for it in pthread_mutex_lock()");
}
END_TEST

/* ------------------------------------------------------------------ no CPU */

/* c has main's CPU for 6 of 10 ms. */
static void add_other(uint32_t c)
{
        path_lab_out(c, MS, 0);
        EACH_FRAME(t)
        {
                run(m, t, t + 4 * MS, serial);
                path_lab_preempt(m, t + 4 * MS, t + 10 * MS - 1);
                path_lab_in(c, t + 4 * MS);
                run(c, t + 4 * MS, t + 10 * MS - 1, work);
                path_lab_out(c, t + 10 * MS - 1, 0);
        }
}

START_TEST(test_own_threads)
{
        add_other(path_lab_thread("hog", 0));
        ck_assert_str_eq(answer(),
                         "60% of 'frame' (20 instances, mean 10.0 ms): main could not run: thread 'hog' "
                         "had its CPU, in work(); 40% main ran serial()");
}
END_TEST

/* It is known who had the CPU, but the shares leave that time out. */
START_TEST(test_recorded_programs)
{
        add_other(path_lab_new_thread("cc1", 0, 20, 0, 0));
        ck_assert_str_eq(answer(),
                         "'frame' (20 instances, mean 10.0 ms) delays itself: 100% main ran serial(); no "
                         "thread, lock or device delayed it; other recorded programs had the CPUs for 60% "
                         "of the time, shares are of the rest");
}
END_TEST

START_TEST(test_many_own_threads)
{
        uint32_t hogs[3] = { path_lab_thread("x", 0), path_lab_thread("y", 0), path_lab_thread("z", 0) };

        trace_builder_meta(&path_lab.b, "cpus", "2");
        for (int i = 0; i < 3; i++)
                path_lab_out(hogs[i], MS, 0);
        EACH_FRAME(t)
        {
                run(m, t, t + 4 * MS, serial);
                path_lab_preempt(m, t + 4 * MS, t + 10 * MS);
                for (uint64_t i = 0; i < 3; i++) {
                        path_lab_in(hogs[i], t + (4 + 2 * i) * MS);
                        path_lab_out(hogs[i], t + (6 + 2 * i) * MS, 0);
                }
        }
        ck_assert_str_eq(answer(),
                         "60% of 'frame' (20 instances, mean 10.0 ms): ready, but threads of this program "
                         "had the CPUs (3 threads for 2 CPUs); 40% main ran serial()");
}
END_TEST

START_TEST(test_other_programs)
{
        EACH_FRAME(t)
        {
                run(m, t, t + 4 * MS, serial);
                path_lab_preempt(m, t + 4 * MS, t + 10 * MS - 1);
        }
        ck_assert_str_eq(answer(),
                         "'frame' (20 instances, mean 10.0 ms) delays itself: 100% main ran serial(); no "
                         "thread, lock or device delayed it; other programs had the CPUs for 60% of the "
                         "time, shares are of the rest: less certain");
}
END_TEST

/*
 * A thread with the same work has the CPU in between, or comes late where both meet.  It is named; but not
 * for the CPU, nor for a small part, if other programs had the CPUs for most of the time.
 */
START_LOOP_TEST(test_threads_of_a_busy_machine, 0, 4)
{
        static const struct {
                uint64_t others_ns, late_ns;
                bool has_owner, has_late;
        } cases[] = { { 3 * MS, 2 * MS, true, true },
                      { 3 * MS, MS / 2, true, true },
                      { 10 * MS, 2 * MS, false, true },
                      { 10 * MS, MS / 2, false, false } };
        uint64_t others_ns = cases[_i].others_ns, late_ns = cases[_i].late_ns, own_ns = 2 * MS;
        uint32_t w = path_lab_thread("w", 0);
        const char *words;

        path_lab_out(w, MS, 0);
        for (uint64_t i = 0; i < 20; i++) {
                uint64_t t = 20 * MS * (i + 1), at = t + 4 * MS;

                path_lab_zone(m, t, at + own_ns + others_ns + late_ns + MS / 2, frame);
                run(m, t, at, serial);
                path_lab_preempt(m, at, at + own_ns + others_ns);
                path_lab_in(w, at);
                path_lab_out(w, at + own_ns, 0);
                path_lab_in(w, at + own_ns + others_ns);
                at += own_ns + others_ns;
                path_lab_wait(m, at, at + late_ns, at + late_ns, w, 0);
                run(w, at, at + late_ns, other);
                path_lab_out(w, at + late_ns, 0);
        }
        words = answer();
        ck_assert_msg((strstr(words, "thread 'w' had its CPU") != NULL) == cases[_i].has_owner, "%s", words);
        ck_assert_msg((strstr(words, "other programs and threads of this one had the CPUs") == NULL) ==
                              cases[_i].has_owner,
                      "%s", words);
        ck_assert_msg((strstr(words, "'w' ran other()") != NULL) == cases[_i].has_late, "%s", words);
}
END_TEST

START_TEST(test_quota)
{
        trace_builder_meta(&path_lab.b, "cpu_throttled", "0+1000000=900000;");
        trace_builder_meta(&path_lab.b, "cpu_quota", "10000/40000");
        EACH_FRAME(t)
        {
                run(m, t, t + 4 * MS, serial);
                path_lab_preempt(m, t + 4 * MS, t + 10 * MS - 1);
        }
        ck_assert_str_eq(answer(),
                         "60% of 'frame' (20 instances, mean 10.0 ms): throttled by the CPU quota (10 of 40 "
                         "ms); 40% main ran serial()");
}
END_TEST

/* ------------------------------------------------------------------ whole runs */

static const struct path_request whole = { .zone = NULL };

START_TEST(test_run)
{
        run(m, 1, 20 * MS, serial);
        await(m, 20 * MS, 100 * MS, a, reads);
        run(a, 1, 100 * MS, work);
        ck_assert_str_eq(answer_to(&whole),
                         "80% of the run (100 ms): thread 'a' ran work(); main waited for it in "
                         "read(); 20% main ran serial()");
}
END_TEST

START_TEST(test_runs_of_several_threads)
{
        const struct trace_filter_request filter = { .thread = "a,b" };
        struct answer_words words = { .used_bytes = 0 };
        struct error err = ERROR_NONE;

        for (uint32_t i = 0; i < 2; i++) {
                uint32_t thread = i == 0 ? a : b;

                run(thread, 1, 60 * MS, work);
                await(thread, 60 * MS, 100 * MS, m, reads);
        }
        run(m, 60 * MS, 100 * MS, serial);
        ck_assert_msg(path_lab_ask(&whole, &filter, &err) == 0, "%s", err.text);
        path_words_answer(&path_lab.path, &words);
        ck_assert_str_eq(words.text,
                         "60% of the runs of 2 threads (mean 100 ms): the thread itself ran work(); "
                         "40% 'main' ran serial()");
}
END_TEST

/* A thread that a waits for is made by main while a waits. */
START_TEST(test_made)
{
        uint32_t child = path_lab_new_thread("child", 2, 20, 1, 60 * MS);

        path_lab_zone(a, 20 * MS, 100 * MS, frame);
        run(m, 1, 100 * MS, serial);
        path_lab_in(child, 60 * MS);
        run(child, 60 * MS, 100 * MS, work);
        await(a, 20 * MS, 100 * MS, child, reads);
        ck_assert_str_eq(answer(),
                         "50% of 'frame' (1 instance, mean 80.0 ms): process 'child' (20) ran work(); a "
                         "waited for it in read(); 50% 'main' ran serial()");
}
END_TEST

START_TEST(test_unborn)
{
        uint32_t child = path_lab_new_thread("child", 2, 20, 0, 60 * MS);

        path_lab_zone(a, 20 * MS, 100 * MS, frame);
        path_lab_in(child, 60 * MS);
        run(child, 60 * MS, 80 * MS, work);
        run(child, 80 * MS, 100 * MS, other);
        await(a, 20 * MS, 100 * MS, child, reads);
        ck_assert_str_eq(
                answer(),
                "50% of 'frame' (1 instance, mean 80.0 ms): process 'child' (20) was not there yet; "
                "a waited for it in read(); 25% 'child' (20) ran work(); 25% 'child' (20) ran other(); "
                "50% is not known: less certain");
}
END_TEST

/* Parts that are left out are in the last words of the sentence alone. */
START_TEST(test_left_out)
{
        const struct path_request request = { .zone = "frame",
                                              .slower_than_ns = 1,
                                              .past_bytes_max = 2000000 };
        uint64_t n = 20000;

        path_lab_zone(m, MS, (n + 1) * MS, frame);
        for (uint64_t t = MS; t < (n + 1) * MS; t += MS) {
                path_lab_samples(m, t, t + 1, MS / 2, serial);
                await(m, t + MS / 2, t + MS, a, reads);
                await(a, t, t + MS / 2, m, reads);
                path_lab_samples(a, t + MS / 2, t + MS / 2 + 1, MS / 2, work);
        }
        ck_assert_str_eq(
                answer_to(&request),
                "18% of 'frame' (1 instance, mean 20.0 s): thread 'a' ran work(); main waited for it in read(); 18% main ran serial(); 63% is left out: too long ago, or too much: less certain");
}
END_TEST

START_TEST(test_nothing_known)
{
        path_lab_zone(m, MS, 2 * MS, frame);
        path_lab_preempt(m, MS / 2, 3 * MS);
        ck_assert_str_eq(answer(), "nothing is known of the path of 'frame' (1 instance, mean 1.00 ms)");
}
END_TEST
