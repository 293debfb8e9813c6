/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_keys.h"

#include "analyze/devices/device_zones.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

/* The pass through the zones of threads. */
struct taking {
        struct device_keys *keys;
        uint32_t *open; /* heap; by thread id - 1: indices + 1 of the last key whose zone lasts */
        size_t open_capacity;
        uint32_t n_open;
        uint32_t *before; /* heap; by key: the same of the one before it */
        size_t before_capacity;
};

/* ------------------------------------------------------------------ zones of threads */

void device_keys_init(struct device_keys *k, const struct trace_dictionary *dictionary)
{
        *k = (struct device_keys){ .dictionary = dictionary };
}

int device_keys_add(struct device_keys *k, const struct walked_thread *thread,
                    const struct trace_event *event)
{
        /* The space and id of a FLOW are at the same places; its end hands nothing over. */
        bool is_flow = event->op == TRACE_OP_FLOW;
        const struct timeline_zone *zone = trace_walk_zone_at(thread, is_flow ? 0 : event->zone_key.level);
        const struct trace_thread *row;
        const struct trace_process *process;

        if (!zone || (is_flow && event->flow.phase == TRACE_FLOW_END))
                return 0;
        if (k->n_zones == DEVICE_KEYS_MAX) {
                k->n_lost++;
                return 0;
        }
        if (array_reserve(&k->zones, &k->capacity, (size_t)k->n_zones + 1, sizeof(*k->zones)) < 0)
                return -ENOMEM;
        row = trace_dictionary_row(k->dictionary, TRACE_TABLE_THREADS, thread->id);
        process = trace_dictionary_row(k->dictionary, TRACE_TABLE_PROCESSES, row->process);
        k->zones[k->n_zones++] = (struct device_key_zone){
                .key = event->zone_key.key,
                .begin_ns = zone->begin_ns,
                .end_ns = UINT64_MAX,
                .space = (uint32_t)event->zone_key.space,
                .location = zone->location,
                .thread = thread->id,
                .process = row->process,
                .recording = process->recording,
                .is_flow = is_flow,
        };
        return 1;
}

static int add_key(struct taking *t, const struct walked_thread *thread, const struct trace_event *event)
{
        struct device_keys *k = t->keys;
        int r = device_keys_add(k, thread, event);

        if (r != 1)
                return r;
        if (array_reserve(&t->before, &t->before_capacity, k->n_zones, sizeof(*t->before)) < 0 ||
            array_reach(&t->open, &t->open_capacity, &t->n_open, thread->id, sizeof(*t->open)) < 0)
                return -ENOMEM;
        t->before[k->n_zones - 1] = t->open[thread->id - 1];
        t->open[thread->id - 1] = k->n_zones;
        return 0;
}

/* An inner zone may have said its key before an outer one did. */
static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        struct taking *t = context;
        uint32_t *at = thread->id <= t->n_open ? &t->open[thread->id - 1] : NULL;

        (void)err;
        while (at && *at != 0) {
                struct device_key_zone *key = &t->keys->zones[*at - 1];
                uint32_t *next = &t->before[*at - 1];

                if (key->begin_ns == zone->begin_ns && key->location == zone->location) {
                        key->end_ns = zone->end_ns;
                        *at = *next;
                } else {
                        at = next;
                }
        }
        return 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        if ((event->op != TRACE_OP_ZONE_KEY && event->op != TRACE_OP_FLOW) ||
            add_key(context, thread, event) == 0)
                return 0;
        return error_set(err, -ENOMEM, "joining devices with zones: out of memory");
}

/* ------------------------------------------------------------------ the order */

/* By owner, space, key and begin. */
static int compare(const struct device_key_zone *a, const struct device_key_zone *b, bool is_by_process)
{
        int r = is_by_process ? order_numbers(a->process, b->process)
                              : order_numbers(a->recording, b->recording);

        if (r == 0)
                r = order_numbers(a->space, b->space);
        if (r == 0)
                r = order_numbers(a->key, b->key);
        return r != 0 ? r : order_numbers(a->begin_ns, b->begin_ns);
}

static int compare_by_process(const void *left, const void *right, void *context)
{
        const struct device_key_zone *zones = context;
        const uint32_t *a = left, *b = right;

        return compare(&zones[*a], &zones[*b], true);
}

static int compare_by_recording(const void *left, const void *right, void *context)
{
        const struct device_key_zone *zones = context;
        const uint32_t *a = left, *b = right;

        return compare(&zones[*a], &zones[*b], false);
}

static int compare_zones(const struct device_key_zone *a, const struct device_key_zone *b)
{
        int r = order_numbers(a->thread, b->thread);

        if (r == 0)
                r = order_numbers(a->begin_ns, b->begin_ns);
        return r != 0 ? r : order_numbers(a->location, b->location);
}

