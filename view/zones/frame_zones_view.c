/* SPDX-License-Identifier: MIT */
#include "view/zones/frame_zones_view.h"

#include "analyze/stats/frame_zones.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/event_names.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"

#include <stdlib.h>

/* A row that is shown; `key` NULL = the time of the thread that marks the frames outside of all zones. */
struct shown_row {
        const struct frame_zone_key *key;
        const struct frame_zone *sums;
        uint64_t ns; /* what it is sorted by */
};

/* The rows of one set, the most time first. */
struct shown_set {
        struct event_names *names;
        const struct frame_zones *zones;
        struct shown_row *rows; /* heap; with room for one more */
        size_t n_rows;
        uint32_t id;
        struct frame_zone outside; /* of zones, on the thread that marks */
};

struct text_view frame_zones_view_name(const struct event_names *n, const struct frame_stats *s, uint32_t set)
{
        const struct frame_set_key *key = intern_get(&s->keys, set, NULL);

        return key->name != 0 ? trace_dictionary_text(n->trace->dictionary, key->name)
                              : report_names_words("[main]");
}

static const struct frame_set *set_of(const struct shown_set *s)
{
        return &s->zones->stats->sets[s->id - 1];
}

static uint64_t less(uint64_t whole, uint64_t part)
{
        return whole > part ? whole - part : 0;
}

/* Finds the time of the frames that is outside of the zones on the thread that marks the frames. */
static void find_outside(struct shown_set *s)
{
        const struct frame_set *set = set_of(s);

        s->outside = (struct frame_zone){
                .total_ns = frame_set_split_ns(set, intern_get(&s->zones->stats->keys, s->id, NULL)),
        };
        for (uint32_t k = 0; k < set->n_slowest; k++)
                s->outside.slowest_ns[k] = set->slowest[k].duration_ns;
        for (size_t i = 0; i < s->n_rows; i++) {
                if (s->rows[i].key->is_marker == 0)
                        continue;
                s->outside.total_ns = less(s->outside.total_ns, s->rows[i].sums->total_ns);
                for (uint32_t k = 0; k < set->n_slowest; k++)
                        s->outside.slowest_ns[k] = less(s->outside.slowest_ns[k],
                                                        s->rows[i].sums->slowest_ns[k]);
        }
}

/* Returns false without memory. */
static bool collect(struct shown_set *s)
{
        const struct frame_zones *z = s->zones;

        s->n_rows = 0;
        s->rows = calloc((size_t)z->keys.n_items + 1, sizeof(*s->rows));
        if (!s->rows)
                return false;
        for (uint32_t i = 1; i <= z->keys.n_items; i++) {
                const struct frame_zone_key *key = intern_get(&z->keys, i, NULL);

                if (key->set == s->id)
                        s->rows[s->n_rows++] = (struct shown_row){ .key = key, .sums = &z->rows[i - 1] };
        }
        if (s->n_rows == 0)
                return true;
        find_outside(s);
        s->rows[s->n_rows++] = (struct shown_row){ .sums = &s->outside };
        return true;
}

static int compare(const void *a, const void *b)
{
        const struct shown_row *x = a, *y = b;

        if (x->ns != y->ns)
                return x->ns < y->ns ? 1 : -1;
        if (!x->key || !y->key)
                return !x->key - !y->key;
        return x->key < y->key ? -1 : x->key > y->key;
}

static void sort(struct shown_set *s)
{
        if (s->n_rows > 1)
                qsort(s->rows, s->n_rows, sizeof(*s->rows), compare);
}

static struct text_view name_of(const struct shown_set *s)
{
        return frame_zones_view_name(s->names, s->zones->stats, s->id);
}

static struct text_view zone_of(const struct shown_set *s, const struct shown_row *row)
{
        return row->key ? event_names_zone(s->names, row->key->location) : report_names_words("[no zone]");
}

static struct view_value thread_of(const struct shown_set *s, const struct shown_row *row)
{
        if (row->key && row->key->is_marker == 0)
                return view_words("others");
        return event_names_thread(s->names, set_of(s)->marker);
}

