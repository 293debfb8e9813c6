/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/trace_walk.h - the events of a trace in order, with the zones and waits around them
 *
 * Way of the data:  loaded_trace -> event_decoder -> [trace_walk] -> a sink: trace_totals,
 *                   why, diff, csv, exports
 *
 * One pass.  Follows for each thread which zones are open and for what it waits, and reports to the sink all
 * events that pass the filter:
 *
 *      begin_zone   a zone begins
 *      zone         a zone is over, with its times (also at the end of the thread or the trace, then not
 *                   `closed`)
 *      sample       an event of the op SAMPLE
 *      wait         a thread is on a CPU again after it left one (or never again: not `ended`)
 *      event        every other event: switches, messages, plots, frames, memory, locks,
 *                   devices, words on zones
 *
 * A thread's events come in the order of time; threads alternate, a few milliseconds from each other as a
 * rule, and within a chunk always.
 * Memory: open zones, and the distinct paths that a caller asks for.
 * Not thread-safe.
 */
#ifndef ANALYZE_WALK_TRACE_WALK_H
#define ANALYZE_WALK_TRACE_WALK_H

#include "analyze/trace/zone_paths.h"
#include "analyze/walk/bare_stacks.h"
#include "analyze/walk/thread_timeline.h"
#include "format/trace_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct event_batch;
struct loaded_trace;
struct trace_event;
struct trace_filter;
struct trace_item;
struct zone_pattern;
struct zone_words;

#define TRACE_WALK_NO_CPU UINT32_MAX

/* The time between a switch off a CPU and the next one onto a CPU. */
struct thread_wait {
        uint64_t out_ns, in_ns;
        uint64_t woken_ns;     /* if `is_woken`: then it could run */
        uint32_t stack;        /* where the thread left the CPU; 0 = not recorded */
        uint32_t path;         /* zone path at that time; 0 = none, or wants_paths is off */
        uint32_t state;        /* enum trace_wait_state; TRACE_WAIT_STATE_COUNT = of a newer version */
        uint32_t waker_thread; /* 0 = not recorded, or an interrupt */
        uint32_t waker_name;   /* string */
        uint32_t waker_stack;  /* of the waker, or of the interrupt alone */
        /* thread on whose kernel stack the interrupt was that woke it; 0 = none, or not recorded */
        uint32_t below;
        uint32_t wake_cpu; /* where it was woken; TRACE_WALK_NO_CPU = not known */
        uint32_t out_cpu, in_cpu;
        uint64_t idle_ns; /* that `in_cpu` was idle since a recorded thread left it; 0 = or not recorded */
        /* if preempted: enum trace_successor, or TRACE_SUCCESSOR_OTHER + the thread that got the CPU */
        uint32_t successor;
        bool preempted; /* the thread could have run on; the members about wakers do not apply */
        bool is_woken;
        bool ended; /* false: the thread was off its CPU when the recording ended, at in_ns */
};

struct walked_thread {
        struct thread_timeline timeline;
        uint32_t id;           /* in THREADS */
        uint32_t cpu;          /* where it was seen last; TRACE_WALK_NO_CPU = never */
        uint64_t n_migrations; /* times that it was seen on another CPU than before, in the range of time */
        uint64_t n_zones;      /* begun, that passed */
        /* that passed the filter; without values read with the sample of another event */
        uint64_t n_samples;
        struct thread_wait wait; /* while is_out */
        bool is_out, is_wait_in_zone, has_ended;
        bool has_copy;               /* its last event was the copy of a stack */
        bool passed_from, passed_to; /* whether events passed the ends of the wanted range of time */
        uint64_t ran_at_from_ns, ran_at_to_ns;
        uint64_t ran_seen_ns; /* at its last event */
        /* of that, in the range of time: on unwanted CPUs, or outside of wanted zones */
        uint64_t ran_elsewhere_ns;
        struct zone_words *words; /* heap; by depth, if wants_words */
        uint32_t n_words;
};

/*
 * Functions that are NULL are not called.  They return 0, or -errno after error_set(), which ends the walk.
 */
struct trace_sink {
        void *context;
        int (*begin_zone)(void *context, struct walked_thread *thread, const struct trace_event *event,
                          struct error *err);
        int (*zone)(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err);
        int (*sample)(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err);
        int (*wait)(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                    struct error *err);
        int (*event)(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err);
        /*
         * All events of a chunk were reported.  Within a chunk, the events of one thread may come a second
         * after later ones of another, if the recorder had no CPU; chunks follow each other in time.
         */
        int (*chunk)(void *context, struct error *err);
        /* Before a thread gets another name than its timeline has; also before the range of time begins. */
        int (*rename)(void *context, struct walked_thread *thread, uint64_t time_ns, struct error *err);
        bool wants_paths;      /* fill `path` of waits, and trace_walk_path() */
        bool wants_zone_paths; /* the same, and fill `path` of zones; costs about 5 ns a zone */
        /*
         * Report only zones with one of these flags of enum zone_matcher_flag: those that `asked` names, or
         * zones inside of them as well; 0 = report all.  All other zones take half of the time.
         */
        unsigned asked_only;
        /*
         * A pattern, for `is_named` and `is_inside` of zones and trace_walk_names(); borrowed, may be NULL.
         */
        const struct zone_pattern *asked;
        /*
         * 1 << op: such events pass to `event` whatever their time is: they are about other times.  Not with
         * `may_skip`.
         */
        uint64_t untimed_ops;
        /*
         * If the filter wants a range of time, read only that range.  Then the walk may lack threads that
         * ended before it, or began after it.
         */
        bool may_skip;
        /*
         * Without a filter: begin with the states of the threads at the last place before this time that has
         * them.  They come as events: open zones, the last switch, the last sample, all with the time of the
         * thread's last event.  0 = from the beginning.
         */
        uint64_t skip_to_ns;
        /* Without a filter: all events before this time are read, and not many more.  0 = to the end. */
        uint64_t stop_at_ns;
        bool wants_words; /* keep the texts about open zones: trace_walk_words() */
        /*
         * The caller goes through devices as well, whose times are their own, and calls
         * loaded_trace_check_found() if they have nothing either: a range of time without events is no error
         * before that.
         */
        bool devices_follow;
};

