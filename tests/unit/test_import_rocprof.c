/* SPDX-License-Identifier: MIT */
/* import/text/import_rocprof.c: tables of three versions, copies of memory, malformed rows */
#include "base/error.h"
#include "import/text/import_rocprof.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>

#define FOLDER "tests/data/import/text/"

static struct import_rows rows;
static struct error err;

static const struct fake_import_reader reader = { import_rocprof_recognise, import_rocprof_read };

static int read_path(const char *path)
{
        return fake_import_rows_read_path(&rows, &reader, path, &err);
}

static int read_text(const char *text)
{
        return fake_import_rows_read_text(&rows, &reader, text, &err);
}

static const struct {
        const char *file, *track, *name;
        uint64_t n_spans, n_instants, total_ns, first_ns, last_ns, correlation;
} tables[] = {
        { "kernel_trace_2024.csv", "device 8/stream 2",
          "NormKernel1(int, double, double, double const*, double*)", 4, 0, 419681, 4484384343929154,
          4484384528135540, 33 },
        { "kernel_trace_2025.csv", "Agent 2/stream 1", "__amd_rocclr_fillBufferAligned", 3, 0, 11256,
          172352210005122, 172352210149335, 119662 },
        { "rocpd2csv_kernel_trace.csv", "Agent 4/stream 1", "__omp_offloading_30_57b9f__QMnorm_modPnorm_l23",
          2, 0, 151400, 1678314002982197, 1678314008930489, 1 },
        { "marker_api_trace.csv", "process 717/ranges", "hipLaunchKernel range", 3, 2, 4962639,
          1520113899682208, 1520113901495882, 2 },
};

START_LOOP_TEST(test_tables, 0, sizeof(tables) / sizeof(tables[0]))
{
        uint64_t first = UINT64_MAX, last = 0;
        const struct import_span *span;
        char path[256];

        (void)snprintf(path, sizeof(path), FOLDER "%s", tables[_i].file);
        ck_assert_int_eq(read_path(path), 0);
        ck_assert_str_eq(rows.format, "rocprofv3");
        ck_assert_int_eq(rows.clocks[0].kind, IMPORT_CLOCK_UNKNOWN);
        ck_assert_uint_eq(rows.n_spans, tables[_i].n_spans);
        ck_assert_uint_eq(rows.n_instants, tables[_i].n_instants);
        ck_assert_uint_eq(rows.n_rows, tables[_i].n_spans + tables[_i].n_instants);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, NULL), tables[_i].total_ns);
        for (size_t i = 0; i < rows.n_spans; i++) {
                first = rows.spans[i].begin < first ? rows.spans[i].begin : first;
                last = rows.spans[i].end > last ? rows.spans[i].end : last;
        }
        ck_assert_uint_eq(first, tables[_i].first_ns);
        ck_assert_uint_eq(last, tables[_i].last_ns);
        span = fake_import_rows_span(&rows, fake_import_rows_find_track(&rows, tables[_i].track),
                                     tables[_i].name, 0);
        ck_assert_ptr_nonnull(span);
        ck_assert_str_eq(fake_import_rows_text(&rows, span->key.kind), "correlation");
        ck_assert_uint_eq(span->key.value, tables[_i].correlation);
        fake_import_rows_deinit(&rows);
}
END_TEST

START_TEST(test_arguments)
{
        ck_assert_int_eq(read_path(FOLDER "kernel_trace_2024.csv"), 0);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[3].text),
                         "{\"Thread_Id\":252734,\"Private_Segment_Size\":0,\"Group_Segment_Size\":0,"
                         "\"Workgroup_Size_X\":512,\"Workgroup_Size_Y\":1,\"Workgroup_Size_Z\":1,"
                         "\"Grid_Size_X\":512,\"Grid_Size_Y\":1,\"Grid_Size_Z\":1}");
        fake_import_rows_deinit(&rows);
}
END_TEST

#define COPIES                                                                                    \
        "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\"," \
        "\"Start_Timestamp\",\"End_Timestamp\"\n"

START_TEST(test_copies)
{
        ck_assert_int_eq(
                read_text(
                        COPIES
                        "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",\"Agent 0\",\"Agent 3\",9,10,30\n"
                        "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",\"Agent 4\",\"Agent 0\",10,40,45\n"),
                0);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows,
                                                     fake_import_rows_find_track(&rows, "Agent 3/copies"),
                                                     "MEMORY_COPY_HOST_TO_DEVICE"),
                          20);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows,
                                                     fake_import_rows_find_track(&rows, "Agent 4/copies"),
                                                     "MEMORY_COPY_DEVICE_TO_HOST"),
                          5);
        fake_import_rows_deinit(&rows);
}
END_TEST

/* The text is JSON, whatever is in the table. */
START_TEST(test_text_is_json)
{
        ck_assert_int_eq(
                read_text("\"Kernel_Name\",\"a \"\"b\\\",\"Start_Timestamp\",\"End_Timestamp\",\"c\"\n"
                          "k,\"x\"\"\"\"\ty\\\",10,30,12\nk,\"\\\",30,40,\n"),
                0);
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[0].text),
                         "{\"a \\\"b\\\\\":\"x\\\"\\\" y\\\\\",\"c\":12}");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[1].text), "{\"a \\\"b\\\\\":\"\\\\\"}");
        fake_import_rows_deinit(&rows);
}
END_TEST

#define CALLS "domain,FUNCTION,process_id,thread_id,correlation_id,start_timestamp,end_timestamp\n"

static const struct {
        const char *text;
        int r;
        uint64_t n_spans, n_instants, n_malformed;
        bool is_cut;
} odd_tables[] = {
        { CALLS "d,f,1,2,3,10,20\n", 0, 1, 0, 0, false },
        { CALLS "d,f,1,2,3,20,10\nd,f,1,2,3,x,10\nd,f,1,2\nd,f,1,2,3,1,99999999999999999999\n", 0, 0, 0, 4,
          false },
        { CALLS "d,f,,,,5,5\n", 0, 0, 1, 0, false },
        { CALLS "d,\"f", 0, 0, 0, 0, true },
        { CALLS, 0, 0, 0, 0, false },
        { "\xef\xbb\xbf" CALLS "d,f,1,2,3,10,20\n", 0, 1, 0, 0, false },
        { "Function,Start_Timestamp\n", -EINVAL, 0, 0, 0, false },
        { "name,begin,end\n", -EINVAL, 0, 0, 0, false },
        { "", -EINVAL, 0, 0, 0, false },
};

START_LOOP_TEST(test_odd_tables, 0, sizeof(odd_tables) / sizeof(odd_tables[0]))
{
        ck_assert_int_eq(read_text(odd_tables[_i].text), odd_tables[_i].r);
        ck_assert_uint_eq(rows.n_spans, odd_tables[_i].n_spans);
        ck_assert_uint_eq(rows.n_instants, odd_tables[_i].n_instants);
        ck_assert_uint_eq(rows.n_malformed, odd_tables[_i].n_malformed);
        ck_assert_int_eq(rows.is_cut, odd_tables[_i].is_cut);
        fake_import_rows_deinit(&rows);
}
END_TEST
