/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past.c: what each thread did is known, whatever is missing in the trace, and in bounded memory
 */
#include "analyze/path/past.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t m, a, b;

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("m", 0);
        a = path_lab_thread("a", 1);
        b = path_lab_thread("b", 1);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static char text[4096];

static const char *time_text(uint64_t time_ns)
{
        static char texts[4][24];
        static int i;

        i = (i + 1) % 4;
        if (time_ns == UINT64_MAX)
                return "";
        (void)snprintf(texts[i], sizeof(texts[i]), "%" PRIu64, time_ns);
        return texts[i];
}

/* "10-30 woken 25 by 2": the waits of a thread; preempted ones have a '!'. */
static const char *waits(uint32_t thread)
{
        const struct past_thread *t = past_of(&path_lab.past, thread);
        size_t n = 0;

        text[0] = '\0';
        for (size_t i = t->waits.first; i < t->waits.n; i++) {
                const struct past_wait *w = &past_waits(t)[i];

                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s-%s%s woken %s by %u",
                                      n != 0 ? ", " : "", time_text(w->out_ns), time_text(w->in_ns),
                                      w->preempted ? "!" : "", time_text(w->woken_ns), w->by);
        }
        return text;
}

/* "10-20 2": spans and their ids. */
static const char *spans(const struct past_list *list)
{
        size_t n = 0;

        text[0] = '\0';
        for (size_t i = list->first; i < list->n; i++) {
                const struct past_span *s = &past_list_spans(list)[i];

                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s-%s %u", n != 0 ? ", " : "",
                                      time_text(s->begin_ns), time_text(s->end_ns), s->id);
        }
        return text;
}

static const char *cpu(uint32_t number)
{
        ck_assert_uint_lt(number, path_lab.past.n_cpus);
        return spans(&path_lab.past.cpus[number]);
}

/* ------------------------------------------------------------------ waits */

START_TEST(test_waits)
{
        uint32_t stack = path_lab_kernel(path_lab_function("f"), "futex_wait");

        path_lab_wait(m, 100, 200, 210, a, stack);
        path_lab_preempt(m, 300, 350);
        path_lab_out(m, 400, 0);
        path_lab_in(m, 450);
        path_lab_out(m, 500, 0);
        path_lab_wake(m, 600, b);
        path_lab_load();
        ck_assert_str_eq(waits(m), "100-210 woken 200 by 2, 300-350! woken 350 by 0, "
                                   "400-450 woken 450 by 0, 500- woken 600 by 3");
        ck_assert_uint_eq(past_waits(past_of(&path_lab.past, m))[0].stack, stack);
        ck_assert_uint_eq(past_waits(past_of(&path_lab.past, m))[0].end, WAIT_END_THREAD);
        ck_assert_uint_eq(past_waits(past_of(&path_lab.past, m))[0].out_cpu, 0);
        ck_assert(path_lab.past.has_switches);
        ck_assert_uint_eq(path_lab.past.latest_ns, 600);
}
END_TEST

START_TEST(test_wait_at)
{
        const struct past_wait *wait;

        path_lab_wait(m, 100, 200, 210, a, 0);
        path_lab_wait(m, 210, 220, 230, b, 0);
        path_lab_out(m, 500, 0);
        path_lab_load();
        ck_assert_ptr_null(past_wait_at(&path_lab.past, m, 99));
        wait = past_wait_at(&path_lab.past, m, 100);
        ck_assert_ptr_nonnull(wait);
        ck_assert_uint_eq(wait->by, a);
        ck_assert_ptr_eq(past_wait_at(&path_lab.past, m, 209), wait);
        ck_assert_uint_eq(past_wait_at(&path_lab.past, m, 210)->by, b);
        ck_assert_ptr_null(past_wait_at(&path_lab.past, m, 230));
        ck_assert_uint_eq(past_wait_at(&path_lab.past, m, 1000)->out_ns, 500);
        ck_assert_ptr_null(past_wait_at(&path_lab.past, a, 150));
        ck_assert_uint_eq(past_waits_before(past_of(&path_lab.past, m), 210), 1);
        ck_assert_uint_eq(past_waits_before(past_of(&path_lab.past, m), 211), 2);
}
END_TEST

