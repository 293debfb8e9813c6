/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/location_table.h - static source locations get numbers
 *
 * Way of the data:  events -> [location_table] -> region -> client_region_location
 * Specification:    docs/client-abi.md, "Locations"
 */
#ifndef INSTRUMENT_CLIENT_LOCATION_TABLE_H
#define INSTRUMENT_CLIENT_LOCATION_TABLE_H

#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"

#include <stdint.h>

/* Gives @location a number and copies it into the region.  Returns the number, or 0 if the table is full. */
uint32_t location_table_add(struct hyprof_location *location);

/*
 * The number of a location, given at its first use.  0 if the table is full.
 * The acquire pairs with the release in location_table_add(): whoever reads an
 * event of ours with this number finds the entry complete.
 */
static inline uint32_t location_table_id(struct hyprof_location *location)
{
        uint32_t id = __atomic_load_n(&location->id, __ATOMIC_ACQUIRE);

        return CLIENT_LIKELY(id != 0) ? id : location_table_add(location);
}

#endif /* INSTRUMENT_CLIENT_LOCATION_TABLE_H */
