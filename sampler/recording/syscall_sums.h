/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/syscall_sums.h - the sums of each thread's system calls, read from BPF at the end
 *
 * Way of the data:  switch_source (maps of syscall_hooks) -> [syscall_sums] -> the table SYSCALLS
 *
 * The sums are exact.  The caller and its zone are known of some calls alone: of the samples of the event
 * that syscall_sums_describe() adds.
 */
#ifndef SAMPLER_RECORDING_SYSCALL_SUMS_H
#define SAMPLER_RECORDING_SYSCALL_SUMS_H

#include <stdint.h>

struct error;
struct switch_source;
struct trace_dictionary;

#define SYSCALL_SUMS_EVENT "syscalls" /* the name of that event */

/* Adds the row of SAMPLE_EVENTS, and a note in META that the sums were wanted.  Returns 0 or -errno. */
int syscall_sums_describe(struct trace_dictionary *dictionary, uint32_t *ret_event);

/*
 * syscall_sums_write() - adds the rows of SYSCALLS
 * @ret_n_missed:  calls that are in none of them
 * Returns 0, -ENOMEM, -errno.
 */
int syscall_sums_write(const struct switch_source *switches, struct trace_dictionary *dictionary,
                       uint64_t *ret_n_missed, struct error *err);

#endif /* SAMPLER_RECORDING_SYSCALL_SUMS_H */
