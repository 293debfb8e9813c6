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

static struct trace_builder b;

static void set_up(void)
{
        trace_builder_init(&b);
}

static void tear_down(void)
{
        trace_builder_deinit(&b);
}

/* The export of a trace in a format; to be freed. */
static char *export_with(const struct export_format *format, const char *path, struct export_options options,
                         struct export_totals *ret_totals, size_t *ret_bytes)
{
        struct trace_filter_request request = { .zone = NULL };
        struct trace_filter filter;
        struct loaded_trace trace;
        struct error err = ERROR_NONE;
        char *bytes = NULL;
        FILE *out = open_memstream(&bytes, ret_bytes);
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

static char *export_to_memory(const struct export_format *format, const char *path, bool zones_as_frames,
                              struct export_totals *ret_totals)
{
        const struct export_options options = { .zones_as_frames = zones_as_frames };
        size_t n_bytes;

        return export_with(format, path, options, ret_totals, &n_bytes);
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
        small_trace_build(&b);
        for (const struct export_format *f = export_formats(); f->name; f++) {
                struct export_totals totals;
                char *text = export_to_memory(f, b.path, _i != 0, &totals);

                check_json(f, text);
                free(text);
        }
}
END_TEST

START_TEST(a_trace_with_nothing)
{
        trace_builder_finish(&b);
        for (const struct export_format *f = export_formats(); f->name; f++) {
                struct export_totals totals;
                char *text = export_to_memory(f, b.path, false, &totals);

                check_json(f, text);
                ck_assert_uint_eq(totals.n_samples, 0);
                ck_assert_uint_eq(totals.n_zones, 0);
                free(text);
        }
}
END_TEST

/* Names of a program that mean something to the formats: each is in the file, and breaks nothing. */
START_TEST(hostile_names)
{
        static const char name[] = "a;b\n\"\\\xff\x01 12";
        struct export_totals totals;
        uint32_t event, stack, zone, frame;

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
}
END_TEST

/* The columns of the first thread's samples; to be freed. */
static json_t *firefox_samples(const char *path)
{
        json_t *root = NULL, *samples;

        for (const struct export_format *f = export_formats(); f->name; f++) {
                struct export_totals totals;
                char *text;

                if (strcmp(f->name, "firefox") != 0)
                        continue;
                text = export_to_memory(f, path, false, &totals);
                root = json_loads(text, 0, NULL);
                free(text);
        }
        ck_assert_ptr_nonnull(root);
        samples = json_incref(
                json_object_get(json_array_get(json_object_get(root, "threads"), 0), "samples"));
        json_decref(root);
        return samples;
}

/* The Firefox profiler shows from the first sample to the last: these lie around all zones. */
START_LOOP_TEST(firefox_shows_all_zones, 0, 3)
{
        /* the zone; samples are at 300 and 400 */
        static const uint64_t zone_ns[][2] = { { 100, 900 }, { 350, 380 }, { 350, 900 } };
        static const size_t n_samples[] = { 4, 2, 3 };
        uint32_t event, thread;
        json_t *samples, *times;
        size_t n;

        event = trace_builder_sample_event(&b, "cpu-clock");
        thread = trace_builder_thread(&b, 1, 1);
        trace_builder_begin_run(&b, thread);
        trace_builder_sample(&b, 300, event, 0, 0);
        trace_builder_sample(&b, 400, event, 0, 0);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 2));
        trace_builder_begin_zone(&b, zone_ns[_i][0], trace_builder_location(&b, "zone"));
        trace_builder_event(&b, zone_ns[_i][1], TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        samples = firefox_samples(b.path);
        times = json_object_get(samples, "time");
        n = n_samples[_i];
        ck_assert_int_eq(json_integer_value(json_object_get(samples, "length")), (json_int_t)n);
        ck_assert_uint_eq(json_array_size(times), n);
        ck_assert_uint_eq(json_array_size(json_object_get(samples, "stack")), n);
        ck_assert_uint_eq(json_array_size(json_object_get(samples, "weight")), n);
        ck_assert_double_eq_tol(json_number_value(json_array_get(times, n - 1)) -
                                        json_number_value(json_array_get(times, 0)),
                                (_i == 0   ? 800
                                 : _i == 1 ? 100
                                           : 600) /
                                        1e6,
                                1e-9);
        ck_assert((json_number_value(json_array_get(json_object_get(samples, "weight"), n - 1)) == 0) ==
                  (_i != 1));
        json_decref(samples);
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
        uint32_t thread;

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
}
END_TEST

