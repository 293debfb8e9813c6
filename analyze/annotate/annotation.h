/* SPDX-License-Identifier: MIT */
/*
 * analyze/annotate/annotation.h - a function's instructions and source lines, with the samples at each
 *
 * Way of the data:  sampled_trace, function_choice; trace_dictionary, image_spool, region_symbols ->
 *                   listing_process; source_texts -> [annotation] -> annotation_view
 *
 * A sample counts for the instruction at its address: the next one to run when the interrupt came, often one
 * or a few after the one that took the time (skid).  The frames of its callers do not count.
 *
 * A function that was inlined everywhere has the instructions of its places: a part for each piece of code.
 *
 * Addresses are those of the module's ELF file; code that the program made itself has its addresses in
 * memory. Not thread-safe.
 */
#ifndef ANALYZE_ANNOTATE_ANNOTATION_H
#define ANALYZE_ANNOTATE_ANNOTATION_H

#include "analyze/report/report_tables.h"
#include "analyze/samples/function_choice.h"
#include "analyze/samples/unsampled_time.h"
#include "base/error.h"
#include "symbolize/listing/code_listing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampled_trace;
struct source_texts;
struct symbol_search;
struct trace_dictionary;

#define ANNOTATION_LANES_MAX  8    /* the most arrows beside each other; further ones are not drawn */
#define ANNOTATION_ARROWS_MAX 4096 /* of a part; if there are more, the longest are not drawn */
#define ANNOTATION_NO_LANE    UINT32_MAX

#define ANNOTATION_FILE_LINES_MAX 200000 /* of all files of a function */

struct annotated_instruction {
        struct sample_sum sum;
        /* index of the instruction that it jumps to, if that is in the same part; else UINT32_MAX */
        uint32_t target;
        bool is_target;
};

/* All jumps to one instruction. */
struct annotation_arrow {
        uint32_t first, last; /* instructions that it reaches over, by index, the target included */
        uint32_t target;
        uint32_t lane; /* 0 = next to the code; ANNOTATION_NO_LANE = not drawn */
};

struct annotated_line {
        uint32_t file; /* string of the listing; 0 = unknown */
        uint32_t line; /* 0 = unknown */
        struct sample_sum sum;
        bool is_inlined; /* only in functions that were inlined */
        bool has_code;
};

struct annotation {
        const struct sampled_trace *trace;
        struct chosen_function function;
        uint32_t event;
        struct unsampled_time unsampled; /* judged for the event */
        struct code_listing listing; /* without code: only the sampled places, with lines from the trace */
        /* the function has only lines, with the samples in the C code and the kernel that they called */
        bool is_python;
        bool has_code;
        bool is_kept;                               /* the code is the trace's own */
        struct error no_code;                       /* the reason why it has no code */
        struct annotated_instruction *instructions; /* heap, as many as the listing has */
        struct sample_sum sum;                      /* of the instructions: of the function */
        struct sample_sum self;          /* of the function's own lines, not of functions inlined into it */
        struct sample_sum inlined;       /* of the function where it was inlined into others; not in `sum` */
        struct sample_sum elsewhere;     /* of the function at places that are not in the listing */
        struct annotation_arrow *arrows; /* heap; by first instruction */
        size_t n_arrows, arrows_capacity;
        struct annotated_line *lines; /* heap; by file and line */
        size_t n_lines, lines_capacity;
        uint32_t n_short_files;                         /* see annotation_files_fill() */
        struct report_counters counters;                /* the events of the group; its sums are not filled */
        uint64_t *instruction_counters, *line_counters; /* heap; n_counters a row */
        uint64_t counters_sum[REPORT_COUNTERS_MAX];
};

struct annotation_options {
        const struct symbol_search *search; /* NULL = the machine's own folders */
        bool intel_syntax;
};

/*
 * annotation_init() - annotate one function
 * @trace:    borrowed until annotation_deinit()
 * @options:  borrowed for the call
 * A function without code gets an annotation as well: see `has_code`.
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int annotation_init(struct annotation *a, const struct sampled_trace *trace,
                    const struct chosen_function *function, uint32_t event,
                    const struct annotation_options *options);
void annotation_deinit(struct annotation *a);

/* The name of a function; code without a name is "[no symbol]". */
struct text_view annotation_function_name(const struct trace_dictionary *d,
                                          const struct chosen_function *function);

/* A string of the listing. */
struct text_view annotation_string(const struct annotation *a, uint32_t id);

/*
 * annotation_files_fill() - add a row without samples for each line of the files that has no row in `lines`
 * Files without text keep their rows as they are; so do files that would bring more than
 * ANNOTATION_FILE_LINES_MAX rows, which `n_short_files` counts.  Returns 0 or -ENOMEM.
 */
int annotation_files_fill(struct annotation *a, struct source_texts *sources);

/*
 * annotated_code_list() - fill the listing: find the code of the function, in the trace or outside of it; for
 * annotation_init()
 * @offsets:  sampled places of the function, ascending, each once
 * Without code `has_code` stays false and `no_code` says why.  Returns 0 or -ENOMEM.
 */
int annotated_code_list(struct annotation *a, const struct annotation_options *options,
                        const uint64_t *offsets, size_t n_offsets);

#endif /* ANALYZE_ANNOTATE_ANNOTATION_H */
