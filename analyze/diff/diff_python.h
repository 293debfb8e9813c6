/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_python.h - recordings of a Python program: its Python functions are compared
 *
 * Way of the data:  diff_run -> [diff_python] -> diff_identity, diff_comparison
 *
 * The rule of analyze/samples/python_stacks.h has to hold for one run, and all need Python functions: where
 * one has none, as if recorded without BPF, native functions are what all runs have.
 */
#ifndef ANALYZE_DIFF_DIFF_PYTHON_H
#define ANALYZE_DIFF_DIFF_PYTHON_H

#include <stdint.h>

struct diff_names;
struct diff_run;

/*
 * diff_python_settle() - let native code count for the Python functions that called it, in all runs or none
 * @runs:  all of them, loaded
 * @only:  the glob of the names that are asked for, if there is one: if only native functions fit, they are
 *         compared
 * Returns 0 or -ENOMEM.
 */
int diff_python_settle(const struct diff_names *names, struct diff_run *runs, uint32_t n_runs,
                       const char *only);

#endif /* ANALYZE_DIFF_DIFF_PYTHON_H */
