/* SPDX-License-Identifier: MIT */
#include "analyze/why/why.h"

#include "analyze/devices/device_names.h"
#include "analyze/trace/clock_step.h"
#include "analyze/trace/meta_value.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why_explain.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of the room that is used: the number of instances that a hash chooses is not exact. */
#define KEEP_FILL 0.9
/*
 * If others had the CPU for this share of the extra time of the slowest instances, instances are ranked
 * without that time.
 */
#define MACHINE_DOMINATES 0.25
/* From this smaller share on, the pass for the owners of the CPU runs. */
#define OWNERS_FROM 0.05

void why_deinit(struct why *w)
{
        zone_pattern_deinit(&w->pattern);
        why_survey_deinit(&w->survey);
        why_spans_deinit(&w->spans);
        why_collector_deinit(&w->collector);
        why_meanwhile_deinit(&w->meanwhile);
        wait_places_deinit(&w->places);
        python_stacks_deinit(&w->python);
        why_profile_deinit(&w->profile);
        why_tree_deinit(&w->tree);
        why_waits_deinit(&w->waits);
        free(w->place_ids);
        free(w->causes);
        free(w->delays);
        free(w->holder_rows);
        free(w->waker_rows);
        free(w->zones);
        free(w->counters);
        *w = (struct why){ .causes = NULL };
}

/* ------------------------------------------------------------------ the passes */

static double keep_of(double n)
{
        return fmin(KEEP_FILL * WHY_INSTANCES_MAX / fmax(n, 1), 1);
}

/* For the owners, instances are divided by wall time, whatever their final rank is by. */
static int want_owners(struct why *w)
{
        bool is_throttled = meta_value_find(w->dictionary, "cpu_throttled").n_bytes != 0;

        if (w->survey.n_switches == 0 || w->machine_share < OWNERS_FROM)
                return 0;
        return why_cpu_owners_init(&w->collector.owners, &w->rank, &w->cost,
                                   trace_dictionary_count(w->dictionary, TRACE_TABLE_THREADS), is_throttled);
}

static int rank_rows(struct why *w)
{
        const struct why_durations *d = &w->survey.durations;
        struct why_rank_request request = { .by = w->request.by,
                                            .slowest = w->request.slowest,
                                            .slower_than_ns = w->request.slower_than_ns };
        int r;

        if (request.by == WHY_BY_AUTOMATIC)
                request.by = WHY_BY_WALL;
        r = why_durations_rank(d, &request, &w->cost, &w->rank);
        w->machine_share = w->rank.machine_share;
        if (r == 0)
                r = want_owners(w);
        /* A limit in time is a limit of wall time, unless the user asks for another time. */
        if (r == 0 && w->request.by == WHY_BY_AUTOMATIC && w->request.slower_than_ns == 0 &&
            w->machine_share >= MACHINE_DOMINATES) {
                request.by = WHY_BY_OWN;
                r = why_durations_rank(d, &request, &w->cost, &w->rank);
        }
        w->by = request.by;
        return r;
}

static int find_bounds(struct why *w)
{
        const struct why_durations *d = &w->survey.durations;
        struct why_bounds *b = &w->collector.bounds;
        int r = why_durations_learn(d, &w->cost);

        if (r == 0)
                r = rank_rows(w);
        if (r < 0)
                return r;
        b->by = w->by;
        b->cost = w->cost;
        b->rank = w->rank;
        b->keep_slow = keep_of(fmin(w->rank.n_slow, (double)d->n_evident));
        b->keep_typical = keep_of((double)d->n_evident);
        return 0;
}

/* ------------------------------------------------------------------ sums */

static void add_bare(struct why *w, enum why_group group)
{
        const struct why_bare *bare = &w->collector.bare[group];

        w->groups[group] = bare->sum;
        w->on_cpu_ns[group] = bare->on_cpu_ns;
}

