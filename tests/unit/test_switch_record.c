/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_record.c: a record of BPF becomes what it says; one whose lengths lie is
 * refused at every length
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_spec.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/switches/switch_record.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COPY_BYTES 40

static struct byte_buffer bytes;

static struct switch_record record;

static void teardown(void)
{
        byte_buffer_deinit(&bytes);
}

/* A switch from 10/11 to 20/21, with a stack if @flags say so. */
static void add_switch(struct byte_buffer *out, uint8_t flags, uint16_t state)
{
        struct switch_record_switch s = {
                .head = { .kind = SWITCH_RECORD_SWITCH, .flags = flags, .state = state, .time_ns = 1234 },
                .prev_pid = 10,
                .prev_tid = 11,
                .next_pid = 20,
                .next_tid = 21,
                .prev_ran_ns = 77,
                .idle_ns = 99,
        };

        s.head.n_bytes = sizeof(s) +
                         (flags & SWITCH_FLAG_STACK ? sizeof(struct switch_stack) + COPY_BYTES : 0);
        byte_buffer_add(out, &s, sizeof(s));
}

static void add_wakeup(struct byte_buffer *out, uint8_t flags)
{
        struct switch_record_wakeup w = {
                .head = { .kind = SWITCH_RECORD_WAKEUP, .flags = flags, .time_ns = 99 },
                .pid = 10,
                .tid = 11,
                .waker_pid = 20,
                .waker_tid = 21,
        };

        memset(w.waker_name, 'n', sizeof(w.waker_name)); /* without an end */
        w.head.n_bytes = sizeof(w) +
                         (flags & SWITCH_FLAG_STACK ? sizeof(struct switch_stack) + COPY_BYTES : 0);
        byte_buffer_add(out, &w, sizeof(w));
}

/* Each register of the kernel's struct is its place, from 100 on. */
static void add_stack(struct byte_buffer *out, uint32_t copy_bytes, uint32_t kernel_bytes)
{
        struct switch_stack stack = { .copy_bytes = copy_bytes,
                                      .kernel_bytes = kernel_bytes,
                                      .context = (uint64_t)SWITCH_CONTEXT_KERNEL };
        uint8_t copy[COPY_BYTES];

        for (size_t i = 0; i < SWITCH_REGISTERS_MAX; i++)
                stack.registers[i] = 100 + i;
        for (size_t i = 0; i < SWITCH_KERNEL_FRAMES; i++)
                stack.kernel[i] = UINT64_C(0xffffffff81000000) + i;
        memset(copy, 0x5a, sizeof(copy));
        byte_buffer_add(out, &stack, sizeof(stack));
        byte_buffer_add(out, copy, sizeof(copy));
}

static void decode(void)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(switch_record_decode(bytes.data, bytes.used_bytes, 3, &record, &err) == 0, "%s",
                      err.text);
}

START_TEST(test_a_switch_is_two_records)
{
        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_IN, 1);
        decode();
        ck_assert_uint_eq(record.n_records, 2);
        ck_assert_int_eq(record.records[0].kind, PERF_RECORD_KIND_SWITCH);
        ck_assert_uint_eq(record.records[0].pid, 10);
        ck_assert_uint_eq(record.records[0].tid, 11);
        ck_assert_uint_eq(record.records[0].cpu, 3);
        ck_assert_uint_eq(record.records[0].time_ns, 1234);
        ck_assert(record.records[0].context_switch.out);
        ck_assert(!record.records[0].context_switch.preempted);
        ck_assert_uint_eq(record.records[0].context_switch.wait, TRACE_WAIT_SLEEPING);
        ck_assert_uint_eq(record.records[0].context_switch.other_tid, 21);
        ck_assert(record.records[0].context_switch.is_other_known);
        ck_assert_uint_eq(record.records[0].context_switch.ran_ns, 77);
        ck_assert_ptr_null(record.records[0].context_switch.stack.chain);
        ck_assert_int_eq(record.records[1].kind, PERF_RECORD_KIND_SWITCH);
        ck_assert_uint_eq(record.records[1].pid, 20);
        ck_assert_uint_eq(record.records[1].tid, 21);
        ck_assert(!record.records[1].context_switch.out);
        ck_assert_uint_eq(record.records[1].context_switch.other_pid, 10);
        ck_assert_uint_eq(record.records[0].context_switch.idle_ns, 0);
        ck_assert_uint_eq(record.records[1].context_switch.idle_ns, 99);
}
END_TEST

