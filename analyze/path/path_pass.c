/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_names.h"
#include "analyze/path/path.h"
#include "analyze/path/path_durations.h"
#include "analyze/path/path_range.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instances that have ended and are not walked; where more of them end in PAST_LATE_NS, half of them are. */
#define PENDING_MAX (UINT32_C(1) << 18)
/* Segments of a whole run. */
#define RUN_SEGMENTS_MAX (UINT32_C(1) << 24)

struct open_zone {
        struct path_instance instance;
        uint32_t depth;
        bool is_open;
        bool is_early; /* it began before what is read of the trace; nothing else is known of it */
};

struct pass {
        struct path *path;
        const struct trace_filter *filter;
        struct zone_pattern pattern;
        struct open_zone *open; /* heap; by thread id - 1 */
        size_t open_capacity;
        uint32_t n_open;
        struct path_instance
                *pending; /* heap: [first_pending, n_pending) have ended, and are not walked yet */
        size_t first_pending, n_pending, pending_capacity;
        uint64_t walked_ns;          /* when pending ones were looked at last */
        struct path_instance *now;   /* whose path is being walked */
        struct shown_segments shown; /* of `now`; of the run from its beginning on */
        uint32_t run_thread;         /* whose run is shown; 0 = not known yet */
        /* the pass before */
        struct path_durations durations;
        struct python_parts parts;
        bool is_survey;
        bool is_rehearsal;       /* another pass may follow */
        struct path_range range; /* of the trace, what is read */
        bool is_cut;             /* an instance that is asked for reaches beyond that */
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "following the path: out of memory");
}

/* ------------------------------------------------------------------ segments */

/* The slowest instance is shown, of runs the first: whether this one is it, as far as is known. */
static bool is_shown(struct pass *pass, const struct path_instance *instance)
{
        const struct path *p = pass->path;

        if (p->request.zone)
                return p->shown.number == 0 || path_instance_ns(instance) > path_instance_ns(&p->shown);
        if (pass->run_thread == 0)
                pass->run_thread = instance->thread;
        return instance->thread == pass->run_thread;
}

static int take_segment(void *context, const struct path_segment *segment)
{
        struct pass *pass = context;
        struct path *p = pass->path;
        int r = path_sums_add(&p->sums, segment);

        what_if_segment(&p->what_if, segment);
        p->segments_ns += segment->end_ns - segment->begin_ns;
        p->n_segments++;
        if (r == 0 && is_shown(pass, pass->now))
                r = shown_segments_add(&pass->shown, segment);
        if (r == 0 && p->request.take && !pass->is_rehearsal)
                r = p->request.take(p->request.context, pass->now, segment);
        return r;
}

/* Walks the part of an instance's path up to @until_ns that is not walked yet. */
static int walk_until(struct pass *pass, struct path_instance *instance, uint64_t until_ns)
{
        struct path *p = pass->path;
        int r;

        if (until_ns <= instance->walked_ns)
                return 0;
        pass->now = instance;
        instance->draft.first = instance->thread;
        path_sums_choose(&p->sums, &instance->draft);
        r = path_walk_run(&p->walk, instance->thread, instance->walked_ns, until_ns);
        instance->walked_ns = until_ns;
        return r;
}

static void show(struct pass *pass, const struct path_instance *instance)
{
        struct path *p = pass->path;

        if (!is_shown(pass, instance))
                return;
        shown_segments_settle(&pass->shown, &p->past);
        p->shown = *instance;
        p->shown.draft = (struct path_draft){ .parts = NULL };
        shown_segments_deinit(&p->segments);
        p->segments = pass->shown;
        pass->shown = (struct shown_segments){ .items = NULL };
}

static int finish_instance(struct pass *pass, struct path_instance *instance)
{
        struct path *p = pass->path;
        int r;

        if (p->request.zone)
                shown_segments_clear(&pass->shown);
        r = walk_until(pass, instance, instance->end_ns);
        if (r < 0)
                return r;
        if (p->what_if.is_on && !pass->is_rehearsal)
                r = what_if_instance(&p->what_if, instance->thread, instance->begin_ns, instance->end_ns);
        if (r < 0)
                return r;
        show(pass, instance);
        p->n_examined++;
        p->total_ns += path_instance_ns(instance);
        path_sums_close(&p->sums, &instance->draft);
        free(instance->draft.parts);
        instance->draft = (struct path_draft){ .parts = NULL };
        return 0;
}

