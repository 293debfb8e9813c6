/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/wait_ends.c: what ended a wait is told by its wake-up, and else by the kernel's functions in
 * which it was
 */
#include "analyze/waits/wait_ends.h"
#include "analyze/walk/trace_walk.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

static struct trace_builder b;
static struct wait_ends ends;
static uint32_t program, libc, kernel, n_functions;

static void setup(void)
{
        trace_builder_init(&b);
        program = trace_builder_module(&b, "/bin/program");
        libc = trace_builder_module(&b, "/lib/libc.so.6");
        kernel = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        n_functions = 0;
}

static void teardown(void)
{
        wait_ends_deinit(&ends);
        trace_builder_deinit(&b);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static uint32_t push(uint32_t stack, uint32_t module, const char *function)
{
        return trace_builder_push(&b, stack, module, 0x100 + 16 * (uint64_t)n_functions++, function);
}

/* main() calls the kernel, which calls its scheduler by way of @function. */
static uint32_t in_kernel(const char *function)
{
        uint32_t stack = push(push(0, program, "main"), kernel, "do_syscall_64");

        return push(push(push(stack, kernel, function), kernel, "schedule"), kernel, "__schedule");
}

static void start(void)
{
        UNIT_TEST_SPOIL(ends);
        ck_assert_int_eq(wait_ends_init(&ends, &b.dictionary), 0);
}

/* The end of a wait of thread 1; asked twice, since the second look at a call stack is another one. */
static struct wait_end find(const struct thread_wait *wait)
{
        struct wait_end first = wait_ends_find(&ends, 1, wait), again = wait_ends_find(&ends, 1, wait);

        ck_assert_int_eq(first.kind, again.kind);
        ck_assert_uint_eq(first.thread, again.thread);
        return first;
}

/* ------------------------------------------------------------------ by the wake-up */

START_TEST(test_recorded_waker)
{
        struct thread_wait wait = { .is_woken = true, .waker_thread = 2, .waker_name = 1 };
        struct wait_end end;

        wait.stack = in_kernel("do_nanosleep"); /* a signal, perhaps: the thread counts */
        start();
        end = find(&wait);
        ck_assert_int_eq(end.kind, WAIT_END_THREAD);
        ck_assert_uint_eq(end.thread, 2);
}
END_TEST

START_TEST(test_waker_that_is_not_recorded)
{
        struct thread_wait wait = { .is_woken = true, .waker_name = 1 };

        wait.stack = in_kernel("pipe_read");
        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_PROGRAM);
        ck_assert_uint_eq(find(&wait).thread, 0);
}
END_TEST

/* Who woke it is no one's word before it was woken. */
START_TEST(test_not_woken)
{
        const struct thread_wait wait = { .waker_thread = 2, .waker_name = 1 };

        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
}
END_TEST

START_TEST(test_woken_by_itself)
{
        struct thread_wait wait = { .is_woken = true, .waker_thread = 1, .waker_name = 1 };

        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        ck_assert_uint_eq(find(&wait).thread, 0);
}
END_TEST

/* A worker of the kernel that ends what is a wait for the disk is a part of the disk. */
START_TEST(test_worker_of_the_disk)
{
        struct thread_wait wait = { .is_woken = true, .waker_name = 1 };

        wait.stack = in_kernel("jbd2_log_wait_commit");
        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_DISK);
}
END_TEST

/* The kernel's thread that does the work of interrupts: by its functions, else by the place of the wait. */
static const struct {
        const char *waker, *place; /* functions; NULL = none is known */
        bool is_recorded, is_uninterruptible;
        enum wait_end_kind kind;
} softirqs[] = {
        { "tcp_v4_rcv", NULL, false, false, WAIT_END_NETWORK },
        { "tcp_v4_rcv", NULL, true, false, WAIT_END_NETWORK },
        { "process_timeout", "sk_wait_data", false, false, WAIT_END_TIMER },
        { "blk_mq_end_request", NULL, false, false, WAIT_END_DISK },
        { "rcu_core", NULL, false, false, WAIT_END_INTERRUPT },
        { "rcu_core", "io_schedule", false, false, WAIT_END_DISK },
        { NULL, "sk_wait_data", false, false, WAIT_END_NETWORK },
        { NULL, "io_schedule", true, false, WAIT_END_DISK },
        { NULL, "do_nanosleep", false, false, WAIT_END_TIMER },
        { NULL, "pipe_read", false, false, WAIT_END_INTERRUPT },
        { NULL, NULL, false, false, WAIT_END_INTERRUPT },
        { NULL, NULL, false, true, WAIT_END_DISK },
};

