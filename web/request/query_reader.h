/* SPDX-License-Identifier: MIT */
/*
 * web/request/query_reader.h - the names and values of an address's query, decoded
 *
 * Way of the data:  the bytes of a request -> [query_reader] -> web_question, web_request
 *
 * Pure: no file, no clock.  Every byte comes from a stranger.
 */
#ifndef WEB_REQUEST_QUERY_READER_H
#define WEB_REQUEST_QUERY_READER_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stddef.h>
#include <stdint.h>

#define QUERY_NUMBER_MAX (UINT64_C(1) << 53) /* times and ids are exact in the page's numbers */

struct error;

struct query_reader {
        const char *at, *end;
        struct byte_buffer value; /* of the current pair; owned */
};

/* @query is borrowed. */
void query_reader_init(struct query_reader *q, const char *query, size_t n_bytes);
void query_reader_deinit(struct query_reader *q);

/*
 * query_reader_next() - the next pair "name=value"
 * @ret_name:   as it stands, not decoded: ours need no escapes
 * @ret_value:  decoded ("%41" and '+'), with a NUL after it; borrowed until the next call
 * Returns 1, 0 at the end, -EINVAL with words (an invalid escape, a byte 0, invalid UTF-8), -ENOMEM.
 */
int query_reader_next(struct query_reader *q, struct text_view *ret_name, struct text_view *ret_value,
                      struct error *err);

/* Decimal digits alone, at most @max.  Returns 0 or -EINVAL. */
int query_number(struct text_view value, uint64_t max, uint64_t *ret_number);

/* "1,2,3": at most @n_max numbers of 32 bits.  Returns how many, or -EINVAL with words. */
int query_number_list(struct text_view value, uint32_t *ret_numbers, size_t n_max, struct error *err);

#endif /* WEB_REQUEST_QUERY_READER_H */
