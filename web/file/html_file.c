/* SPDX-License-Identifier: MIT */
#include "web/file/html_file.h"

#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_launches.h"
#include "timeline/timeline_query.h"
#include "view/document/json_value.h"
#include "view/text/text_number.h"
#include "web/file/html_parts.h"
#include "web/model/page_files.h"
#include "web/model/view_content.h"
#include "web/model/view_pictures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ------------------------------------------------------------------ lanes */

/*
 * The lanes of an index as columns that a page keeps, either whole or with short items merged.
 *
 * docs/use/viewers.md has the format, "HYLN".
 */

#define HTML_LANES_MAGIC   UINT32_C(0x4e4c5948) /* "HYLN" */
#define HTML_LANES_VERSION 1

static void put_values(struct escaped_columns *out, const struct timeline_columns *c, bool is_merged)
{
        escaped_columns_add(out, c->begin_ns, c->n, 1);
        escaped_columns_add_f64(out, c->first, c->n);
        if (!is_merged)
                return;
        escaped_columns_add_f64(out, c->min, c->n);
        escaped_columns_add_f64(out, c->max, c->n);
        escaped_columns_add_f64(out, c->last, c->n);
        escaped_columns_add_u32(out, c->count, c->n);
}

static void put_spans(struct escaped_columns *out, const struct timeline_columns *c, bool is_merged)
{
        escaped_columns_add(out, c->begin_ns, c->n, 1);
        escaped_columns_add_less(out, c->end_ns, c->begin_ns, c->n);
        escaped_columns_add_u32(out, c->what, c->n);
        if (!is_merged)
                return;
        escaped_columns_add_less(out, c->longest_begin_ns, c->begin_ns, c->n);
        escaped_columns_add(out, c->longest_ns, c->n, 0);
        escaped_columns_add_u32(out, c->count, c->n);
}

static void put_lane(uint32_t id, bool has_values, unsigned merged_log2, const struct timeline_columns *c,
                     struct byte_buffer *out)
{
        struct escaped_columns columns = { .escapes = { .data = NULL } };

        if (has_values)
                put_values(&columns, c, merged_log2 != 0);
        else
                put_spans(&columns, c, merged_log2 != 0);
        byte_buffer_add_u32(out, id);
        byte_buffer_add_u32(out, has_values);
        byte_buffer_add_u32(out, (uint32_t)c->n);
        byte_buffer_add_u32(out, merged_log2);
        byte_buffer_add_u32(out, escaped_columns_count(&columns));
        byte_buffer_add_u32(out, 0);
        escaped_columns_put(&columns, out);
        escaped_columns_deinit(&columns);
}

/* Lanes that are left out, by kind: bits. */
#define LEAVES_OUT(kind) (UINT32_C(1) << (kind))

static bool is_left_out(const struct timeline_index *index, uint32_t lane, uint32_t left_out)
{
        return (left_out & LEAVES_OUT(timeline_index_lane_facts(index, lane).kind)) != 0;
}

/*
 * put_lanes() - all lanes but those of @left_out
 * @merged_log2:  items shorter than 2^this ns are merged by the rule of a view; 0 = none
 * @n_items_max:  of all lanes together
 * Returns 0; -E2BIG if there are more items; -ENOMEM, -EBADMSG, -errno.
 */
static int put_lanes(struct timeline_index *index, unsigned merged_log2, size_t n_items_max,
                     uint32_t left_out, struct byte_buffer *out, struct error *err)
{
        struct timeline_columns columns = { .n = 0 };
        uint32_t n_lanes = 0;
        size_t n_items = 0;
        int r = 0;

        for (uint32_t i = 0; i < index->n_lanes; i++)
                n_lanes += !is_left_out(index, i, left_out);
        byte_buffer_add_u32(out, HTML_LANES_MAGIC);
        byte_buffer_add_u32(out, HTML_LANES_VERSION);
        byte_buffer_add_u32(out, n_lanes);
        byte_buffer_add_u32(out, 0);
        for (uint32_t i = 0; r == 0 && i < index->n_lanes; i++) {
                struct timeline_view view = { .lane = i,
                                              .bucket_log2 = merged_log2,
                                              .to_ns = index->duration_ns + 1 };

                if (is_left_out(index, i, left_out))
                        continue;
                columns.n_max = n_items_max - n_items + 1;
                r = timeline_query_view(index, &view, &columns, err);
                n_items += columns.n;
                if (r == 0 && n_items > n_items_max)
                        r = error_set(err, -E2BIG, "more than %zu items", n_items_max);
                if (r == 0)
                        put_lane(i, timeline_index_lane_facts(index, i).has_values, merged_log2, &columns,
                                 out);
        }
        timeline_columns_deinit(&columns);
        return r == 0 && out->failed ? error_set(err, -ENOMEM, "no memory for the timeline") : r;
}