static bool is_wanted(const struct pass *pass, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        const struct path_request *request = &pass->path->request;
        const struct trace_filter *f = pass->filter;

        return trace_filter_wants_thread(f, thread) && begin_ns >= f->from_ns && end_ns <= f->to_ns &&
               (!request->has_at || end_ns > request->at_ns);
}

/* ------------------------------------------------------------------ what is needed of the past */

/* Nothing before this time is asked for any more. */
static uint64_t find_horizon(const struct pass *pass)
{
        uint64_t latest_ns = pass->path->past.latest_ns;
        uint64_t horizon_ns = latest_ns > PAST_LATE_NS ? latest_ns - PAST_LATE_NS : 0;

        for (size_t i = pass->first_pending; i < pass->n_pending; i++)
                if (pass->pending[i].walked_ns < horizon_ns)
                        horizon_ns = pass->pending[i].walked_ns;
        for (uint32_t i = 0; i < pass->n_open; i++)
                if (pass->open[i].is_open && pass->open[i].instance.walked_ns < horizon_ns)
                        horizon_ns = pass->open[i].instance.walked_ns;
        return horizon_ns;
}

/* Whether each instance that is open is sure to count, however long it lasts. */
static bool may_settle(const struct pass *pass)
{
        const struct path_request *r = &pass->path->request;

        if (r->is_strict || r->has_at)
                return false;
        return !r->zone || (r->instance == 0 && r->slowest <= 0 && r->slower_than_ns == 0 &&
                            pass->filter->to_ns == UINT64_MAX);
}

/*
 * Where too much is kept: the path of an open instance is known up to the last moment at which its thread
 * ran.
 */
static int settle_instance(struct pass *pass, struct path_instance *instance)
{
        const struct past *past = &pass->path->past;
        uint64_t until_ns = past->latest_ns > PAST_LATE_NS ? past->latest_ns - PAST_LATE_NS : 0;
        const struct past_wait *wait;
        int r;

        if (until_ns > past_of(past, instance->thread)->end_ns)
                until_ns = past_of(past, instance->thread)->end_ns;
        if (until_ns > pass->filter->to_ns)
                until_ns = pass->filter->to_ns;
        wait = past_wait_at(past, instance->thread, until_ns);
        r = walk_until(pass, instance, wait ? wait->out_ns : until_ns);
        shown_segments_settle(&pass->shown, past);
        if (pass->path->request.zone)
                shown_segments_clear(&pass->shown);
        return r;
}

static int settle(struct pass *pass)
{
        struct past *past = &pass->path->past;
        int r = 0;

        for (uint32_t i = 0; i < pass->n_open && r == 0 && may_settle(pass); i++)
                if (pass->open[i].is_open &&
                    is_wanted(pass, pass->open[i].instance.thread, pass->open[i].instance.begin_ns, 0))
                        r = settle_instance(pass, &pass->open[i].instance);
        past_forget(past, find_horizon(pass));
        if (r == 0 && past_is_crowded(past))
                past_forget_oldest(past);
        return r;
}

/* Whether the rest of the trace adds nothing; with `has_at`, once each instance open then is walked. */
static bool is_over(const struct pass *pass)
{
        if (pass->path->past.latest_ns <= pass->range.until_ns || pass->n_pending != 0)
                return false;
        for (uint32_t i = 0; i < pass->n_open && pass->path->request.has_at; i++)
                if (pass->open[i].is_open || pass->open[i].is_early)
                        return false;
        return true;
}

/* Takes those that are walked out of the list, before there are more of them than of the others. */
static void drop_walked(struct pass *pass)
{
        size_t n = pass->n_pending - pass->first_pending;

        if (pass->first_pending < n)
                return;
        if (n != 0)
                memmove(pass->pending, pass->pending + pass->first_pending, n * sizeof(*pass->pending));
        pass->first_pending = 0;
        pass->n_pending = n;
}

