/* SPDX-License-Identifier: MIT */
/*
 * base/name_guess.h - the known name that is nearest to one that nobody knows
 *
 * Way of the data:  event_table, event_pmu, tracepoint -> [name_guess] -> words of event_spec_parse()
 *                   option_table, command_table -> [name_guess] -> complaint
 */
#ifndef BASE_NAME_GUESS_H
#define BASE_NAME_GUESS_H

#include <stddef.h>

#define NAME_GUESS_BYTES 128

struct name_guess {
        char wanted[NAME_GUESS_BYTES]; /* NUL-terminated, cut if longer */
        char best[NAME_GUESS_BYTES];   /* "" = nothing is near */
        size_t distance;               /* of `best`: letters to change, add or remove */
};

/* @text: what was typed. */
void name_guess_init(struct name_guess *g, const char *text, size_t n_bytes);

/* Takes @name if it is nearer than what was offered before, and near enough to be meant. */
void name_guess_offer(struct name_guess *g, const char *name);

#endif /* BASE_NAME_GUESS_H */
