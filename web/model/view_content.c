/* SPDX-License-Identifier: MIT */
#include "web/model/view_content.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_launches.h"
#include "timeline/timeline_query.h"
#include "view/document/json_value.h"
#include "web/follow/live_trace.h"
#include "web/model/view_pictures.h"
#include "web/request/web_request.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are copied as they are in memory");

void view_content_init(struct view_content *c)
{
        *c = (struct view_content){ .trace_fd = -1 };
}

void view_content_deinit(struct view_content *c)
{
        byte_buffer_deinit(&c->model);
        view_names_deinit(&c->names);
        timeline_columns_deinit(&c->columns);
        view_search_deinit(&c->search);
        view_content_init(c);
}

int view_content_set_trace(struct view_content *c, struct loaded_trace *trace, struct error *err)
{
        int r = view_names_init(&c->names, trace->dictionary);

        c->trace = trace;
        return r < 0 ? error_set(err, r, "no memory for the names of functions") : 0;
}

void view_content_set_live(struct view_content *c, struct loaded_trace *trace, const struct live_frames *live)
{
        c->trace = trace;
        c->live = live;
}

bool view_content_is_current(const struct view_content *c)
{
        return c->trace_fd < 0 || trace_identity_is_open(&c->identity, c->trace_fd);
}

/* The text is kept once the index is complete, because making it for thousands of threads takes time. */
int view_content_put_model(struct view_content *c, struct byte_buffer *out, struct error *err)
{
        int r;

        if (c->model.used_bytes == 0) {
                r = view_model_put(c, out, err);
                if (r == 0 && c->is_whole)
                        byte_buffer_add(&c->model, out->data, out->used_bytes);
                if (c->model.failed)
                        byte_buffer_deinit(&c->model);
                return r;
        }
        byte_buffer_add(out, c->model.data, c->model.used_bytes);
        return 0;
}

static int check_index(const struct view_content *c, struct error *err)
{
        if (c->index)
                return 0;
        return error_set(err, -EINVAL, "%s", c->failure[0] != '\0' ? c->failure : "there is no index yet");
}

/* ------------------------------------------------------------------ lanes */

/*
 * Columns of lanes as the bytes of a reply.
 *
 * docs/use/viewers.md has the format.  Little-endian; each column begins at a multiple of 8 bytes.
 */

#define LANES_MAGIC   UINT32_C(0x4c545948) /* "HYTL" */
#define LANES_VERSION 1

struct lane_head {
        uint32_t id, bucket_log2;
        bool has_values;
};

static void put_f64(struct byte_buffer *out, const double *values, size_t n)
{
        if (n > 0)
                byte_buffer_add(out, values, n * sizeof(*values));
}

static void put_u32(struct byte_buffer *out, const uint32_t *values, size_t n)
{
        if (n > 0)
                byte_buffer_add(out, values, n * sizeof(*values));
        if (n % 2 != 0)
                byte_buffer_add_u32(out, 0);
}

static void put_head(struct byte_buffer *out, uint32_t n_lanes)
{
        byte_buffer_add_u32(out, LANES_MAGIC);
        byte_buffer_add_u32(out, LANES_VERSION);
        byte_buffer_add_u32(out, n_lanes);
        byte_buffer_add_u32(out, 0);
}

static void put_lane(struct byte_buffer *out, const struct lane_head *lane, const struct timeline_columns *c)
{
        byte_buffer_add_u32(out, lane->id);
        byte_buffer_add_u32(out, lane->has_values);
        byte_buffer_add_u32(out, (uint32_t)c->n);
        byte_buffer_add_u32(out, lane->bucket_log2);
        put_f64(out, c->begin_ns, c->n);
        if (lane->has_values) {
                put_f64(out, c->min, c->n);
                put_f64(out, c->max, c->n);
                put_f64(out, c->first, c->n);
                put_f64(out, c->last, c->n);
        } else {
                put_f64(out, c->end_ns, c->n);
                put_f64(out, c->longest_begin_ns, c->n);
                put_f64(out, c->longest_ns, c->n);
                put_u32(out, c->what, c->n);
        }
        put_u32(out, c->count, c->n);
}