static bool has_many(const struct pass *pass)
{
        return pass->n_pending - pass->first_pending > PENDING_MAX;
}

/*
 * Walks the instances that ended long enough ago, and drops what is not needed any more.
 * Returns 0, -ECANCELED to end the pass, -ENOMEM.
 */
static int look(struct pass *pass, bool is_end)
{
        struct past *past = &pass->path->past;
        size_t n_most = has_many(pass) ? PENDING_MAX / 2 : PENDING_MAX;
        struct what_if *what_if = &pass->path->what_if;
        uint64_t until_ns = past->latest_ns > PAST_LATE_NS ? past->latest_ns - PAST_LATE_NS : 0;
        int r = what_if->is_on ? replay_advance(&what_if->replay, is_end ? UINT64_MAX : until_ns) : 0;

        while (pass->first_pending < pass->n_pending && r == 0) {
                struct path_instance *instance = &pass->pending[pass->first_pending];

                if (!is_end && instance->end_ns + PAST_LATE_NS > past->latest_ns &&
                    pass->n_pending - pass->first_pending <= n_most)
                        break;
                r = finish_instance(pass, instance);
                pass->first_pending++;
        }
        drop_walked(pass);
        if (r == 0)
                past_forget(past, find_horizon(pass));
        if (r == 0 && what_if->is_on)
                replay_forget(&what_if->replay, find_horizon(pass));
        if (r == 0 && past_is_crowded(past))
                r = settle(pass);
        pass->walked_ns = past->latest_ns;
        return r == 0 && !is_end && is_over(pass) ? -ECANCELED : r;
}

/*
 * After each event, with what it returned: looks now and then, for a look costs as much as there are threads,
 * and more often once what is read is enough.
 * Returns 0, -ECANCELED to end the pass, or -errno after error_set().
 */
static int look_sometimes(struct pass *pass, int r, struct error *err)
{
        const struct past *past = &pass->path->past;
        uint64_t pause_ns = past->latest_ns <= pass->range.until_ns ? PAST_LATE_NS : PAST_LATE_NS / 64;

        if (r == 0 && (past->latest_ns - pass->walked_ns >= pause_ns || has_many(pass) ||
                       (past_is_crowded(past) && past_has_grown(past))))
                r = look(pass, false);
        return r < 0 && r != -ECANCELED ? no_memory(err) : r;
}

/* ------------------------------------------------------------------ instances */

/*
 * With `has_at`: whether an instance that begins now may be the one.  The outermost of instances inside each
 * other counts, as everywhere, unless an inner one begins at just that time.
 */
static bool may_be_asked(const struct pass *pass, const struct walked_thread *thread, uint64_t begin_ns)
{
        const struct path_request *request = &pass->path->request;
        const struct timeline_zone *open = thread->timeline.open;

        if (begin_ns < pass->range.from_ns || begin_ns > request->at_ns ||
            !trace_filter_wants_thread(pass->filter, thread->id))
                return false;
        for (uint32_t i = 0; i + 1 < thread->timeline.n_open && begin_ns != request->at_ns; i++)
                if (open[i].flags[THREAD_TIMELINE_ASKED] & ZONE_MATCHER_NAMED)
                        return false;
        return true;
}

static int reach_threads(struct pass *pass, uint32_t n)
{
        return n > pass->n_open && array_reach(&pass->open, &pass->open_capacity, &pass->n_open, n,
                                               sizeof(*pass->open)) < 0
                       ? -ENOMEM
                       : 0;
}

/* For a replay, what lies on both sides of the beginning or end of an instance is not the same. */
static int mark(struct pass *pass, uint32_t thread, uint64_t time_ns)
{
        struct what_if *what_if = &pass->path->what_if;

        return what_if->is_on && !pass->is_survey ? replay_mark(&what_if->replay, thread, time_ns) : 0;
}

