/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/interrupt_kind.c: the kernel's functions of three machines say what woke a thread; who sent a
 * packet is the waker only without an interrupt between
 */
#include "analyze/waits/interrupt_kind.h"

#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct trace_builder b;
static struct interrupt_kinds kinds;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        interrupt_kinds_deinit(&kinds);
        trace_builder_deinit(&b);
}

#define WAKE    "try_to_wake_up default_wake_function __wake_up_common sock_def_readable "
#define SLEEPER "try_to_wake_up hrtimer_wakeup __hrtimer_run_queues hrtimer_interrupt "
#define PACKET  WAKE "tcp_rcv_established tcp_v4_do_rcv tcp_v4_rcv ip_local_deliver_finish ip_rcv "
#define QUEUED \
        PACKET "__netif_receive_skb_one_core process_backlog __napi_poll net_rx_action handle_softirqs "
#define SENT \
        "__local_bh_enable_ip __dev_queue_xmit ip_finish_output2 __ip_queue_xmit tcp_write_xmit tcp_sendmsg "
#define BLOCK "try_to_wake_up bio_endio blk_mq_end_request virtblk_done vring_interrupt "
#define X86   "common_interrupt asm_common_interrupt "
#define ARM \
        "gic_handle_irq call_on_irq_stack do_interrupt_handler el1_interrupt el1h_64_irq_handler el1h_64_irq "
#define RISCV \
        "generic_handle_domain_irq riscv_intc_irq handle_riscv_irq call_on_irq_stack do_irq handle_exception "

/* Stacks of wake-ups, innermost first. */
static const struct {
        const char *functions;
        enum interrupt_kind kind;
} stacks[] = {
        /* timers */
        { SLEEPER "__sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt asm_sysvec_apic_timer_interrupt",
          INTERRUPT_TIMER },
        { SLEEPER "arch_timer_handler_virt handle_percpu_devid_irq generic_handle_domain_irq " ARM,
          INTERRUPT_TIMER },
        { SLEEPER "riscv_timer_interrupt handle_percpu_devid_irq " RISCV, INTERRUPT_TIMER },
        { "try_to_wake_up process_timeout call_timer_fn __run_timers run_timer_softirq handle_softirqs irq_exit_rcu " X86,
          INTERRUPT_TIMER },
        /* disks */
        { BLOCK "__handle_irq_event_percpu handle_edge_irq " X86, INTERRUPT_DISK },
        { BLOCK "handle_fasteoi_irq generic_handle_domain_irq " ARM, INTERRUPT_DISK },
        { BLOCK "__handle_irq_event_percpu " RISCV, INTERRUPT_DISK },
        { "try_to_wake_up folio_end_writeback blk_update_request nvme_complete_rq blk_done_softirq handle_softirqs "
          "irq_exit_rcu " X86,
          INTERRUPT_DISK },
        /* packets of other machines */
        { PACKET "virtnet_poll net_rx_action handle_softirqs irq_exit_rcu " X86, INTERRUPT_NETWORK },
        { PACKET
          "virtnet_poll net_rx_action handle_softirqs ____do_softirq call_on_irq_stack irq_exit_rcu " ARM,
          INTERRUPT_NETWORK },
        { PACKET "virtnet_poll net_rx_action handle_softirqs __irq_exit_rcu " RISCV, INTERRUPT_NETWORK },
        /* packets of this machine, in the call that sends them */
        { QUEUED "do_softirq.part.0 " SENT "sock_write_iter vfs_write ksys_write do_syscall_64",
          INTERRUPT_SENDER },
        { QUEUED "____do_softirq call_on_irq_stack do_softirq_own_stack do_softirq " SENT
                 "__sys_sendto __arm64_sys_sendto invoke_syscall el0_svc el0t_64_sync",
          INTERRUPT_SENDER },
        { QUEUED "____do_softirq call_on_irq_stack do_softirq_own_stack do_softirq " SENT
                 "__sys_sendto do_trap_ecall_u handle_exception",
          INTERRUPT_SENDER },
        /* an acknowledgement, which wakes who could not send */
        { QUEUED
          "do_softirq __local_bh_enable_ip __dev_queue_xmit ip_output __tcp_send_ack tcp_recvmsg_locked tcp_recvmsg",
          INTERRUPT_SENDER },
        /* ... and where one sender is only what an interrupt came into */
        { QUEUED "do_softirq irq_exit_rcu sysvec_apic_timer_interrupt asm_sysvec_apic_timer_interrupt " SENT,
          INTERRUPT_NETWORK },
        { SLEEPER
          "asm_sysvec_apic_timer_interrupt tcp_v4_rcv process_backlog net_rx_action handle_softirqs do_softirq " SENT,
          INTERRUPT_TIMER },
        /* a packet of another machine that is taken in where a thread sends to it */
        { PACKET "virtnet_poll net_rx_action handle_softirqs do_softirq " SENT, INTERRUPT_NETWORK },
        /* nothing is sent: the softirq was left over */
        { QUEUED "do_softirq __local_bh_enable_ip fpregs_unlock do_syscall_64", INTERRUPT_NETWORK },
        { QUEUED "run_ksoftirqd smpboot_thread_fn kthread ret_from_fork", INTERRUPT_NETWORK },
        /* other devices, the kernel itself, nothing that is known */
        { "try_to_wake_up complete usb_hcd_giveback_urb xhci_irq __handle_irq_event_percpu " X86,
          INTERRUPT_OTHER },
        { "try_to_wake_up wakeme_after_rcu rcu_core handle_softirqs run_ksoftirqd kthread", INTERRUPT_OTHER },
        { "try_to_wake_up futex_wake do_futex do_syscall_64", INTERRUPT_UNKNOWN },
        { "? ? ?", INTERRUPT_UNKNOWN },
};

