/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/watched_images.c: an image in memory that can be written counts from the look that found it
 * to the last look that saw it
 */
#include "sampler/images/watched_images.h"

#include "base/clock.h"
#include "sampler/images/image_changes.h"
#include "sampler/images/image_identity.h"
#include "sampler/images/memory_image.h"
#include "sampler/pace/recorder_pace.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PID        7
#define CODE       UINT64_C(0x10000)
#define PART_BYTES UINT64_C(0x100)
#define ROOM_BYTES ((size_t)0x8000) /* for one image of the test's own */

static struct recorder_pace pace;
static struct watched_images watched = { .pace = &pace };
static struct image_changes changes;

static void teardown(void)
{
        watched_images_deinit(&watched);
        watched = (struct watched_images){ .pace = &pace };
        recorder_pace_init(&pace, 0);
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

/* An image of code from @code_avma on. */
static const struct memory_image *image_at(uint32_t pid, uint64_t code_avma)
{
        static struct memory_image image;

        image = (struct memory_image){ .memory = process_memory_of(pid),
                                       .base_avma = code_avma,
                                       .n_parts = 1 };
        image.parts[0] = (struct memory_image_part){ .start_avma = code_avma,
                                                     .end_avma = code_avma + PART_BYTES };
        return &image;
}

static uint64_t room_at(uint32_t pid, uint64_t code_avma)
{
        return watched_images_copy_room(&watched, image_at(pid, code_avma));
}

static void put_image(const struct memory_image *image, const struct image_copy *copy, int wanted)
{
        uint64_t from_ns = 100;

        ck_assert_int_eq(watched_images_put(&watched, &changes, image, copy, 90, &from_ns), wanted);
}

static bool drop_change(void)
{
        struct image_change change;

        return image_changes_next(&changes, UINT64_MAX, &change);
}

static void expect_one_gone(uint64_t code_avma)
{
        struct image_change change;

        ck_assert(image_changes_next(&changes, UINT64_MAX, &change));
        ck_assert(change.is_gone);
        ck_assert_uint_eq(change.range.start_avma, code_avma);
}

/* All images and wholes share one room; one that replaces another, or comes again, has that one's part. */
START_TEST(an_image_has_the_room_that_others_leave)
{
        const uint64_t all_bytes = WATCHED_IMAGES_BYTES - PART_BYTES;
        const struct image_copy three = { .avma = 1, .number = 3, .n_bytes = UINT64_C(3) << 20 };
        const struct image_copy all = { .avma = 1, .number = 4, .n_bytes = all_bytes - 3 * PART_BYTES };
        const struct image_copy none = { .avma = 0 };

        ck_assert_uint_eq(room_at(PID, CODE), all_bytes);
        put_image(image_at(PID, CODE), &three, 0);
        ck_assert_uint_eq(room_at(PID, CODE), all_bytes);
        ck_assert_uint_eq(room_at(PID, CODE + PART_BYTES / 2), all_bytes);
        ck_assert_uint_eq(room_at(PID, CODE + 0x1000), all_bytes - PART_BYTES - three.n_bytes);
        ck_assert_uint_eq(room_at(PID + 1, CODE), all_bytes - PART_BYTES - three.n_bytes);
        put_image(image_at(PID, CODE), &none, 1);
        put_image(image_at(PID, CODE + 0x1000), &all, 0);
        ck_assert_uint_eq(room_at(PID, CODE), 2 * PART_BYTES);
        ck_assert_uint_eq(room_at(PID + 1, CODE), PART_BYTES);
        put_image(image_at(PID + 1, CODE), &none, 0);
        put_image(image_at(PID + 2, CODE), &none, 0);
        put_image(image_at(PID + 3, CODE), &none, -EOVERFLOW);
        ck_assert_uint_eq(watched.n_images, 4);
}
END_TEST

/* It could be replaced unseen, so it has no names; what was in its place counts no longer. */
START_TEST(one_image_too_many_has_no_names)
{
        const struct image_copy none = { .avma = 0 };
        const struct image_copy large = { .avma = 1, .number = 3, .n_bytes = WATCHED_IMAGES_BYTES };

        for (uint32_t i = 0; i < WATCHED_IMAGES_MAX; i++)
                put_image(image_at(PID + i, CODE), &none, 0);
        while (drop_change())
                ;
        put_image(image_at(PID, CODE + 0x1000), &none, -EOVERFLOW);
        expect_one_gone(CODE + 0x1000);
        expect_nothing();
        put_image(image_at(PID, CODE), &none, 0); /* the same again */
        expect_nothing();
        put_image(image_at(PID, CODE), &large, -EOVERFLOW);
        expect_one_gone(CODE);
        expect_one_gone(CODE);
        expect_nothing();
        ck_assert_uint_eq(watched.n_images, WATCHED_IMAGES_MAX - 1);
}
END_TEST

/* Looks that take more than their share end all watching, until enough time has passed. */
START_TEST(looks_have_a_share_of_the_time)
{
        const struct image_copy none = { .avma = 0 };
        const uint64_t now_ns = UINT64_C(1) << 40;

        put_image(image_at(PID, CODE), &none, 0);
        while (drop_change())
                ;
        ck_assert_int_eq(watched_images_begin_look(&watched, &changes, now_ns), 0);
        pace.works[PACED_WATCHED].spent = PACE_WATCHED_LEFT_NS + 1;
        ck_assert_int_eq(watched_images_begin_look(&watched, &changes, now_ns + 2 * PACE_WATCHED_SHARE), 0);
        expect_nothing();
        pace.works[PACED_WATCHED].spent = PACE_WATCHED_LEFT_NS + 2;
        ck_assert_int_eq(watched_images_begin_look(&watched, &changes, now_ns + 3 * PACE_WATCHED_SHARE), 1);
        expect_one_gone(CODE);
        expect_nothing();
        ck_assert_uint_eq(room_at(PID, CODE), 0);
        put_image(image_at(PID, CODE), &none, -EOVERFLOW);
        while (drop_change())
                ;
        ck_assert_int_eq(watched_images_begin_look(&watched, &changes, now_ns + NS_PER_S), 0);
        put_image(image_at(PID, CODE), &none, 0);
}
END_TEST

/* The image whose whole is to be looked for at this look at all images; -1 = none. */
static int find_searched(const struct memory_image *images, int n)
{
        static struct memory_image image;
        uint64_t seen_ns;
        size_t at = 0;
        int found = -1, r;

        while ((r = watched_images_check(&watched, &at, false, &image, &seen_ns)) > 0) {
                ck_assert_int_eq(r, 2);
                ck_assert_int_eq(found, -1); /* one at a look */
                for (int i = 0; i < n; i++)
                        if (images[i].base_avma == image.base_avma)
                                found = i;
                ck_assert_int_ge(found, 0);
        }
        ck_assert_int_eq(r, 0);
        return found;
}

/* Code is compared in memory; qemu's user-mode emulation has no process_vm_readv(2). */
static bool can_read_memory(void)
{
        char from = 1, to = 0;
        struct iovec here = { .iov_base = &to, .iov_len = 1 };
        struct iovec there = { .iov_base = &from, .iov_len = 1 };

        return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != ENOSYS;
}

/* Each image has its turn, also after one whose whole is not sought; the next search comes later. */
START_TEST_IF(can_read_memory(), the_search_goes_from_image_to_image)
{
        static struct memory_image images[4];
        static struct made_image made;
        const int turns[] = { 0, 2, 3, 0, 2 };
        uint8_t *base = mmap(NULL, 4 * ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                             0);

        ck_assert(base != MAP_FAILED);
        for (unsigned i = 0; i < 4; i++) {
                const struct made_image_options options = { .seed = (uint8_t)(i + 1) };
                uint64_t code_avma = (uint64_t)(uintptr_t)base + i * ROOM_BYTES + MADE_IMAGE_CODE_SVMA;
                const struct memory_image_place place = { .pid = (uint32_t)getpid(),
                                                          .start_avma = code_avma,
                                                          .end_avma = code_avma + MADE_IMAGE_PAGE_BYTES,
                                                          .avma = code_avma };

                made_image_init(&made, &options);
                made_image_load(&made, base + i * ROOM_BYTES, false);
                ck_assert_int_eq(memory_image_find(&place, &images[i]), 1);
                put_image(&images[i], &(const struct image_copy){ .is_sought = i != 1 }, 0);
        }
        for (unsigned i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
                ck_assert_int_eq(find_searched(images, 4), turns[i]);
                watched.searched_ns = UINT64_MAX / 2; /* it was just now */
                ck_assert_int_eq(find_searched(images, 4), -1);
                watched.searched_ns = 0;
        }
        ck_assert_int_eq(munmap(base, 4 * ROOM_BYTES), 0);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
