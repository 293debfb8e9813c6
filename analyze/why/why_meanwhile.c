/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_meanwhile.h"

#include "analyze/path/past.h"
#include "analyze/path/past_questions.h"
#include "analyze/path/path_names.h"
#include "analyze/path/path_walk.h"
#include "analyze/path/ready_owners.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why.h"
#include "analyze/why/why_device_sums.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/* The `id` of questions about instances that are not slow. */
#define OF_TYPICAL 1
/* As many of them as there are slow ones are followed, and at least so many. */
#define TYPICAL_MIN 100

/* ------------------------------------------------------------------ the paths */

struct meanwhile_pass {
        struct why_meanwhile *meanwhile;
        const struct why *w;
        struct past past;
        struct path_names names;
        struct path_walk walk;
        struct past_questions questions;
        uint32_t first;  /* the thread whose path it is */
        bool is_typical; /* of an instance that is not slow */
        uint32_t n_locks;
        uint64_t n_segments;
};

void why_meanwhile_deinit(struct why_meanwhile *m)
{
        intern_deinit(&m->keys);
        free(m->amounts);
        device_works_deinit(&m->works);
        *m = (struct why_meanwhile){ .amounts = NULL };
}

static int add_amount(struct why_meanwhile *m, const struct why_meanwhile_key *key, uint64_t amount)
{
        uint32_t id;
        int r = intern_add_row(&m->keys, key, &m->amounts, &m->capacity, sizeof(*m->amounts), &id);

        if (r == -EOVERFLOW) {
                m->n_left_out++;
                return 0;
        }
        if (r < 0)
                return r;
        m->amounts[id - 1] += amount;
        m->n_devices += why_device_sums_take(key);
        return 0;
}

/* In which of its waits the instance was; 0 = in none that is known. */
static uint32_t find_kind(const struct meanwhile_pass *p, uint64_t time_ns)
{
        const struct past_span *asked = past_lock_wait(past_of(&p->past, p->first), time_ns);
        const struct past_wait *wait;
        struct why_wait_key key;
        uint32_t id;

        if (asked && asked->end_ns > time_ns)
                return asked->id;
        wait = past_wait_at(&p->past, p->first, time_ns);
        if (!wait)
                return 0;
        key = (struct why_wait_key){ .stack = wait->stack, .state = wait->state };
        id = intern_find(&p->w->collector.waits, &key, sizeof(key));
        return id != 0 ? p->n_locks + id : 0;
}

/* Adds a segment to the last thread of its chain, by its state and its functions. */
static int add_last(struct meanwhile_pass *p, const struct path_segment *s, struct why_meanwhile_key key)
{
        const struct past_sample *samples = NULL;
        bool ran = s->kind == PATH_RUN || s->kind == PATH_LATE;
        size_t n = 0;
        int r;

        key.thread = s->on;
        key.doing = ran                       ? WHY_MEANWHILE_RAN
                    : s->kind == PATH_MACHINE ? WHY_MEANWHILE_READY
                                              : WHY_MEANWHILE_WAITED;
        if (key.doing == WHY_MEANWHILE_WAITED)
                key.stack = s->wait->stack;
        r = add_amount(p->meanwhile, &key, s->end_ns - s->begin_ns);
        key.doing = WHY_MEANWHILE_SAMPLE;
        if (ran)
                n = past_samples(past_of(&p->past, s->on), s->begin_ns, s->end_ns, &samples);
        for (size_t i = 0; i < n && r == 0; i++) {
                key.stack = samples[i].stack;
                r = add_amount(p->meanwhile, &key, samples[i].weight >= 1 ? (uint64_t)samples[i].weight : 1);
        }
        return r;
}

static bool is_of_device(const struct path_segment *s)
{
        return s->kind == PATH_DEVICE || s->kind == PATH_LAUNCH;
}

/* The last thread of the chain waited for the device.  Work that it had asked for is not another one's. */
static int add_device(struct meanwhile_pass *p, const struct path_segment *s, struct why_meanwhile_key key,
                      uint64_t ns)
{
        bool is_asked = s->work->thread == s->thread || s->work->outer == s->asked->outer;

        key.doing = s->kind == PATH_LAUNCH ? WHY_MEANWHILE_LAUNCH
                    : is_asked             ? WHY_MEANWHILE_DEVICE
                                           : WHY_MEANWHILE_EARLIER;
        key.stack = s->work->name;
        return add_amount(p->meanwhile, &key, ns);
}

