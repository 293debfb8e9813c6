/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_settle.h - all runs of a comparison are made to speak of the same functions
 *
 * Way of the data:  diff_run -> [diff_settle] -> diff_comparison
 *
 * First whether those of Python or native ones are compared, then which functions of one name are the same.
 */
#ifndef ANALYZE_DIFF_DIFF_SETTLE_H
#define ANALYZE_DIFF_DIFF_SETTLE_H

#include <stdint.h>

struct diff_names;
struct diff_run;

/*
 * diff_python_settle() - let native code count for the Python functions that called it, in all runs or none
 *
 * The rule of analyze/samples/python_stacks.h has to hold for one run, and all need Python functions: where
 * one has none, as if recorded without BPF, native functions are what all runs have.
 * @runs:  all of them, loaded
 * @only:  the glob of the names that are asked for, if there is one: if only native functions fit, they are
 *         compared
 * Returns 0 or -ENOMEM.
 */
int diff_python_settle(const struct diff_names *names, struct diff_run *runs, uint32_t n_runs,
                       const char *only);

/*
 * diff_identity_settle() - give functions that are the same one key, and the others names that differ
 *
 * By where they are declared first: the same file, line and instance.  The rest is matched within a file, in
 * order, where both sides have as many: lines move.  A name is enough where both sides have one function of
 * it alone; and where a recording does not say which of them it means, all functions of the name are one.
 * @runs:  all of them, those before first
 * Returns 0 or -ENOMEM.
 */
int diff_identity_settle(struct diff_names *names, struct diff_run *runs, uint32_t n_before,
                         uint32_t n_after);

#endif /* ANALYZE_DIFF_DIFF_SETTLE_H */
