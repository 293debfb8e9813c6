/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/running_process.h - a process that is already running: facts from /proc, in place of records
 * that were not taken
 *
 * Way of the data:  /proc/PID -> [running_process] -> process_intake, process_filter, attachment
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_PROC_RUNNING_PROCESS_H
#define SAMPLER_PROC_RUNNING_PROCESS_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define RUNNING_PROCESS_NAME_BYTES 64 /* the kernel cuts names of programs after 15, its own later */

/* Or one of its threads. */
struct running_process {
        uint32_t pid;
        uint32_t parent_pid; /* 0 = none in our PID namespace */
        bool is_kernel_thread;
        bool is_waiting;                       /* the thread is not on a CPU, and not about to be */
        char name[RUNNING_PROCESS_NAME_BYTES]; /* cut to fit */
        uint32_t cpu;                          /* the CPU that it is on, or was on last; 0 if unknown */
};

/* Parses the text of /proc/PID/stat; public for its test.  Returns 0 or -EBADMSG. */
int running_process_parse(const char *text, struct running_process *ret_process);

/* Returns 0; -ESRCH if there is no such process; -errno. */
int running_process_read(uint32_t pid, struct running_process *ret_process, struct error *err);

/* The same of one of its threads. */
int running_process_read_thread(uint32_t pid, uint32_t tid, struct running_process *ret_thread);

/*
 * Appends the name of a thread, or of the process, which has the number of its first thread.  Returns 0;
 * -ENOENT if the process has no such thread; -errno.
 */
int running_process_add_name(uint32_t pid, uint32_t tid, struct byte_buffer *text);

/* The process's real user; 0 also if there is no such process. */
uint32_t running_process_user(uint32_t pid);

/*
 * The process's parent; 0 = none in our PID namespace, or no such process.  Unlike running_process_read()
 * it does not wait while the process begins a program: a process that starves there would hold up the
 * collector.
 */
uint32_t running_process_parent(uint32_t pid);

/* The process of a thread, or 0. */
uint32_t running_process_of_thread(uint32_t tid);

/*
 * running_process_check_thread() - can this thread be recorded?  As running_process_check()
 * Returns 0; -ESRCH, -EINVAL (a kernel thread, one of ours), -EACCES, with one line of words.
 */
int running_process_check_thread(uint32_t tid, struct error *err);

/*
 * running_process_check() - can this process be recorded?  Found out by trying
 * Returns 0; -ESRCH, -EINVAL (a kernel thread, a thread's number, we ourselves), or -EACCES: one
 * line of words for each.
 */
int running_process_check(uint32_t pid, struct error *err);

/* Numbers, as /proc lists them. */
struct running_numbers {
        uint32_t *numbers; /* heap, owned */
        size_t n_numbers, capacity;
};

void running_numbers_deinit(struct running_numbers *list);

/* Lists the threads of a process, or with @pid 0 all processes.  Returns 0, -ESRCH, -ENOMEM, -errno. */
int running_numbers_read(struct running_numbers *list, uint32_t pid, struct error *err);

/*
 * Appends the command line, with blanks between its words; the name if there is no command line.  Fails
 * only if memory runs out.
 */
void running_process_add_command_line(uint32_t pid, struct byte_buffer *text);

#endif /* SAMPLER_PROC_RUNNING_PROCESS_H */
