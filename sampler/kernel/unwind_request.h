/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/unwind_request.h - how call stacks are made: the data that the kernel adds to each sample
 *
 * Way of the data:  options of the command line -> [unwind_request] -> event_attr, stack_unwinder
 */
#ifndef SAMPLER_KERNEL_UNWIND_REQUEST_H
#define SAMPLER_KERNEL_UNWIND_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_attr;

/*
 * FP: the kernel follows frame pointers.  DWARF: it copies the stack.  AUTO: as DWARF, FP
 * through code without a table.
 */
enum unwind_mode { UNWIND_AUTO = 0, UNWIND_FP, UNWIND_DWARF };

/*
 * Of Python programs.  AUTO: Python functions in call stacks, without the interpreter's own; FRAMES:
 * with them.
 */
enum python_mode { PYTHON_AUTO = 0, PYTHON_FRAMES, PYTHON_OFF };

/*
 * Bytes of the stack with each sample: more bytes cost the program time, and need larger rings.  LONG:
 * where rings have room for a quarter of a second of such samples; of clang's stacks, 87% are complete with
 * the default, 96% with it.
 */
#define UNWIND_COPY_DEFAULT (UINT32_C(1) << 14)
#define UNWIND_COPY_LONG    (UINT32_C(1) << 15)
#define UNWIND_COPY_MIN     (UINT32_C(1) << 10)
#define UNWIND_COPY_MAX     UINT32_C(65528) /* a record's length has 16 bits; the kernel cuts a bit more */

/* Which copies of stacks go into the trace as well. */
enum stack_keeping {
        STACK_KEEPING_NONE = 0,
        STACK_KEEPING_CUT, /* of call stacks that end for want of an unwind table */
        STACK_KEEPING_ALL,
};

/* Bytes of these copies in a recording; packed they take a twentieth of that, or less. */
#define STACK_KEEPING_BYTES_DEFAULT (UINT64_C(1) << 30)

struct unwind_request {
        enum unwind_mode mode;
        uint32_t copy_bytes; /* a multiple of 8; 0 = the default */
        bool innermost_only; /* of FP: no callers */
        enum stack_keeping keeping;
        uint64_t kept_bytes_max;
};

/* Puts into @attr what this request needs of the kernel with each sample; exclude_kernel is set before. */
void unwind_request_fill_attr(const struct unwind_request *request, struct perf_event_attr *attr);

/*
 * Returns @wanted, reduced to what is possible, with defaults filled in.  @has_copies: the kernel copies
 * stacks on this machine.
 */
struct unwind_request unwind_request_complete(const struct unwind_request *wanted, bool has_copies);

#endif /* SAMPLER_KERNEL_UNWIND_REQUEST_H */
