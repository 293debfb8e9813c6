/* SPDX-License-Identifier: MIT */
/* analyze/clocks: any readings are placed; times never decrease in an epoch; errors are within the bound */
#include "analyze/clocks/clock_fit.h"

#include <stdlib.h>
#include <string.h>

#define READINGS_MAX  512
#define READING_BYTES 25 /* ticks, begin, end, epoch */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t number(const uint8_t *at)
{
        uint64_t value;

        memcpy(&value, at, sizeof(value));
        return value;
}

/* Beyond the digits that a double has of a large time. */
static bool is_more(uint64_t a, uint64_t b)
{
        return a > b && a - b > b / 1000000000 + 4096;
}

static void check_epoch(const struct clock_fit *f, const struct clock_epoch *e)
{
        uint64_t step = (e->last_ticks - e->first_ticks) / 37 + 1, last_ns = 0;
        uint64_t ticks = e->first_ticks;

        if (e->last_ticks < e->first_ticks || e->n_readings == 0 || !(e->slope_ns > 0) ||
            !(e->flattest_ns <= e->steepest_ns) || e->bound_ns > f->bound_ns)
                abort();
        while (ticks < e->last_ticks) {
                uint64_t time_ns = clock_fit_time_ns(f, ticks, CLOCK_FIT_NO_HINT);
                uint64_t error_ns = clock_fit_error_ns(f, ticks, CLOCK_FIT_NO_HINT);

                if (f->n_epochs == 1 && (time_ns < last_ns || is_more(error_ns, f->bound_ns)))
                        abort();
                last_ns = time_ns;
                if (__builtin_add_overflow(ticks, step, &ticks))
                        break;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct clock_reading readings[READINGS_MAX];
        char words[CLOCK_FIT_WORDS_BYTES];
        struct clock_fit f;
        double period_ns = 0;
        size_t n = 0;
        uint64_t last_ns = 0;

        if (size >= sizeof(period_ns)) {
                memcpy(&period_ns, data, sizeof(period_ns));
                data += sizeof(period_ns);
                size -= sizeof(period_ns);
        }
        for (; size >= READING_BYTES && n < READINGS_MAX; size -= READING_BYTES, data += READING_BYTES)
                readings[n++] = (struct clock_reading){ .ticks = number(data),
                                                        .begin_ns = number(data + 8),
                                                        .end_ns = number(data + 16),
                                                        .epoch = data[24] };
        if (clock_fit_init(&f, readings, n, period_ns) < 0)
                abort();
        for (size_t i = 0; i < f.n_epochs; i++)
                check_epoch(&f, &f.epochs[i]);
        for (unsigned bit = 0; bit < 64; bit++) {
                uint64_t ticks = UINT64_MAX >> (63 - bit),
                         time_ns = clock_fit_time_ns(&f, ticks, CLOCK_FIT_NO_HINT);

                if (f.n_epochs < 2 && time_ns < last_ns)
                        abort();
                last_ns = time_ns;
                (void)clock_fit_time_ns(&f, ticks, UINT64_C(1) << bit);
                (void)clock_fit_error_ns(&f, ticks, UINT64_C(1) << bit);
        }
        if (strlen(clock_fit_words(&f, words)) >= sizeof(words))
                abort();
        clock_fit_deinit(&f);
        return 0;
}
