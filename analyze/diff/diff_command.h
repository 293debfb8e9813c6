/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_command.h - whether two recordings are of the same program, in the same environment
 *
 * Way of the data:  META of two traces -> [diff_command] -> cmd_diff
 *
 * A trace is foreign, so its command line and its variables may be any bytes.  Pure functions.
 */
#ifndef ANALYZE_DIFF_DIFF_COMMAND_H
#define ANALYZE_DIFF_DIFF_COMMAND_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The program's name in a command line; empty if there is none.  It is the file name without folders:
 * build-old/app and build-new/app are the same program.
 */
struct text_view diff_program_name(struct text_view command);

/* The arguments, blanks between; empty without any. */
struct text_view diff_program_arguments(struct text_view command);

/* A variable of one of two environments, or of both with different values. */
struct diff_variable {
        struct text_view name, first, second; /* values; `bytes` is NULL where it is not set */
};

/* The variables that are left to compare; the caller sets both environments, the rest is 0. */
struct diff_environment {
        struct text_view first, second; /* "A=1 B=2"; empty = unknown, so nothing differs */
        size_t at;
        bool is_second;
};

/*
 * diff_environment_next() - the next variable that differs
 * Returns 1, or 0 at the end.
 */
int diff_environment_next(struct diff_environment *e, struct diff_variable *ret_variable);

#endif /* ANALYZE_DIFF_DIFF_COMMAND_H */
