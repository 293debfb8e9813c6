/* SPDX-License-Identifier: MIT */
#include "web/file/html_parts.h"

#include "base/error.h"
#include "timeline/timeline_index.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX (UINT64_C(64) << 20)
#define QUERY_BYTES      256

void html_answers_init(struct html_answers *a, const struct web_answers *answers,
                       const struct timeline_index *index, const struct html_redaction *redaction)
{
        long n_processors = sysconf(_SC_NPROCESSORS_ONLN);

        *a = (struct html_answers){ .answers = answers, .index = index, .redaction = redaction, .n_jobs = 1 };
        if (n_processors > 1)
                a->n_jobs = n_processors < HTML_ANSWERS_JOBS_MAX ? (uint32_t)n_processors
                                                                 : HTML_ANSWERS_JOBS_MAX;
        for (uint32_t i = 0; i < index->n_lanes; i++)
                a->n_items += timeline_index_lane_facts(index, i).n_items;
        a->n_items_left = HTML_ANSWERS_ITEMS_MAX;
        if (a->n_items_left < 3 * a->n_items)
                a->n_items_left = 3 * a->n_items; /* of one zone */
        byte_buffer_add_u8(&a->text, '{');
}

void html_answers_deinit(struct html_answers *a)
{
        for (; a->n_asked > 0; a->n_asked--, a->first = (a->first + 1) % HTML_ANSWERS_JOBS_MAX) {
                (void)answer_process_stop(&a->asked[a->first].process);
                web_question_deinit(&a->asked[a->first].question);
        }
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

/* Waits for the question that was asked first. */
static int collect(struct html_answers *a, struct error *err)
{
        struct html_question *asked = &a->asked[a->first];
        struct byte_buffer document = { .data = NULL };
        struct error why = ERROR_NONE;
        int r = answer_process_collect(&asked->process, ANSWER_BYTES_MAX, &document, &why);

        a->first = (a->first + 1) % HTML_ANSWERS_JOBS_MAX;
        a->n_asked--;
        if (r == 0 && asked->document)
                byte_buffer_add(asked->document, document.data, document.used_bytes);
        if (r == 0)
                r = asked->question.name == WEB_QUESTION_ANNOTATE && list_sources(a, &document, err) < 0
                            ? -ENOMEM
                            : add_document(a, &asked->question, &document, err);
        else if (r == -ENODATA || r == -EOVERFLOW)
                r = 0; /* the command has no answer for this trace */
        else
                (void)error_set(err, r, "%s", why.text);
        web_question_deinit(&asked->question);
        byte_buffer_deinit(&document);
        return r;
}

static int collect_all_asked(struct html_answers *a, struct error *err)
{
        int r = 0;

        while (a->n_asked > 0 && r == 0)
                r = collect(a, err);
        return r;
}

/* @ret_document: see struct html_question; valid after collect_all_asked() */
static int ask(struct html_answers *a, const char *query, struct byte_buffer *ret_document, struct error *err)
{
        struct html_question *asked;
        int r = a->n_asked == a->n_jobs ? collect(a, err) : 0;

        if (r < 0)
                return r;
        if (a->show)
                a->show(a->context, query, a->n_questions);
        a->n_questions++;
        asked = &a->asked[(a->first + a->n_asked) % HTML_ANSWERS_JOBS_MAX];
        asked->document = ret_document;
        web_question_init(&asked->question);
        r = web_question_parse(&asked->question, query, strlen(query), err);
        if (r == 0)
                r = answer_process_start(&asked->process, a->answers, &asked->question, NULL, -1, err);
        if (r < 0)
                web_question_deinit(&asked->question);
        else
                a->n_asked++;
        return r;
}

static bool has_track(const struct timeline_index *t, enum timeline_track_kind kind)
{
        for (uint32_t i = 0; i < t->n_tracks; i++)
                if (t->tracks[i].kind == (uint32_t)kind)
                        return true;
        return t->n_left_out > 0; /* maybe one of that kind */
}

int html_answers_add_all(struct html_answers *a, struct error *err)
{
        /* With the kind of track that the trace has to have; TIMELINE_TRACK_KIND_COUNT = none. */
        static const struct {
                const char *query;
                enum timeline_track_kind track;
        } questions[] = {
                { "overview", TIMELINE_TRACK_KIND_COUNT },
                { "top_down", TIMELINE_TRACK_KIND_COUNT },
                { "top_down&zones_as_frames=1", TIMELINE_TRACK_KIND_COUNT },
                { "bottom_up", TIMELINE_TRACK_KIND_COUNT },
                { "threads", TIMELINE_TRACK_KIND_COUNT },
                { "modules", TIMELINE_TRACK_KIND_COUNT },
                { "off_cpu", TIMELINE_TRACK_KIND_COUNT },
                { "cpus", TIMELINE_TRACK_KIND_COUNT },
                { "locks", TIMELINE_TRACK_LOCK },
                { "memory", TIMELINE_TRACK_MEMORY },
                { "messages", TIMELINE_TRACK_KIND_COUNT },
                { "frames", TIMELINE_TRACK_FRAMES },
                { "plots", TIMELINE_TRACK_KIND_COUNT },
                { "devices", TIMELINE_TRACK_DEVICE },
                { "syscalls", TIMELINE_TRACK_KIND_COUNT },
                { "idle&histogram=1", TIMELINE_TRACK_KIND_COUNT },
                { "heat", TIMELINE_TRACK_KIND_COUNT },
        };
        char query[QUERY_BYTES];
        int r = ask(a, "question=functions", &a->functions, err);

        if (r == 0)
                r = ask(a, "question=zones", &a->zones, err);
        for (size_t i = 0; r == 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
                if (questions[i].track != TIMELINE_TRACK_KIND_COUNT &&
                    !has_track(a->index, questions[i].track))
                        continue;
                (void)snprintf(query, sizeof(query), "question=%s", questions[i].query);
                r = ask(a, query, NULL, err);
        }
        return r == 0 ? collect_all_asked(a, err) : r;
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

struct detail_rows {
        json_t *root; /* owned */
        json_t *rows; /* of it */
        const char *const *formats;
        size_t n_formats, n_max;
};

static struct detail_rows open_rows(const struct byte_buffer *document, const char *table,
                                    const char *const *formats, size_t n_max)
{
        struct detail_rows d = { .formats = formats, .n_max = n_max };

        d.root = document->used_bytes ? json_loadb((const char *)document->data, document->used_bytes,
                                                   JSON_ALLOW_NUL, NULL)
                                      : NULL;
        d.rows = json_object_get(json_object_get(d.root, table), "rows");
        while (formats[d.n_formats])
                d.n_formats++;
        return d;
}

/* Asks about the row at @i, unless that costs too much: each question is a walk through the trace. */
static int add_row(struct html_answers *a, const struct detail_rows *d, size_t i, struct error *err)
{
        const char *handle = json_string_value(json_object_get(json_array_get(d->rows, i), "handle"));
        uint64_t n_items = a->n_items * d->n_formats;

        if (!handle || i >= d->n_max)
                return 0;
        if (n_items > a->n_items_left) {
                a->leaves_out_details = true;
                return 0;
        }
        a->n_items_left -= n_items;
        return ask_about(a, d->formats, handle, err);
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
        struct detail_rows zones = open_rows(&a->zones, "zones", of_zone, HTML_ANSWERS_ZONES);
        struct detail_rows functions = open_rows(&a->functions, "functions", of_function + !has_source,
                                                 HTML_ANSWERS_FUNCTIONS);
        int r = has_source ? ask(a, "question=annotate&context=all&whole_files=1", NULL, err) : 0;

        for (size_t i = 0; r == 0 && (i < zones.n_max || i < functions.n_max); i++) {
                r = add_row(a, &zones, i, err);
                if (r == 0)
                        r = add_row(a, &functions, i, err);
        }
        json_decref(zones.root);
        json_decref(functions.root);
        return r == 0 ? collect_all_asked(a, err) : r;
}
