/* SPDX-License-Identifier: MIT */
#include "merge/merge_exchange.h"

#include "base/error.h"
#include "base/saturating.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "merge/merge_input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RELATIONS_MAX 64     /* of captures: a hostile trace names very many takers */
#define PERIOD_NS     1.0    /* both clocks count nanoseconds */
#define DRIFT_MAX     0.01   /* a clock that is faster or slower by more is none */
#define RATE_PART     1000   /* what a machine worked is known up to this part, in another one's time */
#define RATE_ERROR    2.5e-4 /* two clocks, each off by 100 ppm, and what their lines may be wrong */
#define POINTS        64     /* at which the error of a link is looked at, beside both ends */

/* ---- lines --------------------------------------------------------------------------------------------- */

static int64_t to_drift(double slope_less_1)
{
        return (int64_t)llround(ldexp(slope_less_1, MERGE_DRIFT_BITS));
}

static double of_drift(int64_t drift)
{
        return ldexp((double)drift, -MERGE_DRIFT_BITS);
}

int64_t merge_drift_product(int64_t a, int64_t b)
{
        double da = of_drift(a), db = of_drift(b);

        if (a == 0 || b == 0)
                return a + b;
        return to_drift(da + db + da * db);
}

int64_t merge_drift_quotient(int64_t a, int64_t b)
{
        double da = of_drift(a), db = of_drift(b);

        if (b == 0)
                return a;
        return a == b ? 0 : to_drift((da - db) / (1 + db));
}

uint64_t merge_line_at(const struct merge_line *line, uint64_t x_ns)
{
        __extension__ typedef __int128 wide;
        wide after = (wide)x_ns - (wide)line->x_ns;
        wide at = (wide)line->y_ns + after + ((after * line->drift) >> MERGE_DRIFT_BITS);

        if (at < 1)
                return 1;
        return at > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)at;
}

/* From y to x. */
static struct merge_line turn(const struct merge_line *line)
{
        return (struct merge_line){ .x_ns = line->y_ns,
                                    .y_ns = line->x_ns,
                                    .drift = merge_drift_quotient(0, line->drift) };
}

static uint64_t distance(uint64_t a, uint64_t b)
{
        return a > b ? a - b : b - a;
}

/* ---- relations ----------------------------------------------------------------------------------------- */

struct merge_span merge_exchange_span(const struct merge_input *in)
{
        struct merge_span span = { in->start_ns, in->last_ns > in->start_ns ? in->last_ns : in->start_ns };

        for (uint32_t i = 0; i < in->n_parts; i++)
                if (in->parts[i].end_ns > span.to_ns)
                        span.to_ns = in->parts[i].end_ns;
        return span;
}

/* Draws the line through the places at both ends of the recording. */
static bool draw_line(struct merge_relation *relation, struct merge_span span)
{
        const struct clock_fit *fit = &relation->fit;
        uint64_t from_ns = clock_fit_time_ns(fit, span.from_ns, CLOCK_FIT_NO_HINT);
        uint64_t to_ns = clock_fit_time_ns(fit, span.to_ns, CLOCK_FIT_NO_HINT);
        double slope_less_1 = fit->slope_ns - 1;

        if (to_ns > from_ns && span.to_ns > span.from_ns)
                slope_less_1 = ((double)(to_ns - from_ns) - (double)(span.to_ns - span.from_ns)) /
                               (double)(span.to_ns - span.from_ns);
        if (!(fabs(slope_less_1) <= DRIFT_MAX))
                return false;
        relation->line =
                (struct merge_line){ .x_ns = span.from_ns, .y_ns = from_ns, .drift = to_drift(slope_less_1) };
        return true;
}

/*
 * A reading of the recorder's clock, between two of the capture's.  The answer was on its way after the
 * recorder's machine had worked on it.  Returns false if that took longer than all.
 */
static bool read_bracket(const struct trace_exchange *row, struct clock_reading *ret)
{
        uint64_t worked_ns = row->answered_ns - row->heard_ns;

        worked_ns -= worked_ns / RATE_PART + (worked_ns % RATE_PART != 0);
        *ret = (struct clock_reading){ .ticks = row->heard_ns,
                                       .begin_ns = row->asked_ns,
                                       .end_ns = row->got_ns - worked_ns };
        if (row->heard_ns == 0 || row->answered_ns < row->heard_ns || row->got_ns < row->asked_ns ||
            row->got_ns - row->asked_ns < worked_ns)
                return false;
        ret->end_ns += ret->end_ns == ret->begin_ns; /* a bracket without width is one of unknown width */
        return true;
}

static struct boot_number taker_of(const struct trace_exchange *row)
{
        return (struct boot_number){ row->taker_high, row->taker_low };
}

