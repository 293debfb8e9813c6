/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_table.h - the events that have a name and a constant number in every kernel
 *
 * Way of the data:  [event_table] -> event_lookup, `hyprof list`
 *
 * Software events, the hardware events that each processor translates to its own, and those of caches.
 */
#ifndef SAMPLER_EVENTS_EVENT_TABLE_H
#define SAMPLER_EVENTS_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_TABLE_CACHE_NAME_BYTES 32

struct event_table_row {
        const char *name;
        const char *alias; /* or NULL */
        uint64_t config;   /* perf_event_attr.config */
        const char *unit;
        uint32_t type;  /* perf_event_attr.type */
        bool in_kernel; /* it happens in kernel code alone: a user who may not see that code counts none */
};

/* The rows by number, from 0; NULL after the last. */
const struct event_table_row *event_table_row(size_t i);

/* By name or alias; NULL if there is none. */
const struct event_table_row *event_table_find(const char *text, size_t n_bytes);

/* By its numbers in perf_event_attr; NULL if there is none. */
const struct event_table_row *event_table_find_config(uint32_t type, uint64_t config);

/*
 * event_table_find_cache() - "L1-dcache-load-misses", "LLC-loads", "dTLB-stores": a cache,
 * an operation, a result
 * Returns true with perf_event_attr.config of the type PERF_TYPE_HW_CACHE.
 */
bool event_table_find_cache(const char *text, size_t n_bytes, uint64_t *ret_config);

/* The names of these cache events by number, from 0; false after the last. */
bool event_table_cache_name(size_t i, char ret_name[EVENT_TABLE_CACHE_NAME_BYTES], uint64_t *ret_config);

#endif /* SAMPLER_EVENTS_EVENT_TABLE_H */
