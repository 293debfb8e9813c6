/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/location_table.h - gives numbers to all that events name by a number
 *
 * Way of the data:  events, name_table -> [location_table] -> region -> client_region_location
 * Specification:    docs/understand/client-abi.md, "Location"
 *
 * Everything here is async-signal-safe and may be called from any thread.
 */
#ifndef INSTRUMENT_CLIENT_LOCATION_TABLE_H
#define INSTRUMENT_CLIENT_LOCATION_TABLE_H

#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The contents of an entry.  Borrowed for the call; strings need not end in NUL, and are cut if longer than
 * the ABI allows.
 */
struct location_content {
        const char *name; /* NULL = the function's name */
        const char *function;
        const char *file;
        size_t name_bytes;
        size_t function_bytes;
        size_t file_bytes;
        uint32_t line;
        uint32_t color;  /* 0xRRGGBB, 0 = none */
        uint32_t format; /* of a device: its kind */
        double period;   /* of a device: nanoseconds a tick, 0 = unknown */
};

/* The settings of a plot from hyprof_plot_config(). */
struct location_plot_config {
        uint32_t format; /* enum client_abi_plot_format */
        uint32_t flags;  /* CLIENT_ABI_PLOT_STEP, _FILL */
        uint32_t color;
        uint64_t unit; /* as location_table_name() returns it */
};

/* False while nothing may be added: there is no region, or this thread is between the fork handlers. */
bool location_table_is_open(void);

/*
 * A new entry.  Returns its number, or 0 if numbers or string bytes have run out, or the table is not open.
 */
uint32_t location_table_add_content(const struct location_content *content);

/* Gives @location, or the location of @device, a number of its own.  Returns it, or 0 as above. */
uint32_t location_table_add(struct hyprof_location *location);
uint32_t location_table_add_device(struct hyprof_device *device);

/*
 * The name of the entry @id, packed as the region states strings, so that another entry can refer to it; 0 if
 * there is no such entry.
 */
uint64_t location_table_name(uint32_t id);

/*
 * Stores how the values of the plot @id are shown.  The caller reports it to a recorder by
 * CLIENT_ABI_EVENT_PLOT_CONFIG.
 */
void location_table_set_plot(uint32_t id, const struct location_plot_config *config);

/*
 * The number of a location, given at its first use.  0 if the table is full.  The acquire pairs with the
 * release in location_table_add(): a reader of our event with this number finds the entry complete.
 */
static inline uint32_t location_table_id(struct hyprof_location *location)
{
        uint32_t id = __atomic_load_n(&location->id, __ATOMIC_ACQUIRE);

        return CLIENT_LIKELY(id != 0) ? id : location_table_add(location);
}

static inline uint32_t location_table_device_id(struct hyprof_device *device)
{
        uint32_t id = __atomic_load_n(&device->location.id, __ATOMIC_ACQUIRE);

        return CLIENT_LIKELY(id != 0) ? id : location_table_add_device(device);
}

#endif /* INSTRUMENT_CLIENT_LOCATION_TABLE_H */
