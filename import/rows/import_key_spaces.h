/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_key_spaces.h - keys of one kind, of files that know nothing of each other, kept apart
 *
 * Way of the data:  import_rows -> [import_key_spaces] -> import_trace
 *
 * A file that has a kind of key both on threads and on devices joins them itself.  If another file of the
 * trace has that kind as well, the same number means something else there: the kind of the first is then
 * called "KIND (FILE)".  Files that have one of the two sides alone share the kind: one has the calls, the
 * other the kernels.  Files of one set (import_rows_join_set()) are as one.
 *
 * Owns everything in it.  Not thread-safe.  Memory: 40 bytes for each kind of a file.
 */
#ifndef IMPORT_IMPORT_KEY_SPACES_H
#define IMPORT_IMPORT_KEY_SPACES_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;

struct import_key_use {
        uint32_t set, kind; /* kind: string */
};

struct import_key_spaces {
        struct intern uses; /* struct import_key_use -> */
        struct import_key_space {
                bool on_threads, on_devices;
                uint32_t space; /* string */
        } * spaces;             /* heap; by id - 1 */
        size_t capacity;
        struct import_key_use last; /* that was looked for, and its id; 0 = none */
        uint32_t last_id;
};

void import_key_spaces_init(struct import_key_spaces *s);
void import_key_spaces_deinit(struct import_key_spaces *s);

/* A set has a key of this kind, on a thread or a device.  Returns 0, -ENOMEM, -EOVERFLOW. */
int import_key_spaces_note(struct import_key_spaces *s, uint32_t set, uint32_t kind, bool is_of_device);

/* After all files: names the spaces.  Returns 0, -ENOMEM, -EOVERFLOW. */
int import_key_spaces_name(struct import_rows *rows);

/* The string that is the kind of a noted key in the trace. */
uint32_t import_key_spaces_find(struct import_key_spaces *s, uint32_t set, uint32_t kind);

#endif /* IMPORT_IMPORT_KEY_SPACES_H */
