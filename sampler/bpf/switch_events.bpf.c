/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs in the kernel at every context switch and, with stacks, at every wake-up.
 *
 * Both happen with interrupts off, so nothing else runs on that CPU in between, and its ring needs no lock.
 * Slow operations are avoided: no allocation, no changes to a map, no call where a load will do.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "sampler/bpf/python_memory.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/bpf/switch_machine.h"

#define PID_LEVELS_MAX 32 /* MAX_PID_NS_LEVEL of the kernel's */
#define KEY_WORDS      24 /* of the user stack; their hash identifies a place */
#define PF_KTHREAD     0x00200000
#define TASK_DEAD_BITS 0xb0

struct kernfs_node {
        __u64 id;
} KERNEL_STRUCT;

struct cgroup;

struct cgroup_subsys_state {
        struct cgroup *cgroup;
        struct cgroup_subsys_state *parent;
        __u64 serial_nr;
} KERNEL_STRUCT;

struct cgroup {
        struct cgroup_subsys_state self;
        struct kernfs_node *kn;
        int level;
} KERNEL_STRUCT;

struct css_set {
        struct cgroup *dfl_cgrp;
} KERNEL_STRUCT;

struct sched_entity {
        __u64 sum_exec_runtime, prev_sum_exec_runtime;
} KERNEL_STRUCT;

struct upid {
        int nr;
} KERNEL_STRUCT;

/*
 * The IDs of a thread: `numbers` has one for each namespace in which the thread is visible, the outermost
 * namespace first.
 */
struct pid {
        unsigned int level; /* depth of its own namespace below the outermost one */
        struct upid numbers[1];
} KERNEL_STRUCT;

struct task_struct {
        MACHINE_TASK_MEMBERS
        unsigned int __state;
        unsigned int flags;
        int pid, tgid;
        int wake_cpu; /* where it ran last */
        struct css_set *cgroups;
        struct pid *thread_pid;
        struct sched_entity se;
} KERNEL_STRUCT;

/* A kernel before 5.14. */
struct task_struct___old {
        long state;
} KERNEL_STRUCT;

/*
 * Limits for each thread how often a stack is copied: one such place is for its own waits, one for its
 * wake-ups of other threads, and one for interrupts that wake it.
 */
struct thread_place {
        __u64 key; /* of the last place */
        __u64 copied_ns, refilled_ns;
        __u32 tid, credit; /* copies that it may have at once */
};

struct thread_slot {
        struct thread_place waits, wakes, interrupts;
        /* when `out_tid` began a wait without a stack; 0 = a stack was recorded, or the wait is over */
        __u64 out_ns;
        __u32 out_tid, unused;
};

/*
 * Not really volatile: the loader writes them, so the compiler must not rely on the values that it sees
 * here.
 */
const volatile struct switch_settings settings = { .ring_bytes = 4096, .late_bytes = 4096 };

struct switch_scope scope;

/* One ring for each CPU; the loader sets the sizes. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, SWITCH_RING_HEAD_BYTES);
} rings SEC(".maps");

/*
 * The rings for the stacks of long waits: these are read with interrupts on, and an interrupt may then
 * write to the other rings.
 */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, SWITCH_RING_HEAD_BYTES);
} late_rings SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct thread_slot);
} threads SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, SWITCH_PROCESSES_MAX);
        __type(key, __u32);
        __type(value, __u8);
} processes SEC(".maps");

/* Processes that run Python: the table of python_frames.bpf, where there is one. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct python_processes);
} python SEC(".maps");

/* The thread that came last onto this CPU. */
struct last_task {
        __u64 task_avma; /* of a task that may be freed by now; 0 = not a wanted task */
        __u64 sum_ns;    /* what it had run in all, then */
        __u64 late_ns;   /* when the thread came, if the stack of its wait is still to be read; else 0 */
        __u32 pid, tid;
};

struct {
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct last_task);
} last_tasks SEC(".maps");

