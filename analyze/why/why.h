/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why.h - why the slow instances of a zone take longer than the others
 *
 * Way of the data:  loaded_trace -> why_survey -> why_collector -> why_meanwhile -> [why] -> why_view
 *
 * Passes: durations, evidence, and where slow instances waited for other threads, their paths; for zones of
 * devices those of why_spans.  Instances are zones of threads, or zones of devices if no others fit.  Slow
 * instances are compared with all others.  The extra time is the mean of the slow instances' durations,
 * without the cost of samples, less the mean of the others'; causes are disjoint parts of it.
 * docs/use/why.md says how each number is computed.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_H
#define ANALYZE_WHY_WHY_H

#include "analyze/stats/wait_places.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/why/why_collector.h"
#include "analyze/why/why_durations.h"
#include "analyze/why/why_judge.h"
#include "analyze/why/why_meanwhile.h"
#include "analyze/why/why_profile.h"
#include "analyze/why/why_spans.h"
#include "analyze/why/why_survey.h"
#include "analyze/why/why_tally.h"
#include "analyze/why/why_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

enum why_cause_kind {
        /* of the program */
        WHY_CAUSE_FUNCTION, /* id: label */
        WHY_CAUSE_LOCK,     /* lock */
        WHY_CAUSE_WAIT,     /* place */
        WHY_CAUSE_FAULTS,   /* label of the function that faults, or 0 */
        WHY_CAUSE_MOVED,
        WHY_CAUSE_SUSPENDED, /* of a fiber */
        WHY_CAUSE_ZONE,      /* location; only where there are no samples */
        /* of zones of devices, which have no others: see why_spans.h */
        WHY_CAUSE_DEVICE,    /* the zone itself */
        WHY_CAUSE_BEHIND,    /* location of the earlier work that has most of the extra time */
        WHY_CAUSE_HOST_LATE, /* location of the zone of the thread, likewise */
        WHY_CAUSE_HANDED_OVER,
        /* of the machine, not of a thread */
        WHY_CAUSE_DISPLACED, /* preempted, and moved by the scheduler */
        WHY_CAUSE_PREEMPTED,
        WHY_CAUSE_DELAY,
        WHY_CAUSE_STOPPED, /* by a signal or a debugger */
        WHY_CAUSE_INTERRUPTS,
        /* running, in the same functions as typical instances; id: label with the most of it */
        WHY_CAUSE_SAME,
        WHY_CAUSE_UNEXPLAINED, /* no wait, and too few samples, or none */
};

enum why_doing {
        WHY_DOING_UNKNOWN,
        WHY_DOING_RUN,
        WHY_DOING_WAIT,
        WHY_DOING_PREEMPTED,
        /* of a device; as in enum why_meanwhile_doing */
        WHY_DOING_DEVICE,
        WHY_DOING_EARLIER,
        WHY_DOING_LAUNCH,
};

/* The activity of a thread, or of a device, while a thread waited for it. */
struct why_step {
        uint32_t thread;      /* 0 = none that is recorded, or a device */
        uint32_t device;      /* 0 = a thread */
        uint32_t location;    /* of the device's work that has most of the time; 0 = several have it */
        enum why_doing doing; /* in most of the known time; PREEMPTED only if it did nothing else */
        double preempted;     /* the part of the known time in which it could have run and did not */
        /* the innermost function that contains over half of that activity; 0 = unknown */
        uint32_t label;
        uint32_t caller; /* the innermost other function that contains over half of it; 0 = unknown */
        uint64_t ns;     /* in it */
};

static inline bool why_doing_is_of_device(enum why_doing doing)
{
        return doing >= WHY_DOING_DEVICE;
}

struct why_steps {
        struct why_step steps[WHY_STEPS_MAX]; /* each waited for the next one */
        uint32_t n;
        double path_ns; /* that the path of slow instances is at the first one, or those that it waited for */
};

