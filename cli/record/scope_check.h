/* SPDX-License-Identifier: MIT */
/*
 * cli/record/scope_check.h - can what the options name be recorded?  Said before a trace is begun
 *
 * Way of the data:  record_options -> [scope_check] -> cmd_record
 */
#ifndef CLI_RECORD_SCOPE_CHECK_H
#define CLI_RECORD_SCOPE_CHECK_H

struct record_options;

/* Processes, threads, a cgroup, CPUs, and the right to them.  Complains.  Returns an exit status. */
int scope_check(const struct record_options *options);

#endif /* CLI_RECORD_SCOPE_CHECK_H */
