/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_objects.h - the objects that one program's JIT tells its debugger of
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

#define JIT_OBJECTS_MAX       4096 /* objects of one list that are followed, from its begin on */
#define JIT_OBJECTS_BYTES_MAX (UINT64_C(64) << 20) /* of one object */
#define JIT_OBJECTS_PARTS_MAX 4096                 /* sections of code in one object */

/* Where a section of code was put. */
struct jit_object_part {
        uint64_t start_avma, end_avma; /* end is the first address after it */
        uint64_t file_off;
};

struct jit_object {
        uint64_t entry_avma; /* of the list's entry, which with the next two makes it this object */
        uint64_t bytes_avma, n_bytes;
        uint64_t mark;                 /* hash of what its begin and its end say: memory is used again */
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
        size_t place; /* of the object that was looked up last: the next one is mostly beside it */
        /* of the descriptor and the first entry when they were last followed to the end; 0 = never */
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
 * How many new objects one go along a list reads, so that the collector is back soon.  Each go passes all
 * that are known before it meets the first new one: the new ones may take as long as that, or a slow machine
 * would read a long list one by one.
 */
struct jit_objects_go {
        uint64_t began_ns; /* CLOCK_MONOTONIC_RAW, as the next one */
        uint64_t until_ns; /* set with the first new one */
        size_t n_new;
};

/* Is one more new one read now?  The first one is in any case. */
bool jit_objects_go_takes(struct jit_objects_go *go, uint64_t now_ns);

void jit_objects_init(struct jit_objects *list, uint32_t pid, uint64_t descriptor_avma);
void jit_objects_deinit(struct jit_objects *list);

/*
 * jit_objects_update() - read the list, if it has changed
 * Returns 0 (also if it cannot be read: the process may be gone) or -ENOMEM.
 */
int jit_objects_update(struct jit_objects *list, const struct jit_objects_sink *sink);

#endif /* SAMPLER_JIT_JIT_OBJECTS_H */
