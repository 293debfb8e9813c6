/* SPDX-License-Identifier: MIT */
/* Reports of operations: real ones of three versions, with and without a log and readings of clocks. */
#include "base/error.h"
#include "format/tt_run_key.h"
#include "import/tt/import_tt_device.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/tt_log.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define HEAD                                                                                \
        "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,HOST START TS,HOST END TS," \
        "DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],METAL TRACE ID," \
        "METAL TRACE REPLAY SESSION ID\n"
#define ROW "Matmul,tt_dnn_device,2049,1,{'a': 1; 'b': 2},1000,1500,50000,60000,8000,,\n"

static struct import_rows rows;
static struct error err;

static void setup(void)
{
        fake_import_rows_init(&rows);
        err = ERROR_NONE;
}

static void teardown(void)
{
        fake_import_rows_deinit(&rows);
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);

static const struct {
        const char *file;
        uint64_t n_ops, n_signposts, n_chips;
        uint64_t host_ns, fw_ns; /* as the report has them, each rounded */
        double mhz;
} REPORTS[] = {
        { "report_2025_signposts.csv.zst", 21, 6, 1, 2510688, 11414430, 1350 },
        { "report_2025_09.csv.zst", 621, 50, 1, 16604691, 1052458898, 1350 },
        { "report_2026_8_chips.csv.zst", 208, 0, 8, 11510069, 79775158, 1350 },
};

START_LOOP_TEST(test_real_reports, 0, sizeof(REPORTS) / sizeof(REPORTS[0]))
{
        uint64_t n_device = 0, host_ns = 0;
        double fw_ns = 0;
        char path[128];

        (void)snprintf(path, sizeof(path), TT_LOG_DATA "%s", REPORTS[_i].file);
        ck_assert_msg(tt_log_read_path(path, &rows, &err) == 0, "%s", err.text);
        ck_assert_str_eq(rows.format, "tt-device");
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(rows.n_rows, REPORTS[_i].n_ops + REPORTS[_i].n_signposts);
        ck_assert_uint_eq(rows.n_instants, REPORTS[_i].n_signposts);
        for (size_t i = 0; i < rows.n_spans; i++) {
                const struct import_span *span = &rows.spans[i];
                const struct fake_import_track *track = &rows.tracks[span->track - 1];

                ck_assert(span->key.value != 0);
                if (track->kind == IMPORT_TRACK_THREAD) {
                        host_ns += span->end - span->begin;
                        continue;
                }
                n_device++;
                fw_ns += (double)(span->end - span->begin) * rows.clocks[track->clock - 1].period_ns;
                ck_assert_double_eq_tol(rows.clocks[track->clock - 1].period_ns, 1000 / REPORTS[_i].mhz,
                                        1e-9);
        }
        ck_assert_uint_eq(n_device, REPORTS[_i].n_ops);
        ck_assert_uint_eq(host_ns, REPORTS[_i].host_ns);
        ck_assert_double_eq_tol(fw_ns, (double)REPORTS[_i].fw_ns, 0.51 * (double)n_device);
        ck_assert_uint_eq(rows.n_clocks, 1 + REPORTS[_i].n_chips);
}
END_TEST

static const struct {
        const char *what, *body;
        uint64_t n_spans, n_instants, n_malformed, n_dropped;
} BODIES[] = {
        { "both", ROW, 2, 0, 0, 0 },
        { "a signpost", "\"start, \"\"here\"\"\",signpost,,,,77,,,,,,\n", 0, 1, 0, 0 },
        { "quotes around line ends", "\"a\nb\",signpost,,,,77,,,,,,\n" ROW, 2, 1, 0, 0 },
        { "the chip lacks it", "A,tt_dnn_device,1024,0,,1000,1500,,,,,\n", 1, 0, 0, 1 },
        { "captured in a trace", "A,tt_dnn_device,1024,0,,1000,1500,,,,7,\n", 1, 0, 0, 0 },
        { "a replay that the chip lacks", "A,tt_dnn_device,1024,0,,1000,1500,,,,7,1\n", 1, 0, 0, 1 },
        { "the host's alone", "A,python_fallback,1024,0,,1000,1500,,,,,\n", 1, 0, 0, 0 },
        { "the chip's alone", "A,,1024,0,,,,5,9,,,\n", 1, 0, 0, 0 },
        { "neither", "A,,1024,0,,,,,,,,\n", 0, 0, 0, 0 },
        { "backwards", "A,,1024,0,,1000,999,9,5,,,\n", 0, 0, 2, 0 },
        { "no numbers", "A,,x,0,,1000,1001,5,9,,,\nA,,1,0,,x,1001,y,9,,,\n", 0, 0, 3, 0 },
        { "huge", "A,,1,99999999999999999999,,1,2,5,9,,,\n", 0, 0, 1, 0 },
        { "few cells", "A,,1,0\n" ROW, 2, 0, 1, 0 },
        { "nothing", "", 0, 0, 0, 0 },
};

START_LOOP_TEST(test_report_bodies, 0, sizeof(BODIES) / sizeof(BODIES[0]))
{
        char text[4096];

        (void)snprintf(text, sizeof(text), "%s%s", HEAD, BODIES[_i].body);
        ck_assert_msg(tt_log_read_text(text, &rows, &err) == 0, "%s: %s", BODIES[_i].what, err.text);
        ck_assert_msg(rows.n_spans == BODIES[_i].n_spans && rows.n_instants == BODIES[_i].n_instants &&
                              rows.n_malformed == BODIES[_i].n_malformed &&
                              rows.n_dropped == BODIES[_i].n_dropped,
                      "%s: %zu spans, %zu instants, %" PRIu64 " malformed, %" PRIu64 " dropped",
                      BODIES[_i].what, rows.n_spans, rows.n_instants, rows.n_malformed, rows.n_dropped);
}
END_TEST

