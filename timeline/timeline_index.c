/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_index.h"

#include "base/array.h"
#include "base/error.h"
#include "timeline/timeline_lane.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * If more pages are open than allowed, all but the highest levels are written out; with very many lanes,
 * these as well.
 */
#define OPEN_BYTES_STEP    (UINT64_C(64) << 20)
#define OPEN_BYTES_HARD    (UINT64_C(224) << 20)
#define LEVELS_BEFORE_HARD 12

#define WHATS_COUNTED_MAX (UINT32_C(1) << 24)

/* Their `what` is the number of a name, counted from 0 or 1. */
static const enum timeline_lane_kind counted_kinds[] = { TIMELINE_LANE_ZONES, TIMELINE_LANE_DEVICE,
                                                         TIMELINE_LANE_GHOSTS, TIMELINE_LANE_MESSAGES,
                                                         TIMELINE_LANE_TEXTS };

#define MESSAGES_MAX       (UINT32_C(1) << 20)
#define MESSAGES_BYTES_MAX (UINT32_C(64) << 20)

static const char *const lane_names[] = {
#define X(name, text) [TIMELINE_LANE_##name] = (text),
        TIMELINE_LANE_KINDS(X)
#undef X
};

static const char *const track_names[] = {
#define X(name, text) [TIMELINE_TRACK_##name] = (text),
        TIMELINE_TRACK_KINDS(X)
#undef X
};

const char *timeline_lane_kind_name(uint32_t kind)
{
        return kind < TIMELINE_LANE_KIND_COUNT ? lane_names[kind] : "";
}

const char *timeline_track_kind_name(uint32_t kind)
{
        return kind < TIMELINE_TRACK_KIND_COUNT ? track_names[kind] : "";
}

int timeline_index_init(struct timeline_index *t, int fd, uint64_t start_ns, uint64_t duration_ns)
{
        *t = (struct timeline_index){ .start_ns = start_ns,
                                      .duration_ns = duration_ns,
                                      .open_bytes_max = TIMELINE_OPEN_BYTES_MAX };
        while (duration_ns >> t->unit_log2 > TIMELINE_TIME_MAX)
                t->unit_log2++;
        intern_init(&t->keys, sizeof(struct timeline_track_key), 0);
        intern_init(&t->messages, 0, MESSAGES_MAX);
        t->messages.items_bytes_max = MESSAGES_BYTES_MAX;
        intern_init(&t->zone_texts, 0, MESSAGES_MAX);
        t->zone_texts.items_bytes_max = MESSAGES_BYTES_MAX;
        for (size_t i = 0; i < sizeof(counted_kinds) / sizeof(counted_kinds[0]); i++)
                t->counts[counted_kinds[i]].is_known = true;
        return timeline_pages_init(&t->pages, fd, TIMELINE_HEAD_BYTES);
}

