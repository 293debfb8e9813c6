/* SPDX-License-Identifier: MIT */
/*
 * web/request/kept_values.h - what the page finds again at the next visit: notes and pins of a trace, and
 * settings
 *
 * Way of the data:  the page -> http_server -> view_front -> [kept_values] -> files of the user -> the page
 *
 * The viewer's origin is new each time, so the browser's own storage is of no use.  A value is text that the
 * page wrote; the viewer never interprets it.  Those of a trace are found by its first bytes, which identify
 * the recording: they stay the same when the trace grows, is copied, or gets names.  Not thread-safe.
 */
#ifndef WEB_REQUEST_KEPT_VALUES_H
#define WEB_REQUEST_KEPT_VALUES_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;

#define KEPT_VALUE_BYTES_MAX  (UINT64_C(1) << 20)
#define KEPT_VALUES_BYTES_MAX (UINT64_C(64) << 20) /* of all traces, for each name: the oldest go first */

enum kept_name {
        KEPT_NOTES, /* of the trace */
        KEPT_TRACKS,
        KEPT_THEME, /* of the user */
        KEPT_GHOSTS,
        KEPT_HINT,
        N_KEPT_NAMES
};

struct kept_values {
        const char *folder;                      /* borrowed; NULL = nowhere */
        uint64_t trace_key;                      /* see is_identified */
        bool is_identified;                      /* false: the trace has no first bytes yet */
        struct byte_buffer values[N_KEPT_NAMES]; /* owned; empty = none */
};

bool kept_values_find_name(struct text_view name, enum kept_name *ret_name);

/*
 * kept_values_init() - with what was kept of a trace
 * @folder:    path; it is made when something is to be kept
 * @trace_fd:  the trace; its first bytes are read
 * A value that cannot be read is absent, and so is one that is no plain file of the user's own.
 */
void kept_values_init(struct kept_values *k, const char *folder, int trace_fd);
/* To be called again if a trace that is being written had no first bytes before. */
void kept_values_identify(struct kept_values *k, int trace_fd);
void kept_values_deinit(struct kept_values *k);

/* In memory.  Returns 0, -EFBIG, -ENOMEM. */
int kept_values_set(struct kept_values *k, enum kept_name name, struct text_view text, struct error *err);

/* Writes the value to a file, mode 0600, that replaces the former one.  Returns 0, or -errno with words. */
int kept_values_save(const struct kept_values *k, enum kept_name name, struct error *err);

/* A JSON object of texts. */
void kept_values_put(const struct kept_values *k, struct byte_buffer *out);

#endif /* WEB_REQUEST_KEPT_VALUES_H */
