/* SPDX-License-Identifier: MIT */
#include "sampler/recording/syscall_sums.h"

#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/kernel/syscall_names.h"
#include "sampler/recording/recording_facts.h"
#include "sampler/switches/switch_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A sum as it was read. */
struct read_sum {
        struct syscall_key key;
        struct syscall_sum sum;
};

/* A thread of the trace. */
struct known_thread {
        uint32_t pid, tid;
        uint32_t row;
        bool is_taken; /* the next request with the same TID is for a later thread */
};

struct syscall_sums {
        struct trace_dictionary *dictionary;
        struct read_sum *sums; /* heap */
        size_t n_sums, capacity;
        struct known_thread *threads; /* heap; by pid, tid, row */
        size_t n_threads;
};

int syscall_sums_describe(struct trace_dictionary *dictionary, uint32_t *ret_event)
{
        struct trace_sample_event row = { .mode = TRACE_SAMPLE_MODE_WITH_LEADER };
        int r = recording_facts_add_number(dictionary, "syscalls", 1);

        if (r == 0)
                r = trace_dictionary_add_string(dictionary, SYSCALL_SUMS_EVENT, strlen(SYSCALL_SUMS_EVENT),
                                                &row.name);
        if (r == 0)
                r = trace_dictionary_add_string(dictionary, "calls", strlen("calls"), &row.unit);
        return r < 0 ? r : trace_dictionary_add(dictionary, TRACE_TABLE_SAMPLE_EVENTS, &row, ret_event);
}

/* ---- the threads of the trace -------------------------------------------------------------------------- */

static int compare_threads(const void *a, const void *b)
{
        const struct known_thread *x = a, *y = b;

        if (x->pid != y->pid)
                return x->pid < y->pid ? -1 : 1;
        if (x->tid != y->tid)
                return x->tid < y->tid ? -1 : 1;
        return x->row < y->row ? -1 : x->row > y->row;
}

static int list_threads(struct syscall_sums *s)
{
        uint32_t n = trace_dictionary_count(s->dictionary, TRACE_TABLE_THREADS);

        s->threads = calloc((size_t)n + 1, sizeof(*s->threads));
        if (!s->threads)
                return -ENOMEM;
        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_thread *thread = trace_dictionary_row(s->dictionary, TRACE_TABLE_THREADS,
                                                                         id);
                const struct trace_process *process = trace_dictionary_row(
                        s->dictionary, TRACE_TABLE_PROCESSES, thread->process);

                if (thread->kind == TRACE_THREAD_KERNEL)
                        s->threads[s->n_threads++] = (struct known_thread){ process->pid, thread->tid, id,
                                                                            false };
        }
        qsort(s->threads, s->n_threads, sizeof(*s->threads), compare_threads);
        return 0;
}

/*
 * Finds the trace's thread for a thread that BPF counted; these come in the order of BPF's numbers.  0 =
 * none.
 */
static uint32_t take_thread(struct syscall_sums *s, uint32_t pid, uint32_t tid)
{
        const struct known_thread wanted = { .pid = pid, .tid = tid };
        size_t low = 0, high = s->n_threads;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (compare_threads(&s->threads[middle], &wanted) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == s->n_threads || s->threads[low].pid != pid || s->threads[low].tid != tid)
                return 0;
        while (low + 1 < s->n_threads && s->threads[low].is_taken && s->threads[low + 1].pid == pid &&
               s->threads[low + 1].tid == tid)
                low++;
        s->threads[low].is_taken = true;
        return s->threads[low].row;
}

/* ---- the sums ------------------------------------------------------------------------------------------ */

static int take_sum(void *context, const struct syscall_key *key, const struct syscall_sum *sum)
{
        struct syscall_sums *s = context;

        if (sum->n_calls == 0)
                return 0;
        if (array_reserve(&s->sums, &s->capacity, s->n_sums + 1, sizeof(*s->sums)) < 0)
                return -ENOMEM;
        s->sums[s->n_sums++] = (struct read_sum){ *key, *sum };
        return 0;
}

static int compare_sums(const void *a, const void *b)
{
        const struct syscall_key *x = &((const struct read_sum *)a)->key;
        const struct syscall_key *y = &((const struct read_sum *)b)->key;

        if (x->thread != y->thread)
                return x->thread < y->thread ? -1 : 1;
        return x->number < y->number ? -1 : x->number > y->number;
}

static int write_sum(struct syscall_sums *s, const struct read_sum *from, uint32_t thread)
{
        struct syscall_name name = syscall_names_find(from->key.number);
        struct trace_syscall row = { .n_calls = from->sum.n_calls,
                                     .n_errors = from->sum.n_errors,
                                     .time_ns = from->sum.time_ns,
                                     .longest_ns = from->sum.longest_ns,
                                     .n_bytes = syscall_names_is_transfer(&name) ? from->sum.n_bytes : 0,
                                     .thread = thread };
        uint32_t id;
        int r = trace_dictionary_add_string(s->dictionary, name.text, strlen(name.text), &row.name);

        return r < 0 ? r : trace_dictionary_add(s->dictionary, TRACE_TABLE_SYSCALLS, &row, &id);
}

static int write_sums(struct syscall_sums *s)
{
        const struct read_sum *before = NULL;
        uint32_t thread = 0;
        int r = list_threads(s);

        if (s->n_sums > 0)
                qsort(s->sums, s->n_sums, sizeof(*s->sums), compare_sums);
        for (size_t i = 0; r == 0 && i < s->n_sums; i++) {
                const struct read_sum *sum = &s->sums[i];

                if (sum->key.thread == 0)
                        thread = 0;
                else if (!before || before->key.thread != sum->key.thread || before->sum.tid != sum->sum.tid)
                        thread = take_thread(s, sum->sum.pid, sum->sum.tid);
                r = write_sum(s, sum, thread);
                before = sum;
        }
        return r;
}

int syscall_sums_write(const struct switch_source *switches, struct trace_dictionary *dictionary,
                       uint64_t *ret_n_missed, struct error *err)
{
        struct syscall_sums s = { .dictionary = dictionary };
        int r = switch_source_read_syscalls(switches, take_sum, &s, ret_n_missed);

        if (r == 0)
                r = write_sums(&s);
        free(s.sums);
        free(s.threads);
        return r < 0 ? error_set(err, r, "cannot read the sums of system calls") : 0;
}