/* The wake-ups that a thread made, which come in the streams of those that it woke. */
START_LOOP_TEST(test_woke, 0, 2)
{
        path_lab_wait(m, 100, 200, 210, b, 0);
        path_lab_wait(a, 50, 150, 160, b, 0);
        path_lab_wait(a, 250, 300, 310, b, 0);
        path_lab.by_thread = _i == 1;
        path_lab_load();
        ck_assert(!past_woke(past_of(&path_lab.past, b), 0, 149));
        ck_assert(past_woke(past_of(&path_lab.past, b), 0, 150));
        ck_assert(past_woke(past_of(&path_lab.past, b), 150, 150));
        ck_assert(!past_woke(past_of(&path_lab.past, b), 151, 199));
        ck_assert(past_woke(past_of(&path_lab.past, b), 151, 200));
        ck_assert(past_woke(past_of(&path_lab.past, b), 300, UINT64_MAX));
        ck_assert(!past_woke(past_of(&path_lab.past, b), 301, UINT64_MAX));
        ck_assert(!past_woke(past_of(&path_lab.past, m), 0, UINT64_MAX));
}
END_TEST

/* The switch back is not in the trace. */
START_TEST(test_switch_in_is_missing)
{
        path_lab_out(m, 100, 0);
        path_lab_out(m, 300, 0);
        path_lab_in(m, 400);
        path_lab_load();
        ck_assert_str_eq(waits(m), "100-300 woken 300 by 0, 300-400 woken 400 by 0");
}
END_TEST

/* Nor the one away: then the thread is where it was. */
START_TEST(test_switch_out_is_missing)
{
        path_lab_wait(m, 100, 200, 210, a, 0);
        path_lab_in(m, 400);
        path_lab_load();
        ck_assert_str_eq(waits(m), "100-210 woken 200 by 2");
        ck_assert_str_eq(cpu(0), "0-100 1, 210-400 1, 400- 1");
}
END_TEST

/* The first that is known of a thread is that it comes back. */
START_TEST(test_late_switch_in)
{
        path_lab_in(m, 400);
        path_lab_load();
        ck_assert_str_eq(waits(m), "0-400 woken 400 by 0");
}
END_TEST

START_TEST(test_late_switch_in_of_a_new_thread)
{
        uint32_t child = path_lab_new_thread("child", 1, 20, 0, 300);

        path_lab_in(child, 400);
        path_lab_load();
        ck_assert_str_eq(waits(child), "300-400! woken 400 by 0");
}
END_TEST

/* It was woken before. */
START_TEST(test_late_wakeup)
{
        path_lab_wake(m, 350, a);
        path_lab_in(m, 400);
        path_lab_wake(a, 350, b); /* and is not back */
        path_lab_load();
        ck_assert_str_eq(waits(m), "0-400 woken 350 by 2");
        ck_assert_str_eq(waits(a), "0- woken 350 by 3");
        ck_assert(past_woke(past_of(&path_lab.past, a), 350, 350));
}
END_TEST

/* A timer of its own, while it ran: it had not waited. */
START_TEST(test_first_wakeup_by_itself)
{
        path_lab_wake(m, 350, m);
        path_lab_out(m, 400, 0);
        path_lab_load();
        ck_assert_str_eq(waits(m), "400- woken  by 0");
}
END_TEST

/* It had samples, so it ran until about then. */
START_TEST(test_late_switch_in_after_samples)
{
        path_lab_samples(m, 100, 310, 100, 0);
        path_lab_in(m, 400);
        path_lab_load();
        ck_assert_str_eq(waits(m), "300-400 woken 400 by 0");
}
END_TEST

START_TEST(test_woken_while_it_runs)
{
        path_lab_wait(m, 100, 200, 210, a, 0);
        path_lab_wake(m, 250, b);
        PATH_LAB_EVENT(m, 300, SWITCH_OUT, 0, 1, TRACE_WAIT_PREEMPTED);
        path_lab_wake(m, 320, b);
        path_lab_in(m, 400);
        path_lab_load();
        ck_assert_str_eq(waits(m), "100-210 woken 200 by 2, 300-400! woken 400 by 0");
}
END_TEST

/* The first wake-up counts. */
START_TEST(test_woken_twice)
{
        path_lab_out(m, 100, 0);
        path_lab_wake(m, 200, a);
        path_lab_wake(m, 250, b);
        path_lab_in(m, 400);
        path_lab_load();
        ck_assert_str_eq(waits(m), "100-400 woken 200 by 2");
}
END_TEST

