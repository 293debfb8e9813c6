/* SPDX-License-Identifier: MIT */
/* Ticks of a device become times by its readings and its period; equal ticks are equal lengths */

#include "analyze/trace/device_clock.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <math.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static struct clock_reading point(uint64_t ticks, uint64_t ns)
{
        return (struct clock_reading){ .ticks = ticks, .begin_ns = ns, .end_ns = ns };
}

static uint64_t place(const struct device_clock *c, uint64_t ticks)
{
        return device_clock_time_ns(c, ticks, CLOCK_FIT_NO_HINT);
}

/* One line through all, before and after them too.  Their order does not matter. */
START_TEST(test_line)
{
        struct clock_reading readings[] = { point(3000, 50000), point(1000, 30000), point(2000, 40000) };
        struct device_clock c;

        ck_assert_int_eq(device_clock_init(&c, readings, 3, 0), 0);
        ck_assert_uint_eq(place(&c, 1000), 30000);
        ck_assert_uint_eq(place(&c, 1500), 35000);
        ck_assert_uint_eq(place(&c, 900), 29000);
        ck_assert_uint_eq(place(&c, 3100), 51000);
        ck_assert_uint_eq(place(&c, 0), 20000);
        ck_assert_uint_eq(device_clock_duration_ns(&c, 7), 70);
        ck_assert(c.is_placed && c.has_period);
        ck_assert_uint_eq(c.n_left_out, 0);
        device_clock_deinit(&c);
}
END_TEST

START_TEST(test_no_period)
{
        struct clock_reading readings[] = { point(1000, 10000), point(2000, 30000) };
        struct device_clock c;

        ck_assert_int_eq(device_clock_init(&c, readings, 2, 0), 0);
        ck_assert_double_eq_tol(c.period_ns, 20, 1e-9);
        ck_assert_uint_eq(place(&c, 2100), 32000);
        device_clock_deinit(&c);
        ck_assert_int_eq(device_clock_init(&c, readings, 1, 0), 0);
        ck_assert(c.is_placed && !c.has_period);
        ck_assert_uint_eq(place(&c, 1007), 10007);
        device_clock_deinit(&c);
        ck_assert_int_eq(device_clock_init(&c, readings, 0, 2), 0);
        ck_assert(!c.is_placed && c.has_period);
        ck_assert_uint_eq(place(&c, 50), 100);
        ck_assert_uint_eq(device_clock_error_ns(&c, 50, CLOCK_FIT_NO_HINT), CLOCK_FIT_NO_BOUND);
        device_clock_deinit(&c);
}
END_TEST

/* With a named period one reading is enough: its bracket is the bound, and 100 ppm of the distance more. */
START_TEST(test_one_reading)
{
        struct clock_reading reading = { .ticks = 1000, .begin_ns = 1000000000, .end_ns = 1000000400 };
        struct device_clock c;

        ck_assert_int_eq(device_clock_init(&c, &reading, 1, 1), 0);
        ck_assert_uint_eq(place(&c, 1000), 1000000200);
        ck_assert_uint_eq(place(&c, 10001000), 1010000200);
        ck_assert_uint_ge(device_clock_error_ns(&c, 1000, 0), 200);
        ck_assert_uint_le(device_clock_error_ns(&c, 1000, 0), 204);
        ck_assert_uint_ge(device_clock_error_ns(&c, 10001000, 0), 1200);
        ck_assert_uint_le(device_clock_error_ns(&c, 10001000, 0), 1204);
        device_clock_deinit(&c);
}
END_TEST

/* A period that no clock with these readings has is not believed. */
START_TEST(test_wrong_period)
{
        struct clock_reading readings[] = { point(1000, 30000), point(2000, 40000), point(3000, 50000) };
        struct device_clock c;

        ck_assert_int_eq(device_clock_init(&c, readings, 3, 5), 0);
        ck_assert(c.fit.period_disagrees);
        ck_assert_uint_eq(place(&c, 2500), 45000);
        ck_assert_uint_eq(device_clock_duration_ns(&c, 100), 1000);
        device_clock_deinit(&c);
}
END_TEST

