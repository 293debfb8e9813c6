/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past.h - what each thread did lately: ran, waited and for whom, could run and did not
 *
 * Way of the data:  trace_walk, wait_ends -> [past] -> path_walk, past_sweep, wait_roots
 *
 * The one place that relates threads: each wait knows the thread that ended it and when, each lock its
 * holders, each fiber the threads that ran it, each CPU who ran on it.  A sink hands over the events of all
 * threads as a walk reports them; questions are about times that lie PAST_LATE_NS or more before the latest
 * event, when no thread can add anything to them.
 *
 * Forward only, for traces of any length and for those that still grow: past_forget() drops what lies before
 * a time, and where too much lies after it, past_is_crowded() says so.  Memory: PAST_BYTES_MAX of items, up
 * to as much again of room for more, and 300 bytes a thread.  Amortised constant time an event.  Not
 * thread-safe.
 */
#ifndef ANALYZE_PATH_PAST_H
#define ANALYZE_PATH_PAST_H

#include "analyze/path/past_list.h"
#include "analyze/waits/wait_ends.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct thread_wait;
struct trace_dictionary;
struct trace_event;
struct trace_filter;
struct trace_sink;
struct trace_walk;
struct walked_thread;

/* Waits have 48 bytes, and 32 of who ran where and woke others; samples, locks and fibers have 24 each. */
#define PAST_BYTES_MAX (UINT64_C(64) << 20)
/*
 * Threads are at most so far from each other in a trace: as long as a cycle of the recorder, which real-time
 * programs on all CPUs keep from running for a second (kernel.sched_rt_runtime_us).
 */
#define PAST_LATE_NS UINT64_C(2000000000)

#define PAST_NO_CPU UINT16_MAX

/* Where a thread was off its CPU. */
struct past_wait {
        uint64_t out_ns, in_ns; /* in: UINT64_MAX while it lasts */
        uint64_t woken_ns;      /* then it could run; `in_ns` if no wake-up was recorded */
        uint32_t stack;         /* where it waited; 0 = not recorded */
        uint32_t by;   /* the thread that ended it; of a fiber, the thread that went on with it; 0 = none */
        uint32_t name; /* string: of who ended it; 0 = unknown */
        uint16_t out_cpu, in_cpu;
        uint8_t end;    /* enum wait_end_kind */
        uint8_t state;  /* enum trace_wait_state */
        bool preempted; /* it could run all the time: also a new thread, until it ran first */
        bool is_lock;   /* for a lock of the program or the kernel, by its call stack */
        bool is_sent;   /* a packet to this machine ended it */
        bool is_flow;   /* no thread ended it; `by` handed over what the thread took then: past_timeouts.h */
};

struct past_sample {
        uint64_t time_ns;
        uint32_t stack, path; /* 0 = none */
        float weight;
        uint16_t cpu; /* PAST_NO_CPU = beyond what is kept */
};

struct past_thread {
        struct past_list waits;      /* struct past_wait, by `out_ns` */
        struct past_list samples;    /* struct past_sample */
        struct past_list wakes;      /* uint64_t: when it woke others */
        struct past_list lock_waits; /* struct past_span: for which lock it waited */
        struct past_list fibers;     /* struct past_span: which fiber it ran */
        struct past_list handed;     /* struct past_span: handed over in a flow, until it was taken */
        uint64_t born_ns;            /* 0 = before the recording */
        uint64_t end_ns;             /* UINT64_MAX = it has not ended */
        uint64_t fiber_ns;           /* since when it runs `fiber` */
        uint32_t process;
        uint32_t fiber; /* that it runs now; 0 = none */
        uint16_t cpu;   /* where it runs now, by its switches; PAST_NO_CPU = nowhere, or not known */
        bool is_fiber, has_switched;
};

struct past {
        const struct loaded_trace *trace; /* borrowed */
        struct wait_ends ends;
        struct past_thread *threads; /* heap; by thread id - 1 */
        size_t threads_capacity;
        uint32_t n_threads;
        struct past_list *holds; /* heap; by lock id - 1: struct past_span, who held it */
        size_t holds_capacity;
        uint32_t n_locks;
        struct past_list *cpus; /* heap; by CPU: struct past_span, which thread ran on it */
        size_t cpus_capacity;
        uint32_t n_cpus;
        uint32_t *first_threads; /* heap; by process - 1: its first thread that is no fiber; 0 = none yet */
        size_t first_threads_capacity;
        uint32_t n_processes;
        struct past_flows *flows; /* heap; NULL = no event of a flow came */
        uint32_t event;           /* whose samples are kept; 0 = none */
        uint64_t first_ns;        /* of the event that came first; 0 = none came */
        uint64_t latest_ns;       /* of all events */
        uint64_t kept_ns;         /* nothing before this time is complete */
        uint64_t n_forgotten;     /* waits that were dropped for lack of room, or whose times cannot be */
        uint64_t used_bytes;      /* of items in the lists */
        uint64_t trimmed_bytes;   /* the same when the oldest ones were dropped last */
        uint64_t bytes_max;       /* of them: PAST_BYTES_MAX; the caller may change it after past_init() */
        bool has_switches;
        /* Set by the caller after past_init(): `cpus` stays empty, which takes a third of the time. */
        bool skips_cpus;
        /* Likewise: only `cpus` is kept, for past_owners_of(), and `n_forgotten` counts stretches of them. */
        bool only_cpus;
};

