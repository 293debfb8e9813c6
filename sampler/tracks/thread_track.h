/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/thread_track.h - one thread or fiber while it is recorded: its open zones, and
 * what waits to be written
 *
 * Way of the data:  kernel_side -> pending events of [thread_track] -> merge -> event_encoder
 *                   zone_source -> zone_merge -> [thread_track] -> event_encoder
 *
 * A fiber is a track too, with a stream of its own: it has no events of the
 * kernel's, but gets copies of those switches that happen while a thread goes
 * on as it, so that its stream alone tells when it ran.
 */
#ifndef SAMPLER_TRACKS_THREAD_TRACK_H
#define SAMPLER_TRACKS_THREAD_TRACK_H

#include "format/event_encoder.h"
#include "format/trace_event.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/tracks/cut_stacks.h"
#include "unwind/stack_stitch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loss_counter;
struct process_track;
struct raw_stack;
struct trace_dictionary;
struct zone_trigger;

#define KEPT_COPY_BYTES_MAX    (UINT32_C(1) << 25) /* of all that wait */
#define THREAD_TRACK_ZONES_MAX 4096                /* nested; deeper ones are counted, not followed */

struct open_zone {
        uint32_t location;
        uint32_t path; /* id in the table ZONE_PATHS; 0 = not looked up yet */
        uint64_t begin_ns;
        uint64_t frame_avma; /* of a probed function: of its call; 0 = the program's own zone */
        bool is_static;      /* between two static probes: its frame says little */
        bool is_point;       /* between two tracepoints of the kernel: it is in no frame */
        bool is_syscall; /* these tracepoints are of system calls, of which a thread is in one at a time */
};

/*
 * The copy of a stack on its way into the trace, with --keep-stacks; docs/understand/trace-format.md, "Stack
 * copies".
 */
struct kept_copy {
        size_t *total_bytes; /* borrowed: of all copies that wait; it outlives them */
        size_t n_bytes;
        char bytes[]; /* as the trace has them */
};

/* An event of the kernel's, waiting for the zone events before it. */
struct pending_event {
        struct trace_event event;
        bool closes_zones; /* a new program (execve): open zones never end */
        uint32_t cut;      /* of a sample whose callstack is cut: its number at the stack_unwinder; else 0 */
        uint32_t syscall;  /* of a sample at a system call: its frame, which is the innermost; else 0 */
        bool shares_place; /* a sample of a group's member: its callstack is that of the sample before it */
        uint64_t frame_avma;    /* of a begin or end of a probed function: of its call */
        bool is_static;         /* the same of a zone between two static probes */
        bool is_point;          /* or tracepoints, */
        bool is_syscall;        /* of system calls */
        struct kept_copy *copy; /* owned: the text of a STACK_COPY, or of what a probe says; else NULL */
};

/* A Python thread and the lock of its interpreter; belongs to python_gil. */
struct gil_track {
        uint32_t lock;          /* id in LOCKS of the lock that the thread waits for; 0 = none */
        bool is_next;           /* the switch that comes next begins a wait for it, or goes on with one */
        bool is_unsure;         /* the thread runs again, and has the lock or will go on waiting */
        uint64_t out_ns, in_ns; /* of the last part of the wait */
        uint64_t n_switches;    /* how often the lock's holder had changed when the wait began */
        uint64_t interval_ns;   /* after so long it looks again */
};

/* A call stack that is used again when a record says that the stack has not changed. */
struct thread_stack {
        uint32_t stack; /* id in the table STACKS; 0 = not known */
        uint32_t state; /* enum trace_stack_state */
};

struct thread_track {
        struct process_track *process;
        uint32_t tid; /* 0 = a fiber */
        /* its number in the PID namespace of its process; 0 = not known, or the same as `tid` */
        uint32_t own_tid;
        bool was_asked;  /* that number was looked up in /proc */
        uint32_t thread; /* id in the table THREADS */
        uint32_t name;   /* string; 0 = unknown */
        uint32_t cpu;    /* that it was last seen on */

        struct thread_track *fiber;   /* borrowed: the fiber that the thread runs; NULL = none */
        struct thread_track *carrier; /* of a fiber, borrowed: the thread that it runs on; NULL = none */
        bool in_lost_fiber;           /* the thread runs a fiber for which no track could be made */

