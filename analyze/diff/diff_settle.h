/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_settle.h - gives all runs of a comparison the same functions
 *
 * Way of the data:  diff_run -> [diff_settle] -> diff_comparison
 *
 * First decides whether to compare Python or native functions, then which functions of one name are the same.
 */
#ifndef ANALYZE_DIFF_DIFF_SETTLE_H
#define ANALYZE_DIFF_DIFF_SETTLE_H

#include <stdint.h>

struct diff_names;
struct diff_run;

/*
 * diff_python_settle() - let native code count for the Python functions that called it, in all runs or none
 *
 * The rule of analyze/samples/python_stacks.h has to hold for one run, and all runs need Python functions: if
 * one has none, for instance because it was recorded without BPF, only native functions can be compared.
 * @runs:  all of them, loaded
 * @only:  the glob of the wanted names, if there is one: if only native functions fit it, native functions
 *         are compared
 * Returns 0 or -ENOMEM.
 */
int diff_python_settle(const struct diff_names *names, struct diff_run *runs, uint32_t n_runs,
                       const char *only);

/*
 * diff_identity_settle() - give equal functions one key, and different functions different names
 *
 * First matches functions by their declaration: the same file, line and instance.  Since lines move, it then
 * matches the rest of each file in order, if both sides have equally many.  The name is enough if each side
 * has only one function with it; and if a recording does not tell these functions apart, all functions of
 * that name are one.
 * @runs:  all of them, the ones before the change first
 * Returns 0 or -ENOMEM.
 */
int diff_identity_settle(struct diff_names *names, struct diff_run *runs, uint32_t n_before,
                         uint32_t n_after);

#endif /* ANALYZE_DIFF_DIFF_SETTLE_H */
