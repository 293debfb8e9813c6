/* SPDX-License-Identifier: MIT */
#include "view/shared/import_list.h"

#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"

#include <inttypes.h>

#define LINES_MAX 10
#define KINDS_MAX 4   /* of what was left out, in a line */
#define TEXT_MAX  160 /* bytes of a text of the file, in a line */

/* clang-format off */
#define FILE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "file", NULL, view_name(trace_dictionary_text(dictionary, row->file)), "its name")     \
        COLUMN(STRING, "format", NULL, view_name(trace_dictionary_text(dictionary, row->format)),             \
               "as hyprof import calls it")                                                                   \
        COLUMN(STRING, "version", NULL, view_name(trace_dictionary_text(dictionary, row->version)),           \
               "of the format, as the file has it")                                                           \
        COLUMN(COUNT, "n_rows", NULL, view_number(row->n_rows), "that were read")                             \
        COLUMN(COUNT, "n_malformed", NULL, view_number(row->n_malformed), "that could not be used")           \
        COLUMN(COUNT, "first_malformed_at", NULL,                                                             \
               view_known(row->first_malformed_at, row->first_malformed_at != 0),                             \
               "the first one's line, or byte in a binary file", .may_be_null = true)                         \
        COLUMN(STRING, "first_malformed", NULL,                                                               \
               view_name(trace_dictionary_text(dictionary, row->first_malformed)), "what is wrong there")     \
        COLUMN(COUNT, "n_dropped", NULL, view_number(row->n_dropped), "lost before, as the file itself says") \
        COLUMN(STRING, "clock", NULL, view_name(trace_dictionary_text(dictionary, row->clock)), "of its times") \
        COLUMN(DURATION, "error_ns", NULL, view_known(row->error_ns, row->error_ns != UINT64_MAX),            \
               "how far its times may be wrong; null = not known")                                            \
        COLUMN(COUNT, "cut_at", NULL, view_known(row->cut_at, row->cut_at != 0),                              \
               "the file ends in the middle of something: at this line or byte", .may_be_null = true)
#define LOSS_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "file", NULL, view_name(trace_dictionary_text(dictionary, import->file)), NULL)        \
        COLUMN(STRING, "kind", NULL, view_name(trace_dictionary_text(dictionary, row->kind)),                 \
               "in the words of the format")                                                                  \
        COLUMN(COUNT, "count", NULL, view_number(row->count), NULL)
/* clang-format on */

static const struct view_column file_columns[] = { FILE_COLUMNS(VIEW_COLUMN) };
static const struct view_column loss_columns[] = { LOSS_COLUMNS(VIEW_COLUMN) };
const struct answer_part import_list_files_part = ANSWER_TABLE(
        "imports", file_columns, "a file of another tool that was imported; other traces have no rows");
const struct answer_part import_list_losses_part = ANSWER_TABLE(
        "import_losses", loss_columns, "something in an imported file that is not in the trace");

static const struct trace_import *import_row(const struct trace_dictionary *d, uint32_t id)
{
        return trace_dictionary_row(d, TRACE_TABLE_IMPORTS, id);
}

static const struct trace_import_loss *loss_row(const struct trace_dictionary *d, uint32_t id)
{
        return trace_dictionary_row(d, TRACE_TABLE_IMPORT_LOSSES, id);
}

static void put_text(struct byte_buffer *line, const struct trace_dictionary *d, uint32_t string)
{
        struct text_view text = trace_dictionary_text(d, string);

        byte_buffer_add(line, text.bytes, text.n_bytes < TEXT_MAX ? text.n_bytes : TEXT_MAX);
}

