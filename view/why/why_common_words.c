/* SPDX-License-Identifier: MIT */
#include "view/why/why_common_words.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why_common.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"
#include "view/why/why_words.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define TEXT_BYTES_MAX 60 /* in a sentence; the table has it whole */

static const char *common_key(enum why_common_kind kind)
{
        static const char *const keys[WHY_COMMON_KINDS] = {
                [WHY_COMMON_TEXT] = "text",
                [WHY_COMMON_VALUE] = "value",
                [WHY_COMMON_VALUE_FROM] = "value-from",
                [WHY_COMMON_THREAD] = "thread",
                [WHY_COMMON_PROCESS] = "process",
                [WHY_COMMON_PARENT] = "parent",
                [WHY_COMMON_CPU] = "cpu",
                [WHY_COMMON_FIRST] = "first",
                [WHY_COMMON_LAST] = "last",
        };

        return kind < WHY_COMMON_KINDS ? keys[kind] : "";
}

/* Adds the first line of a text, not cut within a UTF-8 character. */
static void add_common_text(struct byte_buffer *out, const struct why_common_row *row, size_t n_bytes_max)
{
        const char *end = row->label.n_bytes != 0 ? memchr(row->label.bytes, '\n', row->label.n_bytes) : NULL;
        size_t n = end ? (size_t)(end - row->label.bytes) : row->label.n_bytes;
        bool is_cut = n > n_bytes_max;

        if (is_cut)
                n = n_bytes_max;
        while (is_cut && n > 0 && ((unsigned char)row->label.bytes[n] & 0xc0) == 0x80)
                n--;
        byte_buffer_add_format(out, "'");
        if (n != 0)
                byte_buffer_add(out, row->label.bytes, n);
        byte_buffer_add_format(out, is_cut || end || row->is_cut ? "…'" : "'");
}

static uint32_t pid_of(const struct loaded_trace *trace, uint32_t id)
{
        const struct trace_process *row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_PROCESSES, id);

        return row->pid;
}

/* Names the property in the words of the sentence: "of thread t3 'w2'", "have the text 'big'". */
static void add_common_what(const struct loaded_trace *trace, const struct why_common_row *row,
                            struct byte_buffer *out)
{
        switch (row->kind) {
        case WHY_COMMON_TEXT:
                byte_buffer_add_format(out, "have the text ");
                add_common_text(out, row, TEXT_BYTES_MAX);
                return;
        case WHY_COMMON_VALUE:
                byte_buffer_add_format(out, "have the value %" PRIi64, row->value);
                return;
        case WHY_COMMON_VALUE_FROM:
                byte_buffer_add_format(out, "have a value of %" PRIi64 " or more", row->value);
                return;
        case WHY_COMMON_THREAD:
                byte_buffer_add_format(out, "are of thread t%" PRIu32 " ", row->id);
                why_words_add_quoted(out, loaded_trace_thread_name(trace, row->id));
                return;
        case WHY_COMMON_PROCESS:
                byte_buffer_add_format(out, "are of process %" PRIu32, pid_of(trace, row->id));
                return;
        case WHY_COMMON_PARENT:
                byte_buffer_add_format(out, "are in the zone ");
                why_words_add_quoted(out, zone_pattern_name_of(trace->dictionary, row->id));
                return;
        case WHY_COMMON_CPU:
                byte_buffer_add_format(out, "ended on CPU %" PRIu32, row->id);
                return;
        case WHY_COMMON_FIRST:
                byte_buffer_add_format(out, "began in the first %s of the recording",
                                       text_number_duration((uint64_t)row->value).text);
                return;
        case WHY_COMMON_LAST:
                byte_buffer_add_format(out, "began in the last %s of the recording",
                                       text_number_duration((uint64_t)row->value).text);
                return;
        case WHY_COMMON_KINDS:
                return;
        }
}

static void add_common_row(const struct why_common *c, const struct loaded_trace *trace,
                           const struct why_common_row *row, struct byte_buffer *out)
{
        if (row->n_slow == c->n[WHY_SLOW])
                byte_buffer_add_format(out, "all %" PRIu64, row->n_slow);
        else
                byte_buffer_add_format(out, "%s of the", text_number_share(row->slow_with).text);
        byte_buffer_add_format(out, " slow ones ");
        add_common_what(trace, row, out);
        byte_buffer_add_format(out, ", and %s of the others",
                               row->n_typical == 0 ? "0%" : text_number_share(row->typical_with).text);
}