static int compare_by_zone(const void *left, const void *right, void *context)
{
        const struct device_key_zone *zones = context;
        const uint32_t *a = left, *b = right;
        int r = compare_zones(&zones[*a], &zones[*b]);

        return r != 0 ? r : order_numbers(*a, *b);
}

/* Returns the indices; NULL = out of memory. */
static uint32_t *sort(const struct device_keys *k, int (*order)(const void *, const void *, void *))
{
        uint32_t *indices = calloc((size_t)k->n_zones + 1, sizeof(*indices));

        if (!indices)
                return NULL;
        for (uint32_t i = 0; i < k->n_zones; i++)
                indices[i] = i;
        qsort_r(indices, k->n_zones, sizeof(*indices), order, k->zones);
        return indices;
}

int device_keys_take(struct device_keys *k, struct loaded_trace *trace, struct error *err)
{
        struct taking t = { .keys = k };
        const struct trace_sink sink = { .context = &t, .zone = take_zone, .event = take_event };
        struct trace_walk walk;
        int r;

        device_keys_init(k, trace->dictionary);
        if (trace_dictionary_count(trace->dictionary, TRACE_TABLE_DEVICES) == 0)
                return 0;
        r = trace_walk_init(&walk, trace, NULL, &sink);
        if (r == 0)
                r = loaded_trace_walk(trace, &walk, err);
        else
                error_set(err, r, "joining devices with zones: out of memory");
        trace_walk_deinit(&walk);
        free(t.open);
        free(t.before);
        if (r < 0)
                return r;
        return device_keys_sort(k) < 0 ? error_set(err, -ENOMEM, "joining devices with zones: out of memory")
                                       : 0;
}

static void free_orders(struct device_keys *k)
{
        free(k->by_process);
        free(k->by_recording);
        free(k->by_zone);
}

int device_keys_sort(struct device_keys *k)
{
        free_orders(k);
        k->by_process = sort(k, compare_by_process);
        k->by_recording = sort(k, compare_by_recording);
        k->by_zone = sort(k, compare_by_zone);
        return k->by_process && k->by_recording && k->by_zone ? 0 : -ENOMEM;
}

void device_keys_deinit(struct device_keys *k)
{
        free_orders(k);
        free(k->zones);
        *k = (struct device_keys){ .zones = NULL };
}

/* ------------------------------------------------------------------ zones of devices */

bool device_keys_has_key(const struct device_zone *zone)
{
        return zone->space != 0 || zone->key != 0;
}

/* How many zones are not after @wanted in the order. */
static uint32_t count_until(const struct device_keys *k, const uint32_t *order,
                            const struct device_key_zone *wanted, bool is_by_process)
{
        uint32_t low = 0, high = k->n_zones;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (compare(&k->zones[order[middle]], wanted, is_by_process) <= 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool is_joined(const struct device_key_zone *a, const struct device_key_zone *b, bool is_by_process)
{
        return a->space == b->space && a->key == b->key &&
               (is_by_process ? a->process == b->process : a->recording == b->recording);
}

const struct device_key_zone *device_keys_find(struct device_keys *k, const struct device_zone *zone)
{
        const struct trace_device *device = trace_dictionary_row(k->dictionary, TRACE_TABLE_DEVICES,
                                                                 zone->device);
        const struct device_key_zone wanted = { .key = zone->key,
                                                .begin_ns = zone->begin_ns,
                                                .space = zone->space,
                                                .process = device->process,
                                                .recording = device->recording };
        bool is_by_process = device->process != 0;
        const uint32_t *order = is_by_process ? k->by_process : k->by_recording;
        uint32_t n;

        if (k->n_zones == 0 || !device_keys_has_key(zone))
                return NULL;
        n = count_until(k, order, &wanted, is_by_process);
        for (uint32_t i = n; i <= n + 1; i++) {
                struct device_key_zone *found = i != 0 && i <= k->n_zones ? &k->zones[order[i - 1]] : NULL;

                if (found && is_joined(found, &wanted, is_by_process)) {
                        found->has_span = true;
                        return found;
                }
        }
        return NULL;
}

const uint32_t *device_keys_of_zone(struct device_keys *k, uint32_t thread, uint64_t begin_ns,
                                    uint32_t location, uint32_t *ret_n)
{
        const struct device_key_zone wanted = { .begin_ns = begin_ns,
                                                .location = location,
                                                .thread = thread };
        uint32_t low = 0, high = k->n_zones;

        *ret_n = 0;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (compare_zones(&k->zones[k->by_zone[middle]], &wanted) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        while (low + *ret_n < k->n_zones) {
                struct device_key_zone *zone = &k->zones[k->by_zone[low + *ret_n]];

                if (compare_zones(zone, &wanted) != 0)
                        break;
                zone->is_seen = true;
                ++*ret_n;
        }
        return k->n_zones != 0 ? &k->by_zone[low] : NULL;
}
