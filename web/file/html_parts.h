/* SPDX-License-Identifier: MIT */
/*
 * web/file/html_parts.h - the parts of a page without a server: documents, samples and columns, after
 * redaction, as text that a page can hold
 *
 * Way of the data:  answer_process, trace_walk, view_model -> [html_parts] -> html_file
 *
 * Each part says its own way below.
 */
#ifndef WEB_FILE_HTML_PARTS_H
#define WEB_FILE_HTML_PARTS_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "base/text_view.h"

#include "web/request/web_question.h"
#include "web/server/answer_process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct html_marks;
struct loaded_trace;
struct timeline_index;
struct trace_dictionary;
struct view_names;
struct web_answers;

/*
 * html_answers.c - the documents that a page without a server holds: of all questions, and of the
 * largest zones and functions
 *
 * Way of the data:  web_answers (the commands) -> answer_process -> [html_answers] -> packed_text ->
 *                   html_file
 */

#define HTML_ANSWERS_ZONES 12 /* with documents of their own: those with the most time */
#define HTML_ANSWERS_FUNCTIONS \
        12 /* likewise, with their source and instructions: those with the most samples */

/*
 * All documents about single zones and functions go through no more items than this, of zones, samples and
 * all else; the first zone always has its own.
 */
#define HTML_ANSWERS_ITEMS_MAX UINT64_C(100000000)
#define HTML_ANSWERS_JOBS_MAX  16

#define HTML_ANSWERS_GROUP_MAX 9

/* A question that was asked, or several that one reading of the trace answers. */
struct html_question {
        struct web_question questions[HTML_ANSWERS_GROUP_MAX];
        uint32_t n;
        struct answer_process process;
        /* borrowed: get the texts as the command printed them; NULL = not wanted */
        struct byte_buffer *documents[HTML_ANSWERS_GROUP_MAX];
};

/* A question, and where its document goes as well. */
struct html_asked {
        const char *query;
        struct byte_buffer *ret_document; /* valid when all that was asked is collected; NULL = not wanted */
};

struct html_answers {
        const struct web_answers *answers;
        const struct timeline_index *index; /* borrowed; what is on no track of it is not asked about */
        uint64_t n_items;                   /* of the index */
        uint64_t n_items_left;              /* that documents of single zones and functions may go through */
        /* Called with each question that is asked and how many were before; may be NULL. */
        void (*show)(void *context, const char *query, uint32_t n_before);
        void *context;
        struct html_question asked[HTML_ANSWERS_JOBS_MAX]; /* a ring; the first one was asked first */
        uint32_t first, n_asked, n_jobs;                   /* n_jobs: as many at a time */
        uint32_t n_questions;
        bool leaves_out_details; /* not all of the largest zones and functions have documents */
        const struct html_redaction *redaction; /* NULL = nothing is left out */
        struct byte_buffer text;                /* a JSON object without its last brace: key -> document */
        struct byte_buffer zones, functions;    /* those two documents */
        struct byte_buffer sources; /* files whose text is in the answers, each once, with a NUL at its end */
        uint32_t n_answers;
};

/* @index: of the trace */
void html_answers_init(struct html_answers *a, const struct web_answers *answers,
                       const struct timeline_index *index, const struct html_redaction *redaction);
void html_answers_deinit(struct html_answers *a);

/*
 * Asks all questions about the whole trace, as many at a time as there are processors.  A question that the
 * trace cannot answer is left out, as are those about things that the trace does not have.  Returns 0,
 * -ENOMEM, -errno.
 */
int html_answers_add_all(struct html_answers *a, struct error *err);

/* Asks about the largest zones and functions, after html_answers_add_all(), and returns as that does. */
int html_answers_add_details(struct html_answers *a, struct error *err);

/*
 * html_samples.c - all samples of a trace as columns that a page keeps, and the stacks that they
 * name
 *
 * Way of the data:  trace_walk -> [html_samples] -> packed_text -> html_file
 *
 * docs/use/viewers.md has the format, "HYSP".
 */

#define HTML_SAMPLES_MAGIC   UINT32_C(0x50535948) /* "HYSP" */
#define HTML_SAMPLES_VERSION 1
#define HTML_SAMPLES_MAX     4000000 /* if there are more, all are left out */

/*
 * html_samples_put() - appends all samples to @out, in one walk through the trace
 * @ret_n:  how many there are; 0 with nothing in @out if there are none
 * Returns 0; -E2BIG if there are more than HTML_SAMPLES_MAX; -ENOMEM, -errno.
 */
int html_samples_put(struct loaded_trace *trace, struct byte_buffer *out, uint64_t *ret_n, struct error *err);

