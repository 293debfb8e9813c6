/* SPDX-License-Identifier: MIT */
/*
 * format/trace_dump.h - any trace as text, a line a record
 *
 * Way of the data:  trace_reader -> [trace_dump] -> `hyprof dump`
 */
#ifndef FORMAT_TRACE_DUMP_H
#define FORMAT_TRACE_DUMP_H

#include <stdint.h>
#include <stdio.h>

struct error;
struct trace_dictionary;
struct trace_event;
struct trace_reader;

/*
 * trace_dump_write() - writes the rest of @reader's trace as lines "kind name=value ..."
 * @out:  the caller checks ferror()
 * Strings are quoted, with control characters and bytes over 0x7e as \xNN.
 * Returns 0, -errno of the reader, -EBADMSG for a malformed chunk.
 */
int trace_dump_write(struct trace_reader *reader, FILE *out, struct error *err);

/* Write the rows of all tables, and one event: for callers that choose among events. */
void trace_dump_put_tables(const struct trace_dictionary *dictionary, FILE *out);
void trace_dump_put_event(uint32_t thread, const struct trace_event *event, FILE *out);

#endif /* FORMAT_TRACE_DUMP_H */
