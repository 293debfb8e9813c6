/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_explain.h"

#include "analyze/why/why.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Candidates with nearly the largest gain count as equal; the innermost of them is the most specific. */
#define WAIT_NEARLY_BEST 0.9
/* The least gain, as a part of an instance's time; waits that gain less are grouped by their way to wait. */
#define WAIT_GAIN_MIN      0.1
#define WAIT_ROUNDS_MAX    10  /* each gains a tenth */
#define WAIT_INSTANCES_MIN 4   /* slow ones that have it */
#define WAIT_SAME_MIN      0.9 /* share of a group's time that a call needs to be named */

/* A way to wait, for all callers of the function.  Compared as bytes. */
struct spot_key {
        uint32_t own, call, kernel, has_stack;
};

struct waited_place {
        uint32_t spot;  /* id of its struct spot_key */
        uint32_t group; /* the place that stands for it; 0 = in no group yet */
        double slow_ns;
};

struct waited_label {
        double run_ns[2]; /* mean of an instance */
        double depth;     /* per round: sum of time multiplied by functions around it */
        bool is_around;   /* every wait is inside of it; set only if there are too few samples */
};

struct wait_rounds {
        struct why *w;
        uint32_t n_labels, n_places;
        struct intern spots;         /* struct spot_key */
        struct waited_place *places; /* heap; by place - 1 */
        struct waited_label *labels; /* heap; by label */
};

void why_waits_deinit(struct why_waits *g)
{
        free(g->names);
        *g = (struct why_waits){ .names = NULL };
}

static void wait_rounds_deinit(struct wait_rounds *r)
{
        intern_deinit(&r->spots);
        free(r->places);
        free(r->labels);
}

static int wait_rounds_init(struct wait_rounds *r, struct why *w)
{
        *r = (struct wait_rounds){ .w = w,
                                   .n_labels = w->places.functions.frames.n_labels,
                                   .n_places = w->places.places.n_items };
        intern_init(&r->spots, sizeof(struct spot_key), 0);
        r->places = calloc((size_t)r->n_places + 1, sizeof(*r->places));
        r->labels = calloc((size_t)r->n_labels + 1, sizeof(*r->labels));
        return r->places && r->labels ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ places */

static struct spot_key spot_of(const struct wait_places *places, const struct wait_place *place)
{
        uint32_t own = wait_places_find_own(places, place);
        struct spot_key key = { .kernel = place->kernel_label,
                                .call = wait_places_find_call(places, place),
                                .has_stack = place->has_stack };

        if (own < place->n_labels)
                key.own = place->labels[own];
        else if (place->n_labels != 0)
                key.own = place->labels[0];
        return key;
}

static int find_spots(struct wait_rounds *r)
{
        struct wait_place place;

        for (uint32_t id = 1; id <= r->n_places; id++) {
                struct spot_key key;
                int e;

                wait_places_get(&r->w->places, id, &place);
                key = spot_of(&r->w->places, &place);
                e = intern_add(&r->spots, &key, sizeof(key), &r->places[id - 1].spot);
                if (e < 0)
                        return e;
        }
        return 0;
}

/*
 * Adds up how long slow instances waited in each place, and how long instances ran in each function.  Call
 * stacks whose callers are unknown are left out: the others stand for them.
 */
static void add_up(struct wait_rounds *r)
{
        const struct why_instances *s = &r->w->collector.instances;
        struct why_profile *p = &r->w->profile;
        double weights[2] = { 0, 0 };

        for (size_t i = 0; i < s->n_items; i++)
                for (size_t k = 0; k < s->items[i].n_rows; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];
                        int group = s->items[i].is_slow ? WHY_SLOW : WHY_TYPICAL;

                        if (row->kind == WHY_WAIT && group == WHY_SLOW)
                                r->places[why_place_of(r->w, row->id) - 1].slow_ns += (double)row->amount;
                        if (row->kind != WHY_SAMPLE || p->is_cut[row->id])
                                continue;
                        weights[group] += (double)row->amount;
                        for (struct why_visit v = why_profile_visit(p, row->id); why_profile_next(p, &v);)
                                r->labels[v.label].run_ns[group] += (double)row->amount;
                }
        for (uint32_t label = 1; label <= r->n_labels; label++)
                for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++)
                        if (weights[group] > 0 && why_compares_functions(r->w))
                                r->labels[label].run_ns[group] *= r->w->on_cpu_ns[group] / weights[group];
                        else
                                r->labels[label].run_ns[group] = 0;
}