START_TEST(test_who_left_unseen_comes_first)
{
        struct switch_record_switch s = {
                .head = { .n_bytes = sizeof(s),
                          .kind = SWITCH_RECORD_SWITCH,
                          .flags = SWITCH_FLAG_OUT | SWITCH_FLAG_IN,
                          .state = 1,
                          .time_ns = 1234 },
                .prev_pid = 10,
                .prev_tid = 11,
                .next_pid = 20,
                .next_tid = 21,
                .prev_ran_ns = 77,
                .gone_pid = 30,
                .gone_tid = 31,
                .gone_ran_ns = 5,
        };

        byte_buffer_add(&bytes, &s, sizeof(s));
        decode();
        ck_assert_uint_eq(record.n_records, 3);
        ck_assert_uint_eq(record.records[0].pid, 30);
        ck_assert_uint_eq(record.records[0].tid, 31);
        ck_assert(record.records[0].context_switch.out && record.records[0].context_switch.unseen);
        ck_assert_uint_eq(record.records[0].context_switch.ran_ns, 5);
        ck_assert_uint_eq(record.records[0].context_switch.other_ran_ns, 77);
        ck_assert_uint_eq(record.records[1].tid, 11);
        ck_assert(!record.records[1].context_switch.unseen);
        ck_assert_uint_eq(record.records[2].tid, 21);
}
END_TEST

START_TEST(test_only_what_is_wanted_comes_out)
{
        add_switch(&bytes, SWITCH_FLAG_IN, 2);
        decode();
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_uint_eq(record.records[0].tid, 21);
        byte_buffer_clear(&bytes);
        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_PREEMPTED | SWITCH_FLAG_SAME_STACK, 0);
        decode();
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert(record.records[0].context_switch.preempted);
        ck_assert(record.records[0].context_switch.same_stack);
        ck_assert_uint_eq(record.records[0].context_switch.wait, TRACE_WAIT_PREEMPTED);
}
END_TEST

static const struct {
        uint32_t state;
        uint8_t wait;
} waits[] = {
        { 0x0001, TRACE_WAIT_SLEEPING },
        { 0x0002, TRACE_WAIT_UNINTERRUPTIBLE },
        { 0x0102, TRACE_WAIT_UNINTERRUPTIBLE },
        { 0x0004, TRACE_WAIT_STOPPED },
        { 0x0008, TRACE_WAIT_STOPPED },
        { 0x0010, TRACE_WAIT_ENDED },
        { 0x0020, TRACE_WAIT_ENDED },
        { 0x0080, TRACE_WAIT_ENDED },
        { 0x0402, TRACE_WAIT_IDLE },
        { 0x0040, TRACE_WAIT_IDLE },
        { 0x2001, TRACE_WAIT_SLEEPING },
        { 0x0800, TRACE_WAIT_UNKNOWN },
};

START_LOOP_TEST(test_the_kernels_state_says_why, 0, sizeof(waits) / sizeof(waits[0]))
{
        ck_assert_uint_eq(switch_record_wait(waits[_i].state, false), waits[_i].wait);
        ck_assert_uint_eq(switch_record_wait(waits[_i].state, true), TRACE_WAIT_PREEMPTED);
}
END_TEST

START_TEST(test_a_wakeup_names_the_waker)
{
        add_wakeup(&bytes, 0);
        decode();
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_int_eq(record.records[0].kind, PERF_RECORD_KIND_WAKEUP);
        ck_assert_uint_eq(record.records[0].pid, 10);
        ck_assert_uint_eq(record.records[0].tid, 11);
        ck_assert_uint_eq(record.records[0].wakeup.waker_pid, 20);
        ck_assert_uint_eq(record.records[0].wakeup.waker_tid, 21);
        ck_assert_str_eq(record.records[0].wakeup.waker_name, "nnnnnnnnnnnnnnn");
        ck_assert(!record.records[0].wakeup.by_interrupt);
}
END_TEST

