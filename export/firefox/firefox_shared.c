/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_tables.h"

#include "analyze/trace/source_texts.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "export/shared/json_out.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BREAKPAD_ID_BYTES   16 /* of a build-id that count */
#define RESOURCE_IS_LIBRARY 1

/* Writes what one column has for a row. */
typedef void cell_writer(const struct firefox_tables *t, const void *row, struct json_out *j);

static void open_column(struct json_out *j, const char *key)
{
        json_out_key(j, key);
        json_out_open(j, '[');
}

static void close_column(struct json_out *j)
{
        json_out_close(j, ']');
        json_out_line(j);
}

static void write_column(const struct firefox_tables *t, const char *key, const struct intern *rows,
                         cell_writer *write, struct json_out *j)
{
        open_column(j, key);
        for (uint32_t i = 1; i <= rows->n_items; i++)
                write(t, intern_get(rows, i, NULL), j);
        close_column(j);
}

/* A column that has the same in each row: a number, or null if it is negative. */
static void write_same(const char *key, uint32_t n_rows, int number, struct json_out *j)
{
        open_column(j, key);
        for (uint32_t i = 0; i < n_rows; i++) {
                if (number < 0)
                        json_out_null(j);
                else
                        json_out_number(j, (uint64_t)number);
        }
        close_column(j);
}

/* An id that counts from 1 as an index; null if there is no id. */
static void write_index(struct json_out *j, uint32_t id)
{
        if (id == 0)
                json_out_null(j);
        else
                json_out_number(j, id - 1);
}

static void open_table(struct json_out *j, const char *key, uint32_t n_rows)
{
        json_out_key(j, key);
        json_out_open(j, '{');
        json_out_pair_number(j, "length", n_rows);
}

/* ------------------------------------------------------------------ stacks, frames, functions */

static void write_stack_frame(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        write_index(j, ((const struct firefox_stack *)row)->frame);
}

static void write_stack_prefix(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        write_index(j, ((const struct firefox_stack *)row)->prefix);
}

static void write_address(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        const struct firefox_frame *frame = row;

        (void)t;
        /*
         * The reader keeps numbers as doubles and loses the last bits of larger ones, such as kernel
         * addresses.
         */
        if (frame->has_address)
                json_out_number(j, frame->address);
        else
                json_out_signed(j, -1);
}

static void write_inline_depth(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        json_out_number(j, ((const struct firefox_frame *)row)->inline_depth);
}

static void write_category(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        json_out_number(j, ((const struct firefox_frame *)row)->category);
}

static void write_function(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        write_index(j, ((const struct firefox_frame *)row)->function);
}

static void write_line(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        uint32_t line = ((const struct firefox_frame *)row)->line;

        (void)t;
        write_index(j, line != 0 ? line + 1 : 0);
}

static void write_source_column(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        uint32_t column = ((const struct firefox_frame *)row)->column;

        (void)t;
        write_index(j, column != 0 ? column + 1 : 0);
}

static void write_stacks_and_frames(const struct firefox_tables *t, struct json_out *j)
{
        uint32_t n_frames = t->rows.n_items;

        open_table(j, "stackTable", t->stacks.n_items);
        write_column(t, "frame", &t->stacks, write_stack_frame, j);
        write_column(t, "prefix", &t->stacks, write_stack_prefix, j);
        json_out_close(j, '}');
        open_table(j, "frameTable", n_frames);
        write_column(t, "address", &t->rows, write_address, j);
        write_column(t, "inlineDepth", &t->rows, write_inline_depth, j);
        write_column(t, "category", &t->rows, write_category, j);
        write_same("subcategory", n_frames, 0, j);
        write_column(t, "func", &t->rows, write_function, j);
        write_same("nativeSymbol", n_frames, -1, j);
        write_same("innerWindowID", n_frames, 0, j);
        write_column(t, "line", &t->rows, write_line, j);
        write_column(t, "column", &t->rows, write_source_column, j);
        write_same("originalLocation", n_frames, -1, j);
        json_out_close(j, '}');
}

static void write_function_name(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        write_index(j, ((const struct firefox_function *)row)->name);
}

static void write_resource(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        json_out_signed(j, (int64_t)((const struct firefox_function *)row)->lib - 1);
}

static void write_source(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        write_index(j, ((const struct firefox_function *)row)->source);
}

static void write_false(const struct firefox_tables *t, const void *row, struct json_out *j)
{
        (void)t;
        (void)row;
        json_out_bool(j, false);
}

static void write_functions(const struct firefox_tables *t, struct json_out *j)
{
        uint32_t n = t->functions.n_items;

        open_table(j, "funcTable", n);
        write_column(t, "name", &t->functions, write_function_name, j);
        write_column(t, "isJS", &t->functions, write_false, j);
        write_column(t, "relevantForJS", &t->functions, write_false, j);
        write_column(t, "resource", &t->functions, write_resource, j);
        write_column(t, "source", &t->functions, write_source, j);
        write_same("lineNumber", n, -1, j);
        write_same("columnNumber", n, -1, j);
        write_same("originalLocation", n, -1, j);
        json_out_close(j, '}');
}

