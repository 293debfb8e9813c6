/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_program.h - whether two recordings are of the same program, by their command lines
 *
 * Way of the data:  META of a trace -> [diff_program] -> cmd_diff
 *
 * A program is its file name without folders: build-old/app and build-new/app are the
 * same one.  Pure functions.
 */
#ifndef ANALYZE_DIFF_DIFF_PROGRAM_H
#define ANALYZE_DIFF_DIFF_PROGRAM_H

#include "base/text_view.h"

/* The program's name in a command line; empty if there is none. */
struct text_view diff_program_name(struct text_view command);

/* The arguments, blanks between; empty without any. */
struct text_view diff_program_arguments(struct text_view command);

#endif /* ANALYZE_DIFF_DIFF_PROGRAM_H */