/* ------------------------------------------------------------------ the file */

/*
 * An item of a lane has at least this many bytes when packed.  Items of regular lanes have fewer, so a few
 * million items are always packed to see whether they fit; more items are not tried.
 */
#define ITEM_BYTES_MIN          2
#define ITEMS_ALWAYS_TRIED      2000000
#define MERGE_FIRST_LOG2        8                   /* 256 ns */
#define ALWAYS_PACKED_BYTES     (UINT32_C(1) << 23) /* fewer are packed at once */
#define ESTIMATE_SLACK          8 /* an estimate is wrong by an eighth at most, or packed to see */
#define MERGE_STEP_LOG2         2
#define MERGE_LAST_LOG2         52
#define LAUNCHES_MAX            200000 /* pairs of zones, for arrows: a few bytes each when packed */
#define HTML_PICTURES_BYTES_MAX (UINT64_C(1) << 22) /* of frames, before they are packed */
#define POLICY                                                                                                    \
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; " \
        "style-src 'unsafe-inline'; img-src data:\">\n"

/* All that may come into the file, packed. */
struct html_parts {
        const struct html_file_options *options;
        struct loaded_trace trace;
        struct timeline_index index;
        struct view_content content;
        struct html_redaction redaction;
        struct html_answers answers;
        struct byte_buffer all, details; /* without and with answers about single zones and functions */
        struct byte_buffer samples, stacks, strings, texts, launches, pictures, lanes, notes, tracks;
        struct view_pictures_count n_pictures;
        unsigned merged_log2;
        bool has_details, has_samples, has_lanes, has_texts, has_pictures;
};

/*
 * ---- reading --------------------------------------------------------------------------------------------
 */

static __attribute__((format(printf, 2, 3))) void show(const struct html_parts *p, const char *format, ...)
{
        char words[160];
        va_list args;

        if (!p->options->show_stage)
                return;
        va_start(args, format);
        (void)vsnprintf(words, sizeof(words), format, args);
        va_end(args);
        p->options->show_stage(words);
}

static int show_index(void *context, double part)
{
        show(context, "the index: %d%%", (int)(part * 100));
        return 0;
}

static void show_question(void *context, const char *query, uint32_t n_before)
{
        show(context, "table %" PRIu32 ": %.60s", n_before + 1, query + strlen("question="));
}

/* For the viewer the page is made in a process that makes no files: the index is in memory then. */
static int open_index_file(struct error *err)
{
        int fd = io_open_unnamed(err);

        if (fd < 0)
                fd = memfd_create("index", MFD_CLOEXEC);
        if (fd >= 0)
                *err = ERROR_NONE;
        return fd < 0 ? err->code : fd;
}

static int open_parts(struct html_parts *p, struct error *err)
{
        int r = loaded_trace_open(&p->trace, p->options->trace, err);
        int fd;

        if (r == 0)
                r = loaded_trace_read_names(&p->trace, err);
        if (r == 0)
                r = view_content_set_trace(&p->content, &p->trace, err);
        if (r < 0)
                return r;
        p->redaction = (struct html_redaction){ .command = loaded_trace_meta(&p->trace, "command"),
                                                .host = loaded_trace_meta(&p->trace, "hostname") };
        if (p->options->redacts && html_redaction_learn(&p->redaction, p->trace.dictionary) < 0)
                return error_set(err, -ENOMEM, "no memory to leave folders out");
        fd = open_index_file(err);
        if (fd < 0)
                return fd;
        r = timeline_index_init(&p->index, fd, p->trace.start_ns, p->trace.end_ns - p->trace.start_ns);
        if (r < 0)
                return error_set(err, r, "no memory for the timeline");
        p->content.index = &p->index;
        r = timeline_builder_build(&p->index, &p->trace,
                                   &(struct timeline_build_options){ .progress = show_index, .context = p },
                                   err);
        p->content.is_whole = true;
        p->content.progress = 1;
        return r;
}

