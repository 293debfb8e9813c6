/* SPDX-License-Identifier: MIT */
#include "sampler/switches/switch_record.h"

#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_spec.h"
#include "sampler/bpf/switch_layout.h"
#include "unwind/unwind_machine.h"

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Bits of a task's state that the kernel has not changed since Linux 4.14. */
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED         0x0004
#define TASK_TRACED          0x0008
#define TASK_ENDED           (0x0010 | 0x0020 | 0x0080)
#define TASK_PARKED          0x0040
#define TASK_NOLOAD          0x0400 /* together with UNINTERRUPTIBLE: an idle thread of the kernel's */

_Static_assert(SWITCH_RECORD_WORDS_MAX >= SWITCH_REGISTERS_MAX, "all machines' registers");
_Static_assert(SWITCH_RECORD_CHAIN_MAX >= 2 + SWITCH_KERNEL_FRAMES + SWITCH_USER_FRAMES,
               "both parts of a chain");

/* The words of struct pt_regs in the order of perf; other machines have the same order. */
static const uint8_t x86_64_perf_order[] = {
        10, 5, 11, 12, 13, 14, 4, 19, 16, /* ax bx cx dx si di bp sp ip */
        9,  8, 7,  6,  3,  2,  1, 0       /* r8 .. r15 */
};

uint8_t switch_record_wait(uint32_t state, bool preempted)
{
        if (preempted)
                return TRACE_WAIT_PREEMPTED;
        if (state & TASK_ENDED)
                return TRACE_WAIT_ENDED;
        if (state & (TASK_STOPPED | TASK_TRACED))
                return TRACE_WAIT_STOPPED;
        if (state & TASK_PARKED || (state & TASK_UNINTERRUPTIBLE && state & TASK_NOLOAD))
                return TRACE_WAIT_IDLE;
        if (state & TASK_UNINTERRUPTIBLE)
                return TRACE_WAIT_UNINTERRUPTIBLE;
        return state & TASK_INTERRUPTIBLE ? TRACE_WAIT_SLEEPING : TRACE_WAIT_UNKNOWN;
}

/* Puts the user's registers into the order of perf.  A thread of the kernel's has none. */
static void order_registers(const struct switch_stack *from, bool is_32_bit, struct switch_record *record,
                            struct raw_stack *stack)
{
        const struct unwind_machine *machine = unwind_machine_own();
        size_t n_words, i = 0;

        while (i < SWITCH_REGISTERS_MAX && from->registers[i] == 0)
                i++;
        if (!machine || i == SWITCH_REGISTERS_MAX)
                return;
        n_words = (size_t)__builtin_popcountll(machine->perf_registers);
        for (i = 0; i < n_words && i < SWITCH_REGISTERS_MAX; i++)
                record->registers[i] =
                        from->registers[machine->elf_machine == EM_X86_64 ? x86_64_perf_order[i] : i];
        stack->registers = (const uint8_t *)record->registers;
        stack->registers_bytes = n_words * sizeof(uint64_t);
        stack->is_32_bit = is_32_bit;
}

/* Joins the kernel's and the user's frames into one call chain, as perf does. */
static void join_frames(const struct switch_stack *kernel, const uint8_t *frames,
                        struct switch_record *record, struct raw_stack *stack)
{
        size_t n_kernel = kernel->kernel_bytes / sizeof(uint64_t);
        size_t n_user = kernel->copy_bytes / sizeof(uint64_t);

        record->chain[0] = kernel->context;
        memcpy(record->chain + 1, kernel->kernel, n_kernel * sizeof(uint64_t));
        record->chain[1 + n_kernel] = (uint64_t)PERF_CONTEXT_USER;
        if (n_user > SWITCH_USER_FRAMES)
                n_user = SWITCH_USER_FRAMES;
        memcpy(record->chain + 2 + n_kernel, frames, n_user * sizeof(uint64_t));
        stack->chain = (const uint8_t *)record->chain;
        stack->n_chain = 2 + n_kernel + n_user;
}

static void decode_stack(struct byte_reader *r, uint8_t flags, struct switch_record *record,
                         struct raw_stack *ret_stack)
{
        const uint8_t *at = bytes_take(r, sizeof(struct switch_stack));
        struct switch_stack fixed;
        const uint8_t *copy;

