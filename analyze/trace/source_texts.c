/* SPDX-License-Identifier: MIT */
#include "analyze/trace/source_texts.h"
#include "format/trace_dictionary.h"

#include "base/array.h"
#include "format/attachment_chunk.h"
#include "format/trace_rows.h"
#include "symbolize/listing/source_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void source_texts_init(struct source_texts *s, const struct trace_dictionary *dictionary)
{
        *s = (struct source_texts){ .dictionary = dictionary };
}

void source_texts_deinit(struct source_texts *s)
{
        for (size_t i = 0; i < s->n_texts; i++) {
                byte_buffer_deinit(&s->texts[i].name);
                byte_buffer_deinit(&s->texts[i].bytes);
                free(s->texts[i].line_ends);
        }
        free(s->texts);
        source_texts_init(s, s->dictionary);
}

static struct source_text *add_text(struct source_texts *s, uint32_t attachment)
{
        if (array_reserve(&s->texts, &s->capacity, s->n_texts + 1, sizeof(*s->texts)) < 0)
                return NULL;
        s->texts[s->n_texts] = (struct source_text){ .attachment = attachment };
        return &s->texts[s->n_texts++];
}

static struct source_text *find_attachment(struct source_texts *s, uint32_t attachment)
{
        for (size_t i = s->n_texts; i > 0; i--) /* the latest is the likeliest */
                if (s->texts[i - 1].attachment == attachment)
                        return &s->texts[i - 1];
        return NULL;
}

int source_texts_add_part(struct source_texts *s, const struct attachment_chunk *part)
{
        const struct trace_attachment *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                  part->attachment);
        struct source_text *text;

        if (row->kind != TRACE_ATTACHMENT_SOURCE_TEXT || part->n_bytes > SOURCE_TEXTS_BYTES_MAX - s->n_bytes)
                return 0;
        text = part->offset_bytes != 0 ? find_attachment(s, part->attachment) : NULL;
        if (part->offset_bytes != 0 && (!text || text->bytes.used_bytes != part->offset_bytes))
                return 0; /* its beginning was left out */
        if (part->offset_bytes == 0)
                text = add_text(s, part->attachment);
        if (!text)
                return -ENOMEM;
        text->origin = SOURCE_OF_TRACE;
        byte_buffer_add(&text->bytes, part->bytes, part->n_bytes);
        s->n_bytes += part->n_bytes;
        return text->bytes.failed ? -ENOMEM : 0;
}

/* ---- by name ------------------------------------------------------------------------------------------- */

static struct text_view name_of(const struct source_texts *s, const struct source_text *text)
{
        const struct trace_attachment *row;

        if (text->attachment == 0)
                return (struct text_view){ (const char *)text->name.data, text->name.used_bytes };
        row = trace_dictionary_row(s->dictionary, TRACE_TABLE_ATTACHMENTS, text->attachment);
        return trace_dictionary_text(s->dictionary, row->name);
}

static bool is_end_of(struct text_view end, struct text_view path)
{
        size_t left = path.n_bytes - end.n_bytes;

        return end.n_bytes > 0 && end.n_bytes < path.n_bytes &&
               memcmp(path.bytes + left, end.bytes, end.n_bytes) == 0 &&
               (end.bytes[0] == '/' || path.bytes[left - 1] == '/');
}

static struct source_text *find_known(struct source_texts *s, struct text_view name)
{
        struct source_text *by_end = NULL;

        for (size_t i = 0; i < s->n_texts; i++) {
                struct text_view known = name_of(s, &s->texts[i]);

                if (text_view_equal(known, name))
                        return &s->texts[i];
                if (s->texts[i].attachment != 0 && (is_end_of(known, name) || is_end_of(name, known)))
                        by_end = &s->texts[i];
        }
        return by_end;
}

static struct source_text *read_file(struct source_texts *s, struct text_view name)
{
        struct source_file_path path = { .root = s->sysroot, .path = name.bytes, .given = &s->given };
        struct source_text *text = add_text(s, 0);
        uint64_t modified_ns = 0;
        int r;

        if (!text)
                return NULL;
        byte_buffer_add(&text->name, name.bytes, name.n_bytes);
        path.n_bytes = name.n_bytes < UINT32_MAX ? (uint32_t)name.n_bytes : UINT32_MAX;
        r = text->name.failed ? -ENOMEM : source_file_read(&path, &text->bytes, &modified_ns, NULL);
        if (r < 0) {
                text->origin = r == -EPERM ? SOURCE_WITHHELD : SOURCE_NOT_FOUND;
                return text;
        }
        text->origin = s->recorded_ns != 0 && modified_ns > s->recorded_ns ? SOURCE_OF_NEWER_FILE
                                                                           : SOURCE_OF_FILE;
        return text;
}

static int find_lines(struct source_text *text)
{
        const char *start = (const char *)text->bytes.data, *end = start + text->bytes.used_bytes;
        size_t capacity = 0;

        for (const char *at = start; at < end;) {
                const char *stop = memchr(at, '\n', (size_t)(end - at));

                if (!stop)
                        stop = end;
                if (array_reserve(&text->line_ends, &capacity, text->n_lines + 1, sizeof(*text->line_ends)) <
                    0)
                        return -ENOMEM;
                text->line_ends[text->n_lines++] = (size_t)(stop - start);
                at = stop + 1;
        }
        return 0;
}

const struct source_text *source_texts_find(struct source_texts *s, struct text_view name)
{
        struct source_text *text = find_known(s, name);

        if (!text)
                text = read_file(s, name);
        if (!text || (text->bytes.used_bytes > 0 && !text->line_ends && find_lines(text) < 0))
                return NULL;
        return text;
}

const struct source_text *source_texts_find_kept(struct source_texts *s, struct text_view name)
{
        const struct source_text *text = find_known(s, name);

        return text && text->origin == SOURCE_OF_TRACE ? text : NULL;
}

struct text_view source_text_line(const struct source_text *text, uint32_t line)
{
        size_t start, end;

        if (line == 0 || line > text->n_lines)
                return (struct text_view){ .bytes = NULL };
        start = line > 1 ? text->line_ends[line - 2] + 1 : 0;
        end = text->line_ends[line - 1];
        if (end > start && text->bytes.data[end - 1] == '\r')
                end--;
        return (struct text_view){ (const char *)text->bytes.data + start, end - start };
}
