/* SPDX-License-Identifier: MIT */
/*
 * view/annotate/annotation_listing.h - in text, a function's instructions and lines are listings with notes
 *
 * Way of the data:  annotation, source_texts -> [annotation_listing], arrow_margin -> view_document (notes)
 *
 * The notes say what the columns of the next row say in other formats: the part of the function, the
 * functions that were inlined there, the line of the source and its text; and where jumps go, as arrows.
 */
#ifndef VIEW_ANNOTATE_ANNOTATION_LISTING_H
#define VIEW_ANNOTATE_ANNOTATION_LISTING_H

#include "base/byte_buffer.h"
#include "view/annotate/arrow_margin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct annotation;
struct source_text;
struct source_texts;
struct view_document;
struct view_listing;
struct view_table;

extern const struct view_listing annotation_listing_of_code, annotation_listing_of_lines;

struct annotation_listing {
        struct view_document *document;
        struct view_table *table;
        const struct annotation *annotation;
        struct source_texts *sources;
        bool with_source; /* between the instructions */
        struct arrow_margin margin;
        struct byte_buffer line; /* the note that is being made */
        size_t part;             /* the next one */
        uint32_t n_hidden;       /* rows since the last that was shown */
        bool is_first;           /* the next row is the first of a part, or the first after a gap */
        uint32_t next_line;      /* the source line after that of the last row; 0 = no row of this file yet */
};

/* All are borrowed. */
void annotation_listing_init(struct annotation_listing *l, struct view_document *d, struct view_table *t,
                             const struct annotation *a, struct source_texts *sources, bool with_source);
/* Notes the gap after the last row, if there is one, and frees the memory. */
void annotation_listing_finish(struct annotation_listing *l, const char *things);

/* To be called for each instruction in order, before its row.  @shown: whether its row follows. */
void annotation_listing_add_instruction(struct annotation_listing *l, uint32_t index, bool shown);
/* The same of a line of the source, @index of annotation.lines. */
void annotation_listing_add_line(struct annotation_listing *l, uint32_t index, bool shown);

/* Whether addresses are offsets in a file, because there is no code. */
bool annotation_listing_has_file_offsets(const struct annotation *a);

#endif /* VIEW_ANNOTATE_ANNOTATION_LISTING_H */
