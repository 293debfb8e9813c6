/* SPDX-License-Identifier: MIT */
/* Device logs of tt-metal: five versions, and files that are cut, spoiled or made to harm. */
#include "base/error.h"
#include "format/tt_run_key.h"
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

/* ---- the whole log ------------------------------------------------------------------------------------- */

/* All four cores together, from the truth of the log. */
static const struct {
        const char *processor, *zone;
        uint64_t n, cycles[2]; /* n on each chip */
} ZONES[] = {
        { "BRISC", "BRISC-FW", 40, { 459676, 459716 } },
        { "BRISC", "BRISC-KERNEL", 40, { 268666, 256295 } },
        { "NCRISC", "NCRISC-FW", 40, { 150969, 157968 } },
        { "NCRISC", "NCRISC-KERNEL", 40, { 94970, 101968 } },
        { "TRISC_0", "TRISC-FW", 40, { 330267, 323224 } },
        { "TRISC_0", "TRISC-KERNEL", 40, { 274267, 267224 } },
        { "TRISC_1", "TRISC-FW", 40, { 315680, 323863 } },
        { "TRISC_1", "TRISC-KERNEL", 40, { 259681, 267862 } },
        { "TRISC_1", "MATH-LOOP", 120, { 95998, 96000 } },
        { "TRISC_2", "TRISC-FW", 40, { 318585, 313927 } },
        { "TRISC_2", "TRISC-KERNEL", 40, { 262586, 257927 } },
};

START_TEST(test_a_whole_log)
{
        uint64_t n = 0, sum = 0, n_all = 0;

        ck_assert_msg(tt_log_read_path(TT_LOG_DATA "profile_log_device.csv.zst", &rows, &err) == 0, "%s",
                      err.text);
        ck_assert_str_eq(rows.format, "tt-device");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.version), "5, wormhole_b0, 1000 MHz");
        ck_assert_uint_eq(rows.n_rows, 2240);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(rows.n_left_out, 0);
        ck_assert(!rows.is_cut);
        ck_assert_uint_eq(rows.n_spans, 1040);
        ck_assert_uint_eq(rows.n_values, 80);
        ck_assert_uint_eq(rows.n_instants, 80);
        ck_assert_uint_eq(rows.n_clocks, 2);
        ck_assert_uint_eq(rows.n_readings, 0); /* nothing beside the file */
        ck_assert_double_eq(rows.clocks[0].period_ns, 1.0);
        ck_assert_uint_eq(rows.n_tracks, 2 + 2 * 4 + 2 * 4 * 5);
        for (size_t i = 0; i < sizeof(ZONES) / sizeof(ZONES[0]); i++)
                for (int chip = 0; chip < 2; chip++) {
                        n = sum = 0;
                        for (int core = 0; core < 4; core++) {
                                char path[128];
                                uint32_t track;

                                (void)snprintf(path, sizeof(path), "chip %d, wormhole_b0/core %d,%d/%s", chip,
                                               1 + core % 2, 1 + core / 2, ZONES[i].processor);
                                track = fake_import_rows_find_track(&rows, path);
                                ck_assert_msg(track != 0, "%s", path);
                                n += fake_import_rows_count_spans(&rows, track, ZONES[i].zone);
                                sum += fake_import_rows_sum_spans(&rows, track, ZONES[i].zone);
                        }
                        ck_assert_msg(n == ZONES[i].n && sum == ZONES[i].cycles[chip],
                                      "chip %d %s: %" PRIu64 " zones, %" PRIu64 " cycles", chip,
                                      ZONES[i].zone, n, sum);
                        n_all += n;
                }
        ck_assert_uint_eq(n_all, rows.n_spans);
        sum = 0;
        for (size_t i = 0; i < rows.n_values; i++)
                sum += rows.values[i].bits;
        ck_assert_uint_eq(sum, 84216);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.values[0].name), "CB-COMPUTE-WAIT-FRONT");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.values[0].unit), "cycles");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[0].name), "TS_DATA");
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[0].text),
                         "3105098146250762 {\"noc\":1;\"dst_addr\":4096}");
}
END_TEST

