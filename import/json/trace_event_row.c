/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_row.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

/* The length and the first byte tell all keys apart. */
#define N_SLOTS        32
#define SLOT(first, n) (((unsigned char)(first) + (n)*10) % N_SLOTS)
#define KEY_BYTES      sizeof(uint64_t)
#define FIELD(key, first, member) \
        [SLOT(first, sizeof(key) - 1)] = { key, sizeof(key) - 1, offsetof(struct trace_event_row, member) }

static const struct {
        char key[KEY_BYTES];
        uint8_t n_bytes;
        uint16_t place;
} fields[N_SLOTS] = {
        FIELD("name", 'n', name),     FIELD("ph", 'p', phase),    FIELD("ts", 't', time),
        FIELD("dur", 'd', duration),  FIELD("pid", 'p', process), FIELD("tid", 't', thread),
        FIELD("cat", 'c', category),  FIELD("args", 'a', args),   FIELD("id", 'i', id),
        FIELD("id2", 'i', id2),       FIELD("scope", 's', scope), FIELD("loc", 'l', location),
        FIELD("device", 'd', device), FIELD("keys", 'k', keys),
};

/* Whether @n bytes are the same, of at most KEY_BYTES. */
static inline bool is_same(const char *a, const char *b, size_t n)
{
        struct byte_reader x = byte_reader_of(a, KEY_BYTES), y = byte_reader_of(b, KEY_BYTES);

        return (bytes_u64(&x) ^ bytes_u64(&y)) << (8 * (KEY_BYTES - n)) == 0;
}

/* Where the value of a key is in a row.  All bytes up to @end are there. */
static inline uint16_t find_place(struct text_view key, const char *end)
{
        const size_t other = offsetof(struct trace_event_row, other);
        size_t slot = key.n_bytes > 0 ? SLOT(key.bytes[0], key.n_bytes) : 0;
        bool is_known;

        if (key.n_bytes == 0 || fields[slot].n_bytes != key.n_bytes)
                return (uint16_t)other;
        is_known = (size_t)(end - key.bytes) >= KEY_BYTES
                           ? is_same(key.bytes, fields[slot].key, key.n_bytes)
                           : memcmp(key.bytes, fields[slot].key, key.n_bytes) == 0;
        return is_known ? fields[slot].place : (uint16_t)other;
}

static uint16_t find_place_of(const void *row, struct text_view key)
{
        (void)row;
        return find_place(key, key.bytes + key.n_bytes);
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
                memcpy((char *)ret_row + find_place(key, p.end), &value, sizeof(value));
        return r;
}

int trace_event_row_read_open(struct json_pull *p, struct json_shape *shape, struct trace_event_row *ret_row)
{
        shape->places_bytes = sizeof(*ret_row);
        return json_pull_open_object(p, shape, find_place_of, ret_row);
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
