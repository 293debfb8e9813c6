/* SPDX-License-Identifier: MIT */
#include "analyze/cores/past_sweep.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more threads there are fewer moments: each costs time for every thread. */
#define MOMENT_THREADS_MAX (PAST_SWEEP_MOMENTS * 5000.0)
#define MOMENTS_MIN        100
/* More are not handed out: a trace may not be what the first pass made of it. */
#define MOMENTS_MAX (UINT64_C(4) * PAST_SWEEP_MOMENTS)

enum step_kind { STEP_STATE, STEP_OPEN, STEP_CLOSE, STEP_SAMPLE };

/* Something that changes, or a sample, within the present stretch. */
struct sweep_step {
        uint64_t time_ns;
        const struct past_sample *sample; /* of SAMPLE; borrowed from the past */
        uint32_t thread;
        uint32_t order; /* of equal times */
        uint8_t kind;   /* enum step_kind */
        uint8_t state;  /* of STATE: enum past_state */
};

struct sweep_thread {
        uint8_t state;   /* enum past_state */
        bool is_open;    /* the question */
        bool is_in_zone; /* as of its last event, not of the sweep */
        uint32_t depth;  /* of that zone */
};

struct past_sweep_private {
        struct sweep_thread *threads; /* heap; by thread id - 1 */
        uint32_t *births;             /* heap; ids of all threads but fibers, by birth */
        uint32_t n_threads, n_births, n_born;
        struct past_span *opens; /* heap; instances of the zone that the sweep has not left */
        size_t n_opens, opens_capacity;
        struct sweep_step *steps; /* heap */
        size_t n_steps, steps_capacity;
        uint64_t swept_ns;  /* everything before is done */
        uint64_t at_ns;     /* within the present stretch */
        uint64_t n_moments; /* steps that were passed */
        uint64_t n_handed;  /* moments in which the question was open */
        /* the pass before */
        bool is_survey;
        double zones_ns;
        struct python_parts parts;
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "going through the threads' times: out of memory");
}

static bool is_chosen(const struct past_sweep *s, uint32_t thread)
{
        return trace_filter_wants_thread(s->request.filter, thread);
}

/* ------------------------------------------------------------------ who lives */

/* Arguments of the comparison. */
struct birth_order {
        const struct past *past;
};

static int compare_births(const void *a, const void *b, void *context)
{
        const uint32_t *left = a, *right = b;
        const struct birth_order *order = context;
        uint64_t x = past_of(order->past, *left)->born_ns, y = past_of(order->past, *right)->born_ns;

        if (x != y)
                return x < y ? -1 : 1;
        return *left < *right ? -1 : *left > *right;
}

/* Takes in threads that the past got to know. */
static int reach_threads(struct past_sweep *s)
{
        struct past_sweep_private *v = s->private;
        struct birth_order order = { .past = &s->past };
        uint32_t n = s->past.n_threads;
        struct sweep_thread *threads;
        uint32_t *births, *live;

        if (n <= v->n_threads)
                return 0;
        threads = realloc(v->threads, n * sizeof(*threads));
        if (!threads)
                return -ENOMEM;
        memset(threads + v->n_threads, 0, (n - v->n_threads) * sizeof(*threads));
        v->threads = threads;
        births = realloc(v->births, n * sizeof(*births));
        if (!births)
                return -ENOMEM;
        v->births = births;
        live = realloc(s->live, n * sizeof(*live));
        if (!live)
                return -ENOMEM;
        s->live = live;
        for (uint32_t id = v->n_threads + 1; id <= n; id++)
                if (!past_of(&s->past, id)->is_fiber)
                        v->births[v->n_births++] = id;
        qsort_r(v->births + v->n_born, v->n_births - v->n_born, sizeof(*births), compare_births, &order);
        v->n_threads = n;
        return 0;
}

static int compare_ids(const void *a, const void *b)
{
        const uint32_t *left = a, *right = b;

        return *left < *right ? -1 : *left > *right;
}

/* Takes in threads that are born before @to_ns, and drops those that ended before the stretch. */
static void choose_live(struct past_sweep *s, uint64_t to_ns)
{
        struct past_sweep_private *v = s->private;
        bool is_sorted = true;
        uint32_t n = 0;

        for (uint32_t i = 0; i < s->n_live; i++)
                if (past_of(&s->past, s->live[i])->end_ns > v->swept_ns)
                        s->live[n++] = s->live[i];
        for (; v->n_born < v->n_births; v->n_born++) {
                uint32_t thread = v->births[v->n_born];

                if (past_of(&s->past, thread)->born_ns >= to_ns)
                        break;
                is_sorted &= n == 0 || s->live[n - 1] < thread;
                s->live[n++] = thread;
        }
        s->n_live = n;
        if (!is_sorted)
                qsort(s->live, n, sizeof(*s->live), compare_ids);
}