/* ", 42 left out (executable_trace)", ", 42 left out (30 executable_trace, 12 diagnostic)". */
static void put_losses(struct byte_buffer *line, const struct trace_dictionary *d, uint32_t import)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_IMPORT_LOSSES), n_kinds = 0, n_said = 0;
        uint64_t sum = 0;

        for (uint32_t id = 1; id <= n; id++) {
                if (loss_row(d, id)->import != import)
                        continue;
                n_kinds++;
                if (__builtin_add_overflow(sum, loss_row(d, id)->count, &sum))
                        sum = UINT64_MAX;
        }
        if (n_kinds == 0)
                return;
        byte_buffer_add_format(line, ", %s left out (", text_number_count(sum).text);
        for (uint32_t id = 1; id <= n && n_said < KINDS_MAX; id++) {
                if (loss_row(d, id)->import != import)
                        continue;
                byte_buffer_add_format(line, "%s", n_said++ != 0 ? ", " : "");
                if (n_kinds != 1)
                        byte_buffer_add_format(line, "%s ", text_number_count(loss_row(d, id)->count).text);
                put_text(line, d, loss_row(d, id)->kind);
        }
        byte_buffer_add_format(line, "%s)", n_kinds > n_said ? ", ..." : "");
}

static void describe_import(struct byte_buffer *line, const struct trace_dictionary *d, uint32_t id)
{
        const struct trace_import *row = import_row(d, id);

        put_text(line, d, row->file);
        byte_buffer_add_format(line, " (");
        put_text(line, d, row->format);
        if (row->version != 0) {
                byte_buffer_add_format(line, " ");
                put_text(line, d, row->version);
        }
        byte_buffer_add_format(line, "), %s", text_number_counted(row->n_rows, "rows").text);
        if (row->n_malformed != 0) {
                byte_buffer_add_format(line, ", %s malformed (the first at %" PRIu64 ": ",
                                       text_number_count(row->n_malformed).text, row->first_malformed_at);
                put_text(line, d, row->first_malformed);
                byte_buffer_add_format(line, ")");
        }
        put_losses(line, d, id);
        if (row->n_dropped != 0)
                byte_buffer_add_format(line, ", %s lost before, as it says",
                                       text_number_count(row->n_dropped).text);
        if (row->cut_at != 0)
                byte_buffer_add_format(line, ", cut off at %" PRIu64, row->cut_at);
        if (row->error_ns != 0 && row->error_ns != UINT64_MAX)
                byte_buffer_add_format(line, ", times within %s", text_number_duration(row->error_ns).text);
}

static void add_lines(struct view_document *d, const struct trace_dictionary *dictionary, uint32_t n_imports)
{
        struct byte_buffer line = { .data = NULL };

        for (uint32_t id = 1; id <= n_imports && id <= LINES_MAX; id++) {
                byte_buffer_clear(&line);
                describe_import(&line, dictionary, id);
                view_document_put(d, NULL, "imported", VIEW_STRING,
                                  view_text((struct text_view){ .bytes = (const char *)line.data,
                                                                .n_bytes = line.used_bytes }));
        }
        if (n_imports > LINES_MAX)
                view_document_put(
                        d, NULL, "imported", VIEW_STRING,
                        view_format(d, "%s more files", text_number_count(n_imports - LINES_MAX).text));
        d->failed |= line.failed;
        byte_buffer_deinit(&line);
}

void import_list_add(struct view_document *d, const struct trace_dictionary *dictionary)
{
        uint32_t n_imports = trace_dictionary_count(dictionary, TRACE_TABLE_IMPORTS);
        uint32_t n_losses = trace_dictionary_count(dictionary, TRACE_TABLE_IMPORT_LOSSES);
        struct view_table *t = view_document_add_part(d, &import_list_files_part, NULL);

        for (uint32_t id = 1; id <= n_imports; id++) {
                const struct trace_import *row = import_row(dictionary, id);

                FILE_COLUMNS(VIEW_CELL)
        }
        t = view_document_add_part(d, &import_list_losses_part, NULL);
        for (uint32_t id = 1; id <= n_losses; id++) {
                const struct trace_import_loss *row = loss_row(dictionary, id);
                const struct trace_import *import = import_row(dictionary, row->import);

                LOSS_COLUMNS(VIEW_CELL)
        }
        add_lines(d, dictionary, n_imports);
}
