/* SPDX-License-Identifier: MIT */
/* Steps out of code that no table describes: by its instructions, else by the frame pointer. */
#include "unwind/code_exit.h"
#include "unwind/code_paths.h"
#include "unwind/unwind_table.h"
#include "unwind/walk.h"

#include <errno.h>

#define ROOT_BYTES_MAX 128 /* the length of code without a rule at a file's entry, such as ld.so's _start */

#define CALL_BYTES_AFTER 16 /* of a return address, enough for a signal trampoline */

/*
 * Reads from the instructions how code without a table returns, or that it never returns.  Returns false if
 * there is nothing to read.
 */
static bool read_exit(const struct walk *w, struct unwind_rule *ret_rule)
{
        const struct unwind_machine *m = w->machine;
        uint8_t bytes[CODE_EXIT_BYTES];
        size_t n_bytes = w->space->read_code(w->space->context, w->pc, bytes, sizeof(bytes));

        *ret_rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        if (code_exit_is_sigreturn(m, bytes, n_bytes))
                ret_rule->cfa = UNWIND_CFA_SIGNAL;
        else if (code_exit_is_never(m, bytes, n_bytes))
                ret_rule->ra = UNWIND_SAVED_UNDEFINED;
        else if (!code_exit_find(m, bytes, n_bytes, ret_rule))
                *ret_rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        return true;
}

/* The same for machines whose code is followed along its paths. */
static bool read_paths(const struct walk *w, struct unwind_rule *ret_rule)
{
        const struct unwind_machine *m = w->machine;
        uint8_t bytes[CODE_PATHS_BYTES_MAX];
        size_t at = CODE_PATHS_BYTES_BEFORE;
        size_t n_bytes = w->space->read_code(w->space->context, w->pc - at, bytes, sizeof(bytes));

        if (n_bytes <= at) {
                at = 0;
                n_bytes = w->space->read_code(w->space->context, w->pc, bytes, sizeof(bytes));
        }
        *ret_rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        if (code_exit_is_sigreturn(m, bytes + at, n_bytes - at))
                ret_rule->cfa = UNWIND_CFA_SIGNAL;
        else if (!code_paths_find(m, bytes, n_bytes, at, !w->is_exact, ret_rule))
                *ret_rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        return n_bytes > 0;
}

/*
 * Finds how code without a table reaches its return, mostly in the cache; a rule of UNWIND_CFA_NONE if
 * unknown.
 */
static struct unwind_rule find_exit(struct walk *w)
{
        uint64_t avma = w->pc - !w->is_exact;
        struct cache_entry *entry = walk_cache_entry(w->walker->exits, EXIT_BITS, avma);
        struct unwind_rule rule;

