/* SPDX-License-Identifier: MIT */
#include "merge/merge_steps.h"

#include "base/clock.h"
#include "base/error.h"
#include "merge/merge_input.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/*
 * The tolerance: CLOCK_REALTIME may have been set by this much, and slewed (500 ppm) between the
 * recordings.
 */
#define CLOCK_STEP_NS   NS_PER_S
#define CLOCK_SLEW_PART 1000 /* a thousandth: the slew and the error that it corrects */

static uint64_t add(uint64_t a, uint64_t b)
{
        uint64_t sum;

        return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Hostile numbers end at the limits. */
static int64_t add_saturated(int64_t a, int64_t b)
{
        int64_t sum;

        if (__builtin_add_overflow(a, b, &sum))
                return a < 0 ? INT64_MIN + 1 : INT64_MAX;
        return sum;
}

static uint64_t find_distance(int64_t a, int64_t b)
{
        return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static bool is_same_boot(const struct merge_part *a, const struct merge_part *b)
{
        return a->boot_id.n_bytes != 0 && a->boot_id.n_bytes == b->boot_id.n_bytes &&
               memcmp(a->boot_id.bytes, b->boot_id.bytes, a->boot_id.n_bytes) == 0;
}

static uint32_t find_less_sure(uint32_t a, uint32_t b)
{
        static const uint32_t by_sureness[] = { TRACE_ALIGNMENT_REFERENCE, TRACE_ALIGNMENT_SAME_BOOT,
                                                TRACE_ALIGNMENT_EXCHANGED, TRACE_ALIGNMENT_REALTIME };

        for (size_t i = 0; i < sizeof(by_sureness) / sizeof(by_sureness[0]); i++)
                if (a == by_sureness[i] || b == by_sureness[i])
                        return a == by_sureness[i] ? b : a;
        return a > b ? a : b;
}

/* Returns what is added to a time of an input. */
static int64_t find_move(const struct merge_input *in, uint64_t time_ns)
{
        return (int64_t)(merge_input_time(in, time_ns) - time_ns);
}

/*
 * Gives the parts of @in their offset, error and clock relative to the reference.
 * @exact:  the part by which @in was placed: it and all parts of its boot get @error_ns and @clock; the
 *          errors of all other parts grow by its former error and @error_ns.  NULL = @in was placed as a
 *          whole
 */
static void put_parts(struct merge_input *in, const struct merge_part *exact, uint64_t error_ns,
                      uint32_t clock)
{
        const struct merge_part was = exact ? *exact
                                            : (struct merge_part){ .clock = TRACE_ALIGNMENT_REFERENCE };

        assert(in->parts || in->n_parts == 0);
        for (uint32_t i = 0; i < in->n_parts; i++) {
                struct merge_part *part = &in->parts[i];

                if (in->drift == 0)
                        part->offset_ns = add_saturated(part->offset_ns, in->shift_ns);
                else
                        part->offset_ns = add_saturated(
                                part->offset_ns,
                                find_move(in, part->start_ns ? part->start_ns : in->start_ns));
                part->drift = merge_drift_product(part->drift, in->drift);
                if (is_same_boot(part, &was)) {
                        part->error_ns = error_ns;
                        part->clock = clock;
                        continue;
                }
                part->error_ns = add(part->error_ns, add(was.error_ns, error_ns));
                part->clock = find_less_sure(find_less_sure(part->clock, was.clock), clock);
        }
        in->is_placed = true;
}

/*
 * Whether the clocks of one boot may be one clock, judged by what both inputs say of CLOCK_REALTIME.
 * Machines that were started from one snapshot share its boot id, but have clocks of their own.
 */
static bool may_be_one_clock(const struct merge_input *in, const struct merge_input *placed, int64_t shift_ns)
{
        int64_t by_realtime_ns = add_saturated(add_saturated(in->realtime_ns, -placed->realtime_ns),
                                               placed->shift_ns);
        int64_t here_ns = add_saturated((int64_t)(in->start_ns / 2), shift_ns / 2);
        int64_t there_ns = add_saturated((int64_t)(placed->start_ns / 2), placed->shift_ns / 2);
        uint64_t apart_ns = find_distance(here_ns, there_ns);
        uint64_t allowed_ns = CLOCK_STEP_NS;

        if (!in->has_realtime || !placed->has_realtime || placed->start_ns == 0)
                return true;
        allowed_ns = add(allowed_ns, apart_ns / (CLOCK_SLEW_PART / 2));
        allowed_ns = add(allowed_ns, add(in->clock_error_ns, placed->clock_error_ns));
        return find_distance(by_realtime_ns, shift_ns) <= allowed_ns;
}

/*
 * Two parts of one boot: where that boot's clock has another rate than the timeline, equal offsets at the
 * beginnings of both are no equal places.
 */
static void take_drift(struct merge_input *in, const struct merge_part *here,
                       const struct merge_input *placed, const struct merge_part *there)
{
        uint64_t here_ns = here->start_ns != 0 ? here->start_ns : in->start_ns;
        uint64_t there_ns = there->start_ns != 0 ? there->start_ns : placed->start_ns;
        struct merge_line line = { .y_ns = merge_input_time(placed, there_ns), .drift = there->drift };

        if (here->drift == 0 && there->drift == 0)
                return;
        line.x_ns = line.y_ns - (uint64_t)there->offset_ns;
        in->drift = merge_drift_quotient(there->drift, here->drift);
        in->drift_from_ns = here_ns;
        in->shift_ns = (int64_t)(merge_line_at(&line, here_ns - (uint64_t)here->offset_ns) - here_ns);
}

/* How wrong @there is while @in was recorded, which has been moved to the result's timeline. */
static uint64_t find_error(const struct merge_input *in, const struct merge_input *placed,
                           const struct merge_part *there)
{
        struct merge_span span = merge_exchange_span(in);
        const struct merge_span wanted = { merge_input_time(in, span.from_ns),
                                           merge_input_time(in, span.to_ns) };
        const struct merge_span measured = { merge_input_time(placed, there->start_ns),
                                             merge_input_time(placed, there->end_ns) };

        return merge_exchange_error(there->error_ns, measured, wanted);
}

/* Places @in by a boot of which both inputs have a recording.  Returns whether there is one. */
static bool place_by_boot(struct merge_input *in, const struct merge_input *placed)
{
        int64_t shift_ns;

        for (uint32_t i = 0; i < placed->n_parts; i++) {
                for (uint32_t j = 0; j < in->n_parts; j++) {
                        const struct merge_part *there = &placed->parts[i];
                        struct merge_part *here = &in->parts[j];

                        if (!is_same_boot(there, here))
                                continue;
                        shift_ns = add_saturated(there->offset_ns, -here->offset_ns);
                        if (!may_be_one_clock(in, placed, shift_ns)) {
                                in->has_other_clock = true;
                                continue;
                        }
                        in->shift_ns = shift_ns;
                        take_drift(in, here, placed, there);
                        put_parts(in, here, find_error(in, placed, there),
                                  there->clock == TRACE_ALIGNMENT_REFERENCE ? TRACE_ALIGNMENT_SAME_BOOT
                                                                            : there->clock);
                        return true;
                }
        }
        return false;
}

static void place_by_realtime(struct merge_input *in, const struct merge_input *placed)
{
        uint64_t error_ns = add(in->clock_error_ns, placed->clock_error_ns);
        /* If one boot seems to have two clocks, CLOCK_REALTIME may have been set between the recordings. */
        bool is_known = in->is_synchronised && placed->is_synchronised && !in->has_other_clock;

        in->shift_ns = add_saturated(add_saturated(in->realtime_ns, -placed->realtime_ns), placed->shift_ns);
        put_parts(in, NULL, add(error_ns, placed->parts[0].error_ns),
                  is_known ? TRACE_ALIGNMENT_REALTIME : TRACE_ALIGNMENT_REALTIME_FREE);
}

/* By how much at most @in would be wrong on the result's timeline if it were placed by its link. */
static uint64_t link_error(const struct merge_input *in)
{
        return in->linked ? in->link.error_ns : UINT64_MAX;
}

static void place_by_link(struct merge_input *in)
{
        const struct merge_line *line = &in->link.line;
        const struct merge_part *there = &in->linked->parts[in->link.to_part];

        in->drift = merge_drift_product(line->drift, in->linked->drift);
        in->drift_from_ns = line->x_ns;
        in->shift_ns = (int64_t)(merge_input_time(in->linked, line->y_ns) - line->x_ns);
        in->n_readings = in->link.n_readings;
        put_parts(in, &in->parts[in->link.from_part], link_error(in),
                  find_less_sure(there->clock, TRACE_ALIGNMENT_EXCHANGED));
}

/* After @placed was placed: inputs that are not may have a better link now. */
static void note_links(struct merge_input *inputs, size_t n_inputs, const struct merge_input *placed)
{
        for (size_t i = 0; i < n_inputs; i++) {
                struct merge_input *in = &inputs[i];
                struct merge_link link;

                if (in->is_placed || in->n_relations == 0)
                        continue;
                link = merge_exchange_link(in, placed);
                if (link.error_ns < link_error(in)) {
                        in->link = link;
                        in->linked = placed;
                }
        }
}

/* The input that is next by its link, or NULL. */
static struct merge_input *find_next_by_link(struct merge_input *inputs, size_t n_inputs)
{
        struct merge_input *next = NULL;

        for (size_t i = 0; i < n_inputs; i++)
                if (!inputs[i].is_placed && inputs[i].linked &&
                    (!next || link_error(&inputs[i]) < link_error(next)))
                        next = &inputs[i];
        return next;
}

/* Places one more input that shares a boot with a placed input. */
static struct merge_input *place_next_by_boot(struct merge_input *inputs, size_t n_inputs)
{
        for (size_t i = 0; i < n_inputs; i++)
                for (size_t j = 0; j < n_inputs && !inputs[i].is_placed; j++)
                        if (inputs[j].is_placed && place_by_boot(&inputs[i], &inputs[j]))
                                return &inputs[i];
        return NULL;
}

/* Chooses the pair of a placed input and of one that is to be placed by CLOCK_REALTIME. */
static const struct merge_input *find_next_by_realtime(struct merge_input *inputs, size_t n_inputs,
                                                       struct merge_input **ret_next)
{
        const struct merge_input *placed = NULL;

        *ret_next = NULL;
        for (size_t i = 0; i < n_inputs; i++) {
                if (inputs[i].is_placed && inputs[i].start_ns != 0 && (!placed || inputs[i].has_realtime))
                        placed = &inputs[i];
                if (!inputs[i].is_placed && !*ret_next)
                        *ret_next = &inputs[i];
        }
        return placed;
}

static int place_next_by_realtime(struct merge_input *inputs, size_t n_inputs, struct merge_input **ret_in,
                                  struct error *err)
{
        const struct merge_input *placed = find_next_by_realtime(inputs, n_inputs, ret_in);
        const struct merge_input *next = *ret_in;

        if (!placed || !next || !placed->has_realtime || !next->has_realtime)
                return error_set(
                        err, -EINVAL,
                        "%s: it does not state when it was recorded, so it cannot be placed beside others",
                        next && placed && placed->has_realtime ? next->path : inputs[0].path);
        place_by_realtime(*ret_in, placed);
        return 0;
}

/* Whether CLOCK_REALTIME is known better than what a capture measured: on hosts with PTP. */
static bool is_realtime_better(const struct merge_input *in, struct merge_input *inputs, size_t n_inputs)
{
        struct merge_input *any;
        const struct merge_input *placed = find_next_by_realtime(inputs, n_inputs, &any);

        return placed && placed->has_realtime && in->has_realtime && placed->is_synchronised &&
               in->is_synchronised && !in->has_other_clock &&
               placed->parts[0].clock != TRACE_ALIGNMENT_REALTIME_FREE &&
               add(add(in->clock_error_ns, placed->clock_error_ns), placed->parts[0].error_ns) <
                       link_error(in);
}

/* Places one more input, in the surest way that there is. */
static int place_next(struct merge_input *inputs, size_t n_inputs, struct error *err)
{
        struct merge_input *in = place_next_by_boot(inputs, n_inputs);
        int r = 0;

        if (!in) {
                in = find_next_by_link(inputs, n_inputs);
                if (in && !is_realtime_better(in, inputs, n_inputs))
                        place_by_link(in);
                else
                        r = place_next_by_realtime(inputs, n_inputs, &in, err);
        }
        if (r == 0)
                note_links(inputs, n_inputs, in);
        return r;
}

/* Moves all inputs up, so that no time is before the timeline. */
static void move_all_up(struct merge_input *inputs, size_t n_inputs)
{
        int64_t first_ns = INT64_MAX, up_ns;

        for (size_t i = 0; i < n_inputs; i++) {
                const struct merge_input *in = &inputs[i];
                uint64_t start_ns = in->first_ns != 0 && in->first_ns < in->start_ns ? in->first_ns
                                                                                     : in->start_ns;
                int64_t at_ns = add_saturated(start_ns <= INT64_MAX ? (int64_t)start_ns : INT64_MAX,
                                              in->shift_ns);

                if (start_ns != 0 && at_ns < first_ns)
                        first_ns = at_ns;
        }
        if (first_ns >= (int64_t)NS_PER_S)
                return;
        up_ns = add_saturated((int64_t)NS_PER_S, -first_ns);
        for (size_t i = 0; i < n_inputs; i++) {
                inputs[i].shift_ns = add_saturated(inputs[i].shift_ns, up_ns);
                for (uint32_t j = 0; j < inputs[i].n_parts; j++)
                        inputs[i].parts[j].offset_ns = add_saturated(inputs[i].parts[j].offset_ns, up_ns);
        }
}

/* ---- CPUs ---------------------------------------------------------------------------------------------- */

static uint32_t round_up(uint32_t n_cpus)
{
        uint32_t n = 1;

        while (n < n_cpus)
                n *= 2;
        return n;
}

static struct merge_part *find_boot_before(struct merge_input *inputs, size_t i, uint32_t j)
{
        for (size_t k = 0; k <= i; k++) {
                uint32_t n_parts = k < i ? inputs[k].n_parts : j;

                for (uint32_t l = 0; l < n_parts; l++)
                        if (is_same_boot(&inputs[k].parts[l], &inputs[i].parts[j]))
                                return &inputs[k].parts[l];
        }
        return NULL;
}

static uint32_t count_boot_cpus(const struct merge_input *inputs, size_t n_inputs,
                                const struct merge_part *of)
{
        uint32_t n_cpus = of->n_cpus;

        for (size_t i = 0; i < n_inputs; i++)
                for (uint32_t j = 0; j < inputs[i].n_parts; j++)
                        if (is_same_boot(&inputs[i].parts[j], of) && inputs[i].parts[j].n_cpus > n_cpus)
                                n_cpus = inputs[i].parts[j].n_cpus;
        return round_up(n_cpus);
}

/* Each boot has numbers of its own: CPU 3 of two hosts is not one CPU. */
static void number_cpus(struct merge_input *inputs, size_t n_inputs)
{
        uint32_t next = 0;

        for (size_t i = 0; i < n_inputs; i++) {
                for (uint32_t j = 0; j < inputs[i].n_parts; j++) {
                        const struct merge_part *before = find_boot_before(inputs, i, j);
                        struct merge_part *part = &inputs[i].parts[j];
                        uint32_t own = part->first_cpu;

                        part->first_cpu = before ? before->first_cpu : next;
                        part->cpu_shift = (uint64_t)part->first_cpu - own;
                        if (!before)
                                next += count_boot_cpus(inputs, n_inputs, part);
                }
        }
}

/*
 * The first input with a time is the reference; inputs without a time may be anywhere.  Returns how many
 * are left.
 */
static size_t place_first(struct merge_input *inputs, size_t n_inputs)
{
        struct merge_input *reference = NULL;
        size_t n_left = 0;

        for (size_t i = 0; i < n_inputs; i++) {
                if (inputs[i].start_ns == 0)
                        inputs[i].is_placed = true;
                else if (!reference)
                        reference = &inputs[i];
                n_left += inputs[i].start_ns != 0;
        }
        if (!reference)
                return 0;
        reference->is_placed = true;
        note_links(inputs, n_inputs, reference);
        return n_left - 1;
}

int merge_clock_place(struct merge_input *inputs, size_t n_inputs, struct error *err)
{
        for (size_t n_left = place_first(inputs, n_inputs); n_left > 0; n_left--) {
                int r = place_next(inputs, n_inputs, err);

                if (r < 0)
                        return r;
        }
        move_all_up(inputs, n_inputs);
        number_cpus(inputs, n_inputs);
        return 0;
}
