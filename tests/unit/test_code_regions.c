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
        uint64_t waits_avma; /* where a sample ran whose call stack waits until a change; 0 = none */
        uint32_t waited_frame;
};

static struct fixture f;

static uint32_t text(const char *name)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(&f.dictionary, name, strlen(name), &id), 0);
        return id;
}

/* A frame at an address, as a sample that comes now makes it. */
static uint32_t run(uint64_t avma)
{
        const struct address_range *range = address_space_find(&f.thread->process->space, avma);
        struct trace_frame frame = { .offset = avma };
        uint32_t id;

        ck_assert_ptr_nonnull(range);
        frame.module = range->module;
        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, TRACE_TABLE_FRAMES, &frame, &id), 0);
        return id;
}

static int count_change(void *context, struct process_track *process, uint64_t start_avma, uint64_t end_avma)
{
        ck_assert_ptr_eq(context, &f);
        ck_assert_ptr_eq(process, f.thread->process);
        f.n_changes += end_avma == UINT64_MAX;
        if (f.waits_avma < start_avma || f.waits_avma >= end_avma)
                return 0;
        if (f.waits_avma != 0)
                f.waited_frame = run(f.waits_avma);
        f.waits_avma = 0;
        return 0;
}

/* Anonymous memory of the process at 0x1000 .. 0x9000, as a mapping brings it. */
static void map(void)
{
        struct process_track *p = f.thread->process;
        struct trace_module row = { .path = text("[anon: code]"),
                                    .kind = TRACE_MODULE_ANONYMOUS,
                                    .process = p->process,
                                    .generation = code_regions_generation(f.regions, p->process) };
        struct address_range range = { .start_avma = 0x1000, .end_avma = 0x9000 };

        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, TRACE_TABLE_MODULES, &row, &range.module), 0);
        ck_assert_int_eq(address_space_add(&p->space, &range), 0);
}

static void set_up(void)
{
        memset(&f, 0, sizeof(f));
        f.recording = (struct recording){ .dictionary = &f.dictionary,
                                          .losses = &f.losses,
                                          .processes = &f.processes };
        trace_dictionary_init(&f.dictionary, 0);
        process_table_init(&f.processes, &f.dictionary);
        ck_assert_int_eq(process_table_add_thread(&f.processes, 7, 7, 0, 1, &f.thread), 0);
        ck_assert_int_eq(code_regions_new(&f.recording, count_change, &f, &f.regions, NULL), 0);
        map();
}

static void tear_down(void)
{
        code_regions_free(f.regions);
        process_table_deinit(&f.processes);
        trace_dictionary_deinit(&f.dictionary);
}

/* @name NULL = gone. */
static int add(uint64_t start, uint64_t length, const char *name)
{
        struct trace_code_region row = { .start_avma = start,
                                         .length_bytes = length,
                                         .process = f.thread->process->process,
                                         .name = name ? text(name) : 0,
                                         .gone = !name };
        uint32_t id;

        return code_regions_add(f.regions, &row, &id);
}

/* The final name of a frame; "" = unknown. */
static void check_name(uint32_t frame_id, const char *wanted)
{
        const struct trace_frame *frame = trace_dictionary_row(&f.dictionary, TRACE_TABLE_FRAMES, frame_id);
        struct region_symbols *symbols;
        struct region_symbol found = { .region = 0 };
        const char *name = "";
        size_t n_bytes = 0;

        ck_assert_int_eq(region_symbols_new(&f.dictionary, &symbols, NULL), 0);
        if (region_symbols_find(symbols, frame->module, frame->offset, &found) == 1) {
                const struct trace_code_region *row = trace_dictionary_row(
                        &f.dictionary, TRACE_TABLE_CODE_REGIONS, found.region);

                name = trace_dictionary_string(&f.dictionary, row->name, &n_bytes);
        }
        ck_assert_uint_eq(n_bytes, strlen(wanted));
        ck_assert_mem_eq(name, wanted, n_bytes);
        region_symbols_free(symbols);
}

static uint32_t generation(void)
{
        return code_regions_generation(f.regions, f.thread->process->process);
}

START_TEST(test_code_over_code)
{
        uint32_t first, second, kept, other;

        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        ck_assert_int_eq(add(0x3000, 0x100, "kept"), 1);
        first = run(0x2040);
        kept = run(0x3000);
        ck_assert_int_eq(add(0x2000, 0x80, "two"), 1);
        ck_assert_uint_eq(generation(), 1);
        ck_assert_uint_eq(f.n_changes, 1);
        second = run(0x2040);
        other = run(0x3000);
        check_name(first, "one");
        check_name(second, "two");
        check_name(kept, "kept");
        check_name(other, "kept");
        check_name(run(0x2080), "one"); /* what nothing lies over */
        map();                          /* a change of protection: the memory stays what it is by now */
        check_name(run(0x2041), "two");
}
END_TEST