bool past_sweep_is_open(const struct past_sweep *s, uint32_t thread)
{
        return s->private->threads[thread - 1].is_open;
}

uint32_t past_sweep_first_open(const struct past_sweep *s)
{
        uint32_t first = 0;

        for (uint32_t i = 0; i < s->n_live; i++) {
                if (!past_sweep_is_open(s, s->live[i]))
                        continue;
                if (past_is_known(past_of(&s->past, s->live[i])))
                        return s->live[i];
                if (first == 0)
                        first = s->live[i];
        }
        return first;
}

/* ------------------------------------------------------------------ the steps of a stretch */

static int add_step(struct past_sweep_private *v, struct sweep_step step)
{
        if (array_reserve(&v->steps, &v->steps_capacity, v->n_steps + 1, sizeof(step)) < 0)
                return -ENOMEM;
        step.order = (uint32_t)v->n_steps;
        v->steps[v->n_steps++] = step;
        return 0;
}

/* A thread gets another state, if that is in the stretch, and the thread lives. */
static int add_state(struct past_sweep *s, uint32_t thread, uint64_t time_ns, uint64_t to_ns,
                     enum past_state state)
{
        const struct past_thread *t = past_of(&s->past, thread);

        if (time_ns <= s->private->swept_ns || time_ns >= to_ns || time_ns < t->born_ns ||
            time_ns >= t->end_ns)
                return 0;
        return add_step(s->private, (struct sweep_step){ .time_ns = time_ns,
                                                         .thread = thread,
                                                         .kind = STEP_STATE,
                                                         .state = (uint8_t)state });
}

static int add_waits(struct past_sweep *s, uint32_t thread, uint64_t to_ns)
{
        const struct past_thread *t = past_of(&s->past, thread);
        size_t i = past_waits_before(t, s->private->swept_ns), to = past_waits_before(t, to_ns);
        int r = 0;

        for (i -= i > t->waits.first; i < to && r == 0; i++) {
                const struct past_wait *wait = &past_waits(t)[i];

                r = add_state(s, thread, wait->out_ns, to_ns, wait->preempted ? PAST_READY : PAST_WAITS);
                if (r == 0 && !wait->preempted && wait->woken_ns < wait->in_ns)
                        r = add_state(s, thread, wait->woken_ns, to_ns, PAST_READY);
                if (r == 0)
                        r = add_state(s, thread, wait->in_ns, to_ns, PAST_RUNS);
        }
        return r;
}

static int add_samples(struct past_sweep *s, uint32_t thread, uint64_t to_ns)
{
        const struct past_sample *samples;
        size_t n = past_samples(past_of(&s->past, thread), s->private->swept_ns, to_ns, &samples);
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++)
                r = add_step(s->private, (struct sweep_step){ .time_ns = samples[i].time_ns,
                                                              .sample = &samples[i],
                                                              .thread = thread,
                                                              .kind = STEP_SAMPLE });
        return r;
}

/* The thread is a part of the question in [@begin_ns, @end_ns). */
static int add_open(struct past_sweep *s, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t to_ns)
{
        struct past_sweep_private *v = s->private;
        struct sweep_step step = { .time_ns = begin_ns, .thread = thread, .kind = STEP_OPEN };
        int r = 0;

        if (begin_ns >= to_ns || end_ns <= v->swept_ns)
                return 0;
        if (begin_ns <= v->swept_ns)
                v->threads[thread - 1].is_open = true;
        else
                r = add_step(v, step);
        step.kind = STEP_CLOSE;
        step.time_ns = end_ns;
        return r == 0 && end_ns < to_ns ? add_step(v, step) : r;
}

/* The instances of the zone; those that the stretch has left are dropped. */
static int add_instances(struct past_sweep *s, uint64_t to_ns)
{
        struct past_sweep_private *v = s->private;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; i < v->n_opens && r == 0; i++) {
                const struct past_span span = v->opens[i];

                r = add_open(s, span.id, span.begin_ns, span.end_ns, to_ns);
                if (span.end_ns >= to_ns)
                        v->opens[n++] = span;
        }
        v->n_opens = n;
        return r;
}

