/* SPDX-License-Identifier: MIT */
/*
 * A record that is skipped here has already cost its room in the ring and its decoding.  Where that becomes
 * too much, the same sets can be handed to a BPF program on the events (PERF_EVENT_IOC_SET_BPF), which
 * drops foreign samples in the kernel; then this file fills the program's map, and still judges the earlier
 * records.
 */
#include "sampler/proc/process_filter.h"

#include "sampler/kernel/perf_record.h"
#include "sampler/proc/running_process.h"

#define ANCESTORS_MAX 64

/* ---- who is ours --------------------------------------------------------------------------------------- */

void process_filter_init(struct process_filter *f)
{
        *f = (struct process_filter){ .everything = false };
        number_bitmap_init(&f->pids);
        number_bitmap_init(&f->tids);
        number_bitmap_init(&f->hosts);
        number_bitmap_init(&f->own);
}

void process_filter_deinit(struct process_filter *f)
{
        number_bitmap_deinit(&f->pids);
        number_bitmap_deinit(&f->tids);
        number_bitmap_deinit(&f->hosts);
        number_bitmap_deinit(&f->own);
}

int process_filter_add_process(struct process_filter *f, uint32_t pid)
{
        return number_bitmap_add(&f->pids, pid);
}

int process_filter_add_thread(struct process_filter *f, uint32_t pid, uint32_t tid)
{
        int r = number_bitmap_add(&f->tids, tid);

        return r < 0 ? r : number_bitmap_add(&f->hosts, pid);
}

int process_filter_add_own(struct process_filter *f, uint32_t pid)
{
        return number_bitmap_add(&f->own, pid);
}

bool process_filter_is_own(const struct process_filter *f, uint32_t pid)
{
        return number_bitmap_has(&f->own, pid);
}

bool process_filter_has_process(const struct process_filter *f, uint32_t pid)
{
        if (number_bitmap_has(&f->own, pid))
                return false;
        return f->everything || number_bitmap_has(&f->pids, pid) || number_bitmap_has(&f->hosts, pid);
}

bool process_filter_has_thread(const struct process_filter *f, uint32_t pid, uint32_t tid)
{
        if (number_bitmap_has(&f->own, pid))
                return false;
        return f->everything || number_bitmap_has(&f->pids, pid) || number_bitmap_has(&f->tids, tid);
}

/* ---- records ------------------------------------------------------------------------------------------- */

/* A number that a fork assigns no longer belongs to an earlier process. */
static bool take_fork(struct process_filter *f, const struct perf_record *rec)
{
        uint32_t parent_pid = rec->fork.parent_pid;

        number_bitmap_remove(&f->tids, rec->tid);
        if (rec->pid == parent_pid)
                return process_filter_has_thread(f, rec->pid, rec->tid);
        number_bitmap_remove(&f->pids, rec->pid);
        number_bitmap_remove(&f->hosts, rec->pid);
        number_bitmap_remove(&f->own, rec->pid);
        if (number_bitmap_has(&f->own, parent_pid)) {
                (void)number_bitmap_add(&f->own, rec->pid);
                return false;
        }
        if (f->everything)
                return true;
        return !f->no_children && number_bitmap_has(&f->pids, parent_pid) &&
               number_bitmap_add(&f->pids, rec->pid) == 0;
}

/* True for the idle task and for threads that are about to vanish, which have no number. */
static bool is_nobody(uint32_t tid)
{
        return tid == 0 || tid == UINT32_MAX;
}

bool process_filter_takes(struct process_filter *f, const struct perf_record *rec)
{
        switch (rec->kind) {
        case PERF_RECORD_KIND_FORK:
                return take_fork(f, rec);
        case PERF_RECORD_KIND_SAMPLE:
                if (!is_nobody(rec->tid) && rec->pid != f->unborn_pid &&
                    process_filter_has_thread(f, rec->pid, rec->tid))
                        return true;
                f->n_foreign += rec->tid != 0;
                return false;
        case PERF_RECORD_KIND_MMAP:
                return rec->pid != f->unborn_pid && process_filter_has_process(f, rec->pid);
        case PERF_RECORD_KIND_COMM:
                if (rec->pid == f->unborn_pid && rec->comm.exec)
                        f->unborn_pid = 0;
                break;
        case PERF_RECORD_KIND_EXIT:
        case PERF_RECORD_KIND_SWITCH:
        case PERF_RECORD_KIND_WAKEUP:
        case PERF_RECORD_KIND_GIL:
        case PERF_RECORD_KIND_LATE:
        case PERF_RECORD_KIND_NUMBER:
        case PERF_RECORD_KIND_SYSCALL:
        case PERF_RECORD_KIND_PROBE:
                break;
        case PERF_RECORD_KIND_KERNEL_CODE:
        case PERF_RECORD_KIND_LOST:
        case PERF_RECORD_KIND_LOST_SAMPLES:
        case PERF_RECORD_KIND_THROTTLE:
        case PERF_RECORD_KIND_OTHER:
                return true;
        }
        return !is_nobody(rec->tid) && rec->pid != f->unborn_pid &&
               process_filter_has_thread(f, rec->pid, rec->tid);
}

bool process_filter_may_take(const struct process_filter *f, uint32_t pid)
{
        uint32_t above = pid;

        if (f->everything)
                return process_filter_has_process(f, pid);
        for (int i = 0; i < ANCESTORS_MAX && above > 1; i++) {
                if (process_filter_has_process(f, above))
                        return i == 0 || !f->no_children;
                above = running_process_parent(above);
        }
        return false;
}
