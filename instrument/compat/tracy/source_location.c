/* SPDX-License-Identifier: MIT */
/*
 * An open table of 65,536 places, of which only those that are used cost memory.  A thread takes a place
 * for an address with one compare and exchange, fills it in, and then publishes it; a place never changes
 * again and never goes away.
 *
 * After dlclose() another library's data may lie at an address that is known here.  So an entry counts only
 * if Tracy's location still says the same: the same strings, line and colour.  (A string is compared by its
 * address.  If a rebuilt library comes to lie where the old one was, with all addresses alike and other
 * words in them, this is not noticed.)  A location that differs, that another thread is filling in, or that
 * finds no place, is looked up by content each time.
 */
#include "instrument/compat/tracy/tracy_api.h"

#include <stdbool.h>
#include <string.h>

#define PLACE_BITS 16
#define PLACES     (1u << PLACE_BITS)
#define TRIES_MAX  16

struct place {
        uintptr_t address; /* FREE, BUSY, or the address of the location of Tracy */
        struct hyprof_location location;
        uint64_t reserved[2];
};
_Static_assert(sizeof(struct place) == 64, "one cache line");

enum { FREE = 0, BUSY = 1 };

static struct place places[PLACES] __attribute__((aligned(64)));

static bool is_same(const struct hyprof_location *known, const struct ___tracy_source_location_data *srcloc)
{
        return known->name == srcloc->name && known->function == srcloc->function &&
               known->file == srcloc->file && known->line == srcloc->line && known->color == srcloc->color;
}

static size_t length(const char *text)
{
        return text ? strlen(text) : 0;
}

static struct hyprof_location *find_by_content(const struct ___tracy_source_location_data *srcloc)
{
        return hyprof_emit_location_of(srcloc->name, length(srcloc->name), srcloc->function,
                                       length(srcloc->function), srcloc->file, length(srcloc->file),
                                       srcloc->line, srcloc->color);
}

static void fill(struct place *place, const struct ___tracy_source_location_data *srcloc)
{
        place->location = (struct hyprof_location){
                .name = srcloc->name,
                .function = srcloc->function,
                .file = srcloc->file,
                .line = srcloc->line,
                .color = srcloc->color,
        };
        /* Pairs with the acquires in source_location_find(). */
        __atomic_store_n(&place->address, (uintptr_t)srcloc, __ATOMIC_RELEASE);
}

struct hyprof_location *source_location_find(const struct ___tracy_source_location_data *srcloc)
{
        uintptr_t address = (uintptr_t)srcloc;
        size_t first = (size_t)((uint64_t)(address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACE_BITS));

        if (!srcloc)
                return NULL;
        for (size_t i = 0; i < TRIES_MAX; i++) {
                struct place *place = &places[(first + i) % PLACES];
                uintptr_t found = __atomic_load_n(&place->address, __ATOMIC_ACQUIRE);

                if (found == FREE && __atomic_compare_exchange_n(&place->address, &found, BUSY, false,
                                                                 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
                        fill(place, srcloc);
                        return &place->location;
                }
                if (found == address)
                        return is_same(&place->location, srcloc) ? &place->location : find_by_content(srcloc);
                if (found == BUSY)
                        break;
        }
        return find_by_content(srcloc);
}
