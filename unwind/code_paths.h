/* SPDX-License-Identifier: MIT */
/*
 * unwind/code_paths.h - finds how a function returns, along the paths that lead from one place to its end
 *
 * Way of the data:  bytes of code -> code_effect -> [code_paths] -> unwind_rule -> stack_walk
 *
 * For compiled code without unwind information on RISC-V and AArch64 that keeps no frame pointer, such as C
 * that gcc 12 compiled for RISC-V.  Instructions are followed in order, to both sides of branches, until one
 * returns: by then the code has loaded the return address from its place on the stack, or it is still in the
 * register.  So neither the begin of the function nor its name is needed.  A jump by a register or out of the
 * bytes ends the function as well if the return address has been loaded; else the path ends unfinished, as it
 * does where the next function begins, whose first instructions would store a return address that is none.
 * The paths that were branched off are followed then.
 *
 * The result is likely, not certain: a function that never returns may be followed by code of another one
 * that takes down a frame without setting one up.  So a caller is believed only if a call leads to its
 * return address (code_paths_is_after_call()).
 */
#ifndef UNWIND_CODE_PATHS_H
#define UNWIND_CODE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_machine;
struct unwind_rule;

#define CODE_PATHS_BYTES_MAX    4096 /* longer code is cut */
#define CODE_PATHS_BYTES_BEFORE 1024 /* of them that are worth having before the place */
#define CODE_PATHS_CALL_BYTES   4    /* the longest call */

/* Whether code of this machine can be followed. */
bool code_paths_know(const struct unwind_machine *machine);

/*
 * code_paths_find() - the rule for a place
 * @bytes, @at:       code, and the place in it
 * @is_return:        a call returns to the place: the register has no return address of this function
 * Returns false if no path leads to a return.  Costs some microseconds at most.
 */
bool code_paths_find(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes, size_t at,
                     bool is_return, struct unwind_rule *ret_rule);

/* Whether @bytes, those just before a return address, end with a call. */
bool code_paths_is_after_call(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes);

#endif /* UNWIND_CODE_PATHS_H */
