/* SPDX-License-Identifier: MIT */
/* Times of a file are where the recording's clocks say, within the stated bound; else it is refused. */
#include "unit_test.h"

#include "base/clock.h"
#include "base/error.h"
#include "fixed_random.h"
#include "format/trace_dictionary.h"
#include "import/rows/import_clocks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RAW_START (UINT64_C(2000) * NS_PER_S)
#define AHEAD_NS  UINT64_C(266688671)

static void add_clock_row(struct trace_dictionary *d, uint32_t kind, uint64_t ticks, uint64_t raw_ns,
                          uint32_t error_ns)
{
        struct trace_clock row = { .ticks = ticks, .raw_ns = raw_ns, .kind = kind, .error_ns = error_ns };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(d, TRACE_TABLE_CLOCKS, &row, &id), 0);
}

static void add_meta(struct trace_dictionary *d, const char *key, uint64_t value)
{
        struct trace_meta row;
        char text[32];
        uint32_t id;

        (void)snprintf(text, sizeof(text), "%" PRIu64, value);
        ck_assert_int_eq(trace_dictionary_add_string(d, key, strlen(key), &row.key), 0);
        ck_assert_int_eq(trace_dictionary_add_string(d, text, strlen(text), &row.value), 0);
        ck_assert_int_eq(trace_dictionary_add(d, TRACE_TABLE_META, &row, &id), 0);
}

static uint32_t add_clock(struct import_clocks *c, enum import_clock_kind kind, double period_ns)
{
        struct import_clock clock = { .kind = kind, .period_ns = period_ns };
        uint32_t id = 0;

        ck_assert_int_eq(import_clocks_add(c, &clock, 0, &id), 0);
        return id;
}

static void use_on_host(struct import_clocks *c, uint32_t clock, uint64_t from, uint64_t to)
{
        import_clocks_use(c, clock, from, to);
        c->clocks[clock - 1].is_for_host = true;
}

/*
 * A clock that is slewed by up to 500 ppm, another way each second, and is read each second within 100 ns:
 * the truth is within the bound, and the bound is no larger than the slew explains.
 */
START_LOOP_TEST(a_slewed_clock_is_within_its_bound, 1, 100)
{
        struct trace_dictionary d;
        struct import_clocks c = { .clocks = NULL };
        struct import_placing how = { .into = &d };
        uint64_t state = (uint64_t)_i, raw = RAW_START, at = RAW_START + AHEAD_NS;
        uint64_t ticks[60], truths[60];
        uint32_t clock = add_clock(&c, IMPORT_CLOCK_MONOTONIC, 0);

        trace_dictionary_init(&d, 0);
        for (int i = 0; i < 60; i++) {
                uint64_t slew = NS_PER_S / 2000, by = fixed_random_next(&state) % (2 * slew);
                uint64_t part = fixed_random_next(&state) % NS_PER_S;

                add_clock_row(&d, TRACE_CLOCK_MONOTONIC, at + fixed_random_next(&state) % 50, raw, 100);
                ticks[i] = at + part + by * part / NS_PER_S - slew * part / NS_PER_S;
                truths[i] = raw + part;
                at += NS_PER_S + by - slew;
                raw += NS_PER_S;
        }
        add_clock_row(&d, TRACE_CLOCK_MONOTONIC, at, raw, 100);
        use_on_host(&c, clock, ticks[0], ticks[59]);
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
        for (int i = 0; i < 60; i++) {
                int64_t apart = (int64_t)(import_clocks_time(&c, clock, ticks[i]) - truths[i]);

                ck_assert_msg((uint64_t)llabs(apart) <= c.clocks[clock - 1].line.bound_ns, "%d: %" PRId64, i,
                              apart);
                ck_assert_int_le(llabs(apart), 200); /* straight between the readings: far better than that */
        }
        ck_assert_uint_le(c.clocks[clock - 1].line.bound_ns, NS_PER_S / 2000 + 300);
        import_clocks_deinit(&c);
        trace_dictionary_deinit(&d);
}
END_TEST

/*
 * CLOCK_REALTIME is set once, by any time: the truth is within the bound.  Where it is set forward, all but
 * what happened between the two readings around that is exact.
 */
