/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/code_regions.c: a frame means one piece of code: memory is of another generation once other
 * code lies where some ran
 */
#include "sampler/tables/code_regions.h"

#include "format/trace_dictionary.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "symbolize/symbols/region_symbols.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
        struct trace_dictionary dictionary;
        struct loss_counter losses;
        struct process_table processes;
        struct recording recording;
        struct code_regions *regions;
        struct thread_track *thread;
        unsigned n_changes;
};

static int count_change(void *context, struct process_track *process)
{
        struct fixture *f = context;

        ck_assert_ptr_eq(process, f->thread->process);
        f->n_changes++;
        return 0;
}

static uint32_t text(struct fixture *f, const char *name)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(&f->dictionary, name, strlen(name), &id), 0);
        return id;
}

/* Anonymous memory of the process at 0x1000 .. 0x9000, as a mapping brings it. */
static void map(struct fixture *f)
{
        struct process_track *p = f->thread->process;
        struct trace_module row = { .path = text(f, "[anon: code]"),
                                    .kind = TRACE_MODULE_ANONYMOUS,
                                    .process = p->process,
                                    .generation = code_regions_generation(f->regions, p->process) };
        struct address_range range = { .start_avma = 0x1000, .end_avma = 0x9000 };

        ck_assert_int_eq(trace_dictionary_add(&f->dictionary, TRACE_TABLE_MODULES, &row, &range.module), 0);
        ck_assert_int_eq(address_space_add(&p->space, &range), 0);
}

static void set_up(struct fixture *f)
{
        memset(f, 0, sizeof(*f));
        f->recording = (struct recording){ .dictionary = &f->dictionary,
                                           .losses = &f->losses,
                                           .processes = &f->processes };
        trace_dictionary_init(&f->dictionary, 0);
        process_table_init(&f->processes, &f->dictionary);
        ck_assert_int_eq(process_table_add_thread(&f->processes, 7, 7, 0, 1, &f->thread), 0);
        ck_assert_int_eq(code_regions_new(&f->recording, count_change, f, &f->regions, NULL), 0);
        map(f);
}

static void tear_down(struct fixture *f)
{
        code_regions_free(f->regions);
        process_table_deinit(&f->processes);
        trace_dictionary_deinit(&f->dictionary);
}

/* @name NULL = gone. */
static int add(struct fixture *f, uint64_t start, uint64_t length, const char *name)
{
        struct trace_code_region row = { .start_avma = start,
                                         .length_bytes = length,
                                         .process = f->thread->process->process,
                                         .name = name ? text(f, name) : 0,
                                         .gone = !name };
        uint32_t id;

        return code_regions_add(f->regions, &row, &id);
}

/* A frame at an address, as a sample that comes now makes it. */
static uint32_t run(struct fixture *f, uint64_t avma)
{
        const struct address_range *range = address_space_find(&f->thread->process->space, avma);
        struct trace_frame frame = { .offset = avma };
        uint32_t id;

        ck_assert_ptr_nonnull(range);
        frame.module = range->module;
        ck_assert_int_eq(trace_dictionary_add(&f->dictionary, TRACE_TABLE_FRAMES, &frame, &id), 0);
        return id;
}

/* The final name of a frame; "" = unknown. */
static void check_name(const struct fixture *f, uint32_t frame_id, const char *wanted)
{
        const struct trace_frame *frame = trace_dictionary_row(&f->dictionary, TRACE_TABLE_FRAMES, frame_id);
        struct region_symbols *symbols;
        struct region_symbol found = { .region = 0 };
        const char *name = "";
        size_t n_bytes = 0;

        ck_assert_int_eq(region_symbols_new(&f->dictionary, &symbols, NULL), 0);
        if (region_symbols_find(symbols, frame->module, frame->offset, &found) == 1) {
                const struct trace_code_region *row = trace_dictionary_row(
                        &f->dictionary, TRACE_TABLE_CODE_REGIONS, found.region);

                name = trace_dictionary_string(&f->dictionary, row->name, &n_bytes);
        }
        ck_assert_uint_eq(n_bytes, strlen(wanted));
        ck_assert_mem_eq(name, wanted, n_bytes);
        region_symbols_free(symbols);
}

static uint32_t generation(const struct fixture *f)
{
        return code_regions_generation(f->regions, f->thread->process->process);
}

