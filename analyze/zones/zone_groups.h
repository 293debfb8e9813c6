/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/zone_groups.h - the zones that a pattern names, grouped by text, name, value, thread,
 * parent, process, recording or host
 *
 * Way of the data:  trace_walk -> trace_totals -> [zone_groups] -> zone_view
 *
 * There is a row for each distinct text, name, value, thread or zone around them.  A program may give every
 * zone a text of its own, so there are bounds, and zones beyond them are counted:
 *
 *      ZONE_GROUPS_MAX groups, the first that occur; zones of further ones are added up in `others`
 *      ZONE_GROUPS_HISTOGRAMS_MAX of them, with two zones or more, have percentiles; all have sum and maximum
 *      ZONE_GROUPS_LABEL_MAX bytes of a text are kept; longer ones are told apart by a hash of the whole
 *
 * Not thread-safe.
 */
#ifndef ANALYZE_ZONES_ZONE_GROUPS_H
#define ANALYZE_ZONES_ZONE_GROUPS_H

#include "analyze/trace/histogram.h"
#include "base/byte_buffer.h"
#include "base/intern.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;
struct zone_instance;
struct zone_words;

#define ZONE_GROUPS_MAX            65536
#define ZONE_GROUPS_HISTOGRAMS_MAX 4096
#define ZONE_GROUPS_LABEL_MAX      240

enum zone_group_key {
        ZONE_GROUP_NONE, /* no groups are wanted */
        ZONE_GROUP_TEXT, /* all lines of a zone's text */
        ZONE_GROUP_NAME, /* the zone's own name, else the name of its place */
        ZONE_GROUP_VALUE,
        ZONE_GROUP_THREAD, /* or fiber */
        ZONE_GROUP_PARENT, /* the place of the zone directly around it */
        ZONE_GROUP_PROCESS,
        ZONE_GROUP_RECORDING, /* of a merged trace */
        ZONE_GROUP_HOST,      /* by its name */
        ZONE_GROUP_KEYS,
};

struct zone_group {
        uint64_t n_closed, n_unclosed;
        uint64_t total_ns;       /* recursion counts once, as in zone_instances */
        uint64_t sum_ns, max_ns; /* of all closed zones; for the mean */
        uint32_t histogram;      /* index + 1 in `histograms`; 0 = none */
};

/* A group's identity: `label` for people, and the row of the trace. */
struct zone_group_label {
        struct text_view label; /* borrowed; valid until the next zone_groups_add() */
        uint32_t id;            /* thread, location, process or recording; 0 = none of these */
        bool is_known;          /* false: the zones have no such text, value or zone around them */
        bool is_cut;            /* the text goes on */
};

struct zone_groups {
        enum zone_group_key by;
        const struct trace_dictionary *dictionary; /* borrowed */
        struct intern keys;                        /* see zone_groups.c */
        struct zone_group *groups;                 /* heap; by id - 1 of `keys` */
        size_t capacity;
        struct histogram *histograms; /* heap */
        size_t n_histograms, histograms_capacity;
        struct zone_group others; /* beyond the bound */
        struct histogram others_ns;
        struct byte_buffer key; /* scratch */
};

/* Zero-initialised is valid for zone_groups_deinit().  @dictionary is borrowed. */
void zone_groups_init(struct zone_groups *g, enum zone_group_key by,
                      const struct trace_dictionary *dictionary);
void zone_groups_deinit(struct zone_groups *g);

/*
 * zone_groups_add() - take in a zone that the pattern names
 * @words:   the texts about it; NULL = nothing
 * @parent:  location of the zone directly around it; 0 = none
 * Constant time in the number of groups.  Returns 0 or -ENOMEM.
 */
int zone_groups_add(struct zone_groups *g, uint32_t thread, const struct zone_instance *zone,
                    const struct zone_words *words, uint32_t parent);

static inline uint32_t zone_groups_count(const struct zone_groups *g)
{
        return g->keys.n_items;
}

/* @group: 0 .. zone_groups_count() - 1 */
struct zone_group_label zone_groups_label(const struct zone_groups *g, uint32_t group);

/*
 * zone_groups_quantile() - the duration that a share of the closed zones of a group does not exceed
 * Returns false if the group has no closed zones, or no percentiles.
 */
bool zone_groups_quantile(const struct zone_groups *g, const struct zone_group *group, double share,
                          uint64_t *ret_ns);

/* The durations of a group; NULL if it has no histogram. */
const struct histogram *zone_groups_histogram(const struct zone_groups *g, const struct zone_group *group);

#endif /* ANALYZE_ZONES_ZONE_GROUPS_H */
