/* SPDX-License-Identifier: MIT */
/*
 * export/shared/process_names.h - processes and threads of a trace as other tools want them: each
 * with a number and a name
 *
 * Way of the data:  trace_dictionary, trace_walk (names) -> [process_names] -> export_*
 *
 * A PID that was used again is another process: its number goes on as "1234.1".  A fiber has no TID:
 * it gets a number above all that the kernel gives.  Names are known when the trace was walked
 * through.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_PROCESS_NAMES_H
#define EXPORT_SHARED_PROCESS_NAMES_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;
struct trace_walk;

/* TIDs of Linux are smaller; a fiber gets this plus its id in THREADS. */
#define PROCESS_NAMES_FIBER_TID (UINT32_C(1) << 23)

/* PIDs of Linux are smaller; this is added once for each earlier process with the same PID. */
#define PROCESS_NAMES_PID_STEP (UINT32_C(1) << 22)

#define PROCESS_NAMES_PID_BYTES 24

struct named_process {
        uint32_t main_thread; /* id in THREADS: whose TID is the PID, else the first; 0 = it has none */
        uint32_t program;     /* string: its name as a program; 0 = that of its main thread */
        uint32_t reuse;       /* 0 = the first process with its PID, 1 = the second ... */
};

struct process_names {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct named_process *processes;           /* heap; by id - 1 */
        uint32_t *thread_names;                    /* heap; strings by thread id - 1; 0 = none */
        bool *has_events;                          /* heap; by thread id - 1 */
        uint32_t n_processes, n_threads;
};

/* Zero-initialised is valid for process_names_deinit().  Returns 0 or -ENOMEM. */
int process_names_init(struct process_names *n, const struct trace_dictionary *dictionary);
void process_names_deinit(struct process_names *n);

/* Takes the threads' names from a walk that is over. */
void process_names_learn(struct process_names *n, const struct trace_walk *walk);

/* "1234", "1234.1"; @pid: PROCESS_NAMES_PID_BYTES */
const char *process_names_pid(const struct process_names *n, uint32_t process, char *pid);

/* The same as a number, for formats that take no other. */
uint32_t process_names_pid_number(const struct process_names *n, uint32_t process);

/* For the kernel's threads the TID; for fibers a number of their own. */
uint32_t process_names_tid(const struct process_names *n, uint32_t thread);

/* The string that is its name, as below; 0 = not known. */
uint32_t process_names_thread_string(const struct process_names *n, uint32_t thread);

/* Its last name, else its process's; "" if neither is known. */
struct text_view process_names_thread(const struct process_names *n, uint32_t thread);
/*
 * The name of its main thread.  If the program has changed that name: the one of the program's file, which
 * the kernel gave the thread before.
 */
struct text_view process_names_process(const struct process_names *n, uint32_t process);

uint32_t process_names_process_of(const struct process_names *n, uint32_t thread);

static inline bool process_names_is_main(const struct process_names *n, uint32_t thread)
{
        return n->processes[process_names_process_of(n, thread) - 1].main_thread == thread;
}

#endif /* EXPORT_SHARED_PROCESS_NAMES_H */
