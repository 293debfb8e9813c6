/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_lists.h - the lists of all programs' JITs, and when each object was surely there as code
 *
 * Way of the data:  process_memory, process_maps -> jit_objects -> [jit_lists] -> code_images
 *
 * An object in a list need not be code yet, and one that is code need not be in the list any more: programs
 * register it before or after they make its memory executable, and memory is used again.  So the list is
 * read, then the executable ranges, then the list once more: an object that was in it both times, in
 * executable memory, was there in between.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_JIT_JIT_LISTS_H
#define SAMPLER_JIT_JIT_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_LISTS_MAX 256 /* JITs that are followed */

struct byte_buffer;
struct jit_list;
struct jit_object;

/* All zero is empty. */
struct jit_lists {
        struct jit_list *lists; /* heap */
        size_t n_lists, capacity;
};

/* Receive the results; each returns 0 or -ENOMEM. */
struct jit_lists_sink {
        /* A new object: its module goes into @object; @bytes may be emptied. */
        int (*add)(void *context, uint32_t pid, struct jit_object *object, struct byte_buffer *bytes);
        /* The object was code, and in the list, at @seen_ns. */
        int (*see)(void *context, uint32_t pid, const struct jit_object *object, uint64_t seen_ns);
        /* The object is not in the list any more; at @known_ns, when the list was read last, it was. */
        int (*remove)(void *context, uint32_t pid, const struct jit_object *object, uint64_t known_ns);
        void *context;
};

/* Memory of a process that was made executable. */
struct jit_lists_place {
        uint32_t pid;
        uint64_t start_avma, end_avma;
};

void jit_lists_deinit(struct jit_lists *l);

/*
 * The list that begins there is followed from now on; lists beyond the limit are not.  Returns 0 or -ENOMEM.
 */
int jit_lists_follow(struct jit_lists *l, uint32_t pid, uint64_t descriptor_avma);

/* The process has ended, or runs another program. */
void jit_lists_forget(struct jit_lists *l, uint32_t pid);

bool jit_lists_has(const struct jit_lists *l, uint32_t pid);

/*
 * jit_lists_update() - read the lists
 * @place:  only those of this process; objects there are looked for as if they were new; NULL = all lists
 * Returns 0 or -ENOMEM.
 */
int jit_lists_update(struct jit_lists *l, const struct jit_lists_place *place,
                     const struct jit_lists_sink *sink);

#endif /* SAMPLER_JIT_JIT_LISTS_H */
