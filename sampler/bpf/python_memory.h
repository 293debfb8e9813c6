/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sampler/bpf/python_memory.h - a Python process in the table, and the lock of its interpreter (the GIL)
 *
 * Way of the data:  python_processes -> [python_memory] -> python_frames.bpf, switch_events.bpf
 *
 * The program's memory is hostile: it is read with bpf_probe_read_user(), which reads only the user's memory
 * that is there.  For BPF programs only.
 */
#ifndef SAMPLER_BPF_PYTHON_MEMORY_H
#define SAMPLER_BPF_PYTHON_MEMORY_H

#include "sampler/bpf/python_record.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

static __always_inline __u64 python_read_word(__u64 avma)
{
        __u64 word = 0;

        (void)bpf_probe_read_user(&word, sizeof(word), (const void *)avma);
        return word;
}

/*
 * The slot of a process: the one that its PID leads to, or one of the next PYTHON_PROBES; -1 = it has none.
 */
static __always_inline int python_find_slot(const struct python_processes *all, __u32 pid)
{
        for (__u32 i = 0; i < PYTHON_PROBES; i++) {
                __u32 slot = (pid + i) & (PYTHON_SLOTS - 1);

                if (all->slots[slot].pid == pid)
                        return (int)slot;
        }
        return -1;
}

/* Address of the GIL of the interpreter that was made last, which others share unless they have their own. */
static __always_inline __u64 python_find_gil(const struct python_process *p)
{
        __u64 interpreter;

        if (p->offsets.gil_bytes == 0 || p->gil_avma != 0)
                return p->gil_avma;
        interpreter = python_read_word(p->interpreters_avma);
        return interpreter != 0 ? python_read_word(interpreter + p->offsets.interpreter_gil) : 0;
}

/* The state of the thread that holds the GIL; 0 = the GIL is free. */
static __always_inline __u64 python_read_holder(const struct python_process *p, __u64 gil)
{
        return (__u32)python_read_word(gil + p->offsets.gil_locked) == 1
                       ? python_read_word(gil + p->offsets.gil_holder)
                       : 0;
}

#endif /* SAMPLER_BPF_PYTHON_MEMORY_H */