/* A stack of these functions, innermost first. */
static uint32_t add_stack(uint32_t module, const char *functions)
{
        char words[800], *names[64], *rest = words;
        uint32_t stack = 0;
        size_t n = 0;

        ck_assert_uint_lt(strlen(functions), sizeof(words));
        (void)snprintf(words, sizeof(words), "%s", functions);
        while (n < 64 && (names[n] = strtok_r(rest, " ", &rest)) != NULL)
                n++;
        ck_assert_uint_lt(n, 64);
        while (n-- > 0) {
                static uint64_t offset;
                uint32_t frame = trace_builder_frame(&b, module, offset += 16);

                trace_builder_symbol(&b, frame, names[n], 0);
                stack = trace_builder_stack(&b, stack, frame);
        }
        return stack;
}

static void find_names(void)
{
        ck_assert_int_eq(interrupt_kinds_init(&kinds, &b.dictionary), 0);
}

/* loop test: also the second time, when it is remembered */
START_LOOP_TEST(each_stack_says_what_it_is, 0, sizeof(stacks) / sizeof(stacks[0]))
{
        uint32_t module = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        uint32_t stack = add_stack(module, stacks[_i].functions);

        find_names();
        for (int again = 0; again < 2; again++)
                ck_assert_msg(interrupt_kinds_find(&kinds, stack) == stacks[_i].kind, "%s: %u, wanted %u",
                              stacks[_i].functions, (unsigned)interrupt_kinds_find(&kinds, stack),
                              (unsigned)stacks[_i].kind);
}
END_TEST

/* The functions of a program say nothing, nor do a stack that does not exist and one without names. */
START_TEST(only_the_kernel_says_it)
{
        uint32_t program = trace_builder_module(&b, "/bin/p");
        uint32_t kernel = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        uint32_t bare = trace_builder_stack(&b, 0, trace_builder_frame(&b, kernel, 8));
        uint32_t own = add_stack(program, SLEEPER X86);

        find_names();
        ck_assert_int_eq(interrupt_kinds_find(&kinds, own), INTERRUPT_UNKNOWN);
        ck_assert_int_eq(interrupt_kinds_find(&kinds, bare), INTERRUPT_UNKNOWN);
        ck_assert_int_eq(interrupt_kinds_find(&kinds, 0), INTERRUPT_UNKNOWN);
        ck_assert_int_eq(interrupt_kinds_find(&kinds, own + 1000), INTERRUPT_UNKNOWN);
}
END_TEST

static void expect_send(uint32_t stack, const char *function)
{
        uint32_t frame = interrupt_kinds_find_send(&kinds, stack);
        const struct trace_symbol *symbol;

        ck_assert_int_eq(frame != 0, function != NULL);
        if (frame == 0)
                return;
        symbol = trace_dictionary_row(&b.dictionary, TRACE_TABLE_SYMBOLS, kinds.first_symbols[frame]);
        ck_assert(text_view_is(trace_dictionary_text(&b.dictionary, symbol->function), function));
}

START_TEST(the_call_that_sends)
{
        uint32_t module = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        uint32_t written = add_stack(module, QUEUED "do_softirq " SENT "sock_write_iter ksys_write");
        uint32_t sent = add_stack(module, QUEUED "do_softirq " SENT "__sys_sendto do_syscall_64");
        uint32_t slept = add_stack(module, SLEEPER X86);

        find_names();
        expect_send(written, "tcp_sendmsg");
        expect_send(sent, "__sys_sendto");
        expect_send(slept, NULL);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
