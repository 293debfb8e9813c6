/* SPDX-License-Identifier: MIT */
/*
 * view/document/view_document.h - an answer as facts and tables, before it is text, Markdown, JSON or CSV
 *
 * Way of the data:  analyze -> *_view -> [view_document] -> document_text, _markdown, _json, _csv -> cli
 *
 * A view says what it found once; what it looks like is said once for each
 * format.  Numbers stay numbers, in base units (ns, bytes, shares of 1).  Strings
 * are copied; they may be hostile, of any length and encoding, and are escaped
 * where they are printed.
 *
 * Sticky: when memory runs out, `failed` is set and printing fails; nothing in
 * between has to be checked.  Not thread-safe.
 */
#ifndef VIEW_DOCUMENT_VIEW_DOCUMENT_H
#define VIEW_DOCUMENT_VIEW_DOCUMENT_H

#include "base/byte_buffer.h"
#include "base/text_view.h"
#include "view/document/view_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer_part;

struct view_cell {
        bool is_known; /* false: "-" in text, null in JSON, empty in CSV */
        bool is_bytes; /* of a REAL: text shows it as bytes are shown */
        bool is_time;  /* of a COUNT: it is ns, and text shows it as a duration */
        union {
                uint64_t number;
                int64_t delta;
                double real;
                struct {
                        size_t at_bytes,
                                n_bytes; /* in the document's `strings`; a STACK's are divided by NUL */
                } string;
        };
};

/* A column of a listing, which shows a column of the table. */
struct view_listing_column {
        const char *key;
        uint32_t n_columns;         /* the width, flush right; 0 = as wide as the text, flush left */
        const char *before, *after; /* around what is known; NULL = nothing */
};

/*
 * In text, the rows of a table may be the lines of one listing, such as the instructions of a function: in
 * columns of fixed widths, with notes between them; numbers that are 0 or not known are blank.  The other
 * formats have the table.
 */
struct view_listing {
        const struct view_listing_column *columns;
        uint32_t n_columns;
        uint32_t n_before_notes; /* columns that are left of the notes */
};

enum view_note_kind {
        VIEW_NOTE_TITLE, /* of the rows that follow, after an empty line */
        VIEW_NOTE_WORDS, /* about the next row */
        VIEW_NOTE_GAP,   /* rows that are left out here */
        VIEW_NOTE_EMPTY, /* a line without words */
        VIEW_NOTE_LEAD,  /* no line of its own: stands where notes begin, in the line of the next row */
};

/* A line of a listing above a row.  Only people get it: it shows them values of the row's columns. */
struct view_note {
        enum view_note_kind kind;
        size_t row;
        size_t at_bytes, n_bytes; /* in the document's `strings` */
};

struct view_table {
        const char *key;   /* in JSON: "zones"; NULL = for people alone */
        const char *title; /* in text, above: "Zones, by total time"; NULL = for programs alone */
        const struct view_column *columns; /* the table's own copy; the words in it are static */
        uint32_t n_columns;
        uint32_t n_grouping; /* in text, the first of its columns are empty where they repeat the row above */
        bool is_tree;        /* rows have a depth: the first VIEW_STRING column is indented by it */
        struct view_cell *cells; /* heap; row by row */
        size_t n_cells, cells_capacity;
        uint32_t *depths; /* heap; by row, if is_tree */
        size_t depths_capacity;
        /* in text and Markdown, columns from this one on are left out if no cell is known; 0 = none */
        uint32_t optional_from;
        const struct view_listing *listing; /* static; how text shows it; NULL = as a table */
        struct view_note *notes;            /* heap; of the listing, in the order of the rows */
        size_t n_notes, notes_capacity;
        bool is_in_listing;       /* text leaves it out: a listing says the same */
        bool is_hidden_if_empty;  /* from people, who are told "none" otherwise */
        uint64_t n_left_out;      /* rows that there are beside these */
        struct byte_buffer about; /* a line or more below the title; "" = none: what percentages are of */
};

struct view_fact {
        const char *key, *title; /* as of a column */
        enum view_type type;
        struct view_cell cell;
};

