/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/source_texts.h - lines of source text, from the trace or from files
 *
 * Way of the data:  trace_reader (ATTACHMENT chunks), files -> [source_texts] -> annotation_view
 *
 * Texts that the program handed over or the recorder kept come first: by name, then by the end of the path,
 * if one name is the end of the other.  Otherwise the present file counts, which may differ from the compiled
 * one.  Not thread-safe.
 */
#ifndef ANALYZE_TRACE_SOURCE_TEXTS_H
#define ANALYZE_TRACE_SOURCE_TEXTS_H

#include "base/byte_buffer.h"
#include "base/text_view.h"
#include "symbolize/listing/source_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

#define SOURCE_TEXTS_BYTES_MAX (UINT64_C(1) << 29) /* of all texts of a trace; further ones are ignored */

struct attachment_chunk;

enum source_origin {
        SOURCE_NOT_FOUND,
        SOURCE_WITHHELD, /* there is a file, but source_rule does not allow it */
        SOURCE_OF_TRACE,
        SOURCE_OF_FILE,
        SOURCE_OF_NEWER_FILE, /* written after the recording began */
};

struct source_text {
        uint32_t attachment;     /* its id; 0 = a file's */
        struct byte_buffer name; /* of the wanted file; empty for an attachment */
        struct byte_buffer bytes;
        /* heap, made for the first source_text_line(): the position after each line's last byte */
        size_t *line_ends;
        size_t n_lines;
        enum source_origin origin;
};

struct source_texts {
        const struct trace_dictionary *dictionary; /* borrowed */
        const char *sysroot;                       /* borrowed; NULL = "" */
        struct source_folders given;               /* of the user */
        uint64_t recorded_ns;                      /* since 1970; 0 = unknown */
        struct source_text *texts;                 /* heap */
        size_t n_texts, capacity;
        uint64_t n_bytes; /* of attachments */
};

void source_texts_init(struct source_texts *s, const struct trace_dictionary *dictionary);
void source_texts_deinit(struct source_texts *s);

/* Adds a part of an attachment of the trace; ignores other kinds of attachments.  Returns 0 or -ENOMEM. */
int source_texts_add_part(struct source_texts *s, const struct attachment_chunk *part);

/*
 * source_texts_find() - the text of a file that debug information names
 * Returns it, also if it is missing (SOURCE_NOT_FOUND); borrowed until the next call.  NULL without memory.
 */
const struct source_text *source_texts_find(struct source_texts *s, struct text_view name);

/* The same among the texts of the trace alone; NULL if it has none.  Not for source_text_line(). */
const struct source_text *source_texts_find_kept(struct source_texts *s, struct text_view name);

/* A line, 1 .. n_lines, without its end; empty beyond. */
struct text_view source_text_line(const struct source_text *text, uint32_t line);

#endif /* ANALYZE_TRACE_SOURCE_TEXTS_H */
