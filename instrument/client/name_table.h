/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/name_table.h - locations that are found by what they say, not by where they are
 *
 * Way of the data:  program -> [name_table] -> location_table -> region
 *
 * For interpreters, for names that are made at run time, and for fibers.  Once
 * made, an entry stays where it is until the process ends, and its location has
 * a number.  Any thread and signal handlers; nothing waits.  A child of fork()
 * goes on with its parent's entries.
 */
#ifndef INSTRUMENT_CLIENT_NAME_TABLE_H
#define INSTRUMENT_CLIENT_NAME_TABLE_H

#include "instrument/client/include/hyprof/hyprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All members together tell one entry from another.  Borrowed for the call. */
struct name_key {
        const char *name;     /* NULL, or of 0 bytes = the function's name */
        const char *function; /* NULL = none */
        const char *file;     /* NULL = none */
        size_t name_bytes;    /* a longer one is cut to CLIENT_ABI_STRING_BYTES_MAX before it is compared */
        size_t function_bytes;
        size_t file_bytes;
        uint32_t line;
        uint32_t color;
        const void *identity; /* an address, never followed, that tells things of one name apart, or NULL */
};

struct name_entry {
        struct hyprof_location location; /* its strings are in the region alone: NULL here */
        uint32_t zone_top;               /* of a fiber: 0 at first; only the callers use it */
        uint32_t reserved;
        /*
         * Where name, function and file lie in the region, in this order and without a gap; checked to be
         * inside of it.
         */
        uint64_t strings_at;
        uint64_t lengths; /* of the three, 16 bits each; NAME_TABLE_NO_STRINGS = they are not there */
};

#define NAME_TABLE_NO_STRINGS UINT64_MAX

/*
 * name_table_add() - the entry with this key, made if there is none yet
 * Returns the entry "(too many locations)" if there is no memory or no number left, the same one for all;
 * NULL only where nothing can be recorded: without a region, and between the handlers of fork().  Keeps
 * errno.  A few multiplications for each 16 bytes of text, and one or two accesses to memory, if it is found.
 */
struct name_entry *name_table_add(const struct name_key *key);

/* True for the entry that stands for all those for which there was no room. */
bool name_table_is_too_many(const struct name_entry *entry);

#endif /* INSTRUMENT_CLIENT_NAME_TABLE_H */
