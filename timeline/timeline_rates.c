/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_rates.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIN_LOG2_FIRST 10 /* 1 us; wider parts are made as the recording turns out longer */

/* Compared as bytes. */
struct counter_key {
        uint32_t thread, event;
};

static int rates_no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "the index of the time line: out of memory");
}

int timeline_rates_init(struct timeline_rates *c, struct timeline_index *index,
                        const struct trace_dictionary *dictionary)
{
        *c = (struct timeline_rates){ .index = index, .dictionary = dictionary, .bin_log2 = BIN_LOG2_FIRST };
        intern_init(&c->keys, sizeof(struct counter_key), 0);
        c->busy_ns = calloc(TIMELINE_LOAD_BINS, sizeof(*c->busy_ns));
        return c->busy_ns ? 0 : -ENOMEM;
}

void timeline_rates_deinit(struct timeline_rates *c)
{
        for (uint32_t i = 0; i < c->keys.n_items; i++)
                timeline_lane_list_deinit(&c->counters[i].lanes);
        free(c->counters);
        free(c->busy_ns);
        intern_deinit(&c->keys);
        *c = (struct timeline_rates){ .counters = NULL };
}

/* ---- counters ------------------------------------------------------------------------------------------ */

static bool is_time_unit(const struct trace_dictionary *d, const struct trace_sample_event *row)
{
        struct text_view unit = trace_dictionary_text(d, row->unit);

        return row->unit == 0 || text_view_is(unit, "ns");
}

static int name_counter(struct timeline_rates *c, uint32_t track, const struct trace_sample_event *row)
{
        struct text_view words = trace_dictionary_text(c->dictionary, row->unit);
        char unit[64];
        int n = snprintf(unit, sizeof(unit), "%.*s/s", words.n_bytes < 40 ? (int)words.n_bytes : 40,
                         words.bytes);
        int r = timeline_index_set_title(c->index, track, trace_dictionary_text(c->dictionary, row->name));

        return r < 0 ? r
                     : timeline_index_set_unit(c->index, track,
                                               (struct text_view){ .bytes = unit, .n_bytes = (size_t)n });
}

/* Returns 0, -ENOMEM, -EOVERFLOW. */
static int find_counter(struct timeline_rates *c, uint32_t thread, uint32_t event,
                        const struct trace_sample_event *row, struct timeline_counter **ret_counter)
{
        const struct counter_key key = { .thread = thread, .event = event };
        const struct timeline_track_key track_key = { .kind = TIMELINE_TRACK_COUNTER,
                                                      .owner = thread,
                                                      .number = event };
        const struct trace_thread *owner = trace_dictionary_row(c->dictionary, TRACE_TABLE_THREADS, thread);
        uint32_t id;
        int track, r = array_reserve(&c->counters, &c->capacity, (size_t)c->keys.n_items + 1,
                                     sizeof(*c->counters));

        if (r < 0)
                return r;
        track = timeline_index_track(c->index, &track_key);
        if (track < 0)
                return track;
        r = intern_add(&c->keys, &key, sizeof(key), &id);
        if (r < 0)
                return r;
        *ret_counter = &c->counters[id - 1];
        if (r == 0)
                return 0;
        c->counters[id - 1] = (struct timeline_counter){ .track = (uint32_t)track };
        c->index->tracks[track].process = owner->process;
        c->index->tracks[track].thread = thread;
        return name_counter(c, (uint32_t)track, row);
}

