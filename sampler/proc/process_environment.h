/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_environment.h - the environment variables by which a program is faster or slower
 *
 * Way of the data:  environ(7), /proc/PID/environ -> [process_environment] -> META "environment"
 *
 * An environment has secrets, so only variables of a short list are taken, and of those only values that
 * are short words or numbers.  Other values are given by their length alone: "PYTHONPATH=(31_bytes)".
 * Libraries that are loaded first are named without their folders.  All that comes out is printable ASCII.
 * Functions without state.
 */
#ifndef SAMPLER_PROC_PROCESS_ENVIRONMENT_H
#define SAMPLER_PROC_PROCESS_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/* Variables of one process; further ones are left out, and "(more)" at the end says so. */
#define PROCESS_ENVIRONMENT_VARIABLES_MAX 64
#define PROCESS_ENVIRONMENT_VALUE_MAX     64
#define PROCESS_ENVIRONMENT_BYTES_MAX     (UINT32_C(1) << 22) /* the kernel's own limit is below that */

/* The whole text when no variable of the list is set. */
#define PROCESS_ENVIRONMENT_NONE "none"

/*
 * process_environment_add() - append "GOGC=2 LC_ALL=C", by name
 * @block:  @n bytes: "NAME=VALUE", each with a NUL after it, as in /proc/PID/environ; the last may lack it
 */
void process_environment_add(const char *block, size_t n, struct byte_buffer *text);

/* The same for the caller's own environment, with NULL after the last variable. */
void process_environment_add_own(char *const *variables, struct byte_buffer *text);

/*
 * The same for a running process.  Returns 0, or -errno with @text as it was: the process is another
 * user's, or has ended.
 */
int process_environment_add_of(uint32_t pid, struct byte_buffer *text);

#endif /* SAMPLER_PROC_PROCESS_ENVIRONMENT_H */
