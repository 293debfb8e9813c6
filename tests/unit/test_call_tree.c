/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/call_tree.c: weights of known callstacks, from the top, from the bottom,
 * around one function, cut
 */
#include "analyze/report/report.h"
#include "analyze/samples/call_tree.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAIN, WORK, SORT, COPY, N_FUNCTIONS };

static const char *const names[N_FUNCTIONS] = { "main", "work", "sort", "copy" };

/*
 *      main > work > sort          4
 *      main > work > sort > copy   3
 *      main > copy                 2
 *      main > work > sort > sort   1
 *      without a callstack         5
 */
static void build(struct trace_builder *b)
{
        uint32_t thread = trace_builder_thread(b, 1, 1);
        uint32_t event = trace_builder_sample_event(b, "cpu-clock");
        uint32_t module = trace_builder_module(b, "/bin/program");
        uint32_t frames[N_FUNCTIONS], in_main, in_work, in_sort, stacks[5];
        static const unsigned counts[5] = { 4, 3, 2, 1, 5 };
        uint64_t time_ns = 10;

        for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
                frames[i] = trace_builder_frame(b, module, 100 * i);
                trace_builder_symbol(b, frames[i], names[i], 0);
        }
        in_main = trace_builder_stack(b, 0, frames[MAIN]);
        in_work = trace_builder_stack(b, in_main, frames[WORK]);
        in_sort = trace_builder_stack(b, in_work, frames[SORT]);
        stacks[0] = in_sort;
        stacks[1] = trace_builder_stack(b, in_sort, frames[COPY]);
        stacks[2] = trace_builder_stack(b, in_main, frames[COPY]);
        stacks[3] = trace_builder_stack(b, in_sort, frames[SORT]);
        stacks[4] = 0;
        trace_builder_begin_run(b, thread);
        for (uint32_t i = 0; i < 5; i++)
                for (unsigned n = 0; n < counts[i]; n++)
                        trace_builder_sample(b, time_ns++, event, 0, stacks[i]);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

static struct report *load(const struct trace_builder *b)
{
        struct report *report = NULL;
        struct error err = ERROR_NONE;

        ck_assert_msg(report_load(b->path, NULL, &report, &err) == 0, "%s", err.text);
        return report;
}

static const char *name_of(const struct report *report, uint32_t label)
{
        const struct function *function = function_table_get(&report->samples.functions, label);
        struct text_view name = trace_dictionary_text(report->samples.dictionary, function->name);

        for (int i = 0; i < N_FUNCTIONS; i++)
                if (name.n_bytes == strlen(names[i]) && memcmp(name.bytes, names[i], name.n_bytes) == 0)
                        return names[i];
        return "-";
}

static uint32_t label_of(const struct report *report, const char *name)
{
        for (uint32_t label = 1; label <= report->samples.functions.functions.n_items; label++)
                if (strcmp(name_of(report, label), name) == 0)
                        return label;
        ck_abort_msg("no function %s", name);
        return 0;
}

/* "main 10/0 (work 8/0 ...)" of the children of a node, in their order. */
static void write_down(const struct report *report, const struct call_tree *t, uint32_t node, char *text,
                       size_t text_bytes)
{
        for (uint32_t i = 0; i < t->nodes[node].n_children; i++) {
                const struct call_tree_node *child = &t->nodes[t->nodes[node].first_child + i];
                size_t used = strlen(text);

                ck_assert_uint_eq(child->parent, node);
                (void)snprintf(text + used, text_bytes - used, "%s%s %u/%u", i != 0 ? " " : "",
                               name_of(report, child->label), (unsigned)child->total.n_samples,
                               (unsigned)child->self.n_samples);
                if (child->n_children == 0)
                        continue;
                (void)strncat(text, " (", text_bytes - strlen(text) - 1);
                write_down(report, t, t->nodes[node].first_child + i, text, text_bytes);
                (void)strncat(text, ")", text_bytes - strlen(text) - 1);
        }
}

static uint64_t check_tree(const struct call_tree_options *options, const char *around, const char *wanted)
{
        struct trace_builder b;
        struct call_tree_options own = *options;
        struct report *report;
        struct call_tree t;
        bool chosen[64] = { false };
        char text[1000] = "";
        uint64_t n_left_out;

        trace_builder_init(&b);
        build(&b);
        report = load(&b);
        own.weight_min *= report->event->sum.weight / report->event->sum.n_samples;
        if (around) {
                chosen[label_of(report, around)] = true;
                own.wanted = chosen;
        }
        ck_assert_int_eq(call_tree_init(&t, report->samples.dictionary, &report->samples.functions,
                                        report->samples.stats, report->event->event, &own),
                         0);
        write_down(report, &t, 0, text, sizeof(text));
        ck_assert_str_eq(text, wanted);
        n_left_out = t.n_left_out;
        call_tree_deinit(&t);
        report_free(report);
        trace_builder_deinit(&b);
        return n_left_out;
}

START_TEST(test_from_top)
{
        struct call_tree_options options = { .depth_max = 0 };

        ck_assert_uint_eq(check_tree(&options, NULL,
                                     "main 10/0 (work 8/0 (sort 8/4 (copy 3/3 sort 1/1)) copy 2/2) - 5/5"),
                          0);
}
END_TEST

START_TEST(test_from_bottom)
{
        struct call_tree_options options = { .from_bottom = true };

        ck_assert_uint_eq(check_tree(&options, NULL,
                                     "sort 5/0 (work 4/0 (main 4/4) sort 1/0 (work 1/0 (main 1/1))) "
                                     "copy 5/0 (sort 3/0 (work 3/0 (main 3/3)) main 2/2) - 5/5"),
                          0);
}
END_TEST

START_TEST(test_around_one)
{
        struct call_tree_options options = { .from_bottom = false };

        /* Recursion counts once, at the outermost call. */
        (void)check_tree(&options, "sort", "sort 8/4 (copy 3/3 sort 1/1)");
        (void)check_tree(&options, "copy", "copy 5/5");
        options.from_bottom = true;
        (void)check_tree(&options, "sort", "sort 8/0 (work 8/0 (main 8/8))");
        (void)check_tree(&options, "copy", "copy 5/0 (sort 3/0 (work 3/0 (main 3/3)) main 2/2)");
}
END_TEST

START_TEST(test_what_is_left_out)
{
        struct call_tree_options options = { .depth_max = 2 };

        ck_assert_uint_eq(check_tree(&options, NULL, "main 10/0 (work 8/0 copy 2/2) - 5/5"), 1);
        options = (struct call_tree_options){ .weight_min = 3 };
        ck_assert_uint_eq(check_tree(&options, NULL, "main 10/0 (work 8/0 (sort 8/4 (copy 3/3))) - 5/5"), 2);
        options = (struct call_tree_options){ .weight_min = 6, .from_bottom = true };
        ck_assert_uint_eq(check_tree(&options, NULL, ""), 3);
}
END_TEST