static bool is_of(const struct merge_relation *relation, const struct trace_exchange *row)
{
        uint32_t part = row->recording != 0 ? row->recording - 1 : 0;

        return boot_number_is_equal(relation->boot, taker_of(row)) && relation->part == part;
}

/* Adds a relation for the taker of @row, if there is none yet. */
static void note_taker(struct merge_input *in, const struct trace_exchange *row)
{
        uint32_t part = row->recording != 0 ? row->recording - 1 : 0;

        for (uint32_t i = 0; i < in->n_relations; i++)
                if (is_of(&in->relations[i], row))
                        return;
        if (in->n_relations < RELATIONS_MAX && part < in->n_parts && boot_number_is_known(taker_of(row)))
                in->relations[in->n_relations++] = (struct merge_relation){ .boot = taker_of(row),
                                                                            .part = part };
}

/* Returns 1 if the relation is of use, 0 or -ENOMEM. */
static int fit_readings(const struct merge_input *in, struct merge_relation *relation,
                        struct clock_reading *readings)
{
        uint32_t n_rows = trace_dictionary_count(in->dictionary, TRACE_TABLE_EXCHANGES);
        int r;

        for (uint32_t i = 1; i <= n_rows; i++) {
                const struct trace_exchange *row = trace_dictionary_row(in->dictionary, TRACE_TABLE_EXCHANGES,
                                                                        i);

                if (is_of(relation, row) && read_bracket(row, &readings[relation->n_readings]))
                        relation->n_readings++;
        }
        r = clock_fit_init(&relation->fit, readings, relation->n_readings, PERIOD_NS);
        if (r < 0)
                return r;
        return relation->fit.quality == CLOCK_PROVEN && relation->fit.n_epochs == 1 &&
               draw_line(relation, merge_exchange_span(in));
}

static int fit_all(struct merge_input *in, struct clock_reading *readings)
{
        uint32_t n = in->n_relations;
        int r = 0;

        in->n_relations = 0;
        for (uint32_t i = 0; i < n && r >= 0; i++) {
                struct merge_relation relation = in->relations[i];

                r = fit_readings(in, &relation, readings);
                if (r == 1)
                        in->relations[in->n_relations++] = relation;
                else
                        clock_fit_deinit(&relation.fit);
        }
        return r < 0 ? r : 0;
}

/* A part that was recorded in a boot has its clock, moved as RECORDINGS says. */
static void add_own(struct merge_input *in, uint32_t part)
{
        const struct merge_part *p = &in->parts[part];
        struct boot_number boot = boot_number_of(p->boot_id);
        uint64_t at_ns = p->start_ns != 0 ? p->start_ns : in->start_ns;
        const struct merge_line moved = { .x_ns = at_ns - (uint64_t)p->offset_ns,
                                          .y_ns = at_ns,
                                          .drift = p->drift };

        if (boot_number_is_known(boot))
                in->relations[in->n_relations++] = (struct merge_relation){
                        .boot = boot, .part = part, .is_exact = true, .line = turn(&moved)
                };
}

int merge_exchange_read(struct merge_input *in, struct error *err)
{
        uint32_t n_rows = trace_dictionary_count(in->dictionary, TRACE_TABLE_EXCHANGES);
        struct clock_reading *readings = calloc((size_t)n_rows + 1, sizeof(*readings));
        int r = -ENOMEM;

        in->relations = calloc((size_t)RELATIONS_MAX + in->n_parts, sizeof(*in->relations));
        if (readings && in->relations) {
                for (uint32_t i = 1; i <= n_rows; i++)
                        note_taker(in, trace_dictionary_row(in->dictionary, TRACE_TABLE_EXCHANGES, i));
                r = fit_all(in, readings);
        }
        for (uint32_t i = 0; i < in->n_parts && r == 0; i++)
                add_own(in, i);
        free(readings);
        return r < 0 ? error_set(err, r, "%s: out of memory", in->path) : 0;
}

