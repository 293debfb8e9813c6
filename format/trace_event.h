/* SPDX-License-Identifier: MIT */
/*
 * format/trace_event.h - one thing that happened on one thread
 *
 * Way of the data:  merge -> [trace_event] -> event_encoder -> file
 *                   file -> event_decoder -> [trace_event] -> analyze
 * Specification:    docs/understand/trace-format.md, "Events"
 */
#ifndef FORMAT_TRACE_EVENT_H
#define FORMAT_TRACE_EVENT_H

#include "format/trace_spec.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The operands of an op: either by name, or as numbers in the order of the specification. */
struct trace_event {
        uint64_t time_ns; /* CLOCK_MONOTONIC_RAW; never decreases within a thread */
        uint64_t op;      /* enum trace_op */
        /*
         * The text of an op whose first operand is its length, such as ZONE_TEXT; in any encoding.  Borrowed:
         * the encoder uses it during the call only, and a text from the decoder is valid as long as the
         * decoder's chunk.
         */
        const char *text;
        union {
                uint64_t operand[TRACE_OPERANDS_MAX];
                struct {
                        uint64_t location;
                } zone_begin;
                struct {
                        uint64_t event;  /* sample_event */
                        uint64_t cpu;    /* number of the logical CPU */
                        uint64_t stack;  /* 0 = none was recorded */
                        uint64_t path;   /* zone_path open on the thread; 0 = outside of every zone */
                        uint64_t weight; /* how much the sample stands for, in the unit of the sample_event */
                        uint64_t state;  /* of the stack: enum trace_stack_state */
                } sample;
                struct {
                        uint64_t cpu;
                        uint64_t preempted;   /* 1: the thread could have run on; 0: it waits for something */
                        uint64_t wait;        /* enum trace_wait_state */
                        uint64_t stack;       /* where it waits; 0 = not recorded */
                        uint64_t stack_state; /* enum trace_stack_state */
                        uint64_t successor; /* of a preempted thread: who got its CPU, see trace_successor */
                } switch_out;
                struct {
                        uint64_t cpu;
                        uint64_t stack; /* of the wait that ends, if its SWITCH_OUT has none; 0 = none */
                        uint64_t stack_state; /* enum trace_stack_state */
                        /*
                         * with --idle: for how long the CPU was idle since a recorded thread left it, or
                         * since the recording began
                         */
                        uint64_t idle_ns;
                } switch_in;
                struct {
                        uint64_t text;     /* string */
                        uint64_t severity; /* 0 trace, 1 debug, 2 info, 3 warning, 4 error, 5 fatal */
                        uint64_t color;    /* 0xRRGGBB, 0 = none */
                } message;
                struct {
                        uint64_t name; /* string */
                        int64_t value;
                } plot_i64;
                struct {
                        uint64_t name; /* string */
                        uint64_t bits; /* of an IEEE 754 double */
                } plot_f64;
                struct {
                        uint64_t name; /* string; 0 = the program's main frames */
                } frame_mark;
                struct {
                        uint64_t name; /* string */
                } thread_name;
                struct {
                        uint64_t text_bytes; /* of `text` */
                        uint64_t level; /* which zone: 0 = the innermost open, 1 = the one around it, ... */
                } zone_text;            /* adds a line */
                struct {
                        uint64_t name_bytes; /* of `text` */
                        uint64_t level;
                } zone_name; /* what this instance is called instead */
                struct {
                        int64_t value;
                        uint64_t level;
                } zone_value;
                struct {
                        uint64_t color; /* 0xRRGGBB */
                        uint64_t level;
                } zone_color;
                struct {
                        uint64_t stack;
                } callstack; /* of the event that follows, at the same time */
                struct {
                        uint64_t text_bytes; /* of `text` */
                        uint64_t severity;   /* as in `message` */
                        uint64_t color;
                } message_text;
                struct {
                        uint64_t name; /* string */
                } frame_begin, frame_end;
                struct {
                        uint64_t pool; /* string; 0 = the main one */
                        uint64_t address;
                        uint64_t size_bytes;
                } memory_alloc;
                struct {
                        uint64_t pool;
                        uint64_t address;
                } memory_free;
                struct {
                        uint64_t pool;
                } memory_discard;
                struct {
                        uint64_t lock;
                        uint64_t shared; /* 1: with others, to read */
                } lock_wait, lock_obtain, lock_release;
                struct {
                        uint64_t lock;
                        uint64_t location; /* the place that holds it now */
                } lock_mark;
                struct {
                        uint64_t lock;
                } lock_gone;
                struct {
                        uint64_t lock;
                        uint64_t name; /* string */
                } lock_name;
                struct {
                        uint64_t fiber; /* thread of kind FIBER, which has a stream with the fiber's zones */
                } fiber_enter;
                struct {
                        int64_t group;
                } thread_group;
                struct {
                        uint64_t device;
                        uint64_t query;
                        uint64_t location;
                } device_zone_begin;
                struct {
                        uint64_t device;
                        uint64_t query;
                } device_zone_end;
                struct {
                        uint64_t device;
                        uint64_t query;
                        uint64_t ticks; /* 0 = it never happened */
                } device_time;
                struct {
                        uint64_t device;
                        uint64_t location;
                        uint64_t begin_ticks;
                        uint64_t length_ticks;
                        uint64_t lane;  /* of the device; a row of TRACKS may name it */
                        uint64_t key;   /* what it belongs to; 0 without `space` = none */
                        uint64_t space; /* string: what kind of number the key is; 0 = not said */
                        uint64_t text;  /* string: its arguments; 0 = none */
                } device_span;
                struct {
                        uint64_t cpu;         /* of the waker */
                        uint64_t waker;       /* thread; 0 = not recorded, or no thread: an interrupt */
                        uint64_t name;        /* string: of the waker; 0 = unknown */
                        uint64_t stack;       /* of the waker or the interrupt; 0 = not recorded */
                        uint64_t stack_state; /* enum trace_stack_state */
                        uint64_t below; /* thread on whose kernel stack the interrupt was; 0 = none, or not
                                         * recorded; then `waker` is 0 */
                } wakeup;               /* a waker, or an interrupt, makes this thread ready to run */
                struct {
                        uint64_t copy_bytes; /* of `text`: see "Stack copies" */
                } stack_copy;                /* of the sample that follows, at the same time */
                struct {
                        uint64_t space; /* string, as in `device_span` */
                        uint64_t key;
                        uint64_t level; /* which zone, as in `zone_text` */
                } zone_key;             /* events of devices with the same belong to that zone */
                struct {
                        uint64_t attachment;
                        uint64_t frames_back; /* from the main frame that runs; 0 = that one */
                } frame_picture;              /* of a main frame of the program */
                struct {
                        uint64_t device;
                        uint64_t plot; /* row of PLOTS: the last one of its name says how to show it */
                        uint64_t ticks;
                        uint64_t lane;
                        uint64_t kind; /* enum trace_value_kind */
                        uint64_t bits; /* of a value of that kind */
                } device_value;
                struct {
                        uint64_t device;
                        uint64_t location;
                        uint64_t ticks;
                        uint64_t lane;
                        uint64_t key, space, text; /* as in `device_span` */
                } device_instant;
                struct {
                        uint64_t space; /* string: what kind of number the id is; 0 = not said */
                        uint64_t id;
                        uint64_t phase; /* enum trace_flow_phase */
                } flow;                 /* work is handed over from here, or taken over */
        };
};