/* ------------------------------------------------------------------ libraries */

static struct text_view path_of(const struct firefox_tables *t, uint32_t lib)
{
        const struct trace_dictionary *d = t->frames.dictionary;
        uint32_t module = *(const uint32_t *)intern_get(&t->libs, lib, NULL);
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);

        return trace_dictionary_text(d, row->path);
}

static struct text_view file_name_of(struct text_view path)
{
        const char *slash = path.n_bytes > 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;

        if (!slash || slash + 1 == path.bytes + path.n_bytes)
                return path;
        return (struct text_view){ .bytes = slash + 1,
                                   .n_bytes = path.n_bytes - (size_t)(slash + 1 - path.bytes) };
}

/*
 * The form that symbol servers want: 16 bytes with the first three numbers byte-swapped, and an age of 0.
 */
static void write_breakpad_id(struct text_view build_id, struct json_out *j)
{
        static const uint8_t order[BREAKPAD_ID_BYTES] = {
                3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
        };
        char text[2 * BREAKPAD_ID_BYTES + 2] = "";

        for (size_t i = 0; build_id.n_bytes > 0 && i < BREAKPAD_ID_BYTES; i++) {
                unsigned byte = order[i] < build_id.n_bytes ? (unsigned char)build_id.bytes[order[i]] : 0;

                (void)snprintf(text + 2 * i, 3, "%02X", byte);
        }
        if (build_id.n_bytes > 0)
                text[(size_t)2 * BREAKPAD_ID_BYTES] = '0';
        json_out_pair_words(j, "breakpadId", text);
}

static void write_code_id(struct text_view build_id, struct json_out *j)
{
        char text[2 * 64 + 1] = "";

        json_out_key(j, "codeId");
        if (build_id.n_bytes == 0 || build_id.n_bytes > 64) {
                json_out_null(j);
                return;
        }
        for (size_t i = 0; i < build_id.n_bytes; i++)
                (void)snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)build_id.bytes[i]);
        json_out_words(j, text);
}

static void write_lib(const struct firefox_tables *t, uint32_t lib, struct text_view machine,
                      struct json_out *j)
{
        const struct trace_dictionary *d = t->frames.dictionary;
        uint32_t module = *(const uint32_t *)intern_get(&t->libs, lib, NULL);
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        struct text_view path = path_of(t, lib), name = file_name_of(path);
        struct text_view build_id = trace_dictionary_text(d, row->build_id);

        json_out_open(j, '{');
        json_out_pair_string(j, "arch", machine.bytes, machine.n_bytes);
        json_out_pair_string(j, "name", name.bytes, name.n_bytes);
        json_out_pair_string(j, "path", path.bytes, path.n_bytes);
        json_out_pair_string(j, "debugName", name.bytes, name.n_bytes);
        json_out_pair_string(j, "debugPath", path.bytes, path.n_bytes);
        write_breakpad_id(build_id, j);
        write_code_id(build_id, j);
        json_out_close(j, '}');
        json_out_line(j);
}

static int add_string(struct firefox_tables *t, struct text_view s, uint32_t *ret_index)
{
        return firefox_tables_string(t, s.bytes, s.n_bytes, ret_index);
}

static int write_resources(struct firefox_tables *t, struct json_out *j)
{
        uint32_t n = t->libs.n_items;
        int r = 0;

        open_table(j, "resourceTable", n);
        open_column(j, "name");
        for (uint32_t i = 1; r == 0 && i <= n; i++) {
                uint32_t name;

                r = add_string(t, file_name_of(path_of(t, i)), &name);
                if (r == 0)
                        json_out_number(j, name);
        }
        close_column(j);
        open_column(j, "lib");
        for (uint32_t i = 0; i < n; i++)
                json_out_number(j, i);
        close_column(j);
        write_same("host", n, -1, j);
        write_same("type", n, RESOURCE_IS_LIBRARY, j);
        json_out_close(j, '}');
        return r;
}

/* ------------------------------------------------------------------ sources */

static int read_parts(struct loaded_trace *trace, struct source_texts *texts, struct error *err)
{
        struct attachment_chunk part;
        struct trace_item item;
        int r = trace_reader_rewind(trace->reader, err);

        if (r < 0)
                return r;
        while ((r = trace_reader_next(trace->reader, &item, err)) == 1) {
                if (item.header.kind != TRACE_CHUNK_ATTACHMENT)
                        continue;
                r = attachment_chunk_decode(trace->dictionary, item.body, item.body_bytes, &part, err);
                if (r == 0)
                        r = source_texts_add_part(texts, &part);
                if (r < 0)
                        return r;
        }
        return r;
}

