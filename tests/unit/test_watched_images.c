/* SPDX-License-Identifier: MIT */
/*
 * sampler/code/watched_images.c: an image in memory that can be written counts from the look that found it to
 * the last look that saw it
 */
#include "sampler/code/watched_images.h"

#include "sampler/code/image_changes.h"
#include "sampler/code/image_identity.h"
#include "sampler/code/memory_image.h"
#include "tests/unit/unit_test.h"

#define PID  7
#define CODE UINT64_C(0x10000)

static struct watched_images watched;
static struct image_changes changes;

static void teardown(void)
{
        watched_images_deinit(&watched);
        image_changes_deinit(&changes);
}

/* Finds an image with two parts of code there.  Returns since when it counts. */
static uint64_t put_copy(uint64_t content, struct image_copy copy, uint64_t began_ns, uint64_t ended_ns,
                         int n_replaced)
{
        struct memory_image image = { .memory = process_memory_of(PID),
                                      .base_avma = CODE,
                                      .content = content };
        uint64_t from_ns = ended_ns;

        image.parts[0] = (struct memory_image_part){ .start_avma = CODE, .end_avma = CODE + 0x100 };
        image.parts[1] = (struct memory_image_part){ .start_avma = CODE + 0x1000, .end_avma = CODE + 0x1100 };
        image.n_parts = 2;
        ck_assert_int_eq(watched_images_put(&watched, &changes, &image, &copy, began_ns, &from_ns),
                         n_replaced);
        return from_ns;
}

static uint64_t put_whole(uint64_t content, uint64_t number, uint64_t began_ns, uint64_t ended_ns,
                          int n_replaced)
{
        return put_copy(content, (struct image_copy){ .number = number }, began_ns, ended_ns, n_replaced);
}

static uint64_t put(uint64_t content, uint64_t began_ns, uint64_t ended_ns, int n_replaced)
{
        return put_whole(content, 0, began_ns, ended_ns, n_replaced);
}

/* The next changes are that both parts are gone. */
static void expect_gone(uint64_t time_ns)
{
        struct image_change change;

        for (unsigned i = 0; i < 2; i++) {
                ck_assert(!image_changes_next(&changes, time_ns - 1, &change));
                ck_assert(image_changes_next(&changes, time_ns, &change));
                ck_assert(change.is_gone);
                ck_assert_uint_eq(change.range.start_avma, CODE + i * UINT64_C(0x1000));
        }
}

static void expect_nothing(void)
{
        struct image_change change;

        ck_assert(!image_changes_next(&changes, UINT64_MAX, &change));
}

START_TEST(the_first_counts_from_its_look_on)
{
        ck_assert_uint_eq(put(1, 90, 100, 0), 100);
        expect_gone(100); /* what was there before is not known, and is not taken for it later */
        expect_nothing();
}
END_TEST

START_TEST(the_same_again_was_there_when_the_look_began)
{
        (void)put(1, 90, 100, 0);
        expect_gone(100);
        ck_assert_uint_eq(put(1, 190, 200, 0), 190);
        expect_nothing();
        ck_assert_uint_eq(watched.n_images, 1);
        /* It may have been replaced while it was looked at: nothing was seen later than that. */
        (void)put(2, 290, 300, 1);
        expect_gone(190);
        expect_gone(300);
        expect_nothing();
}
END_TEST

START_TEST(another_one_ends_the_one_before)
{
        (void)put(1, 90, 100, 0);
        expect_gone(100);
        ck_assert_uint_eq(put(2, 190, 200, 1), 200);
        expect_gone(100);
        expect_gone(200);
        expect_nothing();
        ck_assert_uint_eq(watched.n_images, 1);
}
END_TEST

/* The same mapped bytes, and another whole: it is another one.  So is one whose whole is unknown by now. */
START_TEST(another_whole_is_another_image)
{
        (void)put_whole(1, 11, 90, 100, 0);
        expect_gone(100);
        ck_assert_uint_eq(put_whole(1, 11, 190, 200, 0), 190);
        ck_assert_uint_eq(put_whole(1, 12, 290, 300, 1), 300);
        expect_gone(190);
        expect_gone(300);
        ck_assert_uint_eq(put_whole(1, 0, 390, 400, 1), 400);
        expect_gone(300);
        expect_gone(400);
        expect_nothing();
}
END_TEST

START_TEST(a_whole_that_is_found_later_is_no_other_image)
{
        (void)put_copy(1, (struct image_copy){ .is_sought = true }, 90, 100, 0);
        expect_gone(100);
        ck_assert_uint_eq(put_whole(1, 11, 190, 200, 0), 190);
        expect_nothing();
}
END_TEST

START_TEST(a_new_program_keeps_what_was_seen_of_it)
{
        (void)put(1, 90, 100, 0);
        watched_images_forget(&watched, PID + 1, 200);
        watched_images_forget(&watched, PID, 100);
        ck_assert_uint_eq(watched.n_images, 1);
        watched_images_forget(&watched, PID, 101);
        ck_assert_uint_eq(watched.n_images, 0);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
