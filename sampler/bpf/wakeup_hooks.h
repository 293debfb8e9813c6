/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sampler/bpf/wakeup_hooks.h - a part of switch_events.bpf: what makes a thread ready to run, and from where
 *
 * Way of the data:  kernel (sched_waking) -> [wakeup_hooks] -> switch_record
 */
#ifndef SAMPLER_BPF_WAKEUP_HOOKS_H
#define SAMPLER_BPF_WAKEUP_HOOKS_H

#define INTERRUPT_STACK_BYTES 16384 /* the size of a stack in the kernel, at least; a power of two */

/*
 * The address of @ctx, which lies on the CPU's current stack, is turned into a number by way of @scratch.
 */
static __always_inline __u64 stack_address(__u64 *ctx, struct switch_record_wakeup *scratch)
{
        scratch->head.time_ns = (__u64)ctx;
        __asm__ __volatile__("" : : : "memory");
        return scratch->head.time_ns;
}

static __always_inline bool is_interrupt(struct task_struct *task, const struct pt_regs *regs, __u64 at)
{
        (void)regs; /* only some machines need the registers and the stack's address */
        (void)at;
        return task->pid == 0 || MACHINE_IS_INTERRUPT(task, regs, at);
}

/*
 * Whether the thread is "ksoftirqd/3", which does what interrupts left over: on some machines on its own
 * stack, so that it looks like a waker.
 */
static __always_inline bool does_interrupts(struct task_struct *task, struct switch_record_wakeup *scratch)
{
        const char *name = scratch->waker_name;

        if (!(task->flags & PF_KTHREAD))
                return false;
        (void)bpf_get_current_comm(scratch->waker_name, sizeof(scratch->waker_name));
        return name[0] == 'k' && name[1] == 's' && name[2] == 'o' && name[3] == 'f' && name[4] == 't' &&
               name[5] == 'i' && name[6] == 'r' && name[7] == 'q' && name[8] == 'd' && name[9] == '/';
}

/*
 * The same for two interrupts of one kind that wake a thread at one place.  The thread's memory cannot be
 * read here, and the interrupt's own stack would cost as much as its copy: instead, the depth of that stack
 * at @at tells timers from packets and disks.
 */
static __always_inline __u64 interrupt_key(struct task_struct *woken, __u64 at)
{
        const struct pt_regs *regs = user_registers(woken);
        __u64 place = regs ? MACHINE_PC(regs) * 31 + MACHINE_SP(regs) : 0;

        return place * 31 + (at & (INTERRUPT_STACK_BYTES - 1));
}

/* An interrupt at stack address @at has woken a thread.  Returns the bytes of its stack. */
static __always_inline __u32 add_interrupt(void *ctx, struct switch_ring_head *ring,
                                           struct switch_record_wakeup *record, struct task_struct *woken,
                                           __u64 at)
{
        struct thread_slot *slot = slot_of(record->tid);
        __u32 flags = 0;

        __builtin_memset(record->waker_name, 0, sizeof(record->waker_name));
        if (slot)
                flags = choose_stack(ring, &slot->interrupts, record->tid, interrupt_key(woken, at),
                                     record->head.time_ns, SWITCH_INTERRUPT_PERIOD_NS,
                                     sizeof(*record) + sizeof(struct switch_stack));
        record->head.flags = flags | SWITCH_FLAG_INTERRUPT;
        return flags & SWITCH_FLAG_STACK ? add_kernel_stack(ctx, (struct switch_stack *)(record + 1)) : 0;
}

/* A thread has woken another, or itself.  Returns the bytes of its stack. */
static __always_inline __u32 add_waker(void *ctx, struct switch_ring_head *ring,
                                       struct switch_record_wakeup *record, const struct pt_regs *regs,
                                       bool is_wanted)
{
        struct thread_slot *slot;
        __u32 flags;

        (void)bpf_get_current_comm(record->waker_name, sizeof(record->waker_name));
        /* Other threads have nothing from which a call stack could be made. */
        if (!is_wanted || (slot = slot_of(record->waker_tid)) == NULL)
                return 0;
        flags = choose_stack(ring, &slot->wakes, record->waker_tid, regs ? key_of(regs) : 0,
                             record->head.time_ns, SWITCH_STACK_PERIOD_NS, STACK_BYTES_MAX(*record));
        record->head.flags = flags;
        return flags & SWITCH_FLAG_STACK
                       ? add_stack(ctx, &record->head, (struct switch_stack *)(record + 1), regs)
                       : 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
        struct task_struct *woken = (struct task_struct *)ctx[0];
        struct task_struct *waker = bpf_get_current_task_btf();
        struct switch_record_wakeup *record;
        struct switch_ring_head *ring;
        const struct pt_regs *regs;
        struct task_place woken_place, waker_place;
        __u32 n_bytes = sizeof(*record);
        __u64 at;

        find_place(woken, &woken_place);
        find_place(waker, &waker_place);
        if (!switch_events_is_wanted(&woken_place))
                return 0;
        ring = own_ring();
        /* A thread that waits on a wanted CPU may be woken from any other. */
        if (!ring || (ring->is_off && is_cpu_off((__u32)woken->wake_cpu)))
                return 0;
        record = claim(ring, settings.ring_bytes, sizeof(*record));
        if (!record)
                return 0;
        at = stack_address(ctx, record);
        record->head.kind = SWITCH_RECORD_WAKEUP;
        record->head.flags = 0;
        record->head.state = 0;
        record->head.time_ns = bpf_ktime_get_ns();
        record->pid = (__u32)woken->tgid;
        record->tid = (__u32)woken->pid;
        record->waker_pid = (__u32)waker->tgid;
        record->waker_tid = (__u32)waker->pid;
        regs = user_registers(waker);
        if (is_interrupt(waker, regs, at) || does_interrupts(waker, record))
                n_bytes += add_interrupt(ctx, ring, record, woken, at);
        else
                n_bytes += add_waker(ctx, ring, record, regs,
                                     is_other_wanted(&waker_place, &woken_place, true));
        record->head.n_bytes = n_bytes;
        commit(ring, settings.ring_bytes, n_bytes);
        return 0;
}

#endif /* SAMPLER_BPF_WAKEUP_HOOKS_H */
