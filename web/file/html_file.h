/* SPDX-License-Identifier: MIT */
/*
 * web/file/html_file.h - the viewer with its data as one HTML file that needs no server
 *
 * Way of the data:  timeline_index, view_model, html_answers, html_samples -> [html_file] -> file
 *
 * Aggregates are always complete.  The rest has to fit into a size; docs/use/viewers.md says what is left out
 * first; the page says what was left out.
 */
#ifndef WEB_FILE_HTML_FILE_H
#define WEB_FILE_HTML_FILE_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct web_answers;

#define HTML_NOTES_MAX 100 /* of a command line */
#define HTML_PINS_MAX  100

/* A note on the timeline. */
struct html_note {
        uint64_t from_ns, to_ns; /* since the beginning of the recording; the same = an instant */
        const char *text;
};

/* The notes and pins that a person hands on with the page. */
struct html_marks {
        struct text_view kept_notes,
                kept_tracks; /* JSON, as the viewer keeps it (kept_values); may be empty */
        struct html_note notes[HTML_NOTES_MAX];
        size_t n_notes;
        const char *pins[HTML_PINS_MAX]; /* globs of titles of tracks */
        size_t n_pins;
};

struct html_file_options {
        const char *trace;              /* path */
        const struct html_marks *marks; /* NULL = none */
        uint64_t bytes_max;
        bool redacts;
        const struct web_answers *answers;
        /* Called with words for what is made next: a large trace takes a while.  May be NULL. */
        void (*show_stage)(const char *stage);
};

struct html_file {
        struct byte_buffer text; /* owned: the whole file */
        /* owned: words for people, one line each; empty = nothing was left out */
        struct byte_buffer left_out;
        /* owned: names of files of this machine whose text is in the page, each with a NUL at its end */
        struct byte_buffer sources;
};

/*
 * html_file_make() - reads the trace, asks all questions, and packs what fits
 * Returns 0; -EFBIG if not even the tables fit; -ENOENT if a pin fits no track; -ERANGE if a
 * note begins after the end; -ENOMEM; what opening and reading the trace return.  To be deinitialised.
 */
int html_file_make(struct html_file *ret, const struct html_file_options *options, struct error *err);
void html_file_deinit(struct html_file *file);

#endif /* WEB_FILE_HTML_FILE_H */