/* This ring carries no data: it only wakes the reader. */
struct {
        __uint(type, BPF_MAP_TYPE_RINGBUF);
        __uint(max_entries, SWITCH_WAKE_RING_BYTES);
} wake SEC(".maps");

char license_name[] SEC("license") = "Dual MIT/GPL";

#include "sampler/bpf/wanted_tasks.h"

/* ---- rings --------------------------------------------------------------------------------------------- */

static __always_inline struct switch_ring_head *own_ring(void)
{
        __u32 cpu = bpf_get_smp_processor_id();

        return bpf_map_lookup_elem(&rings, &cpu);
}

/* Whether nothing of a CPU is wanted. */
static __always_inline bool is_cpu_off(__u32 cpu)
{
        const struct switch_ring_head *ring = bpf_map_lookup_elem(&rings, &cpu);

        return ring && ring->is_off;
}

static __always_inline bool has_room(const struct switch_ring_head *ring, __u64 ring_bytes, __u64 n_bytes)
{
        return ring->head - ring->tail + n_bytes <= ring_bytes;
}

/*
 * The place of the next record, which may extend past the end of the ring, where there is room for the
 * largest record.  NULL if the ring is full: the record is then counted as lost.  Records consist of whole
 * words; the mask proves it to the verifier, which refuses access that may be misaligned on RISC-V.
 */
static __always_inline void *claim(struct switch_ring_head *ring, __u64 ring_bytes, __u64 n_bytes)
{
        if (!has_room(ring, ring_bytes, n_bytes)) {
                ring->n_lost++;
                return NULL;
        }
        return (char *)ring + SWITCH_RING_HEAD_BYTES + (ring->head & (ring_bytes - 1) & ~7ull);
}

/* Wakes the reader each time that another share of the ring is in use. */
static __always_inline void commit(struct switch_ring_head *ring, __u64 ring_bytes, __u64 n_bytes)
{
        __u64 used = ring->head - ring->tail, share = ring_bytes / SWITCH_WAKE_SHARES;
        bool wakes = (used & (share - 1)) + n_bytes >= share;

        /* Pairs with the acquire in switch_ring_look(). */
        MACHINE_STORE_RELEASE(&ring->head, ring->head + n_bytes);
        if (wakes)
                (void)bpf_ringbuf_output(&wake, &used, sizeof(used), BPF_RB_FORCE_WAKEUP);
}

/* ---- stacks -------------------------------------------------------------------------------------------- */

/* A hash that is the same for two stops of a thread at the same place with the same callers. */
static __always_inline __u64 key_of(const struct pt_regs *regs)
{
        __u64 words[KEY_WORDS];
        __u64 key = MACHINE_PC(regs) * 31 + MACHINE_SP(regs);

        if (bpf_probe_read_user(words, sizeof(words), (const void *)MACHINE_SP(regs)) < 0)
                return key; /* near the end of the stack */
#pragma unroll
        for (int i = 0; i < KEY_WORDS; i++)
                key = key * 31 + words[i];
        return key;
}

static __always_inline void refill(struct thread_place *place, __u64 now_ns)
{
        __u64 elapsed_ns = now_ns - place->refilled_ns;

        if (elapsed_ns < SWITCH_STACK_PERIOD_NS)
                return;
        place->refilled_ns = now_ns;
        if (elapsed_ns >= SWITCH_STACK_BURST * SWITCH_STACK_PERIOD_NS || place->credit >= SWITCH_STACK_BURST)
                place->credit = SWITCH_STACK_BURST;
        else
                place->credit++;
}

/*
 * Whether to copy the stack: SWITCH_FLAG_STACK, SWITCH_FLAG_SAME_STACK or 0.  A copy stands for the same
 * place for @same_ns.  Threads that share a slot also share its credit.
 */
static __always_inline __u32 choose(struct thread_place *place, __u32 tid, __u64 key, __u64 now_ns,
                                    __u64 same_ns)
{
        if (place->tid == tid && place->key == key && now_ns - place->copied_ns < same_ns)
                return SWITCH_FLAG_SAME_STACK;
        refill(place, now_ns);
        if (place->credit == 0)
                return 0;
        place->credit--;
        place->tid = tid;
        place->key = key;
        place->copied_ns = now_ns;
        return SWITCH_FLAG_STACK;
}

