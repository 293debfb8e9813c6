/* SPDX-License-Identifier: MIT */
/*
 * analyze/annotate/annotation.c, annotation_files.c, function_choice.c: samples count
 * where they fell, jumps are arrows, names find functions
 */
#include "analyze/annotate/annotation.h"
#include "analyze/samples/function_choice.h"
#include "analyze/samples/function_table.h"
#include "analyze/samples/sampled_trace.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * 7000 nop; 7001 nop; 7002 je 7008; 7004 jmp 7001; 7006 jmp 7001; 7008 jmp 8000; 700d ret
 * The two jumps to 7001 are one arrow, inside of which begins that to 7008.
 */
static const char code[] = "\x90\x90\x74\x04\xeb\xfb\xeb\xf9\xe9\xf3\x0f\x00\x00\xc3";
#define CODE_BYTES 14
#define CODE_AVMA  0x7000

static struct trace_builder builder;
static struct sampled_trace trace;
static struct annotation a;
static uint32_t cycles, instructions;

static uint32_t add_event(const char *name, uint32_t mode, uint32_t leader)
{
        struct trace_sample_event row = {
                .name = trace_builder_string(&builder, name), .mode = mode, .rate = 1000, .leader = leader
        };

        return trace_builder_row(&builder, TRACE_TABLE_SAMPLE_EVENTS, &row);
}

static void add_sample(uint32_t event, uint32_t frame, uint64_t weight)
{
        struct trace_event sample = { .time_ns = 100, .op = TRACE_OP_SAMPLE };

        sample.sample.event = event;
        sample.sample.stack = frame ? trace_builder_stack(&builder, 0, frame) : 0;
        sample.sample.weight = weight;
        event_encoder_add(&builder.encoder, &sample);
}

static uint32_t add_memory(void)
{
        struct trace_process process = { .pid = 1 };
        struct trace_module row = { .kind = TRACE_MODULE_ANONYMOUS };

        row.path = trace_builder_string(&builder, "//anon");
        row.process = trace_builder_row(&builder, TRACE_TABLE_PROCESSES, &process);
        return trace_builder_row(&builder, TRACE_TABLE_MODULES, &row);
}

/* The code as a JIT compiler announced it, with lines. */
static void add_region(uint32_t memory)
{
        struct trace_attachment bytes = { .kind = TRACE_ATTACHMENT_CODE_BYTES,
                                          .size_bytes = CODE_BYTES,
                                          .hash = 1 };
        struct trace_code_region region = { .start_avma = CODE_AVMA,
                                            .length_bytes = CODE_BYTES,
                                            .process = 1 };
        struct trace_code_line line = { .line = 3 };

        region.module = memory;
        region.name = trace_builder_string(&builder, "kernel");
        region.attachment = trace_builder_row(&builder, TRACE_TABLE_ATTACHMENTS, &bytes);
        line.region = trace_builder_row(&builder, TRACE_TABLE_CODE_REGIONS, &region);
        line.file = trace_builder_string(&builder, "k.mlir");
        (void)trace_builder_row(&builder, TRACE_TABLE_CODE_LINES, &line);
        line.offset_bytes = 4;
        line.line = 5;
        (void)trace_builder_row(&builder, TRACE_TABLE_CODE_LINES, &line);
        trace_builder_attachment_part(&builder, region.attachment, 0, code, CODE_BYTES);
}

static uint32_t add_frame(uint32_t module, uint64_t offset, const char *name)
{
        uint32_t frame = trace_builder_frame(&builder, module, offset);

        trace_builder_symbol(&builder, frame, name, 0);
        return frame;
}

static void load(void)
{
        struct error err = ERROR_NONE;

        trace_builder_finish(&builder);
        ck_assert_msg(sampled_trace_load(&trace, builder.path, NULL, &err) == 0, "%s", err.text);
}

static void setup(void)
{
        trace_builder_init(&builder);
        trace_builder_meta(&builder, "machine", "x86_64");
        cycles = add_event("cycles", TRACE_SAMPLE_MODE_PERIOD, 0);
        instructions = add_event("instructions", TRACE_SAMPLE_MODE_WITH_LEADER, cycles);
}

static void teardown(void)
{
        annotation_deinit(&a);
        a = (struct annotation){ .trace = NULL };
        sampled_trace_deinit(&trace);
        trace_builder_deinit(&builder);
}

static struct function_choice choose(const char *name, const char *module)
{
        struct function_request request = { .name = name, .module = module, .event = cycles };
        struct function_choice choice;