START_TEST(test_keys)
{
        struct tt_run run;
        uint64_t n_replayed = 0;

        ck_assert_int_eq(tt_log_read_path(TT_LOG_DATA "profile_log_device.csv.zst", &rows, &err), 0);
        for (size_t i = 0; i < rows.n_spans; i++) {
                ck_assert_str_eq(fake_import_rows_text(&rows, rows.spans[i].key.kind), "tt run");
                ck_assert(tt_run_key_decode(rows.spans[i].key.value, &run));
                ck_assert_uint_eq(run.run_host_id & 1023, run.chip);
                ck_assert_uint_le(run.chip, 1);
                if (run.run_host_id >> 10 >= 7) {
                        ck_assert_uint_eq(run.trace, 3);
                        ck_assert(run.replay == 1 || run.replay == 2);
                        n_replayed++;
                } else {
                        ck_assert_uint_eq(run.trace, TT_RUN_NONE);
                        ck_assert_uint_eq(run.replay, TT_RUN_NONE);
                }
        }
        ck_assert_uint_eq(n_replayed, 1040 / 10 * 4);
}
END_TEST

static const struct {
        struct tt_run run;
        bool is_whole;
} KEYS[] = {
        { { 0, 1024, TT_RUN_NONE, TT_RUN_NONE }, true },
        { { 255, UINT32_MAX, 254, 0x7ffe }, true },
        { { 0, 1, 0, 0 }, true },
        { { 1, 1, 0, TT_RUN_NONE }, true },
        { { 256, 1, TT_RUN_NONE, TT_RUN_NONE }, false },
        { { 0, UINT64_C(1) << 32, TT_RUN_NONE, TT_RUN_NONE }, false },
        { { 0, 1, 255, 0 }, false },
        { { 0, 1, 0, 0x7fff }, false },
};

START_TEST(test_the_parts_of_a_key)
{
        size_t n = sizeof(KEYS) / sizeof(KEYS[0]);

        for (size_t i = 0; i < n; i++) {
                uint64_t key = tt_run_key_encode(&KEYS[i].run);
                struct tt_run back;

                ck_assert(key != 0);
                ck_assert(tt_run_key_decode(key, &back) == KEYS[i].is_whole);
                if (KEYS[i].is_whole)
                        ck_assert_mem_eq(&back, &KEYS[i].run, sizeof(back));
                for (size_t j = 0; j < i; j++)
                        ck_assert(key != tt_run_key_encode(&KEYS[j].run));
        }
        ck_assert_uint_eq(tt_run_key_encode(&(struct tt_run){ 3, 0, 1, 1 }), 0);
        ck_assert(!tt_run_key_decode(0, &(struct tt_run){ .chip = 0 }));
}
END_TEST

/* ---- versions ------------------------------------------------------------------------------------------ */

static const struct {
        const char *file, *version, *zone;
        uint64_t n_rows, n_spans, n_instants, n_of_zone, cycles;
        uint64_t key; /* of the first span */
} VERSIONS[] = {
        { "header_v1.csv", "1, grayskull, 1200 MHz", "BRISC-FW", 4, 0, 4, 0, 0, 0 },
        { "header_v2.csv", "2, grayskull, 1202 MHz", "BRISC-FW", 4, 2, 0, 1, 55451, 0 },
        { "header_v3.csv", "3, wormhole_b0, 1000 MHz", "BRISC-FW", 8, 4, 0, 3, 97565, 781 },
        { "header_v4.csv", "4, wormhole_b0, 1000 MHz", "BRISC-KERNEL", 5, 2, 1, 1, 8181, 1024 },
};

START_LOOP_TEST(test_older_versions, 0, sizeof(VERSIONS) / sizeof(VERSIONS[0]))
{
        char path[128];
        size_t n_bytes;

        (void)snprintf(path, sizeof(path), TT_LOG_DATA "%s", VERSIONS[_i].file);
        ck_assert(import_tt_device_recognise((struct text_view){ tt_log_load(path, &n_bytes), n_bytes }));
        ck_assert_msg(tt_log_read_path(path, &rows, &err) == 0, "%s", err.text);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.version), VERSIONS[_i].version);
        ck_assert_uint_eq(rows.n_rows, VERSIONS[_i].n_rows);
        ck_assert_uint_eq(rows.n_malformed, 0);
        ck_assert_uint_eq(rows.n_left_out, 0);
        ck_assert_uint_eq(rows.n_spans, VERSIONS[_i].n_spans);
        ck_assert_uint_eq(rows.n_instants, VERSIONS[_i].n_instants);
        ck_assert_uint_eq(fake_import_rows_count_spans(&rows, 0, VERSIONS[_i].zone), VERSIONS[_i].n_of_zone);
        ck_assert_uint_eq(fake_import_rows_sum_spans(&rows, 0, VERSIONS[_i].zone), VERSIONS[_i].cycles);
        if (rows.n_spans > 0) {
                ck_assert_uint_eq(rows.spans[0].key.value, VERSIONS[_i].key);
                ck_assert_uint_gt(rows.spans[0].line, 0);
                ck_assert_ptr_nonnull(strstr(fake_import_rows_text(&rows, rows.spans[0].file), "/brisc"));
        }
}
END_TEST

