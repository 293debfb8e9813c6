/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_namesakes.h - processes that have one number, told apart by what else is known of them
 *
 * Way of the data:  otlp_spans -> import_rows -> [import_namesakes]
 *
 * In containers most processes have the number 1, in each of several files.
 *
 * Owns everything in it.  Not thread-safe.  Memory: 60 bytes for each process.
 */
#ifndef IMPORT_IMPORT_NAMESAKES_H
#define IMPORT_IMPORT_NAMESAKES_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

/* A number, and one of those that have it. */
struct import_namesake {
        uint64_t number, who; /* who: 0 = all of them */
};

struct import_namesakes {
        struct intern ids; /* struct import_namesake */
        uint32_t *n_of;    /* heap; by id - 1: of a number how many have it; of one of these which it is */
        size_t capacity;
};

void import_namesakes_init(struct import_namesakes *n);
void import_namesakes_deinit(struct import_namesakes *n);

/* Which of those with that @number the one is that is @who, a hash: 0 is the first.  Returns 0 or -errno. */
int import_namesakes_find(struct import_namesakes *n, uint64_t number, uint64_t who, uint32_t *ret_index);

#endif /* IMPORT_IMPORT_NAMESAKES_H */