/* The same for a record whose stack takes up to @stack_bytes: for want of room it has none. */
static __always_inline __u32 choose_stack(struct switch_ring_head *ring, struct thread_place *place,
                                          __u32 tid, __u64 key, __u64 now_ns, __u64 same_ns, __u64 n_bytes)
{
        __u32 flags = choose(place, tid, key, now_ns, same_ns);

        if (flags & SWITCH_FLAG_STACK && !has_room(ring, settings.ring_bytes, n_bytes)) {
                place->copied_ns = 0;
                return 0;
        }
        return flags;
}

/* Copies the stack up to memory that is not mapped, or not resident now. */
static __always_inline __u32 copy_user_stack(char *to, __u64 sp)
{
        __u64 copied = 0;

        for (int i = 0; i <= SWITCH_COPY_BYTES_MAX / SWITCH_PIECE_BYTES; i++) {
                __u64 piece = SWITCH_PIECE_BYTES - ((sp + copied) & (SWITCH_PIECE_BYTES - 1));
                __u64 left;

                if (copied >= settings.copy_bytes)
                        break;
                left = settings.copy_bytes - copied;
                if (piece > left)
                        piece = left;
                barrier_var(piece); /* Linux 6.1's verifier learns only from comparisons with constants */
                if (piece > SWITCH_PIECE_BYTES)
                        break;
                if (bpf_probe_read_user(to + copied, piece, (const void *)(sp + copied)) < 0)
                        break;
                copied += piece;
        }
        return copied;
}

static __always_inline __u32 add_user_frames(void *ctx, struct switch_record_head *record,
                                             struct switch_stack *stack)
{
        long n_bytes = bpf_get_stack(ctx, stack + 1, SWITCH_USER_FRAMES * sizeof(__u64), BPF_F_USER_STACK);

        record->flags |= SWITCH_FLAG_FRAMES;
        stack->copy_bytes = n_bytes > 0 ? (__u32)n_bytes : 0;
        return sizeof(*stack) + (stack->copy_bytes & ~7u);
}

static __always_inline void begin_stack(struct switch_stack *stack)
{
        stack->context = (__u64)SWITCH_CONTEXT_KERNEL;
        stack->kernel_bytes = 0;
        stack->copy_bytes = 0;
        __builtin_memset(stack->registers, 0, sizeof(stack->registers));
}

/* Fills the stack that follows the record head, except for the kernel part; returns its bytes. */
static __always_inline __u32 add_user_stack(void *ctx, struct switch_record_head *record,
                                            struct switch_stack *stack, const struct pt_regs *regs)
{
        __u32 copy_bytes = 0;

        begin_stack(stack);
        if (settings.frame_pointers)
                return add_user_frames(ctx, record, stack);
        if (regs) {
                bpf_probe_read_kernel(stack->registers, MACHINE_REGISTER_BYTES, regs);
                copy_bytes = copy_user_stack((char *)(stack + 1), MACHINE_SP(regs));
                if (copy_bytes == settings.copy_bytes)
                        record->flags |= SWITCH_FLAG_COPY_FULL;
                if (MACHINE_IS_32_BIT(regs))
                        record->flags |= SWITCH_FLAG_32_BIT;
        }
        stack->copy_bytes = copy_bytes;
        return sizeof(*stack) + ((copy_bytes + 7) & ~7u);
}

static __always_inline void add_kernel_frames(void *ctx, struct switch_stack *stack)
{
        long kernel_bytes = bpf_get_stack(ctx, stack->kernel, sizeof(stack->kernel),
                                          settings.n_skipped_frames);

        stack->kernel_bytes = kernel_bytes > 0 ? (__u32)kernel_bytes : 0;
}