        ck_assert_int_eq(function_choice_init(&choice, &trace, &request), 0);
        return choice;
}

static void annotate(const char *name)
{
        struct annotation_options options = { .search = NULL };
        struct function_choice choice = choose(name, NULL);

        ck_assert_uint_eq(choice.n_names, 1);
        ck_assert_int_eq(annotation_init(&a, &trace, &choice.rows[0], cycles, &options), 0);
        function_choice_deinit(&choice);
}

static void build_kernel(bool with_code)
{
        uint32_t memory = add_memory();
        uint32_t first, inside, other;

        if (with_code)
                add_region(memory);
        first = add_frame(memory, CODE_AVMA, "kernel");
        inside = add_frame(memory, CODE_AVMA + 3, "kernel"); /* in the middle of the je */
        other = add_frame(trace_builder_module(&builder, "/bin/other"), 0x10, "other");
        trace_builder_begin_run(&builder, trace_builder_thread(&builder, 1, 1));
        add_sample(cycles, first, 100);
        add_sample(instructions, first, 250);
        add_sample(cycles, inside, 300);
        add_sample(instructions, inside, 150);
        add_sample(cycles, inside, 100);
        add_sample(instructions, inside, 50);
        add_sample(cycles, other, 1000);
        add_sample(cycles, 0, 1000);
        trace_builder_end_run(&builder);
        load();
}

START_TEST(test_counts_of_instructions)
{
        build_kernel(true);
        annotate("kernel");
        ck_assert_msg(a.has_code, "%s", a.no_code.text);
        ck_assert(a.is_kept);
        ck_assert_uint_eq(a.listing.n_instructions, 7);
        ck_assert_uint_eq(a.sum.n_samples, 3);
        ck_assert_uint_eq(a.sum.weight, 500);
        ck_assert_uint_eq(a.instructions[0].sum.weight, 100);
        ck_assert_uint_eq(a.instructions[1].sum.n_samples, 0);
        ck_assert_uint_eq(a.instructions[2].sum.n_samples, 2);
        ck_assert_uint_eq(a.instructions[2].sum.weight, 400);
        ck_assert_uint_eq(a.elsewhere.n_samples, 0);
        ck_assert_uint_eq(a.counters.n_counters, 2);
        ck_assert_uint_eq(a.instruction_counters[0 * 2 + 1], 250);
        ck_assert_uint_eq(a.instruction_counters[2 * 2 + 1], 200);
        ck_assert_uint_eq(a.counters_sum[0], 500);
}
END_TEST

START_TEST(test_lines_of_generated_code)
{
        build_kernel(true);
        annotate("kernel");
        ck_assert_uint_eq(a.n_lines, 2);
        ck_assert_uint_eq(a.lines[0].line, 3);
        ck_assert_uint_eq(a.lines[0].sum.weight, 500);
        ck_assert_uint_eq(a.lines[1].line, 5);
        ck_assert_uint_eq(a.lines[1].sum.n_samples, 0);
        ck_assert_mem_eq(annotation_string(&a, a.lines[0].file).bytes, "k.mlir", 6);
}
END_TEST

#define MLIR "line 1\nline 2\nline 3\nline 4\nline 5\nline 6"

/* Lines without code have rows as well; those with code keep their samples and counters. */
START_TEST(test_whole_files)
{
        uint32_t id = trace_builder_attachment(&builder, "k.mlir", strlen(MLIR));

        trace_builder_attachment_part(&builder, id, 0, MLIR, strlen(MLIR));
        build_kernel(true);
        annotate("kernel");
        ck_assert_uint_eq(a.n_lines, 2);
        ck_assert_int_eq(annotation_files_fill(&a, &trace.sources), 0);
        ck_assert_uint_eq(a.n_lines, 6);
        ck_assert_uint_eq(a.n_short_files, 0);
        for (uint32_t i = 0; i < 6; i++) {
                ck_assert_uint_eq(a.lines[i].line, i + 1);
                ck_assert_int_eq(a.lines[i].has_code, i == 2 || i == 4);
                ck_assert_uint_eq(a.lines[i].sum.weight, i == 2 ? 500 : 0);
                ck_assert_uint_eq(a.line_counters[i * 2], i == 2 ? 500 : 0);
                ck_assert_uint_eq(a.line_counters[i * 2 + 1], i == 2 ? 450 : 0);
        }
}
END_TEST

