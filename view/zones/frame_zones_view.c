/* SPDX-License-Identifier: MIT */
#include "view/zones/frame_zones_view.h"

#include "analyze/stats/frame_zones.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/view_document.h"
#include "view/shared/event_names.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"

#include <stdlib.h>

static const struct view_column zone_columns[] = {
        { .key = "name", .title = "frames", .type = VIEW_STRING },
        { .key = "handle", .title = "id", .type = VIEW_HANDLE, .n_columns_max = 8 },
        { .key = "zone", .title = "zone", .type = VIEW_STRING },
        { .key = "share", .title = "share", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "mean_ns", .title = "in a frame", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "slowest_share", .title = "of slowest", .type = VIEW_SHARE, .n_columns_max = 10 },
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "thread", .title = "thread", .type = VIEW_STRING, .n_columns_max = 20, .may_go = true },
        { .key = "place", .title = "place", .type = VIEW_PLACE, .n_columns_max = 24 },
};

static const struct view_column slow_columns[] = {
        { .key = "name", .title = "frames", .type = VIEW_STRING },
        { .key = "number", .title = "number", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "duration_ns", .title = "took", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "handle", .title = "id", .type = VIEW_HANDLE, .n_columns_max = 8 },
        { .key = "zone", .title = "zone", .type = VIEW_STRING },
        { .key = "total_ns", .title = "time", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "share", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "thread", .title = "thread", .type = VIEW_STRING, .n_columns_max = 20, .may_go = true },
};

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

static void put_zone(const struct shown_set *s, struct view_table *t, const struct shown_row *row)
{
        struct view_document *document = s->names->document;

        if (!row->key) {
                view_table_put_unknown(document, t);
                view_table_put_words(document, t, "[no zone]");
                return;
        }
        view_table_put_handle(document, t, 'z', row->key->location);
        view_table_put_string(document, t, event_names_zone(s->names, row->key->location));
}

static void put_thread(const struct shown_set *s, struct view_table *t, const struct shown_row *row)
{
        if (row->key && row->key->is_marker == 0)
                view_table_put_words(s->names->document, t, "others");
        else
                event_names_put_thread(s->names, t, set_of(s)->marker);
}

static void put_place(const struct shown_set *s, struct view_table *t, const struct shown_row *row)
{
        const struct trace_dictionary *d = s->names->trace->dictionary;
        const struct trace_location *location;

        if (!row->key) {
                view_table_put_unknown(s->names->document, t);
                return;
        }
        location = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, row->key->location);
        view_table_put_place(s->names->document, t, trace_dictionary_text(d, location->file), location->line);
}

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
        view_table_put_string(d, t, frame_zones_view_name(s->names, s->zones->stats, s->id));
        put_zone(s, t, row);
        report_heading_put_share(d, t, row->sums->total_ns, split_ns, true);
        view_table_put_number(d, t, n_frames != 0 ? row->sums->total_ns / n_frames : 0);
        report_heading_put_share(d, t, slow_ns, slowest_ns, true);
        view_table_put_number(d, t, row->sums->total_ns);
        event_names_put_known(s->names, t, row->sums->n_zones, row->key != NULL);
        put_thread(s, t, row);
        put_place(s, t, row);
}

static struct view_table *begin_table(struct event_names *n)
{
        struct view_table *t = view_document_add_table(n->document, "zones", "Zones in the frames",
                                                       zone_columns,
                                                       sizeof(zone_columns) / sizeof(zone_columns[0]));

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

        view_table_put_string(d, t, frame_zones_view_name(s->names, s->zones->stats, s->id));
        view_table_put_number(d, t, frame->number);
        view_table_put_number(d, t, frame->duration_ns);
        put_zone(s, t, row);
        view_table_put_number(d, t, row->ns);
        report_heading_put_share(d, t, row->ns, frame->duration_ns, true);
        put_thread(s, t, row);
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
        t = view_document_add_table(n->document, "slowest_zones", "Zones in the slowest frames", slow_columns,
                                    sizeof(slow_columns) / sizeof(slow_columns[0]));
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
