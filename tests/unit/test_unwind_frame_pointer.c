/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/unwind_frame_pointer.c: the kernel's chain becomes frames, each on its side; what
 * was cut is said to be cut
 */
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/address_space.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <string.h>

#define KERNEL       ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER         ((uint64_t)PERF_CONTEXT_USER)
#define GUEST        ((uint64_t)PERF_CONTEXT_GUEST)
#define GUEST_KERNEL ((uint64_t)PERF_CONTEXT_GUEST_KERNEL)
#define HYPERVISOR   ((uint64_t)PERF_CONTEXT_HV)

#define STACK_MAX 127 /* what the kernel records of one stack unless it is told otherwise */
#define CHAIN_MAX (2 * CALL_CHAIN_FRAMES_MAX)

static void unwind(const uint64_t *chain, size_t n_chain, bool in_kernel, struct call_chain *ret_result)
{
        struct raw_stack sample = { .ip_avma = 0xabc, .in_kernel = in_kernel, .n_chain = n_chain };
        const struct address_space unknown = { .n_ranges = 0 };

        memset(ret_result, 0xff, sizeof(*ret_result));
        sample.chain = (const uint8_t *)chain;
        unwind_frame_pointer_run(&sample, &unknown, ret_result);
}

static const struct {
        uint64_t chain[8];
        size_t n_chain;
        struct {
                uint64_t avma;
                bool in_kernel, return_address;
        } frames[6];
        uint32_t n_frames;
} cases[] = {
        { { USER, 0x10, 0x20, 0x30 }, 4, { { 0x10, 0, 0 }, { 0x20, 0, 1 }, { 0x30, 0, 1 } }, 3 },
        { { KERNEL, 0x90, 0x91, USER, 0x10, 0x20 },
          6,
          { { 0x90, 1, 0 }, { 0x91, 1, 1 }, { 0x10, 0, 0 }, { 0x20, 0, 1 } },
          4 },
        { { KERNEL, 0x90 }, 2, { { 0x90, 1, 0 } }, 1 },
        { { KERNEL, 0x90, GUEST_KERNEL, 1, GUEST, 2, USER, 0x10 }, 8, { { 0x90, 1, 0 }, { 0x10, 0, 0 } }, 2 },
        { { HYPERVISOR, 1, 2, KERNEL, 0x90, 0x91 }, 6, { { 0x90, 1, 0 }, { 0x91, 1, 1 } }, 2 },
        { { (uint64_t)PERF_CONTEXT_MAX, 1, USER, 0x10 }, 4, { { 0x10, 0, 0 } }, 1 },
        { { (uint64_t)PERF_CONTEXT_MAX - 1, 0x10 },
          2,
          { { (uint64_t)PERF_CONTEXT_MAX - 1, 0, 0 }, { 0x10, 0, 1 } },
          2 },
        /* Nothing to go by: where the sample was is one frame at least. */
        { { 0 }, 0, { { 0xabc, 0, 0 } }, 1 },
        { { USER }, 1, { { 0xabc, 0, 0 } }, 1 },
        { { GUEST, 1, 2 }, 3, { { 0xabc, 0, 0 } }, 1 },
};

/* loop test */
START_LOOP_TEST(test_chain, 0, sizeof(cases) / sizeof(cases[0]))
{
        static struct call_chain result;

        unwind(cases[_i].chain, cases[_i].n_chain, false, &result);
        ck_assert_uint_eq(result.n_frames, cases[_i].n_frames);
        ck_assert_int_eq(result.state, TRACE_STACK_FRAME_POINTERS);
        for (size_t i = 0; i < result.n_frames; i++) {
                ck_assert_uint_eq(result.frames[i].avma, cases[_i].frames[i].avma);
                ck_assert(result.frames[i].in_kernel == cases[_i].frames[i].in_kernel);
                ck_assert(result.frames[i].return_address == cases[_i].frames[i].return_address);
        }
}
END_TEST

START_TEST(test_no_chain)
{
        struct raw_stack sample = { .ip_avma = 0xabc, .in_kernel = true, .n_chain = 99 };
        static struct call_chain result;

        unwind_frame_pointer_run(&sample, NULL, &result);
        ck_assert_uint_eq(result.n_frames, 1);
        ck_assert_uint_eq(result.frames[0].avma, 0xabc);
        ck_assert(result.frames[0].in_kernel);
        ck_assert(!result.frames[0].return_address);
}
END_TEST

