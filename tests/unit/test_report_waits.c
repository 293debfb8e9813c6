/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/wait_stats.c, wait_places.c, report_waits.c: known waits have their times,
 * places, zones and wakers
 */
#include "analyze/report/report.h"
#include "analyze/stats/wait_places.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct trace_builder b;
static struct report *report;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        report_free(report);
        report = NULL;
        trace_builder_deinit(&b);
}

static void load(void)
{
        struct report_options options = { .wants_waits = true };
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, &options, &report, &err) == 0, "%s", err.text);
}

/*
 * A process with a stack as the kernel and the tables give it; what differs between two
 * of them is in `lock_2`.
 */
struct code {
        uint32_t program, libc, kernel, mark;
        uint32_t in_main, lock, lock_2, sleep, cut; /* stacks */
        uint32_t post;                              /* of a waker */
};

/* The kernel's part of a stack: from the system call, by way of its scheduler. */
static uint32_t in_kernel(const struct code *c, uint32_t stack, const char *what, bool long_way)
{
        stack = trace_builder_push(&b, stack, c->kernel, 0x1000, "do_syscall_64");
        stack = trace_builder_push(&b, stack, c->kernel, strlen(what), what);
        if (long_way)
                stack = trace_builder_push(&b, stack, c->kernel, 0x2000, "schedule_timeout");
        stack = trace_builder_push(&b, stack, c->kernel, 0x3000, "schedule");
        return trace_builder_push(&b, stack, c->kernel, 0x3100, "__schedule");
}

static struct code add_code(void)
{
        struct trace_module kernel = { .kind = TRACE_MODULE_KERNEL };
        struct trace_module mark = { .kind = TRACE_MODULE_MARK };
        struct code c = { .program = trace_builder_module(&b, "/bin/program"),
                          .libc = trace_builder_module(&b, "/usr/lib/x86_64-linux-gnu/libc.so.6") };
        uint32_t locking, at;

        kernel.path = trace_builder_string(&b, "[kernel]");
        mark.path = trace_builder_string(&b, "[truncated]");
        c.kernel = trace_builder_row(&b, TRACE_TABLE_MODULES, &kernel);
        c.mark = trace_builder_row(&b, TRACE_TABLE_MODULES, &mark);
        c.in_main = trace_builder_push(&b, 0, c.program, 0x100, "main");
        locking = trace_builder_push(&b, c.in_main, c.program, 0x200, "take_lock");
        at = trace_builder_push(&b, locking, c.libc, 0x10, "pthread_mutex_lock");
        c.lock = in_kernel(&c, at, "futex_wait_queue", false);
        /* Another address of the same function, another way through the kernel. */
        locking = trace_builder_push(&b, c.in_main, c.program, 0x210, "take_lock");
        at = trace_builder_push(&b, locking, c.libc, 0x14, "pthread_mutex_lock");
        c.lock_2 = in_kernel(&c, at, "futex_wait_queue", true);
        /* What C++ puts around a wait is the program's code, but says nothing of it. */
        at = trace_builder_push(&b, c.in_main, c.program, 0x108, "std::this_thread::sleep()");
        at = trace_builder_push(&b, at, c.libc, 0x20, "clock_nanosleep");
        c.sleep = in_kernel(&c, at, "hrtimer_nanosleep", false);
        at = trace_builder_push(&b, 0, c.mark, 0, NULL);
        at = trace_builder_push(&b, at, c.program, 0x300, "deep");
        c.cut = in_kernel(&c, at, "pipe_read", false);
        at = trace_builder_push(&b, c.in_main, c.program, 0x400, "give_lock");
        c.post = trace_builder_push(&b, at, c.libc, 0x30, "pthread_mutex_unlock");
        return c;
}

static const struct report_wait_place *place_of(const char *function, const char *kernel)
{
        for (uint32_t i = 0; i < report->waits.n_places; i++) {
                const struct report_wait_place *place = &report->waits.places[i];

                if (place->frame < place->n_frames &&
                    text_view_is(place->frames[place->frame].name, function) &&
                    text_view_is(place->kernel, kernel))
                        return place;
        }
        ck_abort_msg("no thread waits in %s, %s", function, kernel);
}

/*
 * main (thread 11) waits for a lock three times, 100 + 300 + 50 ns, in two callstacks of one place;
 * twice holder gives it, 10 and 30 ns before main runs, once the waker is unknown; it sleeps 1000
 * ns without a callstack and 40 with one; is preempted for 70 and 20 ns.  deep (thread 12) waits
 * from 500 on until the end.
 */
