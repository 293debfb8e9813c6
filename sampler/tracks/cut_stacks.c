/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/cut_stacks.h"

#include "base/array.h"
#include "sampler/kernel/call_chain.h"

#include <stdlib.h>
#include <string.h>

void cut_stacks_deinit(struct cut_stacks *s)
{
        for (size_t i = 0; i < s->n_items; i++)
                free(s->items[i]);
        free(s->items);
        *s = (struct cut_stacks){ .items = NULL };
}

size_t cut_stack_count_bytes(uint32_t n_kernel, uint32_t n_user)
{
        return sizeof(struct cut_stack) + ((size_t)n_kernel + n_user) * sizeof(struct stack_walk_frame);
}

struct cut_stack *cut_stacks_add(struct cut_stacks *s, const struct stack_walk *walk,
                                 const struct call_chain *kernel)
{
        struct cut_stack *cut = NULL;

        if (array_reserve(&s->items, &s->capacity, s->n_items + 1, sizeof(struct cut_stack *)) == 0)
                cut = malloc(cut_stack_count_bytes(kernel->n_frames, walk->n_frames));
        if (!cut)
                return NULL;
        *cut = (struct cut_stack){ .n_kernel = kernel->n_frames,
                                   .n_user = walk->n_frames,
                                   .end = walk->end,
                                   .sp_avma = walk->sp_avma,
                                   .fp_avma = walk->fp_avma,
                                   .is_fp_known = walk->is_fp_known,
                                   .unread_avma = walk->unread_avma };
        for (uint32_t i = 0; i < kernel->n_frames; i++)
                cut->frames[i] = (struct stack_walk_frame){ .pc_avma = kernel->frames[i].avma,
                                                            .is_exact = !kernel->frames[i].return_address };
        memcpy(cut->frames + cut->n_kernel, walk->frames, walk->n_frames * sizeof(*walk->frames));
        s->items[s->n_items++] = cut;
        return cut;
}

struct cut_stack *cut_stacks_take(struct cut_stacks *s)
{
        return s->n_items > 0 ? s->items[--s->n_items] : NULL;
}

bool cut_stacks_have_code(const struct cut_stacks *s, uint64_t start_avma, uint64_t end_avma)
{
        for (size_t i = 0; i < s->n_items; i++) {
                const struct cut_stack *cut = s->items[i];

                for (uint32_t k = cut->n_kernel; k < cut->n_kernel + cut->n_user; k++) {
                        /* A return address may be that after the code. */
                        uint64_t at_avma = cut->frames[k].pc_avma - !cut->frames[k].is_exact;

                        if (at_avma >= start_avma && at_avma < end_avma)
                                return true;
                }
        }
        return false;
}

void cut_stack_restore(const struct cut_stack *cut, struct stack_walk *ret_walk)
{
        memcpy(ret_walk->frames, cut->frames + cut->n_kernel, cut->n_user * sizeof(*cut->frames));
        ret_walk->n_frames = cut->n_user;
        ret_walk->end = cut->end;
        ret_walk->sp_avma = cut->sp_avma;
        ret_walk->fp_avma = cut->fp_avma;
        ret_walk->is_fp_known = cut->is_fp_known;
        ret_walk->unread_avma = cut->unread_avma;
}

void cut_stack_restore_kernel(const struct cut_stack *cut, struct call_chain *ret_chain)
{
        ret_chain->n_frames = cut->n_kernel;
        for (uint32_t i = 0; i < cut->n_kernel; i++)
                ret_chain->frames[i] = (struct call_frame){ .avma = cut->frames[i].pc_avma,
                                                            .in_kernel = true,
                                                            .return_address = !cut->frames[i].is_exact };
}