/* It names who was interrupted, and its stack is the kernel's alone. */
START_TEST(test_an_interrupt_wakes)
{
        const struct perf_record *rec = &record.records[0];

        add_wakeup(&bytes, SWITCH_FLAG_INTERRUPT | SWITCH_FLAG_STACK);
        add_stack(&bytes, COPY_BYTES, 16);
        decode();
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_int_eq(rec->kind, PERF_RECORD_KIND_WAKEUP);
        ck_assert(rec->wakeup.by_interrupt && !rec->wakeup.same_stack);
        ck_assert_uint_eq(rec->wakeup.waker_pid, 20);
        ck_assert_uint_eq(rec->wakeup.waker_tid, 21);
        ck_assert_uint_eq(rec->wakeup.stack.n_chain, 3);
        byte_buffer_clear(&bytes);
        add_wakeup(&bytes, SWITCH_FLAG_INTERRUPT | SWITCH_FLAG_SAME_STACK);
        decode();
        ck_assert(rec->wakeup.by_interrupt && rec->wakeup.same_stack);
}
END_TEST

static void expect_stack(const struct raw_stack *stack, bool is_full)
{
        const struct unwind_machine *machine = unwind_machine_own();
        struct unwind_registers registers;
        uint64_t words[3];

        ck_assert(stack->in_kernel);
        ck_assert_uint_eq(stack->n_chain, 3);
        memcpy(words, stack->chain, sizeof(words));
        ck_assert_uint_eq(words[0], (uint64_t)SWITCH_CONTEXT_KERNEL);
        ck_assert_uint_eq(words[2], UINT64_C(0xffffffff81000001));
        ck_assert_uint_eq(stack->copy_bytes, COPY_BYTES);
        ck_assert_uint_eq(stack->copy[COPY_BYTES - 1], 0x5a);
        ck_assert(stack->copy_is_full == is_full);
        if (!machine)
                return;
        ck_assert(unwind_registers_decode(machine, machine->perf_registers, stack->registers,
                                          stack->registers_bytes, &registers));
#if defined(__x86_64__)
        ck_assert_uint_eq(registers.pc, 100 + 16);
        ck_assert_uint_eq(registers.values[7], 100 + 19); /* sp */
        ck_assert_uint_eq(registers.values[6], 100 + 4);  /* bp */
        ck_assert_uint_eq(registers.values[0], 100 + 10); /* ax */
        ck_assert_uint_eq(registers.values[3], 100 + 5);  /* bx */
        ck_assert_uint_eq(registers.values[8], 100 + 9);  /* r8 */
        ck_assert_uint_eq(registers.values[15], 100 + 0); /* r15 */
#endif
}

START_TEST(test_stacks_are_found)
{
        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_STACK | SWITCH_FLAG_COPY_FULL, 1);
        add_stack(&bytes, COPY_BYTES, 16);
        decode();
        expect_stack(&record.records[0].context_switch.stack, true);
        byte_buffer_clear(&bytes);
        add_wakeup(&bytes, SWITCH_FLAG_STACK);
        add_stack(&bytes, COPY_BYTES, 16);
        decode();
        expect_stack(&record.records[0].wakeup.stack, false);
}
END_TEST

START_TEST(test_frames_join_the_kernels)
{
        uint64_t chain[4 + COPY_BYTES / 8];

        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_STACK | SWITCH_FLAG_FRAMES, 1);
        add_stack(&bytes, COPY_BYTES, 16);
        decode();
        ck_assert_uint_eq(record.records[0].context_switch.stack.n_chain, 4 + COPY_BYTES / 8);
        memcpy(chain, record.records[0].context_switch.stack.chain, sizeof(chain));
        ck_assert_uint_eq(chain[0], (uint64_t)SWITCH_CONTEXT_KERNEL);
        ck_assert_uint_eq(chain[2], UINT64_C(0xffffffff81000001));
        ck_assert_uint_eq(chain[3], (uint64_t)-512); /* PERF_CONTEXT_USER */
        ck_assert_uint_eq(chain[4], UINT64_C(0x5a5a5a5a5a5a5a5a));
        ck_assert_ptr_null(record.records[0].context_switch.stack.registers);
        ck_assert_ptr_null(record.records[0].context_switch.stack.copy);
}
END_TEST

