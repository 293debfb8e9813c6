/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/address_space.c: each address belongs to the mapping that covered it last, and to the
 * right byte of its file
 */
#include "sampler/tracks/address_space.h"
#include "tests/unit/unit_test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_ADDRESSES 512

static void add(struct address_space *s, uint64_t start, uint64_t end, uint64_t file_off, uint32_t module)
{
        struct address_range range = {
                .start_avma = start, .end_avma = end, .file_offset_bytes = file_off, .module = module
        };

        ck_assert_int_eq(address_space_add(s, &range), 0);
}

struct overlap {
        uint64_t start, end; /* put over 100..200 of module 1, from byte 1000 on, with 300..400 after it */
        size_t n_left;       /* ranges there are then */
        struct address_range left[4]; /* which; module 2 is the new one, from byte 5000 on */
};

static const struct overlap overlaps[] = {
        { 0, 50, 3, { { 0, 50, 5000, 2 }, { 100, 200, 1000, 1 }, { 300, 400, 0, 3 } } },
        { 0, 100, 3, { { 0, 100, 5000, 2 }, { 100, 200, 1000, 1 }, { 300, 400, 0, 3 } } },
        { 200, 300, 3, { { 100, 200, 1000, 1 }, { 200, 300, 5000, 2 }, { 300, 400, 0, 3 } } },
        { 450, 460, 3, { { 100, 200, 1000, 1 }, { 300, 400, 0, 3 }, { 450, 460, 5000, 2 } } },
        { 100, 200, 2, { { 100, 200, 5000, 2 }, { 300, 400, 0, 3 } } },
        { 50, 250, 2, { { 50, 250, 5000, 2 }, { 300, 400, 0, 3 } } },
        { 50, 150, 3, { { 50, 150, 5000, 2 }, { 150, 200, 1050, 1 }, { 300, 400, 0, 3 } } },
        { 100, 110, 3, { { 100, 110, 5000, 2 }, { 110, 200, 1010, 1 }, { 300, 400, 0, 3 } } },
        { 150, 250, 3, { { 100, 150, 1000, 1 }, { 150, 250, 5000, 2 }, { 300, 400, 0, 3 } } },
        { 120,
          140,
          4,
          { { 100, 120, 1000, 1 }, { 120, 140, 5000, 2 }, { 140, 200, 1040, 1 }, { 300, 400, 0, 3 } } },
        { 150, 350, 3, { { 100, 150, 1000, 1 }, { 150, 350, 5000, 2 }, { 350, 400, 50, 3 } } },
        { 0, UINT64_MAX, 1, { { 0, UINT64_MAX, 5000, 2 } } },
        { 150, 150, 2, { { 100, 200, 1000, 1 }, { 300, 400, 0, 3 } } },
        { 160, 150, 2, { { 100, 200, 1000, 1 }, { 300, 400, 0, 3 } } },
};
#define N_OVERLAPS ((int)(sizeof(overlaps) / sizeof(overlaps[0])))

/* loop test */
START_LOOP_TEST(test_overlap, 0, N_OVERLAPS)
{
        const struct overlap *o = &overlaps[_i];
        struct address_space s;

        address_space_init(&s);
        add(&s, 300, 400, 0, 3);
        add(&s, 100, 200, 1000, 1);
        add(&s, o->start, o->end, 5000, 2);
        ck_assert_uint_eq(s.n_ranges, o->n_left);
        for (size_t i = 0; i < o->n_left; i++) {
                ck_assert_uint_eq(s.ranges[i].start_avma, o->left[i].start_avma);
                ck_assert_uint_eq(s.ranges[i].end_avma, o->left[i].end_avma);
                ck_assert_uint_eq(s.ranges[i].file_offset_bytes, o->left[i].file_offset_bytes);
                ck_assert_uint_eq(s.ranges[i].module, o->left[i].module);
        }
        address_space_deinit(&s);
}
END_TEST