/* Fills the stack that follows the record head; returns its bytes. */
static __always_inline __u32 add_stack(void *ctx, struct switch_record_head *record,
                                       struct switch_stack *stack, const struct pt_regs *regs)
{
        __u32 n_bytes = add_user_stack(ctx, record, stack, regs);

        add_kernel_frames(ctx, stack);
        return n_bytes;
}

/* The same without the user's part. */
static __always_inline __u32 add_kernel_stack(void *ctx, struct switch_stack *stack)
{
        begin_stack(stack);
        add_kernel_frames(ctx, stack);
        return sizeof(*stack);
}

/* The user's registers; NULL for a thread that has none. */
static __always_inline const struct pt_regs *user_registers(struct task_struct *task)
{
        const struct pt_regs *regs;

        if (task->flags & PF_KTHREAD)
                return NULL;
        regs = (const struct pt_regs *)bpf_task_pt_regs(task);
        return MACHINE_PC(regs) != 0 ? regs : NULL;
}

static __always_inline struct thread_slot *slot_of(__u32 tid)
{
        __u32 slot = tid & (SWITCH_THREAD_SLOTS - 1);

        return bpf_map_lookup_elem(&threads, &slot);
}

/*
 * The size of a record with a full copy of the stack; if there is no room for it, the record has no stack.
 */
#define STACK_BYTES_MAX(record) (sizeof(record) + sizeof(struct switch_stack) + settings.copy_bytes + 8)

/* ---- hooks --------------------------------------------------------------------------------------------- */

static __always_inline __u32 state_of(const __u64 *ctx, struct task_struct *prev)
{
        if (settings.has_prev_state)
                return (__u32)ctx[3];
        if (bpf_core_field_exists(prev->__state))
                return prev->__state;
        return (__u32)((struct task_struct___old *)prev)->state;
}

/* The scheduler has counted the run time up to now before it reports the switch. */
static __always_inline __u64 ran_ns_of(struct task_struct *task)
{
        if (!bpf_core_field_exists(task->se.prev_sum_exec_runtime))
                return 0;
        return task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
}

static __always_inline __u64 sum_ns_of(struct task_struct *task)
{
        return bpf_core_field_exists(task->se.sum_exec_runtime) ? task->se.sum_exec_runtime : 0;
}

/*
 * The run time of a task that has left the CPU without a report, and may be freed: so it is read like any
 * other memory.  If the task has run on another CPU since, the sum includes that time; the reader of the
 * record knows a bound.
 */
static __always_inline __u64 gone_ran_ns_of(const struct last_task *last)
{
        struct task_struct *task = (struct task_struct *)last->task_avma;
        __u64 sum_ns = 0;
        __s32 tid = 0;

        if (bpf_core_read(&tid, sizeof(tid), &task->pid) < 0 || (__u32)tid != last->tid ||
            bpf_core_read(&sum_ns, sizeof(sum_ns), &task->se.sum_exec_runtime) < 0)
                return 0;
        return sum_ns > last->sum_ns ? sum_ns - last->sum_ns : 0;
}

/*
 * Kernels trace nothing while certain threads run: the switch from such a thread to another is then not
 * reported.
 */
static __always_inline void follow_cpu(struct switch_record_switch *record, struct task_struct *prev,
                                       struct task_struct *next, bool is_next_wanted)
{
        __u32 key = 0;
        struct last_task *last = bpf_map_lookup_elem(&last_tasks, &key);

        record->gone_pid = record->gone_tid = 0;
        record->gone_ran_ns = 0;
        if (!last)
                return;
        if (last->task_avma != 0 && last->task_avma != (__u64)prev) {
                record->gone_pid = last->pid;
                record->gone_tid = last->tid;
                record->gone_ran_ns = gone_ran_ns_of(last);
        }
        last->task_avma = is_next_wanted ? (__u64)next : 0;
        last->pid = (__u32)next->tgid;
        last->tid = (__u32)next->pid;
        last->sum_ns = sum_ns_of(next);
        last->late_ns = 0;
}

