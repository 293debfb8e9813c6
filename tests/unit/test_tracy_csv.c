/* SPDX-License-Identifier: MIT */
/*
 * export/tables/tracy_csv.c: the columns and numbers of tracy-csvexport; filters; fields quoted; zones
 * that never ended left out
 */
#include "export/tables/tracy_csv.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS UINT64_C(1000)

enum { PARSE = 1, NASTY };

static void add_zone(struct trace_builder *b, uint64_t begin_ns, uint64_t end_ns, uint32_t location)
{
        trace_builder_begin_zone(b, begin_ns, location);
        trace_builder_event(b, end_ns, TRACE_OP_ZONE_END);
}

/* "Parse" of 100, 200 and 600 ns, in the last one a zone of 50 ns; then one that never ends. */
static void build(struct trace_builder *b)
{
        struct trace_location parse = { .line = 12 };
        struct trace_event plot = { .time_ns = 2500, .op = TRACE_OP_PLOT_F64 };
        struct trace_event integer = { .time_ns = 2500, .op = TRACE_OP_PLOT_I64 };
        double half = 0.5, one = 1;
        struct trace_device device = { .process = 1, .number = 1 };
        struct trace_device_clock clock = { .ticks = 500, .raw_ns = 1500, .device = 1 };
        uint32_t thread, space, text;

        trace_builder_init(b);
        thread = trace_builder_thread(b, 7, 77);
        space = trace_builder_string(b, "run");
        text = trace_builder_string(b, "{\"n\": 1}");
        parse.name = trace_builder_string(b, "Parse");
        parse.file = trace_builder_string(b, "parse.c");
        ck_assert_uint_eq(trace_builder_row(b, TRACE_TABLE_LOCATIONS, &parse), PARSE);
        ck_assert_uint_eq(trace_builder_location(b, "a,\"b\"\nc"), NASTY);
        plot.plot_f64.name = integer.plot_i64.name = trace_builder_string(b, "load");
        memcpy(&plot.plot_f64.bits, &half, sizeof(half));
        integer.plot_i64.value = -3;
        memcpy(&device.period_bits, &one, sizeof(one));
        (void)trace_builder_row(b, TRACE_TABLE_DEVICES, &device);
        (void)trace_builder_row(b, TRACE_TABLE_DEVICE_CLOCKS, &clock);
        trace_builder_begin_run(b, thread);
        add_zone(b, START_NS, 1100, PARSE);
        add_zone(b, 1200, 1400, PARSE);
        trace_builder_begin_zone(b, 1400, PARSE);
        trace_builder_text(b, 1400, TRACE_OP_ZONE_TEXT, "seven");
        trace_builder_text(b, 1400, TRACE_OP_ZONE_NAME, "Parse 7");
        add_zone(b, 1500, 1550, NASTY);
        trace_builder_event(b, 2000, TRACE_OP_ZONE_END);
        trace_builder_text(b, 2100, TRACE_OP_MESSAGE_TEXT, "done, or \"not\"");
        event_encoder_add(&b->encoder, &plot);
        event_encoder_add(&b->encoder, &integer);
        TRACE_BUILDER_ADD(b, 2600, DEVICE_SPAN, 1, PARSE, 700, 30, 12, 77, space, text);
        TRACE_BUILDER_ADD(b, 2600, DEVICE_SPAN, 1, PARSE, 750, 30, 12, 0, space, 0);
        TRACE_BUILDER_ADD(b, 2600, DEVICE_SPAN, 1, NASTY, 800, 40, 0, 0);
        trace_builder_begin_zone(b, 3000, PARSE);
        trace_builder_end_run(b);
        trace_builder_finish(b);
}

