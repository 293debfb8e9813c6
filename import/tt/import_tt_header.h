/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_header.h - the first two lines of profile_log_device.csv: the chip, and its columns
 *
 * Way of the data:  lines 1 and 2 -> [import_tt_header] -> import_tt_device
 *
 * Five versions of the log are known, of 6, 12, 13, 13 and 15 columns: a column is known by its name.
 */
#ifndef IMPORT_IMPORT_TT_HEADER_H
#define IMPORT_IMPORT_TT_HEADER_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;

#define IMPORT_TT_COLUMNS_MAX 64

enum import_tt_column {
        TT_CHIP,
        TT_CORE_X,
        TT_CORE_Y,
        TT_PROCESSOR,
        TT_TIMER,
        TT_TIME, /* up to here every version has them */
        TT_DATA,
        TT_RUN_HOST_ID,
        TT_TRACE,
        TT_REPLAY,
        TT_NAME,
        TT_TYPE,
        TT_LINE,
        TT_FILE,
        TT_META,
        TT_COLUMNS,
        TT_OTHER = TT_COLUMNS, /* not used here */
};

struct import_tt_header {
        char chip[32]; /* "wormhole_b0"; shown */
        double mhz;    /* nominal; 0 = unknown */
        unsigned version;
        uint32_t n_columns;
        uint8_t columns[IMPORT_TT_COLUMNS_MAX]; /* enum import_tt_column */
        bool has[TT_COLUMNS + 1];
};

/* Cells of one row, by column; those that the log does not have are empty.  Not trimmed. */
struct import_tt_row {
        struct text_view cells[TT_COLUMNS + 1];
};

/* Whether a line is the first one of a log. */
bool import_tt_header_is_first(struct text_view line);

/* Reads the first line, which import_tt_header_is_first() knows. */
void import_tt_header_read_chip(struct import_tt_header *header, struct text_view line);

/* Reads the names of the columns.  Returns 0, or -EBADMSG with words if one that is needed is missing. */
int import_tt_header_read_columns(struct import_tt_header *header, struct text_view line, struct error *err);

/*
 * Splits a row.  The last column has all that follows its comma, commas and quotes included: meta data is not
 * quoted as in other CSV files.  Returns false if there are fewer cells than columns.
 */
bool import_tt_header_split(const struct import_tt_header *header, struct text_view line,
                            struct import_tt_row *ret_row);

#endif /* IMPORT_IMPORT_TT_HEADER_H */
