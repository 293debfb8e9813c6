/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_identity.h - functions of one name, before and after: which are the same
 *
 * Way of the data:  diff_run -> [diff_identity] -> diff_comparison
 *
 * By where they are declared first: the same file, line and instance.  The rest is matched within a file, in
 * order, where both sides have as many: lines move.  A name is enough where both sides have one function of
 * it alone; and where a recording does not say which of them it means, all functions of the name are one.
 */
#ifndef ANALYZE_DIFF_DIFF_IDENTITY_H
#define ANALYZE_DIFF_DIFF_IDENTITY_H

#include <stdint.h>

struct diff_names;
struct diff_run;

/*
 * diff_identity_settle() - give functions that are the same one key, and the others names that differ
 * @runs:  all of them, those before first
 * Returns 0 or -ENOMEM.
 */
int diff_identity_settle(struct diff_names *names, struct diff_run *runs, uint32_t n_before,
                         uint32_t n_after);

#endif /* ANALYZE_DIFF_DIFF_IDENTITY_H */
