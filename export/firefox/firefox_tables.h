/* SPDX-License-Identifier: MIT */
/*
 * export/firefox/firefox_tables.h - what the threads of a Firefox profile share: strings, stacks,
 * frames, functions, sources
 *
 * Way of the data:  STACKS, SYMBOLS, zone paths -> [firefox_tables] -> firefox_shared
 *
 * A row is made when something needs it, and rows are written at the end (firefox_shared).  Memory: the
 * rows.  Not thread-safe.
 */
#ifndef EXPORT_FIREFOX_FIREFOX_TABLES_H
#define EXPORT_FIREFOX_FIREFOX_TABLES_H

#include "base/intern.h"
#include "export/shared/export_frames.h"

#include <stdint.h>

struct error;
struct json_out;
struct loaded_trace;
struct zone_paths;

/*
 * The rows of the tables, as they are kept until they are written.  No padding: compared as bytes.  Ids count
 * from 1, 0 = none.
 */
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

/* Rows of meta.categories, in this order: X(NAME, "name", "color") */
#define FIREFOX_CATEGORIES(X)           \
        X(OTHER, "Other", "grey")       \
        X(USER, "User", "yellow")       \
        X(KERNEL, "Kernel", "orange")   \
        X(JIT, "JIT", "green")          \
        X(ZONE, "Zone", "blue")         \
        X(OFF_CPU, "Off-CPU", "purple") \
        X(IDLE, "Idle", "transparent") /* readers take this name and color for no activity */

enum firefox_category {
#define X(name, words, color) FIREFOX_CATEGORY_##name,
        FIREFOX_CATEGORIES(X)
#undef X
};

struct firefox_tables {
        struct export_frames frames;
        struct intern strings;   /* their index in the file: id - 1; the same for the others */
        struct intern stacks;    /* struct firefox_stack */
        struct intern rows;      /* struct firefox_frame */
        struct intern functions; /* struct firefox_function */
        struct intern libs;      /* ids of MODULES */
        struct intern sources;   /* ids of STRINGS */
        struct intern places;    /* struct firefox_place */
        uint32_t *place_stacks;  /* heap; by id of places - 1: the row of stacks */
        size_t places_capacity;
        uint32_t *way; /* heap; scratch: the way outwards from a place to one that has a row */
        size_t way_capacity;
};

/* To be deinitialised in any case.  Returns 0, -ENOMEM, -EOVERFLOW. */
int firefox_tables_init(struct firefox_tables *t, const struct trace_dictionary *dictionary);
void firefox_tables_deinit(struct firefox_tables *t);

/* Adds a string of any bytes.  Returns 0, -ENOMEM, -EOVERFLOW. */
int firefox_tables_string(struct firefox_tables *t, const char *bytes, size_t n_bytes, uint32_t *ret_index);

/*
 * firefox_tables_stack() - the row of a callstack
 * @path:      zones around it; 0 = none
 * @stack:     0 = none was recorded
 * @waiting:   enum trace_wait_state + 1 of a thread that waits there, which is its
 *             innermost frame; 0 = it runs
 * @ret_stack: counted from 1
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int firefox_tables_stack(struct firefox_tables *t, const struct zone_paths *paths, uint32_t path,
                         uint32_t stack, uint32_t waiting, uint32_t *ret_stack);

/* ---- firefox_shared.c ---- */

/* The limit of all source texts in one file. */
#define FIREFOX_SOURCES_BYTES_MAX (UINT64_C(64) << 20)

/*
 * firefox_shared_write() - writes the members "libs" and "shared"
 * @ret_n_left_out:  source texts for which there was no room
 * Returns 0, -ENOMEM, -errno of reading the trace.
 */
int firefox_shared_write(struct firefox_tables *t, struct loaded_trace *trace, struct json_out *j,
                         uint64_t *ret_n_left_out, struct error *err);

#endif /* EXPORT_FIREFOX_FIREFOX_TABLES_H */
