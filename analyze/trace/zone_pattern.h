/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/zone_pattern.h - patterns that select zones by their names and nesting
 *
 * Way of the data:  command line -> [zone_pattern] -> zone_matcher, reports
 *
 * A pattern is a list of names with "/" between them; each is a glob of
 * fnmatch(3) ("*", "?", "[a-z]", "\" before a character that is meant as such).
 * "**" stands for any number of zones.  "/" at the beginning ties it to the
 * outermost zone, else it may begin anywhere:
 *
 *      dispatch      every zone of that name, and what is inside
 *      dispatch/ **  (without the space, which C needs here) only what is inside
 *      a/b           b directly inside a
 *      /a            a as the outermost zone
 *      z7            the zone with that handle: location 7; where another zone is called like that,
 *                    handle:z7 or name:z7
 *
 * Several patterns are separated by commas ("\," is a comma).  A text that is as a whole the name of a zone
 * means that zone, too, whatever special characters it has.  Immutable once made.
 */
#ifndef ANALYZE_TRACE_ZONE_PATTERN_H
#define ANALYZE_TRACE_ZONE_PATTERN_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;

/* Longer patterns are refused: this bounds the work for one path. */
#define ZONE_PATTERN_STEPS_MAX 64

struct zone_pattern_step {
        char *glob;        /* heap; NULL = "**" */
        uint32_t location; /* of a handle; 0 = by name */
        bool is_literal;   /* `glob` is a name without special characters */
        bool is_certain;   /* it is certainly a handle, or certainly a name */
};

struct zone_pattern_choice {
        struct zone_pattern_step *steps; /* heap */
        uint32_t n_steps;
        bool anchored;
};

struct zone_pattern {
        struct zone_pattern_choice *choices; /* heap; one of them has to fit */
        uint32_t n_choices;
};

/* Returns 0, -EINVAL with words (empty, too long, a handle of no zone), -ENOMEM. */
int zone_pattern_init(struct zone_pattern *p, const char *text, struct error *err);
void zone_pattern_deinit(struct zone_pattern *p);

/*
 * For a pattern that is used before a recording, when there are no handles: "z7" is a name.  Returns 0, or
 * -EINVAL for "handle:z7".
 */
int zone_pattern_take_names(struct zone_pattern *p, struct error *err);

/*
 * zone_pattern_fits() - whether the pattern means the path itself, not one around it
 * @locations:  of its zones, the outermost first; @n at least 1
 * For single paths; for all zones of a trace see zone_matcher.
 */
bool zone_pattern_fits(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                       const uint32_t *locations, uint32_t n);

/* The name of a zone, or the name of its function if it has none. */
struct text_view zone_pattern_name_of(const struct trace_dictionary *dictionary, uint32_t location);

/* Whether the name of a zone of @location fits the step, which is not "**". */
bool zone_pattern_step_fits(const struct zone_pattern_step *step, const struct trace_dictionary *dictionary,
                            uint32_t location);

/*
 * Whether the name of a zone of @location fits the end of a pattern, wherever the zone is nested: a cheap
 * first check.
 */
bool zone_pattern_names(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                        uint32_t location);

/*
 * zone_pattern_find_unknown() - the part of the first pattern that fits the name of no zone of the trace
 * NULL = each part of some pattern fits a zone's name, wherever these zones are nested.
 */
const struct zone_pattern_step *zone_pattern_find_unknown(const struct zone_pattern *p,
                                                          const struct trace_dictionary *dictionary);

/*
 * zone_pattern_check_handles() - check that no handle is also the name of another zone
 * Returns 0, or -EINVAL with both spellings.
 */
int zone_pattern_check_handles(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                               struct error *err);

/* Whether another zone has the handle of @location as its name. */
bool zone_pattern_is_shadowed(const struct trace_dictionary *dictionary, uint32_t location);

#endif /* ANALYZE_TRACE_ZONE_PATTERN_H */
