/* SPDX-License-Identifier: MIT */
/*
 * Two threads, or a thread and its signal handler, may use a location for the
 * first time at once.  Waiting for each other would be a lock that a handler
 * can never get; so each makes an entry of its own, and the location keeps the
 * number of whoever is done first.  The other entry is complete as well, only
 * never referred to again: a few wasted bytes in a rare case.
 */
#include "instrument/client/location_table.h"

#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Takes @n bytes of the string area; *@ret_at is where they lie in it. */
static bool take_string_room(uint64_t n, uint64_t *ret_at)
{
        uint64_t *used = &client_self.region.header->strings_used_bytes;
        uint64_t at = __atomic_load_n(used, __ATOMIC_RELAXED);

        do {
                if (at > REGION_MEMORY_STRINGS_BYTES || n > REGION_MEMORY_STRINGS_BYTES - at)
                        return false;
        } while (!__atomic_compare_exchange_n(used, &at, at + n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        *ret_at = at;
        return true;
}

static uint32_t take_id(void)
{
        uint32_t *used = &client_self.region.header->n_locations;
        uint32_t n = __atomic_load_n(used, __ATOMIC_RELAXED);

        do {
                if (n >= REGION_MEMORY_LOCATIONS_MAX)
                        return 0;
        } while (!__atomic_compare_exchange_n(used, &n, n + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        return n + 1;
}

/* Copies a string into the region and sets *@ret_packed to where; NULL and what does not fit is no string. */
static void add_string(const char *string, uint64_t *ret_packed)
{
        size_t n = string ? strnlen(string, CLIENT_ABI_STRING_BYTES_MAX) : 0;
        uint64_t at;

        *ret_packed = 0;
        if (n == 0 || !take_string_room(n, &at))
                return;
        memcpy(client_self.region.strings + at, string, n);
        *ret_packed = at | (uint64_t)n << CLIENT_ABI_STRING_OFFSET_BITS;
}

uint32_t location_table_add(struct hyprof_location *location)
{
        uint32_t id = take_id();
        uint32_t none = 0;
        struct client_abi_location *entry;

        if (id == 0)
                return 0;
        entry = &client_self.region.locations[id - 1];
        add_string(location->name ? location->name : location->function, &entry->name);
        add_string(location->function, &entry->function);
        add_string(location->file, &entry->file);
        entry->line = location->line;
        entry->color = location->color;
        __atomic_store_n(&entry->ready, 1, __ATOMIC_RELEASE);

        /* Release: a thread that reads the number from here may publish it, see location_table_id(). */
        if (__atomic_compare_exchange_n(&location->id, &none, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return id;
        return none;
}