/* Without samples, a function around all waits is taken for a part of the zone itself. */
static void find_around(struct wait_rounds *r)
{
        struct why_profile *p = &r->w->profile;
        struct wait_place place;
        double n = 0;

        for (uint32_t id = 1; id <= r->n_places; id++) {
                wait_places_get(&r->w->places, id, &place);
                if (!place.has_stack)
                        continue;
                n++;
                why_profile_begin_visit(p);
                for (uint32_t i = 0; i < place.n_labels; i++)
                        r->labels[place.labels[i]].depth += why_profile_is_first(p, place.labels[i]);
        }
        for (uint32_t label = 1; label <= r->n_labels; label++)
                r->labels[label].is_around = r->labels[label].depth >= n;
}

/* ------------------------------------------------------------------ a round */

/* Counts a wait once for each function around it, from the waiting function outwards. */
static void take_wait(struct wait_rounds *r, const struct why_row *row, enum why_group group,
                      struct why_tally *tally)
{
        uint32_t id = why_place_of(r->w, row->id);
        struct why_profile *p = &r->w->profile;
        struct wait_place place;

        if (r->places[id - 1].group != 0)
                return;
        wait_places_get(&r->w->places, id, &place);
        why_tally_add(tally, group, r->n_labels + r->places[id - 1].spot, (double)row->amount, row->n);
        why_profile_begin_visit(p);
        for (uint32_t i = wait_places_find_own(&r->w->places, &place); i < place.n_labels; i++) {
                uint32_t label = place.labels[i];

                if (!wait_places_is_own(&r->w->places, label) || !why_profile_is_first(p, label))
                        continue;
                why_tally_add(tally, group, label, (double)row->amount, row->n);
                if (group == WHY_SLOW)
                        r->labels[label].depth += (double)row->amount * (place.n_labels - i);
        }
}

static void take_waits(struct wait_rounds *r, struct why_tally *tally)
{
        const struct why_instances *s = &r->w->collector.instances;

        for (size_t i = 0; i < s->n_items; i++) {
                enum why_group group = s->items[i].is_slow ? WHY_SLOW : WHY_TYPICAL;
                double duration = (double)s->items[i].duration_ns;

                for (size_t k = 0; k < s->items[i].n_rows; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];

                        if (row->kind == WHY_WAIT)
                                take_wait(r, row, group, tally);
                }
                why_tally_close(tally, group, duration, duration, duration);
        }
        why_tally_finish(tally);
}

static double mean_of(const struct wait_rounds *r, const struct why_measure *m, int group)
{
        return m->ratio[group].x / fmax((double)r->w->groups[group].n, 1);
}

/*
 * The part of a slow instance's time that is spent waiting in @thing, less that of a typical one.  A
 * function in which all instances spend their time, running or waiting, is a part of the zone itself, and
 * has no gain.
 */
static double wait_gain(const struct wait_rounds *r, const struct why_tally *tally, uint32_t thing)
{
        const struct why_measure *m = &tally->measures[thing];
        double part[2], all[2];

        if (m->ratio[WHY_SLOW].n_with < WAIT_INSTANCES_MIN ||
            (thing <= r->n_labels && r->labels[thing].is_around))
                return 0;
        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++) {
                double duration = r->w->groups[group].duration / fmax((double)r->w->groups[group].n, 1);
                double run_ns = thing <= r->n_labels ? r->labels[thing].run_ns[group] : 0;

                part[group] = mean_of(r, m, group) / fmax(duration, 1);
                all[group] = (mean_of(r, m, group) + run_ns) / fmax(duration, 1);
        }
        return fmin(part[WHY_SLOW] - part[WHY_TYPICAL], all[WHY_SLOW] - all[WHY_TYPICAL]);
}

/*
 * A way to wait counts as further in than any function; of two functions, the one with more functions around
 * it does.
 */
static bool is_inner(const struct wait_rounds *r, const struct why_tally *tally, uint32_t a, uint32_t b)
{
        if (a > r->n_labels || b > r->n_labels)
                return a > r->n_labels && b <= r->n_labels;
        return r->labels[a].depth / tally->measures[a].ratio[WHY_SLOW].x >
               r->labels[b].depth / tally->measures[b].ratio[WHY_SLOW].x;
}

/* Chooses the function or way to wait of this round; 0 = no gain is large enough. */
static uint32_t choose_thing(struct wait_rounds *r, struct why_waits *g, const struct why_tally *tally)
{
        double best = 0;
        uint32_t chosen = 0;

        for (uint32_t thing = 1; thing < tally->n; thing++) {
                double gain = wait_gain(r, tally, thing);

                g->n_tested += tally->measures[thing].ratio[WHY_SLOW].n_with != 0;
                if (gain >= WAIT_GAIN_MIN && gain > best) {
                        best = gain;
                        chosen = thing;
                }
        }
        for (uint32_t thing = 1; thing < tally->n && chosen != 0; thing++)
                if (wait_gain(r, tally, thing) >= WAIT_NEARLY_BEST * best &&
                    is_inner(r, tally, thing, chosen))
                        chosen = thing;
        return chosen;
}

