/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/thread_timeline.h - one thread's events in order -> its zones with their times
 *
 * Way of the data:  event_decoder -> trace_walk -> [thread_timeline] -> zone_instance
 *
 * Follows which zones are open and how long the thread ran.  A thread is taken
 * to run from its first event until a context switch says otherwise; if the first
 * switch is onto a CPU, before any zone or sample, only from there on. The caller judges whether the trace
 * has context switches at all.  A fiber is a thread whose switches are its entries and exits: it does not run
 * before the first one.  When an imported thread was on a CPU is not known, so it is not taken to run.
 *
 * Keeps the open zones only.  Times that go backwards, which no recorder
 * writes, count as no time.  Not thread-safe.
 */
#ifndef ANALYZE_WALK_THREAD_TIMELINE_H
#define ANALYZE_WALK_THREAD_TIMELINE_H

#include "analyze/trace/zone_matcher.h"
#include "analyze/walk/zone_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone_paths;

/* Zones nested deeper are only counted: this bounds the memory and the work for one event. */
#define THREAD_TIMELINE_DEPTH_MAX 4096

/* Patterns of zones that are followed at once. */
enum thread_timeline_pattern {
        THREAD_TIMELINE_FILTER, /* what the filter leaves */
        THREAD_TIMELINE_ASKED,  /* the pattern of the sink, for the flags of a struct zone_instance */
        THREAD_TIMELINE_PATTERNS,
};

struct timeline_zone {
        uint64_t begin_ns;
        uint64_t children_ns;  /* of the zones directly inside that are over */
        uint64_t ran_ns;       /* by the thread until it began */
        uint64_t around;       /* bit `location % 64` of each zone around it is set */
        uint32_t n_interrupts; /* the lower half of the thread's number when the zone began */
        uint32_t location;
        uint32_t path; /* see thread_timeline_find_path(); 0 = not asked for yet */
        uint32_t states[THREAD_TIMELINE_PATTERNS];
        uint8_t flags[THREAD_TIMELINE_PATTERNS]; /* of the state: enum zone_matcher_flag */
        bool wanted;
};

struct thread_timeline {
        struct timeline_zone *open; /* heap; outermost first */
        size_t open_capacity;
        uint32_t n_open;
        uint32_t n_wanted;   /* of the open ones: see thread_timeline_want_zone() */
        bool wants_all;      /* set by the caller before the first event: every zone is wanted as it begins */
        bool dropped_wanted; /* the zone that was reported last was wanted */
        uint64_t n_open_too_deep; /* begun beyond THREAD_TIMELINE_DEPTH_MAX, not ended yet */

        uint64_t first_ns, last_ns; /* of its events */
        uint64_t before_ns;         /* of the event before the last one */
        uint64_t ran_ns;            /* up to the last context switch */
        uint64_t running_since_ns;  /* if `running` */
        bool is_fiber;              /* set by the caller before the first event */
        bool is_imported;           /* the same: when it was on a CPU is not known */
        bool running;
        bool started; /* an event was seen: the times above are valid */
        bool exited;

        uint64_t n_zones; /* begun */
        uint64_t n_too_deep;
        uint64_t n_unbalanced; /* ends of zones of which none was open, left out */
        uint64_t n_switches;   /* in and out */
        uint64_t n_lost;       /* switches missing between two others */
        uint64_t n_samples;
        uint64_t n_interrupts; /* the same without values read with the sample of another event */
        uint32_t name;         /* string: the thread's last name; 0 = none */
        uint32_t name_before;  /* the previous, different name; 0 = none */
};

/* Zero-initialised is a thread without events. */
void thread_timeline_deinit(struct thread_timeline *t);

static inline void thread_timeline_name(struct thread_timeline *t, uint32_t name)
{
        if (name != t->name)
                t->name_before = t->name;
        t->name = name;
}