/* Code that never ran cannot be mistaken. */
START_TEST(test_code_over_nothing)
{
        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        (void)run(0x1fff);
        (void)run(0x2100);
        ck_assert_int_eq(add(0x2000, 0x100, "two"), 1);
        ck_assert_uint_eq(generation(), 0);
        check_name(run(0x2000), "two");
}
END_TEST

/* Names come later than the samples. */
/* Samples in the first code wait for a table, which comes later than other code. */
START_TEST(test_stack_waits)
{
        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        f.waits_avma = 0x2010;
        ck_assert_int_eq(add(0x2000, 0x100, "two"), 1);
        ck_assert_uint_eq(generation(), 1);
        check_name(f.waited_frame, "one");
        check_name(run(0x2010), "two");
}
END_TEST

/* A stack that ends early stays without its callers: it does so for a new generation alone. */
START_TEST(test_stack_waits_elsewhere)
{
        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        ck_assert_int_eq(add(0x3000, 0x100, "kept"), 1);
        f.waits_avma = 0x3010;
        ck_assert_int_eq(add(0x2000, 0x100, "two"), 1);
        ck_assert_uint_eq(f.waits_avma, 0x3010);
        ck_assert_uint_eq(generation(), 0);
        (void)run(0x2010);
        ck_assert_int_eq(add(0x2000, 0x100, "three"), 1);
        ck_assert_uint_eq(f.waits_avma, 0);
        ck_assert_uint_eq(generation(), 1);
        check_name(f.waited_frame, "kept");
}
END_TEST

START_TEST(test_told_late)
{
        uint32_t early;

        early = run(0x2010);
        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        ck_assert_uint_eq(generation(), 0);
        check_name(early, "one");
        ck_assert_int_eq(add(0x2000, 0x100, "two"), 1);
        ck_assert_uint_eq(generation(), 1);
        check_name(early, "one");
}
END_TEST

START_TEST(test_told_again)
{
        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        (void)run(0x2010);
        ck_assert_int_eq(add(0x2000, 0x100, "one"), 0);
        ck_assert_uint_eq(generation(), 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_REGIONS), 1);
}
END_TEST

START_TEST(test_gone)
{
        uint32_t first;

        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        first = run(0x2010);
        ck_assert_int_eq(add(0x2000, 0x100, NULL), 1);
        ck_assert_uint_eq(generation(), 0);
        ck_assert_uint_eq(code_regions_find(f.regions, f.thread->process->process, 0x2010), 0);
        ck_assert_int_eq(add(0x2000, 0x80, "two"), 1);
        ck_assert_uint_eq(generation(), 1);
        check_name(first, "one");
        check_name(run(0x2010), "two");
        check_name(run(0x2090), ""); /* gone, and nothing came */
}
END_TEST

/* Announced, run and gone again and again, as a pool of kernels does. */
START_TEST(test_limit)
{
        char name[16];

        for (int i = 0; i < CODE_REGIONS_GENERATIONS_MAX + 10; i++) {
                (void)snprintf(name, sizeof(name), "k%d", i);
                ck_assert_int_eq(add(0x2000, 0x100, name), 1);
                (void)run(0x2000);
        }
        ck_assert_uint_eq(generation(), CODE_REGIONS_GENERATIONS_MAX - 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CODE_OVER_LIMIT], 10);
}
END_TEST

/* A child has the memory of its parent, until it makes code of its own. */
START_TEST(test_fork)
{
        struct thread_track *child;
        struct trace_code_region row = { .start_avma = 0x2000, .length_bytes = 0x100 };
        uint32_t id, in_parent, in_child;

        ck_assert_int_eq(add(0x2000, 0x100, "parent"), 1);
        ck_assert_int_eq(process_table_add_thread(&f.processes, 8, 8, 7, 2, &child), 0);
        in_parent = run(0x2000);
        f.thread = child;
        row.process = child->process->process;
        row.name = text("child");
        ck_assert_int_eq(code_regions_add(f.regions, &row, &id), 1);
        in_child = run(0x2000);
        check_name(in_parent, "parent");
        check_name(in_child, "child");
}
END_TEST

