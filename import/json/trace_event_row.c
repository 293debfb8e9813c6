/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_row.h"

#include <errno.h>
#include <string.h>

/* Where a field with this key is kept; NULL for others.  It is called for each member of each row. */
static struct json_value *field_of(struct trace_event_row *row, struct text_view key)
{
        switch (key.n_bytes) {
        case 2:
                return text_view_is(key, "ph")   ? &row->phase
                       : text_view_is(key, "ts") ? &row->time
                       : text_view_is(key, "id") ? &row->id
                                                 : NULL;
        case 3:
                return text_view_is(key, "dur")   ? &row->duration
                       : text_view_is(key, "pid") ? &row->process
                       : text_view_is(key, "tid") ? &row->thread
                       : text_view_is(key, "cat") ? &row->category
                       : text_view_is(key, "id2") ? &row->id2
                       : text_view_is(key, "loc") ? &row->location
                                                  : NULL;
        case 4:
                return text_view_is(key, "name") ? &row->name : text_view_is(key, "args") ? &row->args : NULL;
        case 5:
                return text_view_is(key, "scope") ? &row->scope : NULL;
        default:
                return NULL;
        }
}

static void take_member(struct trace_event_row *row, struct text_view key, struct json_value value)
{
        struct json_value *field = field_of(row, key);

        if (field)
                *field = value;
}

int trace_event_row_read(struct json_value object, struct trace_event_row *ret_row)
{
        struct json_pull p = json_pull_inside(object);
        struct json_value value;
        struct text_view key;
        int r;

        memset(ret_row, 0, sizeof(*ret_row));
        if (object.kind != JSON_OBJECT)
                return -EBADMSG;
        while ((r = json_pull_member(&p, &key, &value)) == 1)
                take_member(ret_row, key, value);
        return r;
}

int trace_event_row_read_open(struct json_pull *p, struct trace_event_row *ret_row)
{
        struct json_value value;
        struct text_view key;
        int r;

        memset(ret_row, 0, sizeof(*ret_row));
        while ((r = json_pull_open_member(p, &key, &value)) == 1)
                take_member(ret_row, key, value);
        return r;
}

bool trace_event_row_ns(struct json_value value, int64_t *ret_ns)
{
        return (value.kind == JSON_NUMBER || value.kind == JSON_STRING) &&
               json_pull_decimal(value.text, 3, ret_ns);
}

static bool is_decimal(struct text_view text)
{
        size_t i = text.n_bytes > 1 && text.bytes[0] == '-';

        for (; i < text.n_bytes; i++)
                if (text.bytes[i] < '0' || text.bytes[i] > '9')
                        return false;
        return text.n_bytes > 0;
}

int trace_event_row_id(struct json_value value, char *id, size_t n_bytes_max)
{
        bool is_text = value.kind == JSON_STRING && !is_decimal(value.text);

        if (!value.text.bytes || (value.kind != JSON_STRING && value.kind != JSON_NUMBER))
                return 0;
        if (value.text.n_bytes + is_text > n_bytes_max)
                return -E2BIG;
        if (is_text)
                *id = '"';
        memcpy(id + is_text, value.text.bytes, value.text.n_bytes);
        return (int)(value.text.n_bytes + is_text);
}