/* Adds the last items of a lane in a growing trace, as long as they are not over. */
static int add_open_spans(struct view_content *c, const struct timeline_view *view, struct error *err)
{
        struct timeline_raw_span spans[2];
        uint64_t start_ns = c->index->start_ns;
        uint32_t n = c->builder ? timeline_builder_open_spans(c->builder, view->lane, c->trace->end_ns, spans)
                                : 0;

        for (uint32_t i = 0; i < n; i++) {
                if (spans[i].begin_ns - start_ns >= view->to_ns ||
                    spans[i].end_ns - start_ns <= view->from_ns)
                        continue;
                if (timeline_columns_add_open(&c->columns, spans[i].begin_ns - start_ns,
                                              spans[i].end_ns - start_ns, spans[i].what) < 0)
                        return error_set(err, -ENOMEM, "the items of a view: out of memory");
        }
        return 0;
}

/* The load of a growing trace is not in the index yet. */
static int query_lane(struct view_content *c, const struct timeline_view *view, struct error *err)
{
        int r = c->builder ? timeline_rates_view(&c->builder->rates, view, &c->columns, err) : 0;

        return r != 0 ? r : timeline_query_view(c->index, view, &c->columns, err);
}

int view_content_put_lanes(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                           struct error *err)
{
        size_t n_items = 0;
        int r = check_index(c, err);

        if (r < 0)
                return r;
        put_head(out, (uint32_t)request->n_ids);
        for (size_t i = 0; i < request->n_ids; i++) {
                struct timeline_view view = { .lane = request->ids[i],
                                              .bucket_log2 = request->bucket_log2,
                                              .from_ns = request->from_ns,
                                              .to_ns = request->to_ns };
                struct lane_head lane = { .id = view.lane, .bucket_log2 = view.bucket_log2 };

                c->columns.n_max = VIEW_CONTENT_ITEMS_MAX - n_items + 1;
                r = query_lane(c, &view, err);
                if (r >= 0)
                        r = add_open_spans(c, &view, err);
                n_items += c->columns.n;
                if (r == -E2BIG || (r == 0 && n_items > VIEW_CONTENT_ITEMS_MAX))
                        return error_set(err, -EINVAL,
                                         "more than %d items: ask for a larger bucket, or fewer lanes",
                                         VIEW_CONTENT_ITEMS_MAX);
                if (r < 0)
                        return r;
                lane.has_values = timeline_index_lane_facts(c->index, view.lane).has_values;
                put_lane(out, &lane, &c->columns);
        }
        return 0;
}

/* ------------------------------------------------------------------ the rest */

int view_content_put_found(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                           struct error *err)
{
        struct timeline_search search = { .lanes = request->ids,
                                          .n_lanes = request->n_ids,
                                          .at_ns = request->at_ns,
                                          .is_backwards = request->is_backwards,
                                          .any = request->what == UINT32_MAX,
                                          .what = request->what };
        struct timeline_found found = { .lane = 0 };
        int r = check_index(c, err);

        if (r == 0)
                r = timeline_query_find(c->index, &search, &found, err);
        if (r < 0)
                return r;
        if (r == 0)
                return view_model_print(json_object(), out, err);
        return view_model_print(json_pack("{s:I,s:I,s:I,s:I}", "lane", (json_int_t)found.lane, "begin_ns",
                                          (json_int_t)found.begin_ns, "end_ns", (json_int_t)found.end_ns,
                                          "what", (json_int_t)found.what),
                                out, err);
}

/* The other end of a pair, and where the arrow is. */
static json_t *make_launch_end(const struct timeline_launch *launch, bool is_first)
{
        return json_pack("{s:I,s:I,s:I,s:I,s:I,s:b}", "track",
                         (json_int_t)(is_first ? launch->host_track : launch->device_track), "begin_ns",
                         (json_int_t)(is_first ? launch->host_ns : launch->device_ns), "what",
                         (json_int_t)(is_first ? launch->host_location : launch->device_location), "at_ns",
                         (json_int_t)(is_first ? launch->from_ns : launch->to_ns), "own_ns",
                         (json_int_t)(is_first ? launch->to_ns : launch->from_ns), "is_from", is_first);
}

