/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_spent.h - rough parts of an instance's time, and the part by which instances are ranked
 *
 * Way of the data:  trace_walk -> [why_spent] -> why_survey, why_collector
 *
 * Both passes have to rank an instance alike, so they share this code.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_SPENT_H
#define ANALYZE_WHY_WHY_SPENT_H

#include <stdbool.h>
#include <stdint.h>

struct sample_cost;
struct thread_wait;
struct trace_dictionary;
struct trace_event;
struct zone_instance;

enum why_by {
        WHY_BY_WALL,
        WHY_BY_OWN, /* wall time without the time that others had the CPU */
        WHY_BY_ON_CPU,
        WHY_BY_WAITING, /* off the CPU, without the time that others had the CPU */
        WHY_BY_COUNT,
        WHY_BY_AUTOMATIC = WHY_BY_COUNT, /* by wall time, or by own time if the time of others dominates */
};

struct why_spent {
        uint64_t wall_ns, on_cpu_ns;
        uint64_t waiting_ns; /* off the CPU for a reason of its own, as far as such waits are recorded */
        /* the rest: others had the CPU while it was preempted or ready to run, or it was stopped */
        uint64_t machine_ns;
        uint64_t n_samples; /* that interrupted it, of all events */
};

/* One thread's, while an instance is open. */
struct why_spending {
        uint64_t begin_ns;
        uint64_t waiting_ns;
        uint64_t out_ns; /* of a fiber: since when it has not been running; 0 = it runs */
        bool is_preempted;
};

/* The parts of one wait, from @begin_ns on, and whether the kernel moved the thread to another CPU in it. */
struct why_wait_parts {
        uint64_t begin_ns,
                ready_ns;  /* it waited from begin_ns to ready_ns, and then was ready until it ran */
        bool is_preempted; /* it was ready to run all the time */
        bool is_moved;     /* preempted or not, it continued on another CPU */
        bool is_sent;      /* the kernel's thread for that moved it: all of the time was waiting */
        bool is_stopped;   /* a signal or a debugger stopped it: it waited for nothing of its own */
};

struct why_wait_parts why_wait_parts_of(const struct trace_dictionary *d, const struct thread_wait *wait,
                                        uint64_t begin_ns);

/* Begins an instance; takes a wait that is over; takes a switch of a fiber. */
void why_spending_begin(struct why_spending *s, uint64_t time_ns);
void why_spending_wait(struct why_spending *s, const struct trace_dictionary *d,
                       const struct thread_wait *wait);
/* Returns how long the fiber was out since the instance began; 0 unless this event brings it back. */
uint64_t why_spending_fiber(struct why_spending *s, const struct trace_event *event);

/* At the end of the instance. */
struct why_spent why_spent_of(const struct why_spending *s, const struct zone_instance *zone,
                              bool has_switches);

/* The time by which instances are ranked, without the cost of samples. */
double why_spent_value(const struct why_spent *s, enum why_by by, const struct sample_cost *cost);

#endif /* ANALYZE_WHY_WHY_SPENT_H */