        if (!w->space->read_code || w->input->tables_only)
                return (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        if (walk_is_entry(w, entry, avma))
                return entry->rule;
        if (code_paths_know(w->machine) ? read_paths(w, &rule) : read_exit(w, &rule))
                *entry = (struct cache_entry){ .avma = avma,
                                               .generation = w->space->generation,
                                               .rule = rule };
        return rule;
}

/*
 * Whether a return address that the paths of code gave may be one: a call leads to it, or it is a signal
 * trampoline.  Mostly in the cache, under a number that no address of a program has.
 */
static bool is_return_address(struct walk *w, uint64_t ra)
{
        struct cache_entry *entry = walk_cache_entry(w->walker->exits, EXIT_BITS, ~ra);
        uint8_t bytes[CODE_PATHS_CALL_BYTES + CALL_BYTES_AFTER];
        const size_t n_before = CODE_PATHS_CALL_BYTES;
        size_t n_bytes;
        bool is_one;

        if (walk_is_entry(w, entry, ~ra))
                return entry->rule.cfa != UNWIND_CFA_NONE;
        n_bytes = w->space->read_code(w->space->context, ra - n_before, bytes, sizeof(bytes));
        if (n_bytes < n_before)
                return false;
        is_one = code_paths_is_after_call(w->machine, bytes, n_before) ||
                 code_exit_is_sigreturn(w->machine, bytes + n_before, n_bytes - n_before);
        *entry = (struct cache_entry){ .avma = ~ra,
                                       .generation = w->space->generation,
                                       .rule = { .cfa = is_one ? UNWIND_CFA_SP : UNWIND_CFA_NONE } };
        return is_one;
}

/* Moves the walk to where a call returns, with the stack pointer @cfa.  Returns true. */
static bool step_to(struct walk *w, struct stack_walk_frame *frame, enum stack_walk_way way, uint64_t ra,
                    uint64_t cfa)
{
        frame->cfa_avma = cfa;
        frame->way = (uint8_t)way;
        w->pc = ra;
        w->sp = cfa;
        w->is_exact = false;
        return true;
}

/* Finds the return address by such a rule.  Returns 1, 0 if it has none, -ENODATA if the copy ends before. */
static int find_saved_address(const struct walk *w, const struct unwind_rule *rule, uint64_t cfa,
                              uint64_t *ret_ra)
{
        uint64_t at = cfa + (uint64_t)(int64_t)rule->ra_value;

        if (rule->ra == UNWIND_SAVED_IN_REGISTER)
                return w->is_exact && cfa >= w->sp && walk_read_register(w, w->machine->ra, ret_ra) == 0;
        if (cfa <= w->sp || at < w->sp)
                return 0;
        if (walk_read_u64(w, at, ret_ra))
                return 1;
        return code_paths_know(w->machine) && walk_why_unread(w, at) != STACK_WALK_END_BROKEN ? -ENODATA : 0;
}

/*
 * Steps out of code without a table by its instructions up to its return, if the return address is in code.
 * Returns 1, 0 if it cannot, or -ENODATA if it could with more of the stack.
 */
static int step_exit(struct walk *w, const struct unwind_rule *rule, struct stack_walk_frame *frame)
{
        struct stack_walk_code code;
        uint64_t cfa, ra;
        int r;

        if (rule->cfa == UNWIND_CFA_NONE || (rule->cfa == UNWIND_CFA_FP && !w->is_fp_known))
                return 0;
        cfa = (rule->cfa == UNWIND_CFA_FP ? w->fp : w->sp) + (uint64_t)(int64_t)rule->cfa_offset;
        r = find_saved_address(w, rule, cfa, &ra);
        if (r <= 0)
                return r;
        ra = unwind_machine_address(w->machine, ra);
        if (!w->space->find(w->space->context, ra - 1, &code) ||
            (code_paths_know(w->machine) && !is_return_address(w, ra)))
                return 0;
        walk_find_frame_pointer(w, rule, cfa);
        return step_to(w, frame, STACK_WALK_WAY_CODE, ra, cfa);
}

/* True for the code at a file's entry, if nothing else is known about it: this code has no caller. */
static bool is_entry(const struct walk *w)
{
        struct stack_walk_code code;
        uint64_t svma;

        if (!w->space->find(w->space->context, w->pc, &code) || !code.table || code.table->entry_svma == 0)
                return false;
        svma = w->pc - code.bias;
        return svma >= code.table->entry_svma && svma - code.table->entry_svma < ROOT_BYTES_MAX;
}

/*
 * The first function of a thread has no frame record and may have no return address.  Functions that keep no
 * frame pointer look the same, so on machines where those are common the code must say that it is the first.
 */
static bool stop_at_zero(struct walk *w, bool never_returns)
{
        bool is_root = !w->is_exact && (never_returns || w->machine->is_fp_kept);

        return walk_stop(w, is_root ? STACK_WALK_END_ROOT : STACK_WALK_END_NO_TABLE);
}

/*
 * Steps out of code without a rule by the frame pointer, which code that a compiler makes at run time
 * mostly keeps.
 */
static bool step_frame_pointer(struct walk *w, bool never_returns, struct stack_walk_frame *frame)
{
        const struct unwind_machine *m = w->machine;
        uint64_t at_fp = w->fp + (uint64_t)(int64_t)m->record_fp;
        uint64_t at_ra = w->fp + (uint64_t)(int64_t)m->record_ra;
        uint64_t cfa = w->fp + (uint64_t)(int64_t)m->record_cfa;
        struct stack_walk_code code;
        uint64_t fp, ra;

        if (is_entry(w))
                return walk_stop(w, STACK_WALK_END_ROOT);
        if (!w->is_fp_known || w->input->tables_only)
                return walk_stop(w, STACK_WALK_END_NO_TABLE);
        if (w->fp == 0)
                return stop_at_zero(w, never_returns);
        if (w->fp & 7 || at_fp < w->sp || cfa <= w->sp || w->fp - w->sp >= STACK_BYTES_MAX)
                return walk_stop(w, STACK_WALK_END_NO_TABLE);
        if (!walk_read_u64(w, at_fp, &fp) || !walk_read_u64(w, at_ra, &ra)) {
                enum stack_walk_end end = walk_why_unread(w, at_ra);

                return walk_stop(w, end == STACK_WALK_END_BROKEN ? STACK_WALK_END_NO_TABLE : end);
        }
        ra = unwind_machine_address(m, ra);
        if (ra == 0)
                return stop_at_zero(w, never_returns);
        if (!w->space->find(w->space->context, ra - 1, &code))
                return walk_stop(w, STACK_WALK_END_NO_TABLE);
        w->fp = fp;
        return step_to(w, frame, STACK_WALK_WAY_FRAME_POINTER, ra, cfa);
}

/* A thread that stands where there is no code has called a wrong address: its caller is known. */
bool walk_step_from_nowhere(struct walk *w, struct stack_walk_frame *frame)
{
        const struct unwind_machine *m = w->machine;
        struct stack_walk_code code;
        uint64_t ra = 0;

        if (m->is_return_address_saved ? !walk_read_u64(w, w->sp, &ra)
                                       : walk_read_register(w, m->ra, &ra) < 0)
                return walk_stop(w, STACK_WALK_END_NOT_CODE);
        ra = unwind_machine_address(m, ra);
        if (!w->space->find(w->space->context, ra - 1, &code))
                return walk_stop(w, STACK_WALK_END_NOT_CODE);
        return step_to(w, frame, STACK_WALK_WAY_GUESS, ra,
                       w->sp + (m->is_return_address_saved ? sizeof(uint64_t) : 0));
}

bool walk_step_without_rule(struct walk *w, struct stack_walk_frame *frame)
{
        const struct unwind_rule exit = find_exit(w);
        int r;

        if (exit.cfa == UNWIND_CFA_SIGNAL)
                return walk_step_signal(w, frame);
        r = step_exit(w, &exit, frame);
        if (r < 0)
                return walk_stop(w, walk_why_unread(w, w->out->unread_avma));
        return r > 0 || step_frame_pointer(w, exit.ra == UNWIND_SAVED_UNDEFINED, frame);
}