/*
 * {"stacks":[[parent, frame], ...], "frames":[[function, ...], ...]}, both by id - 1.  Returns 0 or
 * -ENOMEM.
 */
int html_samples_put_stacks(const struct view_names *names, struct byte_buffer *out, struct error *err);

/*
 * html_redaction.c - documents without command lines, host names and folders: what `hyprof html
 * --redact` leaves out
 *
 * Way of the data:  html_answers, view_model -> [html_redaction] -> html_file
 *
 * Names of functions, zones, threads and files stay: without them the page says nothing.
 */

/* Zero-initialised: it knows no folder. */
struct html_redaction {
        struct text_view command, host; /* of the trace; borrowed */
        struct intern folders;          /* known ones, without their last '/' */
};

/*
 * Learns the folders of all paths of a trace, and those above them: they are found in any text, whatever
 * characters they have.  Returns 0 or -ENOMEM.
 */
int html_redaction_learn(struct html_redaction *redaction, const struct trace_dictionary *dictionary);

/* The same of one path; what is no path teaches nothing. */
int html_redaction_learn_path(struct html_redaction *redaction, struct text_view path);
void html_redaction_deinit(struct html_redaction *redaction);

/* Every text of the document, in place.  Returns 0 or -ENOMEM. */
int html_redaction_clean(const struct html_redaction *redaction, json_t *document);

/* The same for a document as text, which is replaced.  Returns 0, -ENOMEM, -EBADMSG (no JSON). */
int html_redaction_clean_text(const struct html_redaction *redaction, struct byte_buffer *text,
                              struct error *err);

/* Appends @text without folders, the command line and the host name. */
void html_redaction_put(const struct html_redaction *redaction, struct text_view text,
                        struct byte_buffer *out);

/*
 * html_marks.c - notes and pins of a person, as the page reads them
 *
 * Way of the data:  the command line, kept_values -> [html_marks] -> html_file
 */

/*
 * [{"from", "to", "text"}, ...]; nothing if there are none.  @redaction: NULL = none.  Returns 0 or
 * -ENOMEM.
 */
int html_marks_put_notes(const struct html_marks *marks, const struct html_redaction *redaction,
                         struct byte_buffer *out, struct error *err);

/*
 * {"pinned": ["thread:3", ...], ...}; nothing if there are no pins and nothing is kept.  Returns 0; -ENOENT
 * if a pin fits no track of @index; -ENOMEM.
 */
int html_marks_put_tracks(const struct html_marks *marks, const struct timeline_index *index,
                          struct byte_buffer *out, struct error *err);

/*
 * escaped_columns.c - columns of whole numbers in 32 bits each, with a list of those that are larger
 *
 * Way of the data:  html_file (lanes), html_samples -> [escaped_columns] -> packed_text
 *
 * A number of 0xffffffff stands for the next escape, column after column; the escapes come first.
 */

#define ESCAPED_COLUMN_MARK UINT32_MAX

/* Zero-initialised: empty. */
struct escaped_columns {
        struct byte_buffer escapes, columns; /* owned */
};

void escaped_columns_deinit(struct escaped_columns *c);

/* Forgets the contents, keeps the memory. */
void escaped_columns_clear(struct escaped_columns *c);

/* Adds a column of @n numbers; with @is_delta, each number minus the one before it. */
void escaped_columns_add(struct escaped_columns *c, const double *values, size_t n, int is_delta);

/* A column of the differences @values - @base. */
void escaped_columns_add_less(struct escaped_columns *c, const double *values, const double *base, size_t n);
void escaped_columns_add_u32(struct escaped_columns *c, const uint32_t *values, size_t n);

/* A column of floating numbers, as they are. */
void escaped_columns_add_f64(struct escaped_columns *c, const double *values, size_t n);

uint32_t escaped_columns_count(const struct escaped_columns *c);

/* Appends the escapes and the columns; without memory, @out failed. */
void escaped_columns_put(const struct escaped_columns *c, struct byte_buffer *out);

/*
 * packed_text.c - bytes as a page can hold them: gzip, then base64; in as many threads as processors
 *
 * Way of the data:  html_file (lanes), html_samples, html_answers -> [packed_text] -> html_file
 */

/* Appends the text; the same bytes give the same text.  Returns 0 or -ENOMEM. */
int packed_text_add(struct byte_buffer *out, const void *bytes, size_t n_bytes);

/* About how many bytes the text would have, by a few parts of the bytes.  0 if there is no memory. */
uint64_t packed_text_estimate(const void *bytes, size_t n_bytes);

#endif /* WEB_FILE_HTML_PARTS_H */