/* Adds the pairs whose first or second zone that is: as many as there are, but at most @n_max to the list. */
static uint32_t add_launch_ends(const struct view_content *c, const struct timeline_launch_search *search,
                                json_t *ends, uint32_t n_max)
{
        const struct timeline_launch *found[VIEW_CONTENT_LAUNCHES_MAX];
        uint32_t n = timeline_launches_find(c->index, search, found, n_max);

        for (uint32_t i = 0; ends && i < (n < n_max ? n : n_max); i++) {
                json_t *end = make_launch_end(found[i], search->is_device);

                if (end)
                        (void)json_array_append_new(ends, end);
        }
        return n;
}

int view_content_put_launches(struct view_content *c, const struct web_request *request,
                              struct byte_buffer *out, struct error *err)
{
        struct timeline_launch_search search = { .begin_ns = request->at_ns, .location = request->what };
        uint32_t n, n_max = VIEW_CONTENT_LAUNCHES_MAX;
        struct timeline_lane_facts lane;
        json_t *ends;
        int r = check_index(c, err);

        if (r < 0)
                return r;
        if (request->ids[0] >= c->index->n_lanes)
                return error_set(err, -EINVAL, "there is no lane %" PRIu32, request->ids[0]);
        if (c->builder && timeline_launches_join(&c->builder->shared.launches) < 0)
                return error_set(err, -ENOMEM, "joining zones for arrows: out of memory");
        lane = timeline_index_lane_facts(c->index, request->ids[0]);
        search.track = lane.track;
        search.is_device = true;
        ends = json_array();
        n = add_launch_ends(c, &search, ends, n_max / 2);
        search.is_device = false;
        if (lane.kind != TIMELINE_LANE_DEVICE)
                n += add_launch_ends(c, &search, ends, n_max / 2);
        return view_model_print(json_pack("{s:I,s:o*}", "n", (json_int_t)n, "ends", ends), out, err);
}

int view_content_put_arrows(struct view_content *c, const struct web_request *request,
                            struct byte_buffer *out, struct error *err)
{
        const struct timeline_launch *found[VIEW_CONTENT_ARROWS_MAX];
        json_t *list = json_array();
        int r = check_index(c, err);
        uint32_t n;

        if (r == 0 && c->builder && timeline_launches_join(&c->builder->shared.launches) < 0)
                r = error_set(err, -ENOMEM, "joining zones for arrows: out of memory");
        if (r < 0) {
                json_decref(list);
                return r;
        }
        n = timeline_launches_view(c->index, request->from_ns, request->to_ns, found,
                                   VIEW_CONTENT_ARROWS_MAX);
        for (uint32_t i = 0; list && i < n && i < VIEW_CONTENT_ARROWS_MAX; i++)
                (void)json_array_append_new(list, json_pack("[I,I,I,I]", (json_int_t)found[i]->host_track,
                                                            (json_int_t)found[i]->from_ns,
                                                            (json_int_t)found[i]->device_track,
                                                            (json_int_t)found[i]->to_ns));
        return view_model_print(json_pack("{s:I,s:o*}", "n", (json_int_t)n, "arrows", list), out, err);
}

int view_content_put_strings(struct view_content *c, const struct web_request *request,
                             struct byte_buffer *out, struct error *err)
{
        json_t *list = json_array();
        int r = check_index(c, err);

        for (size_t i = 0; list && r == 0 && i < request->n_ids; i++) {
                struct text_view view = strcmp(request->name_kind, "texts") == 0
                                                ? timeline_index_zone_text(c->index, request->ids[i])
                                                : timeline_index_text(c->index, request->ids[i]);
                json_t *text = json_value_string(view);

                if (text)
                        (void)json_array_append_new(list, text);
        }
        if (r == 0)
                return view_model_print(list, out, err);
        json_decref(list);
        return r;
}

int view_content_put_stack(struct view_content *c, uint32_t stack, struct byte_buffer *out, struct error *err)
{
        json_t *frames = c->live ? live_frames_list_stack(c->live, stack)
                                 : view_names_list_stack(&c->names, stack);

        return view_model_print(json_pack("{s:o*}", "frames", frames), out, err);
}

int view_content_put_picture(struct view_content *c, uint32_t attachment, struct byte_buffer *out,
                             struct error *err)
{
        if (!c->trace || !c->trace->dictionary || c->live || !c->is_whole)
                return error_set(err, -EINVAL, "pictures can be shown once the whole trace was read");
        if (!view_pictures_has(c->trace->dictionary, attachment))
                return error_set(err, -EINVAL, "there is no such picture");
        return view_pictures_read(c->trace, attachment, out, err);
}
