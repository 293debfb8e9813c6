/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_rates.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "timeline/timeline_query.h"

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
        for (int use = 0; use < TIMELINE_USES; use++) {
                c->use_ns[use] = calloc(TIMELINE_LOAD_BINS, sizeof(*c->use_ns[use]));
                if (!c->use_ns[use])
                        return -ENOMEM;
        }
        return 0;
}

void timeline_rates_deinit(struct timeline_rates *c)
{
        for (uint32_t i = 0; i < c->keys.n_items; i++)
                timeline_lane_list_deinit(&c->counters[i].lanes);
        free(c->counters);
        for (int use = 0; use < TIMELINE_USES; use++)
                free(c->use_ns[use]);
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

/* ---- the load, and CPU time ---------------------------------------------------------------------------- */

static void widen_bins(struct timeline_rates *c)
{
        for (int use = 0; use < TIMELINE_USES; use++) {
                uint64_t *bins = c->use_ns[use];

                for (size_t i = 0; i < TIMELINE_LOAD_BINS; i++)
                        bins[i] = i < TIMELINE_LOAD_BINS / 2 ? bins[2 * i] + bins[2 * i + 1] : 0;
        }
        c->n_bins = (c->n_bins + 1) / 2;
        c->bin_log2++;
}

void timeline_rates_use(struct timeline_rates *c, enum timeline_use use, uint64_t begin_ns, uint64_t end_ns)
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

                c->use_ns[use][bin] += until - at;
                at = until;
                if (c->n_bins <= bin)
                        c->n_bins = (uint32_t)bin + 1;
        }
}

static uint64_t begin_of_bin(const struct timeline_rates *c, uint32_t bin)
{
        return c->index->start_ns + ((uint64_t)bin << c->bin_log2);
}

/* The last part is shorter if the recording ends in it. */
static uint64_t end_of_bin(const struct timeline_rates *c, uint32_t bin, uint64_t end_ns)
{
        uint64_t at_ns = begin_of_bin(c, bin), bin_ns = UINT64_C(1) << c->bin_log2;

        return at_ns < end_ns && end_ns - at_ns < bin_ns ? end_ns : at_ns + bin_ns;
}

static int add_load(struct timeline_rates *c, uint32_t lane, uint64_t end_ns, struct error *err)
{
        int r = 0;

        for (uint32_t i = 0; i < c->n_bins && r == 0; i++) {
                uint64_t at_ns = begin_of_bin(c, i), length_ns = end_of_bin(c, i, end_ns) - at_ns;

                r = timeline_index_add_value(c->index, lane, at_ns,
                                             (double)c->use_ns[TIMELINE_USE_RUNNING][i] / (double)length_ns,
                                             err);
        }
        return r;
}

/* The use of a part, and of all kinds that it includes. */
static uint64_t use_of_bin(const struct timeline_rates *c, uint32_t use, uint32_t bin)
{
        uint64_t sum_ns = 0;

        for (uint32_t i = 0; i <= use; i++)
                sum_ns += c->use_ns[i][bin];
        return sum_ns;
}

static int add_cpu_time(struct timeline_rates *c, uint32_t lane, uint32_t use, uint64_t end_ns,
                        struct error *err)
{
        uint32_t last = c->n_bins - 1;
        uint64_t sum_ns = 0, before_ns = 0;
        int r = 0;

        for (uint32_t i = 0; i <= last && r == 0; i++) {
                uint64_t use_ns = use_of_bin(c, use, i);

                if (i == 0 || i == last || use_ns != before_ns)
                        r = timeline_index_add_value(c->index, lane, begin_of_bin(c, i), (double)sum_ns, err);
                sum_ns += use_ns;
                before_ns = use_ns;
        }
        return r == 0 ? timeline_index_add_value(c->index, lane, end_of_bin(c, last, end_ns), (double)sum_ns,
                                                 err)
                      : r;
}

/* Returns the id of a lane of the track of the load; -EOVERFLOW, after that was counted; -ENOMEM. */
static int make_lane(struct timeline_rates *c, enum timeline_lane_kind kind, uint32_t depth)
{
        static const struct text_view title = { .bytes = "CPU load", .n_bytes = 8 };
        static const struct text_view unit = { .bytes = "CPUs", .n_bytes = 4 };
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_LOAD };
        int track = timeline_index_track(c->index, &key), lane;

        lane = track < 0 ? track : timeline_index_lane(c->index, (uint32_t)track, kind, depth);
        if (lane == -EOVERFLOW)
                c->index->n_left_out++;
        if (lane >= 0 && c->index->tracks[track].title_bytes == 0 &&
            (timeline_index_set_title(c->index, (uint32_t)track, title) < 0 ||
             timeline_index_set_unit(c->index, (uint32_t)track, unit) < 0))
                return -ENOMEM;
        return lane;
}