static int pack(struct byte_buffer *out, const struct byte_buffer *bytes, struct error *err)
{
        if (!bytes->failed && packed_text_add(out, bytes->data, bytes->used_bytes) == 0)
                return 0;
        return error_set(err, -ENOMEM, "no memory for the page");
}

static int pack_answers(struct html_parts *p, struct error *err)
{
        struct html_answers *a = &p->answers;
        int r;

        html_answers_init(a, p->options->answers, &p->index, p->options->redacts ? &p->redaction : NULL);
        a->show = show_question;
        a->context = p;
        r = html_answers_add_all(a, err);
        if (r < 0)
                return r;
        byte_buffer_add_u8(&a->text, '}');
        r = pack(&p->all, &a->text, err);
        a->text.used_bytes--;
        if (r == 0)
                r = html_answers_add_details(a, err);
        byte_buffer_add_u8(&a->text, '}');
        return r == 0 ? pack(&p->details, &a->text, err) : r;
}

static int pack_samples(struct html_parts *p, struct error *err)
{
        struct byte_buffer bytes = { .data = NULL };
        uint64_t n = 0;
        int r = html_samples_put(&p->trace, &bytes, &n, err);

        if (r == 0 && n > 0)
                r = pack(&p->samples, &bytes, err);
        byte_buffer_clear(&bytes);
        if (r == 0 && n > 0)
                r = html_samples_put_stacks(&p->content.names, &bytes, err);
        if (r == 0 && n > 0)
                r = pack(&p->stacks, &bytes, err);
        byte_buffer_deinit(&bytes);
        return r == -E2BIG ? 0 : r; /* too many for any page: left out */
}

/* [[id, "text"], ...] */
static int pack_list(struct html_parts *p, const struct intern *strings, struct byte_buffer *out,
                     struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        json_t *list = json_array();
        int r;

        for (uint32_t i = 1; list && i <= strings->n_items; i++) {
                struct byte_buffer clean = { .data = NULL };
                struct text_view view = { .n_bytes = 0 };

                view.bytes = intern_get(strings, i, &view.n_bytes);
                if (p->options->redacts) {
                        html_redaction_put(&p->redaction, view, &clean);
                        view = (struct text_view){ (const char *)clean.data, clean.used_bytes };
                }
                (void)json_array_append_new(list,
                                            json_pack("[I,o*]", (json_int_t)i, json_value_string(view)));
                byte_buffer_deinit(&clean);
        }
        r = view_model_print(list, &text, err);
        if (r == 0)
                r = pack(out, &text, err);
        byte_buffer_deinit(&text);
        return r;
}

/* The texts of messages, and those of zones. */
static int pack_strings(struct html_parts *p, struct error *err)
{
        int r = pack_list(p, &p->index.messages, &p->strings, err);

        if (r == 0 && p->index.zone_texts.n_items > 0)
                r = pack_list(p, &p->index.zone_texts, &p->texts, err);
        return r;
}

/* [track, begin, location, time of the arrow, ...]: a zone of a thread, then where its work went. */
static int pack_launches(struct html_parts *p, struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        json_t *list = json_array();
        int r;

        if (p->index.n_launches == 0 || p->index.n_launches > LAUNCHES_MAX) {
                json_decref(list);
                return 0;
        }
        for (uint32_t i = 0; list && i < p->index.n_launches; i++) {
                const struct timeline_launch *launch = &p->index.launches[i];
                const uint64_t numbers[] = { launch->host_track,      launch->host_ns,
                                             launch->host_location,   launch->from_ns,
                                             launch->device_track,    launch->device_ns,
                                             launch->device_location, launch->to_ns };

                for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
                        (void)json_array_append_new(list, json_value_number(numbers[k]));
        }
        r = view_model_print(list, &text, err);
        if (r == 0)
                r = pack(&p->launches, &text, err);
        byte_buffer_deinit(&text);
        return r;
}

