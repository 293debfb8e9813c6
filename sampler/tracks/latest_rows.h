/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/latest_rows.h - tables in which a later row replaces an earlier one of the same key
 *
 * Way of the data:  event_translator, zone_region -> [latest_rows] -> trace_dictionary
 *
 * If a program says the same again and again, that is one row.  If it says something else in between, the
 * repeated words are a row once more, because the last one counts.
 */
#ifndef SAMPLER_TRACKS_LATEST_ROWS_H
#define SAMPLER_TRACKS_LATEST_ROWS_H

#include "base/intern.h"
#include "format/trace_spec.h"

#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

/* A key: rows with different keys do not replace each other. */
struct latest_key {
        uint32_t part[3];
};

struct latest_rows {
        struct trace_dictionary *dictionary; /* borrowed */
        enum trace_table table;              /* one that is not interned */
        size_t row_bytes;
        struct intern keys;
        uint32_t *ids; /* heap, owned: of the latest row, by the key's id - 1 */
        size_t capacity;
};

void latest_rows_init(struct latest_rows *l, struct trace_dictionary *dictionary, enum trace_table table,
                      size_t row_bytes);
void latest_rows_deinit(struct latest_rows *l);

/* Adds a row unless the latest one of its key is equal.  Returns 0, -ENOMEM, -EOVERFLOW. */
int latest_rows_add(struct latest_rows *l, struct latest_key key, const void *row);

/* The id of the latest row of a key; 0 = there is none. */
uint32_t latest_rows_find(const struct latest_rows *l, struct latest_key key);

#endif /* SAMPLER_TRACKS_LATEST_ROWS_H */
