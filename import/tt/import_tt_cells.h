/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_cells.h - numbers and words between the commas of tt-metal's files
 *
 * Way of the data:  a line -> [import_tt_cells] -> import_tt_device, import_tt_sync
 *
 * Cells are padded with blanks.  Numbers are decimal and end with the cell.
 */
#ifndef IMPORT_IMPORT_TT_CELLS_H
#define IMPORT_IMPORT_TT_CELLS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#define IMPORT_TT_NUMBER_BYTES_MAX 63

static inline struct text_view import_tt_trim(struct text_view cell)
{
        while (cell.n_bytes > 0 && (*cell.bytes == ' ' || *cell.bytes == '\t')) {
                cell.bytes++;
                cell.n_bytes--;
        }
        while (cell.n_bytes > 0 &&
               (cell.bytes[cell.n_bytes - 1] == ' ' || cell.bytes[cell.n_bytes - 1] == '\t'))
                cell.n_bytes--;
        return cell;
}

/* Letters of either case. */
static inline bool import_tt_is(struct text_view cell, const char *word)
{
        size_t n = strlen(word);

        return cell.n_bytes == n && (n == 0 || strncasecmp(cell.bytes, word, n) == 0);
}

/* Cuts what is before the next @mark off @rest, which is empty afterwards if there is none. */
static inline struct text_view import_tt_cut(struct text_view *rest, char mark)
{
        const char *at = rest->n_bytes > 0 ? memchr(rest->bytes, mark, rest->n_bytes) : NULL;
        struct text_view cell = *rest;

        if (!at) {
                *rest = (struct text_view){ .bytes = NULL };
                return cell;
        }
        cell.n_bytes = (size_t)(at - cell.bytes);
        rest->bytes = at + 1;
        rest->n_bytes -= cell.n_bytes + 1;
        return cell;
}

/* Returns false for anything but digits, and for numbers of more than 64 bits. */
static inline bool import_tt_number(struct text_view cell, uint64_t *ret_number)
{
        uint64_t number = 0;

        cell = import_tt_trim(cell);
        if (cell.n_bytes == 0 || cell.n_bytes > IMPORT_TT_NUMBER_BYTES_MAX)
                return false;
        for (size_t i = 0; i < cell.n_bytes; i++) {
                unsigned digit = (unsigned)(cell.bytes[i] - '0');

                /* The first 19 digits always fit. */
                if (digit > 9 || (i >= 19 && (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
                                              __builtin_add_overflow(number, digit, &number))))
                        return false;
                if (i < 19)
                        number = number * 10 + digit;
        }
        *ret_number = number;
        return true;
}

/* A number with a point; false for anything else, infinite ones and hexadecimal ones. */
static inline bool import_tt_decimal(struct text_view cell, double *ret_number)
{
        char text[IMPORT_TT_NUMBER_BYTES_MAX + 1], *end;
        double number;

        cell = import_tt_trim(cell);
        if (cell.n_bytes == 0 || cell.n_bytes >= sizeof(text))
                return false;
        memcpy(text, cell.bytes, cell.n_bytes);
        text[cell.n_bytes] = '\0';
        if (strspn(text, "0123456789.eE+-") != cell.n_bytes)
                return false;
        number = strtod(text, &end);
        if (*end != '\0' || number - number != 0)
                return false;
        *ret_number = number;
        return true;
}

#endif /* IMPORT_IMPORT_TT_CELLS_H */
