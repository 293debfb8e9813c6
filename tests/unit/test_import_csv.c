/* SPDX-License-Identifier: MIT */
/* Tables are told by their first row; every row is in the trace or counted, whatever is in it. */
#include "unit_test.h"

#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "import/file/csv_rows.h"
#include "import/file/decimal_time.h"
#include "import/formats/import_csv.h"
#include "import/formats/import_formats.h"
#include "import/rows/import_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT(words) ((struct text_view){ words, strlen(words) })

static char path[64];

static void setup(void)
{
        int fd;

        (void)snprintf(path, sizeof(path), "/tmp/test_import_csv.XXXXXX");
        fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        (void)close(fd);
}

static void teardown(void)
{
        (void)unlink(path);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

START_TEST(decimals_are_exact)
{
        static const struct {
                const char *text;
                uint64_t scale, ns;
                bool is_bad;
        } rows[] = {
                { "0", 1, 0, false },
                { "18446744073709551615", 1, UINT64_MAX, false },
                { "18446744073709551616", 1, 0, true },
                { "1795972226885321.459", 1000, UINT64_C(1795972226885321459), false },
                { "1.0005", 1000, 1001, false }, /* rounded */
                { "1.00049", 1000, 1000, false },
                { "1.9", 1, 2, false },
                { ".5", 1000000, 500000, false },
                { "1.", 1000, 1000, false },
                { "18446744073709551.615", 1000, UINT64_MAX, false },
                { "18446744073709551.616", 1000, 0, true },
                { "", 1, 0, true },
                { ".", 1, 0, true },
                { "-1", 1, 0, true },
                { "1e9", 1, 0, true },
                { "NaN", 1, 0, true },
                { "1 ", 1, 0, true },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                uint64_t ns = 0;

                ck_assert_msg(decimal_time_parse(TEXT(rows[i].text), rows[i].scale, &ns) != rows[i].is_bad,
                              "%s", rows[i].text);
                ck_assert_msg(ns == rows[i].ns, "%s: %llu", rows[i].text, (unsigned long long)ns);
        }
}
END_TEST

START_TEST(formats_are_told_by_content)
{
        static const struct {
                const char *head, *format, *guess;
        } rows[] = {
                { "name,begin,end\n", "csv", NULL },
                { "begin_us;duration_us;name\r\n", "csv", NULL },
                { "Name\tBegin\tValue\n", "csv", NULL },
                { "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value\n", "tracy-csv", NULL },
                { "name,begin\n", NULL, NULL },
                { "name,beginning,end\n", NULL, NULL },
                { "", NULL, NULL },
                { "{\"nodes\":[],\"timeDeltas\":[]}", NULL, "a .cpuprofile" },
                { "{\n\t\"linux-perf-json-version\": 1,", NULL, "the JSON of perf data convert" },
                { "{\"snapshot\":{\"meta\":{\"node_fields\":[]}}}", NULL, "a heap snapshot of V8" },
                { "HYPC....", NULL, "a trace of hyprof" },
                { "PERFILE2", "perf.data", NULL },
                { "2ELIFREP", "perf.data", NULL },
                { "PERFFILE", NULL, "a perf.data file of the first version" },
                { "\x7f"
                  "ELF",
                  NULL, "a program or library (ELF)" },
                { "hello", NULL, NULL },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                const struct import_format *format = import_formats_find(TEXT(rows[i].head));
                const char *advice, *guess = import_formats_guess(TEXT(rows[i].head), &advice);

                ck_assert_msg((format != NULL) == (rows[i].format != NULL), "%s", rows[i].head);
                if (format)
                        ck_assert_str_eq(format->name, rows[i].format);
                else
                        ck_assert_msg(guess == rows[i].guess || (guess && strcmp(guess, rows[i].guess) == 0),
                                      "%s: %s", rows[i].head, guess ? guess : "-");
        }
}
END_TEST

struct outcome {
        int r;
        uint64_t n_rows, n_spans, n_values, n_instants, n_malformed, first_at;
        uint32_t n_locations;
        bool is_cut;
};

/* Reads a table and writes a trace of it, which is then read again. */
static struct outcome import_text(const char *text, size_t n_bytes)
{
        const struct import_options options = { .run_bytes = 1024 };
        struct import_rows *rows = NULL;
        struct trace_writer *writer = NULL;
        struct trace_reader *reader = NULL;
        struct trace_item item;
        const struct import_file *file;
        const char *advice;
        struct error err = ERROR_NONE;
        struct outcome o;
        int fd = open(path, O_WRONLY | O_TRUNC);

        ck_assert_int_eq(io_write_all(fd, text, n_bytes, NULL), 0);
        (void)close(fd);
        ck_assert_int_eq(import_trace_new(&rows, &options, &err), 0);
        ck_assert_int_eq(import_trace_begin_file(rows, path, &err), 0);
        o.r = import_formats_read(path, rows, &advice, &err);
        file = import_trace_file(rows, 0);
        o.n_rows = file->n_rows;
        o.n_spans = file->n_spans;
        o.n_values = file->n_values;
        o.n_instants = file->n_instants;
        o.n_malformed = file->n_malformed;
        o.first_at = file->first_malformed_at;
        o.is_cut = file->is_cut;
        if (o.r == 0) {
                fd = open(path, O_RDWR | O_TRUNC);
                ck_assert_int_eq(import_trace_place(rows, &err), 0);
                ck_assert_int_eq(trace_writer_new(fd, &writer, &err), 0);
                ck_assert_msg(import_trace_write(rows, writer, &err) == 0, "%s", err.text);
                trace_writer_free(writer);
                (void)close(fd);
                ck_assert_int_eq(trace_reader_open(path, &reader, &err), 0);
                while (trace_reader_next(reader, &item, &err) == 1)
                        continue;
                ck_assert_int_eq(trace_reader_ending(reader, NULL, NULL), TRACE_ENDING_WHOLE);
                ck_assert_uint_eq(
                        trace_dictionary_count(trace_reader_dictionary(reader), TRACE_TABLE_IMPORTS), 1);
                o.n_locations = trace_dictionary_count(trace_reader_dictionary(reader),
                                                       TRACE_TABLE_LOCATIONS);
                trace_reader_close(reader);
        }
        import_trace_free(rows);
        return o;
}

START_TEST(every_row_is_there_or_counted)
{
        static const char text[] = "name,begin_us,end_us,duration_us,value,instant,key\n"
                                   "a,1,2,,,,\n"                      /* 2 */
                                   "\"a, \"\"b\"\"\nc\",1.5,,2,,,7\n" /* 3 and 4 */
                                   "x,y,2,,,,\n"                      /* 5: malformed */
                                   "x,5,2,,,,\n"                      /* it ends before */
                                   "x,5,,,,,\n"                       /* no end */
                                   "\n"
                                   "v,5,,,17,,\n"
                                   "v,5,,,0.5,,\n"
                                   "v,5,,,many,,\n" /* malformed */
                                   "i,6,,,,1,9\n"
                                   "k,7,8,,,,nine\n" /* its key is left out */
                                   "short,9\n"       /* malformed */
                                   "last,10,11";
        struct outcome o = import_text(text, strlen(text));

        ck_assert_int_eq(o.r, 0);
        ck_assert_uint_eq(o.n_rows, 12);
        ck_assert_uint_eq(o.n_spans, 4);
        ck_assert_uint_eq(o.n_values, 2);
        ck_assert_uint_eq(o.n_instants, 1);
        ck_assert_uint_eq(o.n_malformed, 5);
        ck_assert_uint_eq(o.first_at, 5);
        ck_assert(!o.is_cut);
}
END_TEST

/* Names of one length with the same eight bytes at both ends, again and again. */
START_TEST(names_that_look_alike_are_told_apart)
{
        static const char text[] =
                "name,begin_us,end_us\n"
                "kernel_a_1_of_model,1,2\nkernel_a_2_of_model,2,3\nkernel_a_1_of_model,3,4\n"
                "kernel_aof_model,4,5\nkernel_1,5,6\nkernel_2,6,7\nkernel_1,7,8\n"
                "kernel_a_2_of_model,8,9\n";
        struct outcome o = import_text(text, strlen(text));

        ck_assert_int_eq(o.r, 0);
        ck_assert_uint_eq(o.n_spans, 8);
        ck_assert_uint_eq(o.n_locations, 5);
}
END_TEST

START_TEST(open_quotes_are_a_cut)
{
        static const char text[] = "name,begin,end\na,1,2\n\"b,3,4\nc,5,6\n";
        struct outcome o = import_text(text, strlen(text));

        ck_assert_int_eq(o.r, 0);
        ck_assert_uint_eq(o.n_spans, 1);
        ck_assert(o.is_cut);
}
END_TEST

/* Each cut and each changed byte of a table gives a whole trace, or an error with words. */
START_TEST(cut_and_changed_tables_give_whole_traces)
{
        static const char text[] = "name,process,thread,device,lane,begin_us,duration,text,clock\n"
                                   "a,1,2,,,1.5,10,\"x\"\"y\",raw\n"
                                   "k,,,gpu,1,2,500,z,gpu clock\n";
        char changed[sizeof(text)];

        for (size_t n = 0; n < strlen(text); n++)
                (void)import_text(text, n);
        for (size_t i = 0; i < strlen(text); i++) {
                static const char bytes[] = { ',', '"', '\n', '9', '\0', '\xff' };

                for (size_t j = 0; j < sizeof(bytes); j++) {
                        memcpy(changed, text, sizeof(text));
                        changed[i] = bytes[j];
                        (void)import_text(changed, strlen(text));
                }
        }
}
END_TEST