static struct view_value place_of(const struct shown_set *s, const struct shown_row *row)
{
        const struct trace_dictionary *d = s->names->trace->dictionary;
        const struct trace_location *location;

        if (!row->key)
                return view_unknown();
        location = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, row->key->location);
        return view_place(trace_dictionary_text(d, location->file), location->line);
}

/* clang-format off */
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "name", "frames", view_text(name_of(s)), "of the set of frames")                       \
        COLUMN(HANDLE, "handle", "id", view_handle('z', row->key ? row->key->location : 0), NULL)             \
        COLUMN(STRING, "zone", "zone", view_text(zone_of(s, row)),                                            \
               "[no zone], without a handle: time of the marking thread outside of zones")                    \
        COLUMN(SHARE, "share", "share", report_heading_share(row->sums->total_ns, split_ns),                  \
               "of the frames' time")                                                                         \
        COLUMN(DURATION, "mean_ns", "in a frame",                                                             \
               view_number(n_frames != 0 ? row->sums->total_ns / n_frames : 0), "in a frame")                 \
        COLUMN(SHARE, "slowest_share", "of slowest", report_heading_share(slow_ns, slowest_ns),               \
               "of the ten slowest frames' time")                                                             \
        COLUMN(DURATION, "total_ns", "total", view_number(row->sums->total_ns), NULL)                         \
        COLUMN(COUNT, "count", "count", view_known(row->sums->n_zones, row->key != NULL), NULL,               \
               .may_be_null = true)                                                                           \
        COLUMN(STRING, "thread", "thread", thread_of(s, row),                                                 \
               "name of the one that marks the frames, or others", .n_columns_max = 20, .may_go = true)       \
        COLUMN(PLACE, "place", "place", place_of(s, row), NULL, .n_columns_max = 24)
#define SLOW_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "name", "frames", view_text(name_of(s)), "of the set of frames")                       \
        COLUMN(COUNT, "number", "number", view_number(frame->number), "of its set, from 1")                   \
        COLUMN(DURATION, "duration_ns", "took", view_number(frame->duration_ns), "of the frame")              \
        COLUMN(HANDLE, "handle", "id", view_handle('z', row->key ? row->key->location : 0), NULL)             \
        COLUMN(STRING, "zone", "zone", view_text(zone_of(s, row)), "as in `zones`")                           \
        COLUMN(DURATION, "total_ns", "time", view_number(row->ns), "of the zone in the frame")                \
        COLUMN(SHARE, "share", "share", report_heading_share(row->ns, frame->duration_ns), "of the frame")    \
        COLUMN(STRING, "thread", "thread", thread_of(s, row), "as in `zones`", .n_columns_max = 20,           \
               .may_go = true)
/* clang-format on */

static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
static const struct view_column slow_columns[] = { SLOW_COLUMNS(VIEW_COLUMN) };
const struct answer_part frame_zones_view_part = ANSWER_TABLE(
        "zones", zone_columns,
        "a zone in the frames of a set, by the time; not there if no zone is in frames",
        .may_be_absent = true);
const struct answer_part frame_zones_view_slowest_part = ANSWER_TABLE(
        "slowest_zones", slow_columns, "a zone in one of the slowest frames", .may_be_absent = true);

static void put_row(const struct shown_set *s, struct view_table *t, const struct shown_row *row)
{
        struct view_document *d = s->names->document;
        const struct frame_set *set = set_of(s);
        uint64_t split_ns = frame_set_split_ns(set, intern_get(&s->zones->stats->keys, s->id, NULL));
        uint64_t n_frames = set->is_cut ? set->n_spans : set->durations_ns.n_values;
        uint64_t slow_ns = 0, slowest_ns = 0;

        for (uint32_t k = 0; k < set->n_slowest; k++) {
                slow_ns += row->sums->slowest_ns[k];
                slowest_ns += set->slowest[k].duration_ns;
        }
        ZONE_COLUMNS(VIEW_CELL)
}

