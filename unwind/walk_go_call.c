/* SPDX-License-Identifier: MIT */
/*
 * systemstack() and asmcgocall() of Go's runtime call a function on the stack of the thread and leave the
 * frame pointer of their caller as it is.  That frame pointer points to the place where the caller, whose
 * frame has a fixed size, has saved the frame pointer of its own caller; the return address into the caller
 * lies at the other end of that frame.  So this return address is the only number below the frame pointer
 * that returns into a function with a frame of just that size.
 *
 * Go's tables do not describe the frame pointer, but each function with a frame saves it below its return
 * address.
 */
#include "unwind/unwind_rule.h"
#include "unwind/walk.h"

#define CALLER_BYTES_MAX 1024 /* of its frame */
#define RECORD_BYTES     16   /* the saved frame pointer and the return address of the caller */
#define WORD_BYTES       8

/*
 * True if @ra, read at @avma, returns into a function whose frame reaches from there to the frame pointer.
 */
static bool is_call_of_frame(const struct walk *w, uint64_t avma, uint64_t ra)
{
        struct stack_walk_code code;
        struct unwind_rule rule;

        return ra != 0 && walk_find_rule(w, ra - 1, &code, &rule) && rule.cfa == UNWIND_CFA_SP &&
               rule.ra == UNWIND_SAVED_AT_CFA && rule.ra_value == -WORD_BYTES &&
               avma + WORD_BYTES + (uint64_t)(int64_t)rule.cfa_offset == w->fp + RECORD_BYTES;
}

/* Finds the frame pointer that was saved by the function of Go called on the stack where the walk is. */
static bool find_fp_of_callee(struct walk *w)
{
        const struct stack_walk_frame *callee = w->out->n_frames > 1 ? &w->out->frames[w->out->n_frames - 2]
                                                                     : NULL;
        uint64_t saved_avma = w->sp - RECORD_BYTES;
        struct stack_walk_code code;
        struct unwind_rule rule;

        if (!callee || callee->way != STACK_WALK_WAY_TABLE ||
            !walk_find_rule(w, callee->pc_avma - !callee->is_exact, &code, &rule) ||
            rule.cfa != UNWIND_CFA_SP)
                return false;
        if (callee->is_exact) {
                w->fp = w->input->registers.values[w->machine->fp];
                w->is_fp_known = w->input->registers.known >> w->machine->fp & 1;
                if (w->fp != saved_avma) /* not set yet, or not any more */
                        return w->is_fp_known;
        }
        w->is_fp_known = rule.cfa_offset >= RECORD_BYTES && walk_read_u64(w, saved_avma, &w->fp);
        return w->is_fp_known;
}

bool walk_step_go_call(struct walk *w, const struct unwind_rule *rule, struct stack_walk_frame *frame)
{
        uint64_t found_avma = 0, found_ra = 0, ra;

        if (w->is_exact || (rule->cfa == UNWIND_CFA_GO_SYSTEM && !find_fp_of_callee(w)) || !w->is_fp_known ||
            w->fp & (WORD_BYTES - 1))
                return walk_stop(w, STACK_WALK_END_NO_TABLE);
        frame->cfa_avma = w->fp; /* identifies the call: every goroutine uses this stack */
        if (!walk_read_u64(w, w->fp, &ra))
                return walk_stop(w, STACK_WALK_END_OTHER_STACK);
        for (uint64_t n = WORD_BYTES; n <= CALLER_BYTES_MAX; n += WORD_BYTES) {
                if (!walk_read_u64(w, w->fp - n, &ra))
                        break;
                if (!is_call_of_frame(w, w->fp - n, ra))
                        continue;
                if (found_ra != 0) /* which one it is cannot be told */
                        return walk_stop(w, STACK_WALK_END_NO_TABLE);
                found_avma = w->fp - n;
                found_ra = ra;
        }
        if (found_ra == 0)
                return walk_stop(w, STACK_WALK_END_NO_TABLE);
        frame->way = STACK_WALK_WAY_GUESS; /* other registers are lost */
        w->pc = found_ra;
        w->sp = found_avma + WORD_BYTES;
        w->is_exact = false;
        w->is_on_other_stack = false;
        return true;
}
