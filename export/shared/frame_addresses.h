/* SPDX-License-Identifier: MIT */
/*
 * export/shared/frame_addresses.h - where a frame's code was in the memory of a process
 *
 * Way of the data:  trace_dictionary (FRAMES, MAPPINGS) -> [frame_addresses] -> export_perf_data
 *
 * The trace names code by the byte in its file, formats of recorders by its address.  The mapping that
 * came first counts, of the process or of the one that it was forked from.  Each frame is looked up once a
 * process.  Memory: a number for each mapping, and 24 bytes and a hash slot for each frame of each
 * process.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_FRAME_ADDRESSES_H
#define EXPORT_SHARED_FRAME_ADDRESSES_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

/* No padding: compared as bytes. */
struct frame_address_key {
        uint32_t process;
        uint32_t frame;
};

struct frame_addresses {
        const struct trace_dictionary *dictionary; /* borrowed */
        uint32_t *first;     /* heap; by module id: where its mappings begin in `mappings` */
        uint32_t *mappings;  /* heap; ids, by module, in the order of the trace */
        struct intern known; /* struct frame_address_key */
        uint64_t *addresses; /* heap; of the key with id i at i - 1 */
        size_t capacity;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int frame_addresses_init(struct frame_addresses *a, const struct trace_dictionary *dictionary);
void frame_addresses_deinit(struct frame_addresses *a);

/*
 * frame_addresses_find() - the address of a frame
 * @ret_avma:  of a caller, where it goes on after the call; without a mapping the frame's
 *             offset, which means nothing
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int frame_addresses_find(struct frame_addresses *a, uint32_t process, uint32_t frame, uint64_t *ret_avma);

#endif /* EXPORT_SHARED_FRAME_ADDRESSES_H */
