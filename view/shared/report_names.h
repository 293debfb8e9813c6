/* SPDX-License-Identifier: MIT */
/*
 * view/shared/report_names.h - what functions and files are called in text, also those without a name
 *
 * Way of the data:  report -> [report_names] -> *_view
 */
#ifndef VIEW_SHARED_REPORT_NAMES_H
#define VIEW_SHARED_REPORT_NAMES_H

#include "analyze/samples/function_table.h"
#include "base/text_view.h"

#include <stdbool.h>

/* The function's name, or in brackets why it has none. */
struct text_view report_names_function(struct text_view name, enum function_kind kind);

/* Without folders: the JSON has the whole path. "-" for none. */
struct text_view report_names_file(struct text_view path);

/* Static words as a string. */
struct text_view report_names_words(const char *words);

/* The same for programs: "named", "no_symbol" ... */
const char *report_names_kind(enum function_kind kind);
#define REPORT_NAMES_KIND_WORDS                                                                            \
        "named; no_symbol; stale_file: its file has changed since the recording; no_module: the address "  \
        "lies in none; no_callstack; unnamed: it has no symbol, and `function` is made of its module and " \
        "its first address; mark: `function` says something in the place of a function, such as "          \
        "[truncated] where callers are missing, and has no self time"

/* Whether what an event counts is ns. */
bool report_names_is_time(struct text_view unit);

#endif /* VIEW_SHARED_REPORT_NAMES_H */
