/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_spent.h - what an instance's time was spent on, roughly, and by which of
 * it instances are ranked
 *
 * Way of the data:  trace_walk -> [why_spent] -> why_survey, why_collector
 *
 * Both passes have to rank an instance alike, so that they ask here.  Not thread-safe.
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
        WHY_BY_AUTOMATIC = WHY_BY_COUNT, /* by wall time, or by own time where others' time dominates */
};

struct why_spent {
        uint64_t wall_ns, on_cpu_ns;
        uint64_t waiting_ns; /* off the CPU for a reason of its own, as far as such waits are recorded */
        /* the rest: others had the CPU, it was preempted, or ready to run and not running; or stopped */
        uint64_t machine_ns;
        uint64_t n_samples; /* that interrupted it, of all events */
};

/* One thread's, while an instance is open. */
struct why_spending {
        uint64_t begin_ns;
        uint64_t waiting_ns;
        uint64_t out_ns; /* of a fiber: since when it does not run; 0 = it does */
        bool is_preempted;
};

/* The parts of one wait, from @begin_ns on, and whether the kernel moved the thread to another CPU in it. */
struct why_wait_parts {
        uint64_t begin_ns,
                ready_ns;  /* it waited between them, and was ready to run from then on until it ran */
        bool is_preempted; /* it was ready to run all the time */
        bool is_moved;     /* preempted or not, it continued on another CPU */
        bool is_sent;      /* by the kernel's thread for that: all of it was waiting */
        bool is_stopped;   /* by a signal or a debugger: it waited for nothing of its own */
};

struct why_wait_parts why_wait_parts_of(const struct trace_dictionary *d, const struct thread_wait *wait,
                                        uint64_t begin_ns);

/* An instance begins; takes in a wait that is over; a switch of a fiber. */
void why_spending_begin(struct why_spending *s, uint64_t time_ns);
void why_spending_wait(struct why_spending *s, const struct trace_dictionary *d,
                       const struct thread_wait *wait);
/* Returns how long the fiber was out since the instance began; 0 if it did not come back by this. */
uint64_t why_spending_fiber(struct why_spending *s, const struct trace_event *event);

/* At the end of the instance. */
struct why_spent why_spent_of(const struct why_spending *s, const struct zone_instance *zone,
                              bool has_switches);

/* The time that instances are ranked by, without what samples cost. */
double why_spent_value(const struct why_spent *s, enum why_by by, const struct sample_cost *cost);

#endif /* ANALYZE_WHY_WHY_SPENT_H */