START_TEST(test_code_over_code)
{
        struct fixture f;
        uint32_t first, second, kept, other;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 1);
        ck_assert_int_eq(add(&f, 0x3000, 0x100, "kept"), 1);
        first = run(&f, 0x2040);
        kept = run(&f, 0x3000);
        ck_assert_int_eq(add(&f, 0x2000, 0x80, "two"), 1);
        ck_assert_uint_eq(generation(&f), 1);
        ck_assert_uint_eq(f.n_changes, 1);
        second = run(&f, 0x2040);
        other = run(&f, 0x3000);
        check_name(&f, first, "one");
        check_name(&f, second, "two");
        check_name(&f, kept, "kept");
        check_name(&f, other, "kept");
        check_name(&f, run(&f, 0x2080), "one"); /* what nothing lies over */
        map(&f); /* a change of protection: the memory stays what it is by now */
        check_name(&f, run(&f, 0x2041), "two");
        tear_down(&f);
}
END_TEST

/* Code that never ran cannot be mistaken. */
START_TEST(test_code_over_nothing)
{
        struct fixture f;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 1);
        (void)run(&f, 0x1fff);
        (void)run(&f, 0x2100);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "two"), 1);
        ck_assert_uint_eq(generation(&f), 0);
        check_name(&f, run(&f, 0x2000), "two");
        tear_down(&f);
}
END_TEST

/* Names come later than the samples. */
START_TEST(test_told_late)
{
        struct fixture f;
        uint32_t early;

        set_up(&f);
        early = run(&f, 0x2010);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 1);
        ck_assert_uint_eq(generation(&f), 0);
        check_name(&f, early, "one");
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "two"), 1);
        ck_assert_uint_eq(generation(&f), 1);
        check_name(&f, early, "one");
        tear_down(&f);
}
END_TEST

START_TEST(test_told_again)
{
        struct fixture f;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 1);
        (void)run(&f, 0x2010);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 0);
        ck_assert_uint_eq(generation(&f), 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_REGIONS), 1);
        tear_down(&f);
}
END_TEST

START_TEST(test_gone)
{
        struct fixture f;
        uint32_t first;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 1);
        first = run(&f, 0x2010);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, NULL), 1);
        ck_assert_uint_eq(generation(&f), 0);
        ck_assert_uint_eq(code_regions_find(f.regions, f.thread->process->process, 0x2010), 0);
        ck_assert_int_eq(add(&f, 0x2000, 0x80, "two"), 1);
        ck_assert_uint_eq(generation(&f), 1);
        check_name(&f, first, "one");
        check_name(&f, run(&f, 0x2010), "two");
        check_name(&f, run(&f, 0x2090), ""); /* gone, and nothing came */
        tear_down(&f);
}
END_TEST

/* Announced, run and gone again and again, as a pool of kernels does. */
START_TEST(test_limit)
{
        struct fixture f;
        char name[16];

        set_up(&f);
        for (int i = 0; i < CODE_REGIONS_GENERATIONS_MAX + 10; i++) {
                (void)snprintf(name, sizeof(name), "k%d", i);
                ck_assert_int_eq(add(&f, 0x2000, 0x100, name), 1);
                (void)run(&f, 0x2000);
        }
        ck_assert_uint_eq(generation(&f), CODE_REGIONS_GENERATIONS_MAX - 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CODE_OVER_LIMIT], 10);
        tear_down(&f);
}
END_TEST

/* A child has the memory of its parent, until it makes code of its own. */
START_TEST(test_fork)
{
        struct fixture f;
        struct thread_track *child;
        struct trace_code_region row = { .start_avma = 0x2000, .length_bytes = 0x100 };
        uint32_t id, in_parent, in_child;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "parent"), 1);
        ck_assert_int_eq(process_table_add_thread(&f.processes, 8, 8, 7, 2, &child), 0);
        in_parent = run(&f, 0x2000);
        f.thread = child;
        row.process = child->process->process;
        row.name = text(&f, "child");
        ck_assert_int_eq(code_regions_add(f.regions, &row, &id), 1);
        in_child = run(&f, 0x2000);
        check_name(&f, in_parent, "parent");
        check_name(&f, in_child, "child");
        tear_down(&f);
}
END_TEST

