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

struct mapped {
        const uint32_t *module;
        uint64_t time_ns, n_bytes, file_off;
        const uint32_t *process; /* NULL stands for the one whose frame it is */
};

static void map(const struct mapped *m)
{
        const struct trace_mapping row = { .start_avma = CODE_AVMA,
                                           .length_bytes = m->n_bytes,
                                           .file_offset_bytes = m->file_off,
                                           .time_ns = m->time_ns,
                                           .process = m->process ? *m->process : process,
                                           .module = *m->module };

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

/* Its file at an offset; memory has its address there. */
#define AT(module, time_ns, off)                      \
        {                                             \
                &(module), time_ns, 0x1000, off, NULL \
        }
#define MEMORY(time_ns) AT(memory, time_ns, CODE_AVMA)
#define OF_JIT(time_ns, n_bytes)                   \
        {                                          \
                &memory, time_ns, n_bytes, 0, NULL \
        }
#define OF_OTHER(module, time_ns)                             \
        {                                                     \
                &(module), time_ns, 0x1000, 0, &other_process \
        }

START_TEST(memory_that_became_an_image)
{
        const struct mapped first = MEMORY(10), then = AT(image, 20, 0x40);
        uint64_t off = 0;

        map(&first);
        ck_assert_uint_eq(find(CODE_AVMA, &off), 0);
        map(&then);
        ck_assert_uint_eq(find(CODE_AVMA + 3, &off), image);
        ck_assert_uint_eq(off, 0x43);
        ck_assert_uint_eq(find(CODE_AVMA + 0xfff, &off), image);
        ck_assert_uint_eq(find(CODE_AVMA + 0x1000, &off), 0);
        ck_assert_uint_eq(find(CODE_AVMA - 1, &off), 0);
}
END_TEST

static const struct {
        const char *name;
        struct mapped mapped[4];
        const uint32_t *wanted; /* NULL = none */
} cases[] = {
        { "rows count by their time", { AT(image, 20, 0), MEMORY(10) }, &image },
        { "memory that lasts is none", { MEMORY(10), AT(image, 20, 0), MEMORY(30) }, NULL },
        { "it was none for no time at all",
          { MEMORY(10), AT(image, 20, 0), MEMORY(30), AT(image, 30, 0) },
          &image },
        { "another module of memory does not count",
          { MEMORY(10), AT(image, 20, 0), AT(other_memory, 30, CODE_AVMA) },
          &image },
        { "two images are none", { MEMORY(10), AT(image, 20, 0), MEMORY(30), AT(other_image, 40, 0) }, NULL },
        { "two places in an image are none",
          { MEMORY(10), AT(image, 20, 0), MEMORY(30), AT(image, 40, 0x1000) },
          NULL },
        /* Code that was not recorded may have been there, unless a JIT made more beside its executable. */
        { "memory over memory", { MEMORY(10), MEMORY(20), AT(image, 30, 0) }, NULL },
        { "memory over memory of a JIT", { OF_JIT(10, 0x1000), OF_JIT(20, 0x2000), AT(told, 30, 0) }, &told },
        /* The JIT's next kernel in the place of one that was not recorded. */
        { "the same memory of a JIT", { OF_JIT(10, 0x1000), OF_JIT(20, 0x1000), AT(told, 30, 0) }, NULL },
        { "other processes do not count", { MEMORY(10), OF_OTHER(image, 20) }, NULL },
};

START_LOOP_TEST(what_memory_was_decides, 0, sizeof(cases) / sizeof(cases[0]))
{
        uint32_t found;
        uint64_t off;

        for (size_t i = 0; i < 4 && cases[_i].mapped[i].module; i++)
                map(&cases[_i].mapped[i]);
        found = find(CODE_AVMA, &off);
        ck_assert_msg(found == (cases[_i].wanted ? *cases[_i].wanted : 0), "%s: module %u", cases[_i].name,
                      found);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
