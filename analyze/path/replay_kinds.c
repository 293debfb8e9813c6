/* SPDX-License-Identifier: MIT */
#include "analyze/path/replay_kinds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Fewer pairs of samples do not show whether stretches differ. */
#define PAIRS_MIN 64

void replay_kinds_init(struct replay_kinds *k)
{
        *k = (struct replay_kinds){ .rows = NULL };
        intern_init(&k->keys, sizeof(struct replay_kind_key), REPLAY_KINDS_MAX);
}

void replay_kinds_deinit(struct replay_kinds *k)
{
        intern_deinit(&k->keys);
        free(k->rows);
        k->rows = NULL;
}

void replay_counts_add(struct replay_counts *c, double x, double weight)
{
        c->n++;
        c->x += x;
        c->xx += x * x;
        c->weight += weight;
        c->saved += weight * x;
}

int replay_kinds_learn(struct replay_kinds *k, const struct replay_kind_key *key,
                       const struct replay_counts *stretch)
{
        struct replay_kind *kind;
        uint32_t id;
        int r = intern_add_row(&k->keys, key, &k->rows, &k->capacity, sizeof(*k->rows), &id);

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        kind = &k->rows[id - 1];
        kind->n += stretch->n;
        kind->weight += stretch->weight;
        kind->saved += stretch->saved;
        kind->pairs += stretch->n * (stretch->n - 1);
        kind->pairs_x += stretch->x * (stretch->n - 1);
        kind->pairs_xx += stretch->xx * (stretch->n - 1);
        kind->products += stretch->x * stretch->x - stretch->xx;
        return 0;
}

/*
 * The correlation of two samples of one stretch: 0 if all stretches are the same mixture, 1 if each is all in
 * such functions, or not at all.
 */
static double find_likeness(const struct replay_kind *kind)
{
        double mean = kind->pairs > 0 ? kind->pairs_x / kind->pairs : 0;
        double variance = kind->pairs > 0 ? kind->pairs_xx / kind->pairs - mean * mean : 0;

        if (kind->pairs < PAIRS_MIN || variance <= 0)
                return 0;
        return fmin(fmax((kind->products / kind->pairs - mean * mean) / variance, 0), 1);
}

/* The usual share counts beside the samples of the stretch, the less the more alike those are. */
double replay_kinds_share(const struct replay_kinds *k, const struct replay_kind_key *key,
                          const struct replay_counts *stretch)
{
        uint32_t id = intern_find(&k->keys, key, sizeof(*key));
        const struct replay_kind *kind = id != 0 ? &k->rows[id - 1] : NULL;
        double usual, likeness, weight;

        if (!kind || kind->weight <= 0)
                return 0;
        usual = kind->saved / kind->weight;
        likeness = find_likeness(kind);
        if (stretch->n <= 0 || likeness <= 0)
                return usual;
        weight = (1 - likeness) / likeness * kind->weight / kind->n;
        return (stretch->saved + usual * weight) / (stretch->weight + weight);
}