/* Call this with the time of every event, before anything else. */
static inline void thread_timeline_advance(struct thread_timeline *t, uint64_t time_ns)
{
        if (!t->started) {
                t->started = true;
                t->running = !t->is_fiber && !t->is_imported;
                t->first_ns = t->running_since_ns = time_ns;
        }
        t->before_ns = t->last_ns;
        if (time_ns > t->last_ns)
                t->last_ns = time_ns;
}

/*
 * How long the thread ran from its first event until @time_ns, which is no earlier than the last context
 * switch.
 */
static inline uint64_t thread_timeline_ran_until(const struct thread_timeline *t, uint64_t time_ns)
{
        return t->ran_ns + (t->running && time_ns > t->running_since_ns ? time_ns - t->running_since_ns : 0);
}

/* The same while a trace grows: a thread that has exited ran until its last event. */
static inline uint64_t thread_timeline_ran_so_far(const struct thread_timeline *t, uint64_t now_ns)
{
        return thread_timeline_ran_until(t, t->exited ? t->last_ns : now_ns);
}

/* Private: makes room for a zone.  Returns 0, 1 = it is too deep, which is counted, or -ENOMEM. */
int thread_timeline_make_room(struct thread_timeline *t);

/* Opens a zone.  Returns 0 or -ENOMEM. */
static inline int thread_timeline_begin_zone(struct thread_timeline *t, uint64_t time_ns, uint32_t location)
{
        struct timeline_zone *zone;
        int r;

        if (t->n_open == t->open_capacity) {
                r = thread_timeline_make_room(t);
                if (r != 0)
                        return r < 0 ? r : 0;
        }
        zone = &t->open[t->n_open];
        t->n_zones++;
        *zone = (struct timeline_zone){
                .begin_ns = time_ns,
                .ran_ns = thread_timeline_ran_until(t, time_ns),
                .n_interrupts = (uint32_t)t->n_interrupts,
                .location = location,
                .wanted = t->wants_all,
        };
        if (t->n_open != 0)
                zone->around = zone[-1].around | UINT64_C(1) << zone[-1].location % 64;
        t->n_wanted += t->wants_all;
        t->n_open++;
        return 0;
}

/* The innermost open zone; there must be one. */
static inline struct timeline_zone *thread_timeline_innermost(const struct thread_timeline *t)
{
        return &t->open[t->n_open - 1];
}

/* Removes the innermost zone, whose memory stays valid until another zone begins.  Returns its duration. */
static inline uint64_t thread_timeline_pop(struct thread_timeline *t, uint64_t time_ns)
{
        const struct timeline_zone *zone = thread_timeline_innermost(t);
        uint64_t duration_ns = time_ns > zone->begin_ns ? time_ns - zone->begin_ns : 0;

        t->n_wanted -= zone->wanted;
        t->n_open--;
        if (t->n_open != 0)
                t->open[t->n_open - 1].children_ns += duration_ns;
        return duration_ns;
}

/* Private: takes the end of a zone if none is open, or the zone is too deep. */
void thread_timeline_end_none(struct thread_timeline *t);

/*
 * Whether the end of a zone closes the innermost one; if none is open, or it ends a zone that is too deep,
 * counts the end and returns false.
 */
static inline bool thread_timeline_can_end(struct thread_timeline *t)
{
        if (t->n_open != 0 && t->n_open_too_deep == 0)
                return true;
        thread_timeline_end_none(t);
        return false;
}

/* Private: whether a zone around @zone has the same location. */
bool thread_timeline_is_inside_itself(const struct thread_timeline *t, const struct timeline_zone *zone);

/* Removes the innermost zone, of which there must be one, and reports it. */
static inline void thread_timeline_close(struct thread_timeline *t, uint64_t time_ns, bool closed,
                                         struct zone_instance *ret)
{
        const struct timeline_zone *zone = thread_timeline_innermost(t);
        uint64_t ran_ns = thread_timeline_ran_until(t, time_ns);
        uint64_t duration_ns = thread_timeline_pop(t, time_ns);
        /* The bits answer nearly always. */
        bool may_recur = (zone->around & UINT64_C(1) << zone->location % 64) != 0;

