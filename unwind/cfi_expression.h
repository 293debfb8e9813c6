/* SPDX-License-Identifier: MIT */
/*
 * unwind/cfi_expression.h - evaluates the DWARF expressions of unwind information
 *
 * Way of the data:  unwind_table (expressions) -> [cfi_expression] -> stack_walk
 *
 * Expressions are for the rare rules that do not fit into a row of the table.  They come from files that are
 * not trusted: the number of steps and the stack are bounded, and an expression can read only through the two
 * functions of the caller.
 */
#ifndef UNWIND_CFI_EXPRESSION_H
#define UNWIND_CFI_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#define CFI_EXPRESSION_STACK_MAX 32
#define CFI_EXPRESSION_STEPS_MAX 1000

/* Callbacks through which an expression reads; both return 0 or -errno, which becomes the result. */
struct cfi_expression_view {
        int (*read_register)(void *context, uint64_t number, uint64_t *ret_value);
        int (*read_memory)(void *context, uint64_t avma, size_t n_bytes,
                           uint64_t *ret_value); /* 1, 2, 4 or 8 */
        void *context;
};

/*
 * cfi_expression_evaluate() - the value on top of the stack at the end
 * @initial:  NULL, or the value that the stack starts with (the CFA)
 * Returns 0, -EBADMSG for an expression that makes no sense, -ENOTSUP for an operation that unwinding
 * has no use for, -E2BIG for one that takes too long, or what the view returned.
 */
int cfi_expression_evaluate(const uint8_t *bytes, size_t n_bytes, const struct cfi_expression_view *view,
                            const uint64_t *initial, uint64_t *ret_value);

#endif /* UNWIND_CFI_EXPRESSION_H */
