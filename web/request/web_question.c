/* SPDX-License-Identifier: MIT */
#include "web/request/web_question.h"

#include "base/error.h"
#include "web/request/query_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum value_kind {
        VALUE_TEXT,
        VALUE_TIME,   /* whole nanoseconds since the beginning of the recording */
        VALUE_NUMBER, /* whole */
        VALUE_FLAG,   /* 1 */
        VALUE_SIDE,   /* before, after */
};

static const struct parameter_row {
        const char *name;
        enum value_kind kind;
} parameters[WEB_PARAMETER_COUNT] = {
        [WEB_PARAMETER_FROM] = { "from", VALUE_TIME },
        [WEB_PARAMETER_TO] = { "to", VALUE_TIME },
        [WEB_PARAMETER_PROCESS] = { "process", VALUE_TEXT },
        [WEB_PARAMETER_THREAD] = { "thread", VALUE_TEXT },
        [WEB_PARAMETER_CPU] = { "cpu", VALUE_TEXT },
        [WEB_PARAMETER_ZONE] = { "zone", VALUE_TEXT },
        [WEB_PARAMETER_MODULE] = { "module", VALUE_TEXT },
        [WEB_PARAMETER_EVENT] = { "event", VALUE_TEXT },
        [WEB_PARAMETER_FUNCTION] = { "function", VALUE_TEXT },
        [WEB_PARAMETER_HISTOGRAM] = { "histogram", VALUE_FLAG },
        [WEB_PARAMETER_TOP] = { "top", VALUE_NUMBER },
        [WEB_PARAMETER_DEPTH] = { "depth", VALUE_NUMBER },
        [WEB_PARAMETER_MIN_SHARE] = { "min_share", VALUE_TEXT },
        [WEB_PARAMETER_GROUP_BY] = { "group_by", VALUE_TEXT },
        [WEB_PARAMETER_SEVERITY] = { "severity", VALUE_TEXT },
        [WEB_PARAMETER_SLOWEST] = { "slowest", VALUE_TEXT },
        [WEB_PARAMETER_SLOWER_THAN] = { "slower_than", VALUE_TIME },
        [WEB_PARAMETER_BY] = { "by", VALUE_TEXT },
        [WEB_PARAMETER_LONGER_THAN] = { "longer_than", VALUE_TIME },
        [WEB_PARAMETER_SHORTER_THAN] = { "shorter_than", VALUE_TIME },
        [WEB_PARAMETER_ZONES_AS_FRAMES] = { "zones_as_frames", VALUE_FLAG },
        [WEB_PARAMETER_DISASSEMBLER_STYLE] = { "disassembler_style", VALUE_TEXT },
        [WEB_PARAMETER_INLINED] = { "inlined", VALUE_FLAG },
        [WEB_PARAMETER_CONTEXT] = { "context", VALUE_TEXT },
        [WEB_PARAMETER_WHOLE_FILES] = { "whole_files", VALUE_FLAG },
        [WEB_PARAMETER_THRESHOLD] = { "threshold", VALUE_TEXT },
        [WEB_PARAMETER_PER] = { "per", VALUE_TEXT },
        [WEB_PARAMETER_ONLY] = { "only", VALUE_TEXT },
        [WEB_PARAMETER_SIDE] = { "side", VALUE_SIDE },
        [WEB_PARAMETER_AT] = { "at", VALUE_TIME },
};

#define BIT(name) (UINT32_C(1) << WEB_PARAMETER_##name)
/* When, where, in which zone. */
#define FILTERS                                                                                  \
        (BIT(FROM) | BIT(TO) | BIT(PROCESS) | BIT(THREAD) | BIT(CPU) | BIT(ZONE) | BIT(MODULE) | \
         BIT(EVENT) | BIT(TOP) | BIT(SIDE))
#define TREE (FILTERS | BIT(FUNCTION) | BIT(DEPTH) | BIT(MIN_SHARE))