static void build_known(void)
{
        struct code c = add_code();
        uint32_t main_thread = trace_builder_thread(&b, 10, 11);
        uint32_t other_thread = trace_builder_thread(&b, 10, 12);
        uint32_t holder = trace_builder_string(&b, "holder");
        uint32_t outer = trace_builder_location(&b, "outer");
        uint32_t inner = trace_builder_location(&b, "inner");

        trace_builder_begin_run(&b, main_thread);
        TRACE_BUILDER_ADD(&b, 1000, SWITCH_IN, 0);
        trace_builder_begin_zone(&b, 1001, outer);
        TRACE_BUILDER_ADD(&b, 1100, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, c.lock, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, 1190, WAKEUP, 1, other_thread, holder, c.post);
        TRACE_BUILDER_ADD(&b, 1195, WAKEUP, 1, main_thread, 0, 0); /* comes too late to have ended anything */
        TRACE_BUILDER_ADD(&b, 1200, SWITCH_IN, 1);
        trace_builder_begin_zone(&b, 1250, inner);
        TRACE_BUILDER_ADD(&b, 1300, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING, c.lock_2, TRACE_STACK_COMPLETE);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);
        trace_builder_begin_run(&b, other_thread);
        TRACE_BUILDER_ADD(&b, 500, SWITCH_OUT, 1, 0, TRACE_WAIT_UNINTERRUPTIBLE, c.cut,
                          TRACE_STACK_TRUNCATED);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, main_thread);
        TRACE_BUILDER_ADD(&b, 1570, WAKEUP, 1, other_thread, holder, c.post);
        TRACE_BUILDER_ADD(&b, 1600, SWITCH_IN, 1);
        trace_builder_event(&b, 1601, TRACE_OP_ZONE_END);
        TRACE_BUILDER_ADD(&b, 1650, WAKEUP, 1, other_thread, holder, c.post); /* it runs */
        TRACE_BUILDER_ADD(&b, 1700, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING, c.lock, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, 1750, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, 1800, SWITCH_OUT, 1, 1, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(&b, 1870, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, 1880, SWITCH_OUT, 1, 0, TRACE_WAIT_PREEMPTED);
        TRACE_BUILDER_ADD(&b, 1900, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, 2000, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, 3000, SWITCH_IN, 1);
        trace_builder_event(&b, 3001, TRACE_OP_ZONE_END);
        TRACE_BUILDER_ADD(&b, 3100, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING, c.sleep, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, 3140, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, 3200, THREAD_EXIT, 0);
        TRACE_BUILDER_ADD(&b, 3210, SWITCH_OUT, 1, 0, TRACE_WAIT_ENDED, c.sleep, TRACE_STACK_COMPLETE);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "start_raw_ns", "400");
        trace_builder_meta(&b, "end_raw_ns", "4500");
        trace_builder_finish(&b);
}

START_TEST(test_places)
{
        const struct report_wait_place *place;

        build_known();
        load();
        ck_assert_uint_eq(report->waits.n_places, 4);

        place = place_of("take_lock", "futex_wait_queue");
        ck_assert_uint_eq(place->sum.ended.n_waits, 3);
        ck_assert_uint_eq(place->sum.ended.total_ns, 450);
        ck_assert_uint_eq(place->sum.ended.max_ns, 300);
        ck_assert_uint_eq(place->sum.n_open, 0);
        ck_assert_uint_eq(place->wait, TRACE_WAIT_SLEEPING);
        ck_assert_uint_eq(place->n_frames, 3);
        ck_assert(text_view_is(place->frames[0].name, "pthread_mutex_lock"));
        ck_assert(text_view_is(place->frames[2].name, "main"));
        ck_assert_uint_eq(place->frame, 1);
        ck_assert(place->has_stack && !place->is_cut);

        place = place_of("main", "hrtimer_nanosleep");
        ck_assert_uint_eq(place->sum.ended.total_ns, 40);
        ck_assert_uint_eq(place->n_wakers, 0);

        place = place_of("deep", "pipe_read");
        ck_assert_uint_eq(place->sum.ended.n_waits, 0);
        ck_assert_uint_eq(place->sum.n_open, 1);
        ck_assert_uint_eq(place->sum.open_ns, 4000);
        ck_assert_int_eq(place->frames[1].kind, FUNCTION_MARK);
        ck_assert(text_view_is(place->frames[1].name, "[truncated]"));
        ck_assert_ptr_eq(place, &report->waits.places[0]); /* it has the most time */

        ck_assert(!report->waits.places[3].has_stack && !report->waits.places[3].is_idle);
        ck_assert_uint_eq(report->waits.places[3].sum.ended.total_ns, 1000);
        ck_assert_uint_eq(report->waits.places[3].n_frames, 0);
}
END_TEST