/* A record that was cut; the bytes after it cannot be read. */
START_LOOP_TEST(test_every_cut_is_refused, 0,
                sizeof(struct switch_record_switch) + sizeof(struct switch_stack) + COPY_BYTES)
{
        size_t n_bytes = (size_t)_i;
        uint32_t told = (uint32_t)n_bytes;
        uint8_t *cut;

        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_IN | SWITCH_FLAG_STACK, 1);
        add_stack(&bytes, COPY_BYTES, 16);
        ck_assert_uint_lt(n_bytes, bytes.used_bytes);
        cut = malloc(n_bytes ? n_bytes : 1);
        ck_assert_ptr_nonnull(cut);
        memcpy(cut, bytes.data, n_bytes);
        ck_assert_int_eq(switch_record_decode(cut, n_bytes, 0, &record, NULL), -EBADMSG);
        if (n_bytes >= sizeof(told)) {
                memcpy(cut, &told, sizeof(told)); /* it even agrees */
                ck_assert_int_eq(switch_record_decode(cut, n_bytes, 0, &record, NULL), -EBADMSG);
        }
        free(cut);
}
END_TEST

static const struct {
        uint32_t copy_bytes, kernel_bytes;
} lies[] = { { COPY_BYTES + 1, 16 },
             { UINT32_MAX, 16 },
             { COPY_BYTES, SWITCH_KERNEL_FRAMES * 8 + 8 },
             { COPY_BYTES, UINT32_MAX } };

START_LOOP_TEST(test_lengths_that_lie_are_refused, 0, sizeof(lies) / sizeof(lies[0]))
{
        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_STACK, 1);
        add_stack(&bytes, lies[_i].copy_bytes, lies[_i].kernel_bytes);
        ck_assert_int_eq(switch_record_decode(bytes.data, bytes.used_bytes, 0, &record, NULL), -EBADMSG);
}
END_TEST

START_TEST(test_a_number_in_a_namespace)
{
        struct switch_record_number n = {
                .head = { .n_bytes = sizeof(n), .kind = SWITCH_RECORD_NUMBER, .time_ns = 7 },
                .pid = 10,
                .tid = 11,
                .own_tid = 2,
                .parent_tid = 10
        };

        ck_assert_int_eq(switch_record_decode((const uint8_t *)&n, sizeof(n), 2, &record, NULL), 0);
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_int_eq(record.records[0].kind, PERF_RECORD_KIND_NUMBER);
        ck_assert_uint_eq(record.records[0].pid, 10);
        ck_assert_uint_eq(record.records[0].tid, 11);
        ck_assert_uint_eq(record.records[0].number.own_tid, 2);
        ck_assert_uint_eq(record.records[0].number.parent_tid, 10);
        n.head.n_bytes--;
        ck_assert_int_eq(switch_record_decode((const uint8_t *)&n, sizeof(n) - 1, 2, &record, NULL),
                         -EBADMSG);
}
END_TEST

START_TEST(test_the_stack_of_a_long_wait_comes_later)
{
        struct switch_record_late l = {
                .head = { .kind = SWITCH_RECORD_LATE, .flags = SWITCH_FLAG_STACK, .time_ns = 5000 },
                .pid = 10,
                .tid = 11,
        };
        const struct perf_record *rec = &record.records[0];

        l.head.n_bytes = sizeof(l) + sizeof(struct switch_stack) + COPY_BYTES;
        byte_buffer_add(&bytes, &l, sizeof(l));
        add_stack(&bytes, COPY_BYTES, 2 * sizeof(uint64_t));
        decode();
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_int_eq(rec->kind, PERF_RECORD_KIND_LATE);
        ck_assert_uint_eq(rec->pid, 10);
        ck_assert_uint_eq(rec->tid, 11);
        ck_assert_uint_eq(rec->time_ns, 5000);
        ck_assert_uint_eq(rec->late_stack.copy_bytes, COPY_BYTES);
        ck_assert_uint_eq(rec->late_stack.n_chain, 3);
        for (size_t n = 0; n < bytes.used_bytes; n++)
                ck_assert_int_eq(switch_record_decode(bytes.data, n, 3, &record, NULL), -EBADMSG);
}
END_TEST