/* A page that leaves out private things has none: a picture shows more than names do. */
static int pack_pictures(struct html_parts *p, struct error *err)
{
        struct byte_buffer bytes = { .data = NULL };
        int r = view_pictures_put(&p->trace, p->options->redacts ? 0 : HTML_PICTURES_BYTES_MAX, &bytes,
                                  &p->n_pictures, err);

        if (r == 0 && bytes.used_bytes > 0)
                r = pack(&p->pictures, &bytes, err);
        byte_buffer_deinit(&bytes);
        return r;
}

/* A note after the end would never be seen. */
static int check_notes(const struct html_parts *p, struct error *err)
{
        const struct html_marks *marks = p->options->marks;

        for (size_t i = 0; i < marks->n_notes; i++)
                if (marks->notes[i].from_ns > p->index.duration_ns)
                        return error_set(err, -ERANGE, "--note at %s: the recording lasts %s",
                                         text_number_duration(marks->notes[i].from_ns).text,
                                         text_number_duration(p->index.duration_ns).text);
        return 0;
}

static int pack_marks(struct html_parts *p, struct error *err)
{
        const struct html_redaction *redaction = p->options->redacts ? &p->redaction : NULL;
        struct byte_buffer text = { .data = NULL };
        int r;

        if (!p->options->marks)
                return 0;
        r = check_notes(p, err);
        if (r == 0)
                r = html_marks_put_notes(p->options->marks, redaction, &text, err);
        if (r == 0 && text.used_bytes > 0)
                r = pack(&p->notes, &text, err);
        byte_buffer_clear(&text);
        if (r == 0)
                r = html_marks_put_tracks(p->options->marks, &p->index, &text, err);
        if (r == 0 && text.used_bytes > 0)
                r = pack(&p->tracks, &text, err);
        byte_buffer_deinit(&text);
        return r;
}

/*
 * ---- fitting --------------------------------------------------------------------------------------------
 */

static uint64_t count_others(const struct html_parts *p)
{
        static const char *const names[] = { PAGE_DOCUMENT, PAGE_STYLE, PAGE_SCRIPT };
        uint64_t n = UINT64_C(64) << 10; /* room for the model of a small trace, for elements and words */
        struct page_file file;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (page_files_find(names[i], &file))
                        n += file.text.n_bytes;
        n += p->has_details ? p->details.used_bytes : p->all.used_bytes;
        n += p->strings.used_bytes + p->launches.used_bytes + p->notes.used_bytes + p->tracks.used_bytes;
        n += p->has_texts ? p->texts.used_bytes : 0;
        n += p->has_pictures ? p->pictures.used_bytes : 0;
        return n + (p->has_samples ? p->samples.used_bytes + p->stacks.used_bytes : 0);
}

/* Steps of merging: 0 = none, then from MERGE_FIRST_LOG2 on, up to the length of the recording. */
static unsigned merge_log2(unsigned step)
{
        return step == 0 ? 0 : MERGE_FIRST_LOG2 + (step - 1) * MERGE_STEP_LOG2;
}

static unsigned count_merge_steps(const struct html_parts *p)
{
        unsigned n = 1;

        while (merge_log2(n) <= MERGE_LAST_LOG2 && UINT64_C(1) << merge_log2(n) <= p->index.duration_ns)
                n++;
        return n;
}

static uint32_t lanes_left_out(const struct html_parts *p)
{
        return (p->has_texts ? 0 : LEAVES_OUT(TIMELINE_LANE_TEXTS)) |
               (p->has_pictures ? 0 : LEAVES_OUT(TIMELINE_LANE_PICTURES));
}

/* The items of the lanes that come into the page, none of them merged. */
static uint64_t count_items(const struct html_parts *p)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < p->index.n_lanes; i++)
                if (!is_left_out(&p->index, i, lanes_left_out(p)))
                        n += timeline_index_lane_facts(&p->index, i).n_items;
        return n;
}

/*
 * Tries to fit the lanes beside the other parts, with items shorter than 2^merged_log2 ns merged.  Lanes that
 * will be far too large, or are of many bytes, are not packed only to see that: an estimate is enough.
 * Returns 1 if the lanes fit and are now those of the page; 2 if they will fit, by an estimate, unless
 * @is_sure is wanted; 0 if not; -errno.
 */
