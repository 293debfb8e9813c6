/* SPDX-License-Identifier: MIT */
#include "cli/top/top_head.h"

#include "analyze/live/live_stats.h"
#include "base/clock.h"
#include "cli/top/top_input.h"
#include "format/trace_dictionary.h"
#include "format/trace_follow.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <stdio.h>

#define PAUSE_NS (2 * NS_PER_S)

static uint64_t count_losses(const struct trace_dictionary *d)
{
        uint64_t n = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_LOSSES); i++)
                n += ((const struct trace_loss *)trace_dictionary_row(d, TRACE_TABLE_LOSSES, i))->count;
        return n;
}

static const char *top_head_state_of(const struct top_input *in, bool is_paused)
{
        if (in->is_over)
                return "ended";
        if (is_paused)
                return "paused";
        if (in->latest_ns == 0)
                return "waiting for events";
        return clock_raw_ns() - in->arrived_ns > PAUSE_NS ? "no events" : "live";
}

void top_head_print(const struct top_input *in, const char *title, bool all, bool is_paused, char *line,
                    size_t n_bytes)
{
        const struct live_stats *s = &in->stats;
        uint64_t n_lost = count_losses(s->dictionary);
        int n = snprintf(line, n_bytes, "hyprof top: %.80s  %s  %s %s  %s samples, %s zones", title,
                         top_head_state_of(in, is_paused), all ? "all of" : "last",
                         text_number_duration(live_stats_window_ns(s, all)).text,
                         text_number_short(s->n_samples).text, text_number_short(s->n_zones_over).text);

        if (n_lost > 0 && n > 0 && (size_t)n < n_bytes)
                n += snprintf(line + n, n_bytes - (size_t)n, ", %s losses", text_number_short(n_lost).text);
        if (s->n_zones_beside > 0 && n > 0 && (size_t)n < n_bytes)
                n += snprintf(line + n, n_bytes - (size_t)n, ", %s zones of other places not shown",
                              text_number_short(s->n_zones_beside).text);
        if (s->n_clock_jumps > 0 && n > 0 && (size_t)n < n_bytes)
                (void)snprintf(line + n, n_bytes - (size_t)n, ", the clock went back %" PRIu32 " times",
                               s->n_clock_jumps);
}