static const struct question_row {
        const char *name;
        uint32_t may_have;
        uint32_t must_have;
} questions[WEB_QUESTION_COUNT] = {
        [WEB_QUESTION_OVERVIEW] = { "overview", FILTERS, 0 },
        [WEB_QUESTION_FUNCTIONS] = { "functions", FILTERS | BIT(FUNCTION), 0 },
        [WEB_QUESTION_TOP_DOWN] = { "top_down", TREE | BIT(ZONES_AS_FRAMES), 0 },
        [WEB_QUESTION_BOTTOM_UP] = { "bottom_up", TREE, 0 },
        [WEB_QUESTION_ZONES] = { "zones", FILTERS | BIT(HISTOGRAM), 0 },
        [WEB_QUESTION_ZONE] = { "zone",
                                FILTERS | BIT(HISTOGRAM) | BIT(GROUP_BY) | BIT(LONGER_THAN) |
                                        BIT(SHORTER_THAN),
                                BIT(ZONE) },
        [WEB_QUESTION_THREADS] = { "threads", FILTERS, 0 },
        [WEB_QUESTION_MODULES] = { "modules", FILTERS, 0 },
        [WEB_QUESTION_OFF_CPU] = { "off_cpu", FILTERS, 0 },
        [WEB_QUESTION_CPUS] = { "cpus", FILTERS, 0 },
        [WEB_QUESTION_IDLE] = { "idle", FILTERS | BIT(HISTOGRAM), 0 },
        [WEB_QUESTION_HEAT] = { "heat", FILTERS, 0 },
        [WEB_QUESTION_SYSCALLS] = { "syscalls", FILTERS, 0 },
        [WEB_QUESTION_LOCKS] = { "locks", FILTERS, 0 },
        [WEB_QUESTION_MEMORY] = { "memory", FILTERS, 0 },
        [WEB_QUESTION_MESSAGES] = { "messages", FILTERS | BIT(SEVERITY), 0 },
        [WEB_QUESTION_FRAMES] = { "frames", FILTERS, 0 },
        [WEB_QUESTION_PLOTS] = { "plots", FILTERS, 0 },
        [WEB_QUESTION_DEVICES] = { "devices", FILTERS, 0 },
        [WEB_QUESTION_ANNOTATE] = { "annotate",
                                    FILTERS | BIT(FUNCTION) | BIT(INLINED) | BIT(CONTEXT) | BIT(WHOLE_FILES) |
                                            BIT(DISASSEMBLER_STYLE),
                                    0 },
        [WEB_QUESTION_WHY] = { "why", FILTERS | BIT(SLOWEST) | BIT(SLOWER_THAN) | BIT(BY), BIT(ZONE) },
        [WEB_QUESTION_PATH] = { "path", FILTERS | BIT(SLOWEST) | BIT(SLOWER_THAN) | BIT(AT), 0 },
        [WEB_QUESTION_DIFF] = { "diff",
                                (FILTERS & ~BIT(SIDE)) | BIT(THRESHOLD) | BIT(PER) | BIT(ONLY) |
                                        BIT(MIN_SHARE),
                                0 },
        [WEB_QUESTION_PAGE] = { "page", BIT(SIDE), 0 },
};

const char *web_question_text(enum web_question_name name)
{
        return questions[name].name;
}

const char *web_parameter_text(enum web_parameter parameter)
{
        return parameters[parameter].name;
}

void web_question_init(struct web_question *q)
{
        *q = (struct web_question){ .to_ns = UINT64_MAX, .from_ns = UINT64_MAX };
}

void web_question_deinit(struct web_question *q)
{
        byte_buffer_deinit(&q->texts);
        web_question_init(q);
}

/* Names are ASCII; of a foreign text, only the beginning is shown. */
static int shown(struct text_view text)
{
        return (int)(text.n_bytes < 40 ? text.n_bytes : 40);
}

static int find_question(struct text_view name, enum web_question_name *ret, struct error *err)
{
        for (int i = 0; i < WEB_QUESTION_COUNT; i++)
                if (text_view_is(name, questions[i].name)) {
                        *ret = (enum web_question_name)i;
                        return 0;
                }
        return error_set(err, -EINVAL, "no question is called '%.*s'", shown(name), name.bytes);
}

static int find_parameter(struct text_view name, struct error *err)
{
        for (int i = 0; i < WEB_PARAMETER_COUNT; i++)
                if (text_view_is(name, parameters[i].name))
                        return i;
        return error_set(err, -EINVAL, "no parameter is called '%.*s'", shown(name), name.bytes);
}

static int check_value(int parameter, struct text_view value, struct error *err)
{
        const struct parameter_row *row = &parameters[parameter];
        uint64_t number;

        if (value.n_bytes == 0 || value.n_bytes > WEB_QUESTION_VALUE_MAX)
                return error_set(err, -EINVAL, "%s is %s", row->name,
                                 value.n_bytes == 0 ? "empty" : "too long");
        if (row->kind == VALUE_FLAG && !text_view_is(value, "1"))
                return error_set(err, -EINVAL, "%s is not 1", row->name);
        if (row->kind == VALUE_SIDE && !text_view_is(value, "before") && !text_view_is(value, "after"))
                return error_set(err, -EINVAL, "side is neither before nor after");
        if ((row->kind == VALUE_TIME && query_number(value, QUERY_NUMBER_MAX, &number) < 0) ||
            (row->kind == VALUE_NUMBER && query_number(value, UINT32_MAX - 1, &number) < 0))
                return error_set(err, -EINVAL, "%s is not a whole number", row->name);
        return 0;
}