struct why_cause {
        enum why_cause_kind kind;
        enum why_confidence confidence;
        uint32_t id;
        uint32_t outer; /* FUNCTION: label of the outermost caller with the same extra time; 0 = itself */
        uint32_t place; /* FUNCTION: label of the function with most of the time; 0 = unknown */
        struct why_share share;
        double own_low;             /* lower end of the share without the machine's part */
        double p;                   /* corrected for all candidates; 1 if not judged */
        uint64_t n_slow, n_typical; /* instances that have it */
        uint64_t n_times;           /* how often in slow ones: waits, samples */
        bool is_sampled;
        bool is_unplaced;       /* WAIT: without a callstack */
        struct why_step device; /* WAIT: for what most of the time was in which slow ones wait longer */
};

struct why_holder {
        uint32_t lock, thread;
        uint64_t held_ns; /* while slow instances waited for it */
        struct why_steps did;
};

struct why_waker {
        enum why_cause_kind kind; /* LOCK or WAIT */
        uint32_t id;
        uint32_t thread, name, label; /* as struct why_waker_key; label 0 = unknown */
        uint64_t n, ns;
        struct why_steps did; /* the thread's activity during all waits `id`, whichever label ended them */
};

/* Zones inside of instances, and counters. */
struct why_part {
        uint32_t id;              /* location; sample event */
        double slow, typical;     /* mean of an instance: ns; weight */
        double slow_n, typical_n; /* how often in an instance */
        uint64_t n_slow, n_typical;
        struct why_share share; /* of zones */
        double p;
};

/* Earlier work, or a zone of the thread that handed them over, for which zones of devices waited. */
struct why_delay {
        enum why_cause_kind kind; /* BEHIND or HOST_LATE */
        uint32_t location;
        double slow_ns, typical_ns; /* mean of an instance */
        double share;               /* of the extra time */
        uint64_t n_slow, n_typical; /* instances that have it */
};

/* The labels by which a group of waits is named; 0 = unknown, or several. */
struct why_wait_name {
        uint32_t label;  /* the function that they have in common */
        uint32_t inner;  /* the function in which most of them are directly, if it is another one */
        uint32_t call;   /* what it called in the C library */
        uint32_t kernel; /* the kernel's function, which shows the reason for the waits */
};

/* Waits, grouped by the function in which slow instances wait. */
struct why_waits {
        struct why_wait_name *names; /* heap; by place - 1, of the places that stand for their group */
        uint64_t n_tested;           /* functions, and ways to wait in one, that were candidates */
};

/*
 * Causes that go with being slow, but take no part of the extra time themselves.
 *
 * A thread that was moved once waits for microseconds, and then runs the same code slower, with cold caches.
 * The same functions may take longer in only one of the zones inside.  Neither time can be subtracted from
 * the rest as that of causes can; but a test can show that it goes with being slow.
 */
struct why_links {
        uint64_t n_moved_slow, n_moved_typical; /* instances that were seen on another CPU than before */
        double moved_p;                         /* corrected for all that was looked at */
        bool is_moved;     /* most slow instances were moved, more often than their length explains */
        uint32_t zone;     /* location; 0 = the extra time is in no zone inside */
        double zone_share; /* of the extra time */
};

struct why_request {
        const char *zone;        /* pattern */
        double slowest;          /* share of the instances, unless slower_than_ns is given */
        uint64_t slower_than_ns; /* 0 = not given */
        uint32_t event;          /* whose samples count; 0 = chosen */
        enum why_by by;          /* what instances are ranked by */
        bool shows_native;       /* never fold native functions into Python functions */
        bool wants_devices;      /* zones of devices, even if zones of threads fit as well */
};