START_TEST(test_find_at_edges)
{
        struct address_space s;

        address_space_init(&s);
        ck_assert_ptr_null(address_space_find(&s, 0));
        add(&s, 100, 200, 0, 1);
        add(&s, 200, 300, 0, 2);
        add(&s, UINT64_MAX - 10, UINT64_MAX, 0, 3);
        ck_assert_ptr_null(address_space_find(&s, 99));
        ck_assert_uint_eq(address_space_find(&s, 100)->module, 1);
        ck_assert_uint_eq(address_space_find(&s, 199)->module, 1);
        ck_assert_uint_eq(address_space_find(&s, 200)->module, 2);
        ck_assert_ptr_null(address_space_find(&s, 300));
        ck_assert_uint_eq(address_space_find(&s, UINT64_MAX - 1)->module, 3);
        ck_assert_ptr_null(address_space_find(&s, UINT64_MAX));
        address_space_clear(&s);
        ck_assert_ptr_null(address_space_find(&s, 100));
        address_space_deinit(&s);
}
END_TEST

/* A fork has what its parent had then, and goes its own way from there on. */
START_TEST(test_copy)
{
        struct address_space parent, child;

        address_space_init(&parent);
        address_space_init(&child);
        add(&child, 0, 10, 0, 9);
        ck_assert_int_eq(address_space_copy(&child, &parent), 0);
        ck_assert_ptr_null(address_space_find(&child, 5));

        add(&parent, 100, 200, 7, 1);
        add(&parent, 300, 400, 8, 2);
        ck_assert_int_eq(address_space_copy(&child, &parent), 0);
        add(&parent, 100, 400, 0, 3);
        ck_assert_uint_eq(child.n_ranges, 2);
        ck_assert_uint_eq(address_space_find(&child, 150)->module, 1);
        ck_assert_uint_eq(address_space_find(&child, 350)->file_offset_bytes, 8);
        ck_assert_uint_eq(parent.n_ranges, 1);
        address_space_deinit(&parent);
        address_space_deinit(&child);
}
END_TEST

/* The expected answers of the address space, address by address. */
struct byte_map {
        uint32_t modules[N_ADDRESSES]; /* 0 = nothing there */
        uint64_t file_offs[N_ADDRESSES];
};

static void expect_same(const struct address_space *s, const struct byte_map *map)
{
        for (size_t i = 0; i < s->n_ranges; i++) {
                ck_assert_uint_lt(s->ranges[i].start_avma, s->ranges[i].end_avma);
                if (i > 0)
                        ck_assert_uint_le(s->ranges[i - 1].end_avma, s->ranges[i].start_avma);
        }
        for (uint64_t a = 0; a < N_ADDRESSES; a++) {
                const struct address_range *range = address_space_find(s, a);

                /* A million of them: an assertion of each takes minutes on an emulated machine. */
                if ((range ? range->module : 0) != map->modules[a] ||
                    (range && range->file_offset_bytes + (a - range->start_avma) != map->file_offs[a]))
                        ck_abort_msg("another answer at %" PRIu64, a);
        }
}

/* loop test: random mappings of many lengths, each time from another seed */
START_LOOP_TEST(test_random_ranges, 0, 5)
{
        uint64_t seed = (uint64_t)_i;
        struct address_space s;
        struct byte_map map;

        memset(&map, 0, sizeof(map));
        address_space_init(&s);
        for (uint32_t module = 1; module <= 400; module++) {
                uint64_t start, end, file_off;

                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                start = (seed >> 33) % N_ADDRESSES;
                end = start + (seed >> 20) % (UINT64_C(1) << module % 8);
                file_off = (seed >> 45) % 10000;
                if (end > N_ADDRESSES)
                        end = N_ADDRESSES;
                add(&s, start, end, file_off, module);
                for (uint64_t a = start; a < end; a++) {
                        map.modules[a] = module;
                        map.file_offs[a] = file_off + (a - start);
                }
                expect_same(&s, &map);
        }
        address_space_deinit(&s);
}
END_TEST

