/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_query.c, timeline_lane.c, timeline_directory.c: a view is what a drawing of all spans,
 * one by one, would show
 */
#include "base/error.h"
#include "base/io.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_directory.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_lane.h"
#include "timeline/timeline_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_VIEWS 1000

struct plain_span {
        uint64_t begin, end;
        uint32_t what;
        double value;
};

struct plain_lane {
        struct plain_span *spans;
        size_t n;
        bool has_values;
};

struct plain_item {
        uint64_t begin, end, longest_begin, longest;
        double min, max, first, last;
        uint32_t what, count;
};

/*
 * The definition of a view of spans, word by word: all items of the lane, of which
 * those in the view are left.
 */
static size_t draw_spans(const struct plain_lane *lane, uint64_t from, uint64_t to, unsigned log2,
                         struct plain_item *items)
{
        uint64_t q = UINT64_C(1) << log2;
        size_t n = 0, n_left = 0;

        for (size_t i = 0; i < lane->n; i++) {
                const struct plain_span *s = &lane->spans[i];
                struct plain_item *before = n > 0 ? &items[n - 1] : NULL;

                if (s->end - s->begin < q && before && before->longest < q &&
                    before->begin / q == s->begin / q) {
                        before->end = s->end;
                        before->count++;
                        if (s->end - s->begin > before->longest) {
                                before->longest = s->end - s->begin;
                                before->longest_begin = s->begin;
                                before->what = s->what;
                        }
                        continue;
                }
                items[n++] = (struct plain_item){ s->begin, s->end, s->begin, s->end - s->begin, 0,
                                                  0,        0,      0,        s->what,           1 };
        }
        for (size_t i = 0; i < n; i++) {
                bool is_long = items[i].longest >= q;
                uint64_t begin = is_long ? items[i].begin : items[i].begin / q * q;
                uint64_t end = is_long || items[i].end > begin + q ? items[i].end : begin + q;

                if (begin < to && end > from)
                        items[n_left++] = items[i];
        }
        return n_left;
}

/* The same of values; the items before and after those in the view are left as well. */
static size_t draw_values(const struct plain_lane *lane, uint64_t from, uint64_t to, unsigned log2,
                          struct plain_item *items)
{
        uint64_t q = UINT64_C(1) << log2;
        size_t n = 0, first, end;

        for (size_t i = 0; i < lane->n; i++) {
                const struct plain_span *s = &lane->spans[i];
                struct plain_item *before = n > 0 ? &items[n - 1] : NULL;

                if (before && before->begin / q == s->begin / q) {
                        before->min = s->value < before->min ? s->value : before->min;
                        before->max = s->value > before->max ? s->value : before->max;
                        before->last = s->value;
                        before->count++;
                        continue;
                }
                items[n++] = (struct plain_item){ .begin = s->begin,
                                                  .min = s->value,
                                                  .max = s->value,
                                                  .first = s->value,
                                                  .last = s->value,
                                                  .count = 1 };
        }
        for (first = 0; first < n && items[first].begin / q < from / q; first++)
                ;
        for (end = first; end < n && items[end].begin / q <= (to - 1) / q; end++)
                ;
        first -= first > 0;
        end += end < n;
        memmove(items, items + first, (end - first) * sizeof(*items));
        return end - first;
}

static void check_items(const struct timeline_columns *c, const struct plain_item *items, size_t n,
                        bool has_values)
{
        ck_assert_uint_eq(c->n, n);
        for (size_t i = 0; i < n; i++) {
                ck_assert_double_eq(c->begin_ns[i], (double)items[i].begin);
                ck_assert_uint_eq(c->count[i], items[i].count);
                if (has_values) {
                        ck_assert_double_eq(c->min[i], items[i].min);
                        ck_assert_double_eq(c->max[i], items[i].max);
                        ck_assert_double_eq(c->first[i], items[i].first);
                        ck_assert_double_eq(c->last[i], items[i].last);
                        continue;
                }
                ck_assert_double_eq(c->end_ns[i], (double)items[i].end);
                ck_assert_double_eq(c->longest_begin_ns[i], (double)items[i].longest_begin);
                ck_assert_double_eq(c->longest_ns[i], (double)items[i].longest);
                ck_assert_uint_eq(c->what[i], items[i].what);
        }
}

