/* SPDX-License-Identifier: MIT */
/*
 * web/model/view_pictures.h - the small pictures of frames that a program handed over
 *
 * Way of the data:  trace_reader (attachments) -> [view_pictures] -> view_content, html_file
 *
 * A picture has as many bytes as its row of the trace's table says, and a row says at most
 * VIEW_PICTURE_BYTES_MAX: a trace that says otherwise has no picture there.  Each call reads the trace anew,
 * so its reader is at its end, or behind the picture, afterwards.  Not thread-safe.
 */
#ifndef WEB_MODEL_VIEW_PICTURES_H
#define WEB_MODEL_VIEW_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct loaded_trace;
struct trace_dictionary;

#define VIEW_PICTURE_BYTES_MAX (UINT64_C(1) << 22)

/* Whether that attachment is a picture; any number may be asked about. */
bool view_pictures_has(const struct trace_dictionary *dictionary, uint32_t attachment);

/*
 * view_pictures_read() - the bytes of one of them, appended to @out, which is empty
 * Returns 0; -ENODATA if the trace does not have all of them; -ENOMEM, -errno.
 */
int view_pictures_read(struct loaded_trace *trace, uint32_t attachment, struct byte_buffer *out,
                       struct error *err);

/* How many a trace has, and how many of them view_pictures_put() took. */
struct view_pictures_count {
        uint32_t n_all, n_put;
};

/*
 * view_pictures_put() - all of them, in one walk, or every second, third, .. so that they have at most
 * @bytes_max: for each u32 its attachment, u32 how many bytes, and these
 * One that the trace does not have all of is not taken.  Returns 0, -ENOMEM, -errno.
 */
int view_pictures_put(struct loaded_trace *trace, uint64_t bytes_max, struct byte_buffer *out,
                      struct view_pictures_count *ret_count, struct error *err);

#endif /* WEB_MODEL_VIEW_PICTURES_H */