static int open_instance(struct pass *pass, uint32_t thread, uint64_t begin_ns, uint32_t depth)
{
        struct open_zone *zone = &pass->open[thread - 1];

        if (zone->is_open)
                free(zone->instance.draft.parts);
        zone->is_open = true;
        zone->is_early = false;
        zone->depth = depth;
        zone->instance =
                (struct path_instance){ .begin_ns = begin_ns, .walked_ns = begin_ns, .thread = thread };
        return mark(pass, thread, begin_ns);
}

static int close_instance(struct pass *pass, struct open_zone *zone, uint64_t end_ns)
{
        struct path *p = pass->path;
        struct path_instance *i = &zone->instance;

        zone->is_open = false;
        i->end_ns = end_ns > i->walked_ns ? end_ns : i->walked_ns;
        if (mark(pass, i->thread, i->end_ns) < 0)
                return -ENOMEM;
        if (i->end_ns == i->begin_ns || !is_wanted(pass, i->thread, i->begin_ns, i->end_ns))
                return 0;
        i->number = ++p->n_instances;
        if (pass->is_survey)
                return path_durations_add(&pass->durations, path_instance_ns(i),
                                          trace_walk_chance(i->thread, i->begin_ns));
        if (path_instance_ns(i) < p->threshold_ns ||
            (p->request.instance != 0 && p->request.instance != i->number))
                return 0;
        if (array_reserve(&pass->pending, &pass->pending_capacity, pass->n_pending + 1, sizeof(*i)) < 0)
                return -ENOMEM;
        pass->pending[pass->n_pending++] = *i;
        return 0;
}

/* With `has_at`: the outermost instance that was open before what is read of the trace. */
static void note_early(struct pass *pass, const struct walked_thread *thread, uint64_t begin_ns)
{
        struct open_zone *zone = &pass->open[thread->id - 1];

        if (begin_ns >= pass->range.from_ns || pass->range.from_ns <= pass->filter->from_ns ||
            zone->is_early || !trace_filter_wants_thread(pass->filter, thread->id))
                return;
        zone->is_early = true;
        zone->depth = thread->timeline.n_open - 1;
}

/* It ends: whether that is after the time that is asked for. */
static void end_early(struct pass *pass, struct open_zone *zone, const struct zone_instance *ended)
{
        if (!zone->is_early || zone->depth != ended->depth)
                return;
        zone->is_early = false;
        pass->is_cut |= !ended->closed || ended->end_ns > pass->path->request.at_ns;
}

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct pass *pass = context;
        bool is_one;

        if (reach_threads(pass, thread->id) < 0)
                return no_memory(err);
        if (pass->path->request.has_at && trace_walk_names(thread))
                note_early(pass, thread, event->time_ns);
        is_one = pass->path->request.has_at ? may_be_asked(pass, thread, event->time_ns)
                                            : !pass->open[thread->id - 1].is_open;
        if (is_one && trace_walk_names(thread) &&
            open_instance(pass, thread->id, event->time_ns, thread->timeline.n_open - 1) < 0)
                return no_memory(err);
        return 0;
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct pass *pass = context;
        struct open_zone *open;
        int r;

        if (thread->id > pass->n_open)
                return 0;
        open = &pass->open[thread->id - 1];
        end_early(pass, open, zone);
        if (!open->is_open || open->depth != zone->depth)
                return 0;
        if (!zone->closed && open->instance.walked_ns == open->instance.begin_ns) {
                open->is_open = false;
                pass->path->n_unclosed += !pass->is_survey;
                pass->is_cut |= pass->range.stop_ns != 0;
                return 0;
        }
        /* without an end, it counts as far as it was settled */
        r = close_instance(pass, open, zone->closed ? zone->end_ns : open->instance.walked_ns);
        return pass->is_survey && r == 0 ? 0 : look_sometimes(pass, r, err);
}

/* ------------------------------------------------------------------ a whole run */

/*
 * The threads that --thread means; or the first ones of the processes that --process means; or the first one
 * of each process, unless the process that started it is recorded as well.
 */