/*
 * main > run (Python) > sort > build (Python) > copy: 3 samples, or a wait; main > spin: @n_native samples.
 */
static void build_python(uint32_t n_native, bool waits)
{
        struct trace_module python = { .kind = TRACE_MODULE_PYTHON };
        uint32_t native, module, main, copy, spin, event;

        event = trace_builder_sample_event(&b, "cpu-clock");
        native = trace_builder_module(&b, "/usr/bin/python3.11");
        python.path = trace_builder_string(&b, "/srv/work.py");
        module = trace_builder_row(&b, TRACE_TABLE_MODULES, &python);
        main = trace_builder_push(&b, 0, native, 0x10, "main");
        copy = trace_builder_push(&b, main, module, 1, "run");
        copy = trace_builder_push(&b, copy, native, 0x20, "sort");
        copy = trace_builder_push(&b, copy, module, 2, "build");
        copy = trace_builder_push(&b, copy, native, 0x30, "copy");
        spin = trace_builder_push(&b, main, native, 0x40, "spin");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        TRACE_BUILDER_ADD(&b, 50, SWITCH_IN, 0);
        for (uint32_t i = 0; !waits && i < 3 + n_native; i++)
                trace_builder_sample(&b, 100 + i, event, 0, i < 3 ? copy : spin);
        if (waits) {
                TRACE_BUILDER_ADD(&b, 200, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, copy, TRACE_STACK_COMPLETE);
                TRACE_BUILDER_ADD(&b, 300, SWITCH_IN, 0);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

static bool has_function(const struct export_format *format, const char *path, bool shows_native,
                         const char *name)
{
        const struct export_options options = { .shows_native = shows_native };
        struct export_totals totals;
        size_t n_bytes;
        char *bytes = export_with(format, path, options, &totals, &n_bytes);
        bool has = memmem(bytes, n_bytes, name, strlen(name)) != NULL;

        free(bytes);
        return has;
}

static const struct export_format *format_of(const char *name)
{
        const struct export_format *f = export_formats();

        while (strcmp(f->name, name) != 0)
                f++;
        return f;
}

/* pprof's bytes are not packed here: gzip_file does that. */
START_LOOP_TEST(tables_of_functions_have_python_functions, 0, 4)
{
        static const char *const names[] = { "pprof", "callgrind" };
        const struct export_format *f = format_of(names[_i % 2]);
        bool waits = _i >= 2;

        build_python(2, waits);
        ck_assert(has_function(f, b.path, false, "build"));
        ck_assert(has_function(f, b.path, false, "main"));
        ck_assert(waits || has_function(f, b.path, false, "spin"));
        ck_assert(!has_function(f, b.path, false, "copy"));
        ck_assert(!has_function(f, b.path, false, "sort"));
        ck_assert(has_function(f, b.path, true, "copy"));
        ck_assert(has_function(f, b.path, true, "sort"));
        tear_down();
        set_up();
        build_python(3, false); /* half is not more than half */
        ck_assert(has_function(f, b.path, false, "copy"));
        ck_assert(has_function(f, b.path, false, "sort"));
}
END_TEST

/* pprof reads no sample whose location has no row. */
START_LOOP_TEST(a_sample_without_a_call_stack_has_a_location, 0, 2)
{
        static const char words[] = "[no call stack]";
        uint32_t event, stack;

        event = trace_builder_sample_event(&b, "cpu-clock");
        stack = trace_builder_push(&b, 0, trace_builder_module(&b, "/bin/true"), 0x10, "main");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        trace_builder_sample(&b, 100, event, 0, stack);
        if (_i == 1)
                trace_builder_sample(&b, 200, event, 0, 0);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        ck_assert(has_function(format_of("pprof"), b.path, true, "main"));
        ck_assert_int_eq(has_function(format_of("pprof"), b.path, true, words), _i);
}
END_TEST

START_TEST(formats_of_call_stacks_have_whole_ones)
{
        struct export_totals totals;
        char *text;

        build_python(0, false);
        text = export_to_memory(format_of("folded"), b.path, false, &totals);
        ck_assert_str_eq(text, "[unnamed];main;run;sort;build;copy 3\n");
        ck_assert(!totals.is_folded);
        free(text);
        ck_assert(has_function(format_of("speedscope"), b.path, false, "copy"));
        ck_assert(has_function(format_of("flamegraph"), b.path, false, "copy"));
}
END_TEST

/* The line that begins with @words; its number.  0 = none */
static unsigned long number_of(const char *text, const char *words)
{
        const char *at = strstr(text, words);

        return at ? strtoul(at + strlen(words), NULL, 10) : 0;
}

START_LOOP_TEST(waits_and_samples_are_nanoseconds, 0, 2)
{
        const struct export_options options = { .waits = true };
        struct trace_sample_event row = { .mode = TRACE_SAMPLE_MODE_PERIOD };
        struct export_totals totals;
        uint32_t event, module, main, f;
        size_t n_bytes;
        char *text;

        row.name = trace_builder_string(&b, _i == 0 ? "cycles" : "cpu-clock");
        row.unit = trace_builder_string(&b, _i == 0 ? "cycles" : "ns");
        event = trace_builder_row(&b, TRACE_TABLE_SAMPLE_EVENTS, &row);
        module = trace_builder_module(&b, "/bin/true");
        main = trace_builder_push(&b, 0, module, 0x10, "main");
        f = trace_builder_push(&b, main, module, 0x20, "f");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 1, 1));
        TRACE_BUILDER_ADD(&b, 100, SWITCH_IN, 0);
        trace_builder_sample(&b, 150, event, 0, main);
        trace_builder_sample(&b, 155, event, 0, main);
        trace_builder_sample(&b, 160, event, 0, f);
        TRACE_BUILDER_ADD(&b, 200, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, main, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&b, 500, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 600, SWITCH_OUT, 0, 1);
        TRACE_BUILDER_ADD(&b, 650, SWITCH_IN, 0);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        text = export_with(format_of("folded"), b.path, options, &totals, &n_bytes);
        /* 200 ns on a CPU: cycles share them, 2 to 1; a clock's samples are nanoseconds as they are. */
        ck_assert_uint_eq(number_of(text, "[unnamed];main "), _i == 0 ? 133 : 2000);
        ck_assert_uint_eq(number_of(text, "[unnamed];main;f "), _i == 0 ? 66 : 1000);
        ck_assert_uint_eq(number_of(text, "[unnamed];main;[waiting] "), 300);
        ck_assert_uint_eq(number_of(text, "[preempted] "), 50);
        ck_assert_uint_eq(totals.n_waits, 2);
        ck_assert_uint_eq(totals.left_out[EXPORT_LEFT_OUT_SWITCHES], 0);
        free(text);
        text = export_with(format_of("flamegraph"), b.path, options, &totals, &n_bytes);
        ck_assert_ptr_nonnull(strstr(text, "<title>[waiting] (0.000 ms, "));
        ck_assert_ptr_nonnull(strstr(text, "100% off a CPU)</title>"));
        free(text);
}
END_TEST

START_TEST(a_full_disk_is_said)
{
        struct export_options options = { .event = 0 };

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
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
