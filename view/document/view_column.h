/* SPDX-License-Identifier: MIT */
/*
 * view/document/view_column.h - a column of a table, or a fact, is one row of one list: its names, its words,
 * and its value
 *
 * Way of the data:  analyze -> [lists of columns] -> view_document, answer_schema
 *
 * A view lists its columns once, each in one line, with an X-macro:
 *
 *     #define LOCK_COLUMNS(COLUMN)                                                                    \
 *             COLUMN(STRING, "lock", "lock", view_text(name), "as the program calls it")              \
 *             COLUMN(DURATION, "wait_ns", "waited", view_number(lock->waits_ns.sum), "of all threads")
 *
 *     static const struct view_column lock_columns[] = { LOCK_COLUMNS(VIEW_COLUMN) };
 *
 * The value is computed where the row is put, from what is in scope there beside `d`, the document, and `t`,
 * the table:
 *
 *     LOCK_COLUMNS(VIEW_CELL)
 *
 * Facts have the same lists, and VIEW_FACT instead of VIEW_CELL.  From the lists come text, Markdown, JSON,
 * CSV, the schemas in docs/schemas and the tables of docs/use/view-json.md (`make schemas` prints both).
 */
#ifndef VIEW_DOCUMENT_VIEW_COLUMN_H
#define VIEW_DOCUMENT_VIEW_COLUMN_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*                    in text           in JSON and CSV */
enum view_type {
        VIEW_STRING,   /* foo           "foo" */
        VIEW_HANDLE,   /* z7            "z7": a letter and an id, for the next command */
        VIEW_COUNT,    /* 1,103,220     1103220 */
        VIEW_ID,       /* 12345         12345: a number that is a name, as a PID */
        VIEW_DURATION, /* 12.3 ms       12300000 */
        VIEW_TIME,     /* 1.234567890 s 1234567890: since the start of the recording */
        VIEW_BYTES,    /* 31.0 MB       31000000 */
        VIEW_SHARE,    /* 31.2%         0.312 */
        VIEW_CHANGE,   /* +5.0%         0.05: with a sign */
        VIEW_DELTA,    /* +1.2 ms       1200000: a duration with a sign */
        VIEW_REAL,     /* 1.23          1.2345678 */
        VIEW_BAR,      /* ########      0.8: the length of a bar; left out of CSV */
        VIEW_PLACE,    /* main.c:12     "src/main.c:12": a file and a line; without folders in text */
        VIEW_BOOL,     /* yes           true; in CSV "yes" or "no" */
        VIEW_STACK, /* a < b < main  ["a", "b", "main"]: functions, the innermost first; in CSV as in text */
};

/*
 * Programs and people each get a fact once.  As a rule one column, fact or table is for both: it has a `key`
 * and a `title`.  If words say several facts better, people (text, Markdown) get those words, without a key,
 * and programs (JSON, CSV) get the facts, without titles.
 *
 * Where a line of text is too narrow for all columns, those on the right are left out first, and announced:
 * the ones that matter most come first.  Handles, the first other column, and names
 * stay, unless they `may_go`, and so do numbers that `must_stay`.
 */
struct view_column {
        const char *key;    /* in JSON and CSV: "total_ns"; the unit is part of it; NULL = for people alone */
        const char *title;  /* in text and Markdown: "total"; NULL = for programs alone */
        const char *words;  /* what the value is, for schemas; NULL = its key says it */
        const char *one_of; /* of a STRING: "high|medium|none", all that it may be; NULL = anything */
        enum view_type type;
        uint32_t n_columns_max; /* in text: longer cells end in an ellipsis; 0 = what the line leaves */
        bool may_be_null;   /* in JSON: of COUNT, ID, BOOL, `one_of`; other types always may, a BAR never */
        bool may_be_absent; /* not in each document, or not in each table of that key */
        bool may_go;        /* of a column of names: a narrow line may leave it out */
        bool must_stay;     /* of a number or a bar: it is not left out */
        bool is_below;      /* in text: on lines of its own below the row, after its title; of texts */
        bool is_optional;   /* text and Markdown leave it out if no cell is known */
        bool is_short;      /* of a COUNT or REAL: text and Markdown round large ones: 1.10 M */
};

/* A value on its way into a cell or a fact: "view_number(7)". */
struct view_value {
        enum {
                VIEW_VALUE_UNKNOWN,
                VIEW_VALUE_NUMBER, /* of COUNT, ID, DURATION, TIME, BYTES, BOOL */
                VIEW_VALUE_DELTA,
                VIEW_VALUE_REAL,   /* of SHARE, CHANGE, REAL, BAR */
                VIEW_VALUE_TEXT,   /* of STRING, PLACE, HANDLE */
                VIEW_VALUE_HANDLE, /* `letter` and the number */
                VIEW_VALUE_PLACE,  /* the text and `line` */
                VIEW_VALUE_STORED, /* the document has the bytes already: of STRING, PLACE, STACK */
        } kind;
        char letter;
        bool is_bytes; /* of a REAL: text shows it as bytes are shown */
        bool is_time;  /* of a COUNT: it is ns, and text shows it as a duration */
        bool is_cut;   /* of a text: an ellipsis follows it */
        uint32_t line;
        union {
                uint64_t number;
                int64_t delta;
                double real;
                struct text_view text; /* borrowed until it is put */
                struct {
                        size_t at_bytes, n_bytes;
                } stored;
        };
};

