/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_load.c, view/diff/diff_view.c: a trace's samples and zones are counted;
 * hostile names harm no format
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE   "\x1b[2Jevil\n\xff\"}],%s"
#define STEP_NS   UINT64_C(1000)
#define N_STEPS   640
#define START_NS  UINT64_C(1000000)
#define N_IN_ZONE 4

/* A sample each step, of two functions in turns, in a zone of four steps. */
static void build(struct trace_builder *b, bool has_samples, bool has_zones)
{
        uint32_t thread, event, module, zone, stacks[2];
        struct trace_sample_event sampled = { .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ, .rate = 1000 };

        trace_builder_init(b);
        thread = trace_builder_thread(b, 1, 1);
        sampled.name = trace_builder_string(b, "cpu-clock");
        sampled.unit = trace_builder_string(b, "ns");
        event = has_samples ? trace_builder_row(b, TRACE_TABLE_SAMPLE_EVENTS, &sampled) : 0;
        module = trace_builder_module(b, "/build/1/prog");
        zone = trace_builder_location(b, "zone " HOSTILE);
        for (uint32_t i = 0; i < 2; i++) {
                uint32_t frame = trace_builder_frame(b, module, 16 * (i + 1));

                stacks[i] = trace_builder_stack(b, 0, frame);
                trace_builder_symbol(b, frame, i == 0 ? "plain" : HOSTILE, 0);
        }
        trace_builder_begin_run(b, thread);
        trace_builder_event(b, START_NS, TRACE_OP_SWITCH_IN);
        for (uint64_t i = 0; i < N_STEPS; i++) {
                uint64_t now_ns = START_NS + i * STEP_NS;

                if (has_zones && i % N_IN_ZONE == 0)
                        trace_builder_begin_zone(b, now_ns, zone);
                if (has_samples)
                        trace_builder_sample(b, now_ns, event, 0, stacks[i % 2]);
                if (has_zones && i % N_IN_ZONE == N_IN_ZONE - 1)
                        trace_builder_event(b, now_ns, TRACE_OP_ZONE_END);
        }
        trace_builder_event(b, START_NS + N_STEPS * STEP_NS, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

static void load(struct trace_builder *b, struct diff_run *run, struct diff_names *names,
                 const struct diff_run_request *request)
{
        struct error err = ERROR_NONE;
        struct loaded_trace trace;

        ck_assert_int_eq(loaded_trace_open(&trace, b->path, &err), 0);
        ck_assert_int_eq(diff_run_load(run, names, &trace, request, &err), 0);
        loaded_trace_close(&trace);
}

static uint32_t find_key(const struct diff_names *names, enum diff_kind kind, const char *name)
{
        for (uint32_t key = 1; key <= names->keys.n_items; key++) {
                const struct diff_key *row = diff_names_key(names, key);
                struct text_view s = diff_names_string(names, row->name);

                if (row->kind == kind && s.n_bytes == strlen(name) && memcmp(s.bytes, name, s.n_bytes) == 0)
                        return key;
        }
        ck_abort_msg("no key %s", name);
        return 0;
}

START_TEST(test_counts)
{
        struct trace_builder b;
        struct diff_names names;
        struct zone_pattern unit;
        struct diff_run_request request = { .unit = &unit };
        struct diff_run run;
        struct diff_sum sum;

        build(&b, true, true);
        diff_names_init(&names);
        ck_assert_int_eq(zone_pattern_init(&unit, "zone*", NULL), 0);
        load(&b, &run, &names, &request);
        ck_assert_uint_eq(run.n_samples, N_STEPS);
        ck_assert_uint_eq(run.n_zones, N_STEPS / N_IN_ZONE);
        ck_assert_uint_eq(run.n_units, N_STEPS / N_IN_ZONE);
        ck_assert(run.weight_is_ns && run.has_switches);
        sum = diff_run_sum(&run, find_key(&names, DIFF_FUNCTION, "plain"));
        ck_assert_uint_eq(sum.n, N_STEPS / 2);
        sum = diff_run_sum(&run, find_key(&names, DIFF_ZONE, "zone " HOSTILE));
        ck_assert_double_eq(sum.wall_ns, (double)(N_STEPS / N_IN_ZONE * (N_IN_ZONE - 1) * STEP_NS));
        ck_assert_double_eq(sum.cpu, sum.wall_ns);
        ck_assert_double_eq(sum.self_ns, sum.wall_ns);
        ck_assert_double_eq(sum.typical_cpu.mean, (double)((N_IN_ZONE - 1) * STEP_NS));
        ck_assert_ptr_null(sum.spreads);
        diff_run_deinit(&run);

        request.event = "another";
        load(&b, &run, &names, &request);
        ck_assert_uint_eq(run.n_samples, 0);
        diff_run_deinit(&run);
        zone_pattern_deinit(&unit);
        diff_names_deinit(&names);
        trace_builder_deinit(&b);
}
END_TEST

/* In every format; of JSON it is looked whether it is any. */
static void print_all(const struct view_document *d)
{
        for (int format = DOCUMENT_TEXT; format <= DOCUMENT_CSV; format++) {
                struct document_options options = { .format = (enum document_format)format,
                                                    .n_columns = 80,
                                                    .separator = ',' };
                struct error err = ERROR_NONE;
                char *text = NULL;
                size_t n_bytes = 0;
                FILE *out = open_memstream(&text, &n_bytes);

                ck_assert_ptr_nonnull(out);
                ck_assert_int_eq(document_print(d, &options, out, &err), 0);
                ck_assert_int_eq(fclose(out), 0);
                if (format != DOCUMENT_CSV) /* which is for programs */
                        ck_assert_ptr_null(memchr(text, 0x1b, n_bytes));
                if (format == DOCUMENT_JSON) {
                        json_t *json = json_loads(text, 0, NULL);

                        ck_assert_ptr_nonnull(json);
                        ck_assert_str_eq(json_string_value(json_object_get(json, "schema")),
                                         diff_view_schema.name);
                        json_decref(json);
                }
                free(text);
        }
}

/* Nothing, only samples, only zones, both; before and after. */
START_TEST(test_views)
{
        struct diff_options options = diff_options_default();
        struct diff_view_options view_options = { .limit = 0 };
        struct diff_run_request request = { .filter = NULL };

        for (int i = 0; i < 16; i++) {
                struct trace_builder b;
                struct diff_names names;
                struct diff_run runs[2];
                const struct diff_run *const list[] = { &runs[0], &runs[1] };
                struct diff_comparison c;
                struct view_document d;

                diff_names_init(&names);
                for (int side = 0; side < 2; side++) {
                        build(&b, (i >> (2 * side) & 1) != 0, (i >> (2 * side) & 2) != 0);
                        load(&b, &runs[side], &names, &request);
                        trace_builder_deinit(&b);
                }
                ck_assert_int_eq(diff_comparison_init(&c, &names, list, 1, 1, &options), 0);
                ck_assert_uint_eq(c.n_significant, 0);
                view_document_init(&d, diff_view_schema.name);
                diff_view_fill(&d, &c, &view_options);
                ck_assert(!d.failed);
                print_all(&d);
                view_document_deinit(&d);
                diff_comparison_deinit(&c);
                diff_run_deinit(&runs[0]);
                diff_run_deinit(&runs[1]);
                diff_names_deinit(&names);
        }
}
END_TEST