static int add_thread(struct past_sweep *s, uint32_t thread, uint64_t to_ns)
{
        const struct past_thread *t = past_of(&s->past, thread);
        struct sweep_thread *of = &s->private->threads[thread - 1];
        const struct past_wait *wait;
        int r;

        of->state = (uint8_t)past_state_at(&s->past, thread, s->private->swept_ns, &wait);
        of->is_open = false;
        r = add_state(s, thread, t->born_ns, to_ns, past_state_at(&s->past, thread, t->born_ns, &wait));
        if (r == 0)
                r = add_waits(s, thread, to_ns);
        if (r == 0 && t->end_ns > s->private->swept_ns && t->end_ns < to_ns)
                r = add_step(s->private, (struct sweep_step){ .time_ns = t->end_ns,
                                                              .thread = thread,
                                                              .kind = STEP_STATE,
                                                              .state = PAST_ABSENT });
        if (r == 0 && s->request.sample)
                r = add_samples(s, thread, to_ns);
        if (r == 0 && !s->request.filter->has_zone && is_chosen(s, thread))
                r = add_open(s, thread, t->born_ns, t->end_ns, to_ns);
        return r;
}

/* ------------------------------------------------------------------ going through them */

static double moment_of(const struct past_sweep *s, uint64_t n)
{
        return (double)s->begin_ns + ((double)n + trace_walk_chance(1, n)) * s->moment_ns;
}

/* Those before @to_ns; without anything open they are passed at once. */
static int hand_moments(struct past_sweep *s, uint64_t to_ns)
{
        struct past_sweep_private *v = s->private;
        double passed = (double)(to_ns - s->begin_ns) / s->moment_ns;
        int r = 0;

        if (s->n_open == 0 && passed > (double)v->n_moments)
                v->n_moments = (uint64_t)passed;
        while (r == 0 && v->n_handed < MOMENTS_MAX && moment_of(s, v->n_moments) < (double)to_ns) {
                uint64_t time_ns = (uint64_t)moment_of(s, v->n_moments++);

                if (s->n_open == 0 || time_ns < v->at_ns)
                        continue;
                v->n_handed++;
                r = s->request.moment(s->request.context, time_ns);
        }
        return r;
}

/* Hands out the time up to @to_ns, in which nothing changes. */
static int elapse(struct past_sweep *s, uint64_t to_ns)
{
        struct past_sweep_private *v = s->private;
        uint64_t begin_ns = v->at_ns > s->begin_ns ? v->at_ns : s->begin_ns;
        uint64_t end_ns = to_ns < s->end_ns ? to_ns : s->end_ns;
        int r = 0;

        if (end_ns > begin_ns) {
                v->at_ns = begin_ns;
                if (s->n_open != 0)
                        s->open_ns += end_ns - begin_ns;
                if (s->n_open != 0 && s->request.elapse)
                        r = s->request.elapse(s->request.context, begin_ns, end_ns);
                if (r == 0 && s->request.moment)
                        r = hand_moments(s, end_ns);
        }
        v->at_ns = to_ns;
        return r;
}

static void count_state(struct past_sweep *s, uint8_t state, int sign)
{
        s->n_running += state == PAST_RUNS ? (uint32_t)sign : 0;
        s->n_ready += state == PAST_READY ? (uint32_t)sign : 0;
}

static void open_thread(struct past_sweep *s, struct sweep_thread *thread, bool is_open)
{
        if (thread->is_open != is_open)
                s->n_open += is_open ? 1 : UINT32_MAX;
        thread->is_open = is_open;
}

static int take_step(struct past_sweep *s, const struct sweep_step *step)
{
        struct sweep_thread *thread = &s->private->threads[step->thread - 1];

        switch ((enum step_kind)step->kind) {
        case STEP_STATE:
                count_state(s, thread->state, -1);
                thread->state = step->state;
                count_state(s, thread->state, 1);
                return 0;
        case STEP_OPEN:
        case STEP_CLOSE:
                open_thread(s, thread, step->kind == STEP_OPEN);
                return 0;
        case STEP_SAMPLE:
                break;
        }
        if (step->time_ns < s->begin_ns || step->time_ns >= s->end_ns)
                return 0;
        return s->request.sample(s->request.context, step->thread, step->sample);
}

static int compare_steps(const void *a, const void *b)
{
        const struct sweep_step *left = a, *right = b;

        if (left->time_ns != right->time_ns)
                return left->time_ns < right->time_ns ? -1 : 1;
        return left->order < right->order ? -1 : 1;
}

