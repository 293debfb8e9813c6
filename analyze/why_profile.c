/* SPDX-License-Identifier: MIT */
#include "analyze/why_profile.h"

#include "analyze/function_table.h"
#include "analyze/report_string.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function that is further behind the best one is another matter; of equals the outermost is where ways part. */
#define WHY_NEARLY_BEST 0.9
/* Functions with a smaller share of the samples that are left are no causes. */
#define WHY_FUNCTION_SHARE_MIN 0.1
/* One whose share of the samples grows by less is no way that parts: what all instances run, slow ones run longer. */
#define WHY_FUNCTION_GAIN_MIN  0.1
#define WHY_FUNCTION_P_MAX     0.05 /* corrected for the functions of the round */
#define WHY_FUNCTION_TIMES_MIN 10   /* samples in slow instances */

void why_profile_deinit(struct why_profile *p)
{
        free(p->stacks);
        free(p->seen);
        free(p->depths);
        *p = (struct why_profile){ .stacks = NULL };
}

/* ------------------------------------------------------------------ interrupts and page faults */

static bool begins_with_any(struct report_string name, const char *const *prefixes)
{
        for (; *prefixes; prefixes++)
                if (name.n_bytes >= strlen(*prefixes) &&
                    memcmp(name.bytes, *prefixes, strlen(*prefixes)) == 0)
                        return true;
        return false;
}

/* By the kernel's names for its entries, of x86, Arm and RISC-V. */
static uint8_t classify_name(struct report_string name)
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

        if (begins_with_any(name, interrupts))
                return WHY_STACK_INTERRUPT;
        return begins_with_any(name, faults) ? WHY_STACK_FAULT : WHY_STACK_SAME;
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
                                       ? classify_name(report_string_of(p->dictionary, f->name))
                                       : WHY_STACK_SAME;

                if (kind != WHY_STACK_SAME)
                        return kind;
        }
        return WHY_STACK_SAME;
}

/* Callers have smaller ids.  What interrupts a fault is an interrupt. */
static void classify(struct why_profile *p)
{
        for (uint32_t i = 1; i <= p->n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, i);
                uint8_t own = classify_frame(p, row->frame);

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
        p->seen = calloc((size_t)functions->frames.n_labels + 1, sizeof(*p->seen));
        p->depths = calloc((size_t)functions->frames.n_labels + 1, sizeof(*p->depths));
        if (!p->stacks || !p->seen || !p->depths)
                return -ENOMEM;
        classify(p);
        return 0;
}

/* ------------------------------------------------------------------ functions */

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

/* Each function of a callstack once, however often it is in it. */
static void add_stack(struct why_profile *p, struct why_tally *t, const struct why_row *row,
                      enum why_group group)
{
        const struct label_groups *frames = &p->functions->frames;
        uint32_t depth = measure_depth(p, row->id);
        double amount = (double)row->amount;

        p->n_visits++;
        for (uint32_t stack = row->id; stack != 0 && depth > 0; depth--) {
                const struct trace_stack *at = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, stack);

                for (uint32_t i = frames->first[at->frame]; i < frames->first[at->frame + 1]; i++) {
                        uint32_t label = frames->labels[i];

                        if (p->seen[label] == p->n_visits)
                                continue;
                        p->seen[label] = p->n_visits;
                        why_tally_add(t, group, label, amount, row->n);
                        if (group == WHY_SLOW)
                                p->depths[label] += amount * depth;
                }
                stack = at->parent;
        }
}

/* What callstacks that belong to nothing yet are in. */
static void measure(struct why_profile *p, struct why_tally *t)
{
        const struct why_instances *s = p->instances;

        memset(p->depths, 0, ((size_t)t->n) * sizeof(*p->depths));
        for (size_t i = 0; i < s->n_items; i++) {
                const struct why_instance *instance = &s->items[i];
                enum why_group group = instance->is_slow ? WHY_SLOW : WHY_TYPICAL;
                double base = 0;

                for (size_t k = 0; k < instance->n_rows; k++) {
                        const struct why_row *row = &s->rows[instance->first_row + k];

                        if (row->kind != WHY_SAMPLE || p->stacks[row->id] != WHY_STACK_SAME)
                                continue;
                        base += (double)row->amount;
                        add_stack(p, t, row, group);
                }
                why_tally_close(t, group, base, (double)instance->duration_ns, (double)instance->duration_ns);
        }
        why_tally_finish(t);
}