        if (!at)
                return;
        memcpy(&fixed, at, sizeof(fixed));
        copy = bytes_take(r, fixed.copy_bytes);
        if (!copy || fixed.kernel_bytes > sizeof(fixed.kernel)) {
                r->short_read = true;
                return;
        }
        if (fixed.kernel_bytes > 0) {
                ret_stack->in_kernel = true;
                ret_stack->ip_avma = fixed.kernel[0];
                ret_stack->chain = at + offsetof(struct switch_stack, context);
                ret_stack->n_chain = 1 + fixed.kernel_bytes / sizeof(uint64_t);
        }
        if (flags & SWITCH_FLAG_FRAMES) {
                join_frames(&fixed, copy, record, ret_stack);
                return;
        }
        if (fixed.copy_bytes > 0) {
                ret_stack->copy = copy;
                ret_stack->copy_bytes = fixed.copy_bytes;
                ret_stack->copy_is_full = (flags & SWITCH_FLAG_COPY_FULL) != 0;
        }
        order_registers(&fixed, (flags & SWITCH_FLAG_32_BIT) != 0, record, ret_stack);
}

static struct perf_record *add_record(struct switch_record *record, enum perf_record_kind kind,
                                      const struct switch_record_head *head, uint32_t cpu)
{
        struct perf_record *rec = &record->records[record->n_records++];

        memset(rec, 0, sizeof(*rec));
        rec->kind = kind;
        rec->time_ns = head->time_ns;
        rec->cpu = cpu;
        return rec;
}

/* Copies the fixed part of a record; false if the record is too short. */
static bool take_raw(struct byte_reader *r, void *to, size_t n_bytes)
{
        const uint8_t *at = bytes_take(r, n_bytes);

        if (at)
                memcpy(to, at, n_bytes);
        return at != NULL;
}

static void decode_switch(struct byte_reader *r, uint32_t cpu, struct switch_record *record)
{
        struct switch_record_switch s;
        struct perf_record *rec;

        if (!take_raw(r, &s, sizeof(s)))
                return;
        if (s.gone_tid != 0) {
                rec = add_record(record, PERF_RECORD_KIND_SWITCH, &s.head, cpu);
                rec->pid = s.gone_pid;
                rec->tid = s.gone_tid;
                rec->context_switch.out = rec->context_switch.unseen = true;
                rec->context_switch.ran_ns = s.gone_ran_ns;
                rec->context_switch.other_ran_ns = s.prev_ran_ns;
        }
        if (s.head.flags & SWITCH_FLAG_OUT) {
                rec = add_record(record, PERF_RECORD_KIND_SWITCH, &s.head, cpu);
                rec->pid = s.prev_pid;
                rec->tid = s.prev_tid;
                rec->context_switch.out = true;
                rec->context_switch.preempted = (s.head.flags & SWITCH_FLAG_PREEMPTED) != 0;
                rec->context_switch.wait = switch_record_wait(s.head.state, rec->context_switch.preempted);
                rec->context_switch.same_stack = (s.head.flags & SWITCH_FLAG_SAME_STACK) != 0;
                rec->context_switch.other_pid = s.next_pid;
                rec->context_switch.other_tid = s.next_tid;
                rec->context_switch.is_other_known = true;
                rec->context_switch.ran_ns = s.prev_ran_ns;
                if (s.head.flags & SWITCH_FLAG_STACK)
                        decode_stack(r, s.head.flags, record, &rec->context_switch.stack);
        }
        if (s.head.flags & SWITCH_FLAG_IN) {
                rec = add_record(record, PERF_RECORD_KIND_SWITCH, &s.head, cpu);
                rec->pid = s.next_pid;
                rec->tid = s.next_tid;
                rec->context_switch.idle_ns = s.idle_ns;
                rec->context_switch.other_pid = s.prev_pid;
                rec->context_switch.other_tid = s.prev_tid;
                rec->context_switch.is_other_known = true;
        }
}

static void decode_wakeup(struct byte_reader *r, uint32_t cpu, struct switch_record *record)
{
        struct switch_record_wakeup w;
        struct perf_record *rec;

        if (!take_raw(r, &w, sizeof(w)))
                return;
        rec = add_record(record, PERF_RECORD_KIND_WAKEUP, &w.head, cpu);
        rec->pid = w.pid;
        rec->tid = w.tid;
        rec->wakeup.waker_pid = w.waker_pid;
        rec->wakeup.waker_tid = w.waker_tid;
        rec->wakeup.by_interrupt = (w.head.flags & SWITCH_FLAG_INTERRUPT) != 0;
        rec->wakeup.same_stack = (w.head.flags & SWITCH_FLAG_SAME_STACK) != 0;
        memcpy(rec->wakeup.waker_name, w.waker_name, sizeof(w.waker_name));
        rec->wakeup.waker_name[sizeof(rec->wakeup.waker_name) - 1] = '\0';
        if (w.head.flags & SWITCH_FLAG_STACK)
                decode_stack(r, w.head.flags, record, &rec->wakeup.stack);
}

