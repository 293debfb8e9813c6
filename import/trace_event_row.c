/* SPDX-License-Identifier: MIT */
#include "import/trace_event_row.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Where a field with this key is kept; NULL for others. */
static struct json_value *field_of(struct trace_event_row *row, struct text_view key)
{
        static const struct {
                char key[8];
                size_t field;
        } fields[] = {
                { "ph", offsetof(struct trace_event_row, phase) },
                { "ts", offsetof(struct trace_event_row, time) },
                { "dur", offsetof(struct trace_event_row, duration) },
                { "name", offsetof(struct trace_event_row, name) },
                { "cat", offsetof(struct trace_event_row, category) },
                { "pid", offsetof(struct trace_event_row, process) },
                { "tid", offsetof(struct trace_event_row, thread) },
                { "args", offsetof(struct trace_event_row, args) },
                { "id", offsetof(struct trace_event_row, id) },
                { "id2", offsetof(struct trace_event_row, id2) },
                { "scope", offsetof(struct trace_event_row, scope) },
                { "loc", offsetof(struct trace_event_row, location) },
        };

        if (key.n_bytes < 2 || key.n_bytes >= sizeof(fields[0].key))
                return NULL;
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
                if (fields[i].key[1] == key.bytes[1] && fields[i].key[0] == key.bytes[0] &&
                    text_view_is(key, fields[i].key))
                        return (struct json_value *)(void *)((char *)row + fields[i].field);
        return NULL;
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
        while ((r = json_pull_member(&p, &key, &value)) == 1) {
                struct json_value *field = field_of(ret_row, key);

                if (field)
                        *field = value;
        }
        return r;
}

bool trace_event_row_ns(struct json_value value, int64_t *ret_ns)
{
        return (value.kind == JSON_NUMBER || value.kind == JSON_STRING) &&
               json_decimal(value.text, 3, ret_ns);
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