/* 38 readings are 0.4 to 1 us late, two 50 us: kernels of 1 ms last 1 ms, and are where they were. */
START_TEST(test_two_late_readings)
{
        struct clock_reading readings[40];
        char words[CLOCK_FIT_WORDS_BYTES];
        struct device_clock c;

        for (size_t i = 0; i < 40; i++)
                readings[i] = point(5000000 + i * 10000000, 1000000000 + i * 10000000 + 400 + i * 7919 % 600 +
                                                                    (i == 13 || i == 22 ? 50000 : 0));
        ck_assert_int_eq(device_clock_init(&c, readings, 40, 0), 0);
        for (uint64_t i = 0; i < 390; i++) {
                uint64_t at_ns = 1000000000 + i * 1000000, found_ns = place(&c, 5000000 + i * 1000000);

                ck_assert_uint_eq(device_clock_duration_ns(&c, 1000000), 1000000);
                ck_assert_uint_le(found_ns > at_ns ? found_ns - at_ns : at_ns - found_ns, 1000);
        }
        ck_assert_int_eq(c.fit.quality, CLOCK_ESTIMATED);
        ck_assert_uint_ge(c.fit.n_late, 2);
        ck_assert_uint_le(c.fit.n_late, 4);
        ck_assert_ptr_nonnull(strstr(clock_fit_words(&c.fit, words), "placed within about "));
        ck_assert_ptr_nonnull(strstr(words, " (estimated)"));
        device_clock_deinit(&c);
}
END_TEST

/* A reading that goes backwards alone is left out; a counter that goes on from there was set back. */
START_TEST(test_backwards)
{
        struct clock_reading alone[] = { point(10000, 10000000), point(20000, 20000000),
                                         point(9000, 30000000), point(40000, 40000000),
                                         point(50000, 50000000) };
        struct clock_reading restart[] = { point(70000, 10000000), point(80000, 20000000), point(0, 30000000),
                                           point(10000, 40000000), point(20000, 50000000) };
        struct device_clock c;

        ck_assert_int_eq(device_clock_init(&c, alone, 5, 0), 0);
        ck_assert_uint_eq(c.n_left_out, 1);
        ck_assert_uint_eq(c.fit.n_epochs, 1);
        ck_assert_uint_eq(place(&c, 30000), 30000000);
        device_clock_deinit(&c);

        ck_assert_int_eq(device_clock_init(&c, restart, 5, 0), 0);
        ck_assert_uint_eq(c.n_left_out, 0);
        ck_assert_uint_eq(c.fit.n_epochs, 2);
        ck_assert_uint_eq(place(&c, 75000), 15000000);
        ck_assert_uint_eq(place(&c, 15000), 45000000);
        /* Both epochs may have had it: the second only later. */
        ck_assert_uint_eq(device_clock_time_ns(&c, 5000, 36000000), 35000000);
        ck_assert_uint_eq(device_clock_time_ns(&c, 65000, 6000000), 5000000);
        ck_assert_uint_eq(device_clock_duration_ns(&c, 10), 10000);
        device_clock_deinit(&c);
}
END_TEST

/* Rows of a trace count with the error and the epoch that they state; each device has its own. */
START_TEST(test_rows_of_a_trace)
{
        static const struct trace_device_clock rows[] = {
                { .ticks = 1000, .raw_ns = 1000000, .error_ns = 300, .device = 1 },
                { .ticks = 500, .raw_ns = 7000, .device = 2 },
                { .ticks = 101000, .raw_ns = 1100000, .error_ns = 300, .device = 1 },
                { .ticks = 601000, .raw_ns = 1600000, .error_ns = 200, .device = 1 },
                /* Ticks that would fit the line before: only the number says that the counter was set. */
                { .ticks = 701000, .raw_ns = 1700000, .error_ns = 900, .device = 1, .epoch = 1 },
                { .ticks = 801000, .raw_ns = 1800000, .error_ns = 900, .device = 1, .epoch = 1 },
                { .ticks = 1, .raw_ns = 5, .error_ns = UINT64_MAX, .device = 3 },
        };
        const struct trace_device device = { .process = 1 };
        const struct device_clock *c;
        struct device_clocks clocks;
        struct trace_builder b;

        trace_builder_init(&b);
        (void)trace_builder_thread(&b, 1, 1);
        for (struct trace_device row = device; row.number < 3; row.number++)
                (void)trace_builder_row(&b, TRACE_TABLE_DEVICES, &row);
        for (size_t i = 0; i < N(rows); i++)
                (void)trace_builder_row(&b, TRACE_TABLE_DEVICE_CLOCKS, &rows[i]);
        ck_assert_int_eq(device_clocks_init(&clocks, &b.dictionary), 0);
        c = &clocks.clocks[0];
        ck_assert_int_eq(c->fit.quality, CLOCK_PROVEN);
        ck_assert_uint_eq(c->fit.n_epochs, 2);
        ck_assert_uint_ge(c->fit.epochs[0].bound_ns, 200);
        ck_assert_uint_le(c->fit.epochs[0].bound_ns, 310);
        ck_assert_uint_ge(c->fit.bound_ns, 900);
        ck_assert_uint_le(c->fit.bound_ns, 1700);
        ck_assert_int_eq(clocks.clocks[1].fit.quality, CLOCK_ERROR_UNKNOWN);
        ck_assert_uint_eq(clocks.clocks[1].fit.n_epochs, 1);
        ck_assert(clocks.clocks[2].is_placed);
        device_clocks_deinit(&clocks);
        trace_builder_finish(&b);
        trace_builder_deinit(&b);
}
END_TEST

