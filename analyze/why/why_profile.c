/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_profile.h"

#include "analyze/samples/function_table.h"
#include "analyze/samples/python_stacks.h"
#include "analyze/stats/wait_places.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Functions with nearly the largest gain count as equal; slow instances take another path at the outermost
 * of them.
 */
#define WHY_NEARLY_BEST 0.9
/* Functions with this part of the gain share the same time, which is spent in the innermost of them. */
#define WHY_EQUAL 0.95
/*
 * The least growth of a function's share of the samples: below it, slow instances only run longer in what
 * all instances run.
 */
#define WHY_FUNCTION_GAIN_MIN  0.1
#define WHY_FUNCTION_P_MAX     0.05 /* corrected for the functions of the round */
#define WHY_FUNCTION_TIMES_MIN 10   /* samples in slow instances */

void why_profile_deinit(struct why_profile *p)
{
        free(p->stacks);
        free(p->is_cut);
        free(p->is_foreign);
        free(p->seen);
        *p = (struct why_profile){ .stacks = NULL };
}

/* ------------------------------------------------------------------ interrupts and page faults */

/* By the kernel's names for its entries, of x86, Arm and RISC-V. */
static uint8_t classify_name(struct text_view name)
{
        static const char *const interrupts[] = { "asm_sysvec_",
                                                  "asm_common_interrupt",
                                                  "handle_softirqs",
                                                  "__do_softirq",
                                                  "irq_exit_rcu",
                                                  "el0_interrupt",
                                                  "el1_interrupt",
                                                  "el0t_64_irq",
                                                  "el1h_64_irq",
                                                  "handle_riscv_irq",
                                                  NULL };
        static const char *const faults[] = { "asm_exc_page_fault",   "exc_page_fault", "do_user_addr_fault",
                                              "handle_mm_fault",      "clear_page",     "do_page_fault",
                                              "do_translation_fault", "do_mem_abort",   NULL };

        if (text_view_begins_with_any(name, interrupts))
                return WHY_STACK_INTERRUPT;
        return text_view_begins_with_any(name, faults) ? WHY_STACK_FAULT : WHY_STACK_SAME;
}

static uint8_t classify_frame(const struct why_profile *p, uint32_t frame)
{
        const struct label_groups *frames = &p->functions->frames;

        if (!trace_dictionary_is_kernel_frame(p->dictionary, frame))
                return WHY_STACK_SAME;
        for (uint32_t i = frames->first[frame]; i < frames->first[frame + 1]; i++) {
                const struct function *f = function_table_get(p->functions, frames->labels[i]);
                uint8_t kind = f->kind == FUNCTION_NAMED
                                       ? classify_name(trace_dictionary_text(p->dictionary, f->name))
                                       : WHY_STACK_SAME;

                if (kind != WHY_STACK_SAME)
                        return kind;
        }
        return WHY_STACK_SAME;
}

/* Marks, as "[truncated]", stand for callers that are not known. */
static bool is_mark(const struct why_profile *p, uint32_t frame)
{
        const struct label_groups *frames = &p->functions->frames;

        return function_table_get(p->functions, frames->labels[frames->first[frame]])->kind == FUNCTION_MARK;
}

/* Callers have smaller ids.  An interrupt during a fault is an interrupt. */
static void classify(struct why_profile *p)
{
        p->is_cut[0] = true;
        for (uint32_t i = 1; i <= p->n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, i);
                uint8_t own = classify_frame(p, row->frame);

                p->is_cut[i] = row->parent != 0 ? p->is_cut[row->parent] : is_mark(p, row->frame);
                p->stacks[i] = p->stacks[row->parent];
                if (own == WHY_STACK_INTERRUPT || p->stacks[i] == WHY_STACK_SAME)
                        p->stacks[i] = own;
        }
}