/* Goes through the time up to @to_ns, of which everything is in the past. */
static int sweep_to(struct past_sweep *s, uint64_t to_ns)
{
        struct past_sweep_private *v = s->private;
        int r = reach_threads(s);

        if (r < 0 || to_ns <= v->swept_ns)
                return r;
        choose_live(s, to_ns);
        v->n_steps = 0;
        s->n_running = s->n_ready = s->n_open = 0;
        for (uint32_t i = 0; i < s->n_live && r == 0; i++)
                r = add_thread(s, s->live[i], to_ns);
        if (r == 0)
                r = add_instances(s, to_ns);
        for (uint32_t i = 0; i < s->n_live; i++) {
                count_state(s, v->threads[s->live[i] - 1].state, 1);
                s->n_open += v->threads[s->live[i] - 1].is_open;
        }
        if (v->n_steps != 0)
                qsort(v->steps, v->n_steps, sizeof(*v->steps), compare_steps);
        v->at_ns = v->swept_ns;
        for (size_t i = 0; i < v->n_steps && r == 0; i++) {
                r = elapse(s, v->steps[i].time_ns);
                if (r == 0)
                        r = take_step(s, &v->steps[i]);
        }
        if (r == 0)
                r = elapse(s, to_ns);
        v->swept_ns = to_ns;
        /* the nearest sample may lie before the stretch */
        past_forget(&s->past, to_ns > PAST_SWEEP_NEAR_NS ? to_ns - PAST_SWEEP_NEAR_NS : 0);
        return r;
}

/* Goes on up to @late_ns before the latest event, now and then: a stretch costs time for each thread. */
static int sweep_sometimes(struct past_sweep *s, uint64_t late_ns)
{
        uint64_t latest_ns = s->past.latest_ns;

        if (latest_ns < s->private->swept_ns + late_ns + PAST_SWEEP_NEAR_NS)
                return 0;
        return sweep_to(s, latest_ns - late_ns);
}

/* Where too much is kept, events that are very late are not waited for. */
static int sweep_if_crowded(struct past_sweep *s)
{
        int r;

        if (!past_is_crowded(&s->past))
                return 0;
        r = sweep_sometimes(s, PAST_SWEEP_NEAR_NS);
        if (past_is_crowded(&s->past))
                past_forget_oldest(&s->past);
        return r;
}

/* ------------------------------------------------------------------ the pass */

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct past_sweep *s = context;
        struct past_sweep_private *v = s->private;
        const struct past_span span = { .begin_ns = event->time_ns, .end_ns = UINT64_MAX, .id = thread->id };
        struct sweep_thread *of;

        if (v->is_survey || !is_chosen(s, thread->id))
                return 0;
        if (reach_threads(s) < 0)
                return no_memory(err);
        if (thread->id > v->n_threads)
                return 0;
        of = &v->threads[thread->id - 1];
        if (of->is_in_zone)
                return 0;
        of->is_in_zone = true;
        of->depth = thread->timeline.n_open - 1;
        if (array_reserve(&v->opens, &v->opens_capacity, v->n_opens + 1, sizeof(span)) < 0)
                return no_memory(err);
        v->opens[v->n_opens++] = span;
        return 0;
}

static void survey_zone(struct past_sweep *s, const struct zone_instance *zone)
{
        uint64_t begin_ns = zone->begin_ns > s->begin_ns ? zone->begin_ns : s->begin_ns;
        uint64_t end_ns = zone->end_ns < s->end_ns ? zone->end_ns : s->end_ns;

        if (end_ns > begin_ns)
                s->private->zones_ns += (double)(end_ns - begin_ns);
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct past_sweep *s = context;
        struct past_sweep_private *v = s->private;
        struct sweep_thread *of;

        (void)err;
        if (v->is_survey) {
                if (is_chosen(s, thread->id))
                        survey_zone(s, zone);
                return 0;
        }
        if (thread->id > v->n_threads)
                return 0;
        of = &v->threads[thread->id - 1];
        if (!of->is_in_zone || of->depth != zone->depth)
                return 0;
        of->is_in_zone = false;
        for (size_t i = v->n_opens; i-- > 0;)
                if (v->opens[i].id == thread->id) {
                        v->opens[i].end_ns = zone->end_ns;
                        break;
                }
        return 0;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct past_sweep *s = context;

        if (s->private->is_survey) {
                if (event->sample.event == s->past.event)
                        python_stacks_add(&s->names.python, s->past.trace->dictionary,
                                          (uint32_t)event->sample.stack, event->sample.weight,
                                          &s->private->parts);
                return 0;
        }
        if (past_sample(&s->past, thread, event) < 0 || sweep_if_crowded(s) < 0)
                return no_memory(err);
        return 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct past_sweep *s = context;
        int r = 0;

        if (s->private->is_survey)
                return 0;
        r = past_wait_over(&s->past, thread, wait);
        if (r == 0 && s->request.wait_over && wait->ended)
                r = s->request.wait_over(s->request.context, thread->id, wait->out_ns);
        return r < 0 ? no_memory(err) : 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct past_sweep *s = context;

        if (s->private->is_survey)
                return 0;
        s->has_wakeups |= event->op == TRACE_OP_WAKEUP;
        if (past_event(&s->past, thread, event) < 0 || sweep_if_crowded(s) < 0)
                return no_memory(err);
        return 0;
}

