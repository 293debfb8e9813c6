/* SPDX-License-Identifier: MIT */
/*
 * web/file/packed_text.h - bytes as a page can hold them: gzip, then base64
 *
 * Way of the data:  html_file (lanes), html_samples, html_answers -> [packed_text] -> html_file
 */
#ifndef WEB_FILE_PACKED_TEXT_H
#define WEB_FILE_PACKED_TEXT_H

#include <stddef.h>

struct byte_buffer;

/* Appends the text; the same bytes give the same text.  Returns 0 or -ENOMEM. */
int packed_text_add(struct byte_buffer *out, const void *bytes, size_t n_bytes);

#endif /* WEB_FILE_PACKED_TEXT_H */