static void find_foreign(struct why_profile *p)
{
        const struct label_groups *frames = &p->functions->frames;
        uint32_t n_frames = trace_dictionary_count(p->dictionary, TRACE_TABLE_FRAMES);

        for (uint32_t frame = 1; frame <= n_frames; frame++)
                for (uint32_t i = frames->first[frame]; i < frames->first[frame + 1]; i++) {
                        uint32_t label = frames->labels[i];
                        const struct function *f = function_table_get(p->functions, label);

                        p->is_foreign[label] = trace_dictionary_is_kernel_frame(p->dictionary, frame) ||
                                               wait_places_is_c_library(
                                                       trace_dictionary_text(p->dictionary, f->module));
                }
}

int why_profile_init(struct why_profile *p, const struct trace_dictionary *dictionary,
                     const struct function_table *functions, const struct why_instances *instances)
{
        *p = (struct why_profile){ .dictionary = dictionary, .functions = functions, .instances = instances };
        p->n_stacks = trace_dictionary_count(dictionary, TRACE_TABLE_STACKS);
        p->stacks = calloc((size_t)p->n_stacks + 1, sizeof(*p->stacks));
        p->is_cut = calloc((size_t)p->n_stacks + 1, sizeof(*p->is_cut));
        p->is_foreign = calloc((size_t)functions->frames.n_labels + 1, sizeof(*p->is_foreign));
        p->seen = calloc((size_t)functions->frames.n_labels + 1, sizeof(*p->seen));
        if (!p->stacks || !p->is_cut || !p->is_foreign || !p->seen)
                return -ENOMEM;
        find_foreign(p);
        classify(p);
        return 0;
}

/* ------------------------------------------------------------------ functions */

/* The group of call stacks that belong to no cause yet. */
struct part {
        struct why_tally tally;
        double *depths; /* heap; by label, weighted: how far from the root in slow instances */
};

/* All call stacks of the group, and only those whose callers are known. */
struct round {
        struct part all, whole;
};

static int part_init(struct part *p, uint32_t n_labels)
{
        p->depths = calloc((size_t)n_labels + 1, sizeof(*p->depths));
        return p->depths ? why_tally_init(&p->tally, n_labels + 1) : -ENOMEM;
}

static void part_deinit(struct part *p)
{
        why_tally_deinit(&p->tally);
        free(p->depths);
}

static int round_init(struct round *r, uint32_t n_labels)
{
        *r = (struct round){ .all = { .depths = NULL } };
        if (part_init(&r->all, n_labels) < 0)
                return -ENOMEM;
        return part_init(&r->whole, n_labels);
}

static void round_deinit(struct round *r)
{
        part_deinit(&r->all);
        part_deinit(&r->whole);
}

static void part_add(struct part *p, enum why_group group, uint32_t label, const struct why_row *row,
                     uint32_t depth)
{
        why_tally_add(&p->tally, group, label, (double)row->amount, row->n);
        if (group == WHY_SLOW)
                p->depths[label] += (double)row->amount * depth;
}

struct why_visit why_profile_visit(struct why_profile *p, uint32_t stack)
{
        struct why_visit v = { .stack = stack };

        why_profile_begin_visit(p);
        for (; stack != 0 && v.depth < WHY_FRAMES_MAX; v.depth++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                stack = row->parent;
        }
        return v;
}

bool why_profile_next(struct why_profile *p, struct why_visit *v)
{
        const struct label_groups *frames = &p->functions->frames;

        for (; v->depth > 0; v->depth--) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     v->stack);
                uint32_t first = frames->first[row->frame], n = frames->first[row->frame + 1] - first;

                v->frame = row->frame;
                while (v->n_taken < n) {
                        v->label = frames->labels[first + v->n_taken++];
                        if (why_profile_is_first(p, v->label))
                                return true;
                }
                v->stack = row->parent;
                v->n_taken = 0;
        }
        return false;
}

static void add_stack(struct why_profile *p, struct round *r, const struct why_row *row, enum why_group group)
{
        for (struct why_visit v = why_profile_visit(p, row->id); why_profile_next(p, &v);) {
                part_add(&r->all, group, v.label, row, v.depth);
                if (!p->is_cut[row->id])
                        part_add(&r->whole, group, v.label, row, v.depth);
        }
}