START_TEST(test_the_oldest_version_has_timers)
{
        ck_assert_int_eq(tt_log_read_path(TT_LOG_DATA "header_v1.csv", &rows, &err), 0);
        ck_assert_uint_eq(fake_import_rows_count_instants(&rows, 0, "timer 5"), 2);
        ck_assert_uint_eq(rows.instants[0].time, 161095200021778);
        ck_assert_uint_eq(fake_import_rows_find_track(&rows, "chip 0, grayskull/core 0,0/NCRISC"),
                          rows.instants[0].track);
}
END_TEST

static const struct {
        const char *head;
        bool is_log;
} HEADS[] = {
        { TT_LOG_V5, true },
        { "ARCH: blackhole, CHIP_FREQ[MHz]: 1350\r\nPCIe slot, core_x\r\n", true },
        { "ARCH: blackhole, CHIP_FREQ[MHz]: 1350\n", true },
        { "ARCH: blackhole, CHIP_FREQ[MHz]: 1350\nOP CODE,OP TYPE\n", false },
        { "ARCH: blackhole\nPCIe slot, core_x\n", false },
        { "Chip clock is at 1.2 GHz\nPCIe slot, core_x\n", true },
        { "PCIe slot, core_x\n", false },
        { "OP CODE,OP TYPE\n", false },
        { TT_LOG_SYNC, false },
        { "", false },
        { "{\"traceEvents\": []}", false },
};

START_LOOP_TEST(test_recognising, 0, sizeof(HEADS) / sizeof(HEADS[0]))
{
        ck_assert(import_tt_device_recognise((struct text_view){ HEADS[_i].head, strlen(HEADS[_i].head) }) ==
                  HEADS[_i].is_log);
}
END_TEST

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define B(time, name) "0,1,1,BRISC,7," time ",0,1024,,," name ",ZONE_START,9,a.cc,\n"
#define E(time, name) "0,1,1,BRISC,7," time ",0,1024,,," name ",ZONE_END,9,a.cc,\n"
#define N(time, name) "0,1,1,NCRISC,7," time ",0,1024,,," name ",ZONE_START,9,a.cc,\n"
#define M(meta)       "0,1,1,BRISC,7,5,6,1024,,,,TS_DATA,0,," meta "\n"

