/* SPDX-License-Identifier: MIT */
/*
 * export/stacks/pprof_places.h - the tables of a pprof profile: locations, functions, mappings, strings
 *
 * Way of the data:  export_frames -> [pprof_places] -> export_pprof
 *
 * Samples name locations by number while they are written; the named locations are written after them.  A
 * location is a frame, a zone that stands in a callstack, or "no callstack".  Not thread-safe.
 */
#ifndef EXPORT_STACKS_PPROF_PLACES_H
#define EXPORT_STACKS_PPROF_PLACES_H

#include "base/byte_buffer.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_frame;
struct export_frames;
struct export_stream;

struct pprof_places {
        struct export_frames *code; /* borrowed; asked while writing */
        struct intern strings;      /* 1 is the first after the empty one, which is 0 */
        struct byte_buffer text;    /* scratch */
        bool *frames;               /* heap; by frame id: was named */
        bool *zones;                /* heap; by location id */
        bool *modules;              /* heap; by module id */
        bool *functions;            /* heap; by label: was written */
        uint32_t *mappings;         /* heap; by module id: its first row of MAPPINGS */
        uint32_t n_frames, n_zones; /* of the trace */
        bool no_callstack;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int pprof_places_init(struct pprof_places *p, struct export_frames *code);
void pprof_places_deinit(struct pprof_places *p);

/* The number of a string.  Returns 0, -ENOMEM, -EOVERFLOW. */
int pprof_places_string(struct pprof_places *p, const char *bytes, size_t n_bytes, uint32_t *ret_number);

/* The number of the location of a frame, which is not inlined into another one. */
uint64_t pprof_places_location(struct pprof_places *p, const struct export_frame *frame);

/* Writes the named locations.  Returns 0, -ENOMEM, -EOVERFLOW, -EIO. */
int pprof_places_write(struct pprof_places *p, struct export_stream *out);

#endif /* EXPORT_STACKS_PPROF_PLACES_H */