static bool is_root(const struct path *p, const struct trace_filter *filter, uint32_t thread)
{
        uint32_t process = past_of(&p->past, thread)->process;
        const struct trace_process *row;

        if (!trace_filter_wants_thread(filter, thread))
                return false;
        if (filter->request.thread)
                return true;
        if (past_first_of(&p->past, process) != thread)
                return false;
        row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_PROCESSES, process);
        return filter->request.process || row->parent == 0;
}

/* The runs of processes whose threads the trace has by now. */
static int open_runs(struct pass *pass)
{
        struct path *p = pass->path;
        uint64_t from_ns = pass->filter->from_ns;
        uint32_t id = pass->n_open + 1;

        if (p->request.zone || p->past.n_threads < id)
                return 0;
        if (from_ns < p->trace->start_ns)
                from_ns = p->trace->start_ns;
        if (reach_threads(pass, p->past.n_threads) < 0)
                return -ENOMEM;
        for (; id <= pass->n_open; id++)
                if (is_root(p, pass->filter, id)) {
                        uint64_t born_ns = past_of(&p->past, id)->born_ns;

                        if (open_instance(pass, id, born_ns > from_ns ? born_ns : from_ns, 0) < 0)
                                return -ENOMEM;
                }
        return 0;
}

static int close_runs(struct pass *pass)
{
        struct path *p = pass->path;
        int r = open_runs(pass);

        for (uint32_t i = 0; i < pass->n_open && r == 0 && !p->request.zone; i++) {
                uint64_t end_ns = past_of(&p->past, i + 1)->end_ns;

                if (!pass->open[i].is_open)
                        continue;
                if (end_ns > p->trace->end_ns)
                        end_ns = p->trace->end_ns;
                if (end_ns > pass->filter->to_ns)
                        end_ns = pass->filter->to_ns;
                r = close_instance(pass, &pass->open[i], end_ns);
        }
        return r;
}

/* ------------------------------------------------------------------ passes */

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct pass *pass = context;

        if (pass->is_survey) {
                if (event->sample.event == pass->path->past.event)
                        python_stacks_add(&pass->path->names.python, pass->path->trace->dictionary,
                                          (uint32_t)event->sample.stack, event->sample.weight, &pass->parts);
                return 0;
        }
        return look_sometimes(pass, past_sample(&pass->path->past, thread, event), err);
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct pass *pass = context;

        if (!wait->ended && pass->range.stop_ns != 0) /* more of it is not read */
                return 0;
        if (!pass->is_survey && past_wait_over(&pass->path->past, thread, wait) < 0)
                return no_memory(err);
        return 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct pass *pass = context;
        int r;

        if (pass->is_survey)
                return event->time_ns > pass->range.until_ns ? -ECANCELED : 0;
        pass->path->has_wakeups |= event->op == TRACE_OP_WAKEUP;
        r = past_event(&pass->path->past, thread, event);
        if (r == 0)
                r = open_runs(pass);
        return look_sometimes(pass, r, err);
}

static double share_of_lost(const struct trace_dictionary *d, uint64_t n_switches)
{
        double n_lost = (double)trace_dictionary_loss_count(d, TRACE_LOSS_SWITCHES_LOST);

        return n_lost > 0 ? n_lost / (n_lost + (double)n_switches) : 0;
}

static int walk_trace(struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        struct trace_sink sink = {
                .context = pass,
                .begin_zone = begin_zone,
                .zone = end_zone,
                .sample = take_sample,
                .wait = take_wait,
                .event = take_event,
                .asked = &pass->pattern,
                .asked_only = ZONE_MATCHER_NAMED,
                .skip_to_ns = pass->range.from_ns,
                .stop_at_ns = pass->range.stop_ns,
        };
        struct trace_walk walk;
        int r;

        if (!pass->path->request.zone) {
                sink.begin_zone = NULL;
                sink.zone = NULL;
                sink.asked = NULL;
                sink.asked_only = 0;
        }
        r = trace_walk_init(&walk, trace, NULL, &sink);
        if (r == 0)
                r = loaded_trace_walk(trace, &walk, err);
        else
                r = no_memory(err);
        if (r == 0 && pass->range.from_ns == 0 && pass->range.stop_ns == 0)
                pass->path->lost_share = share_of_lost(trace->dictionary, walk.n_switches);
        trace_walk_deinit(&walk);
        return r == -ECANCELED ? 0 : r;
}