void merge_exchange_deinit(struct merge_input *in)
{
        for (uint32_t i = 0; i < in->n_relations; i++)
                clock_fit_deinit(&in->relations[i].fit);
        free(in->relations);
        in->relations = NULL;
        in->n_relations = 0;
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static uint64_t find_beyond(struct merge_span of, struct merge_span wanted)
{
        uint64_t before_ns = wanted.from_ns < of.from_ns ? of.from_ns - wanted.from_ns : 0;
        uint64_t after_ns = wanted.to_ns > of.to_ns ? wanted.to_ns - of.to_ns : 0;

        return before_ns > after_ns ? before_ns : after_ns;
}

uint64_t merge_exchange_error(uint64_t error_ns, struct merge_span measured, struct merge_span wanted)
{
        double beyond_ns = (double)find_beyond(measured, wanted), rate = RATE_ERROR;

        if (measured.to_ns > measured.from_ns)
                rate = fmin(rate, 2 * (double)error_ns / (double)(measured.to_ns - measured.from_ns));
        if (error_ns == 0 || beyond_ns <= 0)
                return error_ns;
        return beyond_ns * rate < 1e18 ? saturating_add(error_ns, (uint64_t)(beyond_ns * rate) + 1)
                                       : UINT64_MAX - 1;
}

static uint64_t part_error(const struct merge_input *in, uint32_t part, struct merge_span wanted)
{
        const struct merge_part *p = &in->parts[part];

        return merge_exchange_error(p->error_ns, (struct merge_span){ p->start_ns, p->end_ns }, wanted);
}

/* ---- links --------------------------------------------------------------------------------------------- */

/* By how much the line of a relation may be wrong at a time of its input. */
static uint64_t error_at(const struct merge_relation *relation, uint64_t x_ns)
{
        const struct clock_fit *fit = &relation->fit;
        const struct clock_epoch *epoch;
        uint64_t bent_ns, error_ns;

        if (relation->is_exact)
                return 0;
        epoch = &fit->epochs[0];
        bent_ns = distance(merge_line_at(&relation->line, x_ns),
                           clock_fit_time_ns(fit, x_ns, CLOCK_FIT_NO_HINT));
        error_ns = x_ns >= epoch->first_ticks && x_ns <= epoch->last_ticks
                           ? epoch->bound_ns
                           : clock_fit_error_ns(fit, x_ns, CLOCK_FIT_NO_HINT);
        return saturating_add(bent_ns + 1, error_ns);
}

/* A wandering clock may bend more between two points than at them: the largest step is added. */
static uint64_t find_error(const struct merge_relation *a, const struct merge_relation *b,
                           const struct merge_line *line, struct merge_span span)
{
        uint64_t most_ns = 0, step_ns = 0, before_ns = 0;
        bool is_wandering = (!a->is_exact && a->fit.epochs[0].is_wandering) ||
                            (!b->is_exact && b->fit.epochs[0].is_wandering);

        for (unsigned i = 0; i <= POINTS; i++) {
                uint64_t x_ns = span.from_ns + (span.to_ns - span.from_ns) / POINTS * i;
                uint64_t error_ns;

                if (i == POINTS)
                        x_ns = span.to_ns;
                error_ns = saturating_add(error_at(a, x_ns), error_at(b, merge_line_at(line, x_ns)));
                if (error_ns > most_ns)
                        most_ns = error_ns;
                if (i > 0 && distance(error_ns, before_ns) > step_ns)
                        step_ns = distance(error_ns, before_ns);
                before_ns = error_ns;
        }
        most_ns = is_wandering ? saturating_add(most_ns, step_ns) : most_ns;
        return saturating_add(most_ns, most_ns / RATE_PART + 1); /* of another clock's nanoseconds */
}

static void try_link(const struct merge_input *from, const struct merge_input *to,
                     const struct merge_relation *a, const struct merge_relation *b, struct merge_link *best)
{
        struct merge_span span = merge_exchange_span(from), there;
        struct merge_line back = turn(&b->line);
        struct merge_link link = { .from_part = a->part,
                                   .to_part = b->part,
                                   .n_readings = a->n_readings + b->n_readings };

        link.line = (struct merge_line){ .x_ns = span.from_ns,
                                         .y_ns = merge_line_at(&back, merge_line_at(&a->line, span.from_ns)),
                                         .drift = merge_drift_quotient(a->line.drift, b->line.drift) };
        there = (struct merge_span){ merge_line_at(&link.line, span.from_ns),
                                     merge_line_at(&link.line, span.to_ns) };
        link.error_ns = saturating_add(find_error(a, b, &link.line, span), part_error(to, b->part, there));
        /* The part's own error is added where its input is placed. */
        link.error_ns = saturating_add(link.error_ns,
                                       part_error(from, a->part, span) - from->parts[a->part].error_ns);
        if (link.error_ns < best->error_ns)
                *best = link;
}

struct merge_link merge_exchange_link(const struct merge_input *from, const struct merge_input *to)
{
        struct merge_link best = { .error_ns = UINT64_MAX };

        for (uint32_t i = 0; i < from->n_relations; i++)
                for (uint32_t j = 0; j < to->n_relations; j++)
                        if (boot_number_is_equal(from->relations[i].boot, to->relations[j].boot) &&
                            !(from->relations[i].is_exact && to->relations[j].is_exact))
                                try_link(from, to, &from->relations[i], &to->relations[j], &best);
        return best;
}
