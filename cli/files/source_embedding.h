/* SPDX-License-Identifier: MIT */
/*
 * cli/files/source_embedding.h - --embed-source of `hyprof record` and `hyprof symbolize`
 *
 * Way of the data:  cmd_record, cmd_symbolize -> [source_embedding] -> source_embedder
 */
#ifndef CLI_FILES_SOURCE_EMBEDDING_H
#define CLI_FILES_SOURCE_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct source_embedder_options;
struct trace_dictionary;
struct trace_writer;

/*
 * source_embedding_run() - keep the sources, and say on standard error what came of it
 * Between the symbols and the end of the trace.
 * @ret_n_kept: how many the trace has got now; may be NULL.
 * Returns what source_embedder_run() does.
 */
int source_embedding_run(const struct source_embedder_options *options, struct trace_dictionary *dictionary,
                         struct trace_writer *writer, bool is_quiet, uint32_t *ret_n_kept, struct error *err);

#endif /* CLI_FILES_SOURCE_EMBEDDING_H */
