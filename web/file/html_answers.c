/* SPDX-License-Identifier: MIT */
#include "web/file/html_parts.h"

#include "base/error.h"
#include "web/request/web_question.h"
#include "web/server/answer_process.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (UINT64_C(64) << 20)
#define QUERY_BYTES      256

void html_answers_init(struct html_answers *a, const struct web_answers *answers,
                       const struct html_redaction *redaction)
{
        *a = (struct html_answers){ .answers = answers, .redaction = redaction };
        byte_buffer_add_u8(&a->text, '{');
}

void html_answers_deinit(struct html_answers *a)
{
        byte_buffer_deinit(&a->text);
        byte_buffer_deinit(&a->zones);
        byte_buffer_deinit(&a->functions);
        byte_buffer_deinit(&a->sources);
}

static int add_document(struct html_answers *a, const struct web_question *q, struct byte_buffer *document,
                        struct error *err)
{
        struct byte_buffer key = { .data = NULL };
        json_t *text;
        char *printed;
        int r = a->redaction ? html_redaction_clean_text(a->redaction, document, err) : 0;

        if (r < 0)
                return r;
        web_question_key(q, &key);
        text = key.failed ? NULL : json_stringn((const char *)key.data, key.used_bytes);
        printed = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
        json_decref(text);
        byte_buffer_deinit(&key);
        if (!printed)
                return error_set(err, -ENOMEM, "no memory for an answer");
        if (a->n_answers++ > 0)
                byte_buffer_add_u8(&a->text, ',');
        byte_buffer_add(&a->text, printed, strlen(printed));
        byte_buffer_add_u8(&a->text, ':');
        byte_buffer_add(&a->text, document->data, document->used_bytes);
        free(printed);
        return a->text.failed ? error_set(err, -ENOMEM, "no memory for an answer") : 0;
}

static bool lists(const struct byte_buffer *names, const char *name)
{
        const char *at = (const char *)names->data, *end = at + names->used_bytes;

        for (; at && at < end; at += strlen(at) + 1)
                if (strcmp(at, name) == 0)
                        return true;
        return false;
}

/* Lists the files of this machine whose text is in the page, for users who hand the page on. */
static int list_sources(struct html_answers *a, const struct byte_buffer *document, struct error *err)
{
        json_t *root = json_loadb((const char *)document->data, document->used_bytes, JSON_ALLOW_NUL, NULL);
        json_t *rows = json_object_get(json_object_get(root, "lines"), "rows");

        for (size_t i = 0; i < json_array_size(rows); i++) {
                const json_t *row = json_array_get(rows, i);
                const char *file = json_string_value(json_object_get(row, "file"));
                const char *source = json_string_value(json_object_get(row, "source"));

                if (file && source && (strcmp(source, "file") == 0 || strcmp(source, "newer file") == 0) &&
                    !lists(&a->sources, file))
                        byte_buffer_add(&a->sources, file, strlen(file) + 1);
        }
        json_decref(root);
        return a->sources.failed ? error_set(err, -ENOMEM, "no memory for the sources") : 0;
}

/* @ret_document: gets the text as the command printed it; NULL = not wanted. */
static int ask(struct html_answers *a, const char *query, struct byte_buffer *ret_document, struct error *err)
{
        struct byte_buffer document = { .data = NULL };
        struct error why = ERROR_NONE;
        struct web_question q;
        int r;

        web_question_init(&q);
        r = web_question_parse(&q, query, strlen(query), err);
        if (r == 0) {
                r = answer_process_collect(a->answers, &q, ANSWER_BYTES_MAX, &document, &why);
                if (r == 0 && ret_document)
                        byte_buffer_add(ret_document, document.data, document.used_bytes);
                if (r == 0)
                        r = q.name == WEB_QUESTION_ANNOTATE && list_sources(a, &document, err) < 0
                                    ? -ENOMEM
                                    : add_document(a, &q, &document, err);
                else if (r == -ENODATA || r == -EOVERFLOW)
                        r = 0; /* the command has no answer for this trace */
                else
                        (void)error_set(err, r, "%s", why.text);
        }
        web_question_deinit(&q);
        byte_buffer_deinit(&document);
        return r;
}

int html_answers_add_all(struct html_answers *a, struct error *err)
{
        static const char *const questions[] = {
                "overview",
                "top_down",
                "top_down&zones_as_frames=1",
                "bottom_up",
                "threads",
                "modules",
                "off_cpu",
                "cpus",
                "locks",
                "memory",
                "messages",
                "frames",
                "plots",
                "devices",
                "syscalls",
                "idle&histogram=1",
                "heat",
        };
        char query[QUERY_BYTES];
        int r = ask(a, "question=functions", &a->functions, err);

        if (r == 0)
                r = ask(a, "question=zones", &a->zones, err);
        for (size_t i = 0; r == 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
                (void)snprintf(query, sizeof(query), "question=%s", questions[i]);
                r = ask(a, query, NULL, err);
        }
        return r;
}

/* A handle is a letter and digits: it goes into a query as it is. */
static int ask_about(struct html_answers *a, const char *const *formats, const char *handle,
                     struct error *err)
{
        int r = strspn(handle, "zf0123456789") == strlen(handle) ? 0 : -EBADMSG;

        for (size_t i = 0; r == 0 && formats[i]; i++) {
                char query[QUERY_BYTES];

                (void)snprintf(query, sizeof(query), "question=%s%.32s", formats[i], handle);
                r = ask(a, query, NULL, err);
        }
        return r == -EBADMSG ? 0 : r;
}

static int add_rows(struct html_answers *a, const struct byte_buffer *document, const char *table,
                    const char *const *formats, size_t n_max, struct error *err)
{
        json_t *root = document->used_bytes ? json_loadb((const char *)document->data, document->used_bytes,
                                                         JSON_ALLOW_NUL, NULL)
                                            : NULL;
        json_t *rows = json_object_get(json_object_get(root, table), "rows");
        int r = 0;

        for (size_t i = 0; r == 0 && i < json_array_size(rows) && i < n_max; i++) {
                const char *handle = json_string_value(json_object_get(json_array_get(rows, i), "handle"));

                if (handle)
                        r = ask_about(a, formats, handle, err);
        }
        json_decref(root);
        return r;
}

int html_answers_add_details(struct html_answers *a, struct error *err)
{
        static const char *const of_zone[] = { "zone&zone=", "why&zone=", "zone&group_by=thread&zone=",
                                               NULL };
        static const char *const of_function[] = { "annotate&context=all&whole_files=1&function=",
                                                   "bottom_up&function=", "top_down&function=",
                                                   "functions&function=", NULL };
        /* A redacted page must not contain source text. */
        bool has_source = !a->redaction;
        int r = has_source ? ask(a, "question=annotate&context=all&whole_files=1", NULL, err) : 0;

        if (r == 0)
                r = add_rows(a, &a->zones, "zones", of_zone, HTML_ANSWERS_ZONES, err);
        if (r == 0)
                r = add_rows(a, &a->functions, "functions", of_function + !has_source, HTML_ANSWERS_FUNCTIONS,
                             err);
        return r;
}