static int try_lanes(struct html_parts *p, unsigned merged_log2, bool is_sure, struct error *err)
{
        uint64_t others = count_others(p);
        uint64_t room = others < p->options->bytes_max ? p->options->bytes_max - others : 0;
        uint64_t n_items_max = room / ITEM_BYTES_MIN;
        struct byte_buffer bytes = { .data = NULL }, packed = { .data = NULL };
        int r;

        if (n_items_max < ITEMS_ALWAYS_TRIED)
                n_items_max = ITEMS_ALWAYS_TRIED;
        if (merged_log2 == 0 && count_items(p) > n_items_max)
                return 0;
        show(p, "the timeline, items from %s on",
             text_number_duration(merged_log2 ? UINT64_C(1) << merged_log2 : 0).text);
        r = put_lanes(&p->index, merged_log2, n_items_max, lanes_left_out(p), &bytes, err);
        if (r == 0 && bytes.used_bytes > ALWAYS_PACKED_BYTES) {
                uint64_t estimate = packed_text_estimate(bytes.data, bytes.used_bytes);

                if (estimate > room + room / ESTIMATE_SLACK)
                        r = -E2BIG;
                else if (!is_sure && estimate < room - room / ESTIMATE_SLACK)
                        r = 2;
        }
        if (r == 0)
                r = pack(&packed, &bytes, err);
        byte_buffer_deinit(&bytes);
        if (r == 0 && packed.used_bytes <= room) {
                byte_buffer_deinit(&p->lanes);
                p->lanes = packed;
                p->merged_log2 = merged_log2;
                return 1;
        }
        byte_buffer_deinit(&packed);
        return r == -E2BIG ? 0 : r;
}

/*
 * Finds the least merging with which the lanes fit, by binary search, because the lanes shrink from step to
 * step.  Returns as try_lanes().
 */