/*
 * Of 100 waits of 1000 ns, ten have a callstack: 7 for the lock, 3 in a sleep; one of 100,000 ns has none and
 * nothing like it, and another thread sleeps to the end.
 */
START_TEST(test_callstacks_are_a_sample)
{
        const struct report_wait_place *place;
        uint64_t sum_ns = 0, now_ns = 1000;
        struct code c = add_code();
        uint32_t thread = trace_builder_thread(&b, 10, 11);
        uint32_t idler = trace_builder_thread(&b, 10, 12);
        uint32_t process_2 = trace_builder_thread(&b, 20, 21);

        trace_builder_begin_run(&b, thread);
        TRACE_BUILDER_ADD(&b, now_ns, SWITCH_IN, 0);
        for (uint32_t i = 0; i < 100; i++) {
                uint32_t stack = i % 10 != 3 ? 0 : (i < 70 ? c.lock : c.sleep);

                now_ns += 100;
                TRACE_BUILDER_ADD(&b, now_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack);
                TRACE_BUILDER_ADD(&b, now_ns + 900, WAKEUP, 1, process_2, 0, c.post);
                TRACE_BUILDER_ADD(&b, now_ns += 1000, SWITCH_IN, 0);
        }
        TRACE_BUILDER_ADD(&b, now_ns += 100, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, now_ns += 100000, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, idler);
        TRACE_BUILDER_ADD(&b, 500, SWITCH_OUT, 1, 0, TRACE_WAIT_UNKNOWN);
        TRACE_BUILDER_ADD(&b, 600, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, 600, SWITCH_OUT, 1, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "300000");
        load();
        ck_assert_uint_eq(report->waits.n_places, 4);
        place = &report->waits.places[0];
        ck_assert(text_view_is(place->kernel, "futex_wait_queue"));
        ck_assert_uint_eq(place->sum.ended.total_ns, 70000);
        ck_assert_uint_eq(place->sum.ended.n_waits, 70);
        ck_assert_uint_eq(place->seen_ns, 7000);
        ck_assert_uint_eq(place->n_wakers, 1);
        ck_assert_uint_eq(place->wakers[0].ended.n_waits, 70);
        ck_assert_uint_eq(place->wakers[0].tid, 21);
        ck_assert_uint_ne(place->wakers[0].process, 0);
        ck_assert_uint_eq(report->waits.places[1].sum.ended.total_ns, 30000);
        ck_assert(!report->waits.places[2].has_stack);
        ck_assert_uint_eq(report->waits.places[2].sum.ended.total_ns, 100000);
        ck_assert(report->waits.places[3].is_idle);
        ck_assert_uint_eq(report->waits.places[3].sum.open_ns, 300000 - 600);
        ck_assert_uint_eq(report->waits.places[3].sum.ended.total_ns, 100);
        for (uint32_t i = 0; i < report->waits.n_places; i++)
                sum_ns += wait_row_total_ns(&report->waits.places[i].sum);
        ck_assert_uint_eq(sum_ns, wait_row_total_ns(&report->waits.all));
}
END_TEST

START_TEST(test_wakers_and_delays)
{
        const struct report_wait_place *place;

        build_known();
        load();
        place = place_of("take_lock", "futex_wait_queue");
        ck_assert_uint_eq(place->n_wakers, 1);
        ck_assert(text_view_is(place->wakers[0].thread, "holder"));
        ck_assert(place->wakers[0].has_function);
        ck_assert(text_view_is(place->wakers[0].function.name, "give_lock"));
        ck_assert_uint_eq(place->wakers[0].ended.n_waits, 2);
        ck_assert_uint_eq(place->wakers[0].ended.total_ns, 400);
        ck_assert_uint_eq(place->sum.delays.n_waits, 2);
        ck_assert_uint_eq(place->sum.delays.total_ns, 40);
        ck_assert_uint_eq(place->sum.delays.max_ns, 30);
        ck_assert(report->waits.has_wakeups);
        ck_assert_uint_eq(report->waits.woken.n_waits, 2);
}
END_TEST

