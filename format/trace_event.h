/* SPDX-License-Identifier: MIT */
/*
 * format/trace_event.h - one thing that happened on one thread
 *
 * Way of the data:  merge -> [trace_event] -> event_encoder -> file
 *                   file -> event_decoder -> [trace_event] -> analyze
 * Specification:    docs/trace-format.md, "Events"
 */
#ifndef FORMAT_TRACE_EVENT_H
#define FORMAT_TRACE_EVENT_H

#include "format/trace_spec.h"

#include <stdint.h>

/* The operands of an op: either by name, or as numbers in the order of the specification. */
struct trace_event {
        uint64_t time_ns; /* CLOCK_MONOTONIC_RAW; never decreases within a thread */
        uint64_t op;      /* enum trace_op */
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
                        uint64_t weight; /* how much it stands for, in the unit of the sample_event */
                } sample;
                struct {
                        uint64_t cpu;
                        uint64_t preempted; /* 1: it could have run on; 0: it waits for something */
                } switch_out;
                struct {
                        uint64_t cpu;
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
        };
};

struct trace_operand {
        const char *name;
        uint8_t encoding;  /* enum trace_encoding of format/trace_schema.h */
        uint8_t reference; /* enum trace_reference */
        uint8_t table;     /* the enum trace_table that it refers to */
};

struct trace_op_schema {
        const char *name; /* NULL for an id that is not in use */
        uint32_t n_operands;
        struct trace_operand operands[TRACE_OPERANDS_MAX];
};

/* The description of an op; NULL for an id that this version does not know. */
const struct trace_op_schema *trace_op_schema_find(uint64_t op);

#endif /* FORMAT_TRACE_EVENT_H */
