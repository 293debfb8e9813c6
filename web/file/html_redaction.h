/* SPDX-License-Identifier: MIT */
/*
 * web/file/html_redaction.h - documents without command lines, host names and folders: what `hyprof html
 * --redact` leaves out
 *
 * Way of the data:  html_answers, view_model -> [html_redaction] -> html_file
 *
 * Names of functions, zones, threads and files stay: without them the page says nothing.
 */
#ifndef WEB_FILE_HTML_REDACTION_H
#define WEB_FILE_HTML_REDACTION_H

#include "base/text_view.h"

#include <jansson.h>

struct byte_buffer;
struct error;

struct html_redaction {
        struct text_view command, host; /* of the trace; borrowed */
};

/* Every text of the document, in place.  Returns 0 or -ENOMEM. */
int html_redaction_clean(const struct html_redaction *redaction, json_t *document);

/* The same for a document as text, which is replaced.  Returns 0, -ENOMEM, -EBADMSG (no JSON). */
int html_redaction_clean_text(const struct html_redaction *redaction, struct byte_buffer *text,
                              struct error *err);

/* Appends @text without folders, the command line and the host name. */
void html_redaction_put(const struct html_redaction *redaction, struct text_view text,
                        struct byte_buffer *out);

#endif /* WEB_FILE_HTML_REDACTION_H */
