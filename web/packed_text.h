/* SPDX-License-Identifier: MIT */
/*
 * web/packed_text.h - bytes as a page can hold them: gzip, then base64
 *
 * Way of the data:  html_lanes, html_samples, html_answers -> [packed_text] -> html_file
 */
#ifndef WEB_PACKED_TEXT_H
#define WEB_PACKED_TEXT_H

#include <stddef.h>

struct byte_buffer;

/* Appends the text; the same bytes give the same text.  Returns 0 or -ENOMEM. */
int packed_text_add(struct byte_buffer *out, const void *bytes, size_t n_bytes);

#endif /* WEB_PACKED_TEXT_H */