static void add_instance(struct why *w, const struct why_instance *instance)
{
        enum why_group group = instance->is_slow ? WHY_SLOW : WHY_TYPICAL;
        double duration = (double)instance->duration_ns;
        const struct trace_thread *thread = trace_dictionary_row(w->dictionary, TRACE_TABLE_THREADS,
                                                                 instance->thread);

        w->groups[group].n++;
        w->groups[group].duration += duration;
        w->groups[group].duration2 += duration * duration;
        w->are_fibers |= thread->kind == TRACE_THREAD_FIBER;
        w->n_samples[group] += instance->n_samples;
        w->weight[group] += (double)instance->weight;
        w->on_cpu_ns[group] += (double)instance->on_cpu_ns;
        w->n_moves[group] += (double)instance->n_moves;
}

static void add_groups(struct why *w)
{
        const struct why_instances *s = &w->collector.instances;
        double weight, on_cpu;

        add_bare(w, WHY_TYPICAL);
        add_bare(w, WHY_SLOW);
        for (size_t i = 0; i < s->n_items; i++)
                add_instance(w, &s->items[i]);
        weight = w->weight[WHY_TYPICAL] + w->weight[WHY_SLOW];
        on_cpu = w->on_cpu_ns[WHY_TYPICAL] + w->on_cpu_ns[WHY_SLOW];
        w->ns_per_weight = weight > 0 ? on_cpu / weight : 0;
        w->profile.unit = weight / fmax((double)(w->n_samples[0] + w->n_samples[1]), 1);
        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++) {
                double n = fmax((double)w->groups[group].n, 1);

                w->on_cpu_ns[group] /= n;
                w->n_moves[group] /= n;
        }
        if (w->groups[WHY_SLOW].n != 0 && w->groups[WHY_TYPICAL].n != 0)
                w->extra_ns = w->groups[WHY_SLOW].duration / (double)w->groups[WHY_SLOW].n -
                              w->groups[WHY_TYPICAL].duration / (double)w->groups[WHY_TYPICAL].n;
}

bool why_compares_functions(const struct why *w)
{
        return w->n_samples[WHY_SLOW] >= WHY_SAMPLES_MIN && w->n_samples[WHY_TYPICAL] >= WHY_SAMPLES_MIN &&
               w->groups[WHY_SLOW].n >= WHY_SLOW_MIN && w->groups[WHY_TYPICAL].n >= WHY_SLOW_MIN &&
               w->by != WHY_BY_WAITING;
}

/* The weight of clocks is time already. */
static void take_clock(struct why *w)
{
        const struct trace_sample_event *event;
        struct text_view unit;

        if (w->collector.event == 0)
                return;
        event = trace_dictionary_row(w->dictionary, TRACE_TABLE_SAMPLE_EVENTS, w->collector.event);
        unit = trace_dictionary_text(w->dictionary, event->unit);
        if (text_view_is(unit, "ns"))
                w->ns_per_weight = 1;
}

/* The samples of the instances decide, or the waits if there are no samples. */
static bool is_mostly_python(const struct why *w)
{
        const struct why_instances *s = &w->collector.instances;
        struct python_parts samples = { .all = 0 }, waits = { .all = 0 };

        for (size_t i = 0; i < s->n_rows; i++) {
                const struct why_row *row = &s->rows[i];
                const struct why_wait_key *key;

                if (row->kind == WHY_SAMPLE)
                        python_stacks_add(&w->python, w->dictionary, row->id, row->amount, &samples);
                if (row->kind != WHY_WAIT || row->id == 0)
                        continue;
                key = intern_get(&w->collector.waits, row->id, NULL);
                if (key->stack != 0)
                        python_stacks_add(&w->python, w->dictionary, key->stack, row->amount, &waits);
        }
        return python_parts_are_most(samples.all != 0 ? &samples : &waits);
}

static int name_places(struct why *w)
{
        uint32_t n = w->collector.waits.n_items;
        int r = wait_places_init(&w->places, w->dictionary);

        if (r == 0)
                r = python_stacks_init(&w->python, w->dictionary);
        if (r == 0 && !w->request.shows_native && is_mostly_python(w))
                r = wait_places_fold(&w->places, &w->python);
        if (r < 0)
                return r;
        w->place_ids = calloc((size_t)n + 1, sizeof(*w->place_ids));
        if (!w->place_ids)
                return -ENOMEM;
        for (uint32_t i = 0; i < n && r == 0; i++) {
                const struct why_wait_key *key = intern_get(&w->collector.waits, i + 1, NULL);

                r = wait_places_add(&w->places, key->stack, key->state, &w->place_ids[i]);
        }
        return r;
}

