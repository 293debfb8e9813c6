/* SPDX-License-Identifier: MIT */
#include "sampler/zones/zone_merge.h"

#include "instrument/client_region.h"
#include "instrument/own_number.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/thread_track.h"
#include "sampler/zones/zone_region.h"

#include <errno.h>

/* Asks /proc for each thread once, and again only for new threads. */
static int ask_proc(const struct process_table *table, const struct process_track *process,
                    struct zone_region *region, unsigned *n_left)
{
        struct thread_track *thread;
        uint32_t own_tid;
        size_t at = 0;
        int r = 0;

        while (r == 0 && (thread = process_table_next_thread(table, process, &at)) != NULL) {
                if (thread->own_tid != 0 || thread->was_asked)
                        continue;
                if (*n_left == 0)
                        return -EAGAIN;
                --*n_left;
                thread->was_asked = true;
                if (own_number_read_thread(process->pid, thread->tid, &own_tid) == 0)
                        r = process_table_number_thread(thread, own_tid);
        }
        if (r == 0)
                region->n_threads_asked = process->n_threads_ever;
        return r;
}

int own_threads_find(const struct process_table *table, struct zone_region *region, uint32_t own_tid,
                     unsigned *n_left, uint32_t *ret_tid)
{
        const struct process_track *process = process_table_find_process(table, region->pid);
        uint32_t own_pid = client_region_pid(region->region);
        const struct thread_track *thread;
        int r = 0;

        *ret_tid = 0;
        if (own_pid == region->pid || own_tid == own_pid) {
                *ret_tid = own_pid == region->pid ? own_tid : region->pid;
                return 0;
        }
        if (!process || process->process != region->process)
                return 0;
        thread = process_table_find_own(process, own_tid);
        if (!thread && region->n_threads_asked != process->n_threads_ever) {
                r = ask_proc(table, process, region, n_left);
                thread = process_table_find_own(process, own_tid);
        }
        if (!thread)
                return r;
        *ret_tid = thread->tid;
        return 0;
}