static struct view_table *begin_table(struct event_names *n)
{
        struct view_table *t = view_document_add_part(n->document, &frame_zones_view_part,
                                                      "Zones in the frames");

        view_table_set_about(
                n->document, t,
                "the outermost zones in frames: one that is open when a frame is marked is around "
                "it; %% of the frames' time, all other threads together");
        return t;
}

static void warn_of_limits(struct event_names *n, const struct frame_zones *z)
{
        const struct frame_stats *s = z->stats;
        uint64_t n_cut = 0;

        for (uint32_t i = 0; i < s->n_sets; i++)
                if (s->sets[i].is_cut)
                        n_cut += s->sets[i].durations_ns.n_values - s->sets[i].n_spans;
        event_names_warn(n, n_cut, "later frames are not split among zones: there are too many");
        if (s->n_sets > FRAME_STATS_SPLIT_MAX)
                event_names_warn(n, s->n_sets - FRAME_STATS_SPLIT_MAX,
                                 "sets of frames after the first ones are not split among zones");
        event_names_warn(n, z->n_lost, "zones in frames at more places than are followed; left out");
}

void frame_zones_view_add(struct event_names *n, const struct frame_zones *z, uint32_t n_sets)
{
        struct view_table *t;
        size_t n_all = 0, n_shown = 0;

        if (z->keys.n_items == 0)
                return;
        t = begin_table(n);
        for (uint32_t id = 1; id <= n_sets && id <= FRAME_STATS_SPLIT_MAX; id++) {
                struct shown_set s = { .names = n, .zones = z, .id = id };

                if (!collect(&s)) {
                        n->document->failed = true;
                        return;
                }
                for (size_t i = 0; i < s.n_rows; i++)
                        s.rows[i].ns = s.rows[i].sums->total_ns;
                sort(&s);
                n_all += s.n_rows;
                for (size_t i = 0; i < s.n_rows && event_names_limit(n, NULL, n_all) > n_shown;
                     i++, n_shown++)
                        put_row(&s, t, &s.rows[i]);
                free(s.rows);
        }
        (void)event_names_limit(n, t, n_all);
        warn_of_limits(n, z);
}

static void put_slow_row(const struct shown_set *s, struct view_table *t, const struct shown_row *row,
                         uint32_t k)
{
        struct view_document *d = s->names->document;
        const struct slow_frame *frame = &set_of(s)->slowest[k];

        SLOW_COLUMNS(VIEW_CELL)
}

/*
 * Splits each of the slowest frames of one set by its zones.  A zone without time in a frame has no row
 * there.
 */
static void add_slowest_rows(struct shown_set *s, struct view_table *t, size_t *n_all, size_t *n_shown)
{
        for (uint32_t k = 0; k < set_of(s)->n_slowest; k++) {
                for (size_t i = 0; i < s->n_rows; i++)
                        s->rows[i].ns = s->rows[i].sums->slowest_ns[k];
                sort(s);
                for (size_t i = 0; i < s->n_rows && s->rows[i].ns != 0; i++) {
                        ++*n_all;
                        if (event_names_limit(s->names, NULL, *n_all) <= *n_shown)
                                continue;
                        ++*n_shown;
                        put_slow_row(s, t, &s->rows[i], k);
                }
        }
}

void frame_zones_view_add_slowest(struct event_names *n, const struct frame_zones *z, uint32_t n_sets)
{
        size_t n_all = 0, n_shown = 0;
        struct view_table *t;

        if (z->keys.n_items == 0)
                return;
        t = view_document_add_part(n->document, &frame_zones_view_slowest_part,
                                   "Zones in the slowest frames");
        for (uint32_t id = 1; id <= n_sets && id <= FRAME_STATS_SPLIT_MAX; id++) {
                struct shown_set s = { .names = n, .zones = z, .id = id };

                if (!collect(&s)) {
                        n->document->failed = true;
                        return;
                }
                add_slowest_rows(&s, t, &n_all, &n_shown);
                free(s.rows);
        }
        (void)event_names_limit(n, t, n_all);
}