/*
 * Adds @ns of a segment to each thread of its chain: all but the last one waited meanwhile.
 * @wait:  of a device: of the instance's thread
 */
static int add_chain(struct meanwhile_pass *p, const struct path_segment *s, uint32_t kind,
                     const struct past_wait *wait, uint64_t ns)
{
        const struct path_link *links[PATH_WALK_DEPTH_MAX + 1]; /* the last one first */
        struct why_meanwhile_key key = { .kind = kind, .is_typical = p->is_typical };
        bool is_device = is_of_device(s);
        uint32_t n = 0;
        int r = 0;

        for (const struct path_link *link = path_walk_link(&p->walk, s->chain);
             link && n <= PATH_WALK_DEPTH_MAX; link = path_walk_link(&p->walk, link->parent))
                links[n++] = link;
        if (is_device && n == 1) {
                key.thread = wait->by;
                key.by = wait->by == 0 ? wait->name : 0;
                return add_device(p, s, key, ns);
        }
        if (p->is_typical)
                return 0;
        if (n != 0 && links[n - 1]->how == PATH_HOW_LOCK && kind <= p->n_locks) {
                key.thread = n > 1 ? links[n - 2]->thread : s->on;
                key.doing = WHY_MEANWHILE_HELD;
                r = add_amount(p->meanwhile, &key, ns);
        }
        key.doing = WHY_MEANWHILE_WAITED;
        for (; key.level + 1 < n && key.level < WHY_STEPS_MAX && r == 0; key.level++) {
                const struct path_link *link = links[n - 2 - key.level];

                key.thread = link->thread;
                key.stack = link->stack;
                key.by = key.level + 2 < n ? links[n - 3 - key.level]->thread : s->on;
                if (is_device && key.level + 2 == n)
                        key.by = 0;
                r = add_amount(p->meanwhile, &key, ns);
        }
        key.stack = key.by = 0;
        if (r < 0 || key.level >= WHY_STEPS_MAX)
                return r;
        return is_device ? add_device(p, s, key, ns) : add_last(p, s, key);
}

/*
 * A device is waited for in many waits, if the thread looks again and again: each has its own kind, and what
 * is between them is no wait.
 */
static int add_waits(struct meanwhile_pass *p, const struct path_segment *s)
{
        const struct past_thread *t = past_of(&p->past, p->first);
        const struct past_wait *waits = past_waits(t);
        int r = 0;

        for (size_t i = past_waits_before(t, s->end_ns); i > t->waits.first && r == 0; i--) {
                const struct past_wait *wait = &waits[i - 1];
                uint64_t a = wait->out_ns > s->begin_ns ? wait->out_ns : s->begin_ns;
                uint64_t b = wait->woken_ns < s->end_ns ? wait->woken_ns : s->end_ns;
                uint32_t kind;

                if (wait->in_ns <= s->begin_ns)
                        break;
                if (wait->preempted || b <= a)
                        continue;
                kind = find_kind(p, a);
                if (kind != 0)
                        r = add_chain(p, s, kind, wait, b - a);
        }
        return r;
}

static int take_segment(void *context, const struct path_segment *s)
{
        struct meanwhile_pass *p = context;
        uint32_t kind;

        if (s->chain == 0 || s->kind == PATH_UNBORN)
                return 0;
        if (p->n_segments++ >= WHY_MEANWHILE_SEGMENTS_MAX || s->kind == PATH_CUT) {
                p->meanwhile->n_left_out += !p->is_typical;
                return 0;
        }
        if (is_of_device(s))
                return add_waits(p, s);
        kind = p->is_typical ? 0 : find_kind(p, s->begin_ns);
        return kind != 0 ? add_chain(p, s, kind, NULL, s->end_ns - s->begin_ns) : 0;
}

static int take_part(void *context, const struct past_question *part)
{
        struct meanwhile_pass *p = context;

        p->first = part->thread;
        p->is_typical = part->id == OF_TYPICAL;
        return p->n_segments < WHY_MEANWHILE_SEGMENTS_MAX
                       ? path_walk_run(&p->walk, part->thread, part->begin_ns, part->end_ns)
                       : 0;
}

/* ------------------------------------------------------------------ the pass */