/* The GIL that a thread waits for, by the address that it sleeps on; 0 = it waits for something else. */
static __always_inline __u64 awaited_gil(const struct python_process *p, __u64 futex_avma)
{
        __u64 gil = python_find_gil(p);

        return gil != 0 && futex_avma - gil < p->offsets.gil_bytes ? gil : 0;
}

static __always_inline void put_gil(struct switch_ring_head *ring, struct task_struct *task, __u64 now_ns)
{
        const struct pt_regs *regs = user_registers(task);
        const __u64 futex_avma = regs ? MACHINE_FUTEX(regs) : 0;
        struct switch_record_gil *record;
        const struct python_processes *all;
        const struct python_process *p;
        __u64 gil, holder;
        __u32 key = 0;
        int slot;

        if (futex_avma == 0 || !(all = bpf_map_lookup_elem(&python, &key)) ||
            (slot = python_find_slot(all, (__u32)task->tgid)) < 0)
                return;
        p = &all->slots[slot & (PYTHON_SLOTS - 1)];
        gil = awaited_gil(p, futex_avma);
        if (gil == 0)
                return;
        record = claim(ring, settings.ring_bytes, sizeof(*record));
        if (!record)
                return;
        holder = python_read_holder(p, gil);
        record->head.kind = SWITCH_RECORD_GIL;
        record->head.flags = 0;
        record->head.state = 0;
        record->head.n_bytes = sizeof(*record);
        record->head.time_ns = now_ns;
        record->pid = p->pid;
        record->tid = (__u32)task->pid;
        record->gil_avma = gil;
        record->n_switches = python_read_word(gil + p->offsets.gil_switches);
        record->interval_us = python_read_word(gil);
        record->holder_tid = holder != 0 ? (__u32)python_read_word(holder + p->offsets.thread_native_id) : 0;
        record->unused = 0;
        commit(ring, settings.ring_bytes, sizeof(*record));
}

/* A thread comes back from a wait that began without a stack: on_exit() reads it if the wait was long. */
static __always_inline void note_return(__u32 tid, __u64 now_ns)
{
        struct thread_slot *slot = slot_of(tid);
        __u32 key = 0;
        struct last_task *last;
        __u64 out_ns;

        if (!slot || slot->out_ns == 0 || slot->out_tid != tid)
                return;
        out_ns = slot->out_ns;
        slot->out_ns = 0;
        if (now_ns - out_ns >= SWITCH_LONG_WAIT_NS && (last = bpf_map_lookup_elem(&last_tasks, &key)) != NULL)
                last->late_ns = now_ns;
}

/*
 * Adds up how long a CPU was idle, at its switches to and from the idle task.  A thread that became wanted
 * while it ran was not seen to come: the sum begins anew when it leaves.
 */
static __always_inline void follow_idle(struct switch_ring_head *ring, struct task_struct *prev,
                                        struct task_struct *next, bool is_prev_wanted, __u64 now_ns)
{
        __u64 since_ns = ring->idle_since_ns;

        ring->idle_since_ns = next->pid == 0 ? now_ns : SWITCH_IDLE_BUSY;
        if (is_prev_wanted)
                ring->idle_ns = 0;
        if (prev->pid != 0 || since_ns == SWITCH_IDLE_BUSY) /* the switch to the idle task was not reported */
                return;
        if (since_ns == 0)
                since_ns = scope.began_ns;
        if (now_ns - since_ns > SWITCH_IDLE_NS)
                ring->idle_ns += now_ns - since_ns;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
        struct task_struct *prev = (struct task_struct *)ctx[1];
        struct task_struct *next = (struct task_struct *)ctx[2];
        struct switch_record_switch *record;
        struct switch_ring_head *ring;
        struct thread_slot *slot;
        const struct pt_regs *regs;
        __u64 now_ns;
        __u32 state, n_bytes = sizeof(*record);
        struct task_place prev_place, next_place;
        bool is_prev_wanted;
        __u8 flags;

