/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_rows.h - the rows of firefox_tables, between what makes them and what writes them
 *
 * Way of the data:  firefox_tables -> [firefox_rows] -> firefox_shared
 */
#ifndef EXPORT_FIREFOX_FIREFOX_ROWS_H
#define EXPORT_FIREFOX_FIREFOX_ROWS_H

#include <stdint.h>

/* Rows.  No padding: compared as bytes.  Ids count from 1, 0 = none. */
struct firefox_stack {
        uint32_t prefix;
        uint32_t frame;
};

struct firefox_frame {
        uint64_t address;
        uint32_t has_address;
        uint32_t function;
        uint32_t inline_depth;
        uint32_t category;
        uint32_t line, column; /* 0 = not known */
};

struct firefox_function {
        uint32_t name;   /* id of strings */
        uint32_t lib;    /* id of libs: the row of resourceTable is the same */
        uint32_t source; /* id of sources */
};

/* The place of a sample. */
struct firefox_place {
        uint32_t path;
        uint32_t stack;
        uint32_t waiting;
};

#endif /* EXPORT_FIREFOX_FIREFOX_ROWS_H */
