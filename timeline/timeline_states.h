/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_states.h - what threads do, and who is on which CPU
 *
 * Way of the data:  trace_walk, cpu_lanes -> [timeline_states] -> timeline_index
 *
 * A thread runs from its first event, or from when it came onto a CPU, until it is switched off it; then it
 * waits, until another thread makes it ready to run; then it is runnable, until it gets a CPU.  Imported
 * threads have states between their context switches alone: without these it is not known what they did.
 */
#ifndef TIMELINE_TIMELINE_STATES_H
#define TIMELINE_TIMELINE_STATES_H

#include "analyze/waits/cpu_lanes.h"
#include "timeline/timeline_lane_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct thread_wait;
struct timeline_rates;
struct trace_event;
struct walked_thread;

struct timeline_thread_states {
        struct timeline_lane_list lanes; /* one */
        uint64_t since_ns;               /* that it runs, if `is_running` */
        uint64_t counted_ns;             /* up to there its readiness is in the rates, if it is still ready */
        bool is_running, has_begun;
};

struct timeline_cpu {
        uint64_t number;
        uint32_t track;
        uint32_t thread;                 /* that has it since `since_ns`, while the trace grows; 0 = none */
        uint64_t since_ns, counted_ns;   /* counted: up to there its use is in the rates */
        struct timeline_lane_list lanes; /* one */
        struct timeline_lane_list unrecorded; /* one: while a thread was ready there */
};

struct timeline_states {
        struct timeline_index *index;
        struct timeline_rates *rates; /* borrowed; gets the times of CPUs and of ready threads; may be NULL */
        struct cpu_lanes cpus;
        struct timeline_thread_states *threads; /* heap; by thread id - 1 */
        size_t capacity;
        uint32_t n_threads;
        struct intern cpu_numbers;       /* uint64_t */
        struct timeline_cpu *cpu_tracks; /* heap; by id - 1 */
        size_t cpu_capacity;
};

void timeline_states_init(struct timeline_states *s, struct timeline_index *index);
void timeline_states_deinit(struct timeline_states *s);

/* Makes room for the threads 1 .. @n_threads.  Returns 0 or -ENOMEM. */
int timeline_states_reserve(struct timeline_states *s, uint32_t n_threads);

/*
 * Take an event of a thread, also a sample but no zone, and a wait.  @track: the thread's.  Return as
 * timeline_index_add_span().
 */
int timeline_states_event(struct timeline_states *s, uint32_t track, const struct walked_thread *thread,
                          const struct trace_event *event, struct error *err);
int timeline_states_wait(struct timeline_states *s, uint32_t track, const struct walked_thread *thread,
                         const struct thread_wait *wait, struct error *err);

/*
 * timeline_states_grow() - of a trace that grows: what CPUs did before @until_ns
 * timeline_states_wants() - the same for a thread that waits still
 * timeline_states_open() - the states of a thread that are not over: up to two, the earlier one first
 * timeline_states_find_cpu() - the CPU of a track; NULL = none
 * Return as timeline_index_add_span(); _open(): how many.
 */
int timeline_states_grow(struct timeline_states *s, uint64_t until_ns, struct error *err);
void timeline_states_wants(struct timeline_states *s, const struct walked_thread *thread, uint64_t until_ns);
uint32_t timeline_states_open(const struct timeline_states *s, const struct walked_thread *thread,
                              uint64_t now_ns, struct timeline_raw_span spans[2]);
const struct timeline_cpu *timeline_states_find_cpu(const struct timeline_states *s, uint32_t track);

/* End a thread that still lives, and then the spans of all CPUs. */
int timeline_states_finish_thread(struct timeline_states *s, uint32_t track,
                                  const struct walked_thread *thread, uint64_t end_ns, struct error *err);
int timeline_states_finish(struct timeline_states *s, uint64_t end_ns, struct error *err);

#endif /* TIMELINE_TIMELINE_STATES_H */
