/* SPDX-License-Identifier: MIT */
#include "sampler/stack_builder.h"

#include "format/trace_dictionary.h"
#include "sampler/address_space.h"
#include "sampler/call_chain.h"

#include <errno.h>
#include <string.h>

static int kernel_module(struct stack_builder *b, uint32_t *ret_module)
{
        struct trace_module module = { .kind = TRACE_MODULE_KERNEL };
        int r = 0;

        if (b->kernel_module == 0) {
                r = trace_dictionary_add_string(b->dictionary, "[kernel]", strlen("[kernel]"), &module.path);
                if (r == 0)
                        r = trace_dictionary_add(b->dictionary, TRACE_TABLE_MODULES, &module,
                                                 &b->kernel_module);
        }
        *ret_module = b->kernel_module;
        return r;
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
                r = kernel_module(b, &frame.module);
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

int stack_builder_add(struct stack_builder *b, const struct address_space *space,
                      const struct call_chain *chain, uint32_t *ret_stack)
{
        uint32_t stack = 0;

        /* From the root inwards, so that stacks with the same callers share them. */
        for (uint32_t i = chain->n_frames; i-- > 0;) {
                struct trace_stack row = { .parent = stack };
                int r = add_frame(b, space, &chain->frames[i], &row.frame);

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