START_TEST(test_a_system_call_has_its_number_and_stack)
{
        struct switch_record_syscall c = {
                .head = { .kind = SWITCH_RECORD_SYSCALL, .flags = SWITCH_FLAG_STACK, .time_ns = 6000 },
                .pid = 10,
                .tid = 11,
                .number = 513,
                .n_calls = 77,
        };
        const struct perf_record *rec = &record.records[0];

        c.head.n_bytes = sizeof(c) + sizeof(struct switch_stack) + COPY_BYTES;
        byte_buffer_add(&bytes, &c, sizeof(c));
        add_stack(&bytes, COPY_BYTES, 0);
        decode();
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_int_eq(rec->kind, PERF_RECORD_KIND_SYSCALL);
        ck_assert_uint_eq(rec->pid, 10);
        ck_assert_uint_eq(rec->tid, 11);
        ck_assert_uint_eq(rec->sample.number, 513);
        ck_assert_uint_eq(rec->sample.period, 77);
        ck_assert_uint_eq(rec->sample.stack.copy_bytes, COPY_BYTES);
        ck_assert(!rec->sample.stack.in_kernel);
        for (size_t n = 0; n < bytes.used_bytes; n++)
                ck_assert_int_eq(switch_record_decode(bytes.data, n, 3, &record, NULL), -EBADMSG);
}
END_TEST

START_TEST(test_a_wait_for_the_lock_of_python)
{
        struct switch_record_gil g = {
                .head = { .n_bytes = sizeof(g), .kind = SWITCH_RECORD_GIL, .time_ns = 7 },
                .pid = 10,
                .tid = 11,
                .gil_avma = 0x1000,
                .n_switches = 12,
                .interval_us = 5000,
                .holder_tid = 13
        };

        ck_assert_int_eq(switch_record_decode((const uint8_t *)&g, sizeof(g), 2, &record, NULL), 0);
        ck_assert_uint_eq(record.n_records, 1);
        ck_assert_int_eq(record.records[0].kind, PERF_RECORD_KIND_GIL);
        ck_assert_uint_eq(record.records[0].tid, 11);
        ck_assert_uint_eq(record.records[0].time_ns, 7);
        ck_assert_uint_eq(record.records[0].gil.n_switches, 12);
        ck_assert_uint_eq(record.records[0].gil.interval_ns, 5000000);
        ck_assert_uint_eq(record.records[0].gil.holder_tid, 13);
        g.interval_us = UINT64_MAX; /* the program's memory may say anything */
        ck_assert_int_eq(switch_record_decode((const uint8_t *)&g, sizeof(g), 2, &record, NULL), 0);
        ck_assert_uint_eq(record.records[0].gil.interval_ns, UINT64_C(1000000000));
        g.head.n_bytes--;
        ck_assert_int_eq(switch_record_decode((const uint8_t *)&g, sizeof(g) - 1, 2, &record, NULL),
                         -EBADMSG);
}
END_TEST

START_TEST(test_an_unknown_kind_is_refused)
{
        struct switch_record_switch s = { .head = { .n_bytes = sizeof(s), .kind = 77 } };

        ck_assert_int_eq(switch_record_decode((const uint8_t *)&s, sizeof(s), 0, &record, NULL), -EBADMSG);
}
END_TEST

/* No user's registers: all are 0. */
START_TEST(test_a_thread_of_the_kernels_has_no_registers)
{
        struct switch_stack stack = { .kernel_bytes = 8, .context = (uint64_t)SWITCH_CONTEXT_KERNEL };
        const uint8_t nothing[COPY_BYTES] = { 0 };

        add_switch(&bytes, SWITCH_FLAG_OUT | SWITCH_FLAG_STACK, 0x402);
        byte_buffer_add(&bytes, &stack, sizeof(stack));
        byte_buffer_add(&bytes, nothing, sizeof(nothing));
        decode();
        ck_assert_ptr_null(record.records[0].context_switch.stack.registers);
        ck_assert_ptr_null(record.records[0].context_switch.stack.copy);
        ck_assert_uint_eq(record.records[0].context_switch.stack.n_chain, 2);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