/* A file of which there is no text keeps its rows. */
START_TEST(test_whole_files_without_text)
{
        build_kernel(true);
        annotate("kernel");
        ck_assert_int_eq(annotation_files_fill(&a, &trace.sources), 0);
        ck_assert_uint_eq(a.n_lines, 2);
        ck_assert_uint_eq(a.lines[1].line, 5);
        ck_assert_uint_eq(a.line_counters[1], 450);
}
END_TEST

/* A file of too many lines keeps its rows, and is counted. */
START_TEST(test_whole_files_bounded)
{
        size_t n_bytes = ANNOTATION_FILE_LINES_MAX + 1;
        char *lines = malloc(n_bytes);
        uint32_t id = trace_builder_attachment(&builder, "k.mlir", n_bytes);

        ck_assert_ptr_nonnull(lines);
        memset(lines, '\n', n_bytes);
        trace_builder_attachment_part(&builder, id, 0, lines, n_bytes);
        free(lines);
        build_kernel(true);
        annotate("kernel");
        ck_assert_int_eq(annotation_files_fill(&a, &trace.sources), 0);
        ck_assert_uint_eq(a.n_lines, 2);
        ck_assert_uint_eq(a.n_short_files, 1);
}
END_TEST

START_TEST(test_arrows)
{
        build_kernel(true);
        annotate("kernel");
        ck_assert_uint_eq(a.n_arrows, 2);
        ck_assert_uint_eq(a.arrows[0].target, 1);
        ck_assert_uint_eq(a.arrows[0].first, 1);
        ck_assert_uint_eq(a.arrows[0].last, 4);
        ck_assert_uint_eq(a.arrows[1].target, 5);
        ck_assert_uint_eq(a.arrows[1].first, 2);
        ck_assert_uint_eq(a.arrows[1].last, 5);
        ck_assert_uint_ne(a.arrows[0].lane, a.arrows[1].lane);
        ck_assert_uint_eq(a.instructions[3].target, 1);
        ck_assert_uint_eq(a.instructions[4].target, 1);
        ck_assert_uint_eq(a.instructions[5].target, UINT32_MAX); /* out of the function */
        ck_assert(a.instructions[1].is_target && !a.instructions[2].is_target);
}
END_TEST

START_TEST(test_without_code)
{
        build_kernel(false);
        annotate("kernel");
        ck_assert(!a.has_code);
        ck_assert_int_eq(a.no_code.code, -ENOENT);
        ck_assert_uint_eq(a.listing.n_instructions, 2); /* the sampled addresses */
        ck_assert_uint_eq(a.instructions[0].sum.n_samples, 1);
        ck_assert_uint_eq(a.instructions[1].sum.weight, 400);
        for (size_t i = 0; i < a.listing.n_instructions; i++) {
                const struct listing_instruction *row = &a.listing.instructions[i];

                ck_assert_uint_eq(row->n_symbols, 1);
                ck_assert_uint_lt(row->first_symbol, a.listing.n_symbols);
                ck_assert(text_view_is(annotation_string(&a, a.listing.symbols[row->first_symbol].function),
                                       "kernel"));
        }
}
END_TEST

/* ---- names --------------------------------------------------------------------------------------------- */

/* A frame of a host with "tiny" inlined into it. */
static uint32_t add_inlined(uint32_t module, uint64_t offset, const char *host)
{
        uint32_t frame = trace_builder_frame(&builder, module, offset);

        trace_builder_symbol(&builder, frame, "tiny", TRACE_SYMBOL_INLINED);
        trace_builder_symbol(&builder, frame, host, 0);
        return frame;
}

static void build_names(void)
{
        uint32_t one = trace_builder_module(&builder, "/lib/one.so"),
                 two = trace_builder_module(&builder, "/lib/two.so");

        trace_builder_begin_run(&builder, trace_builder_thread(&builder, 1, 1));
        add_sample(cycles, add_frame(one, 0x100, "sum"), 10);
        add_sample(cycles, add_frame(one, 0x200, "sum.cold"), 1);
        add_sample(cycles, add_frame(two, 0x100, "sum"), 30);
        add_sample(cycles, add_frame(two, 0x300, "sum_all(int)"), 5);
        add_sample(cycles, add_inlined(one, 0x900, "host"), 2);
        add_sample(cycles, add_inlined(one, 0xa00, "sum"), 4);
        add_sample(cycles, add_inlined(one, 0xb00, "host"), 3);
        add_sample(cycles, trace_builder_frame(&builder, two, 0x700), 7);
        trace_builder_end_run(&builder);
        load();
}

