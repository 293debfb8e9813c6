/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/zone_trigger.h - instances of zones that last too long, as they end
 *
 * Way of the data:  zone_merge -> thread_track -> [zone_trigger] -> flight_recorder
 *
 * The caller says which zones are meant: patterns of names are read elsewhere.  thread_track.h has
 * zone_trigger_judge(), which streams call as a zone ends.  Used by the collector's thread.
 */
#ifndef SAMPLER_TRACKS_ZONE_TRIGGER_H
#define SAMPLER_TRACKS_ZONE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

struct zone_trigger_rule {
        uint64_t longer_than_ns;
        const char *words;   /* the rule as the user wrote it; borrowed, like the next member */
        const void *pattern; /* for `names` and `fits` */
        /*
         * Whether a zone of that location can be meant, wherever it is nested; asked once for each
         * location.
         */
        bool (*names)(const void *pattern, const struct trace_dictionary *dictionary, uint32_t location);
        /* Whether the zone is meant, nested in these zones, the outermost first. */
        bool (*fits)(const void *pattern, const struct trace_dictionary *dictionary,
                     const uint32_t *locations, uint32_t n);
};

/* One instance that was too long. */
struct zone_trigger_hit {
        const struct zone_trigger_rule *rule;
        uint64_t begin_ns, end_ns;
        uint32_t tid;
};

struct zone_trigger {
        const struct zone_trigger_rule *rules; /* borrowed, like the dictionary */
        size_t n_rules;
        const struct trace_dictionary *dictionary;
        uint64_t longer_than_ns; /* the least of all rules */
        uint8_t *names;          /* heap, owned: by location and rule; see zone_trigger.c */
        size_t names_capacity;
        uint32_t *locations; /* heap, owned: scratch */
        size_t locations_capacity;
        struct zone_trigger_hit first; /* since zone_trigger_take() */
        uint64_t n_hits;               /* likewise */
};

void zone_trigger_init(struct zone_trigger *t, const struct zone_trigger_rule *rules, size_t n_rules,
                       const struct trace_dictionary *dictionary);
void zone_trigger_deinit(struct zone_trigger *t);

/* How many instances were too long since the last call, and the first of them. */
uint64_t zone_trigger_take(struct zone_trigger *t, struct zone_trigger_hit *ret_first);

#endif /* SAMPLER_TRACKS_ZONE_TRIGGER_H */
