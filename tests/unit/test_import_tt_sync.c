/* SPDX-License-Identifier: MIT */
/* Clocks of Tenstorrent's chips, and which files of a folder belong together. */
#include "base/error.h"
#include "import/tt/import_tt_device.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/tt_log.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

UNIT_TEST_PLAN(.timeout_s = 120, .setup = setup, .teardown = teardown);

/* ---- clocks -------------------------------------------------------------------------------------------- */

START_TEST(test_readings)
{
        tt_log_make_folder();
        tt_log_put_copy("profile_log_device.csv", TT_LOG_DATA "profile_log_device.csv.zst");
        tt_log_put_copy("sync_device_info.csv", TT_LOG_DATA "sync_device_info.csv.zst");
        ck_assert_int_eq(import_tt_device_read_folder(tt_log_folder, &rows, &err), 0);
        tt_log_remove_folder();
        ck_assert_uint_eq(rows.n_readings, 2 * 249);
        ck_assert_uint_eq(rows.readings[0].ticks, 2170889900686);
        ck_assert_uint_eq(rows.readings[0].host_end, 7450000000123 + 25688457);
        ck_assert_uint_eq(rows.readings[0].host_begin, 7450000000123 + 25688457 - 2287);
        ck_assert(rows.readings[0].host == IMPORT_CLOCK_TSC);
        for (size_t i = 0; i < rows.n_readings; i++) {
                /* True: chip 0 runs at 0.99998 GHz and was at 2170879416000 then; chip 1 as below. */
                double true_ghz = i < 249 ? 0.99998 : 1.000015;
                double first = i < 249 ? 2170879416000 : 2170884183000;
                double tsc = ((double)rows.readings[i].ticks - first) / true_ghz * 2.45 + 7450000000123;

                ck_assert_uint_eq(rows.readings[i].clock, i < 249 ? 2 : 3);
                ck_assert_uint_eq(rows.readings[i].epoch, 0);
                ck_assert(tsc >= (double)rows.readings[i].host_begin - 3);
                ck_assert(tsc <= (double)rows.readings[i].host_end + 3);
        }
        ck_assert_uint_eq(rows.n_malformed, 0);
}
END_TEST

#define ONE "0,1,1,BRISC,7,1,0,1024,,,A,TS_EVENT,9,a.cc,\n"
#define TWO "1,1,1,BRISC,7,1,0,1024,,,A,TS_EVENT,9,a.cc,\n"
/* A reading of a chip; the host counts from 100 on, each write took 10. */
#define POINT(chip, ticks, since) \
        "    " chip ",  1, 1, " ticks ", " since ", 1.5, 10, 100, 1.5, 0.9, 0.4, 50,1.0,0\n"

