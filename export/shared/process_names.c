/* SPDX-License-Identifier: MIT */
#include "export/shared/process_names.h"

#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/intern.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_thread *thread_row(const struct trace_dictionary *d, uint32_t thread)
{
        return trace_dictionary_row(d, TRACE_TABLE_THREADS, thread);
}

static const struct trace_process *process_row(const struct trace_dictionary *d, uint32_t process)
{
        return trace_dictionary_row(d, TRACE_TABLE_PROCESSES, process);
}

static void find_main_threads(struct process_names *n)
{
        for (uint32_t i = 1; i <= n->n_threads; i++) {
                const struct trace_thread *thread = thread_row(n->dictionary, i);
                struct named_process *process = &n->processes[thread->process - 1];
                bool is_main = thread->kind != TRACE_THREAD_FIBER &&
                               thread->tid == process_row(n->dictionary, thread->process)->pid;

                if (process->main_thread == 0 || is_main)
                        process->main_thread = i;
        }
}

/* How often each PID was there before. */
static int count_reuse(struct process_names *n)
{
        uint32_t *counts = calloc((size_t)n->n_processes + 1, sizeof(*counts));
        struct intern pids;
        uint32_t id;
        int r = counts ? 0 : -ENOMEM;

        intern_init(&pids, sizeof(uint32_t), 0);
        for (uint32_t i = 1; r >= 0 && i <= n->n_processes; i++) {
                r = intern_add(&pids, &process_row(n->dictionary, i)->pid, sizeof(uint32_t), &id);
                if (r >= 0)
                        n->processes[i - 1].reuse = counts[id - 1]++;
        }
        intern_deinit(&pids);
        free(counts);
        return r < 0 ? r : 0;
}

int process_names_init(struct process_names *n, const struct trace_dictionary *dictionary)
{
        *n = (struct process_names){
                .dictionary = dictionary,
                .n_processes = trace_dictionary_count(dictionary, TRACE_TABLE_PROCESSES),
                .n_threads = trace_dictionary_count(dictionary, TRACE_TABLE_THREADS),
        };
        n->processes = calloc((size_t)n->n_processes + 1, sizeof(*n->processes));
        n->thread_names = calloc((size_t)n->n_threads + 1, sizeof(*n->thread_names));
        n->has_events = calloc((size_t)n->n_threads + 1, sizeof(*n->has_events));
        if (!n->processes || !n->thread_names || !n->has_events)
                return -ENOMEM;
        find_main_threads(n);
        return count_reuse(n);
}

void process_names_deinit(struct process_names *n)
{
        free(n->processes);
        free(n->thread_names);
        free(n->has_events);
        *n = (struct process_names){ .n_threads = 0 };
}

/* The kernel calls a program by its file's name, cut to so many bytes. */
#define PROGRAM_NAME_BYTES 15

static bool is_program(const struct process_names *n, const struct trace_module *module, uint32_t string)
{
        struct text_view path = trace_dictionary_text(n->dictionary, module->path);
        struct text_view name = trace_dictionary_text(n->dictionary, string);
        const char *slash = path.n_bytes != 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;
        size_t n_bytes;

        if (string == 0 || name.n_bytes == 0 || !slash)
                return false;
        n_bytes = path.n_bytes - (size_t)(slash + 1 - path.bytes);
        if (n_bytes > PROGRAM_NAME_BYTES)
                n_bytes = PROGRAM_NAME_BYTES;
        return n_bytes == name.n_bytes && memcmp(slash + 1, name.bytes, n_bytes) == 0;
}

/*
 * A process is named by the one of its main thread's last two names that matches the name of a mapped file;
 * if both do, by the last one.
 */
static void find_programs(struct process_names *n, const struct trace_walk *walk)
{
        uint32_t n_mappings = trace_dictionary_count(n->dictionary, TRACE_TABLE_MAPPINGS);

        for (uint32_t i = 1; i <= n_mappings; i++) {
                const struct trace_mapping *mapping = trace_dictionary_row(n->dictionary,
                                                                           TRACE_TABLE_MAPPINGS, i);
                struct named_process *process = &n->processes[mapping->process - 1];
                const struct thread_timeline *thread;
                const struct trace_module *module;

                if (process->main_thread == 0 || process->main_thread > walk->n_threads ||
                    mapping->module == 0)
                        continue;
                thread = &walk->threads[process->main_thread - 1].timeline;
                module = trace_dictionary_row(n->dictionary, TRACE_TABLE_MODULES, mapping->module);
                if (is_program(n, module, thread->name))
                        process->program = thread->name;
                else if (process->program == 0 && is_program(n, module, thread->name_before))
                        process->program = thread->name_before;
        }
}

static bool lived_in_range(const struct trace_walk *walk, const struct thread_timeline *thread)
{
        const struct trace_filter *f = walk->filter;

        return thread->started && (!f || (thread->first_ns < f->to_ns && thread->last_ns >= f->from_ns));
}

void process_names_learn(struct process_names *n, const struct trace_walk *walk)
{
        for (uint32_t i = 0; i < walk->n_threads && i < n->n_threads; i++) {
                n->thread_names[i] = walk->threads[i].timeline.name;
                n->has_events[i] = lived_in_range(walk, &walk->threads[i].timeline);
        }
        find_programs(n, walk);
}

const char *process_names_pid(const struct process_names *n, uint32_t process, char *pid)
{
        const struct trace_process *row = process_row(n->dictionary, process);
        uint32_t reuse = n->processes[process - 1].reuse;

        if (reuse == 0)
                (void)snprintf(pid, PROCESS_NAMES_PID_BYTES, "%" PRIu32, row->pid);
        else
                (void)snprintf(pid, PROCESS_NAMES_PID_BYTES, "%" PRIu32 ".%" PRIu32, row->pid, reuse);
        return pid;
}

uint32_t process_names_pid_number(const struct process_names *n, uint32_t process)
{
        if (process == 0)
                return 0; /* a device of no process */
        return process_row(n->dictionary, process)->pid +
               n->processes[process - 1].reuse * PROCESS_NAMES_PID_STEP;
}

uint32_t process_names_tid(const struct process_names *n, uint32_t thread)
{
        const struct trace_thread *row = thread_row(n->dictionary, thread);

        return row->kind == TRACE_THREAD_FIBER ? PROCESS_NAMES_FIBER_TID + thread : row->tid;
}

uint32_t process_names_thread_string(const struct process_names *n, uint32_t thread)
{
        uint32_t main = n->processes[process_names_process_of(n, thread) - 1].main_thread;

        return n->thread_names[thread - 1] != 0 ? n->thread_names[thread - 1] : n->thread_names[main - 1];
}

struct text_view process_names_thread(const struct process_names *n, uint32_t thread)
{
        return trace_dictionary_text(n->dictionary, process_names_thread_string(n, thread));
}

struct text_view process_names_process(const struct process_names *n, uint32_t process)
{
        const struct named_process *row = &n->processes[process - 1];
        uint32_t name = row->program;

        if (name == 0 && row->main_thread != 0)
                name = n->thread_names[row->main_thread - 1];
        return trace_dictionary_text(n->dictionary, name);
}

uint32_t process_names_process_of(const struct process_names *n, uint32_t thread)
{
        return thread_row(n->dictionary, thread)->process;
}
