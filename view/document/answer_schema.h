/* SPDX-License-Identifier: MIT */
/*
 * view/document/answer_schema.h - the parts of an answer, whatever the trace: its facts, its tables, their
 * columns
 *
 * Way of the data:  lists of columns -> [answer_schema] -> docs/schemas, docs/use/view-json.md
 *
 * Static data; nothing here is needed to print an answer itself.
 */
#ifndef VIEW_DOCUMENT_ANSWER_SCHEMA_H
#define VIEW_DOCUMENT_ANSWER_SCHEMA_H

#include "view/document/view_column.h"

#include <stdio.h>

/* A table of an answer; or some of its facts, which are the columns then. */
struct answer_part {
        const char *key; /* of the table; NULL = facts */
        const struct view_column *columns;
        uint32_t n_columns;
        bool is_tree;
        bool may_be_absent;       /* not in each document */
        bool is_common;           /* many answers have it: docs/use/view-json.md describes it once, by hand */
        const char *words;        /* describes a row of the table; NULL for facts */
        const char *more_columns; /* the values of columns that are named after something in the trace; NULL =
                                     there are none */
};

/* A table with the columns of an array: words, then further fields, if there are any. */
#define ANSWER_TABLE(key_, columns_, ...)                                                    \
        {                                                                                    \
                .key = (key_), .columns = (columns_), .n_columns = VIEW_N_COLUMNS(columns_), \
                .words = __VA_ARGS__                                                         \
        }
/*
 * Facts: in each document of the answer; in documents of many answers; in only some documents of the answer.
 */
#define ANSWER_FACTS(columns_)                                               \
        {                                                                    \
                .columns = (columns_), .n_columns = VIEW_N_COLUMNS(columns_) \
        }
#define ANSWER_FACTS_COMMON(columns_)                                                           \
        {                                                                                       \
                .columns = (columns_), .n_columns = VIEW_N_COLUMNS(columns_), .is_common = true \
        }
#define ANSWER_FACTS_ABSENT(columns_)                                                               \
        {                                                                                           \
                .columns = (columns_), .n_columns = VIEW_N_COLUMNS(columns_), .may_be_absent = true \
        }

struct answer_schema {
        const char *name;                       /* "hyprof.zones/2" */
        const char *command;                    /* "hyprof report --zones --json" */
        const struct answer_part *const *parts; /* NULL at the end */
        bool lacks_answer;                      /* documents have no answer in words; all others have one */
};

/*
 * Prints a JSON Schema, of draft 2020-12.  Returns 0; -ENOMEM, also if a table has a key twice, or words have
 * what Markdown would not show.  The caller checks @out for write errors.
 */
int answer_schema_print_json(const struct answer_schema *s, FILE *out);

/* Prints the table of its members, in Markdown. */
void answer_schema_print_markdown(const struct answer_schema *s, FILE *out);

#endif /* VIEW_DOCUMENT_ANSWER_SCHEMA_H */
