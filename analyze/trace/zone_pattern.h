/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/zone_pattern.h - which zones are meant, by their names and where they are nested
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
 * Several patterns are separated by commas ("\," is a comma).  A text that is the name of a zone from end to
 * end means that zone, too, whatever is special in it.  Immutable once made.
 */
#ifndef ANALYZE_TRACE_ZONE_PATTERN_H
#define ANALYZE_TRACE_ZONE_PATTERN_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_dictionary;

/* Longer patterns are refused: it bounds the work for one path. */
#define ZONE_PATTERN_STEPS_MAX 64

struct zone_pattern_step {
        char *glob;        /* heap; NULL = "**" */
        uint32_t location; /* of a handle; 0 = by name */
        bool is_literal;   /* `glob` is a name, with nothing special in it */
        bool is_certain;   /* a handle or a name, without a doubt */
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

/* Before a recording there are no handles: "z7" is a name.  Returns 0, or -EINVAL for "handle:z7". */
int zone_pattern_take_names(struct zone_pattern *p, struct error *err);

/*
 * zone_pattern_fits() - whether the path itself is meant, not one around it
 * @locations:  of its zones, the outermost first; @n at least 1
 * For a path now and then; for the zones of a trace see zone_matcher.
 */
bool zone_pattern_fits(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                       const uint32_t *locations, uint32_t n);

/* The name of a zone; one without is known by its function. */
struct text_view zone_pattern_name_of(const struct trace_dictionary *dictionary, uint32_t location);

/* Whether a zone of @location is called what the step says, which is not "**". */
bool zone_pattern_step_fits(const struct zone_pattern_step *step, const struct trace_dictionary *dictionary,
                            uint32_t location);

/*
 * Whether the name of a zone of @location is what a pattern ends with, wherever it is
 * nested: a cheap first look.
 */
bool zone_pattern_names(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                        uint32_t location);

/*
 * zone_pattern_find_unknown() - the part of the first pattern that no zone of the trace is called
 * NULL = of some pattern each part is a zone's name, wherever they are nested.
 */
const struct zone_pattern_step *zone_pattern_find_unknown(const struct zone_pattern *p,
                                                          const struct trace_dictionary *dictionary);

/*
 * zone_pattern_check_handles() - are all handles handles, and not also the names of other zones?
 * Returns 0, or -EINVAL with both spellings.
 */
int zone_pattern_check_handles(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                               struct error *err);

/* Whether another zone has the handle of @location as its name. */
bool zone_pattern_is_shadowed(const struct trace_dictionary *dictionary, uint32_t location);

#endif /* ANALYZE_TRACE_ZONE_PATTERN_H */
