/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_profile.h"

#include "analyze/walk/function_table.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A function that is further from the best one is another matter; of equals the outermost is where ways part.
 */
#define WHY_NEARLY_BEST 0.9
/*
 * One whose share of the samples grows by less is no way that parts: what all instances
 * run, slow ones run longer.
 */
#define WHY_FUNCTION_GAIN_MIN  0.1
#define WHY_FUNCTION_P_MAX     0.05 /* corrected for the functions of the round */
#define WHY_FUNCTION_TIMES_MIN 10   /* samples in slow instances */

void why_profile_deinit(struct why_profile *p)
{
        free(p->stacks);
        free(p->is_cut);
        free(p->seen);
        *p = (struct why_profile){ .stacks = NULL };
}

/* ------------------------------------------------------------------ interrupts and page faults */

static bool why_profile_begins_with_any(struct text_view name, const char *const *prefixes)
{
        for (; *prefixes; prefixes++)
                if (name.n_bytes >= strlen(*prefixes) &&
                    memcmp(name.bytes, *prefixes, strlen(*prefixes)) == 0)
                        return true;
        return false;
}

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

        if (why_profile_begins_with_any(name, interrupts))
                return WHY_STACK_INTERRUPT;
        return why_profile_begins_with_any(name, faults) ? WHY_STACK_FAULT : WHY_STACK_SAME;
}

static bool is_kernel(const struct trace_dictionary *d, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
        const struct trace_module *module;

        if (row->module == 0)
                return false;
        module = trace_dictionary_row(d, TRACE_TABLE_MODULES, row->module);
        return module->kind == TRACE_MODULE_KERNEL;
}

static uint8_t classify_frame(const struct why_profile *p, uint32_t frame)
{
        const struct label_groups *frames = &p->functions->frames;

        if (!is_kernel(p->dictionary, frame))
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
static bool why_profile_is_mark(const struct why_profile *p, uint32_t frame)
{
        const struct label_groups *frames = &p->functions->frames;

        return function_table_get(p->functions, frames->labels[frames->first[frame]])->kind == FUNCTION_MARK;
}

/* Callers have smaller ids.  An interrupt of a fault is an interrupt. */
static void why_profile_classify(struct why_profile *p)
{
        p->is_cut[0] = true;
        for (uint32_t i = 1; i <= p->n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, i);
                uint8_t own = classify_frame(p, row->frame);

                p->is_cut[i] = row->parent != 0 ? p->is_cut[row->parent] : why_profile_is_mark(p, row->frame);
                p->stacks[i] = p->stacks[row->parent];
                if (own == WHY_STACK_INTERRUPT || p->stacks[i] == WHY_STACK_SAME)
                        p->stacks[i] = own;
        }
}

int why_profile_init(struct why_profile *p, const struct trace_dictionary *dictionary,
                     const struct function_table *functions, const struct why_instances *instances)
{
        *p = (struct why_profile){ .dictionary = dictionary, .functions = functions, .instances = instances };
        p->n_stacks = trace_dictionary_count(dictionary, TRACE_TABLE_STACKS);
        p->stacks = calloc((size_t)p->n_stacks + 1, sizeof(*p->stacks));
        p->is_cut = calloc((size_t)p->n_stacks + 1, sizeof(*p->is_cut));
        p->seen = calloc((size_t)functions->frames.n_labels + 1, sizeof(*p->seen));
        if (!p->stacks || !p->is_cut || !p->seen)
                return -ENOMEM;
        why_profile_classify(p);
        return 0;
}

/* ------------------------------------------------------------------ functions */

/* The group of call stacks that belong to no cause yet. */
struct part {
        struct why_tally tally;
        double *depths; /* heap; by label, weighted: how far from the root in slow instances */
};

/* All of them, and only those whose callers are known. */
struct round {
        struct part all, whole;
};

static int why_profile_part_init(struct part *p, uint32_t n_labels)
{
        p->depths = calloc((size_t)n_labels + 1, sizeof(*p->depths));
        return p->depths ? why_tally_init(&p->tally, n_labels + 1) : -ENOMEM;
}

static void why_profile_part_deinit(struct part *p)
{
        why_tally_deinit(&p->tally);
        free(p->depths);
}

static int why_profile_round_init(struct round *r, uint32_t n_labels)
{
        *r = (struct round){ .all = { .depths = NULL } };
        if (why_profile_part_init(&r->all, n_labels) < 0)
                return -ENOMEM;
        return why_profile_part_init(&r->whole, n_labels);
}

static void why_profile_round_deinit(struct round *r)
{
        why_profile_part_deinit(&r->all);
        why_profile_part_deinit(&r->whole);
}

