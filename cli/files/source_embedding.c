/* SPDX-License-Identifier: MIT */
#include "cli/files/source_embedding.h"

#include "cli/terminal/complaint.h"
#include "symbolize/listing/source_embedder.h"
#include "view/text/text_number.h"

#include <inttypes.h>

int source_embedding_run(struct trace_dictionary *dictionary, struct trace_writer *writer,
                         const char *sysroot, bool is_quiet, uint32_t *ret_n_kept, struct error *err)
{
        struct source_embedder_options options = { .sysroot = sysroot };
        struct source_embedder_result result;
        int r = source_embedder_run(&options, dictionary, writer, &result, err);

        if (r < 0)
                return r;
        if (ret_n_kept)
                *ret_n_kept = result.n_kept;
        if (is_quiet)
                return 0;
        complain("sources: %" PRIu32 " kept (%s), %" PRIu32 " not found or not readable, %" PRIu32
                 " not text, %" PRIu32 " over the limit",
                 result.n_kept, text_number_bytes(result.n_bytes).text, result.n_missing, result.n_no_text,
                 result.n_over_limit);
        return 0;
}
