/* SPDX-License-Identifier: MIT */
/*
 * web/model/view_model.h - what there is in a trace, for the pages: threads, zones, tracks and their lanes
 *
 * Way of the data:  loaded_trace, timeline_index -> [view_model] -> view_content, html_file
 *
 * The document is hyprof.timeline/1: docs/schemas/hyprof.timeline.1.json.
 */
#ifndef WEB_MODEL_VIEW_MODEL_H
#define WEB_MODEL_VIEW_MODEL_H

#include <jansson.h>

struct byte_buffer;
struct error;
struct view_content;

/* The document as an object, which the caller may add to and has to release.  NULL without memory. */
json_t *view_model_make(const struct view_content *content);

/* The same as text at the end of @out.  Returns 0 or -ENOMEM. */
int view_model_put(const struct view_content *content, struct byte_buffer *out, struct error *err);

/* Appends the text of a document.  Releases @document, which may be NULL.  Returns 0 or -ENOMEM. */
int view_model_print(json_t *document, struct byte_buffer *out, struct error *err);

#endif /* WEB_MODEL_VIEW_MODEL_H */