        find_place(prev, &prev_place);
        find_place(next, &next_place);
        is_prev_wanted = switch_events_is_wanted(&prev_place);
        flags = is_prev_wanted ? SWITCH_FLAG_OUT : 0;
        if (is_other_wanted(&next_place, &prev_place, is_prev_wanted))
                flags |= SWITCH_FLAG_IN;
        if (flags == 0 && !settings.idle)
                return 0;
        ring = own_ring();
        if (!ring || ring->is_off)
                return 0;
        now_ns = bpf_ktime_get_ns();
        if (settings.idle)
                follow_idle(ring, prev, next, is_prev_wanted, now_ns);
        if (flags == 0)
                return 0;
        state = state_of(ctx, prev);
        if ((bool)ctx[0] || state == 0)
                flags |= SWITCH_FLAG_PREEMPTED;
        if (settings.python && (flags & (SWITCH_FLAG_OUT | SWITCH_FLAG_PREEMPTED)) == SWITCH_FLAG_OUT)
                put_gil(ring, prev, now_ns);
        record = claim(ring, settings.ring_bytes, sizeof(*record));
        if (!record)
                return 0;
        record->head.kind = SWITCH_RECORD_SWITCH;
        record->head.state = (__u16)state;
        record->head.time_ns = now_ns;
        record->prev_pid = (__u32)prev->tgid;
        record->prev_tid = (__u32)prev->pid;
        record->next_pid = (__u32)next->tgid;
        record->next_tid = (__u32)next->pid;
        record->prev_ran_ns = is_prev_wanted ? ran_ns_of(prev) : 0;
        record->head.flags = flags;
        follow_cpu(record, prev, next, (flags & SWITCH_FLAG_IN) != 0);
        record->idle_ns = 0;
        if (settings.idle && flags & SWITCH_FLAG_IN) {
                record->idle_ns = ring->idle_ns;
                ring->idle_ns = 0;
        }

        if (settings.stacks && (flags & (SWITCH_FLAG_OUT | SWITCH_FLAG_PREEMPTED)) == SWITCH_FLAG_OUT &&
            !(state & TASK_DEAD_BITS) && (slot = slot_of(record->prev_tid)) != NULL) {
                regs = user_registers(prev);
                flags |= choose_stack(ring, &slot->waits, record->prev_tid, regs ? key_of(regs) : 0,
                                      record->head.time_ns, SWITCH_STACK_PERIOD_NS, STACK_BYTES_MAX(*record));
                record->head.flags = flags;
                if (settings.late_stacks) {
                        slot->out_ns = flags & (SWITCH_FLAG_STACK | SWITCH_FLAG_SAME_STACK) ? 0 : now_ns;
                        slot->out_tid = record->prev_tid;
                }
                if (flags & SWITCH_FLAG_STACK)
                        n_bytes += add_stack(ctx, &record->head, (struct switch_stack *)(record + 1), regs);
        }
        if (settings.late_stacks && flags & SWITCH_FLAG_IN)
                note_return(record->next_tid, now_ns);
        record->head.n_bytes = n_bytes;
        commit(ring, settings.ring_bytes, n_bytes);
        return 0;
}

/*
 * At the end of the switch, unlike in sched_switch, the thread's memory can be read, and its stack is still
 * as it was during the wait.  Interrupts are on, but no other thread comes onto the CPU.
 */