void why_common_words(const struct why_common *c, const struct loaded_trace *trace, uint32_t n_rows_max,
                      struct byte_buffer *out)
{
        for (size_t i = 0; i < c->n_rows && i < n_rows_max; i++) {
                if (i != 0)
                        byte_buffer_add_format(out, "; ");
                add_common_row(c, trace, &c->rows[i], out);
        }
}

/* Puts only the text, value, name or number; times are in ns. */
static void put_name(const struct loaded_trace *trace, const struct why_common_row *row,
                     struct view_document *d, struct view_table *t)
{
        switch (row->kind) {
        case WHY_COMMON_TEXT:
                view_table_put_string(d, t, row->label);
                return;
        case WHY_COMMON_THREAD:
                view_table_put_string(d, t, loaded_trace_thread_name(trace, row->id));
                return;
        case WHY_COMMON_PARENT:
                view_table_put_string(d, t, zone_pattern_name_of(trace->dictionary, row->id));
                return;
        case WHY_COMMON_PROCESS:
                view_table_put_format(d, t, "%" PRIu32, pid_of(trace, row->id));
                return;
        case WHY_COMMON_CPU:
                view_table_put_format(d, t, "%" PRIu32, row->id);
                return;
        case WHY_COMMON_VALUE:
        case WHY_COMMON_VALUE_FROM:
        case WHY_COMMON_FIRST:
        case WHY_COMMON_LAST:
        case WHY_COMMON_KINDS:
                view_table_put_format(d, t, "%" PRIi64, row->value);
                return;
        }
}

static void put_common_row(const struct loaded_trace *trace, const struct why_common_row *row,
                           struct view_document *d, struct view_table *t)
{
        struct byte_buffer words = { .data = NULL };

        add_common_what(trace, row, &words);
        view_table_put_words(d, t, common_key(row->kind));
        view_table_put_string(d, t, (struct text_view){ (const char *)words.data, words.used_bytes });
        if (row->kind == WHY_COMMON_PARENT)
                view_table_put_handle(d, t, 'z', row->id);
        else
                view_table_put_handle(d, t, 't', row->kind == WHY_COMMON_THREAD ? row->id : 0);
        put_name(trace, row, d, t);
        view_table_put_real(d, t, row->slow_with);
        view_table_put_real(d, t, row->typical_with);
        view_table_put_number(d, t, row->n_slow);
        view_table_put_number(d, t, row->n_typical);
        view_table_put_real(d, t, row->p);
        d->failed = d->failed || words.failed;
        byte_buffer_deinit(&words);
}

void why_common_add_table(const struct why_common *c, const struct loaded_trace *trace, uint64_t limit,
                          struct view_document *d)
{
        static const struct view_column columns[] = {
                { .key = "kind", .title = "what", .type = VIEW_STRING },
                { .key = "words", .title = "they", .type = VIEW_STRING, .n_columns_max = 48 },
                { .key = "handle", .title = "", .type = VIEW_HANDLE },
                { .key = "name", .title = "name", .type = VIEW_STRING, .n_columns_max = 24 },
                { .key = "slow_with", .title = "in slow", .type = VIEW_SHARE },
                { .key = "typical_with", .title = "in others", .type = VIEW_SHARE },
                { .key = "slow_count", .title = "slow", .type = VIEW_COUNT },
                { .key = "typical_count", .title = "others", .type = VIEW_COUNT },
                { .key = "p", .title = "p", .type = VIEW_REAL },
        };
        struct view_table *t;

        if (c->n_rows == 0)
                return;
        t = view_document_add_table(d, "common", "What slow instances have in common", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(d, t, "it goes with being slow, and need not be the reason");
        for (size_t i = 0; i < c->n_rows; i++) {
                if (limit != 0 && t && view_table_count(t) >= limit)
                        t->n_left_out++;
                else
                        put_common_row(trace, &c->rows[i], d, t);
        }
}