/* A thread of the kernel that has nothing to do waits as well, which the walk does not count as a wait. */
START_TEST(test_idle_thread)
{
        PATH_LAB_EVENT(m, 100, SWITCH_OUT, 0, 0, TRACE_WAIT_IDLE);
        path_lab_wake(m, 200, a);
        path_lab_in(m, 220);
        path_lab_load();
        ck_assert_str_eq(waits(m), "100-220 woken 200 by 2");
        ck_assert(past_woke(past_of(&path_lab.past, a), 200, 200));
}
END_TEST

START_TEST(test_exit)
{
        PATH_LAB_EVENT(a, 200, THREAD_EXIT, 0);
        PATH_LAB_EVENT(a, 250, SWITCH_OUT, 1, 0, TRACE_WAIT_ENDED);
        path_lab_load();
        ck_assert_uint_eq(past_of(&path_lab.past, a)->end_ns, 200);
        ck_assert_uint_eq(past_of(&path_lab.past, m)->end_ns, UINT64_MAX);
        ck_assert_str_eq(waits(a), "250- woken  by 0");
        ck_assert_ptr_null(past_wait_at(&path_lab.past, a, 300)); /* it waits for nothing */
        ck_assert_str_eq(cpu(1), "0-250 2");
}
END_TEST

/* ------------------------------------------------------------------ CPUs */

START_LOOP_TEST(test_cpus, 0, 2)
{
        path_lab_out(a, 100, 0);
        path_lab_in(b, 110);
        path_lab_out(b, 200, 0);
        path_lab_in(a, 220);
        path_lab_out(a, 300, 0);
        path_lab_in(b, 310);
        path_lab.by_thread = _i == 1;
        path_lab_load();
        ck_assert_str_eq(cpu(1), "0-100 2, 110-200 3, 220-300 2, 310- 3");
        ck_assert_uint_eq(path_lab.past.cpus[0].n, 0);
}
END_TEST

/* A switch away that is not in the trace keeps no CPU for the thread. */
START_LOOP_TEST(test_cpu_without_a_switch_out, 0, 2)
{
        path_lab_in(a, 100);
        path_lab_in(b, 200);
        path_lab_out(b, 300, 0);
        path_lab.by_thread = _i == 1;
        path_lab_load();
        ck_assert_str_eq(cpu(1), "100-200 2, 200-300 3");
}
END_TEST

/* CPUs of any number. */
START_TEST(test_hostile_cpus)
{
        static const uint64_t numbers[] = { 4095, 4096, 65535, 65536, UINT32_MAX, UINT64_MAX };

        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                PATH_LAB_EVENT(m, 100 + 10 * i, SWITCH_OUT, numbers[i], 0, TRACE_WAIT_SLEEPING);
                PATH_LAB_EVENT(m, 105 + 10 * i, SWITCH_IN, numbers[i]);
        }
        path_lab_load();
        ck_assert_uint_eq(path_lab.past.n_cpus, 4096);
        ck_assert_uint_eq(past_waits(past_of(&path_lab.past, m))[0].out_cpu, 4095);
        for (size_t i = 1; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                ck_assert_uint_eq(past_waits(past_of(&path_lab.past, m))[i].out_cpu, PAST_NO_CPU);
                ck_assert_uint_eq(past_waits(past_of(&path_lab.past, m))[i].in_cpu, PAST_NO_CPU);
        }
}
END_TEST

/* ------------------------------------------------------------------ samples */

START_TEST(test_samples)
{
        uint32_t stack = path_lab_function("f"), other = trace_builder_sample_event(&path_lab.b, "faults");
        const struct past_sample *first;

        path_lab_samples(m, 100, 150, 10, stack);
        PATH_LAB_EVENT(m, 125, SAMPLE, other, 0, stack, 0, 10);
        path_lab_load();
        ck_assert_uint_eq(past_samples(past_of(&path_lab.past, m), 0, 1000, &first), 5);
        ck_assert_uint_eq(past_samples(past_of(&path_lab.past, m), 110, 130, &first), 2);
        ck_assert_uint_eq(first->time_ns, 110);
        ck_assert_uint_eq(first->stack, stack);
        ck_assert(first->weight > 9.9F && first->weight < 10.1F);
        ck_assert_uint_eq(past_samples(past_of(&path_lab.past, m), 130, 110, &first), 0);
        ck_assert_uint_eq(past_samples(past_of(&path_lab.past, a), 0, 1000, &first), 0);
}
END_TEST

/* ------------------------------------------------------------------ locks */

