/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side.h"

#include "base/byte_buffer.h"
#include "instrument/region_finder.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/proc/process_filter.h"
#include "sampler/proc/process_maps.h"
#include "sampler/proc/running_process.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Names a thread.  A name for a process's first thread ends the earlier meaning of the process's number. */
static int take_name(const struct perf_record *thread, const char *name, size_t name_bytes,
                     struct kernel_side *samples)
{
        struct perf_record rec = *thread;

        rec.kind = PERF_RECORD_KIND_COMM;
        rec.comm.name = name;
        rec.comm.name_bytes = name_bytes;
        rec.comm.exec = thread->tid == thread->pid;
        return kernel_side_take(samples, &rec);
}

/* Adds the name of a thread.  /proc/PID/stat has the name as well, but escapes some characters. */
static int add_name(const struct perf_record *thread, const struct running_process *p,
                    struct kernel_side *samples)
{
        struct byte_buffer text = { .data = NULL };
        int r = 0;

        if (!strchr(p->name, '\\'))
                return take_name(thread, p->name, strlen(p->name), samples);
        if (running_process_add_name(thread->pid, thread->tid, &text) == 0)
                r = take_name(thread, (const char *)text.data, text.used_bytes, samples);
        byte_buffer_deinit(&text);
        return r;
}

/*
 * Adds a thread, its name, and whether it is off the CPU already, since the kernel only reports changes of
 * that.
 */
static int add_thread(const struct running_process *p, uint32_t tid, struct kernel_side *samples,
                      uint64_t time_ns)
{
        struct perf_record rec = { .kind = PERF_RECORD_KIND_FORK,
                                   .pid = p->pid,
                                   .tid = tid,
                                   .time_ns = time_ns,
                                   .fork = { .parent_pid = tid == p->pid ? p->parent_pid : p->pid } };
        struct running_process thread = *p;
        int r;

        /* The facts that were read of the process hold for its first thread only. */
        if (tid != p->pid && running_process_read_thread(p->pid, tid, &thread) < 0)
                return 0; /* it has ended */
        r = kernel_side_take(samples, &rec);
        if (r == 0)
                r = add_name(&rec, &thread, samples);
        rec.kind = PERF_RECORD_KIND_SWITCH;
        rec.context_switch.out = true;
        rec.context_switch.preempted = false;
        rec.context_switch.was_out = true;
        rec.cpu = thread.cpu;
        if (r == 0 && thread.is_waiting)
                r = kernel_side_take(samples, &rec);
        return r;
}

/*
 * Adds the mappings as one thread sees them; all threads see the same.  Returns 1 if there were any, 0, or
 * -ENOMEM.
 */
static int add_mappings(const struct running_process *p, uint32_t tid, struct kernel_side *samples,
                        uint64_t time_ns, bool *ret_has_region)
{
        struct perf_record record = {
                .kind = PERF_RECORD_KIND_MMAP, .pid = p->pid, .tid = p->pid, .time_ns = time_ns
        };
        struct process_maps maps;
        int n_mappings = 0;
        int r = process_maps_open(&maps, tid, NULL);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        while (r == 0 && process_maps_next(&maps, &record.mmap) == 1) {
                record.mmap.was_there = true;
                if (region_finder_is_region_name(record.mmap.path, record.mmap.path_bytes))
                        *ret_has_region = true;
                n_mappings = 1;
                r = kernel_side_take(samples, &record);
        }
        process_maps_close(&maps);
        return r < 0 ? r : n_mappings;
}

static bool is_wanted(const struct process_filter *filter, uint32_t pid, uint32_t tid)
{
        return !filter || process_filter_has_thread(filter, pid, tid);
}

int process_intake_add(const struct running_process *process, const struct process_filter *filter,
                       struct kernel_side *samples, uint64_t time_ns, bool *ret_has_region)
{
        struct running_numbers threads = { .numbers = NULL };
        int r = 0;

        if (is_wanted(filter, process->pid, process->pid))
                r = add_thread(process, process->pid, samples, time_ns);

        *ret_has_region = false;
        if (r == 0 && running_numbers_read(&threads, process->pid, NULL) == -ENOMEM)
                r = -ENOMEM;
        for (size_t i = 0; r == 0 && i < threads.n_numbers; i++)
                if (threads.numbers[i] != process->pid && is_wanted(filter, process->pid, threads.numbers[i]))
                        r = add_thread(process, threads.numbers[i], samples, time_ns);
        for (size_t i = 0; r == 0 && i < threads.n_numbers; i++)
                r = add_mappings(process, threads.numbers[i], samples, time_ns, ret_has_region);
        running_numbers_deinit(&threads);
        return r < 0 ? r : 0;
}
