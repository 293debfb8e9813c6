/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_merge.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/tracks/address_space.h"

#include <stddef.h>

static uint64_t code_avma_of(const struct call_frame *frame)
{
        return frame->avma - (frame->return_address && frame->avma > 0);
}

static bool is_eval(const struct python_merge *m, const struct call_frame *frame)
{
        uint64_t avma = code_avma_of(frame);

        if (frame->in_kernel || frame->is_row)
                return false;
        for (size_t i = 0; i < PYTHON_EVAL_PARTS; i++)
                if (avma >= m->eval[i].start_avma && avma < m->eval[i].end_avma)
                        return true;
        return false;
}

static bool is_interpreters(const struct python_merge *m, const struct call_frame *frame)
{
        const struct address_range *range = frame->in_kernel
                                                    ? NULL
                                                    : address_space_find(m->space, code_avma_of(frame));

        return range && range->module == m->module;
}

/* Memory without a file. */
static bool is_made_at_run_time(const struct python_merge *m, const struct call_frame *frame)
{
        const struct address_range *range = address_space_find(m->space, code_avma_of(frame));
        const struct trace_module *module =
                range ? trace_dictionary_row(m->dictionary, TRACE_TABLE_MODULES, range->module) : NULL;

        return !range || (module && module->kind != TRACE_MODULE_FILE);
}

/*
 * True for a trampoline: only this kind of code made at run time calls the evaluation itself and is called
 * by the interpreter.
 */
static bool is_trampoline(const struct python_merge *m, const struct call_chain *chain, uint32_t i)
{
        return i > 0 && i + 1 < chain->n_frames && is_eval(m, &chain->frames[i - 1]) &&
               is_interpreters(m, &chain->frames[i + 1]) && !chain->frames[i].in_kernel &&
               !chain->frames[i].is_row && is_made_at_run_time(m, &chain->frames[i]);
}

uint32_t python_merge_count_evals(const struct python_merge *m, const struct call_chain *chain)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < chain->n_frames; i++)
                n += is_eval(m, &chain->frames[i]);
        return n;
}

/* Counts the groups whose frames are all left out: the gap itself is the end of a group before them. */
static uint32_t count_left_out(const struct python_stack *stack)
{
        return stack->gap_at > 0 && stack->n_gap_entries > 0 ? stack->n_gap_entries - 1 : 0;
}

static uint32_t count_groups(const struct python_stack *stack)
{
        uint32_t n = count_left_out(stack);

        for (uint32_t i = 0; i < stack->n_frames; i++)
                n += stack->is_entry[i] || i + 1 == stack->n_frames;
        return n;
}

bool python_merge_fits(const struct python_merge *m, const struct python_stack *stack,
                       const struct call_chain *chain)
{
        uint32_t n_groups = count_groups(stack), n_evals = python_merge_count_evals(m, chain);

        return chain->state < TRACE_STACK_TRUNCATED ? n_evals == n_groups : n_evals <= n_groups;
}

static void put(struct call_chain *to, const struct call_frame *frame)
{
        if (to->n_frames < CALL_CHAIN_FRAMES_MAX)
                to->frames[to->n_frames++] = *frame;
}

/* Through the groups of a stack. */
struct group_cursor {
        const struct python_stack *stack;
        uint32_t next;       /* frame */
        uint32_t n_left_out; /* groups, after the gap */
};

/*
 * Puts the next frames up to one that C called; unreadable ones are left out.  Returns whether there were
 * any.
 */
static bool put_group(struct group_cursor *c, struct call_chain *to)
{
        const struct python_stack *stack = c->stack;
        uint32_t n_before = to->n_frames, i = c->next;
        bool is_entry = false;

        if (c->n_left_out > 0 && c->next == stack->gap_at + 1) {
                c->n_left_out--;
                return true;
        }
        for (; !is_entry && i < stack->n_frames; i++) {
                const struct call_frame frame = { .avma = stack->frames[i], .is_row = true };

                is_entry = stack->is_entry[i];
                if (frame.avma != 0)
                        put(to, &frame);
        }
        c->next = i;
        return to->n_frames > n_before;
}

void python_merge_run(const struct python_merge *m, const struct python_stack *stack,
                      const struct call_chain *chain, struct call_chain *ret_chain)
{
        uint32_t n_groups = count_groups(stack), n_evals = python_merge_count_evals(m, chain);
        bool has_root = chain->state < TRACE_STACK_TRUNCATED, in_python = false;
        uint32_t n_bare = has_root && n_evals > n_groups ? n_evals - n_groups
                                                         : 0; /* evaluations without a group */
        uint32_t n_extra = has_root && n_groups > n_evals ? n_groups - n_evals : 0; /* groups without one */
        struct group_cursor groups = { .stack = stack, .n_left_out = count_left_out(stack) };

        ret_chain->n_frames = 0;
        for (uint32_t i = 0; i < chain->n_frames; i++) {
                const struct call_frame *frame = &chain->frames[i];
                bool evaluates = is_eval(m, frame);
                bool is_kept = m->keep_c || !(evaluates || (in_python && is_interpreters(m, frame)) ||
                                              is_trampoline(m, chain, i));

                in_python = in_python || evaluates;
                for (; evaluates && n_extra > 0; n_extra--)
                        (void)put_group(&groups, ret_chain);
                if (evaluates && n_bare > 0)
                        n_bare--;
                else if (evaluates && !put_group(&groups, ret_chain))
                        is_kept = true;
                if (is_kept)
                        put(ret_chain, frame);
        }
        groups.n_left_out = 0;
        while (groups.next < stack->n_frames)
                (void)put_group(&groups, ret_chain);
}
