/* SPDX-License-Identifier: MIT */
/*
 * cli/files/trace_names.h - the names of one kind that a trace has: of its zones, threads, functions
 *
 * Way of the data:  trace_reader -> [trace_names] -> completion
 */
#ifndef CLI_FILES_TRACE_NAMES_H
#define CLI_FILES_TRACE_NAMES_H

#include "cli/options/argument_words.h"

#include <stddef.h>

/* Only the beginning of a large trace is read: people wait for it with their hands on the keys. */
#define TRACE_NAMES_FILE_BYTES_MAX (UINT64_C(64) << 20)

/* @name is hostile, and not terminated. */
typedef void trace_name_taker(void *context, const char *name, size_t n_bytes);

/*
 * trace_names_read() - hands over each name once
 * @kind:  of those that traces have; of another there are none
 * An unreadable trace has no names.
 */
void trace_names_read(const char *path, enum argument_kind kind, trace_name_taker *take, void *context);

#endif /* CLI_FILES_TRACE_NAMES_H */
