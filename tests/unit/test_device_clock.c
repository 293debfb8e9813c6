/* SPDX-License-Identifier: MIT */
/* Ticks of a device become times by its readings and its period, whatever they say */

#include "analyze/trace/device_clock.h"
#include "tests/unit/unit_test.h"

#include <math.h>
#include <stdlib.h>

static void fill(struct device_clock *c, const struct device_reading *readings, size_t n, double period_ns)
{
        *c = (struct device_clock){ .n_readings = n, .capacity = n };
        c->readings = calloc(n + 1, sizeof(*readings));
        ck_assert_ptr_nonnull(c->readings);
        for (size_t i = 0; i < n; i++)
                c->readings[i] = readings[i];
        device_clock_complete(c, period_ns);
}

/* Between readings a straight line; outside the period that was named. */
START_TEST(test_pieces)
{
        const struct device_reading readings[] = { { 3000, 50000 }, { 1000, 10000 }, { 2000, 20000 } };
        struct device_clock c;

        fill(&c, readings, 3, 5);
        ck_assert_uint_eq(device_clock_time_ns(&c, 1000), 10000);
        ck_assert_uint_eq(device_clock_time_ns(&c, 1500), 15000);
        ck_assert_uint_eq(device_clock_time_ns(&c, 2500), 35000);
        ck_assert_uint_eq(device_clock_time_ns(&c, 900), 9500);
        ck_assert_uint_eq(device_clock_time_ns(&c, 3100), 50500);
        ck_assert_uint_eq(device_clock_time_ns(&c, 0), 5000);
        ck_assert(c.is_placed && c.has_period);
        ck_assert_uint_eq(c.n_left_out, 0);
        free(c.readings);
}
END_TEST

START_TEST(test_no_period)
{
        const struct device_reading readings[] = { { 1000, 10000 }, { 2000, 30000 } };
        struct device_clock c;

        fill(&c, readings, 2, 0);
        ck_assert_double_eq(c.period_ns, 20);
        ck_assert_uint_eq(device_clock_time_ns(&c, 2100), 32000);
        free(c.readings);
        fill(&c, readings, 1, 0);
        ck_assert(c.is_placed && !c.has_period);
        ck_assert_uint_eq(device_clock_time_ns(&c, 1007), 10007);
        free(c.readings);
        fill(&c, readings, 0, 2);
        ck_assert(!c.is_placed && c.has_period);
        ck_assert_uint_eq(device_clock_time_ns(&c, 50), 100);
        free(c.readings);
}
END_TEST

START_TEST(test_hostile_readings)
{
        const struct device_reading readings[] = {
                { 10, 1000 }, { 10, 2000 }, { 20, 500 }, { 30, 3000 }, { UINT64_MAX, UINT64_MAX }
        };
        const double periods[] = { (double)NAN, (double)INFINITY, -1, 1e300, 1e-300, 0 };

        for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
                const uint64_t ticks[] = { 0, 9, 10, 29, 30, 1000000, UINT64_MAX - 1, UINT64_MAX };
                struct device_clock c;
                uint64_t last_ns = 0;

                fill(&c, readings, 5, periods[i]);
                ck_assert_uint_eq(c.n_left_out, 2);
                for (size_t k = 0; k < sizeof(ticks) / sizeof(ticks[0]); k++) {
                        uint64_t time_ns = device_clock_time_ns(&c, ticks[k]);

                        ck_assert_uint_ge(time_ns, last_ns);
                        last_ns = time_ns;
                }
                free(c.readings);
        }
}
END_TEST
