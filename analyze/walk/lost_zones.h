/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/lost_zones.h - how many of a program's zones are not in the trace: numbers about
 * the rest are lower bounds
 *
 * Way of the data:  trace_dictionary (losses), trace_walk -> [lost_zones] -> view, cli
 */
#ifndef ANALYZE_WALK_LOST_ZONES_H
#define ANALYZE_WALK_LOST_ZONES_H

#include <stdbool.h>
#include <stdint.h>

#define LOST_ZONES_WORDS_BYTES 96

struct trace_walk;

struct lost_zones {
        uint64_t n_lost; /* dropped by the wanted programs, in the whole recording; 0 = none */
        /*
         * of the program that lost the largest share of its zones; 0 = unknown, because only a range is
         * read
         */
        double share;
        bool is_one_program; /* no other is looked at */
        bool has_others;     /* events were lost that may or may not be zones */
};

/*
 * lost_zones_find() - add up the zones dropped by the programs whose threads the walk's filter wants
 * @walk:  at its end; all of its threads must have been seen for `share`, so it must
 *         not have skipped anything
 * Returns 0 or -ENOMEM.
 */
int lost_zones_find(struct lost_zones *ret, const struct trace_walk *walk);

/* "at least: 76.0% of this program's zones were lost", or "" if none were. */
void lost_zones_words(const struct lost_zones *lost, char words[LOST_ZONES_WORDS_BYTES]);

#endif /* ANALYZE_WALK_LOST_ZONES_H */
