/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sampler/bpf/wakeup_hooks.h - a part of switch_events.bpf: who makes a thread ready to run, and from where
 *
 * Way of the data:  kernel (sched_waking) -> [wakeup_hooks] -> switch_record
 */
#ifndef SAMPLER_BPF_WAKEUP_HOOKS_H
#define SAMPLER_BPF_WAKEUP_HOOKS_H

/*
 * The address of @ctx, which lies on the CPU's current stack, is turned into a number by way of @scratch.
 */
static __always_inline bool is_interrupt(__u64 *ctx, struct switch_record_wakeup *scratch,
                                         struct task_struct *task, const struct pt_regs *regs)
{
        __u64 at;

        (void)regs; /* only some machines need the registers and the stack's address */
        scratch->head.time_ns = (__u64)ctx;
        __asm__ __volatile__("" : : : "memory");
        at = scratch->head.time_ns;
        (void)at;
        return MACHINE_IS_INTERRUPT(task, regs, at);
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
        struct task_struct *woken = (struct task_struct *)ctx[0];
        struct task_struct *waker = bpf_get_current_task_btf();
        struct switch_record_wakeup *record;
        struct switch_ring_head *ring;
        struct thread_slot *slot;
        const struct pt_regs *regs;
        __u32 n_bytes = sizeof(*record);
        bool by_interrupt;
        __u8 flags = 0;

        if (woken->pid == waker->pid || !switch_events_is_wanted(woken))
                return 0;
        ring = own_ring();
        /* A thread that waits on a wanted CPU may be woken from any other. */
        if (!ring || (ring->is_off && is_cpu_off((__u32)woken->wake_cpu)))
                return 0;
        record = claim(ring, settings.ring_bytes, sizeof(*record));
        if (!record)
                return 0;
        record->head.kind = SWITCH_RECORD_WAKEUP;
        record->head.flags = 0;
        record->head.state = 0;
        record->pid = (__u32)woken->tgid;
        record->tid = (__u32)woken->pid;
        regs = user_registers(waker);
        by_interrupt = waker->pid == 0 || is_interrupt(ctx, record, waker, regs);
        record->head.time_ns = bpf_ktime_get_ns();
        if (by_interrupt) {
                record->waker_pid = 0;
                record->waker_tid = 0;
                __builtin_memset(record->waker_name, 0, sizeof(record->waker_name));
        } else {
                record->waker_pid = (__u32)waker->tgid;
                record->waker_tid = (__u32)waker->pid;
                (void)bpf_get_current_comm(record->waker_name, sizeof(record->waker_name));
                /* Other threads have nothing from which a call stack could be made. */
                if (is_other_wanted(waker, woken, true) && (slot = slot_of(record->waker_tid)) != NULL) {
                        flags = choose(&slot->wakes, record->waker_tid, regs ? key_of(regs) : 0,
                                       record->head.time_ns);
                        if (flags & SWITCH_FLAG_STACK &&
                            !has_room(ring, settings.ring_bytes, STACK_BYTES_MAX(*record))) {
                                flags &= ~SWITCH_FLAG_STACK;
                                slot->wakes.copied_ns = 0;
                        }
                        record->head.flags = flags;
                        if (flags & SWITCH_FLAG_STACK)
                                n_bytes += add_stack(ctx, &record->head, (struct switch_stack *)(record + 1),
                                                     regs);
                }
        }
        record->head.n_bytes = n_bytes;
        commit(ring, settings.ring_bytes, n_bytes);
        return 0;
}

#endif /* SAMPLER_BPF_WAKEUP_HOOKS_H */
