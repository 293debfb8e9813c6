/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/function_labels.h - different functions of one name get different names
 *
 * Way of the data:  trace_reader's dictionary -> [function_labels] -> loaded_trace -> reports, exports
 *
 * A function is a place in a module: where it is declared, or where it begins.  Where several functions of a
 * module share a name, each gets a suffix: "step (a.c)", and the line as well for lambdas, "operator()
 * (main.cpp:12)", and where files are equal; an address if no declaration is known.  A part that the compiler
 * put elsewhere ("step.cold") goes with its function.  If two modules have the same file name, their
 * functions get the folder of their module, "step (one/lib.so)".
 *
 * Code that a program made has no such places, and recordings of older versions have none at all: there a
 * name is a function.
 */
#ifndef ANALYZE_TRACE_FUNCTION_LABELS_H
#define ANALYZE_TRACE_FUNCTION_LABELS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct trace_dictionary;

/*
 * function_labels_settle() - give rows of SYMBOLS the names to show
 * If a row gets another name, `plain_name` keeps that of the file.
 * Returns 0, -ENOMEM or -EOVERFLOW; the names are as before then.
 */
int function_labels_settle(struct trace_dictionary *d);

/*
 * Appends the line of a declaration as names have it, ":12"; with @with_instance also a number that
 * distinguishes functions of one line: ":12 #2", or the column of a lambda, ":12:25".
 */
void function_labels_put_place(struct byte_buffer *out, struct text_view name, uint32_t line,
                               uint32_t instance, bool with_instance);

#endif /* ANALYZE_TRACE_FUNCTION_LABELS_H */
