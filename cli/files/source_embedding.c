/* SPDX-License-Identifier: MIT */
#include "cli/files/source_embedding.h"

#include "cli/options/source_options.h"
#include "cli/terminal/complaint.h"
#include "symbolize/listing/source_embedder.h"
#include "view/text/text_number.h"

#include <inttypes.h>

static void print_sources(const struct source_embedder_result *result)
{
        complain("sources: %" PRIu32 " kept (%s), %" PRIu32 " not found or not readable, %" PRIu32
                 " not text, %" PRIu32 " over the limit",
                 result->n_kept, text_number_bytes(result->n_bytes).text, result->n_missing,
                 result->n_no_text, result->n_over_limit);
        if (result->n_withheld > 0) {
                complain("sources: %" PRIu32 " withheld: private, hidden or not named like a source",
                         result->n_withheld);
                complain_try("--source-dir DIR, which includes those below DIR");
        }
        source_options_list("the trace", &result->names);
}

int source_embedding_run(const struct source_embedder_options *options, struct trace_dictionary *dictionary,
                         struct trace_writer *writer, bool is_quiet, uint32_t *ret_n_kept, struct error *err)
{
        struct source_embedder_result result;
        int r = source_embedder_run(options, dictionary, writer, &result, err);

        if (r == 0 && ret_n_kept)
                *ret_n_kept = result.n_kept;
        if (r == 0 && !is_quiet)
                print_sources(&result);
        byte_buffer_deinit(&result.names);
        return r;
}