static void check_search(struct timeline_index *t, uint32_t id, const struct plain_lane *lane,
                         uint64_t *random, uint64_t at)
{
        struct timeline_search search = { .lanes = &id,
                                          .n_lanes = 1,
                                          .at_ns = at,
                                          .is_backwards = fixed_random_next(random) % 2,
                                          .any = lane->has_values || fixed_random_next(random) % 2,
                                          .what = (uint32_t)(fixed_random_next(random) % 100) };
        const struct plain_span *best = NULL;
        struct timeline_found found;
        int r = timeline_query_find(t, &search, &found, NULL);

        for (size_t i = 0; i < lane->n; i++) {
                const struct plain_span *s = &lane->spans[i];

                if ((search.any || s->what == search.what) &&
                    (search.is_backwards ? s->begin < at : s->begin > at && !best))
                        best = s;
        }
        ck_assert_int_eq(r, best ? 1 : 0);
        if (best)
                ck_assert_uint_eq(found.begin_ns, best->begin);
        if (best && !lane->has_values)
                ck_assert_uint_eq(found.end_ns, best->end);
}

/* Views of all sizes, of any part of the lane, at any resolution that draws at most some thousand items. */
static void check_views(struct timeline_index *t, uint32_t id, const struct plain_lane *lane,
                        uint64_t *random, int n_views)
{
        uint64_t end = lane->n > 0 ? lane->spans[lane->n - 1].end + 2 : 2;
        struct plain_item *items = calloc(lane->n + 1, sizeof(*items));
        struct timeline_columns columns = { .n = 0 };
        struct error err = ERROR_NONE;

        ck_assert_ptr_nonnull(items);
        for (int i = 0; i < n_views; i++) {
                uint64_t length = 1 + (fixed_random_next(random) >> fixed_random_next(random) % 64) % end;
                uint64_t from = fixed_random_next(random) % end;
                unsigned log2 = (unsigned)(fixed_random_next(random) % 40);
                struct timeline_view view = { id, log2, from, from + length };
                int r;

                while (length >> log2 > 4000)
                        view.bucket_log2 = ++log2;
                r = timeline_query_view(t, &view, &columns, &err);
                ck_assert_msg(r == 0, "%s", err.text);
                check_items(&columns, items,
                            lane->has_values ? draw_values(lane, from, from + length, log2, items)
                                             : draw_spans(lane, from, from + length, log2, items),
                            lane->has_values);
                check_search(t, id, lane, random, from);
        }
        timeline_columns_deinit(&columns);
        free(items);
}

/* Bursts and pauses, spans of no length, neighbours that touch, equal lengths, one that is very long. */
static struct plain_span next_span(uint64_t *random, uint64_t at, bool has_values)
{
        struct plain_span s = { .what = (uint32_t)(fixed_random_next(random) % 60) };
        unsigned kind = (unsigned)(fixed_random_next(random) % 64);
        uint64_t pause = kind == 0   ? fixed_random_next(random) % 50000000
                         : kind < 16 ? fixed_random_next(random) % 3000
                                     : fixed_random_next(random) % 40;

        s.begin = at + (kind % 3 == 0 ? 0 : pause);
        s.end = s.begin + (kind == 5   ? fixed_random_next(random) % 1000000
                           : kind == 6 ? 0
                           : kind < 40 ? 16
                                       : fixed_random_next(random) % 500);
        if (has_values)
                s.end = s.begin;
        s.value = (double)(int64_t)(fixed_random_next(random) % 2000) - 1000;
        return s;
}

static void add_plain(struct timeline_index *t, uint32_t id, struct plain_lane *lane, size_t n,
                      uint64_t *random)
{
        for (size_t i = 0; i < n; i++) {
                uint64_t at = lane->n > 0 ? lane->spans[lane->n - 1].end : 7;
                struct plain_span s = next_span(random, at, lane->has_values);
                struct timeline_raw_span raw = { 1000 + s.begin, 1000 + s.end, s.what };

                lane->spans[lane->n++] = s;
                ck_assert_int_eq(lane->has_values
                                         ? timeline_index_add_value(t, id, 1000 + s.begin, s.value, NULL)
                                         : timeline_index_add_span(t, id, &raw, NULL),
                                 0);
        }
}

static void begin_index(struct timeline_index *t)
{
        int fd = io_open_unnamed(NULL);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(timeline_index_init(t, fd, 1000, 0), 0);
}

static uint32_t begin_lane(struct timeline_index *t, struct plain_lane *lane, size_t capacity,
                           bool has_values)
{
        struct timeline_track_key key = { .kind = TIMELINE_TRACK_THREAD, .owner = 1 };
        int track = timeline_index_track(t, &key);
        int id = timeline_index_lane(t, (uint32_t)track,
                                     has_values ? TIMELINE_LANE_PLOT : TIMELINE_LANE_ZONES, 0);

        ck_assert_int_ge(id, 0);
        *lane = (struct plain_lane){ .spans = calloc(capacity, sizeof(*lane->spans)),
                                     .has_values = has_values };
        ck_assert_ptr_nonnull(lane->spans);
        return (uint32_t)id;
}

static void reopen(struct timeline_index *saved, const struct timeline_index *t)
{
        struct error err = ERROR_NONE;
        int r = timeline_directory_open(saved, dup(t->pages.fd), NULL, &err);

        ck_assert_msg(r == 0, "%s", err.text);
}