static const struct {
        const char *what, *body;
        uint64_t n_spans, n_instants, n_values, n_malformed, n_begins_lost, n_ends_lost;
} BODIES[] = {
        { "nothing", "", 0, 0, 0, 0, 0, 0 },
        { "nested", B("1", "A") B("2", "B") E("3", "B") E("4", "A"), 2, 0, 0, 0, 0, 0 },
        { "the same name within itself", B("1", "A") B("2", "A") E("3", "A") E("4", "A"), 2, 0, 0, 0, 0, 0 },
        { "an end is lost", B("1", "A") B("2", "B") E("4", "A"), 1, 0, 0, 0, 0, 1 },
        { "a begin is lost", B("1", "A") E("2", "B") E("4", "A"), 1, 0, 0, 0, 1, 0 },
        { "never ended", B("1", "A") B("2", "B"), 0, 0, 0, 0, 0, 2 },
        { "another processor's", B("1", "A") N("2", "A") E("3", "A"), 1, 0, 0, 0, 0, 1 },
        { "backwards", B("5", "A") E("4", "A"), 0, 0, 0, 1, 0, 1 },
        { "of no length", B("5", "A") E("5", "A"), 1, 0, 0, 0, 0, 0 },
        { "no name", B("1", "") E("2", "  "), 1, 0, 0, 0, 0, 0 },
        { "the last number", B("0", "A") E("18446744073709551615", "A"), 1, 0, 0, 0, 0, 0 },
        { "a number too many", B("0", "A") E("18446744073709551616", "A"), 0, 0, 0, 1, 0, 1 },
        { "huge numbers", B("99999999999999999999999999999999999999999", "A"), 0, 0, 0, 1, 0, 0 },
        { "below zero", B("-5", "A"), 0, 0, 0, 1, 0, 0 },
        { "no number", B("NaN", "A") B("", "A") B("0x10", "A") B("1e3", "A"), 0, 0, 0, 4, 0, 0 },
        { "meta data", M("{\"a\":1;\"b\":2}"), 0, 1, 0, 0, 0, 0 },
        { "meta data with commas and quotes", M("{\"a\":\"x,y\",\"b\":\"it\"s\",,,}"), 0, 1, 0, 0, 0, 0 },
        { "a sum", "0,1,1,TRISC_0,7,5,1715,1024,,,CB,ZONE_TOTAL,9,a.cc,\n", 0, 0, 1, 0, 0, 0 },
        { "a sum without one", "0,1,1,TRISC_0,7,5,,1024,,,CB,ZONE_TOTAL,9,a.cc,\n", 0, 0, 0, 1, 0, 0 },
        { "an event", "0,1,1,BRISC,7,5,0,1024,,,E,TS_EVENT,9,a.cc,\n", 0, 1, 0, 0, 0, 0 },
        { "an unknown type", "0,1,1,BRISC,7,5,0,1024,,,E,ZONE_MIDDLE,9,a.cc,\n", 0, 0, 0, 1, 0, 0 },
        { "cores", "0,x,1,BRISC,7,5,0,1024,,,E,TS_EVENT,9,a.cc,\n", 0, 0, 0, 1, 0, 0 },
        { "no processor", "0,1,1,,7,5,0,1024,,,E,TS_EVENT,9,a.cc,\n", 0, 0, 0, 1, 0, 0 },
        { "a key of letters", "0,1,1,BRISC,7,5,0,seven,,,E,TS_EVENT,9,a.cc,\n", 0, 0, 0, 1, 0, 0 },
        { "few cells", "0,1,1,BRISC,7,5\n" B("1", "A") E("2", "A"), 1, 0, 0, 1, 0, 0 },
        { "empty lines", "\n\r\n" B("1", "A") "\n" E("2", "A"), 1, 0, 0, 0, 0, 0 },
        { "the header again", B("1", "A") TT_LOG_V5 E("2", "A"), 1, 0, 0, 0, 0, 0 },
        { "another frequency", "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\n" B("1", "A") E("2", "A"), 1, 0, 0, 1,
          0, 0 },
        { "rounds", B("1", "A") N("1", "A") E("2", "A") B("1", "A") E("2", "A"), 2, 0, 0, 0, 0, 1 },
};

START_LOOP_TEST(test_bodies, 0, sizeof(BODIES) / sizeof(BODIES[0]))
{
        char text[4096];

        (void)snprintf(text, sizeof(text), "%s%s", TT_LOG_V5, BODIES[_i].body);
        ck_assert_msg(tt_log_read_text(text, &rows, &err) == 0, "%s: %s", BODIES[_i].what, err.text);
        ck_assert_msg(rows.n_spans == BODIES[_i].n_spans && rows.n_instants == BODIES[_i].n_instants &&
                              rows.n_values == BODIES[_i].n_values &&
                              rows.n_malformed == BODIES[_i].n_malformed,
                      "%s: %zu spans, %zu instants, %zu values, %" PRIu64 " malformed, first %s",
                      BODIES[_i].what, rows.n_spans, rows.n_instants, rows.n_values, rows.n_malformed,
                      rows.first_malformed_why ? rows.first_malformed_why : "none");
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "zones without their begin"),
                          BODIES[_i].n_begins_lost);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "zones without their end"),
                          BODIES[_i].n_ends_lost);
        ck_assert(!rows.is_cut);
}
END_TEST

START_TEST(test_meta_data_is_kept_as_it_is)
{
        ck_assert_int_eq(tt_log_read_text(TT_LOG_V5 M("{\"a\":\"x,y\",\"b\":\"it\"s\",,,}"), &rows, &err), 0);
        ck_assert_str_eq(fake_import_rows_text(&rows, rows.instants[0].text),
                         "6 {\"a\":\"x,y\",\"b\":\"it\"s\",,,}");
}
END_TEST

