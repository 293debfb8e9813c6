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

/* The numbers of pprof's profile.proto, which are spoken in export_pprof and pprof_places. */

enum pprof_profile_field {
        PPROF_PROFILE_SAMPLE_TYPE = 1,
        PPROF_PROFILE_SAMPLE = 2,
        PPROF_PROFILE_MAPPING = 3,
        PPROF_PROFILE_LOCATION = 4,
        PPROF_PROFILE_FUNCTION = 5,
        PPROF_PROFILE_STRING = 6,
        PPROF_PROFILE_TIME_NANOS = 9,
        PPROF_PROFILE_DURATION_NANOS = 10,
        PPROF_PROFILE_PERIOD_TYPE = 11,
        PPROF_PROFILE_PERIOD = 12,
        PPROF_PROFILE_COMMENT = 13,
        PPROF_PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum pprof_value_type_field { PPROF_VALUE_TYPE_TYPE = 1, PPROF_VALUE_TYPE_UNIT = 2 };

enum pprof_sample_field { PPROF_SAMPLE_LOCATION = 1, PPROF_SAMPLE_VALUE = 2, PPROF_SAMPLE_LABEL = 3 };

enum pprof_label_field { PPROF_LABEL_KEY = 1, PPROF_LABEL_STRING = 2, PPROF_LABEL_NUMBER = 3 };

enum pprof_mapping_field {
        PPROF_MAPPING_ID = 1,
        PPROF_MAPPING_START = 2,
        PPROF_MAPPING_LIMIT = 3,
        PPROF_MAPPING_OFFSET = 4,
        PPROF_MAPPING_FILENAME = 5,
        PPROF_MAPPING_BUILD_ID = 6,
        PPROF_MAPPING_HAS_FUNCTIONS = 7,
        PPROF_MAPPING_HAS_FILENAMES = 8,
        PPROF_MAPPING_HAS_LINES = 9,
        PPROF_MAPPING_HAS_INLINED = 10,
};

enum pprof_location_field {
        PPROF_LOCATION_ID = 1,
        PPROF_LOCATION_MAPPING = 2,
        PPROF_LOCATION_ADDRESS = 3,
        PPROF_LOCATION_LINE = 4, /* the innermost inlined function first */
};

enum pprof_line_field { PPROF_LINE_FUNCTION = 1, PPROF_LINE_LINE = 2 };

enum pprof_function_field {
        PPROF_FUNCTION_ID = 1,
        PPROF_FUNCTION_NAME = 2,
        PPROF_FUNCTION_SYSTEM_NAME = 3,
        PPROF_FUNCTION_FILENAME = 4,
        PPROF_FUNCTION_START_LINE = 5,
};

#endif /* EXPORT_STACKS_PPROF_PLACES_H */