/* Reads the trace once more, if it has source texts at all. */
static int read_texts(struct loaded_trace *trace, struct source_texts *texts, struct error *err)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_ATTACHMENTS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_attachment *row = trace_dictionary_row(trace->dictionary,
                                                                          TRACE_TABLE_ATTACHMENTS, i);
                int r;

                if (row->kind != TRACE_ATTACHMENT_SOURCE_TEXT)
                        continue;
                r = read_parts(trace, texts, err);
                return r == -EBADMSG ? 0 : r; /* the walk has said that the trace is damaged */
        }
        return 0;
}

static void write_contents(const struct firefox_tables *t, struct source_texts *texts, uint64_t *n_left_out,
                           struct json_out *j)
{
        uint64_t n_bytes = 0;

        open_column(j, "content");
        for (uint32_t i = 1; i <= t->sources.n_items; i++) {
                uint32_t name = *(const uint32_t *)intern_get(&t->sources, i, NULL);
                const struct source_text *text = source_texts_find_kept(
                        texts, trace_dictionary_text(t->frames.dictionary, name));

                if (text && text->bytes.used_bytes > FIREFOX_SOURCES_BYTES_MAX - n_bytes) {
                        (*n_left_out)++;
                        text = NULL;
                }
                if (!text) {
                        json_out_null(j);
                        continue;
                }
                n_bytes += text->bytes.used_bytes;
                json_out_string(j, (const char *)text->bytes.data, text->bytes.used_bytes);
        }
        close_column(j);
}

static int write_file_names(struct firefox_tables *t, struct json_out *j)
{
        int r = 0;

        open_column(j, "filename");
        for (uint32_t i = 1; r == 0 && i <= t->sources.n_items; i++) {
                uint32_t index, name = *(const uint32_t *)intern_get(&t->sources, i, NULL);

                r = add_string(t, trace_dictionary_text(t->frames.dictionary, name), &index);
                if (r == 0)
                        json_out_number(j, index);
        }
        close_column(j);
        return r;
}

static int write_sources(struct firefox_tables *t, struct loaded_trace *trace, uint64_t *n_left_out,
                         struct json_out *j, struct error *err)
{
        struct source_texts texts;
        int r;

        source_texts_init(&texts, trace->dictionary);
        r = read_texts(trace, &texts, err);
        open_table(j, "sources", t->sources.n_items);
        write_same("id", t->sources.n_items, -1, j);
        if (r == 0 && write_file_names(t, j) < 0)
                r = error_set(err, -ENOMEM, "no memory for names");
        write_same("startLine", t->sources.n_items, 1, j);
        write_same("startColumn", t->sources.n_items, 1, j);
        write_same("sourceMapURL", t->sources.n_items, -1, j);
        write_contents(t, &texts, n_left_out, j);
        json_out_close(j, '}');
        source_texts_deinit(&texts);
        return r;
}

/* ------------------------------------------------------------------ all */

static void write_empty(struct json_out *j, const char *key, const char *const *columns)
{
        open_table(j, key, 0);
        for (; *columns; columns++) {
                open_column(j, *columns);
                json_out_close(j, ']');
        }
        json_out_close(j, '}');
        json_out_line(j);
}

static void write_strings(const struct firefox_tables *t, struct json_out *j)
{
        open_column(j, "stringArray");
        for (uint32_t i = 1; i <= t->strings.n_items; i++) {
                size_t n_bytes;
                const char *bytes = intern_get(&t->strings, i, &n_bytes);

                json_out_string(j, bytes, n_bytes);
        }
        close_column(j);
}

int firefox_shared_write(struct firefox_tables *t, struct loaded_trace *trace, struct json_out *j,
                         uint64_t *ret_n_left_out, struct error *err)
{
        static const char *const symbol_columns[] = { "libIndex", "address", "name", "functionSize", NULL };
        static const char *const location_columns[] = { "source", "line", "column", NULL };
        int r = 0;

        *ret_n_left_out = 0;
        json_out_key(j, "libs");
        json_out_open(j, '[');
        for (uint32_t i = 1; i <= t->libs.n_items; i++)
                write_lib(t, i, loaded_trace_meta(trace, "machine"), j);
        json_out_close(j, ']');
        json_out_key(j, "shared");
        json_out_open(j, '{');
        write_stacks_and_frames(t, j);
        write_functions(t, j);
        write_empty(j, "nativeSymbols", symbol_columns);
        write_empty(j, "sourceLocationTable", location_columns);
        if (write_resources(t, j) < 0)
                r = error_set(err, -ENOMEM, "no memory for names");
        if (r == 0)
                r = write_sources(t, trace, ret_n_left_out, j, err);
        write_strings(t, j); /* last, because the members above add to the strings */
        json_out_close(j, '}');
        return r;
}
