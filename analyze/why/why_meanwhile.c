/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_explain.h"

#include "analyze/why/why.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

#define DOING_COUNT (WHY_DOING_PREEMPTED + 1)

struct step_label {
        double ns[DOING_COUNT]; /* time of RUN and WAIT in the function and its callees */
        double depth;           /* sum of time times functions around it */
};

struct step_sums {
        struct why *w;
        uint32_t lock, place;
        struct step_label *labels; /* heap; by label */
        double *ended_ns;          /* heap; by thread - 1: of its waits */
        double all_ns[DOING_COUNT];
};

static void step_sums_deinit(struct step_sums *s)
{
        free(s->labels);
        free(s->ended_ns);
}

static int step_sums_init(struct step_sums *s, struct why *w, uint32_t lock, uint32_t place)
{
        size_t n_threads = trace_dictionary_count(w->dictionary, TRACE_TABLE_THREADS);

        *s = (struct step_sums){ .w = w, .lock = lock, .place = place };
        s->labels = calloc((size_t)w->places.functions.frames.n_labels + 1, sizeof(*s->labels));
        s->ended_ns = calloc(n_threads + 1, sizeof(*s->ended_ns));
        return s->labels && s->ended_ns ? 0 : -ENOMEM;
}

/* Adds time to every function of the program in the call stack, once. */
static void add_inside(struct step_sums *s, enum why_doing doing, uint32_t stack, double ns)
{
        struct why_profile *profile = &s->w->profile;

        for (struct why_visit v = why_profile_visit(profile, stack); why_profile_next(profile, &v);) {
                if (!wait_places_is_own(&s->w->places, v.label) ||
                    python_stacks_hides(s->w->places.folds, v.stack) ||
                    trace_dictionary_is_kernel_frame(s->w->dictionary, v.frame))
                        continue;
                s->labels[v.label].ns[doing] += ns;
                s->labels[v.label].depth += ns * (v.depth + 1.0 / (1 + v.n_taken));
        }
}

static bool row_is_of(const struct step_sums *s, const struct meanwhile_key *key)
{
        uint32_t n_locks = trace_dictionary_count(s->w->dictionary, TRACE_TABLE_LOCKS);

        if (key->kind <= n_locks)
                return key->kind == s->lock;
        return s->lock == 0 && s->w->place_ids[key->kind - n_locks - 1] == s->place;
}

static void add_done(struct step_sums *s, const struct meanwhile_key *key, double amount)
{
        enum why_doing doing = WHY_DOING_PREEMPTED;
        double ns = amount;

        if (key->doing == MEANWHILE_HELD)
                return;
        if (key->doing == MEANWHILE_SAMPLE) {
                doing = WHY_DOING_RUN;
                ns *= s->w->ns_per_weight;
        } else if (key->doing == MEANWHILE_WAITED) {
                doing = WHY_DOING_WAIT;
                if (key->by != 0)
                        s->ended_ns[key->by - 1] += ns;
        }
        s->all_ns[doing] += ns;
        if (doing != WHY_DOING_PREEMPTED)
                add_inside(s, doing, key->stack, ns);
}

/* The innermost function that contains over half of the time of the commonest kind. */
static struct why_step judge_step(const struct step_sums *s, uint32_t thread)
{
        struct why_step step = { .thread = thread };
        double best = 0, next = 0;

        /*
         * A preempted thread is still busy with its last activity: preemption is named only if that is
         * unknown.
         */
        for (int doing = WHY_DOING_RUN; doing < WHY_DOING_PREEMPTED; doing++)
                if (s->all_ns[doing] > s->all_ns[step.doing])
                        step.doing = (enum why_doing)doing;
        if (step.doing == WHY_DOING_UNKNOWN && s->all_ns[WHY_DOING_PREEMPTED] > 0)
                step.doing = WHY_DOING_PREEMPTED;
        if (step.doing != WHY_DOING_UNKNOWN)
                step.preempted = s->all_ns[WHY_DOING_PREEMPTED] /
                                 (s->all_ns[WHY_DOING_RUN] + s->all_ns[WHY_DOING_WAIT] +
                                  s->all_ns[WHY_DOING_PREEMPTED]);
        for (uint32_t label = 1; label <= s->w->places.functions.frames.n_labels; label++) {
                const struct step_label *sums = &s->labels[label];
                double depth;

                if (sums->ns[step.doing] <= s->all_ns[step.doing] / 2)
                        continue;
                depth = sums->depth / (sums->ns[WHY_DOING_RUN] + sums->ns[WHY_DOING_WAIT]);
                if (depth > best) {
                        step.caller = step.label;
                        next = best;
                        best = depth;
                        step.label = label;
                        step.ns = (uint64_t)sums->ns[step.doing];
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

int why_meanwhile_follow(struct why *w, uint32_t lock, uint32_t place, uint32_t thread, struct why_steps *ret)
{
        const struct meanwhile *m = &w->meanwhile;

        *ret = (struct why_steps){ .n = 0 };
        while (thread != 0 && ret->n < MEANWHILE_LEVELS) {
                struct step_sums sums;
                int r = step_sums_init(&sums, w, lock, place);

                for (uint32_t i = 1; i <= m->keys.n_items && r == 0; i++) {
                        const struct meanwhile_key *key = intern_get(&m->keys, i, NULL);

                        if (key->level == ret->n && key->thread == thread && row_is_of(&sums, key))
                                add_done(&sums, key, (double)m->sums[i - 1].amount);
                }
                if (r == 0) {
                        ret->steps[ret->n++] = judge_step(&sums, thread);
                        thread = ret->steps[ret->n - 1].doing == WHY_DOING_WAIT ? find_next_thread(&sums) : 0;
                }
                step_sums_deinit(&sums);
                if (r < 0)
                        return r;
        }
        return 0;
}