        struct open_zone *zones; /* heap, owned; outermost first */
        size_t n_zones, zones_capacity;
        size_t n_probed;     /* of these, calls of probed functions */
        uint64_t n_too_deep; /* zones open beyond the limit */

        struct pending_event *pending; /* heap, owned; in order of time */
        size_t n_pending, pending_capacity;

        struct stack_stitch stitch; /* these belong to the stack_unwinder: the last whole stack, */
        struct cut_stacks cuts;     /* those that wait to be completed, */
        uint64_t late_read_ns;      /* and when memory was last read for a stack */
        /* when the thread left its CPU, as BPF reported; 0 = it is on one, or not known */
        uint64_t out_ns;
        uint64_t in_ns;       /* when the thread came onto `in_cpu`; 0 = it is on none, or not known */
        uint32_t in_cpu;      /* if `in_ns`: as its last switch told */
        bool waits_by_sample; /* `waited_at` comes from a sample; its switch is the next record */
        /* the stacks where it last left its CPU, where it last woke a thread, and of what last woke it */
        struct thread_stack waited_at, woke_at, interrupted_by;
        struct gil_track gil;

        uint64_t last_ns;                            /* of the last event written */
        struct trace_event last_switch, last_sample; /* the last ones that were written; an op of 0 = none */
        uint32_t written_name;                       /* string: of the last THREAD_NAME; 0 = none */
        bool listed; /* the track is in the process table's list of threads with pending events */
        /* an event that closes zones was written: the fibers of the process have ended, too */
        bool began_anew;
        bool exits;  /* its THREAD_EXIT is pending, or was written */
        bool exited; /* it was written */
};

/* The objects by which streams are written; all borrowed. */
struct thread_sink {
        struct event_encoder *encoder;
        struct trace_dictionary *dictionary;
        struct loss_counter *losses;
        struct zone_trigger *trigger;        /* is called as zones end; or NULL */
        enum stack_keeping keeping;          /* which copies of stacks are written, */
        uint64_t kept_bytes, kept_bytes_max; /* how much of them was, and may be */
        uint64_t n_probed;                   /* calls of probed functions that were written, */
        uint64_t n_without_end;              /* and those of them that ended with their caller; */
        uint64_t n_points_without_end;       /* zones between tracepoints that had no end, */
        uint64_t n_points_without_begin;     /* and ends of such zones */
        const struct thread_track *run;      /* the track whose run is open in the encoder; NULL = none */
};

/*
 * kept_copy_new() - the copy of a thread's state, as one piece
 * Returns 0; NULL in @ret_copy if nothing was copied; -EOVERFLOW if too many wait; -ENOMEM.
 */
int kept_copy_new(const struct raw_stack *raw, size_t *total_bytes, struct kept_copy **ret_copy);

/* The same of a text.  Returns NULL if too many wait, or there is no memory. */
struct kept_copy *kept_copy_of_text(const char *text, size_t text_bytes, size_t *total_bytes);

/* NULL is fine. */
void kept_copy_free(struct kept_copy *copy);

/* Ends the open run and begins one of @track; NULL = begins none. */
void thread_sink_switch(struct thread_sink *sink, const struct thread_track *track);

void thread_track_deinit(struct thread_track *t);

/*
 * Queues an event of the kernel's, in order of time.  Returns 0; -ENOMEM, then the event's copy stays the
 * caller's.
 */
int thread_track_add_pending(struct thread_track *t, const struct pending_event *event);

/*
 * thread_track_add_last_sample() - queue a sample of a thread whose end is pending, before that end
 * A thread runs on for a moment after the end that the kernel reports; the sample gets the time of that end.
 * If the end was written already, the sample is left out.  Returns 0 or -ENOMEM.
 */
int thread_track_add_last_sample(struct thread_track *t, const struct pending_event *sample);

/* The thread continues after all: a pending end is dropped. */
void thread_track_revive(struct thread_track *t);

/*
 * thread_track_write_pending() - write the pending events up to @until_ns, inclusively
 * Samples get the zone path that is open then, on the fiber if the thread goes on as
 * one.  Returns 0 or -ENOMEM.
 */
