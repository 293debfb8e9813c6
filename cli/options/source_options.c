/* SPDX-License-Identifier: MIT */
#include "cli/options/source_options.h"

#include "base/byte_buffer.h"
#include "cli/terminal/complaint.h"
#include "symbolize/listing/source_embedder.h"
#include "symbolize/listing/source_rule.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_BYTES 3000 /* a longer list goes on in another line */

int source_options_take(struct source_folders *folders, const char *value)
{
        struct stat status;

        folders->has_current = false;
        if (value[0] == '\0')
                return 0;
        if (stat(value, &status) < 0 || !S_ISDIR(status.st_mode)) {
                complain("error: --source-dir %s: not a folder", value);
                return -EINVAL;
        }
        if (folders->n_paths == SOURCE_FOLDERS_MAX) {
                complain("error: --source-dir: more than %d folders", SOURCE_FOLDERS_MAX);
                return -EINVAL;
        }
        folders->paths[folders->n_paths++] = value;
        return 0;
}

static void flush_line(const char *what, struct byte_buffer *line)
{
        if (line->used_bytes > 0 && !line->failed)
                complain("source text in %s: %.*s", what, (int)line->used_bytes, (const char *)line->data);
        byte_buffer_clear(line);
}

void source_options_list(const char *what, const struct byte_buffer *names)
{
        static const char system[] = "/usr/";
        const char *at = (const char *)names->data, *end = at + names->used_bytes;
        struct byte_buffer line = { .data = NULL };
        uint64_t n_system = 0;

        for (; at && at < end; at += strlen(at) + 1) {
                if (strncmp(at, system, strlen(system)) == 0) {
                        n_system++;
                        continue;
                }
                if (line.used_bytes > 0 && line.used_bytes + strlen(at) > LINE_BYTES)
                        flush_line(what, &line);
                byte_buffer_add_format(&line, "%s%s", line.used_bytes ? ", " : "", at);
        }
        if (n_system > 0)
                byte_buffer_add_format(&line, "%s%" PRIu64 " below /usr", line.used_bytes ? ", and " : "",
                                       n_system);
        flush_line(what, &line);
        byte_buffer_deinit(&line);
}

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

int source_options_embed(const struct source_embedder_options *options, struct trace_dictionary *dictionary,
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
