/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_gil.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 32

struct known_gil {
        uint32_t pid;
        uint32_t lock;       /* row of LOCKS */
        uint32_t holder_tid; /* 0 = the lock is free, or its holder is not known */
};

struct python_gil {
        const struct recording *recording; /* borrowed */
        struct known_gil *items;           /* heap, owned */
        size_t n_items, capacity;
};

int python_gil_new(const struct recording *recording, struct python_gil **ret_gil)
{
        struct python_gil *g = calloc(1, sizeof(*g));

        if (!g)
                return -ENOMEM;
        g->recording = recording;
        *ret_gil = g;
        return 0;
}

void python_gil_free(struct python_gil *g)
{
        if (!g)
                return;
        free(g->items);
        free(g);
}

/* ---- locks --------------------------------------------------------------------------------------------- */

static struct known_gil *find_gil(const struct python_gil *g, uint32_t pid)
{
        for (size_t i = 0; i < g->n_items; i++)
                if (g->items[i].pid == pid)
                        return &g->items[i];
        return NULL;
}

/*
 * Adds the lock's row in LOCKS, called "GIL of NAME (PID)".  Returns 0 or -errno; -EOVERFLOW if a table is
 * full.
 */
static int gil_add_lock(const struct python_gil *g, const struct thread_track *thread, uint32_t *ret_lock)
{
        struct trace_dictionary *dictionary = g->recording->dictionary;
        struct trace_lock lock = { .process = thread->process->process };
        const struct thread_track *first = process_table_find_thread(g->recording->processes,
                                                                     thread->process->pid);
        struct text_view name = trace_dictionary_text(dictionary, first ? first->name : thread->name);
        struct trace_location location = { .line = 0 };
        char words[64];
        int r;

        (void)snprintf(words, sizeof(words), "GIL of %.*s (%" PRIu32 ")",
                       (int)(name.n_bytes < NAME_BYTES_MAX ? name.n_bytes : NAME_BYTES_MAX),
                       name.n_bytes > 0 ? name.bytes : "", thread->process->pid);
        r = trace_dictionary_add_string(dictionary, words, strlen(words), &location.name);
        if (r == 0)
                r = trace_dictionary_add(dictionary, TRACE_TABLE_LOCATIONS, &location, &lock.location);
        return r < 0 ? r : trace_dictionary_add(dictionary, TRACE_TABLE_LOCKS, &lock, ret_lock);
}

/* *@ret_gil: NULL if a table of the trace is full.  Returns 0 or -ENOMEM. */
static int gil_of(struct python_gil *g, const struct thread_track *thread, struct known_gil **ret_gil)
{
        struct known_gil new = { .pid = thread->process->pid };
        int r;

        *ret_gil = find_gil(g, new.pid);
        if (*ret_gil)
                return 0;
        r = gil_add_lock(g, thread, &new.lock);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        if (array_reserve(&g->items, &g->capacity, g->n_items + 1, sizeof(*g->items)) < 0)
                return -ENOMEM;
        g->items[g->n_items] = new;
        *ret_gil = &g->items[g->n_items++];
        return 0;
}

void python_gil_forget(struct python_gil *g, uint32_t pid)
{
        struct known_gil *gil = g ? find_gil(g, pid) : NULL;

        if (gil)
                *gil = g->items[--g->n_items];
}

/* ---- events -------------------------------------------------------------------------------------------- */

static int put_event(const struct python_gil *g, struct thread_track *thread, enum trace_op op, uint32_t lock,
                     uint64_t time_ns)
{
        struct pending_event pending = { .event = { .op = op, .time_ns = time_ns } };

        pending.event.operand[0] = lock;
        return process_table_add_pending(g->recording->processes, thread, &pending);
}

/* A thread of the same process; else NULL. */
static struct thread_track *gil_find_thread(const struct python_gil *g, const struct known_gil *gil,
                                            uint32_t tid)
{
        struct thread_track *thread = tid != 0 ? process_table_find_thread(g->recording->processes, tid)
                                               : NULL;

        return thread && thread->process->pid == gil->pid && !thread->exits ? thread : NULL;
}

/* The interpreter knows the holder by the number in its own PID namespace. */
static struct thread_track *gil_find_holder(const struct python_gil *g, const struct known_gil *gil,
                                            const struct process_track *process, uint32_t own_tid)
{
        struct thread_track *thread = process_table_find_own(process, own_tid);

        return gil_find_thread(g, gil, thread ? thread->tid : own_tid);
}

static int gil_release(const struct python_gil *g, struct known_gil *gil, uint64_t time_ns)
{
        struct thread_track *holder = gil_find_thread(g, gil, gil->holder_tid);

        gil->holder_tid = 0;
        return holder ? put_event(g, holder, TRACE_OP_LOCK_RELEASE, gil->lock, time_ns) : 0;
}