static const struct {
        const char *name, *module;
        size_t n_rows;
        uint32_t n_names;
        uint64_t hottest;
        bool is_inlined, has_other_module;
} choices[] = {
        { "sum", NULL, 2, 1, 30, false, false },
        { "sum", "one.so", 1, 1, 14, false, true },
        { "sum", "three.so", 0, 0, 0, false, true },
        { "sum_all", NULL, 1, 1, 5, false, false },
        { "sum_all(int)", NULL, 1, 1, 5, false, false },
        { "_all", NULL, 1, 1, 5, false, false },
        { "su", NULL, 3, 2, 30, false, false },
        { "sum.cold", NULL, 1, 1, 1, false, false },
        { "tiny", NULL, 1, 1, 9, true, false },
        { "host", NULL, 1, 1, 5, false, false },
        { "[no symbol]", NULL, 1, 1, 7, false, false },
        { "nosuch", NULL, 0, 0, 0, false, false },
        { "", NULL, 0, 0, 0, false, false },
        { NULL, NULL, 4, 3, 30, false, false },
};

/* loop test */
START_LOOP_TEST(test_choice, 0, sizeof(choices) / sizeof(choices[0]))
{
        struct function_choice c;

        build_names();
        c = choose(choices[_i].name, choices[_i].module);
        ck_assert_uint_eq(c.n_rows, choices[_i].n_rows);
        ck_assert_uint_eq(c.n_names, choices[_i].n_names);
        if (c.n_rows > 0)
                ck_assert_uint_eq(c.rows[0].sum.weight, choices[_i].hottest);
        ck_assert_int_eq(c.is_inlined, choices[_i].is_inlined);
        ck_assert_int_eq(c.has_other_module, choices[_i].has_other_module);
        function_choice_deinit(&c);
}
END_TEST

/* The part that the compiler put elsewhere counts with its function; that of another module does not. */
START_TEST(test_cold_part)
{
        struct annotation_options options = { .search = NULL };
        struct function_choice c;

        build_names();
        c = choose("sum", "one.so");
        ck_assert_int_eq(annotation_init(&a, &trace, &c.rows[0], cycles, &options), 0);
        ck_assert_uint_eq(a.sum.weight, 15);
        ck_assert_uint_eq(a.self.weight, 11); /* without what "tiny" has of it */
        ck_assert_uint_eq(a.listing.n_instructions, 3);
        function_choice_deinit(&c);
}
END_TEST

/* All places of a function that was inlined, whatever it was inlined into. */
START_TEST(test_inlined_everywhere)
{
        build_names();
        annotate("tiny");
        ck_assert(a.function.is_inlined);
        ck_assert_uint_eq(a.sum.weight, 9);
        ck_assert_uint_eq(a.self.weight, 9);
        ck_assert_uint_eq(a.listing.n_instructions, 3);
}
END_TEST

/* As the table of functions of a report has it. */
START_TEST(test_exact_function)
{
        struct function_table functions;
        struct function_request request = { .event = cycles };
        struct function_choice c;
        uint32_t n_found = 0;

        build_names();
        ck_assert_int_eq(function_table_init(&functions, trace.dictionary), 0);
        for (uint32_t label = 1; label <= functions.functions.n_items; label++) {
                request.exact = function_table_get(&functions, label);
                ck_assert_int_eq(function_choice_init(&c, &trace, &request), 0);
                ck_assert_uint_le(c.n_rows, 1);
                if (c.n_rows == 1) {
                        ck_assert_uint_eq(c.rows[0].name, request.exact->name);
                        n_found++;
                }
                function_choice_deinit(&c);
        }
        /* sum and sum.cold of one, sum and sum_all of two, tiny, host, and the code without a name. */
        ck_assert_uint_eq(n_found, 7);
        function_table_deinit(&functions);
}
END_TEST

/* A later group of rows replaces an earlier one. */
START_TEST(test_later_symbols_count)
{
        uint32_t frame = add_frame(trace_builder_module(&builder, "/lib/one.so"), 0x100, "old");
        struct function_choice c;

        trace_builder_symbol(&builder, frame, "new", 0);
        trace_builder_begin_run(&builder, trace_builder_thread(&builder, 1, 1));
        add_sample(cycles, frame, 1);
        trace_builder_end_run(&builder);
        load();
        c = choose("old", NULL);
        ck_assert_uint_eq(c.n_rows, 0);
        c = choose("new", NULL);
        ck_assert_uint_eq(c.n_rows, 1);
        function_choice_deinit(&c);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