START_LOOP_TEST(test_softirqs, 0, sizeof(softirqs) / sizeof(softirqs[0]))
{
        struct thread_wait wait = { .is_woken = true, .waker_thread = softirqs[_i].is_recorded ? 2 : 0 };

        if (softirqs[_i].waker)
                wait.waker_stack = push(push(push(0, kernel, "run_ksoftirqd"), kernel, "handle_softirqs"),
                                        kernel, softirqs[_i].waker);
        if (softirqs[_i].place)
                wait.stack = in_kernel(softirqs[_i].place);
        if (softirqs[_i].is_uninterruptible)
                wait.state = TRACE_WAIT_UNINTERRUPTIBLE;
        wait.waker_name = trace_builder_string(&b, "ksoftirqd/1");
        start();
        ck_assert_int_eq(find(&wait).kind, softirqs[_i].kind);
        ck_assert_uint_eq(find(&wait).thread, 0);
        wait.is_woken = false; /* who woke it is no one's word then */
        ck_assert_int_ne(find(&wait).kind, WAIT_END_INTERRUPT);
}
END_TEST

/* Other threads are what they are called. */
START_TEST(test_names_of_kernel_threads)
{
        uint32_t names[] = { trace_builder_string(&b, "kworker/0:1"), trace_builder_string(&b, "ksoftirqd"),
                             trace_builder_string(&b, "migration"), trace_builder_string(&b, "migration/12"),
                             trace_builder_string(&b, "ksoftirqd/0") };

        for (int i = 0; i < 5; i++) {
                const struct thread_wait wait = { .is_woken = true, .waker_name = names[i] };

                ck_assert_int_eq(wait_ends_is_softirq(&b.dictionary, names[i]), i == 4);
                ck_assert_int_eq(wait_ends_is_mover(&b.dictionary, names[i]), i == 3);
                start();
                ck_assert_int_eq(find(&wait).kind, i == 4 ? WAIT_END_INTERRUPT : WAIT_END_PROGRAM);
                wait_ends_deinit(&ends);
        }
        ck_assert(!wait_ends_is_softirq(&b.dictionary, 0) && !wait_ends_is_mover(&b.dictionary, 0));
        start();
}
END_TEST

/* An interrupt's own functions count before the place of the wait. */
START_TEST(test_interrupts)
{
        static const struct {
                const char *function;
                enum wait_end_kind kind;
        } interrupts[] = { { "hrtimer_wakeup", WAIT_END_TIMER },
                           { "blk_mq_end_request", WAIT_END_DISK },
                           { "process_backlog", WAIT_END_NETWORK },
                           { "nothing_known", WAIT_END_NETWORK } };
        struct thread_wait wait = { .is_woken = true, .below = 3, .stack = in_kernel("sk_wait_data") };
        uint32_t stacks[4];

        for (int i = 0; i < 4; i++)
                stacks[i] = push(push(0, kernel, "asm_common_interrupt"), kernel, interrupts[i].function);
        start();
        for (int i = 0; i < 4; i++) {
                wait.waker_stack = stacks[i];
                ck_assert_int_eq(find(&wait).kind, interrupts[i].kind);
                ck_assert_uint_eq(find(&wait).thread, 0);
        }
}
END_TEST

/* ------------------------------------------------------------------ by the functions of the kernel */