struct trace_walk {
        const struct trace_dictionary *dictionary;
        const struct trace_filter *filter; /* borrowed; NULL = everything */
        struct trace_sink sink;
        struct zone_paths paths;
        struct zone_matcher asked;     /* if the sink asks about zones */
        struct walked_thread *threads; /* heap; by thread id - 1 */
        uint32_t n_threads;
        size_t threads_capacity;
        uint64_t n_events[TRACE_OP_COUNT]; /* that passed */
        uint64_t n_waits;                  /* the same */
        /* that passed, without values read with another event; of these, with a cut stack */
        uint64_t n_samples, n_truncated;
        struct bare_stacks bare_stacks; /* of these, in code without unwind tables */
        uint64_t n_kept_copies;         /* of these, with a copy of their stack */
        uint64_t n_unknown_ops;         /* events of a newer version of the format, left out */
        uint64_t first_ns, last_ns;     /* of all events, also those that did not pass; valid if `any` */
        uint64_t n_switches;            /* of all threads but fibers; 0 = on-CPU times are unknown */
        bool any;
        bool follows_zones;        /* more than that they are open */
        struct event_batch *batch; /* heap; of trace_walk_chunk(), NULL before */
};

/*
 * trace_walk_init() - prepare a walk through @trace
 * Borrows all of its arguments.  Returns 0, -ENOMEM, -EOVERFLOW; to be deinitialised in any case.
 */
int trace_walk_init(struct trace_walk *w, const struct loaded_trace *trace, const struct trace_filter *filter,
                    const struct trace_sink *sink);
void trace_walk_deinit(struct trace_walk *w);

/* The same for a dictionary that is complete, without a filter; for tests. */
int trace_walk_init_plain(struct trace_walk *w, const struct trace_dictionary *dictionary,
                          const struct trace_sink *sink);

/*
 * Call it before the events: takes the paths, with their numbers, from another walk through the trace with
 * the same zones; that walk has none then.
 */
void trace_walk_adopt_paths(struct trace_walk *w, struct zone_paths *paths);

/*
 * Takes a name of a thread; before the events, and after all names from skipped chunks.  Returns 0 or
 * -ENOMEM.
 */
int trace_walk_name(struct trace_walk *w, uint32_t thread, uint32_t name);

/*
 * Reads the events of a chunk.  Returns 0, -EBADMSG (events before the fault were reported), -ENOMEM, what
 * the sink returned.
 */
int trace_walk_chunk(struct trace_walk *w, const struct trace_item *item, struct error *err);

/* The same for a batch that was opened, with the dictionary of this walk. */
int trace_walk_batch(struct trace_walk *w, struct event_batch *batch, struct error *err);

/* Whether the range of time is over, and no zone or wait of it is still open. */
bool trace_walk_is_done(const struct trace_walk *w);

/*
 * Ends the walk: open zones and waits end at @end_ns, or at the last event if that is later.
 * Returns as trace_walk_chunk().
 */
int trace_walk_finish(struct trace_walk *w, uint64_t end_ns, struct error *err);

/* After trace_walk_finish(): whether anything that the filter selects passed it; true without a filter. */
bool trace_walk_found(const struct trace_walk *w);

/*
 * In a sink: the path of the zones that are open on the thread; needs wants_paths.  For a sample use its own
 * path.
 */
int trace_walk_path(struct trace_walk *w, struct walked_thread *thread, uint32_t *ret_path);

/* In a sink: whether the sink's pattern names the innermost open zone. */
bool trace_walk_names(const struct walked_thread *thread);

/*
 * How long the thread was on a CPU in the wanted time, on wanted CPUs and in wanted zones; after
 * trace_walk_finish().
 */
uint64_t trace_walk_ran_ns(const struct trace_walk *w, const struct walked_thread *thread);

/* The same while a sink runs: until its present event. */
uint64_t trace_walk_ran_so_far_ns(const struct trace_walk *w, const struct walked_thread *thread,
                                  uint64_t now_ns);

/*
 * In a sink: the open zone that an event with this level is about, 0 = the innermost; NULL if the trace lacks
 * it.  Borrowed for the call.
 */
const struct timeline_zone *trace_walk_zone_at(const struct walked_thread *thread, uint64_t level);

/* In `zone`: the texts about the zone that ended; NULL if there are none.  Borrowed for the call. */
const struct zone_words *trace_walk_words(const struct walked_thread *thread,
                                          const struct zone_instance *zone);

/*
 * A number of 0 .. 1 that differs between threads and times, and is the same in each run: callers choose some
 * of these by it (the finalizer of splitmix64).
 */
static inline double trace_walk_chance(uint32_t thread, uint64_t time_ns)
{
        uint64_t x = time_ns + UINT64_C(0x9e3779b97f4a7c15) * thread;

        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
        return (double)(x >> 11) * 0x1p-53;
}

#endif /* ANALYZE_WALK_TRACE_WALK_H */