/* Within a chunk, other threads may lack events that lie a second back. */
static int end_chunk(void *context, struct error *err)
{
        struct past_sweep *s = context;

        return !s->private->is_survey && sweep_sometimes(s, PAST_LATE_NS) < 0 ? no_memory(err) : 0;
}

static int walk_trace(struct past_sweep *s, struct loaded_trace *trace, struct error *err)
{
        const struct trace_filter *filter = s->request.filter;
        struct trace_sink sink = {
                .context = s,
                .sample = take_sample,
                .wait = take_wait,
                .event = take_event,
                .chunk = end_chunk,
                .may_skip = true,
        };
        struct trace_filter range = { .is_empty = true };
        struct trace_walk walk;
        int r = 0;

        if (s->request.is_bounded)
                past_bound_sink(&sink, filter, trace);
        else
                r = past_make_range(&range, filter, trace, err);
        if (r < 0)
                return r;
        if (filter->has_zone) {
                sink.begin_zone = begin_zone;
                sink.zone = end_zone;
                sink.asked = &filter->zone;
                sink.asked_only = ZONE_MATCHER_NAMED;
        }
        r = trace_walk_init(&walk, trace, s->request.is_bounded ? NULL : &range, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        trace_walk_deinit(&walk);
        trace_filter_deinit(&range);
        return r;
}

/* Adds up the times of the zone, and the samples below Python functions, if something depends on them. */
static int survey(struct past_sweep *s, struct loaded_trace *trace, struct error *err)
{
        struct past_sweep_private *v = s->private;
        double open_ns = (double)(s->end_ns - s->begin_ns);
        double n = s->request.n_moments != 0 ? s->request.n_moments : PAST_SWEEP_MOMENTS;
        bool has_python;
        int r = python_stacks_init(&s->names.python, trace->dictionary);

        if (r < 0)
                return no_memory(err);
        has_python = s->names.python.innermost != NULL && !s->request.shows_native;
        if (has_python || s->request.filter->has_zone) {
                v->is_survey = true;
                r = walk_trace(s, trace, err);
                v->is_survey = false;
                if (r < 0)
                        return r;
        }
        s->is_python = has_python && python_parts_are_most(&v->parts);
        if (s->is_python && path_names_fold(&s->names) < 0)
                return no_memory(err);
        if (s->request.filter->has_zone && v->zones_ns < open_ns)
                open_ns = v->zones_ns;
        n = fmin(n, MOMENT_THREADS_MAX / fmax(trace->n_threads, 1));
        s->moment_ns = fmax(open_ns / fmax(n, MOMENTS_MIN), 1);
        return 0;
}

static int prepare(struct past_sweep *s, struct loaded_trace *trace, struct error *err)
{
        const struct trace_filter *filter = s->request.filter;
        uint32_t event = filter->event != 0 ? filter->event : past_choose_event(trace->dictionary);

        s->private = calloc(1, sizeof(*s->private));
        if (!s->private || past_init(&s->past, trace, event) < 0 || path_names_init(&s->names, trace) < 0)
                return no_memory(err);
        s->past.skips_cpus = true;
        s->begin_ns = filter->from_ns > trace->start_ns ? filter->from_ns : trace->start_ns;
        s->end_ns = filter->to_ns < trace->end_ns ? filter->to_ns : trace->end_ns;
        if (s->end_ns < s->begin_ns)
                s->end_ns = s->begin_ns;
        return 0;
}

int past_sweep_run(struct past_sweep *s, struct loaded_trace *trace, const struct past_sweep_request *request,
                   struct error *err)
{
        int r;

        *s = (struct past_sweep){ .request = *request };
        r = prepare(s, trace, err);
        if (r == 0)
                r = survey(s, trace, err);
        if (r == 0)
                r = walk_trace(s, trace, err);
        if (r == 0 && sweep_to(s, s->end_ns) < 0)
                r = no_memory(err);
        return r;
}

void past_sweep_deinit(struct past_sweep *s)
{
        struct past_sweep_private *v = s->private;

        if (v) {
                free(v->threads);
                free(v->births);
                free(v->opens);
                free(v->steps);
        }
        free(v);
        free(s->live);
        path_names_deinit(&s->names);
        past_deinit(&s->past);
        *s = (struct past_sweep){ .live = NULL };
}
