/* SPDX-License-Identifier: MIT */
/*
 * import/file/json_rows.h - the rows of a large JSON file: what is in its arrays, element by element
 *
 * Way of the data:  import_source -> [json_rows] -> import_trace_event
 *
 * The file is an array, or an object some of whose members are arrays ("traceEvents"), or several of these
 * one after the other.  An element of these arrays is a row, and so is a member that is no array.  A fault
 * ends its row only, and a file that is cut off is read to the cut.  Memory: the longest
 * row, at most IMPORT_LINE_BYTES_MAX; a longer one is skipped without being kept.
 */
#ifndef IMPORT_JSON_ROWS_H
#define IMPORT_JSON_ROWS_H

#include "base/byte_buffer.h"
#include "import/file/json_pull.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_source;

struct json_rows {
        struct import_source *source; /* borrowed */
        /*
         * May read an object that is an element, @p behind its opening bracket, to behind its closing one,
         * which saves looking for that before.  Returns 0, or anything else if it cannot: then it was perhaps
         * not all there.  NULL = no.
         */
        int (*read_open)(void *of, struct json_pull *p);
        void *of;
        size_t at;                 /* where in the window we are */
        struct text_view window;   /* of the source: what is not forgotten */
        struct byte_buffer member; /* the key of the member that is read; empty in a bare array */
        size_t row;                /* where in the window the last row began */
        uint64_t n_lines;          /* whole ones before `counted` in the window */
        size_t counted;
        bool has_counted;
        bool in_object, in_array;
        bool at_end; /* of the file */
        bool is_cut; /* it ends in a row, or in an object */
};

struct json_row {
        struct text_view member; /* as a string's text; empty = of a bare array */
        struct json_value value;
        bool is_element; /* of an array; otherwise the member's value */
        bool is_read;    /* by `read_open` */
        const char *bad; /* NULL, or why there is no value; lives forever */
};

/* The caller's storage; allocates nothing. */
void json_rows_init(struct json_rows *rows, struct import_source *source);
void json_rows_deinit(struct json_rows *rows);

/*
 * The next row; valid until the next call.  Returns 1, 0 at the end, or -errno of the source with words,
 * -ENOMEM.
 */
int json_rows_next(struct json_rows *rows, struct json_row *ret_row, struct error *err);

/* The line of the file, from 1, in which the last row begins. */
uint64_t json_rows_line(struct json_rows *rows);

#endif /* IMPORT_JSON_ROWS_H */