static const struct {
        const char *function;
        enum wait_end_kind kind;
} functions[] = {
        { "do_nanosleep", WAIT_END_TIMER },       { "hrtimer_nanosleep", WAIT_END_TIMER },
        { "do_sigtimedwait", WAIT_END_TIMER },    { "io_schedule", WAIT_END_DISK },
        { "blk_mq_get_tag", WAIT_END_DISK },      { "submit_bio_wait", WAIT_END_DISK },
        { "folio_wait_bit", WAIT_END_DISK },      { "jbd2_journal_commit", WAIT_END_DISK },
        { "__bread_gfp", WAIT_END_DISK },         { "wait_for_completion_io", WAIT_END_DISK },
        { "rq_qos_wait", WAIT_END_DISK },         { "btrfs_wait_ordered", WAIT_END_DISK },
        { "sk_wait_data", WAIT_END_NETWORK },     { "inet_csk_accept", WAIT_END_NETWORK },
        { "sk_stream_wait", WAIT_END_NETWORK },   { "tcp_recvmsg", WAIT_END_NETWORK },
        { "udp_recvmsg", WAIT_END_NETWORK },      { "__skb_wait_for_more_packets", WAIT_END_NETWORK },
        { "futex_wait_queue", WAIT_END_TIMER },   { "futex_do_wait", WAIT_END_TIMER },
        { "__futex_wait", WAIT_END_TIMER },       { "pipe_read", WAIT_END_UNKNOWN },
        { "unix_stream_recv", WAIT_END_UNKNOWN }, { "do_epoll_wait", WAIT_END_UNKNOWN },
        { "do_wait", WAIT_END_UNKNOWN },
};

/* Woken by an interrupt. */
START_LOOP_TEST(test_functions, 0, sizeof(functions) / sizeof(functions[0]))
{
        struct thread_wait wait = { .is_woken = true };

        wait.stack = in_kernel(functions[_i].function);
        start();
        ck_assert_int_eq(find(&wait).kind, functions[_i].kind);
        ck_assert(!wait_ends_is_lock(&ends, wait.stack));
}
END_TEST

/* Where no wake-up was recorded, a futex may have been ended by anything; a sleep ends by its timer. */
START_TEST(test_functions_without_a_wakeup)
{
        struct thread_wait wait = { .out_ns = 1 };
        uint32_t futex = in_kernel("futex_wait"), sleep = in_kernel("do_nanosleep");
        uint32_t disk = in_kernel("io_schedule");

        start();
        wait.stack = futex;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait.stack = sleep;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_TIMER);
        wait.stack = disk;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_DISK);
}
END_TEST

/* Functions of programs may be called anything. */
START_TEST(test_functions_of_programs)
{
        struct thread_wait wait = { .is_woken = true };
        uint32_t sleep = push(0, program, "do_nanosleep"), disk = push(sleep, libc, "ext4_read");

        wait.stack = push(push(disk, program, "tcp_read"), program, "futex_wait");
        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
}
END_TEST

/* The innermost functions are looked at: a deep stack takes no longer. */
START_TEST(test_deep_stack)
{
        struct thread_wait wait = { .is_woken = true };
        uint32_t outer = push(0, kernel, "do_nanosleep"), near;

        for (int i = 0; i < 30; i++)
                outer = push(outer, kernel, "other");
        near = outer;
        outer = push(outer, kernel, "other");
        start();
        wait.stack = near;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_TIMER);
        wait.stack = outer;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_TIMER);
        wait.stack = push(outer, kernel, "other"); /* and one that came later is not known */
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
}
END_TEST

/* Who sent a packet that was seen is taken for who sent the next one, too. */
START_TEST(test_sent_again)
{
        struct thread_wait wait = { .is_woken = true, .state = TRACE_WAIT_SLEEPING, .below = 3 };
        uint32_t send = push(push(0, kernel, "tcp_sendmsg"), kernel, "__local_bh_enable_ip"), sleep, timer;

        trace_builder_thread(&b, 10, 11);
        send = push(push(push(send, kernel, "do_softirq"), kernel, "process_backlog"), kernel, "tcp_v4_rcv");
        sleep = in_kernel("do_nanosleep");
        timer = push(push(0, kernel, "asm_sysvec_apic_timer_interrupt"), kernel, "hrtimer_wakeup");
        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait.waker_stack = send;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_THREAD);
        wait.waker_stack = 0;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_THREAD);
        ck_assert_uint_eq(find(&wait).thread, 3);
        ck_assert(find(&wait).is_sent);
        wait.below = 2; /* another one */
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait.below = 3;
        wait.stack = sleep; /* its place says what it waited for */
        ck_assert_int_eq(find(&wait).kind, WAIT_END_TIMER);
        wait.stack = 0;
        wait.waker_stack = timer;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_TIMER);
}
END_TEST