static void measure(struct why_profile *p, struct round *r)
{
        const struct why_instances *s = p->instances;

        for (size_t i = 0; i < s->n_items; i++) {
                const struct why_instance *instance = &s->items[i];
                enum why_group group = instance->is_slow ? WHY_SLOW : WHY_TYPICAL;
                double duration = (double)instance->duration_ns, all = 0, whole = 0;

                for (size_t k = 0; k < instance->n_rows; k++) {
                        const struct why_row *row = &s->rows[instance->first_row + k];

                        if (row->kind != WHY_SAMPLE || p->stacks[row->id] != WHY_STACK_SAME)
                                continue;
                        all += (double)row->amount;
                        whole += p->is_cut[row->id] ? 0 : (double)row->amount;
                        add_stack(p, r, row, group);
                }
                why_tally_close(&r->all.tally, group, all, duration, duration);
                why_tally_close(&r->whole.tally, group, whole, duration, duration);
        }
        why_tally_finish(&r->all.tally);
        why_tally_finish(&r->whole.tally);
}

struct candidate {
        uint32_t label;
        double gain, depth, p;
        double whole_gain, whole_depth; /* the same where callers are known; 0 if too few samples have them */
};

static double gain_of(const struct part *p, uint32_t label)
{
        const struct why_measure *m = &p->tally.measures[label];

        return cluster_ratio_value(&m->ratio[WHY_SLOW]) - cluster_ratio_value(&m->ratio[WHY_TYPICAL]);
}

static double depth_of(const struct part *p, uint32_t label)
{
        return p->depths[label] / p->tally.measures[label].ratio[WHY_SLOW].x;
}

/* A label can be named if it is a function; marks and other labels cannot. */
static bool is_nameable(const struct why_profile *p, uint32_t label)
{
        uint32_t kind = function_table_get(p->functions, label)->kind;

        return kind == FUNCTION_NAMED || kind == FUNCTION_UNNAMED;
}

static bool is_candidate(const struct why_profile *p, const struct round *r, uint32_t label)
{
        return r->all.tally.measures[label].ratio[WHY_SLOW].x > 0 && is_nameable(p, label);
}

static bool consider(const struct why_profile *p, const struct round *r, uint32_t label,
                     uint64_t n_candidates, struct candidate *ret)
{
        const struct why_measure *m = &r->all.tally.measures[label];
        const struct cluster_ratio *slow = &m->ratio[WHY_SLOW];

        if (!is_candidate(p, r, label))
                return false;
        *ret = (struct candidate){ .label = label,
                                   .gain = gain_of(&r->all, label),
                                   .depth = depth_of(&r->all, label),
                                   .p = cluster_ratio_compare(slow, &m->ratio[WHY_TYPICAL], p->unit) };
        if (r->whole.tally.measures[label].n_times[WHY_SLOW] >= WHY_FUNCTION_TIMES_MIN) {
                ret->whole_gain = gain_of(&r->whole, label);
                ret->whole_depth = depth_of(&r->whole, label);
                /* If a group has more truncated call stacks, a caller is in fewer of its samples. */
                if (ret->whole_gain < WHY_FUNCTION_GAIN_MIN)
                        return false;
        }
        return m->n_times[WHY_SLOW] >= WHY_FUNCTION_TIMES_MIN && ret->gain >= WHY_FUNCTION_GAIN_MIN &&
               ret->p * (double)n_candidates < WHY_FUNCTION_P_MAX;
}

/*
 * Samples with unknown callers do not count for a caller, so candidates are also compared without such
 * samples.
 */
static bool is_nearly(const struct candidate *c, const struct candidate *best)
{
        return c->gain >= WHY_NEARLY_BEST * best->gain ||
               (best->whole_gain > 0 && c->whole_gain >= WHY_NEARLY_BEST * best->whole_gain);
}

static bool is_outer(const struct candidate *a, const struct candidate *b)
{
        if (a->whole_depth > 0 && b->whole_depth > 0)
                return a->whole_depth < b->whole_depth;
        return a->depth < b->depth;
}