int timeline_rates_sample(struct timeline_rates *c, const struct walked_thread *thread,
                          const struct trace_event *event, struct error *err)
{
        uint32_t id = (uint32_t)event->sample.event;
        const struct trace_sample_event *row = trace_dictionary_row(c->dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                    id);
        uint64_t ran_ns = thread_timeline_ran_until(&thread->timeline, event->time_ns), since_ns;
        struct timeline_counter *counter;
        int lane, r;

        if (is_time_unit(c->dictionary, row))
                return 0;
        r = find_counter(c, thread->id, id, row, &counter);
        if (r == -EOVERFLOW) {
                c->index->n_left_out++;
                return 0;
        }
        if (r < 0)
                return rates_no_memory(err);
        since_ns = ran_ns > counter->ran_ns ? ran_ns - counter->ran_ns : 0;
        counter->ran_ns = ran_ns;
        if (since_ns == 0)
                return 0; /* it did not run: there is no rate */
        lane = timeline_lane_list_get(&counter->lanes, c->index, counter->track, TIMELINE_LANE_PLOT, 0);
        if (lane == -EOVERFLOW) {
                c->index->n_left_out++;
                return 0;
        }
        if (lane < 0)
                return rates_no_memory(err);
        return timeline_index_add_value(c->index, (uint32_t)lane, event->time_ns,
                                        (double)event->sample.weight * (double)NS_PER_S / (double)since_ns,
                                        err);
}

/* ---- the load ------------------------------------------------------------------------------------------ */

static void widen_bins(struct timeline_rates *c)
{
        for (size_t i = 0; i < TIMELINE_LOAD_BINS; i++)
                c->busy_ns[i] = i < TIMELINE_LOAD_BINS / 2 ? c->busy_ns[2 * i] + c->busy_ns[2 * i + 1] : 0;
        c->n_bins = (c->n_bins + 1) / 2;
        c->bin_log2++;
}

void timeline_rates_busy(struct timeline_rates *c, uint64_t begin_ns, uint64_t end_ns)
{
        uint64_t start_ns = c->index->start_ns, at, end;

        at = begin_ns > start_ns ? begin_ns - start_ns : 0;
        end = end_ns > start_ns ? end_ns - start_ns : 0;
        if (end <= at)
                return;
        while ((end - 1) >> c->bin_log2 >= TIMELINE_LOAD_BINS)
                widen_bins(c);
        while (at < end) {
                uint64_t bin = at >> c->bin_log2, bin_ns = UINT64_C(1) << c->bin_log2;
                uint64_t left_ns = bin_ns - (at & (bin_ns - 1));
                uint64_t until = left_ns < end - at ? at + left_ns : end;

                c->busy_ns[bin] += until - at;
                at = until;
                if (c->n_bins <= bin)
                        c->n_bins = (uint32_t)bin + 1;
        }
}

int timeline_rates_finish(struct timeline_rates *c, uint64_t end_ns, struct error *err)
{
        static const struct text_view title = { .bytes = "CPU load", .n_bytes = 8 };
        static const struct text_view unit = { .bytes = "CPUs", .n_bytes = 4 };
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_LOAD };
        uint64_t start_ns = c->index->start_ns, bin_ns = UINT64_C(1) << c->bin_log2;
        int r = 0, track, lane;

        if (c->n_bins == 0)
                return 0;
        track = timeline_index_track(c->index, &key);
        lane = track < 0 ? track : timeline_index_lane(c->index, (uint32_t)track, TIMELINE_LANE_PLOT, 0);
        if (lane == -EOVERFLOW) {
                c->index->n_left_out++;
                return 0;
        }
        if (lane < 0 || timeline_index_set_title(c->index, (uint32_t)track, title) < 0 ||
            timeline_index_set_unit(c->index, (uint32_t)track, unit) < 0)
                return rates_no_memory(err);
        for (uint32_t i = 0; i < c->n_bins && r == 0; i++) {
                uint64_t at_ns = start_ns + ((uint64_t)i << c->bin_log2);
                uint64_t length_ns = at_ns < end_ns && end_ns - at_ns < bin_ns ? end_ns - at_ns : bin_ns;

                r = timeline_index_add_value(c->index, (uint32_t)lane, at_ns,
                                             (double)c->busy_ns[i] / (double)length_ns, err);
        }
        return r;
}