/* A thread is at each moment one of these. */
enum past_state {
        PAST_ABSENT, /* not born, or ended, or nothing is known of it yet */
        PAST_RUNS,
        PAST_READY, /* could run and does not */
        PAST_WAITS,
};

/* The first event of the recording that measures time; else the first; 0 = there is none. */
uint32_t past_choose_event(const struct trace_dictionary *d);

/*
 * past_make_range() - the filter of the walk for questions about a range of time
 * Reads a little more, on both sides: waits that reach into the range, and late events.  Every thread passes.
 * Returns as trace_filter_init().
 */
int past_make_range(struct trace_filter *ret_range, const struct trace_filter *filter,
                    struct loaded_trace *trace, struct error *err);

/*
 * The same for a walk without a filter, which ends there even where a thread waits longer: such waits have no
 * end then.
 */
void past_bound_sink(struct trace_sink *sink, const struct trace_filter *filter,
                     const struct loaded_trace *trace);

/*
 * past_init() - nothing happened yet
 * @event:  the sample event that shows where threads ran; 0 = none
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int past_init(struct past *p, const struct loaded_trace *trace, uint32_t event);
void past_deinit(struct past *p);

/*
 * past_sample(), past_wait_over(), past_event() - for the sink of a walk without a filter that drops threads
 * Return 0 or -ENOMEM.
 */
int past_sample(struct past *p, const struct walked_thread *thread, const struct trace_event *event);
int past_wait_over(struct past *p, const struct walked_thread *thread, const struct thread_wait *wait);
int past_event(struct past *p, const struct walked_thread *thread, const struct trace_event *event);

/* Whether there is too much: the caller has to forget more. */
static inline bool past_is_crowded(const struct past *p)
{
        return p->used_bytes > p->bytes_max;
}

/* Whether much was added since the oldest items were dropped last: there may be more to drop. */
static inline bool past_has_grown(const struct past *p)
{
        return p->used_bytes - p->used_bytes / 16 > p->trimmed_bytes;
}

/*
 * Drops what ended before @time_ns, where it is crowded, and else now and then: it costs as much as what came
 * since the last time.
 */
void past_forget(struct past *p, uint64_t time_ns);

/* Drops the oldest quarter of what there is, of all threads; what was before `kept_ns` is unknown then. */
void past_forget_oldest(struct past *p);

/* ------------------------------------------------------------------ questions */

static inline struct past_thread *past_of(const struct past *p, uint32_t thread)
{
        return &p->threads[thread - 1];
}

/* Whether a switch or a sample shows that the thread ran. */
static inline bool past_is_known(const struct past_thread *t)
{
        return t->has_switched || past_list_count(&t->samples) != 0;
}

static inline const struct past_wait *past_waits(const struct past_thread *t)
{
        return t->waits.items;
}

/* How many of the waits, counted from the first that was ever kept in `items`, began before @time_ns. */
size_t past_waits_before(const struct past_thread *t, uint64_t time_ns);

/* The wait in which the thread is at @time_ns; NULL = it runs, or has ended, or was not born. */
const struct past_wait *past_wait_at(const struct past *p, uint32_t thread, uint64_t time_ns);

/*
 * past_state_at() - what a thread that is no fiber is at @time_ns
 * @ret_wait:  of PAST_READY and PAST_WAITS, the wait; NULL if the thread is new and did not run yet
 */
enum past_state past_state_at(const struct past *p, uint32_t thread, uint64_t time_ns,
                              const struct past_wait **ret_wait);

/* The samples in [begin_ns, end_ns); returns how many. */
size_t past_samples(const struct past_thread *t, uint64_t begin_ns, uint64_t end_ns,
                    const struct past_sample **ret_first);

/* Whether the thread woke another one in [begin_ns, end_ns]. */
bool past_woke(const struct past_thread *t, uint64_t begin_ns, uint64_t end_ns);

/*
 * Who had a CPU, one stretch after the other.  No moment counts twice: a thread has its CPU until the next
 * one comes there, or it comes onto another CPU, or exits, whatever switches the trace lacks.
 */
struct past_owners {
        const struct past_list *lane; /* private, as all of them; NULL = nothing is known of the CPU */
        size_t i, to;
        uint64_t at_ns, end_ns;
};

struct past_owners past_owners_of(const struct past *p, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns);

/* The next stretch, within what was asked for; false at the end. */
bool past_owners_next(struct past_owners *o, struct past_span *ret);

/* The wait for a lock that is going on at @time_ns, which was over by then or lasts; NULL = none. */
const struct past_span *past_lock_wait(const struct past_thread *t, uint64_t time_ns);

/* The first thread of a process; 0 = none. */
static inline uint32_t past_first_of(const struct past *p, uint32_t process)
{
        return process != 0 && process <= p->n_processes ? p->first_threads[process - 1] : 0;
}

/*
 * The thread that made this one.  Traces before 1.7 do not say it: there it is the first thread of the
 * process, or of the process's parent, unless that waited at the time.  0 = not known.
 */
uint32_t past_creator(const struct past *p, uint32_t thread);

#endif /* ANALYZE_PATH_PAST_H */