START_TEST(test_words)
{
        static const struct {
                struct clock_fit fit;
                const char *words;
        } table[] = {
                { { .quality = CLOCK_UNPLACED, .bound_ns = CLOCK_FIT_NO_BOUND }, "clock unknown" },
                { { .quality = CLOCK_ERROR_UNKNOWN, .bound_ns = CLOCK_FIT_NO_BOUND },
                  "placed, error unknown" },
                { { .quality = CLOCK_PROVEN, .bound_ns = 42 }, "placed within 42 ns" },
                { { .quality = CLOCK_PROVEN, .bound_ns = 282 }, "placed within 0.3 us" },
                { { .quality = CLOCK_PROVEN, .bound_ns = 1201 }, "placed within 1.3 us" },
                { { .quality = CLOCK_ESTIMATED, .bound_ns = 1000 },
                  "placed within about 1.0 us (estimated)" },
                { { .quality = CLOCK_PROVEN, .bound_ns = 18000000 }, "placed within 18.0 ms" },
                { { .quality = CLOCK_PROVEN, .bound_ns = UINT64_MAX - 1 }, "placed within 18446744073.8 s" },
                { { .quality = CLOCK_PROVEN, .bound_ns = 282, .n_epochs = 1 }, "placed within 0.3 us" },
                { { .quality = CLOCK_PROVEN, .bound_ns = 282, .n_epochs = 2 },
                  "placed within 0.3 us, 2 epochs" },
                { { .quality = CLOCK_ESTIMATED,
                    .bound_ns = UINT64_MAX - 1,
                    .n_epochs = CLOCK_FIT_EPOCHS_MAX },
                  "placed within about 18446744073.8 s (estimated), 256 epochs" },
                { { .quality = CLOCK_ERROR_UNKNOWN, .bound_ns = CLOCK_FIT_NO_BOUND, .n_epochs = 3 },
                  "placed, error unknown, 3 epochs" },
        };
        char words[CLOCK_FIT_WORDS_BYTES];

        for (size_t i = 0; i < N(table); i++)
                ck_assert_str_eq(clock_fit_words(&table[i].fit, words), table[i].words);
}
END_TEST

START_TEST(test_hostile_readings)
{
        const double periods[] = { (double)NAN, (double)INFINITY, -1, 1e300, 1e-300, 0 };

        for (size_t i = 0; i < N(periods); i++) {
                struct clock_reading readings[] = { point(10, 1000), point(10, 2000), point(20, 500),
                                                    point(30, 3000), point(UINT64_MAX, UINT64_MAX) };
                const uint64_t ticks[] = { 0, 9, 10, 29, 30, 1000000, UINT64_MAX - 1, UINT64_MAX };
                struct device_clock c;
                uint64_t last_ns = 0;

                ck_assert_int_eq(device_clock_init(&c, readings, 5, periods[i]), 0);
                ck_assert_uint_eq(c.n_left_out, 3);
                for (size_t k = 0; k < N(ticks); k++) {
                        uint64_t time_ns = place(&c, ticks[k]);

                        ck_assert_uint_ge(time_ns, last_ns);
                        last_ns = time_ns;
                }
                device_clock_deinit(&c);
        }
}
END_TEST
