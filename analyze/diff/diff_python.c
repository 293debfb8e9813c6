/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_python.h"

#include "analyze/diff/diff_names.h"
#include "analyze/diff/diff_run.h"

#include <stdbool.h>
#include <stddef.h>

/* After a Python function was fixed, less than half of a run may be below the other ones. */
static bool are_all_python(const struct diff_run *runs, uint32_t n_runs)
{
        bool are_most = false;

        for (uint32_t i = 0; i < n_runs; i++) {
                if (runs[i].n_samples == 0)
                        continue;
                if (!runs[i].folded)
                        return false;
                are_most = are_most || python_parts_are_most(&runs[i].parts);
        }
        return are_most;
}

/*
 * Whether all recordings that have waits or calls have Python functions.  If one does not, native functions
 * are shown as the callers in all of them.
 */
static bool have_all_python(const struct diff_run *runs, uint32_t n_runs)
{
        for (uint32_t i = 0; i < n_runs; i++)
                if (!runs[i].folded && (runs[i].has_waits || runs[i].has_calls))
                        return false;
        return true;
}

/* Whether all names that fit are of native functions, or of waits in them. */
static bool is_about_native(const struct diff_names *names, const struct diff_run *runs, uint32_t n_runs,
                            const char *only)
{
        bool is = false;

        for (uint32_t key = 1; key <= names->keys.n_items; key++) {
                uint32_t kind = diff_names_key(names, key)->kind;
                struct text_view name = diff_names_string(names, diff_names_key(names, key)->name);

                if (!diff_names_fits_glob(name, only))
                        continue;
                is = true;
                if (kind != DIFF_FUNCTION && kind != DIFF_WAIT)
                        return false;
                for (uint32_t i = 0; i < n_runs; i++)
                        if (runs[i].folded && diff_run_sum(runs[i].folded, key).n > 0)
                                return false;
        }
        return is;
}

int diff_python_settle(const struct diff_names *names, struct diff_run *runs, uint32_t n_runs,
                       const char *only)
{
        bool folds_functions = are_all_python(runs, n_runs), folds_calls = have_all_python(runs, n_runs);
        int r = 0;

        if (only && is_about_native(names, runs, n_runs, only))
                return 0;
        for (uint32_t i = 0; i < n_runs && r == 0; i++) {
                if (runs[i].folded && folds_functions)
                        r = diff_run_fold(&runs[i], names);
                if (r == 0 && runs[i].folded && folds_calls)
                        r = diff_run_fold_calls(&runs[i], names);
        }
        return r;
}
