/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_profile.h - the functions in which slow instances ran and typical ones did not
 *
 * Way of the data:  why_instances, function_table -> [why_profile] -> why_causes, why_tree
 *
 * Each callstack belongs to one cause: interrupts and page faults first, by the names of the kernel's
 * functions; then, one after the other, the function whose share of the rest differs most.  The
 * innermost of callers and callees with the same share is named, and the outermost kept.  Not thread-safe.
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

/* So many innermost frames of a callstack are read at most. */
#define WHY_FRAMES_MAX 1024

#define WHY_FUNCTIONS_MAX 4 /* causes of this kind */

/* The cause of a callstack. */
#define WHY_STACK_SAME      0 /* nothing that slow instances have more of */
#define WHY_STACK_INTERRUPT 1
#define WHY_STACK_FAULT     2
#define WHY_STACK_FUNCTION  3 /* and above: functions, in the order of their discovery */
#define WHY_STACK_KINDS     (WHY_STACK_FUNCTION + WHY_FUNCTIONS_MAX)

struct why_profile {
        const struct trace_dictionary *dictionary; /* borrowed */
        const struct function_table *functions;    /* borrowed */
        const struct why_instances *instances;     /* borrowed */
        const struct python_stacks *folds;         /* borrowed; NULL = native code stands for itself */
        double unit;                               /* weight of one sample */
        uint8_t *stacks;   /* heap; WHY_STACK_* by stack id; [0] = without a callstack */
        bool *is_cut;      /* heap; by stack id: its callers are not known */
        uint32_t n_stacks; /* ids 1 .. this */
        bool *is_foreign;  /* heap; by label: code of the kernel or the C library */
        uint64_t *seen;    /* heap; by label: the visit that counted it last */
        uint64_t n_visits;
        uint32_t labels[WHY_FUNCTIONS_MAX]; /* the functions that were found */
        uint32_t outer[WHY_FUNCTIONS_MAX];  /* its outermost caller with the same share; 0 = itself */
        double p[WHY_FUNCTIONS_MAX];        /* of each, not corrected */
        uint32_t n_labels;
        uint64_t n_tested; /* functions that were candidates, in all rounds */
};

/*
 * Classifies all callstacks.  Borrows its arguments.  Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int why_profile_init(struct why_profile *p, const struct trace_dictionary *dictionary,
                     const struct function_table *functions, const struct why_instances *instances);
void why_profile_deinit(struct why_profile *p);

/* An iteration over the functions of a callstack, each once, from the innermost on. */
struct why_visit {
        uint32_t stack;
        uint32_t depth;   /* of the frame: 1 = the outermost, or the last one that is read */
        uint32_t n_taken; /* functions of the frame so far: more than one if the compiler inlined some */
        uint32_t frame, label;
};

/* One visit at a time.  why_profile_next() returns false at the end. */
struct why_visit why_profile_visit(struct why_profile *p, uint32_t stack);
bool why_profile_next(struct why_profile *p, struct why_visit *v);

/* For labels without a callstack: begins a visit of them; finds whether a label comes for the first time. */
static inline void why_profile_begin_visit(struct why_profile *p)
{
        p->n_visits++;
}

static inline bool why_profile_is_first(struct why_profile *p, uint32_t label)
{
        bool is_first = p->seen[label] != p->n_visits;

        p->seen[label] = p->n_visits;
        return is_first;
}

/* Finds functions, if there are enough samples: fills `labels`.  Needs `unit`.  Returns 0 or -ENOMEM. */
int why_profile_find(struct why_profile *p);

/*
 * The function with most of the time of a kind of callstacks: the innermost one outside of the kernel or, if
 * call stacks are folded, the innermost Python function, unless the kind is a native function.  0 = none.
 */
int why_profile_place(struct why_profile *p, uint8_t kind, uint32_t *ret_label);

#endif /* ANALYZE_WHY_WHY_PROFILE_H */