/*
 * @ret_best: the function whose share grows the most; returns the outermost of the functions that are
 * nearly as good.
 */
static struct candidate choose(struct why_profile *p, const struct round *r, uint32_t *ret_best)
{
        struct candidate best = { .label = 0 }, chosen, c;
        uint64_t n = 0;

        for (uint32_t label = 1; label < r->all.tally.n; label++)
                n += is_candidate(p, r, label);
        p->n_tested += n;
        for (uint32_t label = 1; label < r->all.tally.n; label++)
                if (consider(p, r, label, n, &c) && c.gain > best.gain)
                        best = c;
        chosen = best;
        for (uint32_t label = 1; label < r->all.tally.n && best.label != 0; label++)
                if (consider(p, r, label, n, &c) && is_nearly(&c, &best) && is_outer(&c, &chosen))
                        chosen = c;
        *ret_best = best.label;
        return chosen;
}

static bool has_label(const struct why_profile *p, uint32_t frame, uint32_t label)
{
        const struct label_groups *frames = &p->functions->frames;

        for (uint32_t k = frames->first[frame]; k < frames->first[frame + 1]; k++)
                if (frames->labels[k] == label)
                        return true;
        return false;
}

/* Finds, for each call stack, whether it has the function. */
static bool *find_stacks(const struct why_profile *p, uint32_t label)
{
        bool *has = calloc((size_t)p->n_stacks + 1, sizeof(*has));

        for (uint32_t i = 1; has && i <= p->n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, i);

                has[i] = has[row->parent] || has_label(p, row->frame, label);
        }
        return has;
}

/* Whether slow instances run the inner function within the outer one, where callers are known. */
static bool is_within(const struct why_profile *p, const bool *has_inner, const bool *has_outer)
{
        const struct why_instances *s = p->instances;
        double inner = 0, both = 0;

        for (size_t i = 0; i < s->n_items; i++)
                for (size_t k = 0; s->items[i].is_slow && k < s->items[i].n_rows; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];

                        if (row->kind != WHY_SAMPLE || p->is_cut[row->id] || !has_inner[row->id])
                                continue;
                        inner += (double)row->amount;
                        both += has_outer[row->id] ? (double)row->amount : 0;
                }
        return inner > 0 && both >= WHY_NEARLY_BEST * inner;
}

/*
 * Takes the call stacks with this function that belong to nothing else; and, of those whose callers are
 * unknown, the call stacks with @inner, which the function calls.
 */
static int take_stacks(struct why_profile *p, uint32_t label, uint32_t inner, uint8_t kind)
{
        bool *has = find_stacks(p, label), *has_inner = find_stacks(p, inner);
        bool takes_inner = has && has_inner && is_within(p, has_inner, has);
        int r = has && has_inner ? 0 : -ENOMEM;

        for (uint32_t i = 1; i <= p->n_stacks && r == 0; i++)
                if (p->stacks[i] == WHY_STACK_SAME &&
                    (has[i] || (takes_inner && p->is_cut[i] && has_inner[i])))
                        p->stacks[i] = kind;
        free(has);
        free(has_inner);
        return r;
}

/* Whether a candidate is called below the outer function, and is deeper than what was found so far. */
static int is_deeper(const struct why_profile *p, const struct candidate *c, const struct candidate *deepest,
                     const bool *has_outer, bool *ret_is)
{
        bool *has = NULL;

        *ret_is = false;
        if (p->is_foreign[c->label] || !is_outer(deepest, c))
                return 0;
        has = find_stacks(p, c->label);
        if (!has)
                return -ENOMEM;
        *ret_is = is_within(p, has, has_outer);
        free(has);
        return 0;
}

/*
 * Finds the innermost function below @outer whose share grows by as much as that of the best one: for
 * example, a garbage collector that takes the time, below the allocator that calls it.
 */
