/* SPDX-License-Identifier: MIT */
/*
 * web/model/view_content.h - what the server knows by itself: the model of a trace, and its lanes out of the
 * index
 *
 * Way of the data:  loaded_trace, timeline_index -> [view_content] -> http_server, html_file
 *
 * Documents: hyprof.timeline/1 is docs/schemas/hyprof.timeline.1.json; a reply with lanes is described in
 * docs/use/viewers.md.
 */
#ifndef WEB_MODEL_VIEW_CONTENT_H
#define WEB_MODEL_VIEW_CONTENT_H

#include "base/byte_buffer.h"
#include "timeline/timeline_query.h"
#include "web/model/trace_identity.h"
#include "web/model/view_names.h"
#include "web/model/view_search.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct live_frames;
struct loaded_trace;
struct timeline_builder;
struct timeline_index;
struct web_request;

#define VIEW_CONTENT_ITEMS_MAX    200000 /* of one reply */
#define VIEW_CONTENT_LAUNCHES_MAX 64     /* of one zone; more are counted */
#define VIEW_CONTENT_ARROWS_MAX   500    /* of all zones between two times; more are counted */

struct view_content {
        struct loaded_trace *trace;     /* borrowed */
        struct view_names names;        /* of the trace */
        const struct live_frames *live; /* borrowed; in place of `names` while the trace grows; else NULL */
        /* borrowed; of `index` while the trace grows: what is not over; else NULL */
        struct timeline_builder *builder;
        struct timeline_index *index; /* borrowed; NULL = none yet */
        double progress;              /* of the index, 0 .. 1 */
        bool is_whole;                /* the index does not grow any more */
        bool has_before;              /* there is another trace, to compare with */
        char failure[320];            /* why there is no index; "" = nothing failed */
        int trace_fd;                 /* the trace, to notice that it is replaced; -1 = not watched */
        struct trace_identity identity;
        struct byte_buffer model;        /* the text of the whole model, once there is one; owned */
        struct timeline_columns columns; /* of the last reply; owned */
        struct view_search search;       /* the last one; owned */
};

void view_content_init(struct view_content *c);
void view_content_deinit(struct view_content *c);

/* Returns 0, -ENOMEM or -EOVERFLOW.  The names of threads have been read. */
int view_content_set_trace(struct view_content *c, struct loaded_trace *trace, struct error *err);

/* The same for one that grows. */
void view_content_set_live(struct view_content *c, struct loaded_trace *trace,
                           const struct live_frames *live);

/* Whether the trace is still the one that was opened. */
bool view_content_is_current(const struct view_content *c);

/* The model as JSON.  Returns 0 or -ENOMEM. */
int view_content_put_model(struct view_content *c, struct byte_buffer *out, struct error *err);

/*
 * Replies to requests; return 0, -EINVAL (no such lane, more than VIEW_CONTENT_ITEMS_MAX items), -ENOMEM,
 * -EBADMSG, -errno.
 */
int view_content_put_lanes(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                           struct error *err);
int view_content_put_found(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                           struct error *err);
int view_content_put_launches(struct view_content *c, const struct web_request *request,
                              struct byte_buffer *out, struct error *err);
int view_content_put_arrows(struct view_content *c, const struct web_request *request,
                            struct byte_buffer *out, struct error *err);
int view_content_put_strings(struct view_content *c, const struct web_request *request,
                             struct byte_buffer *out, struct error *err);
/* The picture of a frame, as the trace has it.  Returns 0, or -errno with words. */
int view_content_put_picture(struct view_content *c, uint32_t attachment, struct byte_buffer *out,
                             struct error *err);
int view_content_put_stack(struct view_content *c, uint32_t stack, struct byte_buffer *out,
                           struct error *err);

/*
 * view_model.c - what there is in a trace, for the pages: threads, zones, tracks and their lanes
 *
 * Way of the data:  loaded_trace, timeline_index -> [view_model] -> view_content, html_file
 *
 * The document is hyprof.timeline/1: docs/schemas/hyprof.timeline.1.json.
 */

/* The document as an object, which the caller may add to and has to release.  NULL without memory. */
json_t *view_model_make(const struct view_content *content);

/* Parts of it: what a search looks for names in. */
json_t *view_model_list_locations(const struct view_content *content);
json_t *view_model_list_functions(const struct view_content *content);

/* The same as text at the end of @out.  Returns 0 or -ENOMEM. */
int view_model_put(const struct view_content *content, struct byte_buffer *out, struct error *err);

/* Appends the text of a document.  Releases @document, which may be NULL.  Returns 0 or -ENOMEM. */
int view_model_print(json_t *document, struct byte_buffer *out, struct error *err);

#endif /* WEB_MODEL_VIEW_CONTENT_H */