struct trace_operand {
        const char *name;
        uint8_t encoding;  /* enum trace_encoding of format/trace_schema.h */
        uint8_t reference; /* enum trace_reference */
        uint8_t table;     /* the enum trace_table that it refers to */
        uint8_t show;      /* enum trace_show of format/trace_schema.h */
        bool appended;     /* 0 in an older trace, which has no such column */
};

struct trace_op_schema {
        const char *name; /* NULL for an id that is not in use */
        uint32_t n_operands;
        struct trace_operand operands[TRACE_OPERANDS_MAX];
};

/* The value of a DEVICE_VALUE, rounded to a double. */
static inline double trace_event_device_value(const struct trace_event *event)
{
        double value;

        if (event->device_value.kind == TRACE_VALUE_SIGNED)
                return (double)(int64_t)event->device_value.bits;
        if (event->device_value.kind == TRACE_VALUE_UNSIGNED)
                return (double)event->device_value.bits;
        memcpy(&value, &event->device_value.bits, sizeof(value));
        return value;
}

/* Whether it is a sample whose call stack ends early for want of an unwind table. */
static inline bool trace_event_lacks_table(const struct trace_event *event)
{
        return event->op == TRACE_OP_SAMPLE &&
               (event->sample.state == TRACE_STACK_NO_TABLE || event->sample.state == TRACE_STACK_TABLE_LATE);
}

/*
 * Whether @thread was on its CPU at its own WAKEUP: a timer or a signal came before it had begun to wait.
 */
static inline bool trace_event_wakes_itself(const struct trace_event *event, uint32_t thread)
{
        return event->op == TRACE_OP_WAKEUP &&
               (event->wakeup.waker == thread || event->wakeup.below == thread);
}

/* The description of an op; NULL for an id that this version does not know. */
const struct trace_op_schema *trace_op_schema_find(uint64_t op);

#endif /* FORMAT_TRACE_EVENT_H */