static int find_deepest(const struct why_profile *p, const struct round *round, const struct candidate *outer,
                        double best_gain, struct candidate *ret)
{
        bool *has_outer = find_stacks(p, outer->label);
        int r = has_outer ? 0 : -ENOMEM;

        *ret = *outer;
        for (uint32_t label = 1; label < round->all.tally.n && r == 0; label++) {
                struct candidate c;
                bool is;

                if (!consider(p, round, label, 1, &c) || c.gain < WHY_EQUAL * best_gain)
                        continue;
                r = is_deeper(p, &c, ret, has_outer, &is);
                if (r == 0 && is)
                        *ret = c;
        }
        free(has_outer);
        return r;
}

/* Finds the next function, in @ret_outer and @ret; label 0 = no more. */
static int take_round(struct why_profile *p, struct candidate *ret_outer, struct candidate *ret,
                      uint32_t *ret_best)
{
        struct round round;
        int r = round_init(&round, p->functions->frames.n_labels);

        *ret_outer = (struct candidate){ .label = 0 };
        *ret = *ret_outer;
        if (r == 0) {
                measure(p, &round);
                *ret_outer = choose(p, &round, ret_best);
        }
        if (r == 0 && ret_outer->label != 0)
                r = find_deepest(p, &round, ret_outer, gain_of(&round.all, *ret_best), ret);
        round_deinit(&round);
        return r;
}

int why_profile_find(struct why_profile *p)
{
        int r = 0;

        while (r == 0 && p->n_labels < WHY_FUNCTIONS_MAX) {
                struct candidate outer, c;
                uint32_t best = 0;

                r = take_round(p, &outer, &c, &best);
                if (r < 0 || c.label == 0)
                        break;
                p->labels[p->n_labels] = c.label;
                p->outer[p->n_labels] = outer.label != c.label ? outer.label : 0;
                p->p[p->n_labels] = c.p;
                r = take_stacks(p, c.label, best, (uint8_t)(WHY_STACK_FUNCTION + p->n_labels));
                p->n_labels++;
        }
        return r;
}

/* The innermost function of a call stack outside of the kernel; 0 = none with a name. */
static uint32_t find_own(const struct why_profile *p, const struct python_stacks *folds, uint32_t stack)
{
        const struct label_groups *frames = &p->functions->frames;

        stack = python_stacks_shown(folds, stack);
        for (uint32_t i = 0; stack != 0 && i < WHY_FRAMES_MAX; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                if (!trace_dictionary_is_kernel_frame(p->dictionary, row->frame)) {
                        uint32_t label = frames->labels[frames->first[row->frame]];

                        return is_nameable(p, label) ? label : 0;
                }
                stack = row->parent;
        }
        return 0;
}

static bool is_python_function(const struct why_profile *p, uint32_t label)
{
        uint32_t n_frames = trace_dictionary_count(p->dictionary, TRACE_TABLE_FRAMES);

        for (uint32_t frame = 1; frame <= n_frames; frame++)
                if (python_stacks_is_python(p->dictionary, frame) && has_label(p, frame, label))
                        return true;
        return false;
}

int why_profile_place(struct why_profile *p, uint8_t kind, uint32_t *ret_label)
{
        const struct why_instances *s = p->instances;
        bool is_native = kind >= WHY_STACK_FUNCTION &&
                         !is_python_function(p, p->labels[kind - WHY_STACK_FUNCTION]);
        const struct python_stacks *folds = is_native ? NULL : p->folds;
        double *sums = calloc((size_t)p->functions->frames.n_labels + 1, sizeof(*sums));

        *ret_label = 0;
        if (!sums)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_items; i++)
                for (size_t k = 0; s->items[i].is_slow && k < s->items[i].n_rows; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];

                        if (row->kind == WHY_SAMPLE && p->stacks[row->id] == kind)
                                sums[find_own(p, folds, row->id)] += (double)row->amount;
                }
        for (uint32_t label = 1; label <= p->functions->frames.n_labels; label++)
                if (sums[label] > sums[*ret_label] || (*ret_label == 0 && sums[label] > 0))
                        *ret_label = label;
        free(sums);
        return 0;
}
