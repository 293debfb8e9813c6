/* SPDX-License-Identifier: MIT */
/*
 * timeline/timeline_hits.c: steps from hit to hit meet each span that has one of the names, once, in order of
 * time
 */
#include "base/error.h"
#include "base/io.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "timeline/timeline_directory.h"
#include "timeline/timeline_hits.h"
#include "timeline/timeline_index.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_LANES 5
#define N_NAMES 70

struct plain_hit {
        uint64_t begin, end;
        uint32_t lane, place, what;
};

struct plain_hits {
        struct plain_hit *hits; /* heap; all spans */
        size_t n;
};

static int compare_hits(const void *a, const void *b)
{
        const struct plain_hit *x = a, *y = b;

        if (x->begin != y->begin)
                return x->begin < y->begin ? -1 : 1;
        if (x->lane != y->lane)
                return x->lane < y->lane ? -1 : 1;
        return x->place < y->place ? -1 : x->place > y->place;
}

/* Many spans of several lanes begin at once, also of one lane. */
static void make_spans(struct timeline_index *t, struct plain_hits *all, size_t n_a_lane, uint64_t *random)
{
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_THREAD, .owner = 1 };
        int fd = io_open_unnamed(NULL), track;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(timeline_index_init(t, fd, 1000, 0), 0);
        track = timeline_index_track(t, &key);
        *all = (struct plain_hits){ .hits = calloc(N_LANES * n_a_lane + 1, sizeof(*all->hits)) };
        ck_assert_ptr_nonnull(all->hits);
        for (uint32_t lane = 0; lane < N_LANES; lane++) {
                int id = timeline_index_lane(t, (uint32_t)track,
                                             lane == 4 ? TIMELINE_LANE_STATES : TIMELINE_LANE_ZONES, lane);
                uint64_t at = 10;

                ck_assert_int_eq(id, (int)lane);
                for (uint32_t i = 0; i < n_a_lane; i++) {
                        uint64_t length = fixed_random_next(random) % 3 * 8;
                        uint32_t what = (uint32_t)(fixed_random_next(random) % N_NAMES);
                        struct timeline_raw_span raw = { 1000 + at, 1000 + at + length, what };

                        ck_assert_int_eq(timeline_index_add_span(t, lane, &raw, NULL), 0);
                        all->hits[all->n++] = (struct plain_hit){ at, at + length, lane, i, what };
                        at += length + fixed_random_next(random) % 2 * 8;
                }
        }
        qsort(all->hits, all->n, sizeof(*all->hits), compare_hits);
}

/* Keeps what is wanted: spans of zones whose name has a bit. */
static void keep_wanted(struct plain_hits *all, const struct timeline_wanted *wanted)
{
        size_t n = 0;

        for (size_t i = 0; i < all->n; i++)
                if (all->hits[i].lane != 4 && timeline_wanted_has(wanted, all->hits[i].what))
                        all->hits[n++] = all->hits[i];
        all->n = n;
}

static void check_hit(const struct plain_hit *hit, const struct timeline_found *found)
{
        ck_assert_uint_eq(found->begin_ns, hit->begin);
        ck_assert_uint_eq(found->end_ns, hit->end);
        ck_assert_uint_eq(found->lane, hit->lane);
        ck_assert_uint_eq(found->what, hit->what);
}

/* Forward through all, from the beginning or from any time, then back. */
static void check_steps(struct timeline_index *t, const struct timeline_wanted *wanted,
                        const struct plain_hits *all, size_t first)
{
        struct timeline_hit_place place = { .at_ns = first < all->n ? all->hits[first].begin : 0 };
        struct timeline_found found;

        while (first > 0 && all->hits[first - 1].begin == place.at_ns)
                first--;
        for (size_t i = first; i < all->n; i++) {
                ck_assert_int_eq(timeline_hits_step(t, wanted, &place, false, &found, NULL), 1);
                check_hit(&all->hits[i], &found);
                ck_assert_uint_eq(place.at_ns, found.begin_ns);
        }
        ck_assert_int_eq(timeline_hits_step(t, wanted, &place, false, &found, NULL), 0);
        if (all->n == 0)
                return;
        place = (struct timeline_hit_place){ .at_ns = UINT32_MAX };
        for (size_t i = all->n; i > 0; i--) {
                ck_assert_int_eq(timeline_hits_step(t, wanted, &place, true, &found, NULL), 1);
                check_hit(&all->hits[i - 1], &found);
        }
        ck_assert_int_eq(timeline_hits_step(t, wanted, &place, true, &found, NULL), 0);
}

static void check_counts(struct timeline_index *t, const struct timeline_wanted *wanted,
                         const struct plain_hits *all, uint64_t at)
{
        uint64_t by_name[N_NAMES] = { 0 }, expected[N_NAMES] = { 0 }, n_before = 0;
        uint64_t *by_what[TIMELINE_LANE_KIND_COUNT] = { [TIMELINE_LANE_ZONES] = by_name };
        struct timeline_hit_counts counts = { .by_what = by_what };

        for (size_t i = 0; i < all->n; i++) {
                expected[all->hits[i].what]++;
                n_before += all->hits[i].begin < at;
        }
        ck_assert_int_eq(timeline_hits_count(t, wanted, at, &counts, NULL), 0);
        ck_assert_uint_eq(counts.n, all->n);
        ck_assert_uint_eq(counts.n_before, n_before);
        ck_assert_mem_eq(by_name, expected, sizeof(by_name));
}

