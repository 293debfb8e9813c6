/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_keys.h - which zones of threads the zones of devices belong to, by their keys
 *
 * Way of the data:  trace_walk (ZONE_KEY, FLOW) -> [device_keys] -> device_hosts, device_lines,
 *                   timeline_launches, exports
 *
 * A zone of a thread and a zone of a device belong together if both have the same key, of the same space, in
 * one process.  A device of no process joins all processes of its recording.  Several zones may have said one
 * key: a zone of a device belongs to the last of them that began before it, else to the first of all.
 *
 * Zones are kept whatever a filter wants: work of a wanted time may have been handed over before it.
 * Memory: 68 bytes for each key that a zone said, DEVICE_KEYS_MAX at most; those beyond are counted.
 */
#ifndef ANALYZE_DEVICES_DEVICE_KEYS_H
#define ANALYZE_DEVICES_DEVICE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_zone;
struct error;
struct loaded_trace;
struct trace_dictionary;
struct trace_event;
struct walked_thread;

#define DEVICE_KEYS_MAX (UINT32_C(1) << 20)

/* A key that a zone of a thread said. */
struct device_key_zone {
        uint64_t key;
        uint64_t begin_ns, end_ns;   /* of the zone */
        uint32_t space;              /* string; 0 = not said */
        uint32_t location, thread;   /* of the zone */
        uint32_t process, recording; /* of the thread */
        bool is_flow;                /* a step of a flow, which need not lead to a device */
        bool has_span;               /* device_keys_find() found it */
        bool is_seen;                /* device_keys_of_zone() found it */
};

struct device_keys {
        const struct trace_dictionary *dictionary; /* borrowed */
        struct device_key_zone *zones;             /* heap; in the order of the trace */
        size_t capacity;
        uint32_t n_zones;
        uint32_t *by_process, *by_recording, *by_zone; /* heap; indices of `zones`, sorted */
        uint64_t n_lost;                               /* keys beyond the limit */
};

/*
 * device_keys_take() - go through the trace, if it has devices
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns; to be deinitialised in any case.
 */
int device_keys_take(struct device_keys *k, struct loaded_trace *trace, struct error *err);
void device_keys_deinit(struct device_keys *k);

/*
 * The same in the walk of a caller that has one:
 * device_keys_add()   of an event ZONE_KEY or FLOW; returns 1, 0 (left out), -ENOMEM; `end_ns` stays
 *                      UINT64_MAX
 * device_keys_sort()  before any question, anew after more keys; returns 0 or -ENOMEM
 */
void device_keys_init(struct device_keys *k, const struct trace_dictionary *dictionary);
int device_keys_add(struct device_keys *k, const struct walked_thread *thread,
                    const struct trace_event *event);
int device_keys_sort(struct device_keys *k);

/* Whether the zone of a device has a key at all. */
bool device_keys_has_key(const struct device_zone *zone);

/* The zone that it belongs to, which is marked; NULL = none.  Borrowed.  Logarithmic time. */
const struct device_key_zone *device_keys_find(struct device_keys *k, const struct device_zone *zone);

/*
 * The keys that a zone said, as indices of `zones`, which are marked; for exports that draw the zone.
 * Borrowed.  Logarithmic time.
 */
const uint32_t *device_keys_of_zone(struct device_keys *k, uint32_t thread, uint64_t begin_ns,
                                    uint32_t location, uint32_t *ret_n);

#endif /* ANALYZE_DEVICES_DEVICE_KEYS_H */
