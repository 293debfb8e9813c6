/* SPDX-License-Identifier: MIT */
/*
 * cli/options/source_options.h - --source-dir, which names folders whose private files may be shown as
 * sources, and --embed-source
 *
 * Way of the data:  command line -> [source_options] -> source_rule, source_embedder
 */
#ifndef CLI_OPTIONS_SOURCE_OPTIONS_H
#define CLI_OPTIONS_SOURCE_OPTIONS_H

#include "symbolize/listing/source_rule.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct source_embedder_options;
struct trace_dictionary;
struct trace_writer;

/* A row for a command's option_table; its letter must be this. */
#define SOURCE_OPTION_DIR 1026

#define SOURCE_OPTION_ROW                                                                             \
        {                                                                                             \
                SOURCE_OPTION_DIR, "source-dir", "DIR",                                               \
                        "sources below DIR may be private, also if DIR is hidden; may be given again" \
        }

/* Takes the option; @folders borrows @value.  Empty: no folder.  Returns 0, or -EINVAL after a complaint. */
int source_options_take(struct source_folders *folders, const char *value);

/*
 * source_options_list() - say on standard error which files went into something that may be given to others
 * @names: each ends with a NUL
 */
void source_options_list(const char *what, const struct byte_buffer *names);

/*
 * source_options_embed() - for `hyprof record` and `hyprof symbolize`: keep the sources, and say on standard
 * error what came of it
 * To be called after the symbols were written and before the trace ends.
 * @ret_n_kept: how many the trace has got now; may be NULL.
 * Returns what source_embedder_run() does.
 */
int source_options_embed(const struct source_embedder_options *options, struct trace_dictionary *dictionary,
                         struct trace_writer *writer, bool is_quiet, uint32_t *ret_n_kept, struct error *err);

#endif /* CLI_OPTIONS_SOURCE_OPTIONS_H */