/* Goes through the durations and the call stacks, if something depends on them. */
static int survey(struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        struct path *p = pass->path;
        bool has_python;
        int r = python_stacks_init(&p->names.python, trace->dictionary);

        p->threshold_ns = p->request.slower_than_ns;
        if (r < 0)
                return no_memory(err);
        has_python = p->names.python.innermost != NULL && !p->request.shows_native;
        if (!has_python && p->request.slowest <= 0)
                return 0;
        pass->is_survey = true;
        r = walk_trace(pass, trace, err);
        pass->is_survey = false;
        p->n_instances = 0;
        if (r < 0)
                return r;
        p->is_python = has_python && python_parts_are_most(&pass->parts);
        if (p->is_python && path_names_fold(&p->names) < 0)
                return no_memory(err);
        if (p->request.slowest > 0)
                p->threshold_ns = path_durations_slowest(&pass->durations, p->request.slowest);
        return 0;
}

/* Nothing was seen yet. */
static int begin(struct pass *pass)
{
        struct path *p = pass->path;
        uint32_t event = p->request.event != 0 ? p->request.event : past_choose_event(p->trace->dictionary);

        path_walk_init(&p->walk, &p->past, take_segment, pass);
        p->walk.is_strict = p->request.is_strict;
        p->walk.names = &p->names;
        p->walk.works = &p->works;
        if (!p->request.zone)
                p->walk.n_segments_max = RUN_SEGMENTS_MAX;
        if (past_init(&p->past, p->trace, event) < 0 ||
            path_sums_init(&p->sums, &p->past, &p->names, &p->walk) < 0)
                return -ENOMEM;
        if (p->request.past_bytes_max != 0)
                p->past.bytes_max = p->request.past_bytes_max;
        return 0;
}

static int prepare(struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        struct path *p = pass->path;
        int r;

        if (path_names_init(&p->names, p->trace) < 0 || begin(pass) < 0 ||
            (p->request.reads_code && path_spins_init(&p->spins, p->trace) < 0))
                return no_memory(err);
        r = device_works_take_sure(&p->works, trace, err);
        if (r == 0 && lane_names_init(&p->lanes, p->trace->dictionary) < 0)
                r = no_memory(err);
        if (r == 0)
                r = what_if_init(&p->what_if, &p->request.what_if, &p->past, &p->names, err);
        if (r < 0)
                return r;
        p->what_if.walk.works = &p->works;
        return p->request.zone ? zone_pattern_init(&pass->pattern, p->request.zone, err) : 0;
}

/* Forgets all but the names, what spins, and which instances are examined. */
static void end(struct pass *pass)
{
        struct path *p = pass->path;

        for (size_t i = pass->first_pending; i < pass->n_pending; i++)
                free(pass->pending[i].draft.parts);
        for (uint32_t i = 0; i < pass->n_open; i++)
                if (pass->open[i].is_open)
                        free(pass->open[i].instance.draft.parts);
        free(pass->open);
        free(pass->pending);
        shown_segments_deinit(&pass->shown);
        pass->open = NULL;
        pass->pending = NULL;
        pass->open_capacity = pass->pending_capacity = 0;
        pass->n_open = 0;
        pass->first_pending = pass->n_pending = 0;
        shown_segments_clear(&pass->shown);
        pass->run_thread = 0;
        pass->walked_ns = 0;
        p->walk.context = NULL;
}

static int begin_again(struct pass *pass)
{
        struct path *p = pass->path;

        end(pass);
        shown_segments_deinit(&p->segments);
        p->shown = (struct path_instance){ .number = 0 };
        p->n_instances = p->n_examined = p->n_unclosed = 0;
        p->total_ns = p->segments_ns = p->n_segments = 0;
        path_sums_deinit(&p->sums);
        path_walk_deinit(&p->walk);
        past_deinit(&p->past);
        if (begin(pass) < 0)
                return -ENOMEM;
        return p->what_if.is_on ? what_if_begin(&p->what_if, p->request.is_strict) : 0;
}