START_TEST(test_the_line_of_a_malformed_row)
{
        ck_assert_int_eq(tt_log_read_text(TT_LOG_V5 B("1", "A") E("x", "A") E("2", "A"), &rows, &err), 0);
        ck_assert_uint_eq(rows.first_malformed_at, 4);
        ck_assert_uint_eq(rows.n_spans, 1);
}
END_TEST

START_TEST(test_work_outside_of_any_program_has_no_key)
{
        ck_assert_int_eq(tt_log_read_text(TT_LOG_V5 "0,1,1,BRISC,7,1,0,0,,,A,ZONE_START,9,a.cc,\n"
                                                    "0,1,1,BRISC,7,2,0,0,,,A,ZONE_END,9,a.cc,\n"
                                                    "0,1,1,BRISC,7,3,0,0,,,A,ZONE_START,9,a.cc,\n"
                                                    "0,1,1,BRISC,7,4,0,2048,,,A,ZONE_END,9,a.cc,\n",
                                          &rows, &err),
                         0);
        ck_assert_uint_eq(rows.spans[0].key.kind, 0);
        ck_assert_uint_eq(rows.spans[0].key.value, 0);
        ck_assert_uint_eq(rows.spans[1].key.value, 2048); /* what its end says */
}
END_TEST

START_TEST(test_neo_processors_have_a_clock_of_their_own)
{
        ck_assert_int_eq(
                tt_log_read_with_sync(TT_LOG_V5 "0,1,1,QUASAR_DM0,7,1,0,0,,,A,TS_EVENT,9,a.cc,\n"
                                                "0,1,1,QUASAR_NEO3_TRISC0,7,1,0,0,,,A,TS_EVENT,9,a.cc,\n",
                                      TT_LOG_SYNC "0,1,1,1000,100,1,10,5000,1,1,0.4,7,1.0,0\n", &rows, &err),
                0);
        ck_assert_uint_eq(rows.n_clocks, 3); /* the first is the TSC */
        ck_assert_double_eq(rows.clocks[1].period_ns, 1);
        ck_assert_double_eq_tol(rows.clocks[2].period_ns, 1000.0 / 1400, 1e-12);
        ck_assert_uint_eq(rows.n_readings, 1);
        ck_assert_uint_eq(rows.readings[0].clock, 2);
        ck_assert(fake_import_rows_find_track(&rows,
                                              "chip 0, wormhole_b0, NEO/core 1,1/QUASAR_NEO3_TRISC0") != 0);
}
END_TEST

/* More zones than a processor nests: those outside have lost their end, those inside still find theirs. */
START_TEST(test_many_open_zones)
{
        static char text[1 << 20];
        size_t n = (size_t)snprintf(text, sizeof(text), "%s", TT_LOG_V5);

        for (int i = 0; i < 3000; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, B("%d", "A"), i);
        for (int i = 0; i < IMPORT_TT_LANE_OPEN_MAX + 10; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, E("%d", "A"), 5000 + i);
        ck_assert_int_eq(tt_log_read_text(text, &rows, &err), 0);
        ck_assert_uint_eq(rows.n_spans, IMPORT_TT_LANE_OPEN_MAX);
        ck_assert_uint_eq(rows.spans[0].begin, 2999);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "zones without their end"), 3000 - 256);
        ck_assert_uint_eq(fake_import_rows_left_out(&rows, "zones without their begin"), 10);
}
END_TEST

static const struct {
        const char *text;
        int code;
} REFUSED[] = {
        { "", -EBADMSG },
        { "hello\nworld\n", -EBADMSG },
        { "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n", -ENODATA },
        { "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, timer_id\n0,1,1,2\n",
          -EBADMSG },
        { "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n\n0,1,1,2\n", -EBADMSG },
};

START_LOOP_TEST(test_refused, 0, sizeof(REFUSED) / sizeof(REFUSED[0]))
{
        ck_assert_int_eq(tt_log_read_text(REFUSED[_i].text, &rows, &err), REFUSED[_i].code);
        ck_assert(err.code == REFUSED[_i].code && err.text[0] != '\0');
}
END_TEST

