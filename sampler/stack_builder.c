/* SPDX-License-Identifier: MIT */
#include "sampler/stack_builder.h"

#include "format/trace_dictionary.h"
#include "sampler/address_space.h"
#include "sampler/call_chain.h"

#include <errno.h>
#include <string.h>

/* A module that is no file; @module remembers it. */
static int add_module(struct stack_builder *b, enum trace_module_kind kind, const char *name,
                      uint32_t *module)
{
        struct trace_module row = { .kind = (uint32_t)kind };
        int r;

        if (*module != 0)
                return 0;
        r = trace_dictionary_add_string(b->dictionary, name, strlen(name), &row.path);
        return r < 0 ? r : trace_dictionary_add(b->dictionary, TRACE_TABLE_MODULES, &row, module);
}

static int add_frame(struct stack_builder *b, const struct address_space *space, const struct call_frame *at,
                     uint32_t *ret_frame)
{
        struct trace_frame frame = { .offset = at->avma,
                                     .flags = at->return_address ? TRACE_FRAME_RETURN_ADDRESS : 0 };
        const struct address_range *range;
        const struct trace_module *module;
        int r = 0;

        if (at->in_kernel) {
                r = add_module(b, TRACE_MODULE_KERNEL, "[kernel]", &b->kernel_module);
                frame.module = b->kernel_module;
        } else {
                range = address_space_find(space, at->avma);
                if (range) {
                        frame.module = range->module;
                        module = trace_dictionary_row(b->dictionary, TRACE_TABLE_MODULES, range->module);
                        if (module->kind != TRACE_MODULE_ANONYMOUS)
                                frame.offset = at->avma - range->start_avma + range->file_offset_bytes;
                }
        }
        return r < 0 ? r : trace_dictionary_add(b->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);
}

/* The mark that stands for the callers that are missing. */
static int add_mark(struct stack_builder *b, uint32_t *ret_frame)
{
        int r = add_module(b, TRACE_MODULE_MARK, "[truncated]", &b->mark_module);
        struct trace_frame frame = { .module = b->mark_module };

        return r < 0 ? r : trace_dictionary_add(b->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);
}

int stack_builder_add(struct stack_builder *b, const struct address_space *space,
                      const struct call_chain *chain, uint32_t *ret_stack)
{
        bool is_truncated = chain->state >= TRACE_STACK_TRUNCATED;
        uint32_t stack = 0;

        /* From the root inwards, so that stacks with the same callers share them. */
        for (uint32_t i = chain->n_frames + is_truncated; i-- > 0;) {
                struct trace_stack row = { .parent = stack };
                int r = i == chain->n_frames ? add_mark(b, &row.frame)
                                             : add_frame(b, space, &chain->frames[i], &row.frame);

                if (r == 0)
                        r = trace_dictionary_add(b->dictionary, TRACE_TABLE_STACKS, &row, &stack);
                if (r == -EOVERFLOW) {
                        b->n_cut++;
                        break;
                }
                if (r < 0)
                        return r;
        }
        *ret_stack = stack;
        return 0;
}