/* Where nothing but the state is known, an uninterruptible sleep is for the disk. */
START_TEST(test_state_alone)
{
        struct thread_wait wait = { .is_woken = true, .state = TRACE_WAIT_UNINTERRUPTIBLE };
        uint32_t place = in_kernel("msleep"), interrupt = push(0, kernel, "hrtimer_wakeup");

        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_DISK);
        wait.stack = place;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait.stack = 0;
        wait.waker_stack = interrupt;
        ck_assert_int_ne(find(&wait).kind, WAIT_END_DISK);
        wait.waker_stack = 0;
        wait.waker_name = 1;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_PROGRAM);
        wait.waker_name = 0;
        wait.is_woken = false;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait = (struct thread_wait){ .is_woken = true, .state = TRACE_WAIT_SLEEPING };
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
}
END_TEST

START_TEST(test_too_deep_stack)
{
        struct thread_wait wait = { .is_woken = true };

        wait.stack = push(0, kernel, "do_nanosleep");
        for (int i = 0; i < 32; i++)
                wait.stack = push(wait.stack, kernel, "other");
        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
}
END_TEST

START_TEST(test_no_symbols)
{
        struct thread_wait wait = { .is_woken = true };

        wait.stack = trace_builder_push(&b, 0, kernel, 0x9999, NULL);
        start();
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait.stack = 0;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
        wait.stack = UINT32_MAX;
        ck_assert_int_eq(find(&wait).kind, WAIT_END_UNKNOWN);
}
END_TEST

/* ------------------------------------------------------------------ locks */

static const struct {
        const char *function;
        bool is_kernel, is_lock;
} locks[] = {
        /* glibc's names on x86-64 and AArch64 */
        { "pthread_mutex_lock", false, true },
        { "__pthread_mutex_lock", false, true },
        { "___pthread_mutex_lock", false, true },
        { "__GI___pthread_mutex_lock", false, true },
        { "__lll_lock_wait", false, true },
        { "lll_mutex_lock_optimized", false, true },
        { "pthread_rwlock_wrlock", false, true },
        { "__pthread_rwlock_rdlock", false, true },
        { "___pthread_rwlock_rdlock", false, true },
        { "rwsem_down_write_slowpath", true, true },
        { "__mutex_lock_slowpath", true, true },
        { "__mutex_lock.constprop.0", true, true },
        { "down_read_killable", true, true },
        { "futex_lock_pi", true, true },
        /* no locks */
        { "pthread_cond_wait", false, false },
        { "__pthread_clockjoin_ex", false, false },
        { "futex_wait", true, false },
        /* those of the kernel, in a program, and the other way round */
        { "mutex_lock", false, false },
        { "down_read", false, false },
        { "pthread_mutex_lock", true, false },
};

START_LOOP_TEST(test_locks, 0, sizeof(locks) / sizeof(locks[0]))
{
        uint32_t stack = push(push(0, program, "main"), locks[_i].is_kernel ? kernel : libc,
                              locks[_i].function);

        stack = push(push(stack, kernel, "futex_wait"), kernel, "schedule");
        start();
        ck_assert(wait_ends_is_lock(&ends, stack) == locks[_i].is_lock);
        ck_assert(wait_ends_is_lock(&ends, stack) == locks[_i].is_lock);
        ck_assert(!wait_ends_is_lock(&ends, 0));
        ck_assert(!wait_ends_is_lock(&ends, UINT32_MAX));
}
END_TEST
