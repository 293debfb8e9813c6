/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_samples.h - where the samples of one event fell: functions, zones, functions in zones
 *
 * Way of the data:  sample_stats, trace_dictionary -> function_table, label_tree ->
 *                   [report_samples] -> report
 *
 * "In a zone" means that the zone was open on the sample's thread at that
 * instant, also when others were open inside it.  Native code below Python functions may count for these
 * functions: report_samples_fold().  Not thread-safe.
 */
#ifndef ANALYZE_REPORT_REPORT_SAMPLES_H
#define ANALYZE_REPORT_REPORT_SAMPLES_H

#include "analyze/samples/function_table.h"
#include "analyze/samples/label_tree.h"
#include "analyze/samples/python_stacks.h"
#include "analyze/trace/sample_stats.h"

#include <stdbool.h>
#include <stdint.h>

struct report_functions;
struct trace_dictionary;
struct trace_sample_event;

struct report_samples {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct sample_stats *stats;          /* borrowed */
        struct function_table functions;
        struct python_stacks python;
        struct python_parts parts; /* of all samples of the event, to decide whether to fold */
        bool is_folded;
        struct label_tree stacks;      /* node s is stack s; the one after the last is "no callstack" */
        struct label_groups locations; /* group l is location l, with itself as its only label */
        struct label_tree paths;       /* node p is zone path p; `sums` are of all samples */
        /* heap; the samples in path p are [path_first[p], path_first[p + 1]) of by_path */
        uint32_t *path_first;
        uint32_t *by_path; /* heap; rows of `stats` */
        bool *contains;    /* heap; scratch: whether a path has the location in question */
        uint32_t n_paths;
        bool skips_kernel; /* the event is a tracepoint: samples count for the program's innermost function */
};

/*
 * Whether the event is at one place in the kernel, or a counted system call: then the innermost function of
 * its samples says nothing about the program.
 */
bool report_samples_is_tracepoint(const struct trace_sample_event *event);

/*
 * report_samples_init() - take the samples of @event
 * @stats, @dictionary:  outlive the object; the trace was read to its end
 * Returns 0, -ENOMEM or -EOVERFLOW; the object is empty then.
 */
int report_samples_init(struct report_samples *s, const struct sample_stats *stats,
                        const struct trace_dictionary *dictionary, uint32_t event);
void report_samples_deinit(struct report_samples *s);

/*
 * From now on a stack is shown from its innermost Python function on, see python_stacks.h.  Call this before
 * all functions below.
 */
void report_samples_fold(struct report_samples *s);

/* The folding, for others that show stacks; NULL = stacks are shown as they are. */
static inline const struct python_stacks *report_samples_folds(const struct report_samples *s)
{
        return s->is_folded ? &s->python : NULL;
}

/*
 * The stack for which samples with @stack count, as a node of `stacks`; the last node = no function.
 */
uint32_t report_samples_node(const struct report_samples *s, uint32_t stack);

/* The label of the function for which samples with @stack count. */
uint32_t report_samples_label(const struct report_samples *s, uint32_t stack);

/*
 * All functions of all samples, hottest first; the caller frees ret_functions->rows.  Returns 0 or -ENOMEM.
 */
int report_samples_functions(struct report_samples *s, struct report_functions *ret_functions);

/* Selects the samples of another event and adds them up, for later calls. */
void report_samples_select(struct report_samples *s, uint32_t event);

/* After report_samples_select(): the sums of a function, by its label. */
struct label_sum report_samples_function(const struct report_samples *s, uint32_t label);

/* The samples in zones of a location. */
struct sample_sum report_samples_in_zone(const struct report_samples *s, uint32_t location);

/* As report_samples_functions(), for the samples in zones of a location; keeps @n_max rows, 0 = all. */
int report_samples_functions_in_zone(struct report_samples *s, uint32_t location, uint32_t n_max,
                                     struct report_functions *ret_functions);

#endif /* ANALYZE_REPORT_REPORT_SAMPLES_H */
