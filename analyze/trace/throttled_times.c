/* SPDX-License-Identifier: MIT */
#include "analyze/trace/throttled_times.h"

#include "analyze/trace/meta_value.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* About 36 years: the sum of a few thousand of them, in nanoseconds, does not overflow. */
#define US_MAX (UINT64_C(1) << 50)

/* A decimal number of microseconds and the character after it. */
static bool take_us(struct text_view *text, char after, uint64_t *ret_ns)
{
        uint64_t us = 0;
        size_t i = 0;

        for (; i < text->n_bytes && text->bytes[i] >= '0' && text->bytes[i] <= '9' && us < US_MAX; i++)
                us = us * 10 + (uint64_t)(text->bytes[i] - '0');
        if (i == 0 || i == text->n_bytes || text->bytes[i] != after || us >= US_MAX)
                return false;
        text->bytes += i + 1;
        text->n_bytes -= i + 1;
        *ret_ns = us * 1000;
        return true;
}

/* "1200+100000=42000;": from 1.2 ms on, for 100 ms, of which the group was throttled for 42 ms. */
int throttled_times_read(struct throttled_times *ret, const struct trace_dictionary *d)
{
        struct text_view text = meta_value_find(d, "cpu_throttled");
        uint64_t begin_ns, length_ns, throttled_ns, done_ns = 0;

        *ret = (struct throttled_times){ .spans = NULL };
        if (text.n_bytes == 0)
                return 0;
        ret->spans = calloc(THROTTLED_SPANS_MAX, sizeof(*ret->spans));
        if (!ret->spans)
                return -ENOMEM;
        while (ret->n_spans < THROTTLED_SPANS_MAX && take_us(&text, '+', &begin_ns) &&
               take_us(&text, '=', &length_ns) && take_us(&text, ';', &throttled_ns)) {
                if (begin_ns < done_ns)
                        break;
                done_ns = begin_ns + length_ns;
                ret->spans[ret->n_spans++] = (struct throttled_span){
                        .begin_ns = begin_ns,
                        .end_ns = done_ns,
                        .throttled_ns = throttled_ns,
                };
        }
        return 0;
}

void throttled_times_deinit(struct throttled_times *t)
{
        free(t->spans);
        *t = (struct throttled_times){ .spans = NULL };
}

uint32_t throttled_times_find(const struct throttled_times *t, uint64_t time_ns)
{
        size_t n = array_count_to(t->spans, t->n_spans, sizeof(*t->spans),
                                  offsetof(struct throttled_span, begin_ns), time_ns);

        return n != 0 && t->spans[n - 1].end_ns > time_ns ? (uint32_t)n : 0;
}

double throttled_times_share(const struct throttled_times *t, uint32_t n, double unowned_ns)
{
        return unowned_ns > 0 ? fmin((double)t->spans[n - 1].throttled_ns / unowned_ns, 1) : 0;
}
