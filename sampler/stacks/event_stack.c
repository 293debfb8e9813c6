/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/event_stack.h"

#include "base/bytes.h"
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/stacks/stack_end.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "unwind/unwind_machine.h"

#include <stdbool.h>
#include <string.h>

#define WORD_BYTES 8

/* True if @avma is not code: the register that led there was no frame pointer. */
static bool leaves_code(const struct address_space *space, uint64_t avma)
{
        return space->n_ranges > 0 && !address_space_find(space, avma);
}

static void begin(struct call_chain *chain)
{
        chain->n_frames = 0;
        chain->state = TRACE_STACK_FRAME_POINTERS;
}

/* Adds one frame; returns false if the chain ends here. */
static bool add(struct call_chain *chain, const struct address_space *space, uint64_t avma,
                bool return_address)
{
        if (avma == 0)
                return false;
        if (leaves_code(space, avma)) {
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

/* Reads the word at @avma of a stack whose copy begins at @sp; false if the copy does not have it. */
static bool load(const struct byte_reader *stack, uint64_t sp, uint64_t avma, uint64_t *ret_word)
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

        begin(ret_chain);
        if (in.short_read || !add(ret_chain, space, pc, false))
                return;
        while (load(&in, sp, frame + (uint64_t)machine->record_fp, &caller) &&
               load(&in, sp, frame + (uint64_t)machine->record_ra, &address)) {
                address = unwind_machine_address(machine, address);
                /* Callers lie higher up: so it ends. */
                if (!add(ret_chain, space, address, true) || caller <= frame)
                        return;
                frame = caller;
        }
        /*
         * The chain goes on beyond the copy, or the register held no frame pointer: a 0 then does not mark
         * the root.
         */
        if (frame != 0 || ret_chain->n_frames == 1)
                ret_chain->state = TRACE_STACK_TRUNCATED;
}

static void take_frames(const struct client_prefix *prefix, const struct address_space *space,
                        struct call_chain *ret_chain)
{
        struct byte_reader in = byte_reader_of(prefix->frames, (size_t)prefix->n_frames * WORD_BYTES);

        begin(ret_chain);
        while (in.left > 0 && add(ret_chain, space, bytes_u64(&in), true))
                ;
        if (in.left == 0 && prefix->n_frames >= CLIENT_ABI_CALLSTACK_FRAMES_MAX &&
            ret_chain->state == TRACE_STACK_FRAME_POINTERS)
                ret_chain->state = TRACE_STACK_TOO_DEEP;
}

/* Walks the copy with the unwind tables; false if the walk failed before the first caller. */
static bool walk_copy(const struct client_prefix *prefix, struct stack_unwinder *unwinder,
                      struct thread_track *thread, struct address_space *space, struct call_chain *ret_chain)
{
        struct byte_reader in = byte_reader_of(prefix->stack, prefix->stack_bytes);
        struct stack_unwinder_copy copy = { .space = space, .pc_avma = bytes_u64(&in) };

        copy.sp_avma = bytes_u64(&in);
        copy.fp_avma = bytes_u64(&in);
        copy.bytes = in.at;
        copy.n_bytes = in.left;
        return unwinder && !in.short_read && stack_unwinder_run_copy(unwinder, &copy, thread, ret_chain) &&
               (ret_chain->n_frames > 1 || ret_chain->state < TRACE_STACK_TRUNCATED);
}

/*
 * Takes the call chain from the copy.  False if the copy could not be unwound: the chain has one frame or
 * none.
 */
static bool take_copy(const struct client_prefix *prefix, struct stack_unwinder *unwinder,
                      struct thread_track *thread, struct address_space *space, struct call_chain *ret_chain)
{
        if (walk_copy(prefix, unwinder, thread, space, ret_chain))
                return true;
        event_stack_unwind_copy(unwind_machine_own(), prefix->stack, prefix->stack_bytes, space, ret_chain);
        return ret_chain->n_frames > 1;
}

/*
 * True if all frames but the last lie in code.  The last one is found again in the copy, which begins in the
 * stack frame of its function.
 */
static bool has_frames_before(const struct client_prefix *prefix, const struct address_space *space)
{
        struct byte_reader in = byte_reader_of(prefix->frames, (size_t)prefix->n_frames * WORD_BYTES);

        for (uint32_t n = prefix->n_frames; n > 1; n--) {
                uint64_t avma = bytes_u64(&in);

                if (avma == 0 || leaves_code(space, avma))
                        return false;
        }
        return true;
}

/* Puts the frames of @prefix before those found in the copy. */
static void put_frames_before(const struct client_prefix *prefix, struct call_chain *chain)
{
        struct byte_reader in = byte_reader_of(prefix->frames, (size_t)prefix->n_frames * WORD_BYTES);
        uint32_t n = prefix->n_frames - 1;

        if (chain->n_frames > CALL_CHAIN_FRAMES_MAX - n) {
                chain->n_frames = CALL_CHAIN_FRAMES_MAX - n;
                chain->state = TRACE_STACK_TOO_DEEP;
        }
        memmove(chain->frames + n, chain->frames, chain->n_frames * sizeof(*chain->frames));
        chain->n_frames += n;
        for (uint32_t i = 0; i < n; i++)
                chain->frames[i] = (struct call_frame){ .avma = bytes_u64(&in), .return_address = true };
        chain->frames[n].return_address = n > 0;
}

void event_stack_unwind(const struct client_prefix *prefix, struct stack_unwinder *unwinder,
                        struct thread_track *thread, struct address_space *space, struct loss_counter *losses,
                        struct call_chain *ret_chain)
{
        bool has_copy = prefix->stack_bytes > 0 && unwind_machine_own();

        begin(ret_chain);
        if (has_copy && prefix->n_frames > 0 && has_frames_before(prefix, space)) {
                (void)take_copy(prefix, unwinder, thread, space, ret_chain);
                if (ret_chain->n_frames > 0)
                        put_frames_before(prefix, ret_chain);
                else /* the last frame is not code */
                        take_frames(prefix, space, ret_chain);
        } else if (prefix->n_frames > 0) {
                take_frames(prefix, space, ret_chain);
        } else if (has_copy && !take_copy(prefix, unwinder, thread, space, ret_chain)) {
                loss_counter_add(losses, TRACE_LOSS_STACK_NOT_UNWOUND, 1);
                return;
        }
        stack_end_count(losses, ret_chain->state);
}