/* The random numbers of a loop are its own; lanes of spans and of values in turns. */
START_LOOP_TEST(views_equal_a_drawing_of_all_spans, 0, 12)
{
        static const size_t sizes[] = { 0, 1, 33, 256, 257, 20000 };
        uint64_t random = 4711 + (uint64_t)_i;
        struct timeline_identity identity = { .device = 1 };
        struct timeline_index t, saved;
        struct plain_lane lane;
        uint32_t id;

        begin_index(&t);
        id = begin_lane(&t, &lane, sizes[_i / 2] + 1, _i % 2);
        add_plain(&t, id, &lane, sizes[_i / 2], &random);
        check_views(&t, id, &lane, &random, N_VIEWS / 4);
        ck_assert_int_eq(timeline_directory_save(&t, &identity, NULL), 0);
        reopen(&saved, &t);
        check_views(&saved, id, &lane, &random, N_VIEWS / 4);
        timeline_index_deinit(&saved);
        timeline_index_deinit(&t);
        free(lane.spans);
}
END_TEST

/* Questions in between change nothing, nor do pages that are written before they are full, nor a save. */
START_LOOP_TEST(views_are_the_same_while_it_grows, 0, 2)
{
        uint64_t random = 99 + (uint64_t)_i;
        struct timeline_identity identity = { .device = 1 };
        struct timeline_index t, saved;
        struct plain_lane lane;
        uint32_t id;

        begin_index(&t);
        id = begin_lane(&t, &lane, 60000, _i);
        for (int piece = 0; piece < 40; piece++) {
                add_plain(&t, id, &lane, 1 + fixed_random_next(&random) % 1000, &random);
                t.open_bytes_max = piece % 3 == 0 ? 0 : TIMELINE_OPEN_BYTES_MAX;
                check_views(&t, id, &lane, &random, N_VIEWS / 40);
                if (piece % 10 != 9)
                        continue;
                ck_assert_int_eq(timeline_directory_save(&t, &identity, NULL), 0);
                reopen(&saved, &t);
                check_views(&saved, id, &lane, &random, 10);
                timeline_index_deinit(&saved);
        }
        timeline_index_deinit(&t);
        free(lane.spans);
}
END_TEST

/* No recorder writes such times: spans of a lane are in order and do not overlap, whatever is added. */
START_TEST(spans_out_of_order_are_moved)
{
        static const struct timeline_raw_span spans[] = {
                { 1100, 1200, 1 }, { 1150, 1300, 2 }, { 1000, 900, 3 }, { 500, 1400, 4 }, { UINT64_MAX, 0, 5 }
        };
        static const double begins[] = { 100, 200, 300, 300 }, ends[] = { 200, 300, 300, 400 };
        struct timeline_view view = { .to_ns = UINT64_MAX };
        struct timeline_columns c = { .n = 0 };
        struct timeline_index t;
        struct plain_lane lane;

        begin_index(&t);
        view.lane = begin_lane(&t, &lane, 1, false);
        for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
                ck_assert_int_eq(timeline_index_add_span(&t, view.lane, &spans[i], NULL), 0);
        ck_assert_int_eq(timeline_query_view(&t, &view, &c, NULL), 0);
        ck_assert_uint_eq(c.n, 5);
        for (size_t i = 0; i < 4; i++) {
                ck_assert_double_eq(c.begin_ns[i], begins[i]);
                ck_assert_double_eq(c.end_ns[i], ends[i]);
        }
        ck_assert_double_eq(c.begin_ns[4], (double)TIMELINE_TIME_MAX);
        timeline_columns_deinit(&c);
        timeline_index_deinit(&t);
        free(lane.spans);
}
END_TEST

/* Open pages are written early when lanes are more than fit into memory: views stay the same. */
START_TEST(views_are_the_same_when_all_pages_are_written_early)
{
        uint64_t random = 5;
        struct timeline_index t;
        struct plain_lane lane;
        uint32_t id;

        begin_index(&t);
        id = begin_lane(&t, &lane, 60000, false);
        for (int piece = 0; piece < 40; piece++) {
                add_plain(&t, id, &lane, 1 + fixed_random_next(&random) % 1000, &random);
                ck_assert_int_eq(timeline_lane_flush(&t.pages, t.lanes[id], piece % 4 == 0, NULL), 0);
                for (uint32_t level = 1; level < t.lanes[id]->n_levels; level++)
                        ck_assert_ptr_null(t.lanes[id]->nodes[level - 1]); /* it takes no memory */
                check_views(&t, id, &lane, &random, N_VIEWS / 40);
        }
        timeline_index_deinit(&t);
        free(lane.spans);
}
END_TEST