SEC("tp_btf/sched_exit_tp")
int on_exit(__u64 *ctx)
{
        __u32 key = 0, cpu;
        struct last_task *last = bpf_map_lookup_elem(&last_tasks, &key);
        struct task_struct *task;
        struct switch_record_late *record;
        struct switch_ring_head *ring;
        __u64 late_ns;
        __u32 n_bytes = sizeof(*record);

        if (!last || last->late_ns == 0)
                return 0;
        late_ns = last->late_ns;
        last->late_ns = 0;
        task = bpf_get_current_task_btf();
        cpu = bpf_get_smp_processor_id();
        ring = bpf_map_lookup_elem(&late_rings, &cpu);
        if (!ring || (__u32)task->pid != last->tid)
                return 0;
        record = claim(ring, settings.late_bytes, STACK_BYTES_MAX(*record));
        if (!record)
                return 0;
        record->head.kind = SWITCH_RECORD_LATE;
        record->head.flags = SWITCH_FLAG_STACK;
        record->head.state = 0;
        record->head.time_ns = late_ns + SWITCH_LATE_NS;
        record->pid = last->pid;
        record->tid = last->tid;
        n_bytes += add_stack(ctx, &record->head, (struct switch_stack *)(record + 1), user_registers(task));
        record->head.n_bytes = n_bytes;
        commit(ring, settings.late_bytes, n_bytes);
        return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
        struct task_struct *parent = (struct task_struct *)ctx[0];
        struct task_struct *child = (struct task_struct *)ctx[1];
        __u32 pid = (__u32)parent->tgid, child_pid = (__u32)child->tgid;
        struct switch_ring_head *ring;
        __u8 value = 1;

        if (child_pid == pid || !bpf_map_lookup_elem(&processes, &pid))
                return 0;
        if (bpf_map_update_elem(&processes, &child_pid, &value, BPF_ANY) < 0 && (ring = own_ring()) != NULL)
                __sync_fetch_and_add(&ring->n_lost, 1);
        return 0;
}

/* The ID of a thread in its own namespace; 0 = the same as the ID that we see, or unknown. */
static __always_inline __u32 own_number_of(const struct task_struct *task)
{
        const struct pid *pid; /* read as a number: Linux 6.1's verifier adds no level to a pointer */
        __u32 level;
        __s32 number;

        if (!bpf_core_field_exists(task->thread_pid) ||
            bpf_probe_read_kernel(&pid, sizeof(pid), &task->thread_pid) < 0 ||
            bpf_probe_read_kernel(&level, sizeof(level), &pid->level) < 0)
                return 0;
        if (level == 0 || level > PID_LEVELS_MAX)
                return 0;
        if (bpf_probe_read_kernel(&number, sizeof(number),
                                  (const char *)&pid->numbers + level * bpf_core_type_size(struct upid)) < 0)
                return 0;
        return (__u32)number;
}

/* A program identifies an emitting thread by the ID in the thread's own namespace. */
SEC("tp_btf/sched_process_fork")
int on_thread(__u64 *ctx)
{
        struct task_struct *parent = (struct task_struct *)ctx[0];
        struct task_struct *child = (struct task_struct *)ctx[1];
        struct switch_record_number *record;
        struct switch_ring_head *ring;
        struct task_place place;
        __u32 own_tid;

        if (child->tgid != parent->tgid || (own_tid = own_number_of(child)) == 0)
                return 0;
        find_place_slowly(child, &place);
        if (!switch_events_is_wanted(&place))
                return 0;
        ring = own_ring();
        if (!ring || ring->is_off)
                return 0;
        record = claim(ring, settings.ring_bytes, sizeof(*record));
        if (!record)
                return 0;
        record->head.kind = SWITCH_RECORD_NUMBER;
        record->head.flags = 0;
        record->head.state = 0;
        record->head.n_bytes = sizeof(*record);
        record->head.time_ns = bpf_ktime_get_ns();
        record->pid = (__u32)child->tgid;
        record->tid = (__u32)child->pid;
        record->own_tid = own_tid;
        record->parent_tid = (__u32)parent->pid;
        commit(ring, settings.ring_bytes, sizeof(*record));
        return 0;
}

/* Runs later than the process's end, so that its last switch still counts as its own. */
SEC("tp_btf/sched_process_free")
int on_free(__u64 *ctx)
{
        struct task_struct *task = (struct task_struct *)ctx[0];
        __u32 pid = (__u32)task->tgid;

        if (task->pid == task->tgid)
                (void)bpf_map_delete_elem(&processes, &pid);
        return 0;
}

/* The hooks of --syscalls, and of wake-ups. */
#include "sampler/bpf/syscall_hooks.h"
#include "sampler/bpf/wakeup_hooks.h"
