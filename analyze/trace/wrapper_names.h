/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/wrapper_names.h - functions that languages put around a wait, by their names
 *
 * Way of the data:  function_table -> [wrapper_names] -> wait_places
 *
 * C++ and Rust have much of their libraries in headers, so that it becomes part of the program: a wait in
 * std::mutex::lock() says no more than one in pthread_mutex_lock().
 */
#ifndef ANALYZE_TRACE_WRAPPER_NAMES_H
#define ANALYZE_TRACE_WRAPPER_NAMES_H

#include "base/text_view.h"

#include <stdbool.h>

/*
 * Whether a function of this name, readable and with parameters and return type or without, is one of those.
 */
bool wrapper_names_have(struct text_view name);

/*
 * Whether it is one of the client library, by which a program reports its events, or of an interface on
 * top of that.
 */
bool wrapper_names_have_client(struct text_view name);

#endif /* ANALYZE_TRACE_WRAPPER_NAMES_H */
