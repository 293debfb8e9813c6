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

static void deinit_questions(struct html_question *asked)
{
        for (uint32_t i = 0; i < asked->n; i++)
                web_question_deinit(&asked->questions[i]);
        asked->n = 0;
}

void html_answers_deinit(struct html_answers *a)
{
        for (; a->n_asked > 0; a->n_asked--, a->first = (a->first + 1) % HTML_ANSWERS_JOBS_MAX) {
                (void)answer_process_stop(&a->asked[a->first].process);
                deinit_questions(&a->asked[a->first]);
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

static int take_document(struct html_answers *a, struct html_question *asked, uint32_t i,
                         struct byte_buffer *document, struct error *err)
{
        if (document->failed)
                return error_set(err, -ENOMEM, "no memory for an answer");
        if (asked->documents[i])
                byte_buffer_add(asked->documents[i], document->data, document->used_bytes);
        if (asked->questions[i].name == WEB_QUESTION_ANNOTATE && list_sources(a, document, err) < 0)
                return -ENOMEM;
        return add_document(a, &asked->questions[i], document, err);
}

/* Takes the documents of several questions: a NUL after each; those that the trace has not are empty. */
static int take_documents(struct html_answers *a, struct html_question *asked,
                          const struct byte_buffer *documents, struct error *err)
{
        const uint8_t *at = documents->data, *end = at + documents->used_bytes;
        int r = 0;

        for (uint32_t i = 0; i < asked->n && r == 0; i++) {
                const uint8_t *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
                struct byte_buffer one = { .data = NULL };

                if (!nul)
                        return error_set(err, -EBADMSG, "answers are cut off");
                if (nul > at) {
                        byte_buffer_add(&one, at, (size_t)(nul - at));
                        r = take_document(a, asked, i, &one, err);
                }
                byte_buffer_deinit(&one);
                at = nul + 1;
        }
        return r;
}

/* Waits for what was asked first. */
static int collect(struct html_answers *a, struct error *err)
{
        struct html_question *asked = &a->asked[a->first];
        struct byte_buffer document = { .data = NULL };
        struct error why = ERROR_NONE;
        int r = answer_process_collect(&asked->process, ANSWER_BYTES_MAX * asked->n, &document, &why);

        a->first = (a->first + 1) % HTML_ANSWERS_JOBS_MAX;
        a->n_asked--;
        if (r == 0)
                r = asked->n > 1 ? take_documents(a, asked, &document, err)
                                 : take_document(a, asked, 0, &document, err);
        else if (r == -ENODATA || r == -EOVERFLOW)
                r = 0; /* the command has no answer for this trace */
        else
                (void)error_set(err, r, "%s", why.text);
        deinit_questions(asked);
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

/* Questions that one reading of the trace answers; of several, each is a view of `hyprof report`. */
static int ask_group(struct html_answers *a, const struct html_asked *group, uint32_t n, struct error *err)
{
        struct html_question *asked;
        int r = a->n_asked == a->n_jobs ? collect(a, err) : 0;

        if (r < 0)
                return r;
        if (a->show)
                a->show(a->context, group[0].query, a->n_questions);
        a->n_questions += n;
        asked = &a->asked[(a->first + a->n_asked) % HTML_ANSWERS_JOBS_MAX];
        for (asked->n = 0; asked->n < n && r == 0; asked->n++) {
                struct web_question *q = &asked->questions[asked->n];

                asked->documents[asked->n] = group[asked->n].ret_document;
                web_question_init(q);
                r = web_question_parse(q, group[asked->n].query, strlen(group[asked->n].query), err);
                if (asked->n > 0)
                        q[-1].also = q;
        }
        if (r == 0)
                r = answer_process_start(&asked->process, a->answers, asked->questions, NULL, -1, err);
        if (r < 0)
                deinit_questions(asked);
        else
                a->n_asked++;
        return r;
}

static int ask(struct html_answers *a, const char *query, struct error *err)
{
        return ask_group(a, &(struct html_asked){ .query = query }, 1, err);
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
                { "modules", TIMELINE_TRACK_KIND_COUNT },
                { "locks", TIMELINE_TRACK_LOCK },
                { "memory", TIMELINE_TRACK_MEMORY },
                { "messages", TIMELINE_TRACK_KIND_COUNT },
                { "frames", TIMELINE_TRACK_FRAMES },
                { "plots", TIMELINE_TRACK_KIND_COUNT },
                { "devices", TIMELINE_TRACK_DEVICE },
                { "idle&histogram=1", TIMELINE_TRACK_KIND_COUNT },
                { "heat", TIMELINE_TRACK_KIND_COUNT },
        };
        /* Views of one report. */
        const struct html_asked group[HTML_ANSWERS_GROUP_MAX] = {
                { "question=functions", &a->functions },
                { "question=zones", &a->zones },
                { "question=top_down", NULL },
                { "question=top_down&zones_as_frames=1", NULL },
                { "question=bottom_up", NULL },
                { "question=threads", NULL },
                { "question=off_cpu", NULL },
                { "question=cpus", NULL },
                { "question=syscalls", NULL },
        };
        char query[QUERY_BYTES];
        int r = ask_group(a, group, HTML_ANSWERS_GROUP_MAX, err);

        for (size_t i = 0; r == 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
                if (questions[i].track != TIMELINE_TRACK_KIND_COUNT &&
                    !has_track(a->index, questions[i].track))
                        continue;
                (void)snprintf(query, sizeof(query), "question=%s", questions[i].query);
                r = ask(a, query, err);
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
                r = ask(a, query, err);
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
        int r = has_source ? ask(a, "question=annotate&context=all&whole_files=1", err) : 0;

        for (size_t i = 0; r == 0 && (i < zones.n_max || i < functions.n_max); i++) {
                r = add_row(a, &zones, i, err);
                if (r == 0)
                        r = add_row(a, &functions, i, err);
        }
        json_decref(zones.root);
        json_decref(functions.root);
        return r == 0 ? collect_all_asked(a, err) : r;
}
