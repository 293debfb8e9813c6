/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sampler/bpf/syscall_hooks.h - a part of switch_events.bpf: sums of system calls, and stacks of some of them
 *
 * Way of the data:  kernel (sys_enter, sys_exit) -> [syscall_hooks] -> syscall_sums, switch_record
 *
 * Only a thread itself changes its sums, so they need no lock.  Interrupts are on here, and write to the
 * other ring; on_exit(), which writes to the same one, never comes in between: threads are not preempted
 * meanwhile.
 */
#ifndef SAMPLER_BPF_SYSCALL_HOOKS_H
#define SAMPLER_BPF_SYSCALL_HOOKS_H

#include "sampler/bpf/syscall_layout.h"

#define PF_FORKNOEXEC 0x00000040 /* of a task's flags: it was forked, and has executed nothing since */

/* A call that a thread is in. */
struct syscall_task {
        __u64 entered_ns; /* 0 = it is in none */
        __u32 thread;     /* 0 = it has no number yet */
        __u32 number;
        __u64 unwanted[SYSCALL_NUMBERS / 64]; /* a bit for each kind: the next call is not sampled */
};

struct {
        __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __type(key, int);
        __type(value, struct syscall_task);
} syscall_tasks SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, SYSCALL_SUMS_MAX);
        __type(key, struct syscall_key);
        __type(value, struct syscall_sum);
} syscall_sums SEC(".maps");

