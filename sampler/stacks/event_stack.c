/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/event_stack.h"

#include "base/bytes.h"
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "unwind/unwind_machine.h"

#include <stdbool.h>

#define WORD_BYTES 8

/* The rest is not code: a register that was not a frame pointer led there. */
static bool event_stack_leaves_code(const struct address_space *space, uint64_t avma)
{
        return space->n_ranges > 0 && !address_space_find(space, avma);
}

static void event_stack_begin(struct call_chain *chain)
{
        chain->n_frames = 0;
        chain->state = TRACE_STACK_FRAME_POINTERS;
}

/* Takes one frame more; false if the chain ends here. */
static bool event_stack_add(struct call_chain *chain, const struct address_space *space, uint64_t avma,
                            bool return_address)
{
        if (avma == 0)
                return false;
        if (event_stack_leaves_code(space, avma)) {
                chain->state = TRACE_STACK_LEFT_CODE;
                return false;
        }
        if (chain->n_frames >= CALL_CHAIN_FRAMES_MAX) {
                chain->state = TRACE_STACK_TOO_DEEP;
                return false;
        }
        chain->frames[chain->n_frames++] = (struct call_frame){ .avma = avma,
                                                                .return_address = return_address };
        return true;
}

/* The word at @avma of a stack whose copy begins at @sp; false if it is not in the copy. */
static bool event_stack_load(const struct byte_reader *stack, uint64_t sp, uint64_t avma, uint64_t *ret_word)
{
        uint64_t at_bytes = avma - sp; /* below the copy this is very large */
        struct byte_reader in;

        if (stack->left < WORD_BYTES || at_bytes > stack->left - WORD_BYTES)
                return false;
        in = byte_reader_of(stack->at + at_bytes, WORD_BYTES);
        *ret_word = bytes_u64(&in);
        return true;
}

void event_stack_unwind_copy(const struct unwind_machine *machine, const uint8_t *copy, size_t copy_bytes,
                             const struct address_space *space, struct call_chain *ret_chain)
{
        struct byte_reader in = byte_reader_of(copy, copy_bytes);
        uint64_t pc = bytes_u64(&in), sp = bytes_u64(&in), frame = bytes_u64(&in);
        uint64_t caller, address;

        event_stack_begin(ret_chain);
        if (in.short_read || !event_stack_add(ret_chain, space, pc, false))
                return;
        while (event_stack_load(&in, sp, frame + (uint64_t)machine->record_fp, &caller) &&
               event_stack_load(&in, sp, frame + (uint64_t)machine->record_ra, &address)) {
                address = unwind_machine_address(machine, address);
                /* Callers lie higher up: so it ends. */
                if (!event_stack_add(ret_chain, space, address, true) || caller <= frame)
                        return;
                frame = caller;
        }
        if (frame != 0) /* beyond the copy */
                ret_chain->state = TRACE_STACK_TRUNCATED;
}

static void event_stack_take_frames(const struct client_prefix *prefix, const struct address_space *space,
                                    struct call_chain *ret_chain)
{
        struct byte_reader in = byte_reader_of(prefix->frames, (size_t)prefix->n_frames * WORD_BYTES);

        event_stack_begin(ret_chain);
        while (in.left > 0 && event_stack_add(ret_chain, space, bytes_u64(&in), true))
                ;
        if (in.left == 0 && prefix->n_frames >= CLIENT_ABI_CALLSTACK_FRAMES_MAX &&
            ret_chain->state == TRACE_STACK_FRAME_POINTERS)
                ret_chain->state = TRACE_STACK_TOO_DEEP;
}

/* With the tables; false if there is not even a caller to show for it. */
static bool walk_copy(const struct client_prefix *prefix, struct stack_unwinder *unwinder,
                      struct thread_track *thread, struct call_chain *ret_chain)
{
        struct byte_reader in = byte_reader_of(prefix->stack, prefix->stack_bytes);
        struct stack_unwinder_copy copy = { .pc_avma = bytes_u64(&in) };

        copy.sp_avma = bytes_u64(&in);
        copy.fp_avma = bytes_u64(&in);
        copy.bytes = in.at;
        copy.n_bytes = in.left;
        return unwinder && !in.short_read && stack_unwinder_run_copy(unwinder, &copy, thread, ret_chain) &&
               (ret_chain->n_frames > 1 || ret_chain->state < TRACE_STACK_TRUNCATED);
}

static void event_stack_count_missing(enum trace_stack_state state, struct loss_counter *losses)
{
        if (state == TRACE_STACK_TOO_DEEP)
                loss_counter_add(losses, TRACE_LOSS_STACK_TOO_DEEP, 1);
        else if (state == TRACE_STACK_LEFT_CODE)
                loss_counter_add(losses, TRACE_LOSS_STACK_LEFT_CODE, 1);
        else if (state == TRACE_STACK_TRUNCATED)
                loss_counter_add(losses, TRACE_LOSS_STACK_TRUNCATED, 1);
}

void event_stack_unwind(const struct client_prefix *prefix, struct stack_unwinder *unwinder,
                        struct thread_track *thread, struct loss_counter *losses,
                        struct call_chain *ret_chain)
{
        const struct address_space *space = &thread->process->space;

        event_stack_begin(ret_chain);
        if (prefix->n_frames > 0) {
                event_stack_take_frames(prefix, space, ret_chain);
        } else if (prefix->stack_bytes > 0 && unwind_machine_own()) {
                if (walk_copy(prefix, unwinder, thread, ret_chain)) {
                        stack_unwinder_count(unwinder, ret_chain->state);
                        return;
                }
                event_stack_unwind_copy(unwind_machine_own(), prefix->stack, prefix->stack_bytes, space,
                                        ret_chain);
                if (ret_chain->n_frames < 2) {
                        loss_counter_add(losses, TRACE_LOSS_STACK_NOT_UNWOUND, 1);
                        return;
                }
        }
        event_stack_count_missing(ret_chain->state, losses);
}
