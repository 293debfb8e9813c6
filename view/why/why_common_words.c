/* SPDX-License-Identifier: MIT */
#include "view/why/why_common_words.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why_common.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
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
                [WHY_COMMON_DEVICE] = "device",
                [WHY_COMMON_LANE] = "lane",
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

static struct text_view device_name(const struct loaded_trace *trace, uint32_t id)
{
        const struct trace_device *row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_DEVICES, id);

        return trace_dictionary_text(trace->dictionary, row->name);
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
        case WHY_COMMON_DEVICE:
                byte_buffer_add_format(out, "are on the device ");
                why_words_add_quoted(out, device_name(trace, row->id));
                return;
        case WHY_COMMON_LANE:
                byte_buffer_add_format(out, "are on lane %" PRIi64 " of the device ", row->value);
                why_words_add_quoted(out, device_name(trace, row->id));
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

/* Only the text, value, name or number; times are in ns. */
static struct view_value name_of(const struct loaded_trace *trace, const struct why_common_row *row,
                                 struct view_document *d)
{
        switch (row->kind) {
        case WHY_COMMON_TEXT:
                return view_text(row->label);
        case WHY_COMMON_THREAD:
                return view_text(loaded_trace_thread_name(trace, row->id));
        case WHY_COMMON_PARENT:
                return view_text(zone_pattern_name_of(trace->dictionary, row->id));
        case WHY_COMMON_PROCESS:
                return view_format(d, "%" PRIu32, pid_of(trace, row->id));
        case WHY_COMMON_CPU:
                return view_format(d, "%" PRIu32, row->id);
        case WHY_COMMON_DEVICE:
                return view_text(device_name(trace, row->id));
        case WHY_COMMON_LANE:
        case WHY_COMMON_VALUE:
        case WHY_COMMON_VALUE_FROM:
        case WHY_COMMON_FIRST:
        case WHY_COMMON_LAST:
        case WHY_COMMON_KINDS:
                break;
        }
        return view_format(d, "%" PRIi64, row->value);
}

static struct view_value handle_of(const struct why_common_row *row)
{
        if (row->kind == WHY_COMMON_PARENT)
                return view_handle('z', row->id);
        return view_handle('t', row->kind == WHY_COMMON_THREAD ? row->id : 0);
}

/* clang-format off */
#define COMMON_COLUMNS(COLUMN)                                                                                \
        COLUMN(STRING, "kind", "what", view_words(common_key(row->kind)), NULL,                               \
               .one_of = "text|value|value-from|thread|process|parent|device|lane|cpu|first|last")            \
        COLUMN(STRING, "words", "they",                                                                       \
               view_text((struct text_view){ (const char *)words.data, words.used_bytes }), NULL,             \
               .n_columns_max = 48)                                                                           \
        COLUMN(HANDLE, "handle", "", handle_of(row), NULL)                                                    \
        COLUMN(STRING, "name", "name", name_of(trace, row, d), "for `first` and `last` a time in ns, for `lane` its number",         \
               .n_columns_max = 24)                                                                           \
        COLUMN(SHARE, "slow_with", "in slow", view_real(row->slow_with), "of all instances")                  \
        COLUMN(SHARE, "typical_with", "in others", view_real(row->typical_with), "likewise")                  \
        COLUMN(COUNT, "slow_count", "slow", view_number(row->n_slow), NULL)                                   \
        COLUMN(COUNT, "typical_count", "others", view_number(row->n_typical), NULL)                           \
        COLUMN(REAL, "p", "p", view_real(row->p), "corrected")
/* clang-format on */

static const struct view_column columns[] = { COMMON_COLUMNS(VIEW_COLUMN) };
const struct answer_part why_common_words_part = ANSWER_TABLE(
        "common", columns,
        "what slow instances have in common, those first that fewest of the others have; it goes with being "
        "slow, and need not be the reason",
        .may_be_absent = true);

static void put_common_row(const struct loaded_trace *trace, const struct why_common_row *row,
                           struct view_document *d, struct view_table *t)
{
        struct byte_buffer words = { .data = NULL };

        add_common_what(trace, row, &words);
        COMMON_COLUMNS(VIEW_CELL)
        d->failed = d->failed || words.failed;
        byte_buffer_deinit(&words);
}

void why_common_words_add_table(const struct why_common *c, const struct loaded_trace *trace, uint64_t limit,
                                struct view_document *d)
{
        struct view_table *t;

        if (c->n_rows == 0)
                return;
        t = view_document_add_part(d, &why_common_words_part, "What slow instances have in common");
        view_table_set_about(d, t, "it goes with being slow, and need not be the reason");
        for (size_t i = 0; i < c->n_rows; i++) {
                if (limit != 0 && t && view_table_count(t) >= limit)
                        t->n_left_out++;
                else
                        put_common_row(trace, &c->rows[i], d, t);
        }
}