static int go_through(struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        int r = walk_trace(pass, trace, err);

        if (r == 0 && (close_runs(pass) < 0 || look(pass, true) < 0))
                r = no_memory(err);
        return r;
}

/* Ends the first of two passes; returns 1 if there is to be a second one, 0, or -ENOMEM. */
static int rehearse(struct pass *pass, struct loaded_trace *trace)
{
        struct path *p = pass->path;
        int r = p->request.reads_code ? path_spins_find(&p->spins, trace) : 0;

        if (r > 0)
                p->names.spins = &p->spins;
        return r < 0 ? r : r > 0 || p->what_if.is_on || p->request.take;
}

/* Goes through the trace, and a second time with what was found out in the first. */
static int go_through_twice(struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        struct path *p = pass->path;
        int r;

        pass->is_rehearsal = true;
        p->sums.spins = p->request.reads_code ? &p->spins : NULL;
        r = go_through(pass, trace, err);
        pass->is_rehearsal = false;
        if (r < 0)
                return r;
        r = rehearse(pass, trace);
        if (r == 0)
                return 0;
        return r < 0 || begin_again(pass) < 0 ? no_memory(err) : go_through(pass, trace, err);
}

static int nothing_found(const struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        const struct path *p = pass->path;

        if (p->request.instance > p->n_instances && p->n_instances != 0)
                return error_set(err, -ENOENT, "--instance %llu: there are %llu",
                                 (unsigned long long)p->request.instance, (unsigned long long)p->n_instances);
        if (p->request.has_at)
                return error_set(err, -ENOENT, "no instance of the zone that has an end was open then");
        if (p->n_instances != 0)
                return error_set(err, -ENOENT, "no instance takes as long as that");
        if (!p->request.zone)
                return error_set(err, -ENOENT,
                                 pass->filter->is_empty
                                         ? "the trace has no thread whose path could be followed"
                                         : "no time of a thread that begins a path passes the filters");
        (void)error_set(err, -ENOENT,
                        "no instance of the zone has an end, among those that pass the filters");
        return p->n_unclosed != 0 ? -ENOENT
                                  : device_names_explain_other(trace, &pass->pattern, p->request.zone, err);
}

static int run(struct pass *pass, struct loaded_trace *trace, struct error *err)
{
        struct path *p = pass->path;
        int r = prepare(pass, trace, err);

        if (r == 0)
                r = survey(pass, trace, err);
        if (r == 0)
                r = p->request.reads_code || p->what_if.is_on ? go_through_twice(pass, trace, err)
                                                              : go_through(pass, trace, err);
        if (r == 0 && path_finish(p) < 0)
                r = no_memory(err);
        return r == 0 && p->n_examined == 0 ? nothing_found(pass, trace, err) : r;
}

/* Returns 1 if an instance that is asked for reaches beyond what was read. */
static int fill(struct path *p, struct loaded_trace *trace, const struct trace_filter *filter,
                const struct path_request *request, uint64_t near_ns, struct error *err)
{
        struct pass pass = { .path = p,
                             .filter = filter,
                             .range = path_range_choose(request, filter, trace, near_ns) };
        int r;

        *p = (struct path){ .trace = trace,
                            .request = *request,
                            .is_range = filter->from_ns > trace->start_ns || filter->to_ns < trace->end_ns };
        r = run(&pass, trace, err);
        end(&pass);
        zone_pattern_deinit(&pass.pattern);
        path_durations_deinit(&pass.durations);
        if (r == 0 || r == -ENOENT)
                return pass.is_cut ? 1 : r;
        return r;
}

int path_init(struct path *p, struct loaded_trace *trace, const struct trace_filter *filter,
              const struct path_request *request, struct error *err)
{
        uint64_t near_ns = path_range_near_ns(request);
        int r = fill(p, trace, filter, request, near_ns, err);

        while (r == 1) { /* it began before, or ends after, what was read */
                near_ns = path_range_wider_ns(near_ns, trace);
                path_deinit(p);
                r = fill(p, trace, filter, request, near_ns, err);
        }
        return r;
}