/* Before any marker the frames are on the side where the sample was. */
START_TEST(test_chain_without_marker)
{
        static const uint64_t chain[] = { 0x90 };
        static struct call_chain result;

        unwind(chain, 1, true, &result);
        ck_assert(result.frames[0].in_kernel);
        unwind(chain, 1, false, &result);
        ck_assert(!result.frames[0].in_kernel);
}
END_TEST

/* @n_kernel and @n_user frames after their markers; returns whether callers are said to be missing. */
static bool is_truncated(size_t n_kernel, size_t n_user, size_t n_frames)
{
        static uint64_t chain[CHAIN_MAX];
        static struct call_chain result;
        size_t n = 0;

        chain[n++] = KERNEL;
        for (size_t i = 0; i < n_kernel; i++)
                chain[n++] = 0x9000 + i;
        chain[n++] = USER;
        for (size_t i = 0; i < n_user; i++)
                chain[n++] = 0x1000 + i;
        unwind(chain, n, n_kernel > 0, &result);
        ck_assert_uint_eq(result.n_frames, n_frames);
        return result.state == TRACE_STACK_TOO_DEEP;
}

/* The kernel's limit is one for both sides together; it says nothing when it reaches it. */
START_TEST(test_truncated_by_the_kernel)
{
        ck_assert(!is_truncated(0, STACK_MAX - 1, STACK_MAX - 1));
        ck_assert(is_truncated(0, STACK_MAX, STACK_MAX));
        ck_assert(!is_truncated(26, STACK_MAX - 27, STACK_MAX - 1));
        ck_assert(is_truncated(27, STACK_MAX - 27, STACK_MAX));
        ck_assert(is_truncated(STACK_MAX, 0, STACK_MAX));
}
END_TEST

START_TEST(test_truncated_by_our_limit)
{
        ck_assert(is_truncated(12, CALL_CHAIN_FRAMES_MAX, CALL_CHAIN_FRAMES_MAX));
        ck_assert(is_truncated(12, CHAIN_MAX - 14, CALL_CHAIN_FRAMES_MAX));
}
END_TEST

/*
 * A return address outside of the code ends the chain; where the thread stood does not,
 * nor does the kernel's.
 */
START_TEST(test_leaves_code)
{
        static const uint64_t chain[] = { KERNEL, 0x90, 0x91, USER, 0x5, 0x1010, 0x7, 0x1020 };
        struct raw_stack sample = { .chain = (const uint8_t *)chain, .n_chain = 8, .in_kernel = true };
        struct address_space space;
        static struct call_chain result;

        address_space_init(&space);
        ck_assert_int_eq(address_space_add(
                                 &space, &(struct address_range){ .start_avma = 0x1000, .end_avma = 0x2000 }),
                         0);
        unwind_frame_pointer_run(&sample, &space, &result);
        ck_assert_uint_eq(result.n_frames, 4);
        ck_assert_uint_eq(result.frames[3].avma, 0x1010);
        ck_assert_int_eq(result.state, TRACE_STACK_LEFT_CODE);
        address_space_deinit(&space);
}
END_TEST

/* The kernel's part alone: nothing of a user's side, whether the chain has one or not. */
START_TEST(test_kernel_part)
{
        static const uint64_t both[] = { KERNEL, 0x90, 0x91, USER, 0x10, 0x20 };
        static const uint64_t user[] = { USER, 0x10, 0x20 };
        struct raw_stack sample = { .ip_avma = 0x90, .in_kernel = true };
        static struct call_chain result;

        sample.chain = (const uint8_t *)both;
        sample.n_chain = 6;
        unwind_frame_pointer_run_kernel(&sample, &result);
        ck_assert_uint_eq(result.n_frames, 2);
        ck_assert_uint_eq(result.frames[1].avma, 0x91);
        ck_assert(result.frames[1].in_kernel && result.frames[1].return_address);

        sample.n_chain = 0; /* where it was is known without a chain */
        unwind_frame_pointer_run_kernel(&sample, &result);
        ck_assert_uint_eq(result.n_frames, 1);
        ck_assert(result.frames[0].in_kernel);

        sample = (struct raw_stack){ .ip_avma = 0x10, .chain = (const uint8_t *)user, .n_chain = 3 };
        unwind_frame_pointer_run_kernel(&sample, &result);
        ck_assert_uint_eq(result.n_frames, 0);
}
END_TEST