/* Whether the instance waited: for a recorded thread or a lock, or at all if works of devices are known. */
static bool has_waited(const struct why *w, const struct why_instance *instance, bool for_devices)
{
        for (size_t i = 0; i < instance->n_rows; i++) {
                const struct why_row *row = &w->collector.instances.rows[instance->first_row + i];
                const struct why_waker_key *waker;

                if (row->kind == WHY_LOCK || (row->kind == WHY_WAIT && for_devices))
                        return true;
                if (row->kind != WHY_WAKER)
                        continue;
                waker = intern_get(&w->collector.wakers, row->id, NULL);
                if (waker->thread != 0)
                        return true;
        }
        return false;
}

static int add_question(struct meanwhile_pass *p, const struct why_instance *instance, bool for_devices)
{
        const struct past_question question = { .begin_ns = instance->begin_ns,
                                                .end_ns = instance->begin_ns + instance->wall_ns,
                                                .id = instance->is_slow ? 0 : OF_TYPICAL,
                                                .thread = instance->thread };
        const struct trace_thread *thread = trace_dictionary_row(p->w->dictionary, TRACE_TABLE_THREADS,
                                                                 instance->thread);

        if (thread->kind == TRACE_THREAD_FIBER)
                return 0;
        p->meanwhile->n_typical += !instance->is_slow;
        return has_waited(p->w, instance, for_devices) ? past_questions_add(&p->questions, &question) : 0;
}

/* The works of devices are read if a slow instance waited.  Then some of the others are followed as well. */
static int add_questions(struct meanwhile_pass *p, struct loaded_trace *trace, struct error *err)
{
        const struct why_instances *all = &p->w->collector.instances;
        struct device_works *works = &p->meanwhile->works;
        double n = all->n_slow > TYPICAL_MIN ? (double)all->n_slow : TYPICAL_MIN;
        uint32_t part = n < (double)all->n_typical ? (uint32_t)(n / (double)all->n_typical * UINT32_MAX)
                                                   : UINT32_MAX;
        bool has_waits = false, for_devices;
        int r = 0;

        for (size_t i = 0; i < all->n_items && !has_waits; i++)
                has_waits = all->items[i].is_slow && has_waited(p->w, &all->items[i], true);
        if (has_waits)
                r = device_works_take_sure(works, trace, err);
        for_devices = works->n_of_threads != 0;
        for (size_t i = 0; i < all->n_items && r == 0; i++)
                if (all->items[i].is_slow || (for_devices && (uint32_t)i * UINT32_C(2654435761) <= part))
                        r = add_question(p, &all->items[i], for_devices);
        return r;
}

static int run(struct meanwhile_pass *p, struct ready_times *times, struct ready_owners *owners,
               struct loaded_trace *trace, struct error *err)
{
        struct past_questions *lists[] = { &p->questions, &owners->questions[0], &owners->questions[1] };
        int r = add_questions(p, trace, err);

        if (r < 0)
                return r;
        r = ready_owners_init(owners, &p->past, trace->dictionary, times);
        if (r == 0 && p->questions.n_items == 0 && times->n_items == 0)
                return 0;
        if (r == 0)
                r = past_init(&p->past, trace, p->w->collector.event);
        if (r == 0)
                r = path_names_init(&p->names, trace);
        if (r == 0 && p->w->places.folds)
                r = path_names_fold(&p->names);
        if (r < 0)
                return error_set(err, r, "following the waits: out of memory");
        r = past_questions_answer(&p->past, trace, lists, sizeof(lists) / sizeof(lists[0]), err);
        p->meanwhile->n_left_out += p->walk.n_chains_cut;
        return r;
}

int why_meanwhile_take(struct why_meanwhile *m, const struct why *w, struct ready_times *times,
                       struct ready_owners *owners, struct loaded_trace *trace, struct error *err)
{
        struct meanwhile_pass p = { .meanwhile = m, .w = w };
        int r;

        *m = (struct why_meanwhile){ .amounts = NULL };
        *owners = (struct ready_owners){ .ns = NULL };
        intern_init(&m->keys, sizeof(struct why_meanwhile_key), WHY_MEANWHILE_ROWS_MAX);
        p.n_locks = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCKS);
        p.questions.take = take_part;
        p.questions.context = &p;
        path_walk_init(&p.walk, &p.past, take_segment, &p);
        p.walk.names = &p.names;
        p.walk.works = &m->works;
        r = run(&p, times, owners, trace, err);
        past_questions_deinit(&p.questions);
        path_walk_deinit(&p.walk);
        path_names_deinit(&p.names);
        past_deinit(&p.past);
        return r;
}

/* ------------------------------------------------------------------ steps */

#define DOING_COUNT (WHY_DOING_PREEMPTED + 1)