/* "-" in text, null in JSON, empty in CSV. */
static inline struct view_value view_unknown(void)
{
        return (struct view_value){ .kind = VIEW_VALUE_UNKNOWN };
}

static inline struct view_value view_number(uint64_t number)
{
        return (struct view_value){ .kind = VIEW_VALUE_NUMBER, .number = number };
}

static inline struct view_value view_known(uint64_t number, bool is_known)
{
        return is_known ? view_number(number) : view_unknown();
}

/* @sum / @n; without any, unknown. */
static inline struct view_value view_mean(uint64_t sum, uint64_t n)
{
        return n != 0 ? view_number(sum / n) : view_unknown();
}

/* For a column of COUNT, where the kind of number differs by row or by trace. */
static inline struct view_value view_amount(uint64_t number, bool is_time)
{
        return (struct view_value){ .kind = VIEW_VALUE_NUMBER, .is_time = is_time, .number = number };
}

static inline struct view_value view_delta(int64_t delta)
{
        return (struct view_value){ .kind = VIEW_VALUE_DELTA, .delta = delta };
}

static inline struct view_value view_real(double real)
{
        return (struct view_value){ .kind = VIEW_VALUE_REAL, .real = real };
}

static inline struct view_value view_real_known(double real, bool is_known)
{
        return is_known ? view_real(real) : view_unknown();
}

/* For a column of REAL, where the kind of number differs by row. */
static inline struct view_value view_real_bytes(double n_bytes)
{
        return (struct view_value){ .kind = VIEW_VALUE_REAL, .is_bytes = true, .real = n_bytes };
}

static inline struct view_value view_text(struct text_view text)
{
        return (struct view_value){ .kind = VIEW_VALUE_TEXT, .text = text };
}

/* An empty text is unknown. */
static inline struct view_value view_name(struct text_view text)
{
        return text.n_bytes != 0 ? view_text(text) : view_unknown();
}

/* With an ellipsis: the text goes on. */
static inline struct view_value view_cut_text(struct text_view text)
{
        return (struct view_value){ .kind = VIEW_VALUE_TEXT, .is_cut = true, .text = text };
}

/* No words, or empty ones, are unknown. */
static inline struct view_value view_words(const char *words)
{
        return words && words[0] != '\0'
                       ? view_text((struct text_view){ .bytes = words, .n_bytes = strlen(words) })
                       : view_unknown();
}

/* "z7"; @id 0 is unknown. */
static inline struct view_value view_handle(char letter, uint32_t id)
{
        return id != 0 ? (struct view_value){ .kind = VIEW_VALUE_HANDLE, .letter = letter, .number = id }
                       : view_unknown();
}

/* "main.c:12"; line 0 is not shown, and no file is unknown. */
static inline struct view_value view_place(struct text_view file, uint32_t line)
{
        return file.n_bytes != 0 ? (struct view_value){ .kind = VIEW_VALUE_PLACE, .text = file, .line = line }
                                 : view_unknown();
}

/* A row of a list as an item of an array of struct view_column; after the words, further fields. */
#define VIEW_COLUMN(type_, key_, title_, value_, ...) \
        { .key = (key_), .title = (title_), .type = VIEW_##type_, .words = __VA_ARGS__ },
/* The same for a column that some tables of that key do not have. */
#define VIEW_COLUMN_ABSENT(type_, key_, title_, value_, ...) \
        VIEW_COLUMN(type_, key_, title_, value_, __VA_ARGS__, .may_be_absent = true)
/* The same for a fact, without a title, which may be known only when there is a trace. */
#define VIEW_MEMBER(type_, key_, title_, value_, ...) VIEW_COLUMN(type_, key_, NULL, value_, __VA_ARGS__)
/* A row of a list as the next cell of the table `t` of the document `d`. */
#define VIEW_CELL(type_, key_, title_, value_, ...) view_table_put(d, t, (value_));
/* A row of a list as a fact of the document `d`. */
#define VIEW_FACT(type_, key_, title_, value_, ...) \
        view_document_put(d, (key_), (title_), VIEW_##type_, (value_));

/* A row of a list as a number: "0 LOCK_COLUMNS(VIEW_PLUS_ONE)" is how many there are. */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the rows stand one after the other, without operators */
#define VIEW_PLUS_ONE(...) +1

#define VIEW_N_COLUMNS(columns_) ((uint32_t)(sizeof(columns_) / sizeof((columns_)[0])))

#endif /* VIEW_DOCUMENT_VIEW_COLUMN_H */
