/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/process_work.h - what a compiler, an assembler or a linker works on, by its command line
 *
 * Way of the data:  kernel_side (execve), /proc/PID/cmdline -> [process_work] -> PROGRAM_INFO
 *
 * Processes of a build have the same few names; the file tells them apart.  Only programs of a short list are
 * looked at, and of their words only one goes into the trace.  A process that has ended before the collector
 * comes to it says nothing.  Used by the collector's thread.
 */
#ifndef SAMPLER_MERGE_PROCESS_WORK_H
#define SAMPLER_MERGE_PROCESS_WORK_H

#include "base/text_view.h"

#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

#define PROCESS_WORK_BYTES 4096 /* longer words are none */

/*
 * process_work_of() - the word of a command line that says what the program works on
 * @program:  the name that the kernel gives it: at most 15 characters
 * @words:    @n bytes, each word with a NUL after it, as in /proc/PID/cmdline; the last may lack it
 * Returns a part of @words, empty if there is none, or the program is not of the list.
 */
struct text_view process_work_of(struct text_view program, const char *words, size_t n);

/*
 * process_work_note() - adds the row of a process that began a program
 * @process:  its id in PROCESSES
 * Returns 0, also where the tables are full, or -ENOMEM.
 */
int process_work_note(struct trace_dictionary *d, uint32_t process, uint32_t pid, struct text_view program);

#endif /* SAMPLER_MERGE_PROCESS_WORK_H */