START_TEST(test_totals_and_threads)
{
        const struct report_waits *w;

        build_known();
        load();
        w = &report->waits;
        ck_assert_uint_eq(w->all.ended.n_waits, 5);
        ck_assert_uint_eq(w->all.ended.total_ns, 1490);
        ck_assert_uint_eq(wait_row_total_ns(&w->all), 5490);
        ck_assert_uint_eq(w->with_stack.ended.n_waits, 4);
        ck_assert_uint_eq(wait_row_total_ns(&w->with_stack), 4490);
        ck_assert_uint_eq(w->preempted.n_waits, 2);
        ck_assert_uint_eq(w->preempted.total_ns, 90);
        ck_assert_uint_eq(w->preempted.max_ns, 70);
        ck_assert_uint_eq(w->n_threads, 2);
        ck_assert_uint_eq(w->threads[0].tid, 12);
        ck_assert_uint_eq(w->threads[0].sum.open_ns, 4000);
        ck_assert_uint_eq(w->threads[1].tid, 11);
        ck_assert_uint_eq(w->threads[1].sum.ended.total_ns, 1490);
        ck_assert_uint_eq(w->threads[1].sum.n_open, 0);
        ck_assert_uint_eq(w->threads[1].preempted.total_ns, 90);
        ck_assert_uint_eq(w->threads[1].sum.delays.total_ns, 40);
}
END_TEST

START_TEST(test_zones)
{
        const struct report_waits *w;

        build_known();
        load();
        w = &report->waits;
        ck_assert_uint_eq(w->n_zones, 3);
        ck_assert_uint_eq(w->zones[0].n_names, 0);
        ck_assert_uint_eq(wait_row_total_ns(&w->zones[0].sum), 4040);
        ck_assert_uint_eq(w->zones[1].n_names, 1);
        ck_assert(text_view_is(w->zones[1].names[0], "outer"));
        ck_assert_uint_eq(w->zones[1].sum.ended.total_ns, 100 + 50 + 1000);
        ck_assert_uint_eq(w->zones[2].n_names, 2);
        ck_assert(text_view_is(w->zones[2].names[0], "outer"));
        ck_assert(text_view_is(w->zones[2].names[1], "inner"));
        ck_assert_uint_eq(w->zones[2].sum.ended.total_ns, 300);
}
END_TEST

static uint32_t push_kernel(uint32_t kernel, const char *const *names, size_t n)
{
        static uint64_t offset = 0x100;
        uint32_t stack = 0;

        for (size_t i = 0; i < n; i++)
                stack = trace_builder_push(&b, stack, kernel, offset += 0x10, names[i]);
        return stack;
}

