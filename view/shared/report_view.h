/* SPDX-License-Identifier: MIT */
/*
 * view/shared/report_view.h - one view of a report: functions, lines, zones, one zone, threads, modules,
 * waits, CPUs, or the overview
 *
 * Way of the data:  report -> functions_view, lines_view, zones_view, zone_view, threads_view,
 *                   modules_view -> view_document
 * Specification:    docs/use/view-json.md
 *
 * Each fills a document that is initialised; when memory runs out, it is `failed`.
 */
#ifndef VIEW_SHARED_REPORT_VIEW_H
#define VIEW_SHARED_REPORT_VIEW_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct answer_part;
struct answer_schema;
struct error;
struct report;
struct report_samples;
struct view_document;

extern const struct answer_schema functions_view_schema, lines_view_schema, zone_view_schema,
        threads_view_schema, modules_view_schema, off_cpu_view_schema, cpus_view_schema, syscalls_view_schema,
        overview_view_schema, zones_view_schema;

/* With a smaller part of the CPUs' time in which no shown thread ran, the overview does not mention it. */
#define OVERVIEW_IDLE_MIN 0.1

struct report_view_options {
        const char *path;        /* of the trace, for the hints */
        struct text_view filter; /* the chosen part, in words; empty = everything */
        uint32_t limit;          /* rows of each table; 0 = all */
        uint32_t tree_limit;     /* rows of each tree: the heaviest; 0 = all */
        double share_min;        /* of a tree's rows, of all samples */
        uint32_t depth_max;      /* levels of a tree; 0 = all */
        uint32_t up_depth_max;   /* the same from the bottom; 0 = depth_max */
        const char *function;    /* handle or glob: only these; NULL = all */
        /* of the overview: the first lines of --idle and --wall; empty = they do not matter */
        struct text_view idle_words, wall_words;
        const char *zone;          /* what zone_view is about, as it was asked for */
        uint32_t n_histograms;     /* for how many zones; 0 = all */
        uint32_t group_limit;      /* rows of a zone's groups; 0 = all */
        bool has_group_histograms; /* of these groups, instead of one histogram of all */
        bool top_down, bottom_up;
        bool zones_as_frames; /* of the tree from the top: functions stand below the zones that were open */
        bool skips_common;    /* of the tree from the top: leave out outer frames that all samples share */
};

/* Returns 0, or -ENOENT with words if there is no such function. */
int functions_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options, struct error *err);
/* Whether only native functions that Python functions called fit: for report_options.is_native. */
bool functions_view_is_native(const struct report_samples *samples, const char *function);
/* @report: loaded with wants_lines. */
void lines_view_fill(struct view_document *d, const struct report *report,
                     const struct report_view_options *options);
void zones_view_fill(struct view_document *d, const struct report *report,
                     const struct report_view_options *options);
/* @report: loaded with n_slowest, wants_waits and a filter for zones. */
void zone_view_fill(struct view_document *d, const struct report *report,
                    const struct report_view_options *options);
void threads_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options);
void modules_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options);
/* @report: loaded with wants_syscalls. */
void syscalls_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options);
/*
 * Waits of threads, and how busy CPUs were, without the heading: both may be in one document.
 * @report: loaded with wants_waits, wants_cpus.
 */
void off_cpu_view_set_answer(struct view_document *d, const struct report *report);
void off_cpu_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options);
void cpus_view_set_answer(struct view_document *d, const struct report *report);
void cpus_view_fill(struct view_document *d, const struct report *report,
                    const struct report_view_options *options);

/*
 * The tables that have the names of these views, without the facts, warnings and hints around them.  The
 * overview has them as well: their columns are in the schemas of both.
 */
extern const struct answer_part functions_view_list_part, zones_view_list_part, threads_view_list_part;
void functions_view_add_list(struct view_document *d, const struct report *report, uint32_t limit);
void zones_view_add_list(struct view_document *d, const struct report *report, uint32_t limit);
void threads_view_add_list(struct view_document *d, const struct report *report, uint32_t limit);

/* All of them, and what was recorded: the report without a view.  @report: loaded with wants_waits. */
void overview_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options);

#endif /* VIEW_SHARED_REPORT_VIEW_H */