/* After a fork the parent's new code is its own, also where a child has code that nothing names. */
START_TEST(test_after_fork)
{
        struct thread_track *parent, *child;
        uint32_t before, in_child, in_parent, last;

        parent = f.thread;
        ck_assert_int_eq(add(0x2000, 0x100, "early"), 1);
        ck_assert_int_eq(process_table_add_thread(&f.processes, 8, 8, 7, 2, &child), 0);
        ck_assert_int_eq(code_regions_note_fork(f.regions, child->process), 0);
        f.thread = child;
        before = run(0x2000);
        in_child = run(0x3000);
        f.thread = parent;
        ck_assert_int_eq(add(0x3000, 0x100, "late"), 1);
        ck_assert_uint_eq(f.n_changes, 1);
        in_parent = run(0x3000);
        check_name(before, "early");
        check_name(in_child, "");
        check_name(in_parent, "late");
        check_name(run(0x2000), "early");

        /* A child that executes another program has nothing of the parent's left. */
        ck_assert_int_eq(process_table_add_thread(&f.processes, 9, 9, 7, 2, &child), 0);
        ck_assert_int_eq(code_regions_note_fork(f.regions, child->process), 0);
        address_space_clear(&child->process->space);
        ck_assert_int_eq(add(0x4000, 0x100, "later"), 1);
        ck_assert_uint_eq(f.n_changes, 1);
        last = run(0x4000);
        check_name(last, "later");
}
END_TEST

START_TEST(test_exec)
{
        uint32_t before, after;

        ck_assert_int_eq(add(0x2000, 0x100, "one"), 1);
        before = run(0x2000);
        address_space_clear(&f.thread->process->space);
        ck_assert_int_eq(code_regions_clear(f.regions, f.thread->process->process, 5), 0);
        map();
        after = run(0x2000);
        check_name(before, "one");
        check_name(after, "");
        ck_assert_int_eq(add(0x2000, 0x100, "two"), 1);
        check_name(after, "two");
}
END_TEST

START_TEST(test_makes_no_sense)
{
        ck_assert_int_eq(add(0x2000, 0, "empty"), 0);
        ck_assert_int_eq(add(UINT64_MAX, 2, "beyond"), 0);
        ck_assert_int_eq(add(0x20000, 0x10, "in no mapping"), 1);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_REGIONS), 1);
}
END_TEST

static const struct {
        const char *path;
        uint32_t source;
        bool is_taken;
} files[] = { { "/memfd:code (deleted)", TRACE_CODE_SOURCE_PERF_MAP, true },
              { "/usr/bin/program", TRACE_CODE_SOURCE_PERF_MAP, false },
              { "/usr/lib/image.dll", TRACE_CODE_SOURCE_JITDUMP, true },
              { "/tmp/deleted", TRACE_CODE_SOURCE_PERF_MAP, false } };

/* Code in a file is a JIT's where the file has no name, or the JIT said when it made it; else the file's. */
START_LOOP_TEST(test_code_in_files, 0, sizeof(files) / sizeof(files[0]))
{
        struct address_range range = { .start_avma = 0x20000, .end_avma = 0x30000 };
        struct trace_module file = { .kind = TRACE_MODULE_FILE };
        struct trace_code_region row = { .start_avma = 0x21000, .length_bytes = 16 };
        struct process_track *p = f.thread->process;
        uint32_t id;

        file.path = text(files[_i].path);
        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, TRACE_TABLE_MODULES, &file, &range.module), 0);
        ck_assert_int_eq(address_space_add(&p->space, &range), 0);
        row.process = p->process;
        row.source = files[_i].source;
        row.name = text("made");
        ck_assert_int_eq(code_regions_add(f.regions, &row, &id), 1);
        check_name(run(0x21004), files[_i].is_taken ? "made" : "");
        check_name(run(0x22000), "");
        /* Its protection changes: the same mapping again. */
        ck_assert_int_eq(address_space_add(&p->space, &range), 0);
        ck_assert_int_eq(code_regions_note_file(f.regions, p, &range), 0);
        check_name(run(0x21004), files[_i].is_taken ? "made" : "");
        ck_assert_int_eq(code_regions_decide(f.regions), 0);
}
END_TEST

/* A process with code takes no memory for those that came before it. */
START_TEST(test_many_processes)
{
        struct trace_code_region row = { .start_avma = 0x1000, .length_bytes = 16, .name = text("late") };
        uint32_t first, second, id;

        ck_assert_int_eq(add(0x1000, 16, "early"), 1);
        first = code_regions_find(f.regions, f.thread->process->process, 0x1000);
        row.process = UINT32_MAX;
        ck_assert_uint_eq(code_regions_find(f.regions, UINT32_MAX, 0x1000), 0);
        ck_assert_uint_eq(code_regions_generation(f.regions, UINT32_MAX), 0);
        ck_assert(!code_regions_has_other(f.regions, &row));
        ck_assert_int_eq(code_regions_add(f.regions, &row, &second), 1);
        ck_assert_uint_eq(code_regions_find(f.regions, UINT32_MAX, 0x1000), second);
        ck_assert_uint_eq(code_regions_find(f.regions, UINT32_MAX - 1, 0x1000), 0);
        ck_assert_uint_eq(code_regions_find(f.regions, f.thread->process->process, 0x1000), first);
        ck_assert_int_eq(code_regions_decide(f.regions), 0);
        ck_assert_int_eq(code_regions_add(f.regions, &row, &id), 0); /* it is known */
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