/* Each change is one, and what changes nothing is none. */
START_TEST(test_generation)
{
        struct address_space s, copy;

        address_space_init(&s);
        address_space_init(&copy);
        add(&s, 100, 200, 1000, 1);
        s.generation = 7;
        add(&s, 100, 200, 1000, 1); /* the whole of it, and a part: there already */
        add(&s, 150, 180, 1050, 1);
        add(&s, 150, 150, 0, 9);
        ck_assert_uint_eq(s.generation, 7);
        ck_assert_int_eq(address_space_copy(&copy, &s), 0);
        ck_assert_uint_eq(copy.generation, 7);
        add(&s, 150, 180, 1051, 1); /* another byte of the file */
        ck_assert_uint_eq(s.generation, 0);
        ck_assert_uint_eq(copy.generation, 7);
        s.generation = 8;
        add(&s, 100, 110, 1000, 2); /* another file */
        ck_assert_uint_eq(s.generation, 0);
        s.generation = 9;
        add(&s, 150, 250, 1051, 1); /* and more */
        ck_assert_uint_eq(s.generation, 0);
        s.generation = 10;
        address_space_clear(&s);
        ck_assert_uint_eq(s.generation, 0);
        address_space_deinit(&s);
        address_space_deinit(&copy);
}
END_TEST

/* Only what would take something away covers it: a gap, or the same mapping told again, does not. */
START_TEST(test_covers)
{
        static const struct {
                struct address_range range;
                bool covers;
        } ranges[] = {
                { { 0, 100, 0, 2 }, false },      { { 200, 300, 0, 2 }, false },
                { { 199, 300, 0, 2 }, true },     { { 0, 101, 0, 2 }, true },
                { { 0, 500, 0, 2 }, true },       { { 120, 120, 0, 2 }, false },
                { { 120, 140, 1020, 1 }, false }, { { 120, 140, 1021, 1 }, true },
        };
        struct address_space s;

        address_space_init(&s);
        add(&s, 100, 200, 1000, 1);
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
                ck_assert_int_eq(address_space_covers(&s, &ranges[i].range), ranges[i].covers);
        address_space_deinit(&s);
}
END_TEST

/* The module at an address is the one that was there at the time, or none when that is not known. */
START_TEST(test_earlier_spaces)
{
        struct earlier_spaces earlier = { .items = NULL };
        struct address_space s;

        address_space_init(&s);
        ck_assert_ptr_null(earlier_spaces_find(&earlier, 0));
        for (uint32_t i = 1; i <= EARLIER_SPACES_MAX + 10; i++) {
                if (i > 1)
                        ck_assert_int_eq(earlier_spaces_keep(&earlier, &s, 10 * i), 0);
                add(&s, 100, 200, 0, i);
        }
        /* module i is there from 10 i to 10 (i + 1) */
        for (uint32_t i = 12; i < EARLIER_SPACES_MAX + 10; i++) {
                ck_assert_uint_eq(address_space_find(earlier_spaces_find(&earlier, 10 * i), 150)->module, i);
                ck_assert_uint_eq(address_space_find(earlier_spaces_find(&earlier, 10 * i + 9), 150)->module,
                                  i);
        }
        ck_assert_ptr_null(address_space_find(earlier_spaces_find(&earlier, 0), 150));
        ck_assert_uint_eq(address_space_find(earlier_spaces_find(&earlier, 109), 150)->module, 10);
        ck_assert_ptr_null(earlier_spaces_find(&earlier, 10 * (EARLIER_SPACES_MAX + 10)));
        earlier_spaces_deinit(&earlier);
        address_space_deinit(&s);
}
END_TEST

START_TEST(test_overlaps)
{
        struct address_space s;

        address_space_init(&s);
        ck_assert(!address_space_overlaps(&s, 0, UINT64_MAX));
        add(&s, 100, 200, 0, 1);
        add(&s, 300, 400, 0, 1);
        ck_assert(!address_space_overlaps(&s, 50, 100));
        ck_assert(address_space_overlaps(&s, 50, 101));
        ck_assert(address_space_overlaps(&s, 199, 250));
        ck_assert(!address_space_overlaps(&s, 200, 300));
        ck_assert(address_space_overlaps(&s, 0, UINT64_MAX));
        ck_assert(!address_space_overlaps(&s, 400, UINT64_MAX));
        address_space_deinit(&s);
}
END_TEST
