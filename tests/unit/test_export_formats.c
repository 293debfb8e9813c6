/* SPDX-License-Identifier: MIT */
/* Every format takes a trace that has everything, and one that has nothing; what is to be JSON is. */
#include "export/shared/export_format.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "export/shared/export_event.h"
#include "tests/unit/small_trace.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The export of a trace in a format; to be freed. */
static char *export_to_memory(const struct export_format *format, const char *path, bool zones_as_frames,
                              struct export_totals *ret_totals)
{
        struct export_options options = { .zones_as_frames = zones_as_frames };
        struct trace_filter_request request = { .zone = NULL };
        struct trace_filter filter;
        struct loaded_trace trace;
        struct error err = ERROR_NONE;
        char *bytes = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&bytes, &n_bytes);
        int r;

        ck_assert_int_eq(loaded_trace_open(&trace, path, &err), 0);
        ck_assert_int_eq(trace_filter_init(&filter, &request, &trace, &err), 0);
        options.filter = &filter;
        ck_assert_int_eq(export_event_choose(&trace, &filter, &options.event, &err), 0);
        r = format->write(&trace, &options, out, ret_totals, &err);
        ck_assert_msg(r == 0, "%s: %s", format->name, err.text);
        ck_assert_int_eq(fclose(out), 0);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return bytes;
}

static void check_json(const struct export_format *format, const char *text)
{
        json_error_t error;
        json_t *root;

        if (!strstr(format->extension, ".json"))
                return;
        root = json_loads(text, JSON_ALLOW_NUL, &error);
        ck_assert_msg(root != NULL, "%s: %s at %d", format->name, error.text, error.position);
        json_decref(root);
}

START_LOOP_TEST(a_trace_with_everything, 0, 2)
{
        struct trace_builder b;

        trace_builder_init(&b);
        small_trace_build(&b);
        for (const struct export_format *f = export_formats(); f->name; f++) {
                struct export_totals totals;
                char *text = export_to_memory(f, b.path, _i != 0, &totals);

                check_json(f, text);
                free(text);
        }
        trace_builder_deinit(&b);
}
END_TEST

START_TEST(a_trace_with_nothing)
{
        struct trace_builder b;

        trace_builder_init(&b);
        trace_builder_finish(&b);
        for (const struct export_format *f = export_formats(); f->name; f++) {
                struct export_totals totals;
                char *text = export_to_memory(f, b.path, false, &totals);

                check_json(f, text);
                ck_assert_uint_eq(totals.n_samples, 0);
                ck_assert_uint_eq(totals.n_zones, 0);
                free(text);
        }
        trace_builder_deinit(&b);
}
END_TEST

/* Names of a program that mean something to the formats: each is in the file, and breaks nothing. */
START_TEST(hostile_names)
{
        static const char name[] = "a;b\n\"\\\xff\x01 12";
        struct export_totals totals;
        struct trace_builder b;
        uint32_t event, stack, zone, frame;

        trace_builder_init(&b);
        event = trace_builder_sample_event(&b, name);
        frame = trace_builder_frame(&b, trace_builder_module(&b, name), 16);
        trace_builder_symbol(&b, frame, name, 0);
        stack = trace_builder_stack(&b, 0, frame);
        zone = trace_builder_location(&b, name);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_begin_zone(&b, 100, zone);
        trace_builder_sample(&b, 200, event, trace_builder_path(&b, 0, zone), stack);
        trace_builder_event(&b, 300, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        for (const struct export_format *f = export_formats(); f->name; f++) {
                char *text = export_to_memory(f, b.path, true, &totals);

                check_json(f, text);
                if (strcmp(f->name, "folded") == 0)
                        ck_assert_str_eq(text, "[unnamed];zone:a:b \"\\\xff  12;a:b \"\\\xff  12 1\n");
                free(text);
        }
        trace_builder_deinit(&b);
}
END_TEST

static void check_name_of_process(const char *path, const char *format_name, const char *wanted)
{
        for (const struct export_format *f = export_formats(); f->name; f++) {
                struct export_totals totals;
                char *text;

                if (strcmp(f->name, format_name) != 0)
                        continue;
                text = export_to_memory(f, path, false, &totals);
                ck_assert_msg(strstr(text, wanted) != NULL, "%s: no %s in %s", f->name, wanted, text);
                free(text);
        }
}

/* A program that names its first thread is still called by its file. */
START_TEST(a_process_is_called_as_its_program)
{
        struct trace_mapping mapping = { .start_avma = 4096, .length_bytes = 4096, .process = 1 };
        static const char *const names[] = { "sh", "a_program_with_", "main" };
        struct trace_builder b;
        uint32_t thread;

        trace_builder_init(&b);
        thread = trace_builder_thread(&b, 1, 1);
        mapping.module = trace_builder_module(&b, "/bin/a_program_with_a_long_name");
        (void)trace_builder_row(&b, TRACE_TABLE_MAPPINGS, &mapping);
        trace_builder_begin_run(&b, thread);
        for (uint32_t i = 0; i < 3; i++) {
                struct trace_event event = { .time_ns = 100 + i, .op = TRACE_OP_THREAD_NAME };

                event.thread_name.name = trace_builder_string(&b, names[i]);
                event_encoder_add(&b.encoder, &event);
        }
        trace_builder_begin_zone(&b, 200, trace_builder_location(&b, "zone"));
        trace_builder_event(&b, 300, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        check_name_of_process(b.path, "firefox", "\"processName\":\"a_program_with_\"");
        check_name_of_process(b.path, "firefox", "\"name\":\"main\"");
        check_name_of_process(b.path, "chrome", "{\"name\":\"a_program_with_\"}");
        trace_builder_deinit(&b);
}
END_TEST

START_TEST(a_full_disk_is_said)
{
        struct export_options options = { .event = 0 };
        struct trace_builder b;

        trace_builder_init(&b);
        small_trace_build(&b);
        for (const struct export_format *f = export_formats(); f->name; f++) {
                FILE *out = fopen("/dev/full", "w");
                struct error err = ERROR_NONE;
                struct export_totals totals;
                struct loaded_trace trace;
                int r;

                ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
                ck_assert_int_eq(export_event_choose(&trace, NULL, &options.event, &err), 0);
                r = f->write(&trace, &options, out, &totals, &err);
                ck_assert_msg(r < 0, "%s says that all is well", f->name);
                loaded_trace_close(&trace);
                (void)fclose(out);
        }
        trace_builder_deinit(&b);
}
END_TEST
