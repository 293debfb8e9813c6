/* SPDX-License-Identifier: MIT */
#include "cli/views/lost_cores.h"

#include "analyze/cores/idle_cores.h"
#include "analyze/cores/wall_shares.h"
#include "analyze/report/report.h"
#include "analyze/trace/meta_value.h"
#include "base/clock.h"
#include "format/trace_reader.h"
#include "view/path/idle_view.h"
#include "view/path/wall_view.h"
#include "view/shared/recording_view.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"

#include <math.h>
#include <stdbool.h>

/* A cause with less is not mentioned. */
#define SHARE_MIN 0.1
/* With more that is not known, nothing is said. */
#define DOUBT_MIN 0.05
/* So many switches and samples are looked at, which takes 50 ms; with more, this share of the time. */
#define EVENTS_MAX 150000.0
#define PART_SHARE 0.03
/* That includes what is read before a part, and for the events that come late. */
#define PART_MORE_NS (3.0 * NS_PER_S)
#define PART_MIN_NS  (0.5 * NS_PER_S)
/* Threads, at all moments. */
#define MOMENTS_THREADS_MAX 400000.0
#define MOMENTS_MIN         200
#define PART_MOMENTS        2000

/* The part of the recording that is looked at. */
struct part {
        struct trace_filter filter;  /* borrows from the report's */
        uint64_t from_ns, length_ns; /* since the start; length 0 = all */
        uint32_t n_moments;
};

/* Filters do not say how much is read for what they leave, and those for samples change nothing here. */
static bool may_matter(const struct report *report)
{
        return report->filter.is_empty && meta_value_number(report->trace.dictionary, "off_cpu") != 0 &&
               report->n_kernel_threads >= 2 && recording_view_idle_share(report) > OVERVIEW_IDLE_MIN;
}

static double count_events(const struct report *report)
{
        double n = (double)report->totals.n_switches;

        for (uint32_t i = 0; i < report->n_events; i++)
                n += (double)report->events[i].sum.n_samples;
        return n;
}

/* The middle of a recording that can be read from there on; else its beginning. */
static bool find_part(const struct report *report, uint64_t begin_ns, uint64_t middle_ns, uint64_t *ret_ns)
{
        struct trace_reader_range range = { .from_ns = middle_ns, .to_ns = UINT64_MAX };

        if (trace_reader_seek_range(report->reader, &range, NULL) < 0)
                return false;
        *ret_ns = range.states_at_bytes != 0 ? middle_ns : begin_ns;
        return true;
}

/* Returns false if what may be looked at is too little. */
static bool choose_part(struct part *p, const struct report *report)
{
        uint64_t from_ns = report->trace.start_ns, to_ns = report->trace.end_ns;
        double n_events = count_events(report), length_ns;
        double n_moments = fmax(MOMENTS_THREADS_MAX / fmax(report->n_kernel_threads, 1), MOMENTS_MIN);

        *p = (struct part){ .filter = report->filter,
                            .n_moments = (uint32_t)fmin(n_moments, PAST_SWEEP_MOMENTS) };
        if (n_events <= EVENTS_MAX || to_ns <= from_ns)
                return to_ns > from_ns;
        /* to read a part would change what is known of the end */
        if (trace_ending_is_early(report->ending))
                return false;
        length_ns = (double)(to_ns - from_ns) * PART_SHARE - PART_MORE_NS;
        if (length_ns < PART_MIN_NS)
                return false;
        p->length_ns = (uint64_t)length_ns;
        if (p->n_moments > PART_MOMENTS)
                p->n_moments = PART_MOMENTS;
        if (!find_part(report, from_ns, from_ns + (to_ns - from_ns - p->length_ns) / 2, &p->filter.from_ns))
                return false;
        p->filter.to_ns = p->filter.from_ns + p->length_ns;
        p->from_ns = p->filter.from_ns - report->trace.start_ns;
        return true;
}

/* In a part, a wait that goes on after it is not known: then a large cause may not be either. */
static bool is_idle_known(const struct idle_cores *c, const struct part *p)
{
        double cores = 0;

        for (uint32_t i = 0; i < c->n_rows && p->length_ns != 0; i++)
                if (idle_cores_key(c, c->order[i])->cause == IDLE_OPEN)
                        cores += c->rows[c->order[i] - 1].cores;
        return idle_cores_share(c, cores) < DOUBT_MIN;
}

static bool is_wall_known(const struct wall_shares *w, const struct part *p)
{
        double share = 0;

        for (uint32_t i = 0; i < w->n_rows && p->length_ns != 0; i++)
                if (wall_shares_key(w, w->order[i])->kind == WALL_ROW_UNKNOWN)
                        share += w->rows[w->order[i] - 1].share;
        return share < DOUBT_MIN;
}

static void say_part(struct answer_words *words, const struct part *p)
{
        if (words->used_bytes != 0 && p->length_ns != 0)
                answer_words_add(words, " (in %s from %.3f s on)", text_number_duration(p->length_ns).text,
                                 (double)p->from_ns / (double)NS_PER_S);
}

void lost_cores_take(struct lost_cores *l, struct report *report, bool shows_native)
{
        uint64_t n_unknown_events = report->trace.n_unknown_events;
        struct part part;
        struct idle_cores cores;
        struct wall_shares shares;

        *l = (struct lost_cores){ .idle = { .used_bytes = 0 } };
        if (!may_matter(report) || !choose_part(&part, report) ||
            loaded_trace_read_names(&report->trace, NULL) < 0)
                return;
        if (idle_cores_take(&cores, &report->trace,
                            &(struct idle_cores_request){ .filter = &part.filter,
                                                          .shows_native = shows_native,
                                                          .n_moments = part.n_moments,
                                                          .is_bounded = part.length_ns != 0 },
                            NULL) == 0 &&
            is_idle_known(&cores, &part))
                (void)idle_view_say(&cores, SHARE_MIN, &l->idle);
        idle_cores_deinit(&cores);
        if (wall_shares_take(&shares, &report->trace,
                             &(struct wall_shares_request){ .filter = &part.filter,
                                                            .shows_native = shows_native,
                                                            .n_moments = part.n_moments,
                                                            .is_bounded = part.length_ns != 0 },
                             NULL) == 0 &&
            is_wall_known(&shares, &part))
                (void)wall_view_say(&shares, SHARE_MIN, &l->wall);
        wall_shares_deinit(&shares);
        report->trace.n_unknown_events = n_unknown_events; /* of all of it */
        say_part(&l->idle, &part);
        say_part(&l->wall, &part);
}
