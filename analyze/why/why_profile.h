/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_profile.h - in which functions slow instances ran and typical ones did not
 *
 * Way of the data:  why_instances, function_table -> [why_profile] -> why_causes, why_tree
 *
 * Each callstack belongs to one cause: interrupts and page faults first, by the names of the kernel's
 * functions; then, one after the other, the function whose share of the rest differs most.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_PROFILE_H
#define ANALYZE_WHY_WHY_PROFILE_H

#include "analyze/why/why_instances.h"
#include "analyze/why/why_tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_table;
struct trace_dictionary;

/* Frames of one callstack that are looked at, the innermost ones. */
#define WHY_FRAMES_MAX 1024

#define WHY_FUNCTIONS_MAX 4 /* causes of this kind */

/* The cause of a callstack. */
#define WHY_STACK_SAME      0 /* nothing that slow instances have more of */
#define WHY_STACK_INTERRUPT 1
#define WHY_STACK_FAULT     2
#define WHY_STACK_FUNCTION  3 /* and the following: the functions, in the order in which they were found */
#define WHY_STACK_KINDS     (WHY_STACK_FUNCTION + WHY_FUNCTIONS_MAX)

struct why_profile {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct function_table *functions;    /* borrowed */
        const struct why_instances *instances;     /* borrowed */
        double unit;                               /* weight of one sample */
        uint8_t *stacks;   /* heap; WHY_STACK_* by stack id; [0] = without a callstack */
        bool *is_cut;      /* heap; by stack id: its callers are not known */
        uint32_t n_stacks; /* ids 1 .. this */
        uint64_t *seen;    /* heap; by label: the visit that counted it last */
        uint64_t n_visits;
        uint32_t labels[WHY_FUNCTIONS_MAX]; /* the functions that were found */
        double p[WHY_FUNCTIONS_MAX];        /* of each, not corrected */
        uint32_t n_labels;
        uint64_t n_tested; /* functions that were looked at, in all rounds */
};

/*
 * Classifies all callstacks.  Borrows its arguments.  Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int why_profile_init(struct why_profile *p, const struct trace_dictionary *dictionary,
                     const struct function_table *functions, const struct why_instances *instances);
void why_profile_deinit(struct why_profile *p);

/* Finds functions, if there are samples enough: `labels`.  `unit` is set by then.  Returns 0 or -ENOMEM. */
int why_profile_find(struct why_profile *p);

/*
 * The function that most of the time of a kind of callstacks is in, the innermost one outside
 * of the kernel; 0 = none.
 */
int why_profile_place(struct why_profile *p, uint8_t kind, uint32_t *ret_label);

#endif /* ANALYZE_WHY_WHY_PROFILE_H */
