/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/word_map.h - from two words to a pointer
 *
 * Way of the data:  addresses and numbers of the program -> [word_map] -> what a bridge keeps about them
 *
 * All zero is empty.  Grows; a lack of memory is as if nothing had been put in.  Any threads; a signal
 * handler that interrupts it finds nothing.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_WORD_MAP_H
#define INSTRUMENT_COMPAT_INJECT_WORD_MAP_H

#include "instrument/compat/inject/inject.h"

struct word_key {
        uint64_t a, b;
};

struct word_place {
        struct word_key key;
        void *value; /* NULL = free */
};

struct word_map {
        struct inject_lock lock;
        struct word_place *places; /* heap, owned; a power of two, or none; at most three quarters are used */
        size_t n_places, n_used;
};

/* NULL if there is none. */
void *word_map_find(struct word_map *m, struct word_key key);

/* @value: not NULL.  Replaces what is there.  Returns false for a lack of memory. */
bool word_map_put(struct word_map *m, struct word_key key, void *value);

/* Puts @value where nothing is.  Returns what is there now: @value, an earlier one; NULL without memory. */
void *word_map_keep(struct word_map *m, struct word_key key, void *value);

/* Takes it out, and returns it; NULL if there is none. */
void *word_map_take(struct word_map *m, struct word_key key);

/*
 * Takes them out one by one; NULL = all have been taken that were there.
 * @place:  0 at first; where the next one is looked for
 */
void *word_map_take_next(struct word_map *m, size_t *place);

#endif /* INSTRUMENT_COMPAT_INJECT_WORD_MAP_H */
