/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/event_stack.c: a copied stack is followed within its copy only, and
 * what is missing is counted
 */
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/stacks/event_stack.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"

#include <stdlib.h>
#include <string.h>

#define CODE UINT64_C(0x400000)
#define SP   UINT64_C(0x7fff0000)
#define N    32 /* words of the copied stack */

struct fixture {
        struct loss_counter losses;
        struct call_chain chain;
        struct process_track process; /* only its address space */
        struct thread_track thread;
        uint64_t copy[3 + N]; /* pc, sp, frame pointer, stack */
};

static struct fixture f;

static void set_up(void)
{
        struct address_range code = { .start_avma = CODE, .end_avma = CODE + 0x1000, .module = 1 };

        memset(&f, 0, sizeof(f));
        address_space_init(&f.process.space);
        ck_assert_int_eq(address_space_add(&f.process.space, &code), 0);
        f.thread.process = &f.process;
        f.copy[0] = CODE + 1;
        f.copy[1] = SP;
}

static void tear_down(void)
{
        address_space_deinit(&f.process.space);
}

static uint64_t address_of(int word)
{
        return SP + (uint64_t)word * 8;
}

/* The frame pointer that points to word @at of the stack: its caller's one, and the address of the return. */
static void put_frame(int at, uint64_t caller, uint64_t address)
{
        f.copy[3 + at + unwind_machine_own()->record_fp / 8] = caller;
        f.copy[3 + at + unwind_machine_own()->record_ra / 8] = address;
}

static void unwind(size_t n_bytes)
{
        const struct client_prefix prefix = { .stack = (const uint8_t *)f.copy,
                                              .stack_bytes = (uint32_t)n_bytes };

        event_stack_unwind(&prefix, NULL, &f.thread, &f.thread.process->space, &f.losses, &f.chain);
}

START_TEST(test_copy)
{
        f.copy[2] = address_of(4);
        put_frame(4, address_of(10), CODE + 2);
        put_frame(10, address_of(20), CODE + 3);
        put_frame(20, 0, CODE + 4);
        unwind(sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 4);
        for (uint64_t i = 0; i < 4; i++) {
                ck_assert_uint_eq(f.chain.frames[i].avma, CODE + 1 + i);
                ck_assert(f.chain.frames[i].return_address == (i > 0));
                ck_assert(!f.chain.frames[i].in_kernel);
        }
        for (size_t reason = 0; reason < TRACE_LOSS_COUNT; reason++)
                ck_assert_uint_eq(f.losses.totals[reason], 0);
}
END_TEST

/* The frames of a chain that broke, and the stack from its last frame on. */
static void unwind_both(const uint64_t *frames, uint32_t n_frames, size_t n_bytes)
{
        const struct client_prefix prefix = { .frames = (const uint8_t *)frames,
                                              .n_frames = n_frames,
                                              .stack = (const uint8_t *)f.copy,
                                              .stack_bytes = (uint32_t)n_bytes };

        event_stack_unwind(&prefix, NULL, &f.thread, &f.thread.process->space, &f.losses, &f.chain);
}

START_TEST(test_frames_and_a_copy)
{
        const uint64_t frames[] = { CODE + 11, CODE + 12, CODE + 13 };
        const uint64_t wanted[] = { CODE + 11, CODE + 12, CODE + 13, CODE + 2, CODE + 3 };
        const uint64_t no_code[] = { CODE + 11, CODE + 0x5000, CODE + 13 };

        f.copy[0] = CODE + 13;
        f.copy[2] = address_of(4);
        put_frame(4, address_of(10), CODE + 2);
        put_frame(10, 0, CODE + 3);
        unwind_both(frames, 3, sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 5);
        for (size_t i = 0; i < 5; i++) {
                ck_assert_uint_eq(f.chain.frames[i].avma, wanted[i]);
                ck_assert(f.chain.frames[i].return_address);
        }
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TRUNCATED], 0);

        /* One that leaves the code: what comes after it is not believed. */
        unwind_both(no_code, 3, sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_LEFT_CODE], 1);
}
END_TEST

/* Nothing can be found out from the copy: the frames are there, and their callers are missing. */
START_TEST(test_frames_and_nothing_more)
{
        const uint64_t frames[] = { CODE + 11, CODE + 12, CODE + 13 };

        f.copy[0] = CODE + 13;
        f.copy[2] = 0; /* a loop counter */
        unwind_both(frames, 3, sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 3);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TRUNCATED], 1);
        unwind_both(frames, 3, CLIENT_ABI_STACK_COPY_HEADER_BYTES);
        ck_assert_uint_eq(f.chain.n_frames, 3);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TRUNCATED], 2);
}
END_TEST

