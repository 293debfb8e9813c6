/* SPDX-License-Identifier: MIT */
/*
 * view/text/text_number.h - numbers as people read them
 *
 * Way of the data:  report -> [text_number] -> cell_text
 */
#ifndef VIEW_TEXT_TEXT_NUMBER_H
#define VIEW_TEXT_TEXT_NUMBER_H

#include <stdint.h>

/* By value, so that one printf can hold several. */
struct text_number {
        char text[32];
};

/* "1,103,220" */
struct text_number text_number_count(uint64_t count);

/* Three digits and the unit that fits: "0 ns", "999 ns", "1.23 us", "12.3 ms", "123 s", "4567 s" */
struct text_number text_number_duration(uint64_t duration_ns);

/* "31 B", "4.20 KB", "31.0 MB": powers of 1000 */
struct text_number text_number_bytes(uint64_t n_bytes);

/* "31", "4.20 K", "31.0 M", "7.00 G": powers of 1000; for where there is little room */
struct text_number text_number_short(uint64_t count);

/* @share 0 .. 1 -> "31.2%" */
struct text_number text_number_share(double share);

/* Room for a count and its words. */
struct text_counted {
        char text[224];
};

/* "6 zones never ended", "1 zone never ended": @words begin with the counted things, in the plural. */
struct text_counted text_number_counted(uint64_t count, const char *words);

#endif /* VIEW_TEXT_TEXT_NUMBER_H */
