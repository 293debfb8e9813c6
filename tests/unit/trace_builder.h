/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/trace_builder.h - a trace in memory, written call by call as a test wants it
 *
 * Way of the data:  unit test -> [trace_builder] -> trace_writer -> memfd -> the unit under test
 *
 * Whatever goes wrong while building ends the test.  Rows go into `dictionary`
 * with trace_builder_row() and the shorter forms; events are written in chunks
 * at each trace_builder_flush(), after the rows that are there by then.
 */
#ifndef TESTS_UNIT_TRACE_BUILDER_H
#define TESTS_UNIT_TRACE_BUILDER_H

#include "format/event_encoder.h"
#include "format/trace_dictionary.h"

#include <stdint.h>

struct trace_writer;

struct trace_builder {
        struct trace_dictionary dictionary;
        struct event_encoder encoder;
        struct trace_writer *writer;
        int fd;        /* memfd */
        char path[40]; /* by which it can be opened: /proc/self/fd/N */
};

void trace_builder_init(struct trace_builder *b);
void trace_builder_deinit(struct trace_builder *b);

uint32_t trace_builder_row(struct trace_builder *b, enum trace_table table, const void *row);
uint32_t trace_builder_string(struct trace_builder *b, const char *text);
uint32_t trace_builder_thread(struct trace_builder *b, uint32_t pid, uint32_t tid);
uint32_t trace_builder_fiber(struct trace_builder *b, uint32_t pid, uint32_t fiber);
uint32_t trace_builder_location(struct trace_builder *b, const char *name);
uint32_t trace_builder_path(struct trace_builder *b, uint32_t parent, uint32_t location);
uint32_t trace_builder_sample_event(struct trace_builder *b, const char *name);
/* A module of the kind FILE. */
uint32_t trace_builder_module(struct trace_builder *b, const char *path);
uint32_t trace_builder_module_of(struct trace_builder *b, enum trace_module_kind kind, const char *path);
uint32_t trace_builder_frame(struct trace_builder *b, uint32_t module, uint64_t offset);
uint32_t trace_builder_stack(struct trace_builder *b, uint32_t parent, uint32_t frame);
/* A frame with a name on top of the stack @parent; @function NULL = without a symbol. */
uint32_t trace_builder_push(struct trace_builder *b, uint32_t parent, uint32_t module, uint64_t offset,
                            const char *function);
/* @function NULL = a symbol without a name. */
void trace_builder_symbol(struct trace_builder *b, uint32_t frame, const char *function, uint32_t flags);
void trace_builder_meta(struct trace_builder *b, const char *key, const char *value);
/* The row of a source text.  @name NULL = it has none. */
uint32_t trace_builder_attachment(struct trace_builder *b, const char *name, uint64_t size_bytes);
/* A chunk with a part of one, after all rows so far; no run is open. */
void trace_builder_attachment_part(struct trace_builder *b, uint32_t attachment, uint64_t offset_bytes,
                                   const char *bytes, size_t n_bytes);

/* Events of one thread: begin_run, some of the others, end_run. */
void trace_builder_begin_run(struct trace_builder *b, uint32_t thread);
void trace_builder_end_run(struct trace_builder *b);
void trace_builder_begin_zone(struct trace_builder *b, uint64_t time_ns, uint32_t location);
/* Events without operands, or with all operands 0: ZONE_END, SWITCH_IN, SWITCH_OUT, THREAD_EXIT ... */
void trace_builder_event(struct trace_builder *b, uint64_t time_ns, enum trace_op op);
/* @operands: all of the op's; @text: of ops that have one, else NULL. */
void trace_builder_add(struct trace_builder *b, uint64_t time_ns, enum trace_op op, const char *text,
                       const uint64_t *operands);
/* An event whose first operand is the length of its text, the others 0: ZONE_TEXT, MESSAGE_TEXT ... */
void trace_builder_text(struct trace_builder *b, uint64_t time_ns, enum trace_op op, const char *text);
/* An event without a text; the operands that are left out are 0. */
#define TRACE_BUILDER_ADD(b, time_ns, op, ...)                 \
        trace_builder_add((b), (time_ns), TRACE_OP_##op, NULL, \
                          (const uint64_t[TRACE_OPERANDS_MAX]){ __VA_ARGS__ })
void trace_builder_sample(struct trace_builder *b, uint64_t time_ns, uint32_t event, uint32_t path,
                          uint32_t stack);

/* Writes what is there: tables, then events. */
void trace_builder_flush(struct trace_builder *b);
/* Writes what is there as a STATES chunk. */
void trace_builder_flush_states(struct trace_builder *b);
/* Flushes and writes the index: the trace is whole. */
void trace_builder_finish(struct trace_builder *b);

#endif /* TESTS_UNIT_TRACE_BUILDER_H */
