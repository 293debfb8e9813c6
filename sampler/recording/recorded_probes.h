/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recorded_probes.h - what is recorded as zones without a word of the program:
 * --zone-function, --zone-usdt, --usdt, --zone-tracepoint, --zone-syscalls
 *
 * Way of the data:  cmd_record -> [recorded_probes] -> probe_plan -> probe_source -> kernel_side
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_RECORDING_RECORDED_PROBES_H
#define SAMPLER_RECORDING_RECORDED_PROBES_H

#include "sampler/probes/probe_plan.h"

#include <stdint.h>

struct error;
struct probe_source;
struct recorded_scope;
struct switch_source;
struct thread_sink;
struct trace_dictionary;

/* Zero-initialised is none. */
struct recorded_probes {
        struct probe_plan plan;
        struct probe_source *source; /* owned; NULL = no function is probed */
};

/* The request of the user. */
struct recorded_probes_request {
        const struct probe_wish *wishes; /* of all of these options */
        size_t n_wishes;
        uint64_t rate_max;   /* calls of one function in a second, before it is switched off */
        const char *command; /* its name, as it was called; NULL = there is none */
        uint32_t pid;        /* of a running process that is recorded; 0 = the command */
        uint32_t uid, gid;   /* whom readers of files become; 0 = they stay */
};

/*
 * recorded_probes_plan() - finds the functions, and adds their rows to LOCATIONS
 * The process must have one thread.  Returns 0 or -errno, with the words of the pattern in @err.
 */
int recorded_probes_plan(struct recorded_probes *p, const struct recorded_probes_request *request,
                         struct trace_dictionary *dictionary, struct error *err);

/*
 * recorded_probes_begin() - sets the probes
 * @switches:  knows the recorded processes; NULL = records of others are left out later
 * Returns 0 or -errno.
 */
int recorded_probes_begin(struct recorded_probes *p, const struct recorded_probes_request *request,
                          const struct recorded_scope *scope, const struct switch_source *switches,
                          struct error *err);

/* Takes the probes away; what they were hit for stays to be read. */
void recorded_probes_end(struct recorded_probes *p);

/* Counts begins and ends for which there was no room. */
uint64_t recorded_probes_count_lost(const struct recorded_probes *p, uint64_t *ret_n_full);

/*
 * recorded_probes_describe() - adds the price to the trace: hits, time, functions without zones
 * @cpu_ns:  of the recorded programs; 0 = not known.  Returns 0 or -errno of the table.
 */
int recorded_probes_describe(const struct recorded_probes *p, const struct thread_sink *sink, uint64_t cpu_ns,
                             struct trace_dictionary *dictionary);

void recorded_probes_close(struct recorded_probes *p);

/*
 * sampler/recording/tracepoint_zones.c - from the words of --zone-tracepoint and --zone-syscalls to
 * tracepoints and their fields
 *
 * Way of the data:  words, tracefs -> [tracepoint_zones] -> probe_plan
 */

/* @words: "begin,end", "begin,end,key" or "begin,end,key+key".  Returns 0 or -errno. */
int tracepoint_zones_add(struct probe_plan *plan, const char *words, struct error *err);

/* @words: "read,write", or "" for all.  Returns 0 or -errno. */
int syscall_zones_add(struct probe_plan *plan, const char *words, struct error *err);

#endif /* SAMPLER_RECORDING_RECORDED_PROBES_H */
