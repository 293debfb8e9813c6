/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recording_facts.h - the facts in a trace about how it was made
 *
 * Way of the data:  command line, uname(2), perf_access -> [recording_facts] -> META, NOTICES, SAMPLE_EVENTS
 */
#ifndef SAMPLER_RECORDING_RECORDING_FACTS_H
#define SAMPLER_RECORDING_RECORDING_FACTS_H

#include "format/trace_spec.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct event_request;
struct perf_access;
struct unwind_request;
struct trace_dictionary;

/*
 * Adds a key and its value; docs/understand/trace-format.md lists the keys.  Returns 0 or -errno of the
 * table.
 */
int recording_facts_add_meta(struct trace_dictionary *d, const char *key, const char *value);
int recording_facts_add_number(struct trace_dictionary *d, const char *key, uint64_t value);

/* Adds a notice with its reason and remedy; @detail may be NULL. */
int recording_facts_add_notice(struct trace_dictionary *d, enum trace_notice_id notice, const char *detail);

/* Adds the host, the kernel, the version, the start of the recording, and first readings of the clocks. */
int recording_facts_begin(struct trace_dictionary *d, uint64_t start_ns, struct error *err);

/* Adds the subject of the recording: a command, or running processes, by their command lines and numbers. */
int recording_facts_add_command(struct trace_dictionary *d, char **argv, struct error *err);
int recording_facts_add_processes(struct trace_dictionary *d, const uint32_t *pids, size_t n_pids,
                                  struct error *err);

/* Adds the environment of the command, or of running processes as far as it may be read; equal ones once. */
int recording_facts_add_environment(struct trace_dictionary *d, const uint32_t *pids, size_t n_pids,
                                    struct error *err);

/*
 * recording_facts_add_unwinding() - adds how callstacks are made
 * @wanted, @used:  the wish, and its possible part: see unwind_request_complete(); without bytes to copy if
 *                  nothing is sampled
 * @access:         has the reason if stacks could not be copied
 */
int recording_facts_add_unwinding(struct trace_dictionary *d, const struct unwind_request *wanted,
                                  const struct unwind_request *used, const struct perf_access *access,
                                  struct error *err);

/*
 * Notices of data that the recording lacks because @access denies it.  @fallback: cycles were wanted and
 * are not there.
 */
int recording_facts_add_limits(struct trace_dictionary *d, const struct perf_access *access, int fallback,
                               struct error *err);

/* Adds the rows of the events; @ret_ids has room for all of them. */
int recording_facts_add_events(struct trace_dictionary *d, const struct event_request *request,
                               uint32_t *ret_ids, struct error *err);

/* Adds the end, and the command's wait status: -1 if it runs on. */
int recording_facts_end(struct trace_dictionary *d, uint64_t end_ns, int wait_status);

/* Adds which events of programs are recorded, unless all are; @families: of the control word. */
int recording_facts_add_families(struct trace_dictionary *d, uint32_t families);

/* Adds the command's processor time, and the part of it in the kernel, as the kernel added them up. */
int recording_facts_add_times(struct trace_dictionary *d, uint64_t cpu_ns, uint64_t kernel_ns);

#endif /* SAMPLER_RECORDING_RECORDING_FACTS_H */
