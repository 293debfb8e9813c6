/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_row.h"

#include <errno.h>
#include <string.h>

#define FIELD(key, member)                                                         \
        {                                                                          \
                { key, sizeof(key) - 1 }, offsetof(struct trace_event_row, member) \
        }

static const struct {
        struct text_view key;
        size_t place;
} fields[] = {
        FIELD("name", name),     FIELD("ph", phase),   FIELD("ts", time),      FIELD("dur", duration),
        FIELD("pid", process),   FIELD("tid", thread), FIELD("cat", category), FIELD("args", args),
        FIELD("id", id),         FIELD("id2", id2),    FIELD("scope", scope),  FIELD("loc", location),
        FIELD("device", device), FIELD("keys", keys),
};

/* It is called for each member of each row; others than the fields are passed over. */
static void take_member(struct trace_event_row *row, struct text_view key, struct json_value value)
{
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
                /* The first byte tells most of them apart without a call. */
                if (key.n_bytes == fields[i].key.n_bytes && *key.bytes == *fields[i].key.bytes &&
                    text_view_equal(key, fields[i].key)) {
                        memcpy((char *)row + fields[i].place, &value, sizeof(value));
                        return;
                }
        }
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
