/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_record.h - one row of an IREE profile, whichever of its two forms it came in
 *
 * Way of the data:  iree_container, iree_lines -> [iree_record] -> iree_model -> import_rows
 *
 * IREE writes its profiles as packed binary records and exports them as JSON lines with the same fields.  The
 * table of kinds describes both, so that a field has one place: an offset in the binary record and a name in
 * the JSON row.  Pure tables; no state.
 */
#ifndef IMPORT_IREE_RECORD_H
#define IMPORT_IREE_RECORD_H

#include "base/text_view.h"

#include <stddef.h>
#include <stdint.h>

#define IREE_ABSENT UINT32_MAX /* of ordinals and indexes; ids are absent when 0 */

enum iree_kind {
        IREE_DEVICE,
        IREE_QUEUE,
        IREE_EXECUTABLE,
        IREE_FUNCTION,
        IREE_COMMAND_BUFFER,
        IREE_COMMAND_OPERATION,
        IREE_CLOCK_CORRELATION,
        IREE_DISPATCH_EVENT,
        IREE_QUEUE_EVENT,
        IREE_QUEUE_DEVICE_EVENT,
        IREE_HOST_EXECUTION_EVENT,
        IREE_COMMAND_REGION_EVENT,
        IREE_MEMORY_EVENT,
        IREE_EVENT_RELATIONSHIP,
        IREE_COUNTER_SET,
        IREE_COUNTER,
        IREE_COUNTER_SAMPLE,
        IREE_METRIC_SOURCE,
        IREE_METRIC,
        IREE_METRIC_SAMPLE,
        IREE_EXECUTABLE_TRACE,
        IREE_CODE_OBJECT,
        IREE_CODE_OBJECT_LOAD,
        IREE_N_CHUNK_KINDS, /* these have chunks of the container; those that follow have not */
        IREE_SCHEMA = IREE_N_CHUNK_KINDS,
        IREE_SESSION,
        IREE_DIAGNOSTIC,
        IREE_N_KINDS, /* also: a kind that is not known */
};

/* Fields that several kinds have in common have one name. */
enum iree_field {
        IREE_F_DEVICE, /* ordinal */
        IREE_F_QUEUE,  /* ordinal, within the device */
        IREE_F_STREAM,
        IREE_F_FLAGS,
        IREE_F_TYPE, /* of queue operations, memory events and relationships */
        IREE_F_EVENT,
        IREE_F_SUBMISSION, /* within the queue */
        IREE_F_COMMAND_BUFFER,
        IREE_F_COMMAND_INDEX,
        IREE_F_EXECUTABLE,
        IREE_F_FUNCTION,
        IREE_F_COUNT_X, /* workgroups: COUNT_X, _Y, _Z are in a row */
        IREE_F_COUNT_Y,
        IREE_F_COUNT_Z,
        IREE_F_SIZE_X,
        IREE_F_SIZE_Y,
        IREE_F_SIZE_Z,
        IREE_F_BEGIN, /* ticks of the device, or signed nanoseconds of the host */
        IREE_F_END,
        IREE_F_STATUS,
        IREE_F_LENGTH, /* bytes */
        IREE_F_TILES,
        IREE_F_TILE_NS,
        IREE_F_TICK, /* of a clock correlation; also the dispatch of a counter sample */
        IREE_F_CPU_NS,
        IREE_F_ALLOCATION,
        IREE_F_POOL_RESERVED,
        IREE_F_POOL_FREE,
        IREE_F_POOL_COMMITTED,
        IREE_F_SET,  /* counter set, or source of metrics */
        IREE_F_ITEM, /* metric of a source, index of a region */
        IREE_F_UNIT,
        IREE_F_VALUE_KIND, /* 1 signed, 2 unsigned, 3 double */
        IREE_F_OFFSET,     /* of a counter's values among those of a sample */
        IREE_F_N_VALUES,
        IREE_F_DISPATCHES, /* of a region, as the three that follow */
        IREE_F_WORKERS,
        IREE_F_DRAINS,
        IREE_F_IDLE_DRAINS,
        IREE_N_FIELDS,
};

#define IREE_F_DISPATCH IREE_F_TICK

struct iree_record {
        enum iree_kind kind;
        uint64_t at; /* line, or byte of the file; for import_rows_malformed() */
        uint64_t fields[IREE_N_FIELDS];
        struct text_view name, block; /* borrowed during the call only */
        const uint64_t *values;       /* of a sample; of metrics pairs of metric and value.  Borrowed */
        size_t n_values;
};

struct iree_place {
        enum iree_field field;
        uint16_t at;           /* in the binary record; IREE_NOWHERE: the chunk's header has it */
        uint8_t n_bytes;       /* 4 or 8 */
        uint8_t n_fields;      /* 3: an array of three, the field and the two after it */
        struct text_view json; /* its name in JSON rows */
};

#define IREE_NOWHERE UINT16_MAX

/* The rest of a binary record, within its length. */
enum iree_tail {
        IREE_TAIL_NONE,
        IREE_TAIL_NAME,   /* length of a name at `tail_at` */
        IREE_TAIL_NAMES,  /* of a block and a name */
        IREE_TAIL_VALUES, /* number of values, 8 bytes each */
        IREE_TAIL_PAIRS,  /* number of metric values, 24 bytes each */
};

struct iree_layout {
        const char *content;             /* of a chunk: its type after IREE_CONTENT_PREFIX */
        const char *json;                /* record_type */
        const struct iree_place *places; /* in the order of the JSON rows */
        uint8_t n_places;
        uint8_t tail;     /* enum iree_tail */
        uint16_t n_bytes; /* of the binary record, at least */
        uint16_t tail_at;
};

#define IREE_CONTENT_PREFIX "application/vnd.iree.hal.profile."

/* @kind: below IREE_N_KINDS. */
const struct iree_layout *iree_layout_of(enum iree_kind kind);

/* The kind of a chunk, by the whole content type, or of a row; IREE_N_KINDS if it is not known. */
enum iree_kind iree_kind_of_content(struct text_view content);
enum iree_kind iree_kind_of_json(struct text_view record_type);

/* Makes all fields 0, or absent where 0 is an ordinal. */
void iree_record_clear(struct iree_record *record, enum iree_kind kind);

#endif /* IMPORT_IREE_RECORD_H */