static const struct {
        const char *what, *sync;
        uint64_t n_readings[2]; /* of chips 0 and 1 */
        uint64_t ticks, epoch;  /* of the last one of chip 1 */
        uint64_t n_malformed;
        const char *name; /* of the clock of chip 1 */
} SYNCS[] = {
        { "none", TT_LOG_SYNC, { 0, 0 }, 0, 0, 0, "chip 1" },
        { "own", TT_LOG_SYNC POINT("0", "7", "20") POINT("1", "8", "30"), { 1, 1 }, 8, 0, 0, "chip 1" },
        { "several",
          TT_LOG_SYNC POINT("1", "8", "30") POINT("0", "7", "20") POINT("1", "9", "40"),
          { 1, 2 },
          9,
          0,
          0,
          "chip 1" },
        { "reset",
          TT_LOG_SYNC POINT("1", "8", "30") POINT("1", "5", "40") POINT("1", "6", "50"),
          { 0, 3 },
          6,
          1,
          0,
          "chip 1" },
        { "through the root",
          TT_LOG_SYNC POINT("0", "2170879416000",
                            "20") "    1,,,,,,,,,,,,   0.999965000524992,            71212807\n"
                                  "    0,,,,,,,,,,,,   1.000000000000000,                   0\n",
          { 1, 1 },
          2170884183000,
          0,
          0,
          "chip 1, by the clock of chip 0" },
        { "the root is not named",
          TT_LOG_SYNC POINT("0", "2170879416000",
                            "20") "    1,,,,,,,,,,,,   0.999965000524992,            71212807\n",
          { 1, 1 },
          2170884183000,
          0,
          0,
          "chip 1, by the clock of chip 0" },
        { "its own readings are better",
          TT_LOG_SYNC POINT("0", "2170879416000", "20")
                  POINT("1", "3", "20") "    1,,,,,,,,,,,,0.999965000524992,71212807\n",
          { 1, 1 },
          3,
          0,
          0,
          "chip 1" },
        { "the last of two ratios",
          TT_LOG_SYNC POINT(
                  "0", "1000",
                  "20") "1,,,,,,,,,,,,1.0,5\n0,,,,,,,,,,,,1.0,0\n1,,,,,,,,,,,,1.0,7\n0,,,,,,,,,,,,1.0,0\n",
          { 1, 1 },
          993,
          0,
          0,
          "chip 1, by the clock of chip 0" },
        { "a shift below zero",
          TT_LOG_SYNC POINT("0", "1000", "20") "1,,,,,,,,,,,,1.0,-5\n",
          { 1, 1 },
          1005,
          0,
          0,
          "chip 1, by the clock of chip 0" },
        { "a ratio that is none",
          TT_LOG_SYNC POINT("0", "1000", "20") "1,,,,,,,,,,,,1.002,5\n",
          { 1, 0 },
          0,
          0,
          1,
          "chip 1" },
        { "no ratio",
          TT_LOG_SYNC POINT("0", "1000", "20") "1,,,,,,,,,,,,nan,5\n",
          { 1, 0 },
          0,
          0,
          1,
          "chip 1" },
        { "below the first tick",
          TT_LOG_SYNC POINT("0", "1000", "20") "1,,,,,,,,,,,,1.0,1001\n",
          { 1, 0 },
          0,
          0,
          0,
          "chip 1, by the clock of chip 0" },
        { "a root without readings",
          TT_LOG_SYNC "1,,,,,,,,,,,,1.0,5\n0,,,,,,,,,,,,1.0,0\n",
          { 0, 0 },
          0,
          0,
          0,
          "chip 1" },
        { "through itself",
          TT_LOG_SYNC POINT("2", "9", "20") "1,,,,,,,,,,,,1.0,5\n1,,,,,,,,,,,,1.0,0\n",
          { 0, 0 },
          0,
          0,
          0,
          "chip 1" },
        { "words",
          TT_LOG_SYNC "a,b,c,d,e,f,g,h,i,j,k,l,m,n\n1,1,1,x,1\n,,,,,\n",
          { 0, 0 },
          0,
          0,
          3,
          "chip 1" },
        { "huge",
          TT_LOG_SYNC "1,1,1,5,18446744073709551615,1,1,2,1,1,1,1,1,1\n",
          { 0, 0 },
          0,
          0,
          1,
          "chip 1" },
        { "before time", TT_LOG_SYNC "1,1,1,5,2,1,9,2,1,1,1,1,1,1\n", { 0, 0 }, 0, 0, 1, "chip 1" },
        { "nothing at all", "", { 0, 0 }, 0, 0, 0, "chip 1" },
};

START_LOOP_TEST(test_syncs, 0, sizeof(SYNCS) / sizeof(SYNCS[0]))
{
        uint64_t n_readings[2] = { 0 };
        size_t n_host;

        ck_assert_msg(tt_log_read_with_sync(TT_LOG_V5 ONE TWO, SYNCS[_i].sync, &rows, &err) == 0, "%s: %s",
                      SYNCS[_i].what, err.text);
        /* The clock of the host comes first, where there are readings by it. */
        n_host = rows.n_clocks - 2;
        ck_assert_uint_le(n_host, 1);
        ck_assert(n_host == 1 || rows.n_readings == 0);
        if (n_host == 1) {
                ck_assert(rows.clocks[0].kind == IMPORT_CLOCK_TSC);
                ck_assert_double_eq(rows.clocks[0].period_ns, 0.4);
        }
        for (size_t i = 0; i < rows.n_readings; i++)
                n_readings[rows.readings[i].clock - 1 - n_host]++;
        ck_assert_msg(n_readings[0] == SYNCS[_i].n_readings[0] && n_readings[1] == SYNCS[_i].n_readings[1],
                      "%s", SYNCS[_i].what);
        if (n_readings[1] > 0) {
                ck_assert_uint_eq(rows.readings[rows.n_readings - 1].ticks, SYNCS[_i].ticks);
                ck_assert_uint_eq(rows.readings[rows.n_readings - 1].epoch, SYNCS[_i].epoch);
        }
        ck_assert_uint_eq(rows.n_malformed, SYNCS[_i].n_malformed);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.clocks[n_host + 1].name), SYNCS[_i].name);
}
END_TEST

/* ---- folders ------------------------------------------------------------------------------------------- */