/* loop test over machines: each puts a caller's frame elsewhere, and AArch64 signs its address */
START_LOOP_TEST(test_machines, 0, 3)
{
        const struct unwind_machine *const machines[] = { &unwind_machine_x86_64, &unwind_machine_aarch64,
                                                          &unwind_machine_riscv64 };
        const struct unwind_machine *machine = machines[_i];
        const uint64_t signature = machine == &unwind_machine_aarch64 ? UINT64_C(0x2a) << 48 : 0;

        f.copy[2] = address_of(4);
        f.copy[3 + 4 + machine->record_fp / 8] = address_of(10);
        f.copy[3 + 4 + machine->record_ra / 8] = (CODE + 2) | signature;
        f.copy[3 + 10 + machine->record_ra / 8] = (CODE + 3) | signature;
        event_stack_unwind_copy(machine, (const uint8_t *)f.copy, sizeof(f.copy), &f.process.space, &f.chain);
        ck_assert_uint_eq(f.chain.n_frames, 3);
        for (uint64_t i = 0; i < 3; i++)
                ck_assert_uint_eq(f.chain.frames[i].avma, CODE + 1 + i);
}
END_TEST

/* Callers that were not copied are missing, and that is said. */
START_TEST(test_copy_ends_early)
{
        f.copy[2] = address_of(4);
        put_frame(4, address_of(10), CODE + 2);
        put_frame(10, address_of(N + 2), CODE + 3); /* on each machine, also below it */
        unwind(sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 3);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TRUNCATED], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_NOT_UNWOUND], 0);
}
END_TEST

/* loop test over frame pointers that are none: below the copy, after it, not all of it within, anywhere */
START_LOOP_TEST(test_no_frame_pointer, 0, 7)
{
        const uint64_t frames[] = { 0, SP - 8, SP - 16, address_of(N), address_of(N) - 8, UINT64_MAX, 1 };

        f.copy[2] = frames[_i];
        unwind(sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 1);
        ck_assert_uint_eq(f.chain.frames[0].avma, CODE + 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_NOT_UNWOUND], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TRUNCATED], 0); /* one reason is enough */
}
END_TEST

START_TEST(test_circle)
{
        f.copy[2] = address_of(4);
        put_frame(4, address_of(4), CODE + 2);
        unwind(sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 2);
}
END_TEST

START_TEST(test_leaves_code)
{
        f.copy[2] = address_of(4);
        put_frame(4, address_of(10), CODE + 2);
        put_frame(10, address_of(20), SP); /* data */
        put_frame(20, 0, CODE + 4);
        unwind(sizeof(f.copy));
        ck_assert_uint_eq(f.chain.n_frames, 2);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_LEFT_CODE], 1);
}
END_TEST

/* Every length of a copy, also shorter than its header; and copies of anything. */
START_TEST(test_hostile)
{
        uint64_t random = 5;
        size_t whole_bytes; /* of the copy, up to the end of the first frame */

        f.copy[2] = address_of(4);
        put_frame(4, address_of(10), CODE + 2);
        whole_bytes = 24 + 4 * 8 + (size_t)(unwind_machine_own()->record_ra + 8);
        for (size_t n_bytes = 1; n_bytes <= sizeof(f.copy); n_bytes++) {
                uint8_t *copy = malloc(n_bytes); /* so that a sanitizer sees every byte too many */

                ck_assert_ptr_nonnull(copy);
                memcpy(copy, f.copy, n_bytes);
                event_stack_unwind_copy(unwind_machine_own(), copy, n_bytes, &f.process.space, &f.chain);
                ck_assert_uint_eq(f.chain.n_frames, n_bytes < 24 ? 0 : n_bytes < whole_bytes ? 1 : 2);
                free(copy);
        }
        address_space_clear(&f.process.space); /* nothing is known of the code: all addresses are believed */
        for (int round = 0; round < 10000; round++) {
                for (size_t i = 0; i < 3 + N; i++)
                        f.copy[i] = i == 1 ? SP : SP + fixed_random_next(&random) % 400;
                unwind(sizeof(f.copy));
                ck_assert_uint_ge(f.chain.n_frames, 1);
                ck_assert_uint_le(f.chain.n_frames, 8 * (N + 1));
        }
}
END_TEST

START_TEST(test_addresses)
{
        uint64_t addresses[CLIENT_ABI_CALLSTACK_FRAMES_MAX];
        struct client_prefix prefix = { .frames = (const uint8_t *)addresses, .n_frames = 3 };

        for (uint64_t i = 0; i < CLIENT_ABI_CALLSTACK_FRAMES_MAX; i++)
                addresses[i] = CODE + i;
        event_stack_unwind(&prefix, NULL, &f.thread, &f.thread.process->space, &f.losses, &f.chain);
        ck_assert_uint_eq(f.chain.n_frames, 3);
        for (uint64_t i = 0; i < 3; i++) {
                ck_assert_uint_eq(f.chain.frames[i].avma, CODE + i);
                ck_assert(f.chain.frames[i].return_address);
        }
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TOO_DEEP], 0);
        prefix.n_frames = CLIENT_ABI_CALLSTACK_FRAMES_MAX;
        event_stack_unwind(&prefix, NULL, &f.thread, &f.thread.process->space, &f.losses, &f.chain);
        ck_assert_uint_eq(f.chain.n_frames, CLIENT_ABI_CALLSTACK_FRAMES_MAX);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_STACK_TOO_DEEP], 1);
        prefix = (struct client_prefix){ .n_frames = 0 };
        event_stack_unwind(&prefix, NULL, &f.thread, &f.thread.process->space, &f.losses, &f.chain);
        ck_assert_uint_eq(f.chain.n_frames, 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