/* A saved index knows the counts as well: no page is read for those of all.  Without them, pages are read. */
static void check_saved(struct timeline_index *t, const struct timeline_wanted *wanted,
                        const struct plain_hits *all)
{
        struct timeline_identity identity = { .device = 1 };
        struct timeline_index saved;
        uint64_t n_read;

        ck_assert_int_eq(timeline_directory_save(t, &identity, NULL), 0);
        ck_assert_int_eq(timeline_directory_open(&saved, dup(t->pages.fd), NULL, NULL), 0);
        check_counts(&saved, wanted, all, 0);
        ck_assert_uint_eq(saved.pages.n_read, 0);
        check_counts(&saved, wanted, all, all->n > 0 ? all->hits[all->n / 2].begin : 5);
        saved.counts[TIMELINE_LANE_ZONES].is_known = false;
        n_read = saved.pages.n_read;
        check_counts(&saved, wanted, all, 0);
        ck_assert(all->n < 1000 || saved.pages.n_read > n_read);
        timeline_index_deinit(&saved);
}

/* An item whose number has no name: its kind is counted page by page, also in a saved index. */
START_TEST(numbers_of_no_name_are_not_counted_ahead)
{
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_THREAD, .owner = 1 };
        const struct timeline_raw_span spans[] = { { 1000, 1010, 3 }, { 1020, 1030, UINT32_MAX } };
        uint64_t bit = 1;
        struct timeline_wanted wanted[TIMELINE_LANE_KIND_COUNT] = { { .n = 0 } };
        struct timeline_hit_counts counts = { .by_what = NULL };
        struct timeline_identity identity = { .device = 1 };
        struct timeline_index t, saved;
        int fd = io_open_unnamed(NULL);

        ck_assert_int_eq(timeline_index_init(&t, fd, 1000, 0), 0);
        ck_assert_int_eq(
                timeline_index_lane(&t, (uint32_t)timeline_index_track(&t, &key), TIMELINE_LANE_ZONES, 0), 0);
        for (size_t i = 0; i < 2; i++)
                ck_assert_int_eq(timeline_index_add_span(&t, 0, &spans[i], NULL), 0);
        ck_assert_int_eq(timeline_directory_save(&t, &identity, NULL), 0);
        ck_assert_int_eq(timeline_directory_open(&saved, dup(fd), NULL, NULL), 0);
        for (uint32_t what = 3; what != 0; what = what == 3 ? UINT32_MAX : 0) {
                wanted[TIMELINE_LANE_ZONES] = (struct timeline_wanted){ &bit, what, 1,
                                                                        timeline_ref_bit(what) };
                ck_assert_int_eq(timeline_hits_count(&t, wanted, 0, &counts, NULL), 0);
                ck_assert_uint_eq(counts.n, 1);
                ck_assert_int_eq(timeline_hits_count(&saved, wanted, 0, &counts, NULL), 0);
                ck_assert_uint_eq(counts.n, 1);
        }
        timeline_index_deinit(&saved);
        timeline_index_deinit(&t);
}
END_TEST

/* The place of each hit, as if it had been found by its name alone. */
static void check_places(struct timeline_index *t, const struct timeline_wanted *wanted,
                         const struct plain_hits *all)
{
        for (size_t i = 0; i < all->n; i += 7) {
                const struct plain_hit *hit = &all->hits[i];
                const struct timeline_found found = { hit->lane, hit->what, hit->begin, hit->end, 0 };
                struct timeline_hit_place place;
                size_t first = i, same = i;

                while (first > 0 && all->hits[first - 1].begin == hit->begin)
                        first--;
                for (size_t k = i; k > first; k--)
                        if (all->hits[k - 1].lane == hit->lane && all->hits[k - 1].what == hit->what)
                                same = k - 1;
                ck_assert_int_eq(timeline_hits_place(t, wanted, &found, &place, NULL), 0);
                ck_assert_uint_eq(place.rank, same - first + 1);
        }
}

START_LOOP_TEST(steps_meet_each_hit_once_in_order, 0, 12)
{
        static const size_t sizes[] = { 0, 1, 300, 5000 };
        uint64_t random = 17 + (uint64_t)_i, bits[2] = { 0 };
        struct timeline_wanted names = { .bits = bits, .first = 0, .n = N_NAMES };
        struct timeline_wanted wanted[TIMELINE_LANE_KIND_COUNT] = { { .n = 0 } };
        struct timeline_index t;
        struct plain_hits all;

        /* One name, some, all. */
        for (uint32_t what = 0; what < N_NAMES; what++)
                if (_i % 3 == 2 || (_i % 3 == 1 ? what % 5 == 0 : what == 13)) {
                        bits[what / 64] |= UINT64_C(1) << what % 64;
                        names.ref_bits |= timeline_ref_bit(what);
                }
        wanted[TIMELINE_LANE_ZONES] = names;
        make_spans(&t, &all, sizes[_i / 3], &random);
        keep_wanted(&all, &names);
        check_steps(&t, wanted, &all, 0);
        check_steps(&t, wanted, &all, all.n / 2);
        check_counts(&t, wanted, &all, all.n > 0 ? all.hits[all.n / 3].begin : 5);
        check_saved(&t, wanted, &all);
        check_places(&t, wanted, &all);
        free(all.hits);
        timeline_index_deinit(&t);
}
END_TEST
