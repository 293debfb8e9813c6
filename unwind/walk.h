/* SPDX-License-Identifier: MIT */
/*
 * unwind/walk.h - one walk while it runs, which the files that walk stacks share
 *
 * Way of the data:  stack_walk -> [walk] -> walk_without_rule, walk_go_call
 *
 * Internal to unwind; belongs to one thread.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "unwind/stack_walk.h"
#include "unwind/unwind_rule.h"

#include <stdbool.h>
#include <stdint.h>

#define CACHE_BITS       14
#define CACHE_SIZE       (1U << CACHE_BITS)
#define EXIT_BITS        12
#define EXITS_SIZE       (1U << EXIT_BITS)
#define CACHE_LINE_BYTES 64

/*
 * Copies end somewhere above the stack pointer.  An address further above the stack pointer than this was
 * never on this stack.
 */
#define STACK_BYTES_MAX (UINT64_C(1) << 28)

struct cache_entry {
        uint64_t avma;
        uint64_t generation;
        struct unwind_rule rule;
};

_Static_assert(CACHE_LINE_BYTES == 2 * sizeof(struct cache_entry), "two entries are a line of the cache");

struct stack_walker {
        _Alignas(CACHE_LINE_BYTES) struct cache_entry rules[CACHE_SIZE];
        struct cache_entry exits[EXITS_SIZE]; /* rules of code without a table, found by its instructions */
        const struct unwind_machine *machine;
};

/* One walk while it runs: the last frame's registers, and where things are. */
struct walk {
        struct stack_walker *walker;
        const struct unwind_machine *machine;
        const struct stack_walk_space *space;
        const struct stack_walk_input *input;
        struct stack_walk *out;
        uint64_t pc, sp, fp;
        bool is_exact;
        bool is_fp_known;
        bool is_on_other_stack; /* a signal frame or a function that switches stacks led off the copy */
        unsigned n_switches;
};

/* Reads 8 bytes of the stack.  Returns false, with `unread_avma` set, if no piece has them. */
bool walk_read_u64(const struct walk *w, uint64_t avma, uint64_t *ret_value);

/* Why an address could not be read. */
enum stack_walk_end walk_why_unread(const struct walk *w, uint64_t avma);

/* The entry of an address in a table of 2^@bits entries. */
struct cache_entry *walk_cache_entry(struct cache_entry *entries, unsigned bits, uint64_t avma);

bool walk_is_entry(const struct walk *w, const struct cache_entry *entry, uint64_t avma);

/* The rule of an address, without the cache; a rule of UNWIND_CFA_NONE if there is none. */
bool walk_find_rule(const struct walk *w, uint64_t avma, struct stack_walk_code *ret_code,
                    struct unwind_rule *ret_rule);

/* The value of a register in the last frame.  Returns 0 or -ENOENT. */
int walk_read_register(const struct walk *w, uint64_t number, uint64_t *ret_value);

/* Finds the caller's frame pointer.  A lost frame pointer matters only if a rule asks for it. */
void walk_find_frame_pointer(struct walk *w, const struct unwind_rule *rule, uint64_t cfa);

/* Ends the walk for a reason.  Returns false. */
bool walk_stop(struct walk *w, enum stack_walk_end end);

/* All steps return true with the caller's registers in @w, or false with the reason in `end`. */
bool walk_step_signal(struct walk *w, struct stack_walk_frame *frame);

/* Out of code that no table describes. */
bool walk_step_without_rule(struct walk *w, struct stack_walk_frame *frame);

/* A thread that stands where there is no code has called a wrong address: its caller is known. */
bool walk_step_from_nowhere(struct walk *w, struct stack_walk_frame *frame);

/* Steps out of a function of Go's runtime that has called on another stack (UNWIND_CFA_GO_SYSTEM, _C). */
bool walk_step_go_call(struct walk *w, const struct unwind_rule *rule, struct stack_walk_frame *frame);

#endif /* UNWIND_WALK_H */