static const struct {
        const char *what, *files[6], *folder;
        bool is_known, has_readings;
        const char *log; /* the one that is read, by its place in `files`; its rows count it */
} FOLDERS[] = {
        { "empty", { "x" }, "", false, false, NULL },
        { "a log alone", { "profile_log_device.csv" }, "", true, false, "0" },
        { "both in one", { "profile_log_device.csv", "sync_device_info.csv" }, "", true, true, "0" },
        { "generated/profiler",
          { ".logs/profile_log_device.csv", ".logs/sync_device_info.csv" },
          "",
          true,
          true,
          "0" },
        { "the newest of its reports",
          { "reports/2026_01_01/profile_log_device.csv", "reports/2026_02_01/profile_log_device.csv" },
          "",
          true,
          false,
          "1" },
        { "named reports", { "reports/name/2026_02_01/profile_log_device.csv" }, "", true, false, "0" },
        { "the folder above", { "profiler/.logs/profile_log_device.csv" }, "", true, false, "0" },
        { "the home of tt-metal",
          { "generated/profiler/reports/D/profile_log_device.csv" },
          "",
          true,
          false,
          "0" },
        { "the reports", { "reports/2026_01_01/profile_log_device.csv" }, "/reports", true, false, "0" },
        { "named reports of theirs",
          { "reports/name/D/profile_log_device.csv" },
          "/reports/",
          true,
          false,
          "0" },
        { "folders of another name are not searched",
          { "other/D/profile_log_device.csv" },
          "/other",
          false,
          false,
          NULL },
        { "deeper is not searched", { "reports/a/b/c/profile_log_device.csv" }, "", false, false, NULL },
        { "a report, and the .logs of its run",
          { "reports/D/profile_log_device.csv", ".logs/profile_log_device.csv",
            ".logs/sync_device_info.csv" },
          "/reports/D",
          true,
          false,
          "0" },
        { "a report with .logs beside it",
          { "D/profile_log_device.csv", "D/.logs/sync_device_info.csv" },
          "/D",
          true,
          true,
          "0" },
        { "a report of another run than .logs",
          { "reports/D/profile_log_device.csv", "reports/D/sync_device_info.csv",
            ".logs/profile_log_device.csv" },
          "",
          true,
          false,
          "2" },
        { "a report of operations alone", { "ops_perf_results_2026.csv" }, "", true, false, NULL },
        { "a report by C++ alone", { "cpp_device_perf_report.csv" }, "", true, false, NULL },
        { "a folder in the place of the log", { "profile_log_device.csv/x" }, "", false, false, NULL },
};

START_LOOP_TEST(test_folders, 0, sizeof(FOLDERS) / sizeof(FOLDERS[0]))
{
        char path[512], text[4096];

        tt_log_make_folder();
        for (int i = 0; i < 6 && FOLDERS[_i].files[i]; i++) {
                size_t n = (size_t)snprintf(text, sizeof(text), "%s", TT_LOG_V5);

                /* As many rows as its place says, so that the log that is read can be told. */
                for (int j = 0; j <= i; j++)
                        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", ONE);
                if (strstr(FOLDERS[_i].files[i], "perf_re"))
                        (void)strcpy(text, "OP CODE,GLOBAL CALL COUNT\n");
                if (strstr(FOLDERS[_i].files[i], "sync"))
                        (void)strcpy(text, TT_LOG_SYNC POINT("0", "7", "20"));
                tt_log_put_text(FOLDERS[_i].files[i], text);
        }
        (void)snprintf(path, sizeof(path), "%s%s", tt_log_folder, FOLDERS[_i].folder);
        ck_assert_msg(import_tt_device_recognise_folder(path) == FOLDERS[_i].is_known, "%s",
                      FOLDERS[_i].what);
        ck_assert_int_eq(import_tt_device_read_folder(path, &rows, &err), FOLDERS[_i].is_known ? 0 : -ENOENT);
        ck_assert_msg(rows.n_readings == FOLDERS[_i].has_readings, "%s", FOLDERS[_i].what);
        if (FOLDERS[_i].log)
                ck_assert_msg(rows.n_rows == (uint64_t)(*FOLDERS[_i].log - '0') + 1, "%s", FOLDERS[_i].what);
        tt_log_remove_folder();
}
END_TEST

/* The log of a report is a copy of that in .logs: only then the readings there are of the same run. */
START_TEST(test_readings_of_the_same_run)
{
        char path[512];

        tt_log_make_folder();
        tt_log_put_text("reports/name/D/profile_log_device.csv", TT_LOG_V5 ONE);
        tt_log_put_text(".logs/profile_log_device.csv", TT_LOG_V5 ONE);
        tt_log_put_text(".logs/sync_device_info.csv", TT_LOG_SYNC POINT("0", "7", "20"));
        (void)snprintf(path, sizeof(path), "%s/reports/name/D", tt_log_folder);
        ck_assert_int_eq(import_tt_device_read_folder(path, &rows, &err), 0);
        tt_log_remove_folder();
        ck_assert_uint_eq(rows.n_readings, 1);
}
END_TEST