#define GIL_INTERVAL_US_MAX UINT64_C(1000000) /* the value is hostile */

static void decode_gil(struct byte_reader *r, uint32_t cpu, struct switch_record *record)
{
        struct switch_record_gil g;
        struct perf_record *rec;

        if (!take_raw(r, &g, sizeof(g)))
                return;
        rec = add_record(record, PERF_RECORD_KIND_GIL, &g.head, cpu);
        rec->pid = g.pid;
        rec->tid = g.tid;
        rec->gil.avma = g.gil_avma;
        rec->gil.n_switches = g.n_switches;
        rec->gil.interval_ns = (g.interval_us < GIL_INTERVAL_US_MAX ? g.interval_us : GIL_INTERVAL_US_MAX) *
                               UINT64_C(1000);
        rec->gil.holder_tid = g.holder_tid;
}

static void decode_late(struct byte_reader *r, uint32_t cpu, struct switch_record *record)
{
        struct switch_record_late l;
        struct perf_record *rec;

        if (!take_raw(r, &l, sizeof(l)))
                return;
        rec = add_record(record, PERF_RECORD_KIND_LATE, &l.head, cpu);
        rec->pid = l.pid;
        rec->tid = l.tid;
        if (l.head.flags & SWITCH_FLAG_STACK)
                decode_stack(r, l.head.flags, record, &rec->late_stack);
}

static void decode_number(struct byte_reader *r, uint32_t cpu, struct switch_record *record)
{
        struct switch_record_number n;
        struct perf_record *rec;

        if (!take_raw(r, &n, sizeof(n)))
                return;
        rec = add_record(record, PERF_RECORD_KIND_NUMBER, &n.head, cpu);
        rec->pid = n.pid;
        rec->tid = n.tid;
        rec->number.own_tid = n.own_tid;
        rec->number.parent_tid = n.parent_tid;
}

static void decode_syscall(struct byte_reader *r, uint32_t cpu, struct switch_record *record)
{
        struct switch_record_syscall c;
        struct perf_record *rec;

        if (!take_raw(r, &c, sizeof(c)))
                return;
        rec = add_record(record, PERF_RECORD_KIND_SYSCALL, &c.head, cpu);
        rec->pid = c.pid;
        rec->tid = c.tid;
        rec->sample.number = c.number;
        rec->sample.period = c.n_calls;
        if (c.head.flags & SWITCH_FLAG_STACK)
                decode_stack(r, c.head.flags, record, &rec->sample.stack);
}

int switch_record_decode(const uint8_t *bytes, size_t n_bytes, uint32_t cpu, struct switch_record *ret_record,
                         struct error *err)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes);
        struct switch_record_head head;

        ret_record->n_records = 0;
        if (n_bytes < sizeof(head))
                return error_set(err, -EBADMSG, "context switch: %zu bytes are too few", n_bytes);
        memcpy(&head, bytes, sizeof(head));
        if (head.n_bytes != n_bytes)
                return error_set(err, -EBADMSG, "context switch: its size is %u, not %zu", head.n_bytes,
                                 n_bytes);
        if (head.kind == SWITCH_RECORD_SWITCH)
                decode_switch(&r, cpu, ret_record);
        else if (head.kind == SWITCH_RECORD_WAKEUP)
                decode_wakeup(&r, cpu, ret_record);
        else if (head.kind == SWITCH_RECORD_GIL)
                decode_gil(&r, cpu, ret_record);
        else if (head.kind == SWITCH_RECORD_LATE)
                decode_late(&r, cpu, ret_record);
        else if (head.kind == SWITCH_RECORD_SYSCALL)
                decode_syscall(&r, cpu, ret_record);
        else if (head.kind == SWITCH_RECORD_NUMBER)
                decode_number(&r, cpu, ret_record);
        else
                return error_set(err, -EBADMSG, "context switch: kind %u is unknown", head.kind);
        if (r.short_read)
                return error_set(err, -EBADMSG, "context switch of kind %u: %zu bytes are too few", head.kind,
                                 n_bytes);
        return 0;
}