START_TEST(test_columns_are_found_by_their_names)
{
        ck_assert_int_eq(
                tt_log_read_text("ARCH: x, CHIP_FREQ[MHz]: nothing\n"
                                 "zone name,type, run host ID,invented, time[cycles since reset], timer_id,"
                                 "RISC processor type, core_y, core_x, PCIe slot\n"
                                 "A,ZONE_START,77,?,10,1,BRISC,3,2,1\n"
                                 "A,ZONE_END,77,?,15,1,BRISC,3,2,1\n",
                                 &rows, &err),
                0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.spans[0].end - rows.spans[0].begin, 5);
        ck_assert_double_eq(rows.clocks[0].period_ns, 0); /* not known */
        ck_assert_uint_eq(fake_import_rows_find_track(&rows, "chip 1, x/core 2,3/BRISC"),
                          rows.spans[0].track);
}
END_TEST

/* ---- spoiled files ------------------------------------------------------------------------------------- */

#define WHOLE                                                                                    \
        TT_LOG_V5 B("10", "A") B("11", "B") M("{\"noc\":1;\"dst\":2}") E("12", "B") E("13", "A") \
                B("20", "A") E("21", "A") "1,2,3,TRISC_0,7,5,1715,1024,3,1,CB,ZONE_TOTAL,9,a.cc,\n"

/* The last row is cut where a cell is missing; the last cell may be of any length. */
START_TEST(test_cut_at_every_byte)
{
        size_t n_header = strlen(TT_LOG_V5), n_last = 0, n_commas = 0, n_cut = 0;
        bool is_within = false;

        for (size_t n = n_header; n <= strlen(WHOLE); n++) {
                if (n > n_header) {
                        is_within = WHOLE[n - 1] != '\n';
                        n_commas = is_within ? n_commas + (WHOLE[n - 1] == ',') : 0;
                }
                fake_import_rows_deinit(&rows);
                fake_import_rows_init(&rows);
                ck_assert_int_eq(tt_log_read_bytes(WHOLE, n, &rows, &err), 0);
                ck_assert_uint_eq(rows.n_malformed, 0);
                ck_assert_uint_ge(rows.n_spans, n_last);
                ck_assert(rows.is_cut == (is_within && n_commas < 14));
                n_last = rows.n_spans;
                n_cut += rows.is_cut;
        }
        ck_assert_uint_eq(n_last, 3);
        ck_assert_uint_gt(n_cut, 300);
        for (size_t n = 0; n < n_header; n++) {
                fake_import_rows_deinit(&rows);
                fake_import_rows_init(&rows);
                (void)tt_log_read_bytes(WHOLE, n, &rows, &err);
                ck_assert_uint_eq(rows.n_spans, 0);
        }
}
END_TEST

START_TEST(test_flipped_bytes)
{
        size_t n = strlen(WHOLE);
        char text[sizeof(WHOLE)];
        uint64_t random = 1;

        for (int i = 0; i < 3000; i++) {
                memcpy(text, WHOLE, sizeof(text));
                for (int j = 0; j <= i % 4; j++) {
                        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
                        text[(random >> 33) % n] ^= (char)(1 << (random >> 60) % 8);
                }
                fake_import_rows_deinit(&rows);
                fake_import_rows_init(&rows);
                (void)tt_log_read_bytes(text, n, &rows, &err);
                ck_assert_uint_le(rows.n_spans, 3);
        }
}
END_TEST

/* No call of import_rows fails silently. */
START_TEST(test_no_room)
{
        int n_calls;

        ck_assert_int_eq(tt_log_read_with_sync(WHOLE,
                                               TT_LOG_SYNC "0,1,1,1000,100,1,10,5000,1,1,0.4,7,1.0,0\n",
                                               &rows, &err),
                         0);
        n_calls = rows.n_calls;
        ck_assert_int_gt(n_calls, 15);
        for (int i = 1; i <= n_calls; i++) {
                fake_import_rows_deinit(&rows);
                fake_import_rows_init(&rows);
                rows.fails_after = i;
                ck_assert_int_eq(
                        tt_log_read_with_sync(WHOLE, TT_LOG_SYNC "0,1,1,1000,100,1,10,5000,1,1,0.4,7,1.0,0\n",
                                              &rows, &err),
                        -ENOSPC);
                ck_assert_int_eq(rows.n_calls, i);
        }
}
END_TEST