struct candidate {
        uint32_t label;
        double gain, depth, p;
};

static bool consider(const struct why_profile *p, const struct why_tally *t, uint32_t label,
                     uint64_t n_candidates, struct candidate *ret)
{
        const struct why_measure *m = &t->measures[label];
        const struct why_ratio *slow = &m->ratio[WHY_SLOW];

        ret->label = label;
        ret->gain = why_ratio_value(slow) - why_ratio_value(&m->ratio[WHY_TYPICAL]);
        ret->depth = p->depths[label] / slow->x;
        ret->p = why_ratio_compare(slow, &m->ratio[WHY_TYPICAL], p->unit);
        return m->n_times[WHY_SLOW] >= WHY_FUNCTION_TIMES_MIN &&
               why_ratio_value(slow) >= WHY_FUNCTION_SHARE_MIN && ret->gain >= WHY_FUNCTION_GAIN_MIN &&
               ret->p * (double)n_candidates < WHY_FUNCTION_P_MAX;
}

/* Marks and other things that are no functions name nothing. */
static bool is_nameable(const struct why_profile *p, uint32_t label)
{
        uint32_t kind = function_table_get(p->functions, label)->kind;

        return kind == FUNCTION_NAMED || kind == FUNCTION_UNNAMED;
}

static bool is_candidate(const struct why_profile *p, const struct why_tally *t, uint32_t label)
{
        return t->measures[label].ratio[WHY_SLOW].x > 0 && is_nameable(p, label);
}

static struct candidate choose(struct why_profile *p, const struct why_tally *t)
{
        struct candidate best = { .label = 0 }, chosen = { .label = 0 }, c;
        uint64_t n = 0;

        for (uint32_t label = 1; label < t->n; label++)
                n += is_candidate(p, t, label);
        p->n_tested += n;
        for (uint32_t label = 1; label < t->n; label++)
                if (is_candidate(p, t, label) && consider(p, t, label, n, &c) && c.gain > best.gain)
                        best = c;
        for (uint32_t label = 1; label < t->n && best.label != 0; label++)
                if (is_candidate(p, t, label) && consider(p, t, label, n, &c) &&
                    c.gain >= WHY_NEARLY_BEST * best.gain && (chosen.label == 0 || c.depth < chosen.depth))
                        chosen = c;
        return chosen;
}

/* The callstacks with this function, that belong to nothing else. */
static int take_stacks(struct why_profile *p, uint32_t label, uint8_t kind)
{
        const struct label_groups *frames = &p->functions->frames;
        bool *has = calloc((size_t)p->n_stacks + 1, sizeof(*has));

        if (!has)
                return -ENOMEM;
        for (uint32_t i = 1; i <= p->n_stacks; i++) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, i);

                has[i] = has[row->parent];
                for (uint32_t k = frames->first[row->frame]; k < frames->first[row->frame + 1]; k++)
                        has[i] = has[i] || frames->labels[k] == label;
                if (has[i] && p->stacks[i] == WHY_STACK_SAME)
                        p->stacks[i] = kind;
        }
        free(has);
        return 0;
}

int why_profile_find(struct why_profile *p)
{
        int r = 0;

        while (r == 0 && p->n_labels < WHY_FUNCTIONS_MAX) {
                struct why_tally tally;
                struct candidate c;

                r = why_tally_init(&tally, p->functions->frames.n_labels + 1);
                if (r < 0)
                        return r;
                measure(p, &tally);
                c = choose(p, &tally);
                why_tally_deinit(&tally);
                if (c.label == 0)
                        break;
                p->labels[p->n_labels] = c.label;
                p->p[p->n_labels] = c.p;
                r = take_stacks(p, c.label, (uint8_t)(WHY_STACK_FUNCTION + p->n_labels));
                p->n_labels++;
        }
        return r;
}

/* The innermost function of a callstack that is no code of the kernel; 0 = none with a name. */
static uint32_t find_own(const struct why_profile *p, uint32_t stack)
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
                                sums[find_own(p, row->id)] += (double)row->amount;
                }
        for (uint32_t label = 1; label <= p->functions->frames.n_labels; label++)
                if (sums[label] > sums[*ret_label] || (*ret_label == 0 && sums[label] > 0))
                        *ret_label = label;
        free(sums);
        return 0;
}