static void why_profile_part_add(struct part *p, enum why_group group, uint32_t label,
                                 const struct why_row *row, uint32_t depth)
{
        why_tally_add(&p->tally, group, label, (double)row->amount, row->n);
        if (group == WHY_SLOW)
                p->depths[label] += (double)row->amount * depth;
}

static uint32_t measure_depth(const struct why_profile *p, uint32_t stack)
{
        uint32_t depth = 0;

        for (; stack != 0 && depth < WHY_FRAMES_MAX; depth++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                stack = row->parent;
        }
        return depth;
}

/* Each function of a call stack once, however often it is in it. */
static void why_profile_add_stack(struct why_profile *p, struct round *r, const struct why_row *row,
                                  enum why_group group)
{
        const struct label_groups *frames = &p->functions->frames;
        uint32_t depth = measure_depth(p, row->id);

        p->n_visits++;
        for (uint32_t stack = row->id; stack != 0 && depth > 0; depth--) {
                const struct trace_stack *at = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, stack);

                for (uint32_t i = frames->first[at->frame]; i < frames->first[at->frame + 1]; i++) {
                        uint32_t label = frames->labels[i];

                        if (p->seen[label] == p->n_visits)
                                continue;
                        p->seen[label] = p->n_visits;
                        why_profile_part_add(&r->all, group, label, row, depth);
                        if (!p->is_cut[row->id])
                                why_profile_part_add(&r->whole, group, label, row, depth);
                }
                stack = at->parent;
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
                        why_profile_add_stack(p, r, row, group);
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
        double whole_gain, whole_depth; /* where callers are known; 0 if that is in too few samples */
};

static double why_profile_gain_of(const struct part *p, uint32_t label)
{
        const struct why_measure *m = &p->tally.measures[label];

        return why_ratio_value(&m->ratio[WHY_SLOW]) - why_ratio_value(&m->ratio[WHY_TYPICAL]);
}

static double why_profile_depth_of(const struct part *p, uint32_t label)
{
        return p->depths[label] / p->tally.measures[label].ratio[WHY_SLOW].x;
}

static bool consider(const struct why_profile *p, const struct round *r, uint32_t label,
                     uint64_t n_candidates, struct candidate *ret)
{
        const struct why_measure *m = &r->all.tally.measures[label];
        const struct why_ratio *slow = &m->ratio[WHY_SLOW];

        *ret = (struct candidate){ .label = label,
                                   .gain = why_profile_gain_of(&r->all, label),
                                   .depth = why_profile_depth_of(&r->all, label),
                                   .p = why_ratio_compare(slow, &m->ratio[WHY_TYPICAL], p->unit) };
        if (r->whole.tally.measures[label].n_times[WHY_SLOW] >= WHY_FUNCTION_TIMES_MIN) {
                ret->whole_gain = why_profile_gain_of(&r->whole, label);
                ret->whole_depth = why_profile_depth_of(&r->whole, label);
                /* A caller is in fewer samples of the group with more call stacks that are cut. */
                if (ret->whole_gain < WHY_FUNCTION_GAIN_MIN)
                        return false;
        }
        return m->n_times[WHY_SLOW] >= WHY_FUNCTION_TIMES_MIN && ret->gain >= WHY_FUNCTION_GAIN_MIN &&
               ret->p * (double)n_candidates < WHY_FUNCTION_P_MAX;
}

/* A caller misses samples whose callers are not known, and so is compared without these as well. */
static bool why_profile_is_nearly(const struct candidate *c, const struct candidate *best)
{
        return c->gain >= WHY_NEARLY_BEST * best->gain ||
               (best->whole_gain > 0 && c->whole_gain >= WHY_NEARLY_BEST * best->whole_gain);
}

static bool why_profile_is_outer(const struct candidate *a, const struct candidate *b)
{
        if (a->whole_depth > 0 && b->whole_depth > 0)
                return a->whole_depth < b->whole_depth;
        return a->depth < b->depth;
}

/* Marks and other things that are no functions name nothing. */
static bool is_nameable(const struct why_profile *p, uint32_t label)
{
        uint32_t kind = function_table_get(p->functions, label)->kind;

        return kind == FUNCTION_NAMED || kind == FUNCTION_UNNAMED;
}

static bool why_profile_is_candidate(const struct why_profile *p, const struct round *r, uint32_t label)
{
        return r->all.tally.measures[label].ratio[WHY_SLOW].x > 0 && is_nameable(p, label);
}

/*
 * @ret_best: the function whose share is larger by the most; returns the outermost of those
 * that are nearly as good.
 */
static struct candidate why_profile_choose(struct why_profile *p, const struct round *r, uint32_t *ret_best)
{
        struct candidate best = { .label = 0 }, chosen, c;
        uint64_t n = 0;

