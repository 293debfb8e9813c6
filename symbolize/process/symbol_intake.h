/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_intake.h - what a child says of its task -> rows, findings
 * and entries of the cache
 *
 * Way of the data:  symbol_stream -> [symbol_intake] -> trace_dictionary (SYMBOLS),
 *                   symbol_findings, index_cache
 *
 * The child has read hostile files.  It can say something of its own task's
 * frames only, once each, and write the one entry that belongs to its module.
 */
#ifndef SYMBOLIZE_PROCESS_SYMBOL_INTAKE_H
#define SYMBOLIZE_PROCESS_SYMBOL_INTAKE_H

#include "symbolize/images/index_cache.h"
#include "symbolize/images/module_images.h"
#include "symbolize/process/known_symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct symbol_findings;
struct symbol_process_options;
struct symbol_stream_record;
struct symbolizer;
struct trace_dictionary;

struct symbol_intake {
        struct trace_dictionary *dictionary; /* borrowed, like the next three */
        const struct symbol_process_options *options;
        const struct symbolizer *symbolizer;
        struct symbol_findings *findings; /* NULL = not wanted */
        struct known_symbols known;
        struct module_images images;
        uint8_t *is_answered; /* heap; bit by frame: a frame is answered once */
        uint32_t n_frames;
        struct symbol_stream_record *record; /* heap: the one being looked at */
        uint64_t n_news;                     /* frames that got rows */
        /* The task whose symbols arrive. */
        uint32_t task;
        uint32_t module; /* the module that the child is working on; 0 before its first */
        bool is_at_end;  /* the child said that it was done */
        bool is_found;   /* it said what there was for the module */
        bool is_index_refused;
        struct index_cache_writer index;
};

/* Returns 0 or -ENOMEM. */
int symbol_intake_init(struct symbol_intake *in, struct trace_dictionary *dictionary,
                       const struct symbol_process_options *options, const struct symbolizer *symbolizer,
                       struct error *err);
void symbol_intake_deinit(struct symbol_intake *in);

/* The following records belong to @task. */
void symbol_intake_begin(struct symbol_intake *in, uint32_t task);

/*
 * symbol_intake_take() - all whole records in @bytes; the rest is kept for later
 * Returns 0; -EBADMSG for what the symbolizer does not send; the code that the child failed with, in words;
 * -ENOMEM and -EOVERFLOW, with *@ret_is_own_failure, when the tables are full.
 */
int symbol_intake_take(struct symbol_intake *in, struct byte_buffer *bytes, bool *ret_is_own_failure,
                       struct error *err);

/* The task is over.  @is_good: the child ended as it should. */
void symbol_intake_end(struct symbol_intake *in, bool is_good);

#endif /* SYMBOLIZE_PROCESS_SYMBOL_INTAKE_H */
