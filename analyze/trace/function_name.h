/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/function_name.h - a function's name: its suffixes, and whether the function is a wrapper
 *
 * Way of the data:  names of SYMBOLS -> [function_name] -> function_labels, function_choice, diff_names,
 *                   wait_places, call_finder, reports
 *
 * Compilers and function_labels append to names.  Languages put functions around a wait: much of the
 * libraries of C++ and Rust becomes part of the program; a wait in std::mutex::lock() means no more than one
 * in pthread_mutex_lock().
 */
#ifndef ANALYZE_TRACE_FUNCTION_NAME_H
#define ANALYZE_TRACE_FUNCTION_NAME_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>

/* "f" for "f.constprop.0", "f.part.1.cold", "f [clone .isra.0]"; a beginning of @name. */
struct text_view plain_name_of_function(struct text_view name);

/* The length in bytes of a suffix like " (a.c)" in "step (a.c)"; 0 = it has none. */
size_t plain_name_label_bytes(struct text_view name);

/* Whether @wanted is the name, perhaps without parameters and such a suffix: "step" is "step(int) (a.c)". */
bool plain_name_is(struct text_view name, struct text_view wanted);

/*
 * Whether a function of this demangled name, with parameters and return type or without, is one that
 * languages put around a wait.
 */
bool wrapper_names_have(struct text_view name);

/*
 * Whether the function belongs to the client library, by which a program reports its events, or to an
 * interface on top of it.
 */
bool wrapper_names_have_client(struct text_view name);

#endif /* ANALYZE_TRACE_FUNCTION_NAME_H */