struct step_label {
        double amount[DOING_COUNT]; /* RUN: weight, WAIT: ns, in the function and its callees */
        double depth[DOING_COUNT];  /* sum of that times functions around it */
};

struct step_sums {
        struct why *w;
        uint32_t lock, place;
        struct step_label *labels; /* heap; by label */
        double *ended_ns;          /* heap; by thread - 1: of its waits */
        double all_ns[DOING_COUNT];
        double weight;                     /* of the samples of RUN */
        struct why_device_sums devices[2]; /* instead of the thread; for which the thread waited */
};

static void step_sums_deinit(struct step_sums *s)
{
        free(s->labels);
        free(s->ended_ns);
        why_device_sums_deinit(&s->devices[0]);
        why_device_sums_deinit(&s->devices[1]);
}

static int step_sums_init(struct step_sums *s, struct why *w, uint32_t lock, uint32_t place)
{
        size_t n_threads = trace_dictionary_count(w->dictionary, TRACE_TABLE_THREADS);

        *s = (struct step_sums){ .w = w, .lock = lock, .place = place };
        s->labels = calloc((size_t)w->places.functions.frames.n_labels + 1, sizeof(*s->labels));
        s->ended_ns = calloc(n_threads + 1, sizeof(*s->ended_ns));
        if (!s->labels || !s->ended_ns || why_device_sums_init(&s->devices[0], &w->meanwhile.works) < 0)
                return -ENOMEM;
        return why_device_sums_init(&s->devices[1], &w->meanwhile.works);
}

/* Adds an amount to every function of the program in the call stack, once. */
static void add_inside(struct step_sums *s, enum why_doing doing, uint32_t stack, double amount)
{
        struct why_profile *profile = &s->w->profile;

        for (struct why_visit v = why_profile_visit(profile, stack); why_profile_next(profile, &v);) {
                if (!wait_places_is_own(&s->w->places, v.label) ||
                    python_stacks_hides(s->w->places.folds, v.stack) ||
                    trace_dictionary_is_kernel_frame(s->w->dictionary, v.frame))
                        continue;
                s->labels[v.label].amount[doing] += amount;
                s->labels[v.label].depth[doing] += amount * (v.depth + 1.0 / (1 + v.n_taken));
        }
}

static bool row_is_of(const struct step_sums *s, const struct why_meanwhile_key *key)
{
        uint32_t n_locks = trace_dictionary_count(s->w->dictionary, TRACE_TABLE_LOCKS);

        if (key->kind <= n_locks)
                return key->kind == s->lock;
        return s->lock == 0 && s->w->place_ids[key->kind - n_locks - 1] == s->place;
}

static void add_done(struct step_sums *s, const struct why_meanwhile_key *key, double amount)
{
        switch ((enum why_meanwhile_doing)key->doing) {
        case WHY_MEANWHILE_HELD:
                return;
        case WHY_MEANWHILE_RAN:
                s->all_ns[WHY_DOING_RUN] += amount;
                return;
        case WHY_MEANWHILE_SAMPLE:
                s->weight += amount;
                add_inside(s, WHY_DOING_RUN, key->stack, amount);
                return;
        case WHY_MEANWHILE_WAITED:
                s->all_ns[WHY_DOING_WAIT] += amount;
                if (key->by != 0)
                        s->ended_ns[key->by - 1] += amount;
                add_inside(s, WHY_DOING_WAIT, key->stack, amount);
                return;
        case WHY_MEANWHILE_READY:
                s->all_ns[WHY_DOING_PREEMPTED] += amount;
                return;
        case WHY_MEANWHILE_DEVICE:
        case WHY_MEANWHILE_EARLIER:
        case WHY_MEANWHILE_LAUNCH:
                why_device_sums_add(&s->devices[key->level != 0], key, amount);
                return;
        }
}

/*
 * Whether a row is of the thread @thread at @level.  A row of a device is, if the thread only ended the
 * instance's wait, or if it waited for the device.
 */
static bool row_is_at(const struct why_meanwhile_key *key, const struct why_followed *waits, uint32_t level,
                      uint32_t thread)
{
        if (key->thread != thread)
                return false;
        if (!why_device_sums_take(key))
                return key->level == level;
        if (key->level == 0)
                return level == 0 && !key->is_typical && (thread != 0 || key->by == waits->name);
        return key->level == level + 1;
}

/*
 * In most of the time.  A thread without a CPU is still busy with its last activity: that is named only if
 * nothing else is known.  A thread that ran without a sample did something that is not known.
 */
