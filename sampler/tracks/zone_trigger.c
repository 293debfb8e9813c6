/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/zone_trigger.h"

#include "base/array.h"
#include "sampler/tracks/thread_track.h"

#include <stdlib.h>
#include <string.h>

/* The facts about a location and a rule. */
enum { NAME_UNKNOWN, NAME_DIFFERS, NAME_FITS };

void zone_trigger_init(struct zone_trigger *t, const struct zone_trigger_rule *rules, size_t n_rules,
                       const struct trace_dictionary *dictionary)
{
        *t = (struct zone_trigger){
                .rules = rules, .n_rules = n_rules, .dictionary = dictionary, .longer_than_ns = UINT64_MAX
        };
        for (size_t i = 0; i < n_rules; i++)
                if (rules[i].longer_than_ns < t->longer_than_ns)
                        t->longer_than_ns = rules[i].longer_than_ns;
}

void zone_trigger_deinit(struct zone_trigger *t)
{
        free(t->names);
        free(t->locations);
        *t = (struct zone_trigger){ .rules = NULL };
}

static bool is_named(struct zone_trigger *t, size_t i, uint32_t location)
{
        size_t at = (size_t)location * t->n_rules + i, before = t->names_capacity;

        if (array_reserve(&t->names, &t->names_capacity, at + 1, sizeof(*t->names)) < 0)
                return false;
        if (t->names_capacity > before)
                memset(t->names + before, NAME_UNKNOWN, t->names_capacity - before);
        if (t->names[at] == NAME_UNKNOWN)
                t->names[at] = t->rules[i].names(t->rules[i].pattern, t->dictionary, location) ? NAME_FITS
                                                                                               : NAME_DIFFERS;
        return t->names[at] == NAME_FITS;
}

static bool is_meant(struct zone_trigger *t, size_t i, const struct thread_track *track)
{
        const struct zone_trigger_rule *rule = &t->rules[i];

        if (!is_named(t, i, track->zones[track->n_zones - 1].location) ||
            array_reserve(&t->locations, &t->locations_capacity, track->n_zones, sizeof(*t->locations)) < 0)
                return false;
        for (size_t k = 0; k < track->n_zones; k++)
                t->locations[k] = track->zones[k].location;
        return rule->fits(rule->pattern, t->dictionary, t->locations, (uint32_t)track->n_zones);
}

void zone_trigger_judge(struct zone_trigger *t, const struct thread_track *track, uint64_t end_ns)
{
        uint64_t begin_ns;

        if (track->n_zones == 0)
                return;
        begin_ns = track->zones[track->n_zones - 1].begin_ns;
        if (end_ns <= begin_ns || end_ns - begin_ns <= t->longer_than_ns)
                return;
        for (size_t i = 0; i < t->n_rules; i++) {
                if (end_ns - begin_ns <= t->rules[i].longer_than_ns || !is_meant(t, i, track))
                        continue;
                if (t->n_hits++ == 0)
                        t->first = (struct zone_trigger_hit){ .rule = &t->rules[i],
                                                              .begin_ns = begin_ns,
                                                              .end_ns = end_ns,
                                                              .tid = track->tid };
                return;
        }
}

uint64_t zone_trigger_take(struct zone_trigger *t, struct zone_trigger_hit *ret_first)
{
        uint64_t n = t->n_hits;

        *ret_first = t->first;
        t->n_hits = 0;
        return n;
}