/* Zones of devices are counted also where zones of threads are compared: the reader may mean these. */
static int take_spans(struct why *w, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err)
{
        bool has_zones = w->survey.durations.n != 0 || w->survey.n_unclosed != 0;
        int r = why_spans_take(&w->spans, trace, filter, &w->pattern, err);

        if (r < 0)
                return r;
        if (w->request.wants_devices && w->spans.n_instances == 0)
                return device_names_explain_missing(trace, &w->pattern, w->request.zone, err);
        w->are_spans = w->spans.n_instances != 0 && !has_zones;
        if (!w->are_spans) {
                w->n_other_spans = w->spans.n_instances;
                why_spans_deinit(&w->spans);
                return 0;
        }
        if (w->request.by != WHY_BY_AUTOMATIC && w->request.by != WHY_BY_WALL)
                return error_set(err, -EINVAL, "zones of devices can be ranked by wall time only");
        if (why_spans_measure(&w->spans, &w->survey.durations) < 0 || find_bounds(w) < 0)
                return error_set(err, -ENOMEM, "ranking the zones: out of memory");
        return why_spans_collect(&w->spans, trace, &w->collector, err);
}

static int take_passes(struct why *w, struct loaded_trace *trace, const struct trace_filter *filter,
                       struct error *err)
{
        struct why_collector *c = &w->collector;
        const struct sample_sum none = { .n_samples = 0 };
        struct ready_owners owners;
        int r = w->request.wants_devices ? 0 : why_survey_take(&w->survey, trace, filter, &w->pattern, err);

        if (r == 0)
                r = take_spans(w, trace, filter, err);
        if (r < 0 || w->are_spans)
                return r;
        if (find_bounds(w) < 0)
                return error_set(err, -ENOMEM, "ranking the zones: out of memory");
        c->pattern = &w->pattern;
        c->event = w->request.event != 0 ? w->request.event : why_survey_choose_event(&w->survey);
        c->has_switches = w->survey.n_switches != 0;
        unsampled_time_judge(&w->survey.unsampled, w->dictionary, c->event,
                             c->event != 0 ? &w->survey.samples[c->event - 1] : &none);
        r = why_collector_take(c, trace, filter, err);
        if (r == 0)
                r = why_fibers_take(&c->instances, trace, filter, c->event, err);
        if (r < 0)
                return r;
        if (name_places(w) < 0)
                return error_set(err, -ENOMEM, "naming where the zones waited: out of memory");
        r = why_meanwhile_take(&w->meanwhile, w, &c->owners.times, &owners, trace, err);
        if (r == 0 && why_cpu_owners_finish(&c->owners, w->dictionary, &owners) < 0)
                r = error_set(err, -ENOMEM, "adding up who had the CPUs: out of memory");
        ready_owners_deinit(&owners);
        return r;
}

/* ------------------------------------------------------------------ holders and wakers */

static int compare_holders(const void *a, const void *b)
{
        const struct why_holder *left = a, *right = b;

        if (left->lock != right->lock)
                return left->lock < right->lock ? -1 : 1;
        return (left->held_ns < right->held_ns) - (left->held_ns > right->held_ns);
}

/*
 * The greatest number of holders and wakers that are followed, by time: each costs a pass through all rows.
 */
#define DETAILED_MAX 64

