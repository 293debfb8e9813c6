/* SPDX-License-Identifier: MIT */
/*
 * format/trace_schema.h - which columns a table has, as data
 *
 * Way of the data:  trace_rows <-> [trace_schema] <-> columns of a table chunk
 * Specification:    docs/understand/trace-format.md, "Tables"
 *
 * One description serves encoding, decoding, checking and dumping.
 */
#ifndef FORMAT_TRACE_SCHEMA_H
#define FORMAT_TRACE_SCHEMA_H

#include "format/trace_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the numbers of one column are written. */
enum trace_encoding {
        TRACE_ENCODING_VARINT = 0,  /* as it is */
        TRACE_ENCODING_DELTA = 1,   /* zigzag of the difference to the number before, modulo 2^64 */
        TRACE_ENCODING_FIXED64 = 2, /* eight bytes, for the bits of a double */
        TRACE_ENCODING_TEXT = 3,    /* events only: as it is, followed by that many bytes */
};

/* The constraint on a number that is an id. */
enum trace_reference {
        TRACE_REFERENCE_NONE = 0,     /* not an id */
        TRACE_REFERENCE_OPTIONAL = 1, /* 0 or an existing id */
        TRACE_REFERENCE_REQUIRED = 2, /* an existing id */
        TRACE_REFERENCE_EARLIER = 3,  /* 0 or the id of an earlier row of the same table: no cycles */
        /* events only: an enum trace_successor, or TRACE_SUCCESSOR_OTHER + an existing id */
        TRACE_REFERENCE_SUCCESSOR = 4,
};

/* How `hyprof dump` shows it. */
enum trace_show {
        TRACE_SHOW_DECIMAL = 0,
        TRACE_SHOW_HEX = 1,
        TRACE_SHOW_SIGNED = 2, /* two's complement */
        TRACE_SHOW_DOUBLE = 3, /* bits of an IEEE 754 double */
        TRACE_SHOW_DIGEST = 4, /* of a text that is not for people: its length and a hash */
};

#define TRACE_ROW_BYTES_MAX 72 /* no row of a table is longer */

struct trace_field {
        const char *name;
        uint8_t column; /* id in the chunk, from 1 */
        uint8_t offset_bytes;
        uint8_t width_bytes; /* 4 or 8 */
        uint8_t encoding;    /* enum trace_encoding */
        uint8_t reference;   /* enum trace_reference */
        uint8_t table;       /* the enum trace_table that it refers to */
        uint8_t show;        /* enum trace_show */
        bool optional;       /* newer than the first version of the table: absent is 0 */
        bool is_time;        /* on the trace's timeline */
};

struct trace_schema {
        const char *name; /* of a row, in text */
        enum trace_table table;
        uint32_t row_bytes; /* 0 for STRINGS */
        bool interned;      /* equal rows are one row */
        uint32_t n_fields;
        const struct trace_field *fields; /* static */
};

/* The schema of a table; NULL for an id that this version does not know. */
const struct trace_schema *trace_schema_find(uint32_t table);

/*
 * The tables in the order in which they are written, @n from 0 to TRACE_TABLE_COUNT - 1: rows refer to tables
 * before theirs, or to earlier rows of their own.
 */
uint32_t trace_schema_nth_table(uint32_t n);

/* Reads a member of a row as a number. */
uint64_t trace_field_get(const struct trace_field *field, const void *row);
/* Sets a member of a row; @value fits if it is at most trace_field_max(). */
void trace_field_set(const struct trace_field *field, void *row, uint64_t value);
uint64_t trace_field_max(const struct trace_field *field);

#endif /* FORMAT_TRACE_SCHEMA_H */
