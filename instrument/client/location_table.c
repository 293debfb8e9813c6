/* SPDX-License-Identifier: MIT */
/*
 * Two threads, or a thread and its signal handler, may use a location for the first time at once.  If one
 * waited for the other, that would be a lock that a handler can never get.  So each makes its own entry,
 * and the location keeps the number of the entry that is finished first.  The other entry is complete as
 * well, but is never referred to again: this wastes a few bytes in a rare case.
 */
#include "instrument/client/location_table.h"

#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <string.h>

/* Takes @n bytes of the string area; *@ret_at is where they lie in it. */
static bool take_string_room(uint64_t n, uint64_t *ret_at)
{
        uint64_t *used = &client_self.region.header->strings_used_bytes;
        uint64_t room = client_self.region.strings_bytes;
        uint64_t at = __atomic_load_n(used, __ATOMIC_RELAXED);

        do {
                if (at > room || n > room - at)
                        return false;
        } while (!__atomic_compare_exchange_n(used, &at, at + n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        *ret_at = at;
        return region_area_open(&client_self.region.string_area, at + n) == 0;
}

static uint32_t take_id(void)
{
        uint32_t *used = &client_self.region.header->n_locations;
        uint32_t n = __atomic_load_n(used, __ATOMIC_RELAXED);

        do {
                if (n >= client_self.region.n_locations_max)
                        return 0;
        } while (!__atomic_compare_exchange_n(used, &n, n + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        n++;
        return region_area_open(&client_self.region.location_area, n * sizeof(struct client_abi_location)) ==
                               0
                       ? n
                       : 0;
}

static size_t string_bytes(const char *string, size_t n)
{
        if (!string)
                return 0;
        return n < CLIENT_ABI_STRING_BYTES_MAX ? n : CLIENT_ABI_STRING_BYTES_MAX;
}

/*
 * Copies a string to *@at of the string area, and moves *@at past it.  Returns where the string is, packed
 * as the region states it.
 */
static uint64_t put_string(const char *string, size_t n, uint64_t *at)
{
        uint64_t packed = *at | (uint64_t)n << CLIENT_ABI_STRING_OFFSET_BITS;

        if (n == 0)
                return 0;
        memcpy(client_self.region.strings + *at, string, n);
        *at += n;
        return packed;
}

bool location_table_is_open(void)
{
        (void)client_begin();
        return client_self.region.base &&
               __atomic_load_n(&thread_ring_self.state, __ATOMIC_RELAXED) != THREAD_RING_FORKING;
}

/* Strings come first: a program that has run out of them does not use up the numbers as well. */
uint32_t location_table_add_content(const struct location_content *content)
{
        size_t name_bytes = string_bytes(content->name, content->name_bytes);
        size_t function_bytes = string_bytes(content->function, content->function_bytes);
        size_t file_bytes = string_bytes(content->file, content->file_bytes);
        struct client_abi_location *entry;
        uint64_t at;
        uint32_t id;

        if (!location_table_is_open() || !take_string_room(name_bytes + function_bytes + file_bytes, &at))
                return 0;
        id = take_id();
        if (id == 0)
                return 0;

        entry = &client_self.region.locations[id - 1];
        entry->name = put_string(content->name, name_bytes, &at);
        entry->function = put_string(content->function, function_bytes, &at);
        entry->file = put_string(content->file, file_bytes, &at);
        if (!content->name)
                entry->name = entry->function;
        entry->line = content->line;
        entry->color = content->color;
        entry->format = content->format;
        memcpy(&entry->period, &content->period, sizeof(entry->period));
        __atomic_store_n(&entry->ready, 1, __ATOMIC_RELEASE);
        return id;
}

static uint32_t add_row(struct hyprof_location *location, uint32_t format, double period)
{
        struct location_content content = {
                .name = location->name,
                .function = location->function,
                .file = location->file,
                .name_bytes = location->name ? strnlen(location->name, CLIENT_ABI_STRING_BYTES_MAX) : 0,
                .function_bytes = location->function
                                          ? strnlen(location->function, CLIENT_ABI_STRING_BYTES_MAX)
                                          : 0,
                .file_bytes = location->file ? strnlen(location->file, CLIENT_ABI_STRING_BYTES_MAX) : 0,
                .line = location->line,
                .color = location->color,
                .format = format,
                .period = period,
        };
        uint32_t id = location_table_add_content(&content);
        uint32_t none = 0;

        if (id == 0)
                return 0;
        /* Release: a thread that reads the number from here may publish it, see location_table_id(). */
        if (__atomic_compare_exchange_n(&location->id, &none, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return id;
        return none;
}

uint32_t location_table_add(struct hyprof_location *location)
{
        return add_row(location, 0, 0);
}

uint32_t location_table_add_device(struct hyprof_device *device)
{
        return add_row(&device->location, device->kind, device->period_ns);
}

/* A program may have put anything into a location. */
static struct client_abi_location *find_entry(uint32_t id)
{
        bool is_there = id != 0 && region_area_is_open(&client_self.region.location_area,
                                                       id * sizeof(struct client_abi_location));

        return is_there ? &client_self.region.locations[id - 1] : NULL;
}

uint64_t location_table_name(uint32_t id)
{
        const struct client_abi_location *entry = find_entry(id);

        return entry ? entry->name : 0;
}

/* Stores the flags last: once they contain SET, the other fields are worth reading. */
void location_table_set_plot(uint32_t id, const struct location_plot_config *config)
{
        struct client_abi_location *entry = find_entry(id);

        if (!entry)
                return;
        __atomic_store_n(&entry->format, config->format, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->color, config->color, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->unit, config->unit, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->flags, config->flags | CLIENT_ABI_PLOT_SET, __ATOMIC_RELEASE);
}
