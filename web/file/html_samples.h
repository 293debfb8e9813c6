/* SPDX-License-Identifier: MIT */
/*
 * web/file/html_samples.h - all samples of a trace as columns that a page keeps, and the stacks that they
 * name
 *
 * Way of the data:  trace_walk -> [html_samples] -> packed_text -> html_file
 *
 * docs/use/viewers.md has the format, "HYSP".
 */
#ifndef WEB_FILE_HTML_SAMPLES_H
#define WEB_FILE_HTML_SAMPLES_H

#include <stdint.h>

struct byte_buffer;
struct error;
struct loaded_trace;
struct view_names;

#define HTML_SAMPLES_MAGIC   UINT32_C(0x50535948) /* "HYSP" */
#define HTML_SAMPLES_VERSION 1
#define HTML_SAMPLES_MAX     4000000 /* more are left out, all of them */

/*
 * html_samples_put() - one walk
 * @ret_n:  how many there are; 0 with nothing in @out if there are none
 * Returns 0; -E2BIG if there are more than HTML_SAMPLES_MAX; -ENOMEM, -errno.
 */
int html_samples_put(struct loaded_trace *trace, struct byte_buffer *out, uint64_t *ret_n, struct error *err);

/*
 * {"stacks":[[parent, frame], ...], "frames":[[function, ...], ...]}, both by id - 1.  Returns 0 or
 * -ENOMEM.
 */
int html_samples_put_stacks(const struct view_names *names, struct byte_buffer *out, struct error *err);

#endif /* WEB_FILE_HTML_SAMPLES_H */
