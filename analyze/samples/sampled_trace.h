/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/sampled_trace.h - a trace read to its end for the places of its samples
 *
 * Way of the data:  loaded_trace -> trace_walk, image_spool, source_texts -> [sampled_trace] -> annotation
 *
 * Has also the code and the sources that the trace keeps.  Not thread-safe.
 */
#ifndef ANALYZE_SAMPLES_SAMPLED_TRACE_H
#define ANALYZE_SAMPLES_SAMPLED_TRACE_H

#include "analyze/samples/python_stacks.h"
#include "analyze/samples/unsampled_time.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/trace/source_texts.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_reader.h"
#include "symbolize/images/image_spool.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_dictionary;
struct error;
struct trace_filter_request;

struct sampled_trace {
        struct loaded_trace trace;
        struct trace_reader *reader;               /* the trace's */
        const struct trace_dictionary *dictionary; /* the reader's */
        struct sample_stats samples;
        struct image_spool images;
        struct source_texts sources;
        struct unsampled_time unsampled; /* not judged: that is for an event */
        struct sample_sum *events;       /* heap: of all samples of each sample event, by id - 1 */
        uint32_t n_events;
        uint32_t *first_symbols; /* heap; by frame: of trace_dictionary_find_symbols() */
        uint32_t n_symbols;      /* rows of SYMBOLS */
        struct python_stacks python;
        enum trace_ending ending;
        const char *ending_words;
};

/*
 * sampled_trace_load() - read the trace
 * @path:    "-" for standard input
 * @filter:  whose samples count; NULL = all
 * @ret:     to be deinitialised by the caller, after a failure too
 * If a trace is cut off, @ret has everything up to that point.  Returns 0, what trace_reader_open() returns,
 * -EBADMSG for malformed events, what trace_filter_init() returns, -ENOMEM.
 */
int sampled_trace_load(struct sampled_trace *ret, const char *path, const struct trace_filter_request *filter,
                       struct error *err);
void sampled_trace_deinit(struct sampled_trace *t);

/* The value of a key of META; empty if it is not there. */
struct text_view sampled_trace_meta(const struct sampled_trace *t, const char *key);

/*
 * sampled_trace_symbols() - the functions of a frame: the innermost inlined function first
 * @ret_first:  id in SYMBOLS of the first row; the others follow
 * Returns how many rows there are, 0 if nothing is known.
 */
uint32_t sampled_trace_symbols(const struct sampled_trace *t, uint32_t frame, uint32_t *ret_first);

/*
 * The name (a string) of the function that contains the code at @frame, into which others may be inlined; 0 =
 * unknown.
 */
uint32_t sampled_trace_function(const struct sampled_trace *t, uint32_t frame);

/*
 * The innermost Python function of a call stack, whose line called all functions further inwards, in C or in
 * the kernel.  A row of FRAMES; 0 = there is none.
 */
uint32_t sampled_trace_python_frame(const struct sampled_trace *t, uint32_t stack);

#endif /* ANALYZE_SAMPLES_SAMPLED_TRACE_H */
