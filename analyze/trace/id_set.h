/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/id_set.h - which ids of a table occurred, and how many different ones
 *
 * Way of the data:  trace_totals -> [id_set] -> report
 *
 * A bit an id, so it is for ids of a table, which are dense.  0 is an id like
 * any other.  Not thread-safe.
 */
#ifndef ANALYZE_TRACE_ID_SET_H
#define ANALYZE_TRACE_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set {
        uint64_t *words; /* heap; bit i % 64 of word i / 64 */
        size_t n_words, capacity;
        uint32_t n_ids;
};

/* Zero-initialised is empty and valid. */
void id_set_deinit(struct id_set *s);

/* Returns 0 or -ENOMEM. */
int id_set_add(struct id_set *s, uint32_t id);

static inline bool id_set_has(const struct id_set *s, uint32_t id)
{
        return id / 64 < s->n_words && (s->words[id / 64] >> (id % 64) & 1) != 0;
}

#endif /* ANALYZE_TRACE_ID_SET_H */