static bool place_has(const struct wait_rounds *r, uint32_t id, uint32_t thing)
{
        struct wait_place place;

        if (thing > r->n_labels)
                return r->places[id - 1].spot == thing - r->n_labels;
        wait_places_get(&r->w->places, id, &place);
        for (uint32_t i = wait_places_find_own(&r->w->places, &place); i < place.n_labels; i++)
                if (place.labels[i] == thing)
                        return true;
        return false;
}

/* Names a group by where slow instances spend most of its time, and what they wait for there. */
static struct why_wait_name name_group(const struct wait_rounds *r, uint32_t first, uint32_t thing)
{
        const struct spot_key *top = intern_get(&r->spots, r->places[first - 1].spot, NULL);
        double all = 0, same_own = 0, same_call = 0, same_kernel = 0;
        struct why_wait_name name = { .label = thing <= r->n_labels ? thing : top->own };

        for (uint32_t id = 1; id <= r->n_places; id++) {
                const struct spot_key *spot = intern_get(&r->spots, r->places[id - 1].spot, NULL);

                if (r->places[id - 1].group != first)
                        continue;
                all += r->places[id - 1].slow_ns;
                same_own += spot->own == top->own ? r->places[id - 1].slow_ns : 0;
                same_call += spot->call == top->call ? r->places[id - 1].slow_ns : 0;
                same_kernel += spot->kernel == top->kernel ? r->places[id - 1].slow_ns : 0;
        }
        if (top->own != name.label && same_own > all / 2)
                name.inner = top->own;
        name.call = same_call >= WAIT_SAME_MIN * all ? top->call : 0;
        name.kernel = same_kernel >= WAIT_SAME_MIN * all ? top->kernel : 0;
        return name;
}

/* The place with the most time stands for all that have @thing. */
static void take_places(struct wait_rounds *r, struct why_waits *g, uint32_t thing)
{
        uint32_t first = 0;

        for (uint32_t id = 1; id <= r->n_places; id++)
                if (r->places[id - 1].group == 0 && place_has(r, id, thing) &&
                    (first == 0 || r->places[id - 1].slow_ns > r->places[first - 1].slow_ns))
                        first = id;
        if (first == 0)
                return;
        for (uint32_t id = 1; id <= r->n_places; id++)
                if (r->places[id - 1].group == 0 && place_has(r, id, thing))
                        r->places[id - 1].group = first;
        g->names[first - 1] = name_group(r, first, thing);
}

/* Returns 1 if there may be more, 0 at the end, or -ENOMEM. */
static int take_wait_round(struct wait_rounds *r, struct why_waits *g)
{
        struct why_tally tally;
        uint32_t thing = 0;
        int e = why_tally_init(&tally, r->n_labels + r->spots.n_items + 1);

        if (e == 0) {
                for (uint32_t label = 0; label <= r->n_labels; label++)
                        r->labels[label].depth = 0;
                take_waits(r, &tally);
                thing = choose_thing(r, g, &tally);
        }
        why_tally_deinit(&tally);
        if (thing != 0)
                take_places(r, g, thing);
        return e < 0 ? e : thing != 0;
}

/* Waits that no round took are grouped by their way to wait, and only that is shown of them. */
static void take_rest(struct wait_rounds *r, struct why_waits *g)
{
        for (uint32_t id = 1; id <= r->n_places; id++)
                if (r->places[id - 1].group == 0)
                        take_places(r, g, r->n_labels + r->places[id - 1].spot);
}

static int group_waits(struct wait_rounds *r, struct why_waits *g)
{
        int e = find_spots(r);

        if (e < 0)
                return e;
        add_up(r);
        if (!why_compares_functions(r->w))
                find_around(r);
        e = 1;
        for (int i = 0; i < WAIT_ROUNDS_MAX && e > 0; i++)
                e = take_wait_round(r, g);
        if (e >= 0)
                take_rest(r, g);
        return e < 0 ? e : 0;
}

int why_waits_find(struct why_waits *g, struct why *w)
{
        struct wait_rounds r;
        int e = wait_rounds_init(&r, w);

        g->names = calloc((size_t)w->places.places.n_items + 1, sizeof(*g->names));
        if (!g->names)
                e = -ENOMEM;
        if (e == 0)
                e = group_waits(&r, g);
        for (uint32_t i = 0; i < w->collector.waits.n_items && e == 0; i++)
                w->place_ids[i] = r.places[w->place_ids[i] - 1].group;
        wait_rounds_deinit(&r);
        return e;
}