static int list_holders(struct why *w)
{
        const struct why_meanwhile *m = &w->meanwhile;
        int r = 0;

        for (uint32_t i = 1; i <= m->keys.n_items && r == 0; i++) {
                const struct why_meanwhile_key *key = intern_get(&m->keys, i, NULL);

                if (key->doing != WHY_MEANWHILE_HELD)
                        continue;
                r = array_reserve(&w->holder_rows, &w->holders_capacity, w->n_holders + 1,
                                  sizeof(*w->holder_rows));
                if (r == 0)
                        w->holder_rows[w->n_holders++] = (struct why_holder){ .lock = key->kind,
                                                                              .thread = key->thread,
                                                                              .held_ns = m->amounts[i - 1] };
        }
        if (w->n_holders > 1)
                qsort(w->holder_rows, w->n_holders, sizeof(*w->holder_rows), compare_holders);
        for (size_t i = 0; i < w->n_holders && i < DETAILED_MAX && r == 0; i++)
                r = why_meanwhile_follow(w,
                                         &(struct why_followed){ .lock = w->holder_rows[i].lock,
                                                                 .thread = w->holder_rows[i].thread },
                                         &w->holder_rows[i].did);
        return r;
}

/* The displayed facts of a waker, compared as bytes. */
struct shown_waker {
        uint32_t kind, id, thread, name, label;
};

static int add_waker(struct why *w, struct intern *shown, const struct why_row *row)
{
        const struct why_waker_key *key = intern_get(&w->collector.wakers, row->id, NULL);
        struct shown_waker to = { .kind = key->kind == WHY_LOCK ? WHY_CAUSE_LOCK : WHY_CAUSE_WAIT,
                                  .id = key->id,
                                  .thread = key->thread,
                                  .name = key->name };
        struct why_waker *waker;
        uint32_t id;
        int r;

        if (key->kind == WHY_WAIT)
                to.id = key->id != 0 ? why_place_of(w, key->id) : 0;
        to.label = wait_places_find_waker(&w->places, key->stack);
        r = intern_add_row(shown, &to, &w->waker_rows, &w->wakers_capacity, sizeof(*w->waker_rows), &id);
        if (r < 0)
                return r;
        w->n_wakers = shown->n_items;
        waker = &w->waker_rows[id - 1];
        waker->kind = (enum why_cause_kind)to.kind;
        waker->id = to.id;
        waker->thread = to.thread;
        waker->name = to.name;
        waker->label = to.label;
        waker->n += row->n;
        waker->ns += row->amount;
        return 0;
}

static int compare_wakers(const void *a, const void *b)
{
        const struct why_waker *left = a, *right = b;

        return (left->ns < right->ns) - (left->ns > right->ns);
}

/* A waker has a row for each function that it was in.  Those that are no threads are devices' at most. */
static int follow_waker(struct why *w, struct why_waker *waker)
{
        struct why_followed waits = { .place = waker->id, .thread = waker->thread, .name = waker->name };

        if (waker->kind != WHY_CAUSE_WAIT || (waker->thread == 0 && w->meanwhile.n_devices == 0))
                return 0;
        for (size_t i = 0; i < w->n_wakers; i++) {
                const struct why_waker *other = &w->waker_rows[i];

                if (other->kind == waker->kind && other->id == waker->id && other->thread == waker->thread &&
                    (waker->thread != 0 || other->name == waker->name))
                        waits.ns += (double)other->ns;
        }
        return why_meanwhile_follow(w, &waits, &waker->did);
}

static int list_wakers(struct why *w)
{
        const struct why_instances *s = &w->collector.instances;
        struct intern shown;
        int r = 0;

        intern_init(&shown, sizeof(struct shown_waker), WHY_KEYS_MAX);
        for (size_t i = 0; i < s->n_items && r == 0; i++)
                for (size_t k = 0; s->items[i].is_slow && k < s->items[i].n_rows && r == 0; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];

                        if (row->kind == WHY_WAKER)
                                r = add_waker(w, &shown, row);
                }
        intern_deinit(&shown);
        if (w->n_wakers > 1)
                qsort(w->waker_rows, w->n_wakers, sizeof(*w->waker_rows), compare_wakers);
        for (size_t i = 0; i < w->n_wakers && i < DETAILED_MAX && r == 0; i++)
                r = follow_waker(w, &w->waker_rows[i]);
        return r;
}

/* ------------------------------------------------------------------ the answer */