/* Nothing is written but words that say why. */
static void refuse(const struct tracy_csv_options *options, const char *wanted)
{
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_builder b;
        char *text = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        build(&b);
        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(tracy_csv_write(&trace, options, out, &err), -ENOENT);
        ck_assert_str_eq(err.text, wanted);
        (void)fclose(out);
        ck_assert_uint_eq(n_bytes, 0);
        free(text);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

/* The output; heap. */
static char *csv_of(const struct tracy_csv_options *options)
{
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_builder b;
        char *text = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        build(&b);
        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_msg(tracy_csv_write(&trace, options, out, &err) == 0, "%s", err.text);
        (void)fclose(out);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
        return text;
}

static void expect(const struct tracy_csv_options *options, const char *wanted)
{
        char *text = csv_of(options);

        ck_assert_str_eq(text, wanted);
        free(text);
}

#define STATISTICS "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n"
#define DEVICES    "name,src_file,Time from start of program,GPU execution time,device,lane,key,key_kind,text\n"
#define EVERY      "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value,tid,thread_name,zone_name\n"

/* 900 of 2000 ns; the deviation is that of a sample: sqrt((200^2 + 100^2 + 300^2) / 2). */
START_TEST(statistics)
{
        const struct tracy_csv_options options = { .separator = ',' };

        expect(&options, STATISTICS "Parse,parse.c,12,900,45,3,300,100,600,264.57513110645908\n"
                                    "\"a,\"\"b\"\"\\x0ac\",work.c,12,50,2.5,1,50,50,50,0\n");
}
END_TEST

START_TEST(self)
{
        const struct tracy_csv_options options = { .separator = ';', .self = true, .name = "parse" };
        char *text = csv_of(&options);

        ck_assert_ptr_nonnull(strstr(text, "\nParse;parse.c;12;850;42.5;3;283;100;550;"));
        ck_assert_ptr_null(strstr(text, "b\"\"")); /* no other name has "parse" in it */
        free(text);
}
END_TEST

START_TEST(names)
{
        struct tracy_csv_options options = { .separator = ',', .name = "pARSE" };
        char *text = csv_of(&options);

        ck_assert_ptr_nonnull(strstr(text, "Parse"));
        free(text);
        options.case_sensitive = true;
        refuse(&options, "no zone of this trace has 'pARSE' in its name; did you mean 'Parse'?");
}
END_TEST

/* The name of the instance is a column of its own: `name` groups. */
START_TEST(unwrapped)
{
        const struct tracy_csv_options options = { .separator = ',', .unwrap = true };

        expect(&options, EVERY "Parse,parse.c,12,0,100,1,,77,,\n"
                               "Parse,parse.c,12,200,200,1,,77,,\n"
                               "\"a,\"\"b\"\"\\x0ac\",work.c,12,500,50,1,,77,,\n"
                               "Parse,parse.c,12,400,600,1,seven,77,,Parse 7\n");
}
END_TEST

START_TEST(plots)
{
        const struct tracy_csv_options options = {
                .separator = ',', .unwrap = true, .plots = true, .name = "nothing"
        };

        expect(&options, EVERY "load,,,1500,,1,0.5,,,\n"
                               "load,,,1500,,1,-3,,,\n");
}
END_TEST

START_TEST(messages)
{
        const struct tracy_csv_options options = { .separator = ',', .messages = true };

        expect(&options, "MessageName,total_ns,tid,thread_name,severity\n"
                         "\"done, or \"\"not\"\"\",1100,77,,trace\n");
}
END_TEST

START_TEST(devices)
{
        const struct tracy_csv_options all = { .separator = ',', .devices = true };
        const struct tracy_csv_options named = { .separator = ',', .devices = true, .name = "Parse" };

        /* A key of 0 is one if it says what kind it is. */
        expect(&all, DEVICES "Parse,parse.c,700,30,,12,77,run,\"{\"\"n\"\": 1}\"\n"
                             "Parse,parse.c,750,30,,12,0,run,\n"
                             "\"a,\"\"b\"\"\\x0ac\",work.c,800,40,,0,,,\n");
        expect(&named, DEVICES "Parse,parse.c,700,30,,12,77,run,\"{\"\"n\"\": 1}\"\n"
                               "Parse,parse.c,750,30,,12,0,run,\n");
}
END_TEST

START_TEST(full_disk)
{
        const struct tracy_csv_options options = { .separator = ',', .unwrap = true };
        struct error err = ERROR_NONE;
        struct loaded_trace trace;
        struct trace_builder b;
        FILE *out = fopen("/dev/full", "w");

        build(&b);
        ck_assert_ptr_nonnull(out);
        (void)setvbuf(out, NULL, _IONBF, 0);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, &err), 0);
        ck_assert_int_eq(tracy_csv_write(&trace, &options, out, &err), -ENOSPC);
        (void)fclose(out);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}
END_TEST