START_TEST(test_an_operation)
{
        struct tt_run run;

        ck_assert_int_eq(tt_log_read_text(HEAD "A,,7168,1,{'a': 1; 'b': 2},1000,1500,50000,60000,8000,3,2\n",
                                          &rows, &err),
                         0);
        for (int i = 0; i < 2; i++) {
                ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[i].name), "A");
                ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[i].text), "{'a': 1; 'b': 2}");
                ck_assert(tt_run_key_decode(rows.spans[i].key.value, &run));
                ck_assert(run.chip == 1 && run.run_host_id == 7168 && run.trace == 3 && run.replay == 2);
        }
        ck_assert_uint_eq(fake_import_rows_find_track(&rows, "tt-metal/operations"), rows.spans[0].track);
        ck_assert_uint_eq(fake_import_rows_find_track(&rows, "chip 1/operations"), rows.spans[1].track);
        ck_assert_double_eq(rows.clocks[1].period_ns, 0.8); /* 10,000 cycles are 8,000 ns */
}
END_TEST

START_TEST(test_cut_within_quotes)
{
        ck_assert_int_eq(tt_log_read_text(HEAD ROW "\"a\nb", &rows, &err), 0);
        ck_assert(rows.is_cut);
        ck_assert_uint_eq(rows.n_spans, 2);
}
END_TEST

/* The host's times are placed by the TSC: 50 + 1000 ns / 0.4 ns. */
START_TEST(test_a_folder_with_everything)
{
        ck_assert(!import_tt_device_recognise_folder("/nowhere"));
        tt_log_make_folder();
        tt_log_put_text("profile_log_device.csv", TT_LOG_V5 "1,1,1,BRISC,7,5,0,2049,,,A,TS_EVENT,9,a.cc,\n");
        tt_log_put_text("sync_device_info.csv", TT_LOG_SYNC "1,1,1,1000,100,1,10,5000,1,1,0.4,50,1.0,0\n");
        tt_log_put_text("ops_perf_results_2026_01_01.csv", HEAD ROW ROW);
        tt_log_put_text("ops_perf_results_2026_02_01.csv", HEAD ROW);
        ck_assert_int_eq(import_tt_device_read_folder(tt_log_folder, &rows, &err), 0);
        tt_log_remove_folder();
        ck_assert_uint_eq(rows.n_spans, 2);
        ck_assert_uint_eq(rows.n_clocks, 2); /* the chip's is one, for the log and the report */
        ck_assert_uint_eq(rows.n_readings, 1);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.version), "5, wormhole_b0, 1000 MHz");
        ck_assert(rows.clocks[0].kind == IMPORT_CLOCK_TSC);
        ck_assert_double_eq(rows.clocks[0].period_ns, 0.4);
        ck_assert_uint_eq(rows.spans[0].begin, 50 + 2500);
        ck_assert_uint_eq(rows.spans[0].end, 50 + 3750);
        ck_assert_uint_eq(rows.spans[1].key.value, rows.instants[0].key.value);
        ck_assert_uint_eq(fake_import_rows_find_track(&rows, "chip 1, wormhole_b0/operations"),
                          rows.spans[1].track);
}
END_TEST

START_TEST(test_reports_without_a_log)
{
        tt_log_make_folder();
        tt_log_put_text(
                "cpp_device_perf_report.csv",
                "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,"
                "CORE COUNT,DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE\n"
                "1024,,,0,wormhole_b0,Matmul,64,10000,5,10005\n");
        ck_assert(import_tt_device_recognise_folder(tt_log_folder));
        ck_assert_int_eq(import_tt_device_read_folder(tt_log_folder, &rows, &err), 0);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, 0, "Matmul"), 1);
        tt_log_put_text("ops_perf_results.csv", HEAD ROW);
        fake_import_rows_deinit(&rows);
        fake_import_rows_init(&rows);
        ck_assert_int_eq(import_tt_device_read_folder(tt_log_folder, &rows, &err), 0);
        tt_log_remove_folder();
        ck_assert_uint_eq(rows.n_spans, 2); /* it has more than the other */
}
END_TEST

static const struct {
        const char *head;
        bool is_report;
} HEADS[] = {
        { HEAD, true },
        { "GLOBAL CALL COUNT,METAL TRACE ID,OP NAME\n", true },
        { "GLOBAL CALL COUNT,METAL TRACE ID\n", false },
        { "OP CODE,OP TYPE\nGLOBAL CALL COUNT\n", false },
        { "", false },
};

START_LOOP_TEST(test_recognising_reports, 0, sizeof(HEADS) / sizeof(HEADS[0]))
{
        struct text_view head = { HEADS[_i].head, strlen(HEADS[_i].head) };

        ck_assert(import_tt_device_recognise(head) == HEADS[_i].is_report);
        ck_assert_int_eq(tt_log_read_bytes(head.bytes, head.n_bytes, &rows, &err),
                         HEADS[_i].is_report ? 0 : -EBADMSG);
}
END_TEST

START_TEST(test_no_room_for_reports)
{
        int n_calls;

        ck_assert_int_eq(tt_log_read_text(HEAD ROW, &rows, &err), 0);
        n_calls = rows.n_calls;
        for (int i = 1; i <= n_calls; i++) {
                fake_import_rows_deinit(&rows);
                fake_import_rows_init(&rows);
                rows.fails_after = i;
                ck_assert_int_eq(tt_log_read_text(HEAD ROW, &rows, &err), -ENOSPC);
        }
}
END_TEST