START_LOOP_TEST(a_clock_that_is_set_is_within_its_bound, 1, 200)
{
        struct trace_dictionary d;
        struct import_clocks c = { .clocks = NULL };
        struct import_placing how = { .into = &d };
        uint64_t state = (uint64_t)_i, real = UINT64_C(1795972226) * NS_PER_S, ticks[120], truths[120];
        uint64_t set_at = RAW_START + NS_PER_S + fixed_random_next(&state) % (28 * NS_PER_S);
        int64_t by_ns = (int64_t)(fixed_random_next(&state) % (UINT64_C(1) << (20 + _i % 18)));
        uint32_t clock = add_clock(&c, IMPORT_CLOCK_REALTIME, 0);

        by_ns = _i % 2 == 0 ? by_ns : -by_ns;
        trace_dictionary_init(&d, 0);
        for (uint64_t raw = RAW_START; raw <= RAW_START + 30 * NS_PER_S; raw += NS_PER_S)
                add_clock_row(&d, TRACE_CLOCK_REALTIME,
                              real + raw - RAW_START + (raw >= set_at ? (uint64_t)by_ns : 0), raw, 100);
        for (int i = 0; i < 120; i++) {
                truths[i] = RAW_START + (uint64_t)i * (NS_PER_S / 4) +
                            fixed_random_next(&state) % (NS_PER_S / 4);
                ticks[i] = real + truths[i] - RAW_START + (truths[i] >= set_at ? (uint64_t)by_ns : 0);
                use_on_host(&c, clock, ticks[i], ticks[i]);
        }
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
        for (int i = 0; i < 120; i++) {
                uint64_t apart = (uint64_t)llabs(
                        (int64_t)(import_clocks_time(&c, clock, ticks[i]) - truths[i]));
                bool is_clear = truths[i] / NS_PER_S != set_at / NS_PER_S && by_ns > (int64_t)(2 * NS_PER_S);

                ck_assert_msg(apart <= (is_clear ? 200 : c.clocks[clock - 1].line.bound_ns),
                              "%d: %" PRIu64 " of %" PRId64, i, apart, by_ns);
        }
        ck_assert_uint_le(c.clocks[clock - 1].line.bound_ns,
                          (by_ns > 0 ? NS_PER_S / 2 : (uint64_t)-by_ns) + NS_PER_S / 10);
        import_clocks_deinit(&c);
        trace_dictionary_deinit(&d);
}
END_TEST

START_TEST(an_old_recording_has_realtime_only)
{
        struct trace_dictionary d;
        struct import_clocks c = { .clocks = NULL };
        struct import_placing how = { .into = &d, .error_ns = 7 };
        uint64_t realtime = UINT64_C(1795972226885321459);
        uint32_t clock = add_clock(&c, IMPORT_CLOCK_REALTIME, 0);

        trace_dictionary_init(&d, 0);
        add_meta(&d, "start_realtime_ns", realtime);
        add_meta(&d, "start_raw_ns", RAW_START);
        add_meta(&d, "end_realtime_ns", realtime + 2 * NS_PER_S + 400);
        add_meta(&d, "end_raw_ns", RAW_START + 2 * NS_PER_S);
        use_on_host(&c, clock, realtime, realtime + NS_PER_S);
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
        ck_assert_uint_eq(import_clocks_time(&c, clock, realtime), RAW_START);
        ck_assert_uint_eq(import_clocks_time(&c, clock, realtime + NS_PER_S + 200), RAW_START + NS_PER_S);
        ck_assert_uint_ge(c.clocks[0].line.bound_ns, 407);
        ck_assert_uint_le(c.clocks[0].line.bound_ns, 20000);
        import_clocks_deinit(&c);

        c = (struct import_clocks){ .clocks = NULL };
        clock = add_clock(&c, IMPORT_CLOCK_MONOTONIC, 0);
        use_on_host(&c, clock, 1, 2);
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), -EINVAL);
        ck_assert_uint_eq(c.unplaced, clock);
        import_clocks_deinit(&c);

        c = (struct import_clocks){ .clocks = NULL };
        clock = add_clock(&c, IMPORT_CLOCK_MONOTONIC, 0);
        use_on_host(&c, clock, 1, 2);
        how.said = IMPORT_CLOCK_RAW;
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
        ck_assert_uint_eq(import_clocks_time(&c, clock, 2), 2);
        import_clocks_deinit(&c);
        trace_dictionary_deinit(&d);
}
END_TEST

/* Ticks of 0.4 ns that begin at 2^56, read against CLOCK_MONOTONIC, which the recording has read. */
START_TEST(a_device_goes_through_the_clock_that_it_was_read_against)
{
        struct trace_dictionary d;
        struct import_clocks c = { .clocks = NULL };
        struct import_placing how = { .into = &d };
        uint32_t clock = add_clock(&c, IMPORT_CLOCK_OWN, 0.4);
        uint64_t origin = UINT64_C(1) << 56;

        trace_dictionary_init(&d, 0);
        for (uint64_t i = 0; i < 3; i++) {
                struct import_reading r = { .clock = clock, .host = IMPORT_CLOCK_MONOTONIC };

                add_clock_row(&d, TRACE_CLOCK_MONOTONIC, RAW_START + AHEAD_NS + i * NS_PER_S,
                              RAW_START + i * NS_PER_S, 40);
                r.ticks = origin + i * 250000000;
                r.host_begin = RAW_START + AHEAD_NS + i * 100000000 - 500;
                r.host_end = r.host_begin + 1000;
                ck_assert_int_eq(import_clocks_add_reading(&c, &r), 0);
        }
        import_clocks_use(&c, clock, origin, origin + 1250000000);
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
        ck_assert_uint_eq(import_clocks_time(&c, clock, origin + 125000000), RAW_START + 50000000);
        ck_assert_uint_eq(import_clocks_time(&c, clock, origin + 1250000000), RAW_START + 500000000);
        ck_assert_uint_eq(c.clocks[0].line.bound_ns, 540);
        import_clocks_deinit(&c);
        trace_dictionary_deinit(&d);
}
END_TEST

