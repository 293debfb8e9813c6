/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/perfetto_callstacks.h - callstacks that Perfetto's samples name by
 * number, each described once
 *
 * Way of the data:  export_frames -> [perfetto_callstacks] -> export_perfetto
 *
 * The parts of a callstack (functions, files, modules, frames) are described in the packet of the first
 * sample that needs it.  Memory: flags for all of these, and the distinct callstacks.  Not thread-safe.
 */
#ifndef EXPORT_PERFETTO_PERFETTO_CALLSTACKS_H
#define EXPORT_PERFETTO_PERFETTO_CALLSTACKS_H

#include "analyze/trace/id_set.h"
#include "base/intern.h"

#include <stdint.h>

struct byte_buffer;
struct export_frames;
struct zone_paths;

struct perfetto_callstacks {
        struct export_frames *frames;                           /* borrowed */
        const struct zone_paths *paths;                         /* borrowed */
        struct intern stacks;                                   /* struct perfetto_callstack_key */
        struct id_set functions, places, files, modules, zones; /* that were described */
};

/* No padding: compared as bytes. */
struct perfetto_callstack_key {
        uint32_t path; /* zones as frames; 0 = none */
        uint32_t stack;
};

void perfetto_callstacks_init(struct perfetto_callstacks *c, struct export_frames *frames,
                              const struct zone_paths *paths);
void perfetto_callstacks_deinit(struct perfetto_callstacks *c);

/*
 * perfetto_callstacks_put() - the number of a callstack
 * @b:  in a TracePacket: new parts are added
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int perfetto_callstacks_put(struct perfetto_callstacks *c, struct byte_buffer *b,
                            const struct perfetto_callstack_key *key, uint32_t *ret_iid);

#endif /* EXPORT_PERFETTO_PERFETTO_CALLSTACKS_H */
