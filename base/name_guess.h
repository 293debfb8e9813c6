/* SPDX-License-Identifier: MIT */
/*
 * base/name_guess.h - the known name that is nearest to an unknown one
 *
 * Way of the data:  event_table, event_pmu, tracepoint -> [name_guess] -> words of event_spec_parse()
 *                   option_table, command_table -> [name_guess] -> complaint
 *                   names of a trace -> [name_guess] -> words of trace_filter
 */
#ifndef BASE_NAME_GUESS_H
#define BASE_NAME_GUESS_H

#include <stddef.h>
#include <stdint.h>

#define NAME_GUESS_BYTES 128

/*
 * So many names of a trace at most are compared letter by letter, each in about ten microseconds.
 */
#define NAME_GUESS_OFFERS_MAX 20000

struct name_guess {
        char wanted[NAME_GUESS_BYTES]; /* NUL-terminated, cut if longer */
        char best[NAME_GUESS_BYTES];   /* "" = nothing is near */
        size_t distance;               /* of `best`: letters to change, add or remove */
        uint32_t n_offers;             /* of name_guess_offer_bytes() */
};

/* @text: as typed. */
void name_guess_init(struct name_guess *g, const char *text, size_t n_bytes);

/* Takes @name if it is nearer than the names that were offered before, and near enough to be meant. */
void name_guess_offer(struct name_guess *g, const char *name);

/*
 * name_guess_offer_bytes() - the same for a name of any bytes
 * A name is also near if it contains the text, or differs only in capitals: people type a part of a long
 * name.
 */
void name_guess_offer_bytes(struct name_guess *g, const char *bytes, size_t n_bytes);

#endif /* BASE_NAME_GUESS_H */