/* Sums over all threads that found no room in the table above; their calls are not sampled. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, SYSCALL_NUMBERS);
        __type(key, __u32);
        __type(value, struct syscall_sum);
} syscall_rest SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct syscall_state);
} syscall_states SEC(".maps");

static __always_inline struct syscall_state *syscall_state(void)
{
        __u32 key = 0;

        return bpf_map_lookup_elem(&syscall_states, &key);
}

static __always_inline void miss_syscall(void)
{
        struct syscall_state *state = syscall_state();

        if (state)
                __sync_fetch_and_add(&state->n_missed, 1);
}

/* The kernel frees it with the thread. */
static __always_inline struct syscall_task *begin_syscalls(struct task_struct *task)
{
        struct syscall_state *state = syscall_state();
        struct syscall_task *at;
        struct task_place place;

        find_place_slowly(task, &place); /* once for each thread */
        if (!state || !switch_events_is_wanted(&place))
                return NULL;
        at = bpf_task_storage_get(&syscall_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
        if (at)
                at->thread = (__u32)__sync_fetch_and_add(&state->n_threads, 1) + 1;
        else
                miss_syscall();
        return at;
}

static __always_inline __u32 syscall_number(__u64 number, const struct task_struct *task,
                                            const struct pt_regs *regs)
{
        if (number > SYSCALL_NUMBER_MAX)
                number = SYSCALL_NUMBER_MAX;
        (void)regs; /* some machines do not need both, or have only one kind of programs */
        (void)task;
        return (__u32)number + (MACHINE_IS_32_BIT_CALL(task, regs) ? SYSCALL_32_BIT : 0);
}

static __always_inline void set_unwanted(struct syscall_task *at, __u32 number, bool is_unwanted)
{
        __u64 *word = &at->unwanted[number / 64 & (SYSCALL_NUMBERS / 64 - 1)], bit = 1ULL << (number & 63);

        *word = is_unwanted ? *word | bit : *word & ~bit;
}

/* Python's frames are read by the other program, at the end of the call, before this one copies the stack. */
static __always_inline void announce_call(const struct task_struct *task, const struct syscall_task *at)
{
        __u32 key = 0, tid = (__u32)task->pid, wanted = tid;
        struct python_processes *all = settings.python ? bpf_map_lookup_elem(&python, &key) : NULL;

        if (!all || all->n_entered == 0)
                return;
        if (at->unwanted[at->number / 64 & (SYSCALL_NUMBERS / 64 - 1)] >> (at->number & 63) & 1)
                wanted = 0;
        all->calls[tid & (PYTHON_CALL_SLOTS - 1)] = wanted;
}

SEC("tp_btf/sys_enter")
int on_syscall(__u64 *ctx)
{
        struct task_struct *task = bpf_get_current_task_btf();
        struct syscall_task *at = bpf_task_storage_get(&syscall_tasks, task, NULL, 0);

        if (!at)
                at = begin_syscalls(task);
        if (!at)
                return 0;
        at->number = syscall_number(ctx[1], task, (const struct pt_regs *)ctx[0]);
        at->entered_ns = bpf_ktime_get_ns();
        announce_call(task, at);
        return 0;
}

static __always_inline struct syscall_sum *find_sum(struct task_struct *task, const struct syscall_key *key)
{
        struct syscall_sum *sum = bpf_map_lookup_elem(&syscall_sums, key);
        const struct syscall_sum first = { .pid = (__u32)task->tgid, .tid = (__u32)task->pid };

        if (sum)
                return sum;
        if (bpf_map_update_elem(&syscall_sums, key, &first, BPF_NOEXIST) < 0)
                return NULL;
        return bpf_map_lookup_elem(&syscall_sums, key);
}

/* Several threads may be here at once: they lose nothing but a longest time, which another may overwrite. */
static __always_inline void add_to_rest(__u32 number, __u64 elapsed_ns, __s64 result)
{
        struct syscall_sum *sum = bpf_map_lookup_elem(&syscall_rest, &number);

        if (!sum) {
                miss_syscall();
                return;
        }
        __sync_fetch_and_add(&sum->n_calls, 1);
        __sync_fetch_and_add(&sum->time_ns, elapsed_ns);
        if (elapsed_ns > sum->longest_ns)
                sum->longest_ns = elapsed_ns;
        if (result > 0)
                __sync_fetch_and_add(&sum->n_bytes, (__u64)result);
        else if (result < 0 && result >= -SYSCALL_ERRNO_MAX)
                __sync_fetch_and_add(&sum->n_errors, 1);
}

/*
 * Whether the stack of this call is wanted.  A random number of calls is left out before each sample: a
 * choice by time would prefer calls after a pause, and each n-th call of a program that repeats itself may
 * always be the same one.
 */
static __always_inline bool is_syscall_sampled(struct syscall_sum *sum, __u64 now_ns)
{
        __u64 elapsed_ns = now_ns - sum->sampled_ns;

        sum->n_since++;
        if (sum->left > 1) {
                sum->left--;
                return false;
        }
        if (sum->gap == 0)
                sum->gap = 1;
        else if (elapsed_ns < SYSCALL_SAMPLE_NS && sum->gap < SYSCALL_SAMPLE_GAP)
                sum->gap *= 2;
        else if (elapsed_ns > 2 * SYSCALL_SAMPLE_NS && sum->gap > 1)
                sum->gap /= 2;
        sum->left = 1 + bpf_get_prandom_u32() % (2 * sum->gap - 1);
        sum->sampled_ns = now_ns;
        return true;
}

/* If the ring has no room, the sample is left out, and the next one stands for its calls too. */
static __always_inline void put_syscall(void *ctx, struct task_struct *task, struct syscall_sum *sum,
                                        __u32 number, __u64 now_ns)
{
        __u32 cpu = bpf_get_smp_processor_id(), n_bytes = sizeof(struct switch_record_syscall);
        struct switch_ring_head *ring = bpf_map_lookup_elem(&late_rings, &cpu);
        struct switch_record_syscall *record;

        if (!ring || !has_room(ring, settings.late_bytes, STACK_BYTES_MAX(*record)))
                return;
        record = claim(ring, settings.late_bytes, STACK_BYTES_MAX(*record));
        if (!record)
                return;
        record->head.kind = SWITCH_RECORD_SYSCALL;
        record->head.flags = SWITCH_FLAG_STACK;
        record->head.state = 0;
        record->head.time_ns = now_ns;
        record->pid = (__u32)task->tgid;
        record->tid = (__u32)task->pid;
        record->number = number;
        record->unused = 0;
        record->n_calls = sum->n_since;
        n_bytes += add_user_stack(ctx, &record->head, (struct switch_stack *)(record + 1),
                                  user_registers(task));
        record->head.n_bytes = n_bytes;
        sum->n_since = 0;
        commit(ring, settings.late_bytes, n_bytes);
}

/*
 * The command between its fork and its program is still a part of the recorder.  Threads that it starts
 * later were forked and execute nothing as well.
 */
static __always_inline bool is_unborn(const struct task_struct *task)
{
        struct syscall_state *state = syscall_state();

        if (!state || state->unborn_pid != (__u32)task->tgid)
                return false;
        if ((task->flags & PF_FORKNOEXEC) != 0)
                return true;
        state->unborn_pid = 0;
        return false;
}

SEC("tp_btf/sys_exit")
int on_syscall_end(__u64 *ctx)
{
        struct task_struct *task = bpf_get_current_task_btf();
        struct syscall_task *at = bpf_task_storage_get(&syscall_tasks, task, NULL, 0);
        const __s64 result = (__s64)ctx[1];
        struct switch_ring_head *ring;
        struct syscall_key key;
        struct syscall_sum *sum;
        __u64 now_ns, elapsed_ns;

        if (!at || at->entered_ns == 0) /* every thread of the machine comes here */
                return 0;
        ring = own_ring();
        if (!ring || ring->is_off)
                return 0;
        now_ns = bpf_ktime_get_ns();
        elapsed_ns = now_ns - at->entered_ns;
        at->entered_ns = 0;
        if (is_unborn(task))
                return 0;
        key.thread = at->thread;
        key.number = at->number;
        sum = find_sum(task, &key);
        if (!sum) {
                set_unwanted(at, key.number, true);
                add_to_rest(key.number, elapsed_ns, result);
                return 0;
        }
        sum->n_calls++;
        sum->time_ns += elapsed_ns;
        if (elapsed_ns > sum->longest_ns)
                sum->longest_ns = elapsed_ns;
        if (result > 0)
                sum->n_bytes += (__u64)result;
        else if (result < 0 && result >= -SYSCALL_ERRNO_MAX)
                sum->n_errors++;
        if (is_syscall_sampled(sum, now_ns))
                put_syscall(ctx, task, sum, key.number, now_ns);
        set_unwanted(at, key.number, sum->left > 1);
        return 0;
}

#endif /* SAMPLER_BPF_SYSCALL_HOOKS_H */