struct view_document {
        const char *schema; /* "hyprof.zones/2" */
        struct byte_buffer title;
        struct view_fact *facts; /* heap */
        size_t n_facts, facts_capacity;
        struct view_table **tables; /* heap; each on the heap, so that pointers stay */
        size_t n_tables, tables_capacity;
        char **keys; /* heap; each on the heap: of columns that are named after something in the trace */
        size_t n_keys, keys_capacity;
        struct byte_buffer strings;
        struct byte_buffer warnings; /* lines, each ends in '\n': missing, lost or doubtful data */
        struct byte_buffer hints;    /* lines: commands that go on from here */
        const char *warnings_title;  /* in text and Markdown; NULL = "missing or doubtful" */
        bool failed;
};

void view_document_init(struct view_document *d, const char *schema);
void view_document_deinit(struct view_document *d);

/* printf into title, a new line of the warnings, of the hints. */
void view_document_set_title(struct view_document *d, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void view_document_warn(struct view_document *d, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void view_document_hint(struct view_document *d, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* The answer in one sentence: the title, and for programs the fact "answer". */
void view_document_set_answer(struct view_document *d, struct text_view sentence);

/*
 * Puts a fact.  An empty text is unknown, and documents for people leave out unknown facts.  @key and @title
 * are static, and mean the same as those of a column.  Here and below, a value that does not fit the type
 * fails an assertion.
 */
void view_document_put(struct view_document *d, const char *key, const char *title, enum view_type type,
                       struct view_value value);

/* Makes a STRING, whose bytes the document keeps.  It is to be put before another value is made this way. */
struct view_value view_format(struct view_document *d, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* Makes a STACK frame by frame, the innermost first.  Without any frame the stack is empty, not unknown. */
struct view_value view_begin_stack(struct view_document *d);
void view_add_frame(struct view_document *d, struct view_value *stack, struct text_view name);

/*
 * view_document_make_key() - the key of a column that is named after something in the trace
 * Returns @before and the first bytes of @name, as a text that the document owns.  Characters that names of
 * events do not have become "_".  NULL without memory: view_document_add_table() takes such columns.
 */
const char *view_document_make_key(struct view_document *d, const char *before, struct text_view name);

/* A new table or tree with the columns of @part; NULL without memory: the functions below accept that. */
struct view_table *view_document_add_part(struct view_document *d, const struct answer_part *part,
                                          const char *title);

/*
 * A new table, which the document owns; NULL without memory: all functions below accept that.  @columns are
 * copied.
 */
struct view_table *view_document_add_table(struct view_document *d, const char *key, const char *title,
                                           const struct view_column *columns, uint32_t n_columns);
void view_table_set_about(struct view_document *d, struct view_table *t, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Begins the next row of a tree; its cells are put after that.  Rows of tables begin by themselves. */
void view_table_begin_row(struct view_document *d, struct view_table *t, uint32_t depth);

/* Puts the next cell of the row, in the order of the columns. */
void view_table_put(struct view_document *d, struct view_table *t, struct view_value value);

/* A note above the next row of a listing. */
void view_table_add_note(struct view_document *d, struct view_table *t, enum view_note_kind kind,
                         struct text_view words);

/*
 * The rows of a table without a tree or notes, in the order of one column: numbers begin with the largest,
 * texts with the first; what is not known comes last in any case; rows with equal cells stay in their order.
 */
void view_table_sort(struct view_document *d, struct view_table *t, uint32_t column, bool is_reversed);

/* Leaves the rows that have @words in a text that people see, whatever its case. */
void view_table_filter(const struct view_document *d, struct view_table *t, const char *words);

/* Leaves so many rows, and counts the others as left out. */
void view_table_cut(struct view_table *t, size_t n_rows);

/*
 * view_table_pack() - the table as people see it: without columns for programs alone, and without optional
 * columns of which no cell is known
 * @ret:  its `cells` are on the heap, and its `columns` with them; the rest is borrowed from @t
 * Returns 0; -ENOMEM, then there is nothing to free.
 */
int view_table_pack(const struct view_table *t, struct view_table *ret);
void view_table_unpack(struct view_table *packed);

/* Whether people are shown it. */
bool view_table_is_shown(const struct view_table *t);

/*
 * Whether the table is a part of the answer.  Tables for programs alone are not: they are about the recording
 * and about missing data.
 */
bool view_table_is_answer(const struct view_table *t);

/* Whether a cell of the type is a `string`. */
bool view_type_is_text(enum view_type type);

static inline size_t view_table_count(const struct view_table *t)
{
        return t->n_cells / t->n_columns;
}

#endif /* VIEW_DOCUMENT_VIEW_DOCUMENT_H */