START_LOOP_TEST(test_locks, 0, 2)
{
        uint32_t lock = path_lab_lock("one"), other = path_lab_lock("two");

        PATH_LAB_EVENT(b, 100, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(m, 150, LOCK_WAIT, lock);
        PATH_LAB_EVENT(b, 200, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(m, 210, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(m, 250, LOCK_WAIT, other); /* given up */
        PATH_LAB_EVENT(m, 300, LOCK_WAIT, other);
        PATH_LAB_EVENT(m, 400, LOCK_RELEASE, other); /* without having it */
        path_lab.by_thread = _i == 1;
        path_lab_load();
        ck_assert_str_eq(spans(&path_lab.past.holds[lock - 1]), "100-200 3, 210- 1");
        ck_assert_str_eq(spans(&path_lab.past.holds[other - 1]), "");
        ck_assert_str_eq(spans(&past_of(&path_lab.past, m)->lock_waits), "150-210 1, 250-300 2, 300- 2");
        ck_assert_ptr_null(past_lock_wait(past_of(&path_lab.past, m), 149));
        ck_assert_uint_eq(past_lock_wait(past_of(&path_lab.past, m), 150)->id, lock);
        ck_assert_uint_eq(past_lock_wait(past_of(&path_lab.past, m), 210)->id, lock);
        ck_assert_ptr_null(past_lock_wait(past_of(&path_lab.past, m), 211));
        ck_assert_uint_eq(past_lock_wait(past_of(&path_lab.past, m), 1000)->id, other);
}
END_TEST

START_TEST(test_shared_lock)
{
        uint32_t lock = path_lab_lock("one");

        PATH_LAB_EVENT(a, 100, LOCK_OBTAIN, lock, 1);
        PATH_LAB_EVENT(b, 120, LOCK_OBTAIN, lock, 1);
        PATH_LAB_EVENT(a, 150, LOCK_RELEASE, lock, 1);
        PATH_LAB_EVENT(b, 170, LOCK_RELEASE, lock, 1);
        path_lab_load();
        ck_assert_str_eq(spans(&path_lab.past.holds[lock - 1]), "100-150 2, 120-170 3");
}
END_TEST

/* ------------------------------------------------------------------ fibers */

START_LOOP_TEST(test_fibers, 0, 2)
{
        uint32_t f = path_lab_fiber("f"), g = path_lab_fiber("g");

        PATH_LAB_EVENT(b, 100, FIBER_ENTER, f);
        PATH_LAB_EVENT(b, 200, FIBER_ENTER, g); /* leaves f */
        PATH_LAB_EVENT(a, 250, FIBER_ENTER, f);
        PATH_LAB_EVENT(b, 300, FIBER_LEAVE, 0);
        PATH_LAB_EVENT(b, 310, FIBER_LEAVE, 0); /* there is none */
        PATH_LAB_EVENT(a, 400, THREAD_EXIT, 0);
        path_lab.by_thread = _i == 1;
        path_lab_load();
        ck_assert_str_eq(waits(f), "0-100 woken 100 by 3, 200-250 woken 250 by 2, 400- woken  by 0");
        ck_assert_str_eq(waits(g), "0-200 woken 200 by 3, 300- woken  by 0");
        ck_assert_str_eq(spans(&past_of(&path_lab.past, b)->fibers), "100-200 4, 200-300 5");
        ck_assert_str_eq(spans(&past_of(&path_lab.past, a)->fibers), "250-400 4");
}
END_TEST

/* Two threads claim to run one fiber at the same time: whatever is known of it then, it is in order. */
START_TEST(test_fiber_on_two_threads)
{
        uint32_t f = path_lab_fiber("f");
        const struct past_thread *t;

        for (uint64_t i = 0; i < 100; i++) {
                PATH_LAB_EVENT(a, 1000 + 20 * i, FIBER_ENTER, f);
                PATH_LAB_EVENT(a, 1015 + 20 * i, FIBER_LEAVE, 0);
                PATH_LAB_EVENT(b, 1005 + 17 * i, FIBER_ENTER, f);
                PATH_LAB_EVENT(b, 1012 + 17 * i, FIBER_LEAVE, 0);
        }
        path_lab.by_thread = true;
        path_lab_load();
        t = past_of(&path_lab.past, f);
        for (size_t i = 1; i < t->waits.n; i++) {
                ck_assert_uint_le(past_waits(t)[i - 1].out_ns, past_waits(t)[i - 1].in_ns);
                ck_assert_uint_le(past_waits(t)[i - 1].out_ns, past_waits(t)[i].out_ns);
        }
}
END_TEST

/* ------------------------------------------------------------------ who made whom */

START_TEST(test_creators)
{
        uint32_t child = path_lab_new_thread("child", 1, 20, 1, 300), fiber = path_lab_fiber("f");
        uint32_t second = path_lab_new_thread("second", 1, 20, 1, 400);
        uint32_t orphan = path_lab_new_thread("orphan", 1, 30, 0, 500);
        uint32_t late = path_lab_new_thread("late", 1, 10, 0, 600);

        path_lab_wait(m, 550, 700, 700, late, 0);
        path_lab_load();
        ck_assert_uint_eq(past_first_of(&path_lab.past, 1), m);
        ck_assert_uint_eq(past_first_of(&path_lab.past, 0), 0);
        ck_assert_uint_eq(past_first_of(&path_lab.past, 1000), 0);
        ck_assert_uint_eq(past_creator(&path_lab.past, a), m);
        ck_assert_uint_eq(past_creator(&path_lab.past, child), m);
        ck_assert_uint_eq(past_creator(&path_lab.past, second), child);
        ck_assert_uint_eq(past_creator(&path_lab.past, orphan), 0);
        ck_assert_uint_eq(past_creator(&path_lab.past, m), 0);
        ck_assert_uint_eq(past_creator(&path_lab.past, late), 0); /* m slept then */
        ck_assert_uint_eq(past_creator(&path_lab.past, fiber), m);
}
END_TEST

/* The trace says it, also of one that waits by its own clock. */
START_TEST(test_known_creator)
{
        struct trace_thread row = { .process = 1, .tid = 99, .start_ns = 600, .creator = b };
        uint32_t child = trace_builder_row(&path_lab.b, TRACE_TABLE_THREADS, &row);

        path_lab_wait(b, 550, 700, 700, m, 0);
        path_lab_load();
        ck_assert_uint_eq(past_creator(&path_lab.past, child), b);
}
END_TEST

/* ------------------------------------------------------------------ forgetting */

static void forget(uint64_t time_ns)
{
        path_lab.past.used_bytes = PAST_BYTES_MAX + 1; /* at once, not when it is worth it */
        past_forget(&path_lab.past, time_ns);
}

START_TEST(test_forget)
{
        uint32_t lock = path_lab_lock("lock"), f = path_lab_fiber("f");
        const struct past_sample *first;

        path_lab_wait(m, 100, 200, 210, a, 0);
        path_lab_wait(m, 300, 400, 410, a, 0);
        path_lab_wait(m, 500, 600, 610, a, 0);
        path_lab_out(b, 50, 0);
        path_lab_samples(m, 100, 600, 100, 0);
        PATH_LAB_EVENT(a, 100, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 200, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(a, 300, LOCK_OBTAIN, lock);
        PATH_LAB_EVENT(a, 450, LOCK_RELEASE, lock);
        PATH_LAB_EVENT(a, 100, FIBER_ENTER, f);
        PATH_LAB_EVENT(a, 200, FIBER_LEAVE, 0);
        path_lab_load();
        forget(405);
        ck_assert_uint_eq(path_lab.past.kept_ns, 405);
        ck_assert_str_eq(waits(m), "300-410 woken 400 by 2, 500-610 woken 600 by 2");
        ck_assert_str_eq(waits(b), "50- woken  by 0"); /* it lasts */
        ck_assert_str_eq(spans(&path_lab.past.holds[lock - 1]), "300-450 2");
        ck_assert_str_eq(spans(&past_of(&path_lab.past, a)->fibers), "");
        ck_assert_str_eq(cpu(0), "210-300 1, 410-500 1, 610- 1");
        ck_assert_uint_eq(past_samples(past_of(&path_lab.past, m), 0, 1000, &first), 1);
        ck_assert_uint_eq(past_waits_before(past_of(&path_lab.past, m), 0), 1);
        ck_assert(!past_woke(past_of(&path_lab.past, a), 0, 404));
        ck_assert(past_woke(past_of(&path_lab.past, a), 0, 600));
        ck_assert_uint_eq(path_lab.past.n_forgotten, 0); /* it was not asked for */
        ck_assert_uint_eq(path_lab.past.used_bytes, path_lab.past.trimmed_bytes);
        ck_assert(!past_has_grown(&path_lab.past));
        forget(300); /* what is gone stays so */
        ck_assert_uint_eq(path_lab.past.kept_ns, 405);
}
END_TEST

/* It is done now and then, not each time. */
START_TEST(test_forget_costs_little)
{
        for (uint64_t i = 0; i < 1000; i++)
                path_lab_wait(m, 100 + 10 * i, 105 + 10 * i, 106 + 10 * i, a, 0);
        path_lab_load();
        past_forget(&path_lab.past, 9000);
        ck_assert_uint_eq(path_lab.past.kept_ns, 0);
}
END_TEST

/* The memory is bounded by what is kept, whatever it consists of. */
START_LOOP_TEST(test_everything_is_counted, 0, 5)
{
        uint32_t lock = path_lab_lock("lock"), f = path_lab_fiber("f");
        uint64_t used, n = 20000;

        for (uint64_t i = 0; i < n; i++) {
                uint64_t t = 1000 + 10 * i;

                switch (_i) {
                case 0:
                        path_lab_samples(m, t, t + 1, 10, 0);
                        break;
                case 1:
                        path_lab_wait(m, t, t + 5, t + 6, 0, 0);
                        break;
                case 2:
                        PATH_LAB_EVENT(m, t, LOCK_OBTAIN, lock);
                        PATH_LAB_EVENT(m, t + 5, LOCK_RELEASE, lock);
                        break;
                case 3:
                        PATH_LAB_EVENT(m, t, LOCK_WAIT, lock);
                        break;
                default:
                        PATH_LAB_EVENT(m, t, FIBER_ENTER, f);
                        PATH_LAB_EVENT(m, t + 5, FIBER_LEAVE, 0);
                }
        }
        path_lab_load();
        used = path_lab.past.used_bytes;
        ck_assert_uint_ge(used, n * sizeof(struct past_span));
        forget(1000 + 10 * (n - 10));
        ck_assert_uint_lt(path_lab.past.used_bytes, 20 * 80);
}
END_TEST

/* Where all of it is asked for, the oldest part goes, and it is said how many waits that are. */
START_TEST(test_forget_oldest)
{
        for (uint64_t i = 0; i < 10000; i++)
                path_lab_wait(m, 1000 + 10 * i, 1005 + 10 * i, 1006 + 10 * i, a, 0);
        path_lab_load();
        ck_assert(!past_is_crowded(&path_lab.past));
        path_lab.past.used_bytes = PAST_BYTES_MAX + 1;
        ck_assert(past_is_crowded(&path_lab.past) && past_has_grown(&path_lab.past));
        past_forget_oldest(&path_lab.past);
        ck_assert_uint_ge(path_lab.past.n_forgotten, 2400);
        ck_assert_uint_le(path_lab.past.n_forgotten, 2600);
        ck_assert_uint_eq(path_lab.past.n_forgotten,
                          10000 - past_list_count(&past_of(&path_lab.past, m)->waits));
        ck_assert_uint_ge(path_lab.past.kept_ns, 25000);
}
END_TEST

/* ------------------------------------------------------------------ times that cannot be */

/* A thread whose runs go back in time. */
START_TEST(test_backwards)
{
        path_lab_write(); /* the order of the lab is that of time: by hand */
        ck_assert_int_eq(past_init(&path_lab.past, &path_lab.trace, path_lab.event), 0);
        for (uint64_t t = 1000000; t > 900000; t -= 1) {
                struct walked_thread thread = { .id = m, .cpu = 0 };
                struct trace_event event = { .time_ns = t, .op = TRACE_OP_SWITCH_OUT };

                thread.is_out = true;
                thread.wait = (struct thread_wait){ .out_ns = t, .state = TRACE_WAIT_SLEEPING };
                ck_assert_int_eq(past_event(&path_lab.past, &thread, &event), 0);
        }
        ck_assert_uint_gt(path_lab.past.n_forgotten, 0); /* most of them are refused */
        ck_assert_uint_le(past_list_count(&past_of(&path_lab.past, m)->waits), PAST_LIST_LATE_MAX + 1);
        for (size_t i = 1; i < past_of(&path_lab.past, m)->waits.n; i++)
                ck_assert_uint_le(past_waits(past_of(&path_lab.past, m))[i - 1].out_ns,
                                  past_waits(past_of(&path_lab.past, m))[i].out_ns);
}
END_TEST