        *ret = (struct zone_instance){
                .begin_ns = zone->begin_ns,
                .end_ns = time_ns,
                .self_ns = duration_ns > zone->children_ns ? duration_ns - zone->children_ns : 0,
                .on_cpu_ns = ran_ns > zone->ran_ns ? ran_ns - zone->ran_ns : 0,
                .n_samples = (uint32_t)t->n_interrupts - zone->n_interrupts,
                .location = zone->location,
                .depth = t->n_open,
                .path = zone->path,
                .is_named = zone->flags[THREAD_TIMELINE_ASKED] & ZONE_MATCHER_NAMED,
                .is_inside = zone->flags[THREAD_TIMELINE_ASKED] & ZONE_MATCHER_INSIDE,
                .outermost = !may_recur || !thread_timeline_is_inside_itself(t, zone),
                .closed = closed,
                .is_cpu_unknown = t->is_imported,
        };
        t->dropped_wanted = zone->wanted;
}

/*
 * Closes the innermost zone.  Returns true and reports it; false if none is open, or a zone that is too deep
 * ends.
 */
static inline bool thread_timeline_end_zone(struct thread_timeline *t, uint64_t time_ns,
                                            struct zone_instance *ret)
{
        if (!thread_timeline_can_end(t))
                return false;
        thread_timeline_close(t, time_ns, true, ret);
        return true;
}

/*
 * Closes and reports a zone that is still open when nothing more comes, the innermost first.  Returns false
 * when all are closed.
 */
bool thread_timeline_drop_zone(struct thread_timeline *t, uint64_t time_ns, struct zone_instance *ret);

/*
 * thread_timeline_find_path() - the path of the open zones, as one number
 * @paths:     grows by new paths; always the same object for a thread
 * @ret_path:  the id of the path of the innermost zone; 0 if none is open
 * Amortised constant time: each zone gets its number once.  Returns 0, -ENOMEM, -EOVERFLOW.
 */
int thread_timeline_find_path(struct thread_timeline *t, struct zone_paths *paths, uint32_t *ret_path);

/*
 * thread_timeline_match() - goes on with a pattern, after each
 * thread_timeline_begin_zone() that was not too deep
 * @matcher:  always the same one for @which
 *            Returns 0, -ENOMEM, -EOVERFLOW.
 */
int thread_timeline_match(struct thread_timeline *t, enum thread_timeline_pattern which,
                          struct zone_matcher *matcher);

/*
 * The result of the pattern for the innermost open zone: values of enum zone_matcher_flag, or-ed; 0 if none
 * is open.
 */
unsigned thread_timeline_flags(const struct thread_timeline *t, enum thread_timeline_pattern which);

/* The location of the innermost open zone; 0 if there is none. */
uint32_t thread_timeline_location(const struct thread_timeline *t);

/* Marks the innermost zone as one that a caller wants to be notified of: see `n_wanted`. */
void thread_timeline_want_zone(struct thread_timeline *t);

/* A waker makes the thread ready to run: if that is its first event, it does not run yet. */
void thread_timeline_wakeup(struct thread_timeline *t, uint64_t time_ns);

void thread_timeline_switch_out(struct thread_timeline *t, uint64_t time_ns);
void thread_timeline_switch_in(struct thread_timeline *t, uint64_t time_ns);

/* The thread ends; its open zones were dropped. */
void thread_timeline_exit(struct thread_timeline *t);

/*
 * thread_timeline_finish() - nothing more comes
 * @end_ns:  when the recording ended; a thread that did not exit lived until then
 * Brings `last_ns` and `ran_ns` to the end; then the caller drops open zones at `last_ns`.
 */
void thread_timeline_finish(struct thread_timeline *t, uint64_t end_ns);

#endif /* ANALYZE_WALK_THREAD_TIMELINE_H */