/* Alone, the file's clock is the timeline; what counts from 0 begins at a second, since 0 means "unknown". */
START_TEST(alone_the_files_clock_is_the_timeline)
{
        static const struct {
                enum import_clock_kind kind;
                double period_ns;
                uint64_t ticks, time_ns;
        } rows[] = {
                { IMPORT_CLOCK_MONOTONIC, 0, 2 * NS_PER_S, 2 * NS_PER_S },
                { IMPORT_CLOCK_UNKNOWN, 0, 5, NS_PER_S + 5 },
                { IMPORT_CLOCK_TSC, 0.5, UINT64_C(8000000000), UINT64_C(4000000000) },
                { IMPORT_CLOCK_OWN, 2, 7, NS_PER_S + 14 },
                { IMPORT_CLOCK_OWN, 2, UINT64_C(1) << 56, NS_PER_S },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct import_clocks c = { .clocks = NULL };
                struct import_placing how = { .into = NULL };
                uint32_t clock = add_clock(&c, rows[i].kind, rows[i].period_ns);

                use_on_host(&c, clock, rows[i].ticks, rows[i].ticks + 10);
                ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
                ck_assert_uint_eq(import_clocks_time(&c, clock, rows[i].ticks), rows[i].time_ns);
                import_clocks_deinit(&c);
        }
}
END_TEST

/* Times of the file that it places within a bound: they are where its own are, and the bounds add up. */
START_TEST(a_stated_bound_is_added)
{
        struct trace_dictionary d;
        struct import_placing how = { .into = NULL, .error_ns = 7 };
        struct import_reading r = { .clock = 1, .host = IMPORT_CLOCK_RAW, .ticks = 100 };

        trace_dictionary_init(&d, 0);
        for (int is_into = 0; is_into < 2; is_into++) {
                struct import_clocks c = { .clocks = NULL };
                struct import_clock of = {
                        .kind = IMPORT_CLOCK_OWN, .period_ns = 1, .of = 1, .error_ns = 312
                };
                uint32_t id;

                (void)add_clock(&c, IMPORT_CLOCK_OWN, 1);
                ck_assert_int_eq(import_clocks_add(&c, &of, 0, &id), 0);
                of.error_ns = IMPORT_BOUND_UNKNOWN;
                ck_assert_int_eq(import_clocks_add(&c, &of, 0, &id), 0);
                how.into = is_into ? &d : NULL;
                r.host_begin = r.host_end = RAW_START;
                if (is_into)
                        ck_assert_int_eq(import_clocks_add_reading(&c, &r), 0);
                use_on_host(&c, 1, 150, 200);
                import_clocks_use(&c, 2, 120, 120);
                ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
                ck_assert_uint_eq(import_clocks_time(&c, 2, 130) - import_clocks_time(&c, 2, 120), 10);
                ck_assert_uint_eq(import_clocks_time(&c, 1, 130), import_clocks_time(&c, 2, 130));
                ck_assert_uint_eq(import_clocks_time(&c, 2, 120), is_into ? RAW_START + 20 : NS_PER_S + 120);
                ck_assert_uint_eq(c.clocks[0].line.bound_ns, 7);
                ck_assert_uint_eq(c.clocks[1].line.bound_ns, 319);
                ck_assert_uint_eq(c.clocks[2].line.bound_ns, IMPORT_BOUND_UNKNOWN);
                import_clocks_deinit(&c);
        }
        trace_dictionary_deinit(&d);
}
END_TEST

/* Whatever the numbers are: no overflow that a sanitizer finds, and times never decrease with ticks. */
START_LOOP_TEST(hostile_clocks_have_places, 1, 50)
{
        struct import_clocks c = { .clocks = NULL };
        struct import_placing how = { .into = NULL, .error_ns = UINT64_MAX };
        uint64_t state = (uint64_t)_i, last = 0;
        uint32_t clock = add_clock(&c, IMPORT_CLOCK_OWN, _i % 2 ? 0 : 1e11);

        (void)add_clock(&c, IMPORT_CLOCK_MONOTONIC, 0);
        use_on_host(&c, 2, fixed_random_magnitude(&state), UINT64_MAX);
        for (int i = 0; i < 20; i++) {
                struct import_reading r = { .clock = clock, .host = IMPORT_CLOCK_MONOTONIC };

                r.ticks = fixed_random_magnitude(&state);
                r.host_begin = fixed_random_magnitude(&state) / 2;
                r.host_end = r.host_begin + fixed_random_magnitude(&state) / 2;
                ck_assert_int_eq(import_clocks_add_reading(&c, &r), 0);
        }
        import_clocks_use(&c, clock, 0, UINT64_MAX);
        ck_assert_int_eq(import_clocks_place(&c, &how, NULL), 0);
        for (uint64_t bit = 0; bit < 64; bit++) {
                uint64_t time_ns = import_clocks_time(&c, clock, UINT64_C(1) << bit);

                ck_assert_uint_ge(time_ns, last);
                last = time_ns;
        }
        import_clocks_deinit(&c);
}
END_TEST
