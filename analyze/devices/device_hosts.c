/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_hosts.h"

#include "analyze/devices/device_zones.h"

#include <errno.h>
#include <stdlib.h>

int device_hosts_take(struct device_hosts *h, struct loaded_trace *trace, struct error *err)
{
        *h = (struct device_hosts){ .rows = NULL };
        intern_init(&h->locations, sizeof(uint32_t), DEVICE_HOSTS_ROWS_MAX);
        intern_init(&h->spaces, sizeof(uint32_t), DEVICE_HOSTS_ROWS_MAX);
        return device_keys_take(&h->keys, trace, err);
}

void device_hosts_deinit(struct device_hosts *h)
{
        device_keys_deinit(&h->keys);
        intern_deinit(&h->locations);
        intern_deinit(&h->spaces);
        free(h->rows);
        free(h->space_rows);
        *h = (struct device_hosts){ .rows = NULL };
}

/* Sets it to NULL beyond the limit.  Returns 0 or -ENOMEM. */
static int find_row(struct device_hosts *h, uint32_t location, struct device_host_row **ret)
{
        uint32_t id = 0;
        int r = intern_add_row(&h->locations, &location, &h->rows, &h->rows_capacity, sizeof(*h->rows), &id);

        *ret = NULL;
        if (r < 0) {
                h->n_lost += r == -EOVERFLOW;
                return r == -EOVERFLOW ? 0 : r;
        }
        if (r == 1)
                h->n_rows = id;
        *ret = &h->rows[id - 1];
        (*ret)->location = location;
        return 0;
}

static int find_space(struct device_hosts *h, uint32_t space, struct device_space_row **ret)
{
        uint32_t id = 0;
        int r = intern_add_row(&h->spaces, &space, &h->space_rows, &h->space_rows_capacity,
                               sizeof(*h->space_rows), &id);

        *ret = NULL;
        if (r < 0) {
                h->n_lost += r == -EOVERFLOW;
                return r == -EOVERFLOW ? 0 : r;
        }
        if (r == 1)
                h->n_spaces = id;
        *ret = &h->space_rows[id - 1];
        (*ret)->space = space;
        return 0;
}

static void add_delay(struct device_host_row *row, uint64_t from_ns, uint64_t begin_ns)
{
        if (begin_ns < from_ns) {
                row->n_early++;
                if (from_ns - begin_ns > row->early_max_ns)
                        row->early_max_ns = from_ns - begin_ns;
                return;
        }
        row->n_delays++;
        row->delay_sum_ns += begin_ns - from_ns;
        if (begin_ns - from_ns > row->delay_max_ns)
                row->delay_max_ns = begin_ns - from_ns;
}

int device_hosts_add(struct device_hosts *h, const struct device_zone *zone, bool is_placed,
                     const struct device_key_zone **ret_zone)
{
        struct device_space_row *space;
        struct device_host_row *row;
        int r;

        *ret_zone = NULL;
        if (!device_keys_has_key(zone))
                return 0;
        *ret_zone = device_keys_find(&h->keys, zone);
        r = find_space(h, zone->space, &space);
        if (r == 0 && space) {
                space->n_spans++;
                space->n_without_key += !*ret_zone;
        }
        if (r < 0 || !*ret_zone)
                return r;
        r = find_row(h, (*ret_zone)->location, &row);
        if (r < 0 || !row)
                return r;
        row->n_spans++;
        row->total_ns += zone->end_ns - zone->begin_ns;
        if (is_placed)
                add_delay(row, (*ret_zone)->begin_ns, zone->begin_ns);
        return 0;
}

/* Flows that no device takes part in lead from thread to thread: no work of a device is missing. */
static bool is_among_threads(const struct device_hosts *h, const struct device_key_zone *zone)
{
        uint32_t id = intern_find(&h->spaces, &zone->space, sizeof(zone->space));

        return zone->is_flow && (id == 0 || h->space_rows[id - 1].n_spans == 0);
}

int device_hosts_finish(struct device_hosts *h)
{
        for (uint32_t i = 0; i < h->keys.n_zones; i++) {
                const struct device_key_zone *zone = &h->keys.zones[i];
                struct device_space_row *space;
                struct device_host_row *row;
                int r;

                if (is_among_threads(h, zone))
                        continue;
                r = find_row(h, zone->location, &row);
                if (r == 0)
                        r = find_space(h, zone->space, &space);
                if (r < 0)
                        return r;
                if (row) {
                        row->n_keys++;
                        row->n_without_span += !zone->has_span;
                }
                if (space) {
                        space->n_keys++;
                        space->n_without_span += !zone->has_span;
                }
        }
        return 0;
}