/* Holds offsets, because addresses of the values are known only once all values are there. */
struct value_places {
        size_t at[WEB_PARAMETER_COUNT];
        bool is_given[WEB_PARAMETER_COUNT];
};

static int take_parameter(struct web_question *q, struct value_places *places, struct text_view name,
                          struct text_view value, struct error *err)
{
        int i = find_parameter(name, err);
        int r = i < 0 ? i : check_value(i, value, err);

        if (r < 0)
                return r;
        if (places->is_given[i])
                return error_set(err, -EINVAL, "%s is given twice", parameters[i].name);
        places->is_given[i] = true;
        places->at[i] = q->texts.used_bytes;
        byte_buffer_add(&q->texts, value.bytes, value.n_bytes);
        byte_buffer_add_u8(&q->texts, '\0');
        if (i == WEB_PARAMETER_FROM)
                (void)query_number(value, QUERY_NUMBER_MAX, &q->from_ns);
        if (i == WEB_PARAMETER_TO)
                (void)query_number(value, QUERY_NUMBER_MAX, &q->to_ns);
        return q->texts.failed ? error_set(err, -ENOMEM, "no memory for a request") : 0;
}

static int take_pairs(struct web_question *q, struct query_reader *in, struct value_places *places,
                      struct error *err)
{
        struct text_view name, value;
        bool has_question = false;
        int r;

        while ((r = query_reader_next(in, &name, &value, err)) == 1) {
                if (text_view_is(name, "question")) {
                        if (has_question)
                                return error_set(err, -EINVAL, "two questions at once");
                        has_question = true;
                        r = find_question(value, &q->name, err);
                } else if (text_view_is(name, "job")) {
                        r = query_number(value, QUERY_NUMBER_MAX, &q->job);
                        if (r < 0)
                                (void)error_set(err, r, "job is not a whole number");
                } else {
                        r = take_parameter(q, places, name, value, err);
                }
                if (r < 0)
                        return r;
        }
        if (r == 0 && !has_question)
                return error_set(err, -EINVAL, "there is no question");
        return r;
}

static int check_parameters(const struct web_question *q, struct error *err)
{
        const struct question_row *row = &questions[q->name];

        for (unsigned i = 0; i < WEB_PARAMETER_COUNT; i++) {
                uint32_t bit = UINT32_C(1) << i;

                if (q->values[i] && !(row->may_have & bit))
                        return error_set(err, -EINVAL, "%s has no parameter %s", row->name,
                                         parameters[i].name);
                if (!q->values[i] && (row->must_have & bit))
                        return error_set(err, -EINVAL, "%s needs the parameter %s", row->name,
                                         parameters[i].name);
        }
        if (q->values[WEB_PARAMETER_FROM] && q->values[WEB_PARAMETER_TO] && q->from_ns >= q->to_ns)
                return error_set(err, -EINVAL, "from is not before to");
        return 0;
}

int web_question_parse(struct web_question *q, const char *query, size_t n_bytes, struct error *err)
{
        struct value_places places = { .at = { 0 } };
        struct query_reader in;
        int r;

        query_reader_init(&in, query, n_bytes);
        r = take_pairs(q, &in, &places, err);
        query_reader_deinit(&in);
        if (r < 0)
                return r;
        for (int i = 0; i < WEB_PARAMETER_COUNT; i++)
                if (places.is_given[i])
                        q->values[i] = (const char *)q->texts.data + places.at[i];
        return check_parameters(q, err);
}

void web_question_key(const struct web_question *q, struct byte_buffer *key)
{
        const char *last = "";

        byte_buffer_add(key, questions[q->name].name, strlen(questions[q->name].name));
        for (;;) {
                int next = -1;

                for (int i = 0; i < WEB_PARAMETER_COUNT; i++)
                        if (q->values[i] && strcmp(parameters[i].name, last) > 0 &&
                            (next < 0 || strcmp(parameters[i].name, parameters[next].name) < 0))
                                next = i;
                if (next < 0)
                        return;
                last = parameters[next].name;
                byte_buffer_add_u8(key, '&');
                byte_buffer_add(key, last, strlen(last));
                byte_buffer_add_u8(key, '=');
                byte_buffer_add(key, q->values[next], strlen(q->values[next]));
        }
}