#define PUSH_KERNEL(kernel, ...)                                    \
        push_kernel((kernel), (const char *const[]){ __VA_ARGS__ }, \
                    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/*
 * The kernel's thread that does the work of interrupts is named as they are, recorded or not, as far as its
 * functions or the place of the wait tell; another thread of the kernel has its name.
 */
static const struct {
        const char *name, *function, *place;
        bool is_recorded;
        enum interrupt_kind kind;
} kernel_threads[] = {
        { "ksoftirqd/1", "tcp_v4_rcv", "pipe_read", false, INTERRUPT_NETWORK },
        { "ksoftirqd/1", "tcp_v4_rcv", "pipe_read", true, INTERRUPT_NETWORK },
        { "ksoftirqd/0", "process_timeout", "sk_wait_data", false, INTERRUPT_TIMER },
        { "ksoftirqd/0", NULL, "sk_wait_data", false, INTERRUPT_NETWORK },
        { "ksoftirqd/0", NULL, "pipe_read", false, INTERRUPT_OTHER },
        { "kworker/0:1", NULL, "sk_wait_data", false, INTERRUPT_UNKNOWN },
};

START_LOOP_TEST(test_kernel_threads_that_wake, 0, sizeof(kernel_threads) / sizeof(kernel_threads[0]))
{
        const struct report_waker *waker;
        uint32_t kernel, thread, other, stack = 0, place, name;

        kernel = add_code().kernel;
        thread = trace_builder_thread(&b, 1, 1);
        other = trace_builder_thread(&b, 20, 20);
        name = trace_builder_string(&b, kernel_threads[_i].name);
        if (kernel_threads[_i].function)
                stack = PUSH_KERNEL(kernel, "run_ksoftirqd", "handle_softirqs", kernel_threads[_i].function,
                                    "try_to_wake_up");
        place = PUSH_KERNEL(kernel, "do_syscall_64", kernel_threads[_i].place, "schedule");
        trace_builder_begin_run(&b, other);
        TRACE_BUILDER_ADD(&b, 100, THREAD_NAME, name);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, thread);
        TRACE_BUILDER_ADD(&b, 200, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, place);
        TRACE_BUILDER_ADD(&b, 300, WAKEUP, 0, kernel_threads[_i].is_recorded ? other : 0, name, stack);
        TRACE_BUILDER_ADD(&b, 310, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        load();
        ck_assert_uint_eq(report->waits.n_places, 1);
        ck_assert_uint_eq(report->waits.places[0].n_wakers, 1);
        waker = &report->waits.places[0].wakers[0];
        ck_assert_int_eq(waker->interrupt, kernel_threads[_i].kind);
        ck_assert_uint_eq(waker->process, 0);
        if (kernel_threads[_i].kind == INTERRUPT_UNKNOWN)
                ck_assert(text_view_is(waker->thread, kernel_threads[_i].name));
        else
                ck_assert_uint_eq(waker->thread.n_bytes, 0);
}
END_TEST

/*
 * Waits that a thread without a call stack ended, a timer, two threads that sent packets, and an interrupt of
 * an unknown kind, longer ones first.
 */
START_TEST(test_wakers_without_functions)
{
        const struct report_waker *wakers;
        uint32_t kernel, thread, waker, stacks[5] = { 0 };

        kernel = add_code().kernel;
        thread = trace_builder_thread(&b, 1, 1);
        waker = trace_builder_thread(&b, 1, 2);
        stacks[1] = PUSH_KERNEL(kernel, "handle_softirqs", "hrtimer_wakeup", "try_to_wake_up");
        stacks[2] = PUSH_KERNEL(kernel, "ksys_write", "tcp_sendmsg", "__dev_queue_xmit",
                                "__local_bh_enable_ip", "do_softirq", "process_backlog", "tcp_v4_rcv",
                                "try_to_wake_up");
        stacks[3] = stacks[2];
        stacks[4] = PUSH_KERNEL(kernel, "strange_work", "try_to_wake_up");
        trace_builder_begin_run(&b, waker);
        TRACE_BUILDER_ADD(&b, 100, THREAD_NAME, trace_builder_string(&b, "program"));
        TRACE_BUILDER_ADD(&b, 105, THREAD_NAME, trace_builder_string(&b, "loader"));
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, thread);
        for (uint64_t i = 0; i < 5; i++) {
                TRACE_BUILDER_ADD(&b, 1000 * i + 100, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
                /* The kernel has another name of the first; who sent last is unknown. */
                TRACE_BUILDER_ADD(&b, 1000 * i + 101, WAKEUP, 0, i == 0 ? waker : 0,
                                  i == 0 ? trace_builder_string(&b, "program") : 0, stacks[i], 0,
                                  i == 2 ? waker : 0);
                TRACE_BUILDER_ADD(&b, 1000 * i + 200 - 10 * i, SWITCH_IN, 0);
        }
        trace_builder_end_run(&b);
        load();
        ck_assert_uint_eq(report->waits.n_places, 1);
        ck_assert_uint_eq(report->waits.places[0].n_wakers, 5);
        wakers = report->waits.places[0].wakers;
        for (uint32_t i = 0; i < 5; i++)
                ck_assert_uint_eq(wakers[i].ended.total_ns, 100 - 10 * i);
        ck_assert(text_view_is(wakers[0].thread, "loader"));
        ck_assert(!wakers[0].has_function && wakers[0].interrupt == INTERRUPT_UNKNOWN);
        ck_assert_uint_eq(wakers[1].thread.n_bytes, 0);
        ck_assert(!wakers[1].has_function && wakers[1].interrupt == INTERRUPT_TIMER);
        ck_assert(text_view_is(wakers[2].thread, "loader"));
        ck_assert(text_view_is(wakers[2].function.name, "tcp_sendmsg"));
        ck_assert(wakers[2].interrupt == INTERRUPT_SENDER);
        ck_assert_uint_eq(wakers[2].tid, 2);
        ck_assert_uint_eq(wakers[3].thread.n_bytes, 0);
        ck_assert(wakers[3].interrupt == INTERRUPT_SENDER && wakers[3].process == 0);
        ck_assert(wakers[4].interrupt == INTERRUPT_UNKNOWN);
        ck_assert(text_view_is(wakers[4].function.name, "strange_work"));
}
END_TEST

/*
 * A switch that the trace lacks makes no wait, and none longer; idle threads of the kernel wait for nothing.
 */
START_TEST(test_switches_that_are_missing)
{
        uint64_t n_told = 0;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        TRACE_BUILDER_ADD(&b, 50, WAKEUP, 0);
        TRACE_BUILDER_ADD(&b, 100, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 200, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 300, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, 900, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, 910, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 920, SWITCH_OUT, 0, 0, TRACE_WAIT_IDLE);
        TRACE_BUILDER_ADD(&b, 990, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 1000, SWITCH_OUT, 0, 0, 77);
        TRACE_BUILDER_ADD(&b, 1005, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 1010, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&b, 1020, THREAD_EXIT, 0);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_fiber(&b, 1, 7));
        TRACE_BUILDER_ADD(&b, 100, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 200, SWITCH_OUT, 0);
        TRACE_BUILDER_ADD(&b, 700, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        trace_builder_meta(&b, "end_raw_ns", "5000");
        load();
        ck_assert_uint_eq(report->waits.all.ended.n_waits, 2);
        ck_assert_uint_eq(report->waits.all.ended.total_ns, 15);
        ck_assert_uint_eq(report->waits.all.n_open, 0);
        ck_assert_uint_eq(report->waits.n_threads, 1);
        ck_assert_uint_eq(report->waits.n_places, 2);
        ck_assert_str_eq(report->waits.places[1].wait_words, "of a newer version of hyprof");
        /* Who is woken first of all runs from its first switch on. */
        ck_assert_uint_eq(report->threads[1].on_cpu_ns, 200 + 10 + 10 + 5);
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                if (strcmp(report->gaps.rows[i].code, "SWITCHES_MISSING") == 0)
                        n_told += report->gaps.rows[i].count;
        ck_assert_uint_eq(n_told, 2);
}
END_TEST

/* Traces of version 1.1 say nothing but that a thread left its CPU, and whether it could have run on. */
START_TEST(test_waits_without_anything_else)
{
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        TRACE_BUILDER_ADD(&b, 100, SWITCH_OUT, 0, 0);
        TRACE_BUILDER_ADD(&b, 350, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 400, SWITCH_OUT, 0, 1);
        TRACE_BUILDER_ADD(&b, 460, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        load();
        ck_assert_uint_eq(report->waits.all.ended.total_ns, 250);
        ck_assert_uint_eq(report->waits.preempted.total_ns, 60);
        ck_assert_uint_eq(report->waits.with_stack.ended.n_waits, 0);
        ck_assert(!report->waits.has_wakeups);
        ck_assert_uint_eq(report->waits.places[0].wait, TRACE_WAIT_UNKNOWN);
}
END_TEST

/* Callstacks and zones of any depth are shown from the inside on, and cost no more than that. */
START_TEST(test_endless_depth)
{
        uint32_t module, zone, stack = 0;

        module = trace_builder_module(&b, "/bin/program");
        zone = trace_builder_location(&b, "again");
        for (uint32_t i = 0; i < 100000; i++)
                stack = trace_builder_stack(&b, stack, trace_builder_frame(&b, module, i % 1000));
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        for (uint64_t i = 0; i < 1000; i++) {
                trace_builder_begin_zone(&b, 10 * i, zone);
                TRACE_BUILDER_ADD(&b, 10 * i + 1, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack - i);
                TRACE_BUILDER_ADD(&b, 10 * i + 5, SWITCH_IN, 0);
        }
        trace_builder_end_run(&b);
        load();
        ck_assert_uint_eq(report->waits.n_places,
                          1); /* addresses without names are one function of their module */
        for (uint32_t i = 0; i < report->waits.n_places; i++) {
                ck_assert(report->waits.places[i].is_cut);
                ck_assert_uint_eq(report->waits.places[i].n_frames, WAIT_PLACES_FRAMES_MAX);
        }
        ck_assert_uint_eq(report->waits.n_zones, 1000);
        for (uint32_t i = 0; i < report->waits.n_zones; i++)
                ck_assert_uint_le(report->waits.zones[i].n_names, REPORT_WAIT_NAMES_MAX);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