void timeline_index_deinit(struct timeline_index *t)
{
        for (uint32_t i = 0; i < t->n_lanes; i++)
                timeline_lane_free(&t->pages, t->lanes[i]);
        free(t->lanes);
        free(t->tracks);
        free(t->launches);
        free(t->launches_by_device);
        for (size_t i = 0; i < TIMELINE_LANE_KIND_COUNT; i++)
                free(t->counts[i].by_what);
        byte_buffer_deinit(&t->texts);
        intern_deinit(&t->keys);
        intern_deinit(&t->messages);
        intern_deinit(&t->zone_texts);
        timeline_pages_deinit(&t->pages);
        *t = (struct timeline_index){ .pages = { .fd = -1 } };
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

int timeline_index_track(struct timeline_index *t, const struct timeline_track_key *key)
{
        uint32_t id;
        int r = array_reserve(&t->tracks, &t->tracks_capacity, (size_t)t->n_tracks + 1, sizeof(*t->tracks));

        if (r < 0)
                return r;
        if (t->n_tracks == TIMELINE_LANES_MAX && intern_find(&t->keys, key, sizeof(*key)) == 0)
                return -EOVERFLOW;
        r = intern_add(&t->keys, key, sizeof(*key), &id);
        if (r == 1)
                t->tracks[t->n_tracks++] = (struct timeline_track){ .kind = key->kind,
                                                                    .number = key->number };
        return r < 0 ? r : (int)(id - 1);
}

static int add_words(struct timeline_index *t, struct text_view text, uint32_t *ret_at, uint32_t *ret_bytes)
{
        size_t n_bytes = text.n_bytes < TIMELINE_TITLE_MAX ? text.n_bytes : TIMELINE_TITLE_MAX;
        size_t at = t->texts.used_bytes;

        if (text.n_bytes == 0)
                return 0;
        byte_buffer_add(&t->texts, text.bytes, n_bytes);
        if (t->texts.failed || t->texts.used_bytes > UINT32_MAX)
                return -ENOMEM;
        *ret_at = (uint32_t)at;
        *ret_bytes = (uint32_t)n_bytes;
        return 0;
}

int timeline_index_set_title(struct timeline_index *t, uint32_t track, struct text_view title)
{
        return add_words(t, title, &t->tracks[track].title, &t->tracks[track].title_bytes);
}

int timeline_index_set_unit(struct timeline_index *t, uint32_t track, struct text_view unit)
{
        return add_words(t, unit, &t->tracks[track].unit, &t->tracks[track].unit_bytes);
}

static struct text_view view_words(const struct timeline_index *t, uint32_t at, uint32_t n_bytes)
{
        if (n_bytes == 0)
                return (struct text_view){ .bytes = NULL };
        return (struct text_view){ .bytes = (const char *)t->texts.data + at, .n_bytes = n_bytes };
}

struct text_view timeline_index_title(const struct timeline_index *t, uint32_t track)
{
        return view_words(t, t->tracks[track].title, t->tracks[track].title_bytes);
}

struct text_view timeline_index_unit(const struct timeline_index *t, uint32_t track)
{
        return view_words(t, t->tracks[track].unit, t->tracks[track].unit_bytes);
}

static int add_text(struct intern *texts, struct text_view text, uint32_t *ret_what)
{
        int r = intern_add(texts, text.bytes, text.n_bytes, ret_what);

        if (r == -EOVERFLOW)
                *ret_what = 0;
        return r == -ENOMEM ? r : 0;
}

int timeline_index_add_message(struct timeline_index *t, struct text_view text, uint32_t *ret_what)
{
        return add_text(&t->messages, text, ret_what);
}

int timeline_index_add_zone_text(struct timeline_index *t, struct text_view text, uint32_t *ret_what)
{
        int r = add_text(&t->zone_texts, text, ret_what);

        t->n_texts_left_out += r == 0 && *ret_what == 0;
        return r;
}

static struct text_view text_of(const struct intern *texts, uint32_t what)
{
        struct text_view text = { .bytes = NULL };

        if (what != 0 && what <= texts->n_items)
                text.bytes = intern_get(texts, what, &text.n_bytes);
        return text;
}

struct text_view timeline_index_text(const struct timeline_index *t, uint32_t what)
{
        return text_of(&t->messages, what);
}

struct text_view timeline_index_zone_text(const struct timeline_index *t, uint32_t what)
{
        return text_of(&t->zone_texts, what);
}

/* ---- lanes --------------------------------------------------------------------------------------------- */

int timeline_index_lane(struct timeline_index *t, uint32_t track, enum timeline_lane_kind kind,
                        uint32_t depth)
{
        struct timeline_lane *lane;

        if (t->n_lanes == TIMELINE_LANES_MAX)
                return -EOVERFLOW;
        if (array_reserve(&t->lanes, &t->lanes_capacity, (size_t)t->n_lanes + 1,
                          sizeof(struct timeline_lane *)) < 0)
                return -ENOMEM;
        lane = calloc(1, sizeof(*lane));
        if (!lane)
                return -ENOMEM;
        lane->track = track;
        lane->kind = kind;
        lane->depth = depth;
        lane->has_values = kind == TIMELINE_LANE_PLOT || kind == TIMELINE_LANE_CPU_TIME;
        t->lanes[t->n_lanes] = lane;
        return (int)t->n_lanes++;
}

/*
 * Bounds the memory by writing open pages to the file.  The nodes of the highest levels stay in memory, so
 * the limit is raised: the next flush comes only when more pages are open again.
 */
static int flush_lanes(struct timeline_index *t, struct error *err)
{
        int r = 0;

        for (uint32_t i = 0; i < t->n_lanes && r == 0; i++)
                r = timeline_lane_flush(&t->pages, t->lanes[i], false, err);
        if (r == 0 && t->pages.open_bytes > OPEN_BYTES_HARD)
                for (uint32_t i = 0; i < t->n_lanes && r == 0; i++)
                        r = timeline_lane_flush(&t->pages, t->lanes[i],
                                                t->lanes[i]->n_levels < LEVELS_BEFORE_HARD, err);
        if (t->open_bytes_max < t->pages.open_bytes + OPEN_BYTES_STEP)
                t->open_bytes_max = t->pages.open_bytes + OPEN_BYTES_STEP;
        return r;
}

static uint64_t to_units(const struct timeline_index *t, uint64_t raw_ns)
{
        uint64_t units = raw_ns > t->start_ns ? (raw_ns - t->start_ns) >> t->unit_log2 : 0;

        return units < TIMELINE_TIME_MAX ? units : TIMELINE_TIME_MAX;
}

uint64_t timeline_index_time(const struct timeline_index *t, uint64_t raw_ns)
{
        return to_units(t, raw_ns) << t->unit_log2;
}

int timeline_counts_reserve(struct timeline_counts *counts, uint32_t what)
{
        size_t n = 64;
        uint64_t *larger;

        if (what < counts->n)
                return 0;
        if (what >= WHATS_COUNTED_MAX)
                return -EOVERFLOW;
        while (n <= what)
                n *= 2;
        larger = realloc(counts->by_what, n * sizeof(*larger));
        if (!larger)
                return -ENOMEM;
        memset(larger + counts->n, 0, (n - counts->n) * sizeof(*larger));
        counts->by_what = larger;
        counts->n = n;
        return 0;
}

static int count_what(struct timeline_counts *counts, uint32_t what)
{
        int r = counts->is_known ? timeline_counts_reserve(counts, what) : -EOVERFLOW;

        if (r == 0)
                counts->by_what[what]++;
        else if (r == -EOVERFLOW)
                counts->is_known = false;
        return r == -ENOMEM ? r : 0;
}

int timeline_index_add_span(struct timeline_index *t, uint32_t lane, const struct timeline_raw_span *span,
                            struct error *err)
{
        int r = timeline_lane_add(&t->pages, t->lanes[lane], to_units(t, span->begin_ns),
                                  to_units(t, span->end_ns), span->what, err);

        if (r == 0 && count_what(&t->counts[t->lanes[lane]->kind], span->what) < 0)
                r = error_set(err, -ENOMEM, "the index of the time line: out of memory");
        return r == 0 && t->pages.open_bytes > t->open_bytes_max ? flush_lanes(t, err) : r;
}

int timeline_index_add_value(struct timeline_index *t, uint32_t lane, uint64_t raw_ns, double value,
                             struct error *err)
{
        int r;

        if (!isfinite(value)) {
                t->n_left_out++;
                return 0;
        }
        r = timeline_lane_add_value(&t->pages, t->lanes[lane], to_units(t, raw_ns), value, err);
        return r == 0 && t->pages.open_bytes > t->open_bytes_max ? flush_lanes(t, err) : r;
}

struct timeline_lane_facts timeline_index_lane_facts(const struct timeline_index *t, uint32_t lane)
{
        const struct timeline_lane *l = t->lanes[lane];

        return (struct timeline_lane_facts){
                .kind = l->kind,
                .track = l->track,
                .depth = l->depth,
                .has_values = l->has_values,
                .n_items = l->n_items,
                .first_ns = l->first_begin << t->unit_log2,
                .last_ns = l->last_end << t->unit_log2,
        };
}
