/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_objects.h - the objects that one program's JIT announces to debuggers
 *
 * Way of the data:  process_memory (__jit_debug_descriptor) -> [jit_objects] -> jit_lists
 *
 * GDB's interface: a variable leads to a list of ELF objects in the program's memory, each with the addresses
 * at which its sections were loaded.  A debugger stops the program to read it; here it is read from time to
 * time while the program runs, so a list may be seen in the middle of a change: then the rest of it is seen
 * the next time.  The list is the program's, and may be anything: reading it is bounded.
 */
#ifndef SAMPLER_JIT_JIT_OBJECTS_H
#define SAMPLER_JIT_JIT_OBJECTS_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_OBJECTS_MAX       4096 /* objects of one list that are followed, from its beginning on */
#define JIT_OBJECTS_BYTES_MAX (UINT64_C(64) << 20) /* of one object */
#define JIT_OBJECTS_PARTS_MAX 4096                 /* sections of code in one object */

/* Where a section of code was put. */
struct jit_object_part {
        uint64_t start_avma, end_avma; /* end is the first address after it */
        uint64_t file_off;
};

struct jit_object {
        uint64_t entry_avma; /* of the list's entry; this and the next two members identify the object */
        uint64_t bytes_avma, n_bytes;
        uint64_t mark;                 /* hash of its first and last bytes: memory is used again */
        struct jit_object_part *parts; /* heap, owned */
        size_t n_parts;
        uint64_t content; /* XXH3 of the object without the addresses that it was loaded at */
        uint32_t module;  /* the caller's */
        bool is_seen;
        bool is_wanted, is_executable, was_code; /* jit_lists': zero at first */
};

struct jit_objects {
        uint32_t pid;
        uint64_t descriptor_avma;
        struct jit_object *objects; /* heap, owned; in the order in which they were read, or nearly so */
        size_t n_objects, capacity;
        /* of the object that was looked up last: the next look-up is mostly for its neighbour */
        size_t place;
        /* of the descriptor and the first entry when the list was last followed to its end; 0 = never */
        uint64_t mark;
};

/* Receive changes; each returns 0 or -ENOMEM. */
struct jit_objects_sink {
        /* Its module goes into @object; @bytes may be emptied. */
        int (*add)(void *context, const struct jit_objects *list, struct jit_object *object,
                   struct byte_buffer *bytes);
        int (*remove)(void *context, const struct jit_objects *list, const struct jit_object *object);
        void *context;
};

/*
 * Limits the new objects that are read while a list is followed once, so that the collector is back soon.
 * The way to the first new object leads past all known ones: reading new ones may take as long as that did,
 * or a slow machine would read only one each time.
 */
struct jit_objects_go {
        uint64_t began_ns; /* CLOCK_MONOTONIC_RAW, as the next one */
        uint64_t until_ns; /* set with the first new one */
        size_t n_new;
};

/* May one more new object be read now?  The first one always may. */
bool jit_objects_go_takes(struct jit_objects_go *go, uint64_t now_ns);

void jit_objects_init(struct jit_objects *list, uint32_t pid, uint64_t descriptor_avma);
void jit_objects_deinit(struct jit_objects *list);

/*
 * jit_objects_update() - read the list, if it has changed
 * Returns 0 (also if it cannot be read: the process may be gone) or -ENOMEM.
 */
int jit_objects_update(struct jit_objects *list, const struct jit_objects_sink *sink);

#endif /* SAMPLER_JIT_JIT_OBJECTS_H */