/* After a fork the parent's new code is its own, also where a child has code that nothing names. */
START_TEST(test_after_fork)
{
        struct fixture f;
        struct thread_track *parent, *child;
        uint32_t before, in_child, in_parent, last;

        set_up(&f);
        parent = f.thread;
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "early"), 1);
        ck_assert_int_eq(process_table_add_thread(&f.processes, 8, 8, 7, 2, &child), 0);
        ck_assert_int_eq(code_regions_note_fork(f.regions, child->process), 0);
        f.thread = child;
        before = run(&f, 0x2000);
        in_child = run(&f, 0x3000);
        f.thread = parent;
        ck_assert_int_eq(add(&f, 0x3000, 0x100, "late"), 1);
        ck_assert_uint_eq(f.n_changes, 1);
        in_parent = run(&f, 0x3000);
        check_name(&f, before, "early");
        check_name(&f, in_child, "");
        check_name(&f, in_parent, "late");
        check_name(&f, run(&f, 0x2000), "early");

        /* A child that executes another program has nothing of the parent's left. */
        ck_assert_int_eq(process_table_add_thread(&f.processes, 9, 9, 7, 2, &child), 0);
        ck_assert_int_eq(code_regions_note_fork(f.regions, child->process), 0);
        address_space_clear(&child->process->space);
        ck_assert_int_eq(add(&f, 0x4000, 0x100, "later"), 1);
        ck_assert_uint_eq(f.n_changes, 1);
        last = run(&f, 0x4000);
        check_name(&f, last, "later");
        tear_down(&f);
}
END_TEST

START_TEST(test_exec)
{
        struct fixture f;
        uint32_t before, after;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "one"), 1);
        before = run(&f, 0x2000);
        address_space_clear(&f.thread->process->space);
        ck_assert_int_eq(code_regions_clear(f.regions, f.thread->process->process, 5), 0);
        map(&f);
        after = run(&f, 0x2000);
        check_name(&f, before, "one");
        check_name(&f, after, "");
        ck_assert_int_eq(add(&f, 0x2000, 0x100, "two"), 1);
        check_name(&f, after, "two");
        tear_down(&f);
}
END_TEST

START_TEST(test_makes_no_sense)
{
        struct fixture f;

        set_up(&f);
        ck_assert_int_eq(add(&f, 0x2000, 0, "empty"), 0);
        ck_assert_int_eq(add(&f, UINT64_MAX, 2, "beyond"), 0);
        ck_assert_int_eq(add(&f, 0x20000, 0x10, "in no mapping"), 1);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_REGIONS), 1);
        tear_down(&f);
}
END_TEST

/* Code in a file is a JIT's where the file has no name, or the JIT said when it made it; else the file's. */
START_TEST(test_code_in_files)
{
        static const struct {
                const char *path;
                uint32_t source;
                bool is_taken;
        } cases[] = { { "/memfd:code (deleted)", TRACE_CODE_SOURCE_PERF_MAP, true },
                      { "/usr/bin/program", TRACE_CODE_SOURCE_PERF_MAP, false },
                      { "/usr/lib/image.dll", TRACE_CODE_SOURCE_JITDUMP, true },
                      { "/tmp/deleted", TRACE_CODE_SOURCE_PERF_MAP, false } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct address_range range = { .start_avma = 0x20000, .end_avma = 0x30000 };
                struct trace_module file = { .kind = TRACE_MODULE_FILE };
                struct trace_code_region row = { .start_avma = 0x21000, .length_bytes = 16 };
                struct process_track *p;
                struct fixture f;
                uint32_t id;

                set_up(&f);
                p = f.thread->process;
                file.path = text(&f, cases[i].path);
                ck_assert_int_eq(
                        trace_dictionary_add(&f.dictionary, TRACE_TABLE_MODULES, &file, &range.module), 0);
                ck_assert_int_eq(address_space_add(&p->space, &range), 0);
                row.process = p->process;
                row.source = cases[i].source;
                row.name = text(&f, "made");
                ck_assert_int_eq(code_regions_add(f.regions, &row, &id), 1);
                check_name(&f, run(&f, 0x21004), cases[i].is_taken ? "made" : "");
                check_name(&f, run(&f, 0x22000), "");
                /* Its protection changes: the same mapping again. */
                ck_assert_int_eq(address_space_add(&p->space, &range), 0);
                ck_assert_int_eq(code_regions_note_file(f.regions, p, &range), 0);
                check_name(&f, run(&f, 0x21004), cases[i].is_taken ? "made" : "");
                ck_assert_int_eq(code_regions_decide(f.regions), 0);
                tear_down(&f);
        }
}
END_TEST