/* Builds a tree of a mean instance's time on a CPU, divided in proportion to its samples. */
static int build_tree(struct why *w)
{
        double ns_per_weight[2] = { 0, 0 };

        for (int group = WHY_TYPICAL; group <= WHY_SLOW; group++)
                if (w->weight[group] > 0 && why_compares_functions(w))
                        ns_per_weight[group] = w->on_cpu_ns[group] / w->weight[group];
        return why_tree_init(&w->tree, &w->profile, ns_per_weight);
}

static int explain_spans(struct why *w)
{
        add_groups(w);
        why_common_find(&w->collector.common);
        return why_span_causes_find(w);
}

static int explain(struct why *w)
{
        int r = why_profile_init(&w->profile, w->dictionary, &w->places.functions, &w->collector.instances);
        if (r < 0)
                return r;
        w->profile.folds = w->places.folds;
        add_groups(w);
        why_common_find(&w->collector.common);
        take_clock(w);
        if (why_compares_functions(w))
                r = why_profile_find(&w->profile);
        if (r < 0)
                return r;
        r = why_waits_find(&w->waits, w);
        if (r < 0)
                return r;
        r = why_causes_find_parts(w);
        if (r < 0)
                return r;
        r = why_causes_find(w);
        if (r < 0)
                return r;
        w->links = why_links_of(w);
        r = build_tree(w);
        if (r < 0)
                return r;
        r = why_devices_find(w);
        if (r == 0)
                r = list_holders(w);
        return r < 0 ? r : list_wakers(w);
}

int why_init(struct why *w, struct loaded_trace *trace, const struct trace_filter *filter,
             const struct why_request *request, struct error *err)
{
        int r;

        *w = (struct why){ .dictionary = trace->dictionary,
                           .request = *request,
                           .clock_step_ns = clock_step_ns(trace->dictionary) };
        r = zone_pattern_init(&w->pattern, request->zone, err);
        if (r == 0)
                r = zone_pattern_check_handles(&w->pattern, trace->dictionary, err);
        if (r == 0)
                r = take_passes(w, trace, filter, err);
        if (r < 0)
                return r;
        r = w->are_spans ? explain_spans(w) : explain(w);
        for (size_t i = 0; r == 0 && i < w->n_causes && why_is_below_clock(w); i++)
                if (w->causes[i].confidence > WHY_CONFIDENCE_LOW)
                        w->causes[i].confidence = WHY_CONFIDENCE_LOW;
        return r < 0 ? error_set(err, r, "comparing the zones: out of memory") : 0;
}

bool why_is_below_clock(const struct why *w)
{
        return w->clock_step_ns != 0 && w->extra_ns < 2 * (double)w->clock_step_ns;
}

/* The causes are sorted: if any cause is good enough, the first one is. */
const struct why_cause *why_find_answer(const struct why *w)
{
        if (w->n_causes == 0 || !(w->extra_ns > 0) || why_is_below_clock(w) ||
            w->causes[0].confidence < WHY_CONFIDENCE_MEDIUM)
                return NULL;
        return w->causes;
}

const struct why_cause *why_find_largest(const struct why *w)
{
        const struct why_cause *largest = NULL;

        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].share.value > 0 &&
                    (!largest || w->causes[i].share.value > largest->share.value))
                        largest = &w->causes[i];
        return largest;
}

const struct why_holder *why_find_holder(const struct why *w, uint32_t lock)
{
        for (size_t i = 0; i < w->n_holders; i++)
                if (w->holder_rows[i].lock == lock)
                        return &w->holder_rows[i];
        return NULL;
}

/* Waits in a row may be one, for the thread that ended the last of them. */
const struct why_waker *why_find_waker(const struct why *w, enum why_cause_kind kind, uint32_t id)
{
        const struct why_waker *best = NULL;

        for (size_t i = 0; i < w->n_wakers; i++) {
                const struct why_waker *row = &w->waker_rows[i];

                if (row->kind == kind && row->id == id && (!best || row->did.path_ns > best->did.path_ns))
                        best = row;
        }
        return best;
}