        for (uint32_t label = 1; label < r->all.tally.n; label++)
                n += why_profile_is_candidate(p, r, label);
        p->n_tested += n;
        for (uint32_t label = 1; label < r->all.tally.n; label++)
                if (why_profile_is_candidate(p, r, label) && consider(p, r, label, n, &c) &&
                    c.gain > best.gain)
                        best = c;
        chosen = best;
        for (uint32_t label = 1; label < r->all.tally.n && best.label != 0; label++)
                if (why_profile_is_candidate(p, r, label) && consider(p, r, label, n, &c) &&
                    why_profile_is_nearly(&c, &best) && why_profile_is_outer(&c, &chosen))
                        chosen = c;
        *ret_best = best.label;
        return chosen;
}

static bool why_profile_has_label(const struct why_profile *p, uint32_t frame, uint32_t label)
{
        const struct label_groups *frames = &p->functions->frames;

        for (uint32_t k = frames->first[frame]; k < frames->first[frame + 1]; k++)
                if (frames->labels[k] == label)
                        return true;
        return false;
}

/* By call stack: whether it has the function. */
static bool *why_profile_find_stacks(const struct why_profile *p, uint32_t label)
{
        bool *has = calloc((size_t)p->n_stacks + 1, sizeof(*has));

        for (uint32_t i = 1; has && i <= p->n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, i);

                has[i] = has[row->parent] || why_profile_has_label(p, row->frame, label);
        }
        return has;
}

/* Whether slow instances run the one function in the other, where callers are known. */
static bool why_profile_is_within(const struct why_profile *p, const bool *has_inner, const bool *has_outer)
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
 * The call stacks with this function that belong to nothing else; and those whose callers are not known with
 * @inner, which it calls.
 */
static int take_stacks(struct why_profile *p, uint32_t label, uint32_t inner, uint8_t kind)
{
        bool *has = why_profile_find_stacks(p, label), *has_inner = why_profile_find_stacks(p, inner);
        bool takes_inner = has && has_inner && why_profile_is_within(p, has_inner, has);
        int r = has && has_inner ? 0 : -ENOMEM;

        for (uint32_t i = 1; i <= p->n_stacks && r == 0; i++)
                if (p->stacks[i] == WHY_STACK_SAME &&
                    (has[i] || (takes_inner && p->is_cut[i] && has_inner[i])))
                        p->stacks[i] = kind;
        free(has);
        free(has_inner);
        return r;
}

int why_profile_find(struct why_profile *p)
{
        int r = 0;

        while (r == 0 && p->n_labels < WHY_FUNCTIONS_MAX) {
                struct candidate c = { .label = 0 };
                struct round round;
                uint32_t best = 0;

                r = why_profile_round_init(&round, p->functions->frames.n_labels);
                if (r == 0) {
                        measure(p, &round);
                        c = why_profile_choose(p, &round, &best);
                }
                why_profile_round_deinit(&round);
                if (c.label == 0)
                        break;
                p->labels[p->n_labels] = c.label;
                p->p[p->n_labels] = c.p;
                r = take_stacks(p, c.label, best, (uint8_t)(WHY_STACK_FUNCTION + p->n_labels));
                p->n_labels++;
        }
        return r;
}

/* The innermost function of a call stack that is no code of the kernel; 0 = none with a name. */
static uint32_t why_profile_find_own(const struct why_profile *p, uint32_t stack)
{
        const struct label_groups *frames = &p->functions->frames;

        for (uint32_t i = 0; stack != 0 && i < WHY_FRAMES_MAX; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                if (!is_kernel(p->dictionary, row->frame)) {
                        uint32_t label = frames->labels[frames->first[row->frame]];

                        return is_nameable(p, label) ? label : 0;
                }
                stack = row->parent;
        }
        return 0;
}

int why_profile_place(struct why_profile *p, uint8_t kind, uint32_t *ret_label)
{
        const struct why_instances *s = p->instances;
        double *sums = calloc((size_t)p->functions->frames.n_labels + 1, sizeof(*sums));

        *ret_label = 0;
        if (!sums)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_items; i++)
                for (size_t k = 0; s->items[i].is_slow && k < s->items[i].n_rows; k++) {
                        const struct why_row *row = &s->rows[s->items[i].first_row + k];

                        if (row->kind == WHY_SAMPLE && p->stacks[row->id] == kind)
                                sums[why_profile_find_own(p, row->id)] += (double)row->amount;
                }
        for (uint32_t label = 1; label <= p->functions->frames.n_labels; label++)
                if (sums[label] > sums[*ret_label] || (*ret_label == 0 && sums[label] > 0))
                        *ret_label = label;
        free(sums);
        return 0;
}
