/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/stack_unwinder.h"

#include "base/bytes.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/raw_stack.h"
#include "sampler/tracks/address_space.h"

#include <linux/perf_event.h>

/*
 * kernel.perf_event_max_stack at its default, for both sides together: a stack as long as
 * this was probably cut.
 */
#define KERNEL_FRAMES_MAX 127

/*
 * Code that uses the frame pointer's register for something else leads the walk into data, where it may
 * take any word for a return address.  The thread's own position is trusted: it is a register of the
 * processor.
 */
static bool leaves_code(const struct address_space *space, const struct call_frame *frame)
{
        return space && frame->return_address && !frame->in_kernel && space->n_ranges > 0 &&
               !address_space_find(space, frame->avma);
}

/* Takes the frames of the chain; of the kernel's side only, unless @with_user. */
static void take_chain(const struct raw_stack *raw, const struct address_space *space, bool with_user,
                       struct call_chain *ret_chain)
{
        struct byte_reader in = byte_reader_of(raw->chain, raw->chain ? raw->n_chain * sizeof(uint64_t) : 0);
        bool in_kernel = raw->in_kernel;
        bool skip = !in_kernel && !with_user; /* a guest's part, or an unwanted one */
        /* the first frame of a part is where the thread stood, not a return address */
        bool first = true;

        ret_chain->n_frames = 0;
        ret_chain->state = TRACE_STACK_FRAME_POINTERS;
        while (in.left > 0 && ret_chain->n_frames < CALL_CHAIN_FRAMES_MAX) {
                uint64_t avma = bytes_u64(&in);
                struct call_frame frame = { .avma = avma, .in_kernel = in_kernel, .return_address = !first };

                if (avma >= (uint64_t)PERF_CONTEXT_MAX) {
                        in_kernel = avma == (uint64_t)PERF_CONTEXT_KERNEL;
                        skip = !in_kernel && (!with_user || avma != (uint64_t)PERF_CONTEXT_USER);
                        first = true;
                        continue;
                }
                if (skip)
                        continue;
                if (leaves_code(space, &frame)) {
                        ret_chain->state = TRACE_STACK_LEFT_CODE;
                        break;
                }
                ret_chain->frames[ret_chain->n_frames++] = frame;
                first = false;
        }
        if (ret_chain->state == TRACE_STACK_FRAME_POINTERS &&
            (in.left > 0 || ret_chain->n_frames >= KERNEL_FRAMES_MAX))
                ret_chain->state = TRACE_STACK_TOO_DEEP;
}

static void add_where_it_was(const struct raw_stack *raw, struct call_chain *chain)
{
        if (chain->n_frames == 0)
                chain->frames[chain->n_frames++] = (struct call_frame){ .avma = raw->ip_avma,
                                                                        .in_kernel = raw->in_kernel };
}

void unwind_frame_pointer_run(const struct raw_stack *raw, const struct address_space *space,
                              struct call_chain *ret_chain)
{
        take_chain(raw, space, true, ret_chain);
        add_where_it_was(raw, ret_chain);
}

void unwind_frame_pointer_run_kernel(const struct raw_stack *raw, struct call_chain *ret_chain)
{
        take_chain(raw, NULL, false, ret_chain);
        if (raw->in_kernel)
                add_where_it_was(raw, ret_chain);
}