static int fit_lanes(struct html_parts *p, struct error *err)
{
        unsigned low = 1, n_steps = count_merge_steps(p), high = n_steps, best = 0;
        int r = try_lanes(p, 0, true, err);

        if (r != 0)
                return r;
        while (low < high) {
                unsigned middle = low + (high - low) / 2;

                r = try_lanes(p, merge_log2(middle), false, err);
                if (r < 0)
                        return r;
                if (r == 1)
                        best = middle;
                if (r > 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        /* A step that was estimated to fit is packed now; if it does not fit after all, the next one does. */
        r = high < n_steps && best == high;
        for (; r == 0 && high < n_steps; high++)
                r = try_lanes(p, merge_log2(high), true, err);
        return r;
}

/*
 * Reduces the file in this order: pictures of frames are dropped, then texts of zones, then short items are
 * merged, then samples are dropped, then details, then the timeline.
 */
static int fit(struct html_parts *p, struct error *err)
{
        int r;

        p->has_details = p->has_lanes = true;
        p->has_samples = p->samples.used_bytes > 0;
        p->has_texts = p->texts.used_bytes > 0;
        p->has_pictures = p->pictures.used_bytes > 0;
        r = p->has_pictures ? try_lanes(p, 0, true, err) : 0;
        if (r == 0) {
                p->has_pictures = false;
                r = p->has_texts ? try_lanes(p, 0, true, err) : 0;
        }
        if (r == 0) {
                p->has_texts = false;
                r = fit_lanes(p, err);
        }
        if (r == 0) {
                p->has_samples = false;
                r = fit_lanes(p, err);
        }
        if (r == 0) {
                p->has_details = false;
                r = fit_lanes(p, err);
        }
        if (r != 0)
                return r < 0 ? r : 0;
        p->has_lanes = false;
        p->merged_log2 = 0;
        byte_buffer_clear(&p->lanes);
        if (count_others(p) <= p->options->bytes_max)
                return 0;
        return error_set(err, -EFBIG, "the tables alone need %" PRIu64 " bytes", count_others(p));
}

static __attribute__((format(printf, 2, 3))) void html_file_say(struct byte_buffer *words, const char *format,
                                                                ...)
{
        char text[256];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        byte_buffer_add(words, text, (size_t)n);
        byte_buffer_add_u8(words, '\n');
}

static void say_left_out(const struct html_parts *p, struct byte_buffer *words)
{
        double ns = p->merged_log2 > 0 ? (double)(UINT64_C(1) << p->merged_log2) : 0;

        if (!p->has_lanes)
                html_file_say(words, "the timeline is left out");
        else if (ns >= 1e6)
                html_file_say(words, "zones and other items shorter than %.1f ms are merged", ns / 1e6);
        else if (ns > 0)
                html_file_say(words, "zones and other items shorter than %.1f us are merged", ns / 1e3);
        if (p->has_lanes && !p->has_texts && p->texts.used_bytes > 0)
                html_file_say(words, "texts of zones are left out: a search does not find them");
        if (p->has_lanes && !p->has_pictures && p->n_pictures.n_all > 0)
                html_file_say(words, "pictures of frames are left out");
        else if (p->has_lanes && p->n_pictures.n_put < p->n_pictures.n_all)
                html_file_say(words, "%" PRIu32 " of %" PRIu32 " pictures of frames are left out",
                              p->n_pictures.n_all - p->n_pictures.n_put, p->n_pictures.n_all);
        if (p->has_lanes && p->index.n_launches > LAUNCHES_MAX)
                html_file_say(words,
                              "arrows to work of devices and of flows are left out: there are more than %d",
                              LAUNCHES_MAX);
        if (!p->has_samples && (p->samples.used_bytes > 0 || p->samples.failed))
                html_file_say(words, "samples are left out: there are no sums over a selected range");
        if (!p->has_details)
                html_file_say(words, "the pages of single zones and functions are left out");
        else if (p->answers.leaves_out_details)
                html_file_say(words,
                              "some pages of single zones and functions are left out: the trace has %" PRIu64
                              " items",
                              p->answers.n_items);
}

/*
 * ---- writing --------------------------------------------------------------------------------------------
 */

static json_t *list_left_out(const struct byte_buffer *words)
{
        const char *at = (const char *)words->data, *end = at + words->used_bytes;
        json_t *list = json_array();

        while (list && at < end) {
                const char *line = memchr(at, '\n', (size_t)(end - at));

                (void)json_array_append_new(list, json_stringn(at, (size_t)(line - at)));
                at = line + 1;
        }
        return list;
}

static int put_model(struct html_parts *p, const struct byte_buffer *left_out, struct byte_buffer *out,
                     struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        json_t *model = view_model_make(&p->content);
        int r = 0;

        if (model && p->options->redacts)
                r = html_redaction_clean(&p->redaction, model);
        if (model)
                (void)json_object_set_new(
                        model, "file",
                        json_pack("{s:s,s:b,s:b,s:o*,s:I,s:b}", "written_by", "hyprof " HYPROF_VERSION,
                                  "is_redacted", (int)p->options->redacts, "is_complete",
                                  (int)(left_out->used_bytes == 0), "dropped", list_left_out(left_out),
                                  "merged_below_ns",
                                  (json_int_t)(p->merged_log2 > 0 ? UINT64_C(1) << p->merged_log2 : 0),
                                  "has_samples", (int)p->has_samples));
        if (r < 0) {
                json_decref(model);
                return error_set(err, r, "no memory for the model of the trace");
        }
        r = view_model_print(model, &text, err);
        if (r == 0)
                r = pack(out, &text, err);
        byte_buffer_deinit(&text);
        return r;
}

static void put_words(struct byte_buffer *out, const char *words)
{
        byte_buffer_add(out, words, strlen(words));
}

static void put_element(struct byte_buffer *out, const char *name, const struct byte_buffer *packed)
{
        put_words(out, "<script type=\"application/octet-stream\" id=\"data-");
        put_words(out, name);
        put_words(out, "\">");
        if (packed->used_bytes > 0)
                byte_buffer_add(out, packed->data, packed->used_bytes);
        put_words(out, "</script>\n");
}

static void put_data(const struct html_parts *p, const struct byte_buffer *model, struct byte_buffer *out)
{
        put_element(out, "model", model);
        put_element(out, "answers", p->has_details ? &p->details : &p->all);
        if (p->has_lanes) {
                put_element(out, "lanes", &p->lanes);
                put_element(out, "strings", &p->strings);
                if (p->has_texts)
                        put_element(out, "texts", &p->texts);
                if (p->has_pictures)
                        put_element(out, "pictures", &p->pictures);
                if (p->launches.used_bytes > 0)
                        put_element(out, "launches", &p->launches);
        }
        if (p->notes.used_bytes > 0)
                put_element(out, "notes", &p->notes);
        if (p->tracks.used_bytes > 0)
                put_element(out, "tracks", &p->tracks);
        if (p->has_samples) {
                put_element(out, "samples", &p->samples);
                put_element(out, "stacks", &p->stacks);
        }
}

static int put_page(const struct html_parts *p, const struct byte_buffer *model, struct byte_buffer *out,
                    struct error *err)
{
        struct page_file style, script;
        struct text_view parts[3];

        if (page_files_split(parts) < 0 || !page_files_find(PAGE_STYLE, &style) ||
            !page_files_find(PAGE_SCRIPT, &script))
                return error_set(err, -ENOTSUP, "this hyprof was built without the viewer's pages");
        byte_buffer_add(out, parts[0].bytes, parts[0].n_bytes);
        put_words(out, POLICY "<style>\n");
        byte_buffer_add(out, style.text.bytes, style.text.n_bytes);
        put_words(out, "</style>\n");
        byte_buffer_add(out, parts[1].bytes, parts[1].n_bytes);
        put_data(p, model, out);
        put_words(out, "<script>\n");
        byte_buffer_add(out, script.text.bytes, script.text.n_bytes);
        put_words(out, "</script>");
        byte_buffer_add(out, parts[2].bytes, parts[2].n_bytes);
        return out->failed ? error_set(err, -ENOMEM, "no memory for the page") : 0;
}

/*
 * ---- all of it ------------------------------------------------------------------------------------------
 */

static int make_parts(struct html_parts *p, struct error *err)
{
        static const struct {
                const char *stage;
                int (*make)(struct html_parts *p, struct error *err);
        } stages[] = { { "the index", open_parts },   { "notes", pack_marks },   { "tables", pack_answers },
                       { "samples", pack_samples },   { "names", pack_strings }, { "arrows", pack_launches },
                       { "pictures", pack_pictures }, { "the timeline", fit } };
        int r = 0;

        for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && r == 0; i++) {
                if (p->options->show_stage)
                        p->options->show_stage(stages[i].stage);
                r = stages[i].make(p, err);
        }
        return r;
}

static void free_parts(struct html_parts *p)
{
        struct byte_buffer *const buffers[] = { &p->all,     &p->details, &p->samples,  &p->stacks,
                                                &p->strings, &p->texts,   &p->launches, &p->pictures,
                                                &p->lanes,   &p->notes,   &p->tracks };

        for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
                byte_buffer_deinit(buffers[i]);
        html_answers_deinit(&p->answers);
        html_redaction_deinit(&p->redaction);
        if (p->content.index)
                timeline_index_deinit(&p->index);
        view_content_deinit(&p->content);
        loaded_trace_close(&p->trace);
        free(p);
}

int html_file_make(struct html_file *ret, const struct html_file_options *options, struct error *err)
{
        struct html_parts *p = calloc(1, sizeof(*p));
        struct byte_buffer model = { .data = NULL };
        int r;

        *ret = (struct html_file){ .text = { .data = NULL } };
        if (!p)
                return error_set(err, -ENOMEM, "no memory for the page");
        p->options = options;
        view_content_init(&p->content);
        r = make_parts(p, err);
        if (r == 0) {
                say_left_out(p, &ret->left_out);
                r = put_model(p, &ret->left_out, &model, err);
        }
        if (r == 0)
                r = put_page(p, &model, &ret->text, err);
        if (r == 0 && p->has_details) {
                ret->sources = p->answers.sources;
                p->answers.sources = (struct byte_buffer){ .data = NULL };
        }
        byte_buffer_deinit(&model);
        free_parts(p);
        return r;
}

void html_file_deinit(struct html_file *file)
{
        byte_buffer_deinit(&file->text);
        byte_buffer_deinit(&file->left_out);
        byte_buffer_deinit(&file->sources);
}