struct why {
        const struct trace_dictionary *dictionary; /* borrowed from the trace */
        struct zone_pattern pattern;
        struct why_request request;
        struct why_survey survey;
        struct why_spans spans;
        bool are_spans;         /* the instances are zones of devices */
        uint64_t n_other_spans; /* else: zones of devices that fit as well */
        struct why_collector collector;
        struct why_meanwhile meanwhile;
        struct python_stacks python;
        struct wait_places places; /* its functions are the labels of everything here */
        struct why_profile profile;
        struct why_tree tree;
        struct sample_cost cost;
        struct why_rank rank;
        enum why_by by; /* the time by which instances are ranked, never WHY_BY_AUTOMATIC */
        /* share of the extra time of the slowest by wall time in which others had the CPU */
        double machine_share;
        struct why_group_sum groups[2]; /* of the instances that are compared: slow, and all others */
        uint64_t n_samples[2];
        double weight[2];                /* of the samples */
        double ns_per_weight;            /* of a sample, whichever the group */
        double on_cpu_ns[2], n_moves[2]; /* means */
        /* some instances are of fibers: it is known that they wait, but not for what */
        bool are_fibers;
        double extra_ns;
        struct why_group_sum own_groups[2]; /* the same without the time when others had the CPU */
        uint32_t *place_ids;    /* heap; by id in collector.waits - 1: the place that stands for its group */
        struct why_waits waits; /* the groups */
        struct why_cause
                *causes; /* heap; causes of the program that are more than doubtful, then others, by share */
        size_t n_causes, causes_capacity;
        struct why_holder *holder_rows; /* heap; by lock, by time */
        size_t n_holders, holders_capacity;
        struct why_waker *waker_rows; /* heap; by time */
        size_t n_wakers, wakers_capacity;
        struct why_part *zones, *counters; /* heap; zones by extra time; counters in the order of the trace */
        size_t n_zones, n_counters;
        struct why_delay *delays; /* heap; by extra time */
        size_t n_delays;
        uint64_t n_tests; /* candidates that were looked at */
        struct why_links links;
        uint64_t clock_step_ns; /* times are multiples of it; 0 = as good as exact */
};

/*
 * why_init() - answer the question
 * @filter:  NULL = everything; the zones that it names are ignored
 * Returns 0, also if there is nothing to compare; -EINVAL for a bad pattern, or a rank that zones of devices
 * do not have; what loaded_trace_walk()
 * returns; -ENOMEM.  To be deinitialised in any case.
 */
int why_init(struct why *w, struct loaded_trace *trace, const struct trace_filter *filter,
             const struct why_request *request, struct error *err);
void why_deinit(struct why *w);

/*
 * Whether the slow instances take longer by less than two steps of the clock: then there is nothing to
 * explain.
 */
bool why_is_below_clock(const struct why *w);

/* The cause that the answer names; NULL if no cause can be named. */
const struct why_cause *why_find_answer(const struct why *w);

/* The cause with the largest part of the extra time, of any kind; NULL without causes. */
const struct why_cause *why_find_largest(const struct why *w);

/* Whether both groups have samples enough to compare functions. */
bool why_compares_functions(const struct why *w);

/* The thread that held a lock the longest, or that the waits were for; NULL if unknown. */
const struct why_holder *why_find_holder(const struct why *w, uint32_t lock);
const struct why_waker *why_find_waker(const struct why *w, enum why_cause_kind kind, uint32_t id);

/*
 * The place that stands for a wait's group.  @id: of the wait; 0, a wait beyond the limit, counts as the
 * first one.
 */
static inline uint32_t why_place_of(const struct why *w, uint32_t id)
{
        return w->place_ids[id != 0 ? id - 1 : 0];
}

static inline bool why_cause_is_of_device(enum why_cause_kind kind)
{
        return kind >= WHY_CAUSE_DEVICE && kind <= WHY_CAUSE_HANDED_OVER;
}

static inline bool why_cause_is_own(enum why_cause_kind kind)
{
        return kind < WHY_CAUSE_DISPLACED;
}

#endif /* ANALYZE_WHY_WHY_H */
