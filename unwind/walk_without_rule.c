/* SPDX-License-Identifier: MIT */
/* Steps out of code that no table describes: by its instructions, else by the frame pointer. */
#include "unwind/code_exit.h"
#include "unwind/unwind_table.h"
#include "unwind/walk.h"

#define ROOT_BYTES_MAX 128 /* the length of code without a rule at a file's entry, such as ld.so's _start */

/* Reads from the instructions how code without a table returns, or that it never returns. */
static struct unwind_rule read_exit(const struct walk *w)
{
        const struct unwind_machine *m = w->machine;
        struct unwind_rule rule = { .cfa = UNWIND_CFA_NONE };
        uint8_t bytes[CODE_EXIT_BYTES];
        size_t n_bytes = w->space->read_code(w->space->context, w->pc, bytes, sizeof(bytes));

        if (code_exit_is_sigreturn(m, bytes, n_bytes))
                rule.cfa = UNWIND_CFA_SIGNAL;
        else if (code_exit_is_never(m, bytes, n_bytes))
                rule.ra = UNWIND_SAVED_UNDEFINED;
        else if (!code_exit_find(m, bytes, n_bytes, &rule))
                rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        return rule;
}

/*
 * Finds how code without a table reaches its return, mostly in the cache; a rule of UNWIND_CFA_NONE if
 * unknown.
 */
static struct unwind_rule find_exit(struct walk *w)
{
        uint64_t avma = w->pc - !w->is_exact;
        struct cache_entry *entry = walk_cache_entry(w->walker->exits, EXIT_BITS, avma);

        if (!w->space->read_code || w->input->tables_only)
                return (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        if (!walk_is_entry(w, entry, avma))
                *entry = (struct cache_entry){ .avma = avma,
                                               .generation = w->space->generation,
                                               .rule = read_exit(w) };
        return entry->rule;
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

/*
 * Steps out of code without a table by its instructions up to its return, if the return address is in code.
 */
static bool step_exit(struct walk *w, const struct unwind_rule *rule, struct stack_walk_frame *frame)
{
        struct stack_walk_code code;
        uint64_t cfa, ra;

        if (rule->cfa == UNWIND_CFA_NONE || (rule->cfa == UNWIND_CFA_FP && !w->is_fp_known))
                return false;
        cfa = (rule->cfa == UNWIND_CFA_FP ? w->fp : w->sp) + (uint64_t)(int64_t)rule->cfa_offset;
        if (cfa <= w->sp || !walk_read_u64(w, cfa + (uint64_t)(int64_t)rule->ra_value, &ra))
                return false;
        ra &= w->machine->pc_mask;
        if (!w->space->find(w->space->context, ra - 1, &code))
                return false;
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

        if (exit.cfa == UNWIND_CFA_SIGNAL)
                return walk_step_signal(w, frame);
        return step_exit(w, &exit, frame) || step_frame_pointer(w, exit.ra == UNWIND_SAVED_UNDEFINED, frame);
}