static int gil_obtain(const struct python_gil *g, struct known_gil *gil, struct thread_track *thread,
                      uint64_t time_ns)
{
        int r = gil->holder_tid != thread->tid ? gil_release(g, gil, time_ns) : 0;

        if (r < 0 || gil->holder_tid == thread->tid)
                return r;
        gil->holder_tid = thread->tid;
        return put_event(g, thread, TRACE_OP_LOCK_OBTAIN, gil->lock, time_ns);
}

/* Ends the wait of a thread that got the lock. */
static int end_wait(struct python_gil *g, struct known_gil *gil, struct thread_track *thread,
                    uint64_t time_ns)
{
        thread->gil.lock = 0;
        thread->gil.is_unsure = false;
        return gil_obtain(g, gil, thread, time_ns);
}

/* ---- records ------------------------------------------------------------------------------------------- */

/* True if the thread slept, asked for the lock, and sleeps on. */
static bool goes_on_waiting(const struct gil_track *t, const struct perf_record *rec)
{
        return t->lock != 0 && (t->n_switches == rec->gil.n_switches || !t->is_unsure ||
                                rec->time_ns - t->in_ns < PACE_PYTHON_ASK_NS);
}

static int begin_wait(struct python_gil *g, struct known_gil *gil, struct thread_track *thread,
                      uint64_t time_ns)
{
        int r = 0;

        if (thread->gil.lock != 0)
                r = end_wait(g, gil, thread, time_ns);
        if (r == 0 && gil->holder_tid == thread->tid)
                r = gil_release(g, gil, time_ns);
        thread->gil.lock = gil->lock;
        return r < 0 ? r : put_event(g, thread, TRACE_OP_LOCK_WAIT, gil->lock, time_ns);
}

int python_gil_wait(struct python_gil *g, struct thread_track *thread, const struct perf_record *rec)
{
        struct gil_track *t = &thread->gil;
        struct known_gil *gil = NULL;
        struct thread_track *holder;
        int r = g ? gil_of(g, thread, &gil) : 0;

        if (r < 0 || !gil)
                return r;
        holder = gil_find_holder(g, gil, thread->process, rec->gil.holder_tid);
        if (!goes_on_waiting(t, rec))
                r = begin_wait(g, gil, thread, rec->time_ns);
        if (r == 0 && holder && holder != thread)
                r = gil_obtain(g, gil, holder, rec->time_ns);
        t->is_next = true;
        t->is_unsure = false;
        t->out_ns = rec->time_ns;
        t->n_switches = rec->gil.n_switches;
        t->interval_ns = rec->gil.interval_ns;
        return r;
}

/*
 * A waiting thread runs again: it was woken because the lock is free, unless it has slept for its whole
 * interval.
 */
static int come_back(struct python_gil *g, struct known_gil *gil, struct thread_track *thread,
                     uint64_t time_ns)
{
        struct gil_track *t = &thread->gil;

        if (t->lock == 0 || t->is_unsure)
                return 0;
        t->in_ns = time_ns;
        t->is_unsure = time_ns - t->out_ns >= t->interval_ns;
        return t->is_unsure ? 0 : end_wait(g, gil, thread, time_ns);
}

int python_gil_switch(struct python_gil *g, struct thread_track *thread, const struct perf_record *rec)
{
        struct gil_track *t = &thread->gil;
        struct known_gil *gil = g && g->n_items > 0 ? find_gil(g, thread->process->pid) : NULL;
        int r = 0;

        if (!gil)
                return 0;
        if (!rec->context_switch.out)
                return come_back(g, gil, thread, rec->time_ns);
        if (t->is_next) {
                t->is_next = false;
                return 0;
        }
        if (rec->context_switch.preempted)
                return 0;
        if (t->is_unsure)
                r = end_wait(g, gil, thread, rec->time_ns);
        return r == 0 && gil->holder_tid == thread->tid ? gil_release(g, gil, rec->time_ns) : r;
}

int python_gil_sample(struct python_gil *g, struct thread_track *thread, bool holds, uint64_t time_ns)
{
        struct known_gil *gil = NULL;
        int r = g ? gil_of(g, thread, &gil) : 0;

        if (r < 0 || !gil)
                return r;
        if (!holds)
                return gil->holder_tid == thread->tid ? gil_release(g, gil, time_ns) : 0;
        return thread->gil.lock != 0 ? end_wait(g, gil, thread, time_ns)
                                     : gil_obtain(g, gil, thread, time_ns);
}

int python_gil_end(struct python_gil *g, struct thread_track *thread, uint64_t time_ns)
{
        struct known_gil *gil = g ? find_gil(g, thread->process->pid) : NULL;

        thread->gil = (struct gil_track){ .lock = 0 };
        return gil && gil->holder_tid == thread->tid ? gil_release(g, gil, time_ns) : 0;
}