int timeline_rates_finish(struct timeline_rates *c, uint64_t end_ns, struct error *err)
{
        int lane, r = 0;

        if (c->n_bins == 0)
                return 0;
        lane = make_lane(c, TIMELINE_LANE_PLOT, 0);
        if (lane >= 0)
                r = add_load(c, (uint32_t)lane, end_ns, err);
        for (uint32_t use = 0; use < TIMELINE_USES && lane >= 0 && r == 0; use++) {
                lane = make_lane(c, TIMELINE_LANE_CPU_TIME, use);
                if (lane >= 0)
                        r = add_cpu_time(c, (uint32_t)lane, use, end_ns, err);
        }
        return lane == -ENOMEM ? rates_no_memory(err) : r;
}

/* ---- while the trace grows ----------------------------------------------------------------------------- */

int timeline_rates_grow(struct timeline_rates *c, uint64_t until_ns, struct error *err)
{
        if (c->until_ns < until_ns)
                c->until_ns = until_ns;
        if (c->n_bins == 0)
                return 0;
        for (uint32_t i = 0; i < 1 + TIMELINE_USES; i++) {
                int lane = c->lanes[i] != 0 ? (int)(c->lanes[i] - 1)
                           : i == 0         ? make_lane(c, TIMELINE_LANE_PLOT, 0)
                                            : make_lane(c, TIMELINE_LANE_CPU_TIME, i - 1);

                if (lane == -ENOMEM)
                        return rates_no_memory(err);
                if (lane < 0)
                        return 0;
                c->lanes[i] = (uint32_t)lane + 1;
        }
        return 0;
}

/* Which of c->lanes it is; 1 + TIMELINE_USES = none. */
static uint32_t place_of_lane(const struct timeline_rates *c, uint32_t lane)
{
        uint32_t i = 0;

        while (i < 1 + TIMELINE_USES && (c->lanes[i] == 0 || c->lanes[i] - 1 != lane))
                i++;
        return i;
}

/* Parts that are known: one that is known in part counts. */
static uint32_t known_bins(const struct timeline_rates *c)
{
        uint64_t length_ns = c->until_ns > c->index->start_ns ? c->until_ns - c->index->start_ns : 0;
        uint64_t n = length_ns == 0 ? 0 : ((length_ns - 1) >> c->bin_log2) + 1;

        return n < c->n_bins ? (uint32_t)n : c->n_bins;
}

/* The value at the begin of a part, of CPU time also at the end of the last; @sum_ns: of the parts before. */
static double value_of_bin(const struct timeline_rates *c, uint32_t place, uint32_t bin, uint32_t n,
                           uint64_t sum_ns)
{
        uint64_t length_ns;

        if (place != 0 || bin == n)
                return (double)sum_ns;
        length_ns = end_of_bin(c, bin, c->until_ns) - begin_of_bin(c, bin);
        return (double)c->use_ns[TIMELINE_USE_RUNNING][bin] / (double)length_ns;
}

/* All values before those of the view but the last, and all after it but the first, are left out. */
int timeline_rates_view(const struct timeline_rates *c, const struct timeline_view *view,
                        struct timeline_columns *columns, struct error *err)
{
        uint32_t place = place_of_lane(c, view->lane), n = known_bins(c);
        uint32_t n_values = place == 0 || n == 0 ? n : n + 1;
        uint64_t sum_ns = 0;
        int r = 0;

        if (place > TIMELINE_USES)
                return 0;
        if (view->from_ns >= view->to_ns)
                return error_set(err, -EINVAL, "the view has no length");
        columns->n = 0;
        for (uint32_t i = 0; i < n_values && r == 0; i++) {
                uint64_t at_ns = (i < n ? begin_of_bin(c, i) : end_of_bin(c, n - 1, c->until_ns)) -
                                 c->index->start_ns;
                bool is_last = columns->n != 0 &&
                               (uint64_t)columns->begin_ns[columns->n - 1] >= view->to_ns &&
                               at_ns >> view->bucket_log2 !=
                                       (uint64_t)columns->begin_ns[columns->n - 1] >> view->bucket_log2;

                if (is_last)
                        break;
                /* Before the view, the last item is enough. */
                if (columns->n == 1 &&
                    ((at_ns >> view->bucket_log2) + 1) << view->bucket_log2 <= view->from_ns &&
                    at_ns >> view->bucket_log2 != (uint64_t)columns->begin_ns[0] >> view->bucket_log2)
                        columns->n = 0;
                r = timeline_columns_add_value(columns, view, at_ns, value_of_bin(c, place, i, n, sum_ns),
                                               err);
                if (i < n && place != 0)
                        sum_ns += use_of_bin(c, place - 1, i);
        }
        return r < 0 ? r : 1;
}

uint32_t timeline_rates_count(const struct timeline_rates *c, uint32_t lane)
{
        uint32_t place = place_of_lane(c, lane), n = known_bins(c);

        return place > TIMELINE_USES || n == 0 ? 0 : place == 0 ? n : n + 1;
}
