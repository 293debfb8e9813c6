/* SPDX-License-Identifier: MIT */
/*
 * merge/trace_merge.h - several traces -> one trace with one timeline
 *
 * Way of the data:  files -> merge_input -> [trace_merge] -> trace_writer -> file
 * Specification:    docs/understand/trace-format.md, "Merged traces"
 *
 * Memory: the tables of all traces and of the result, and a chunk of events of each trace.
 */
#ifndef MERGE_TRACE_MERGE_H
#define MERGE_TRACE_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct merge_input;
struct trace_writer;

#define TRACE_MERGE_INPUTS_MAX     256
#define TRACE_MERGE_RECORDINGS_MAX 4096

struct trace_merge {
        struct merge_input *inputs; /* heap: one for each path, with its place on the timeline */
        struct error *damages;      /* heap: one for each path: code 0 = the trace is whole */
        size_t n_inputs;
        uint64_t n_events, n_unknown; /* written; left out, of a newer version */
        uint64_t n_unknown_chunks;    /* of the inputs: left out */
};

/*
 * trace_merge_run() - read all traces, write one
 * @paths:  2 .. TRACE_MERGE_INPUTS_MAX; borrowed until trace_merge_deinit()
 * If a trace is cut off or damaged, the result has everything before that point, and a notice.
 * Returns 0, what trace_reader_open() returns, -EEXIST: two traces hold one recording, -EINVAL: a trace
 * cannot be placed in time, -EOVERFLOW: too many recordings, -ENOMEM, -errno.  To be deinitialised in any
 * case.
 */
int trace_merge_run(struct trace_merge *m, const char *const *paths, size_t n_paths,
                    struct trace_writer *writer, struct error *err);
void trace_merge_deinit(struct trace_merge *m);

#endif /* MERGE_TRACE_MERGE_H */
