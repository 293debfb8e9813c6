/* SPDX-License-Identifier: MIT */
#include "sampler/pace/sample_throttle.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "sampler/pace/pace.h"

#define SPANS_SHOWN 8

void sample_throttle_init(struct sample_throttle *t)
{
        *t = (struct sample_throttle){ .share = 1, .share_max = SAMPLE_THROTTLE_SHARE_MAX };
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static struct throttled_span *open_span(struct sample_throttle *t)
{
        struct throttled_span *last = t->n_spans > 0 ? &t->spans[t->n_spans - 1] : NULL;

        return last && last->until_ns == 0 ? last : NULL;
}

static void begin_calm(struct sample_throttle *t, uint64_t now_ns)
{
        t->calm_since_ns = now_ns;
        t->calm_busy_ns = 0;
        t->calm_samples_ns = t->samples_ns;
        t->calm_full = 0;
}

/* Takes half as many.  When there is no room for spans, the last one lasts on. */
static void raise(struct sample_throttle *t, uint64_t now_ns)
{
        struct throttled_span *span = open_span(t);

        if (t->share >= t->share_max)
                return;
        t->share *= 2;
        if (!span && t->n_spans < SAMPLE_THROTTLE_SPANS_MAX) {
                span = &t->spans[t->n_spans++];
                *span = (struct throttled_span){ .from_ns = now_ns };
        } else if (!span) {
                span = &t->spans[t->n_spans - 1];
        }
        span->until_ns = 0;
        if (span->share < t->share)
                span->share = t->share;
        begin_calm(t, now_ns);
}

static void lower(struct sample_throttle *t, uint64_t now_ns)
{
        struct throttled_span *span = open_span(t);

        t->share /= 2;
        if (t->share == 1 && span)
                span->until_ns = now_ns;
        begin_calm(t, now_ns);
}

/* Is it samples that take the time? */
static bool take_the_time(uint64_t samples_ns, uint64_t passed_ns)
{
        return samples_ns >= passed_ns / PACE_THROTTLE_SAMPLES_SHARE;
}

/* ---- looks at the rings -------------------------------------------------------------------------------- */

void sample_throttle_begin_look(struct sample_throttle *t)
{
        t->full = 0;
}

void sample_throttle_see_ring(struct sample_throttle *t, uint64_t n_unread, uint64_t ring_bytes)
{
        unsigned full = (unsigned)((double)n_unread * SAMPLE_THROTTLE_FULL / (double)ring_bytes);

        if (full > t->full)
                t->full = full;
}

static void watch_from_now(struct sample_throttle *t, uint64_t now_ns)
{
        t->full_since_ns = now_ns;
        t->full_samples_ns = t->samples_ns;
        t->full_then = t->full;
}

void sample_throttle_end_look(struct sample_throttle *t, uint64_t now_ns)
{
        if (t->full > t->calm_full)
                t->calm_full = t->full;
        if (t->full <= SAMPLE_THROTTLE_FULL / 2) {
                t->full_since_ns = 0;
        } else if (t->full_since_ns == 0 || t->full < t->full_then) {
                watch_from_now(t, now_ns);
        } else if (now_ns - t->full_since_ns >= PACE_THROTTLE_FULL_NS) {
                if (take_the_time(t->samples_ns - t->full_samples_ns, now_ns - t->full_since_ns))
                        raise(t, now_ns);
                watch_from_now(t, now_ns);
        }
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

void sample_throttle_begin_run(struct sample_throttle *t, uint64_t now_ns)
{
        t->run_ns = now_ns;
}

/* Would twice as many samples leave time to spare? */
static bool has_time_for_more(const struct sample_throttle *t, uint64_t now_ns)
{
        uint64_t twice_ns = t->calm_busy_ns + (t->samples_ns - t->calm_samples_ns);

        return t->calm_full < SAMPLE_THROTTLE_FULL / 2 &&
               twice_ns < (now_ns - t->calm_since_ns) / 100 * PACE_THROTTLE_BUSY_PERCENT;
}

void sample_throttle_end_run(struct sample_throttle *t, uint64_t now_ns)
{
        t->calm_busy_ns += now_ns - t->run_ns;
        if (now_ns - t->calm_since_ns < PACE_THROTTLE_CALM_NS)
                return;
        if (t->share > 1 && has_time_for_more(t, now_ns))
                lower(t, now_ns);
        else
                begin_calm(t, now_ns);
}

/* ---- words --------------------------------------------------------------------------------------------- */

static double seconds(uint64_t ns)
{
        return (double)ns / NS_PER_S;
}

/* The merge goes on after the end of the recording, and leaves samples out then as well. */
static uint64_t end_of(const struct throttled_span *span, uint64_t end_ns)
{
        uint64_t until_ns = span->until_ns ? span->until_ns : end_ns;

        return until_ns > span->from_ns ? until_ns : span->from_ns;
}

void sample_throttle_describe(const struct sample_throttle *t, uint64_t start_ns, uint64_t end_ns,
                              struct byte_buffer *text)
{
        uint64_t sum_ns = 0;
        uint32_t share = 1;

        for (size_t i = 0; i < t->n_spans; i++) {
                const struct throttled_span *span = &t->spans[i];

                sum_ns += end_of(span, end_ns) - span->from_ns;
                if (span->share > share)
                        share = span->share;
        }
        if (t->n_spans == 0)
                return;
        byte_buffer_add_format(text, "one in up to %u, for %.3f s:", (unsigned)share, seconds(sum_ns));
        for (size_t i = 0; i < t->n_spans && i < SPANS_SHOWN; i++) {
                const struct throttled_span *span = &t->spans[i];

                byte_buffer_add_format(text, "%s %.3f s to %.3f s", i > 0 ? "," : "",
                                       seconds(span->from_ns - start_ns),
                                       seconds(end_of(span, end_ns) - start_ns));
        }
        if (t->n_spans > SPANS_SHOWN)
                byte_buffer_add_format(text, " and %zu more times", t->n_spans - SPANS_SHOWN);
}