static enum why_doing judge_doing(const struct step_sums *s)
{
        if (s->all_ns[WHY_DOING_RUN] > s->all_ns[WHY_DOING_WAIT] && s->weight > 0)
                return WHY_DOING_RUN;
        if (s->all_ns[WHY_DOING_WAIT] > s->all_ns[WHY_DOING_RUN])
                return WHY_DOING_WAIT;
        return s->all_ns[WHY_DOING_PREEMPTED] > s->all_ns[WHY_DOING_RUN] ? WHY_DOING_PREEMPTED
                                                                         : WHY_DOING_UNKNOWN;
}

/* The innermost function that contains over half of the time of the commonest kind. */
static struct why_step judge_step(const struct step_sums *s, uint32_t thread)
{
        struct why_step step = { .thread = thread, .doing = judge_doing(s) };
        double known_ns = s->all_ns[WHY_DOING_RUN] + s->all_ns[WHY_DOING_WAIT] +
                          s->all_ns[WHY_DOING_PREEMPTED];
        double all = step.doing == WHY_DOING_RUN ? s->weight : s->all_ns[step.doing];
        double best = 0, next = 0;

        if (step.doing != WHY_DOING_UNKNOWN)
                step.preempted = s->all_ns[WHY_DOING_PREEMPTED] / known_ns;
        for (uint32_t label = 1; label <= s->w->places.functions.frames.n_labels; label++) {
                const struct step_label *sums = &s->labels[label];
                double depth;

                if (sums->amount[step.doing] <= all / 2)
                        continue;
                depth = sums->depth[step.doing] / sums->amount[step.doing];
                if (depth > best) {
                        step.caller = step.label;
                        next = best;
                        best = depth;
                        step.label = label;
                        step.ns = (uint64_t)(sums->amount[step.doing] / all * s->all_ns[step.doing]);
                } else if (depth > next) {
                        next = depth;
                        step.caller = label;
                }
        }
        return step;
}

static uint32_t find_next_thread(const struct step_sums *s)
{
        uint32_t n = trace_dictionary_count(s->w->dictionary, TRACE_TABLE_THREADS), best = 0;

        for (uint32_t thread = 1; thread <= n; thread++)
                if (s->ended_ns[thread - 1] > s->all_ns[WHY_DOING_WAIT] / 2 &&
                    (best == 0 || s->ended_ns[thread - 1] > s->ended_ns[best - 1]))
                        best = thread;
        return best;
}

/* Adds the step of @thread, and that of a device for which it waited.  Returns the next thread; 0 = none. */
static uint32_t add_steps(const struct step_sums *s, const struct why_followed *waits, uint32_t thread,
                          struct why_steps *ret)
{
        struct why_step step;

        if (ret->n == 0)
                ret->path_ns = s->all_ns[WHY_DOING_RUN] + s->all_ns[WHY_DOING_WAIT] + s->devices[0].all_ns;
        if (ret->n == 0 && why_device_sums_judge(&s->devices[0], waits->ns, &ret->steps[0])) {
                ret->n = 1;
                return 0;
        }
        if (thread == 0)
                return 0;
        ret->steps[ret->n++] = judge_step(s, thread);
        if (ret->steps[ret->n - 1].doing != WHY_DOING_WAIT)
                return 0;
        if (ret->n < WHY_STEPS_MAX &&
            why_device_sums_judge(&s->devices[1], s->all_ns[WHY_DOING_WAIT], &step)) {
                ret->steps[ret->n++] = step;
                return 0;
        }
        return find_next_thread(s);
}

int why_meanwhile_follow(struct why *w, const struct why_followed *waits, struct why_steps *ret)
{
        const struct why_meanwhile *m = &w->meanwhile;
        uint32_t thread = waits->thread;

        *ret = (struct why_steps){ .n = 0 };
        do {
                struct step_sums sums;
                int r = step_sums_init(&sums, w, waits->lock, waits->place);

                for (uint32_t i = 1; i <= m->keys.n_items && r == 0; i++) {
                        const struct why_meanwhile_key *key = intern_get(&m->keys, i, NULL);

                        if (row_is_at(key, waits, ret->n, thread) && row_is_of(&sums, key))
                                add_done(&sums, key, (double)m->amounts[i - 1]);
                }
                if (r == 0)
                        thread = add_steps(&sums, waits, thread, ret);
                step_sums_deinit(&sums);
                if (r < 0)
                        return r;
        } while (thread != 0 && ret->n < WHY_STEPS_MAX);
        return 0;
}
