/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/code_unit.h - functions, inlined calls and lines of one unit, as flat arrays
 *
 * Way of the data:  code_unit_builder, saved_index -> [code_unit] -> code_index, module_symbols
 *
 * All of a unit is one block of bytes, little endian: nodes, the paths of files, heads of buckets and
 * buckets.  A bucket has all that begins within its range of addresses: rows of lines, and segments (the
 * innermost function from there on).  It is one piece, so that a lookup waits for memory three times: for a
 * head, for its bucket, for a node.  The same block lies in memory and in a saved index, so it is not
 * trusted: what a number in it refers to is checked when it is followed.
 */
#ifndef SYMBOLIZE_INDEX_CODE_UNIT_H
#define SYMBOLIZE_INDEX_CODE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_UNIT_NONE UINT32_MAX /* no function; no node that it was inlined into */

/* Line, column and file in 64 bits; 0 is nothing known. */
#define CODE_LINE_BITS   28
#define CODE_COLUMN_BITS 16
#define CODE_FILE_BITS   20

/* A function, or a call of one that was inlined. */
struct code_node {
        uint32_t name; /* id; 0 = unknown */
        /* node that it was inlined into, before this one; CODE_UNIT_NONE = it stands for itself */
        uint32_t parent;
        uint64_t call; /* packed place of the call */
};

/* Bytes of each in the block. */
#define CODE_NODE_BYTES    16 /* name, parent, call */
#define CODE_HEAD_BYTES    12 /* rows and segments that begin before the bucket, the node that it begins in */
#define CODE_BUCKET_BYTES  8  /* the place that it begins with, followed by: */
#define CODE_ROW_BYTES     12 /* starts of all rows, then their places */
#define CODE_SEGMENT_BYTES 8  /* starts of all segments, then their nodes */

#define CODE_BUCKET_ROWS 8 /* rows or segments in a bucket, about */

struct code_unit {
        const uint8_t *bytes; /* borrowed from the owner of the unit; NULL = empty */
        uint64_t base_svma;   /* what addresses in the block are relative to */
        uint32_t n_nodes, n_segments, n_rows, n_files;
        uint8_t bucket_shift; /* bits of an address within a bucket */
};

/* One function of the chain at an address, with the place in it. */
struct code_place {
        uint32_t name; /* id; 0 = unknown */
        uint32_t path; /* id; 0 = unknown */
        uint32_t line, column;
};

/* How many buckets a unit with these counts has; there is one more head, for the end of the last bucket. */
static inline uint32_t code_unit_buckets(const struct code_unit *unit)
{
        return (unit->n_rows > unit->n_segments ? unit->n_rows : unit->n_segments) / CODE_BUCKET_ROWS + 1;
}

/* Bytes of the block of a unit with these counts; 0 if that is more than 4 GB. */
size_t code_unit_bytes(const struct code_unit *unit);

/*
 * code_unit_find() - the chain at an address
 * @ret_places:  innermost first, room for @n_max
 * Returns how many there are; 0 if neither a function nor a line is known.
 */
uint32_t code_unit_find(const struct code_unit *unit, uint64_t svma, struct code_place *ret_places,
                        uint32_t n_max);

/*
 * code_unit_find_extent() - where the function at an address begins and ends, with all
 * that is inlined into it
 * @ret_end_svma:  the first address after it
 * For a function in several parts, the bounds of the part.  Returns false if no function holds the address.
 */
bool code_unit_find_extent(const struct code_unit *unit, uint64_t svma, uint64_t *ret_start_svma,
                           uint64_t *ret_end_svma);

/* The first function that begins above @svma and below @end_svma: its address.  False if there is none. */
bool code_unit_find_next(const struct code_unit *unit, uint64_t svma, uint64_t end_svma,
                         uint64_t *ret_start_svma);

static inline uint64_t code_pack(uint64_t file, uint64_t line, uint64_t column)
{
        file = file >> CODE_FILE_BITS ? 0 : file;
        line = line >> CODE_LINE_BITS ? 0 : line;
        column = column >> CODE_COLUMN_BITS ? 0 : column;
        return file << (CODE_LINE_BITS + CODE_COLUMN_BITS) | column << CODE_LINE_BITS | line;
}

#endif /* SYMBOLIZE_INDEX_CODE_UNIT_H */
