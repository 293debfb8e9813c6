/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/wrapper_names.h - functions that languages put around a wait, by their names
 *
 * Way of the data:  function_table -> [wrapper_names] -> wait_places
 *
 * C++ and Rust have much of their libraries in headers, so that it becomes part
 * of the program: who waits in std::mutex::lock() is not told more than who
 * waits in pthread_mutex_lock().
 */
#ifndef ANALYZE_TRACE_WRAPPER_NAMES_H
#define ANALYZE_TRACE_WRAPPER_NAMES_H

#include "analyze/trace/report_string.h"

#include <stdbool.h>

/* Whether a function of this name, readable and with parameters and return type or without, is one of those. */
bool wrapper_names_have(struct report_string name);

/* Whether it is one of the client library, by which a program tells of its events, or of an interface on top of that. */
bool wrapper_names_have_client(struct report_string name);

#endif /* ANALYZE_TRACE_WRAPPER_NAMES_H */
