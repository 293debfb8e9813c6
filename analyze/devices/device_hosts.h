/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_hosts.h - what the zones of threads had devices do, and how long that waited
 *
 * Way of the data:  device_zones, device_keys -> [device_hosts] -> device_hosts_view
 *
 * Zones join by their keys alone, never by time.  The delay of a zone of a device is the time from the begin
 * of its zone of a thread to its own; if it is below 0, one of the clocks is wrong.  Memory: a row for each
 * place in the source that said a key, and for each space.  Not thread-safe.
 */
#ifndef ANALYZE_DEVICES_DEVICE_HOSTS_H
#define ANALYZE_DEVICES_DEVICE_HOSTS_H

#include "analyze/devices/device_keys.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_HOSTS_ROWS_MAX (UINT32_C(1) << 16)

/* Zones of threads, of one place in the source. */
struct device_host_row {
        uint32_t location;
        uint64_t n_keys, n_without_span; /* keys that they said; no zone of a device has that one */
        uint64_t n_spans, total_ns;      /* zones of devices that belong to them */
        uint64_t n_delays; /* of these, not before their zones, and of devices whose clock is known */
        uint64_t delay_sum_ns, delay_max_ns;
        uint64_t n_early, early_max_ns; /* that begin before their zones, by how much at most */
};

/* One kind of key. */
struct device_space_row {
        uint32_t space;                  /* string; 0 = not said */
        uint64_t n_keys, n_without_span; /* by zones of threads */
        uint64_t n_spans, n_without_key; /* of devices; without a zone of a thread */
};

struct device_hosts {
        struct device_keys keys;
        struct intern locations, spaces; /* uint32_t */
        struct device_host_row *rows;    /* heap; by id of `locations` - 1 */
        struct device_space_row *space_rows;
        size_t rows_capacity, space_rows_capacity;
        uint32_t n_rows, n_spaces;
        uint64_t n_lost; /* zones beyond the limit of rows */
};

/* As device_keys_take(). */
int device_hosts_take(struct device_hosts *h, struct loaded_trace *trace, struct error *err);
void device_hosts_deinit(struct device_hosts *h);

/*
 * device_hosts_add() - take a zone of a device
 * @is_placed: the device's clock is known
 * @ret_zone:  the zone of a thread to which it belongs; NULL = none
 * Returns 0 or -ENOMEM.
 */
int device_hosts_add(struct device_hosts *h, const struct device_zone *zone, bool is_placed,
                     const struct device_key_zone **ret_zone);

/* After all of them: counts the keys of threads.  Returns 0 or -ENOMEM. */
int device_hosts_finish(struct device_hosts *h);

#endif /* ANALYZE_DEVICES_DEVICE_HOSTS_H */
