/* SPDX-License-Identifier: MIT */
/*
 * A frame in anonymous memory is an image's if that memory became this image, and may have been nothing else.
 */
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/late_images.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define CODE_AVMA UINT64_C(0x10000)

static struct trace_dictionary dictionary;
static struct late_images *late;
static uint32_t process, other_process, memory, other_memory, image, other_image, told;

static uint32_t add(enum trace_table table, const void *row)
{
        uint32_t id;

        ck_assert_int_ge(trace_dictionary_add(&dictionary, table, row, &id), 0);
        return id;
}

static uint32_t add_module(uint32_t kind, uint32_t of_process, uint64_t content, uint32_t generation)
{
        const struct trace_module row = {
                .kind = kind, .process = of_process, .content = content, .generation = generation
        };

        return add(TRACE_TABLE_MODULES, &row);
}

static void map_bytes(uint32_t module, uint64_t time_ns, uint64_t n_bytes)
{
        const struct trace_mapping row = { .start_avma = CODE_AVMA,
                                           .length_bytes = n_bytes,
                                           .time_ns = time_ns,
                                           .process = process,
                                           .module = module };

        (void)add(TRACE_TABLE_MAPPINGS, &row);
}

static void map(uint32_t of_process, uint32_t module, uint64_t time_ns, uint64_t file_off)
{
        const struct trace_mapping row = { .start_avma = CODE_AVMA,
                                           .length_bytes = 0x1000,
                                           .file_offset_bytes = file_off,
                                           .time_ns = time_ns,
                                           .process = of_process,
                                           .module = module };

        (void)add(TRACE_TABLE_MAPPINGS, &row);
}

static void setup(void)
{
        const struct trace_process one = { .pid = 7 }, two = { .pid = 8 };

        trace_dictionary_init(&dictionary, 0);
        process = add(TRACE_TABLE_PROCESSES, &one);
        other_process = add(TRACE_TABLE_PROCESSES, &two);
        memory = add_module(TRACE_MODULE_ANONYMOUS, process, 0, 0);
        other_memory = add_module(TRACE_MODULE_ANONYMOUS, process, 0, 1);
        image = add_module(TRACE_MODULE_IMAGE, 0, 1, 0);
        other_image = add_module(TRACE_MODULE_IMAGE, 0, 2, 0);
        told = add_module(TRACE_MODULE_IMAGE, 0, 3, TRACE_MODULE_TOLD_BY_JIT);
        late = NULL;
}

static void teardown(void)
{
        late_images_free(late);
        trace_dictionary_deinit(&dictionary);
}

/* The image that a frame of `memory` is in; 0 = none. */
static uint32_t find(uint64_t avma, uint64_t *ret_off)
{
        uint32_t module = 0;

        late_images_free(late);
        late = NULL;
        ck_assert_int_eq(late_images_new(&dictionary, &late), 0);
        return late_images_find(late, memory, avma, &module, ret_off) ? module : 0;
}

START_TEST(memory_that_became_an_image)
{
        uint64_t off = 0;

        map(process, memory, 10, CODE_AVMA);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
        map(process, image, 20, 0x40);
        ck_assert_uint_eq(find(CODE_AVMA + 3, &off), image);
        ck_assert_uint_eq(off, 0x43);
        ck_assert_uint_eq(find(CODE_AVMA + 0xfff, &off), image);
        ck_assert_uint_eq(find(CODE_AVMA + 0x1000, &off), 0);
        ck_assert_uint_eq(find(CODE_AVMA - 1, &off), 0);
}
END_TEST

START_TEST(rows_count_by_their_time)
{
        uint64_t off;

        map(process, image, 20, 0);
        map(process, memory, 10, CODE_AVMA);
        ck_assert_uint_eq(find(CODE_AVMA, &off), image);
}
END_TEST

START_TEST(memory_that_lasts_is_none)
{
        uint64_t off;

        map(process, memory, 10, CODE_AVMA);
        map(process, image, 20, 0);
        map(process, memory, 30, CODE_AVMA);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
        map(process, image, 30, 0); /* it was none for no time at all */
        ck_assert_uint_eq(find(CODE_AVMA, &off), image);
}
END_TEST

START_TEST(another_module_of_memory_does_not_count)
{
        uint64_t off;

        map(process, memory, 10, CODE_AVMA);
        map(process, image, 20, 0);
        map(process, other_memory, 30, CODE_AVMA);
        ck_assert_uint_eq(find(CODE_AVMA, &off), image);
}
END_TEST

START_TEST(two_images_are_none)
{
        uint64_t off;

        map(process, memory, 10, CODE_AVMA);
        map(process, image, 20, 0);
        map(process, memory, 30, CODE_AVMA);
        map(process, other_image, 40, 0);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
}
END_TEST

START_TEST(two_places_in_an_image_are_none)
{
        uint64_t off;

        map(process, memory, 10, CODE_AVMA);
        map(process, image, 20, 0);
        map(process, memory, 30, CODE_AVMA);
        map(process, image, 40, 0x1000);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
}
END_TEST

/* Code that was not recorded may have been there, unless a JIT made more memory beside its own executable. */
START_TEST(memory_over_memory)
{
        uint64_t off;

        map(process, memory, 10, CODE_AVMA);
        map(process, memory, 20, CODE_AVMA);
        map(process, image, 30, 0);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
}
END_TEST

START_TEST(memory_over_memory_of_a_jit)
{
        uint64_t off;

        map_bytes(memory, 10, 0x1000);
        map_bytes(memory, 20, 0x2000);
        map(process, told, 30, 0);
        ck_assert_uint_eq(find(CODE_AVMA, &off), told);
}
END_TEST

/* The JIT's next kernel in the place of one that was not recorded. */
START_TEST(the_same_memory_of_a_jit)
{
        uint64_t off;

        map_bytes(memory, 10, 0x1000);
        map_bytes(memory, 20, 0x1000);
        map(process, told, 30, 0);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
}
END_TEST

START_TEST(other_processes_do_not_count)
{
        uint64_t off;

        map(process, memory, 10, CODE_AVMA);
        map(other_process, image, 20, 0);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
