/* SPDX-License-Identifier: MIT */
/*
 * unwind/code_exit.h - finds how a function returns, from its instructions after one place
 *
 * Way of the data:  bytes of code -> [code_exit] -> unwind_rule -> stack_walk
 *
 * For code without unwind information that keeps no frame pointer: the trampolines of Python 3.12 and
 * others are a few instructions long.  The search follows instructions whose effect on the stack is known, up
 * to the return; at a jump, or any other instruction, it gives up.  So a rule that it finds is right for
 * these bytes.
 */
#ifndef UNWIND_CODE_EXIT_H
#define UNWIND_CODE_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_EXIT_BYTES 32 /* that are worth reading */

struct unwind_machine;
struct unwind_rule;

/*
 * code_exit_find() - the rule for the place where @bytes begin
 * @machine:  only x86-64 is known
 * Returns false if the way to the return is not that simple.
 */
bool code_exit_find(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes,
                    struct unwind_rule *ret_rule);

/* Whether @bytes begin with a signal trampoline, to which a handler returns. */
bool code_exit_is_sigreturn(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes);

/*
 * Whether the code at a return address certainly never returns itself, as the first function of a thread.
 * Only x86-64 is known.
 */
bool code_exit_is_never(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes);

#endif /* UNWIND_CODE_EXIT_H */
