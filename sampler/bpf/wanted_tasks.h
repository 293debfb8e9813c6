/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sampler/bpf/wanted_tasks.h - a part of switch_events.bpf: whether a task is one of those that are recorded
 *
 * Way of the data:  kernel (task_struct), switch_scope -> [wanted_tasks] -> switch_events.bpf
 */
#ifndef SAMPLER_BPF_WANTED_TASKS_H
#define SAMPLER_BPF_WANTED_TASKS_H

#define CGROUP_LEVELS_MAX 16

/*
 * Called if a task's cgroup is deeper than the wanted one, or if the wanted one is not known by its serial
 * number yet.  The pointers are read by calls, which is slow but rare.  For direct loads, the verifier would
 * look through all types of the kernel at each pointer.  The function is not static and takes a number
 * instead of a pointer, so it is verified once and not at each call.
 */
__attribute__((noinline)) int is_below_cgroup(__u64 cgroup_avma)
{
        struct cgroup *cgroup = (struct cgroup *)cgroup_avma;
        const struct cgroup_subsys_state *css = &cgroup->self;

        for (int i = 0; i <= CGROUP_LEVELS_MAX && css; i++) {
                if (BPF_CORE_READ(css, cgroup, kn, id) == scope.cgroup_id) {
                        if (i == 0) {
                                scope.cgroup_level = BPF_CORE_READ(cgroup, level);
                                scope.cgroup_serial = BPF_CORE_READ(css, serial_nr);
                        }
                        return 1;
                }
                css = BPF_CORE_READ(css, parent);
        }
        return 0;
}

/* A task, and whose it is. */
struct task_place {
        struct task_struct *task;
        __u64 cgroup_serial;
        __s32 cgroup_level;
        __u32 pid, tid;
};

/*
 * To be called before the program has branched: at each of the two pointers, on each way there, the verifier
 * searches all types of the kernel several times, which took most of the time to load the program.
 */
static __always_inline void find_place(struct task_struct *task, struct task_place *place)
{
        struct cgroup *cgroup = task->cgroups->dfl_cgrp;

        place->task = task;
        place->cgroup_serial = cgroup->self.serial_nr;
        place->cgroup_level = cgroup->level;
        place->pid = (__u32)task->tgid;
        place->tid = (__u32)task->pid;
}

/* The same by calls: for hooks that run less often than they are loaded. */
static __always_inline void find_place_slowly(struct task_struct *task, struct task_place *place)
{
        struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);

        place->task = task;
        place->cgroup_serial = BPF_CORE_READ(cgroup, self.serial_nr);
        place->cgroup_level = BPF_CORE_READ(cgroup, level);
        place->pid = (__u32)task->tgid;
        place->tid = (__u32)task->pid;
}

static __always_inline bool is_in_cgroup(const struct task_place *place)
{
        struct task_struct *task = place->task;

        if (place->cgroup_serial == scope.cgroup_serial)
                return true;
        return (scope.cgroup_serial == SWITCH_SERIAL_UNKNOWN || place->cgroup_level > scope.cgroup_level) &&
               is_below_cgroup((__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp)) != 0;
}

/* Not the idle task's. */
static __always_inline bool switch_events_is_wanted(const struct task_place *place)
{
        if (place->tid == 0)
                return false;
        if (scope.filter == SWITCH_FILTER_NONE)
                return true;
        if (scope.filter == SWITCH_FILTER_CGROUP)
                return is_in_cgroup(place);
        return bpf_map_lookup_elem(&processes, &place->pid) != NULL;
}

/* Both threads often belong to the same process, and then one look-up is enough. */
static __always_inline bool is_other_wanted(const struct task_place *place, const struct task_place *known,
                                            bool is_known_wanted)
{
        return scope.filter == SWITCH_FILTER_PROCESSES && place->pid == known->pid
                       ? is_known_wanted
                       : switch_events_is_wanted(place);
}

#endif /* SAMPLER_BPF_WANTED_TASKS_H */