int thread_track_write_pending(struct thread_track *t, struct thread_sink *sink, uint64_t until_ns);

/*
 * thread_track_write() - write an event of the program's
 * @event:  its time is put right where it would step back
 * @stack:  id in the table STACKS: a CALLSTACK goes before it; 0 = none
 * The pending events before it are written already.  Zones are opened and closed by it: an end
 * without a beginning is left out and counted.  Returns 0 or -ENOMEM.
 */
int thread_track_write(struct thread_track *t, struct thread_sink *sink, struct trace_event *event,
                       uint32_t stack);

/*
 * thread_track_find_level() - finds the zone that an event with details is about
 * @depth:      of the zone, 1 = the outermost; 0 = the innermost
 * @ret_level:  as events have it: 0 = the innermost open zone
 * Returns false if no such zone is open in the stream.
 */
bool thread_track_find_level(const struct thread_track *t, uint64_t depth, uint64_t *ret_level);

/* Writes an end for every open zone but the @n_left outermost. */
void thread_track_close_zones(struct thread_track *t, struct thread_sink *sink, uint64_t n_left,
                              uint64_t now_ns);

/* The same, but calls of probed functions, and what lies outside of them, stay open. */
void thread_track_close_own_zones(struct thread_track *t, struct thread_sink *sink, uint64_t n_left,
                                  uint64_t now_ns);

/*
 * thread_track_enter_fiber() - the thread goes on as @fiber from @now_ns on
 * @n_open:  zones that are open on the fiber; the ends of all further ones that are open here were lost
 * The thread leaves the fiber that it ran, and another thread leaves @fiber, if the events that say so were
 * lost.
 */
void thread_track_enter_fiber(struct thread_track *t, struct thread_sink *sink, struct thread_track *fiber,
                              uint64_t n_open, uint64_t now_ns);

/* The thread goes on as itself; nothing happens if it does already. */
void thread_track_leave_fiber(struct thread_track *t, struct thread_sink *sink, uint64_t now_ns);

/* A fiber has ended with its program: leaves its thread and writes the last event of its stream. */
void thread_track_end_fiber(struct thread_track *fiber, struct thread_sink *sink, uint64_t now_ns);

/* zone_trigger.c: the innermost open zone of @track ends.  Short of memory, it is not judged. */
void zone_trigger_judge(struct zone_trigger *t, const struct thread_track *track, uint64_t end_ns);

/* ---- the short way of nearly all events ---------------------------------------------------------------- */

/* Counts an event that would step back in time, and gives the time that it gets instead. */
uint64_t thread_track_correct(const struct thread_track *t, struct thread_sink *sink);

/* Every event's time comes from here: a stream never steps back in time. */
static inline uint64_t thread_track_advance(struct thread_track *t, struct thread_sink *sink,
                                            uint64_t time_ns)
{
        t->last_ns = time_ns >= t->last_ns ? time_ns : thread_track_correct(t, sink);
        return t->last_ns;
}

/*
 * thread_track_begin_zone() - thread_track_write() of a begin where nothing is unusual
 * The open run is that of @t.  Returns false if nothing was done.
 */
static inline bool thread_track_begin_zone(struct thread_track *t, struct thread_sink *sink, uint64_t time_ns,
                                           uint32_t location)
{
        if (t->n_zones >= t->zones_capacity || t->n_zones >= THREAD_TRACK_ZONES_MAX)
                return false;
        time_ns = thread_track_advance(t, sink, time_ns);
        t->zones[t->n_zones++] = (struct open_zone){ .location = location, .begin_ns = time_ns };
        event_encoder_begin_zone(sink->encoder, time_ns, location);
        return true;
}

/* The same of an end. */
static inline bool thread_track_end_zone(struct thread_track *t, struct thread_sink *sink, uint64_t time_ns)
{
        if (t->n_zones == 0 || t->n_too_deep > 0 || t->n_probed > 0)
                return false;
        time_ns = thread_track_advance(t, sink, time_ns);
        if (__builtin_expect(sink->trigger != NULL, 0))
                zone_trigger_judge(sink->trigger, t, time_ns);
        t->n_zones--;
        event_encoder_end_zone(sink->encoder, time_ns);
        return true;
}

#endif /* SAMPLER_TRACKS_THREAD_TRACK_H */
