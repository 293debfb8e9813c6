/* SPDX-License-Identifier: MIT */
#include "import/file/json_pull.h"

#include "base/bytes.h"

#include <errno.h>

#define EXPONENT_MAX 1000 /* beyond it a number is zero or does not fit, whatever its digits */

/* Classes of bytes, for the loops that look at each one. */
enum { SPACE = 1, ENDS_WORD = 2, IS_BRACKET_OR_QUOTE = 4, ENDS_PLAIN_TEXT = 8 };

static const uint8_t classes[256] = {
        [' '] = SPACE | ENDS_WORD,
        ['\t'] = SPACE | ENDS_WORD,
        ['\r'] = SPACE | ENDS_WORD,
        ['\n'] = SPACE | ENDS_WORD,
        [','] = ENDS_WORD,
        [':'] = ENDS_WORD,
        ['{'] = ENDS_WORD | IS_BRACKET_OR_QUOTE,
        ['}'] = ENDS_WORD | IS_BRACKET_OR_QUOTE,
        ['['] = ENDS_WORD | IS_BRACKET_OR_QUOTE,
        [']'] = ENDS_WORD | IS_BRACKET_OR_QUOTE,
        ['"'] = ENDS_WORD | IS_BRACKET_OR_QUOTE | ENDS_PLAIN_TEXT,
        ['\\'] = ENDS_PLAIN_TEXT,
};

static bool is(char c, unsigned class)
{
        return (classes[(unsigned char)c] & class) != 0;
}

/* ------------------------------------------------------------------ where a value ends */

/* The top bit of each byte of @word that is @c; above the lowest such byte also of others. */
static uint64_t mark_byte(uint64_t word, char c)
{
        const uint64_t ones = UINT64_C(0x0101010101010101);
        uint64_t zeros = word ^ ones * (unsigned char)c;

        return (zeros - ones) & ~zeros & ones << 7;
}

/* At the first quote or backslash, or at @end. */
static const char *end_of_plain_text(const char *at, const char *end)
{
        struct byte_reader rest = byte_reader_of(at, (size_t)(end - at));

        while (rest.left >= sizeof(uint64_t)) {
                const char *here = (const char *)rest.at;
                uint64_t word = bytes_u64(&rest);
                uint64_t marks = mark_byte(word, '"') | mark_byte(word, '\\');

                if (marks != 0)
                        return here + __builtin_ctzll(marks) / 8;
        }
        for (at = (const char *)rest.at; at < end && !is(*at, ENDS_PLAIN_TEXT);)
                at++;
        return at;
}

/* After the quote that ends the string, or NULL. */
static const char *end_of_string(struct json_scan *s, const char *at, const char *end)
{
        if (s->is_escaped && at < end) {
                s->is_escaped = false;
                at++;
        }
        for (;;) {
                at = end_of_plain_text(at, end);
                if (at == end)
                        return NULL;
                if (*at == '"') {
                        s->in_string = false;
                        return at + 1;
                }
                s->is_escaped = at + 1 == end;
                if (s->is_escaped)
                        return NULL;
                at += 2;
        }
}

const char *json_scan_piece(struct json_scan *s, const char *at, const char *end)
{
        while (at < end) {
                if (s->in_string) {
                        at = end_of_string(s, at, end);
                        if (!at || s->depth == 0)
                                return at;
                        continue;
                }
                while (at < end && !is(*at, IS_BRACKET_OR_QUOTE))
                        at++;
                if (at == end)
                        return NULL;
                switch (*at++) {
                case '"':
                        s->in_string = true;
                        break;
                case '{':
                case '[':
                        s->depth++;
                        break;
                case '}':
                case ']':
                        if (--s->depth == 0)
                                return at;
                        break;
                default:
                        break;
                }
        }
        return NULL;
}

/* ------------------------------------------------------------------ values */

struct json_pull json_pull_text(struct text_view text)
{
        return (struct json_pull){ .at = text.bytes, .end = text.bytes ? text.bytes + text.n_bytes : NULL };
}

struct json_pull json_pull_inside(struct json_value container)
{
        bool is_container = container.kind == JSON_OBJECT || container.kind == JSON_ARRAY;

        if (!is_container || container.text.n_bytes < 2)
                return (struct json_pull){ .at = NULL };
        return (struct json_pull){ .at = container.text.bytes + 1,
                                   .end = container.text.bytes + container.text.n_bytes - 1 };
}

static int fail(struct json_pull *p)
{
        p->at = p->end;
        return -EBADMSG;
}

static void skip_space(struct json_pull *p)
{
        while (p->at < p->end && is(*p->at, SPACE))
                p->at++;
}

static void skip_commas(struct json_pull *p)
{
        while (p->at < p->end && (is(*p->at, SPACE) || *p->at == ','))
                p->at++;
}

static int take_string(struct json_pull *p, struct text_view *ret)
{
        struct json_scan scan = { .in_string = true };
        const char *begin = p->at + 1, *end = end_of_string(&scan, begin, p->end);

        if (!end)
                return fail(p);
        *ret = (struct text_view){ begin, (size_t)(end - 1 - begin) };
        p->at = end;
        return 1;
}

static int take_container(struct json_pull *p, struct json_value *ret)
{
        struct json_scan scan = { .depth = 0 };
        const char *begin = p->at, *end = json_scan_piece(&scan, begin, p->end);
        char closing = *begin == '{' ? '}' : ']';

        if (!end || end[-1] != closing)
                return fail(p);
        *ret = (struct json_value){ .kind = *begin == '{' ? JSON_OBJECT : JSON_ARRAY,
                                    .text = { begin, (size_t)(end - begin) } };
        p->at = end;
        return 1;
}

static int take_word(struct json_pull *p, struct json_value *ret)
{
        const char *begin = p->at;
        bool is_number = (*begin >= '0' && *begin <= '9') ||
                         (*begin == '-' && p->end - begin > 1 && begin[1] >= '0' && begin[1] <= '9');

        while (p->at < p->end && !is(*p->at, ENDS_WORD))
                p->at++;
        if (p->at == begin)
                return fail(p);
        *ret = (struct json_value){ .kind = is_number ? JSON_NUMBER : JSON_WORD,
                                    .text = { begin, (size_t)(p->at - begin) } };
        return 1;
}

static int take_value(struct json_pull *p, struct json_value *ret)
{
        if (p->at == p->end)
                return fail(p);
        switch (*p->at) {
        case '"':
                ret->kind = JSON_STRING;
                return take_string(p, &ret->text);
        case '{':
        case '[':
                return take_container(p, ret);
        default:
                return take_word(p, ret);
        }
}

int json_pull_next(struct json_pull *p, struct json_value *ret_value)
{
        skip_commas(p);
        return p->at == p->end ? 0 : take_value(p, ret_value);
}

int json_pull_key(struct json_pull *p, struct text_view *ret_key)
{
        int r;

        skip_commas(p);
        if (p->at == p->end)
                return 0;
        if (*p->at != '"')
                return fail(p);
        r = take_string(p, ret_key);
        if (r < 0)
                return r;
        skip_space(p);
        if (p->at == p->end || *p->at != ':')
                return fail(p);
        p->at++;
        skip_space(p);
        return p->at == p->end ? fail(p) : 1;
}

int json_pull_member(struct json_pull *p, struct text_view *ret_key, struct json_value *ret_value)
{
        int r = json_pull_key(p, ret_key);

        return r == 1 ? take_value(p, ret_value) : r;
}

int json_pull_open_member(struct json_pull *p, struct text_view *ret_key, struct json_value *ret_value)
{
        skip_commas(p);
        if (p->at == p->end)
                return -EBADMSG;
        if (*p->at != '}')
                return json_pull_member(p, ret_key, ret_value);
        p->at++;
        return 0;
}

int json_pull_find(struct json_value object, const char *key, struct json_value *ret_value)
{
        struct json_pull p = json_pull_inside(object);
        struct json_value value;
        struct text_view name;
        int found = 0, r;

        while ((r = json_pull_member(&p, &name, &value)) == 1) {
                if (!text_view_is(name, key))
                        continue;
                *ret_value = value;
                found = 1;
        }
        return r < 0 ? r : found;
}

/* ------------------------------------------------------------------ strings */

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c = (char)(c | 0x20);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u; -1 if they are none. */
static int32_t take_unit(const char *at, const char *end)
{
        int32_t unit = 0;

        if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
                return -1;
        for (int i = 2; i < 6; i++) {
                int digit = digit_of(at[i]);

                if (digit < 0)
                        return -1;
                unit = unit << 4 | digit;
        }
        return unit;
}

static void add_utf8(struct byte_buffer *b, uint32_t c)
{
        if (c < 0x80) {
                byte_buffer_add_u8(b, (uint8_t)c);
                return;
        }
        if (c < 0x800) {
                byte_buffer_add_u8(b, (uint8_t)(0xc0 | c >> 6));
        } else {
                if (c < 0x10000) {
                        byte_buffer_add_u8(b, (uint8_t)(0xe0 | c >> 12));
                } else {
                        byte_buffer_add_u8(b, (uint8_t)(0xf0 | c >> 18));
                        byte_buffer_add_u8(b, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
                }
                byte_buffer_add_u8(b, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        }
        byte_buffer_add_u8(b, (uint8_t)(0x80 | (c & 0x3f)));
}

/* Appends what \uXXXX at @at means, or both halves of a surrogate pair; returns how many bytes that was. */
static size_t add_unit(struct byte_buffer *b, const char *at, const char *end)
{
        int32_t unit = take_unit(at, end), low;

        if (unit < 0) {
                byte_buffer_add_u8(b, '\\');
                return 1;
        }
        if (unit < 0xd800 || unit > 0xdfff) {
                add_utf8(b, (uint32_t)unit);
                return 6;
        }
        low = take_unit(at + 6, end);
        if (unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff) {
                add_utf8(b, 0xfffd);
                return 6;
        }
        add_utf8(b, 0x10000 + ((uint32_t)unit - 0xd800) * 0x400 + ((uint32_t)low - 0xdc00));
        return 12;
}

static size_t add_escape(struct byte_buffer *b, const char *at, const char *end)
{
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char *letter;

        if (end - at < 2 || at[1] == 'u')
                return add_unit(b, at, end);
        letter = memchr(letters, at[1], sizeof(letters) - 1);
        if (!letter) {
                byte_buffer_add_u8(b, '\\');
                return 1;
        }
        byte_buffer_add_u8(b, (uint8_t)meanings[letter - letters]);
        return 2;
}

int json_pull_string(struct text_view text, struct byte_buffer *room, struct text_view *ret_text)
{
        const char *at = text.bytes, *end;

        if (text.n_bytes == 0 || !memchr(at, '\\', text.n_bytes)) {
                *ret_text = text;
                return 0;
        }
        end = at + text.n_bytes;
        byte_buffer_clear(room);
        while (at < end) {
                const char *escape = memchr(at, '\\', (size_t)(end - at));

                byte_buffer_add(room, at, (size_t)((escape ? escape : end) - at));
                at = escape ? escape + add_escape(room, escape, end) : end;
        }
        if (room->failed)
                return -ENOMEM;
        *ret_text = (struct text_view){ (const char *)room->data, room->used_bytes };
        return 0;
}

/* ------------------------------------------------------------------ numbers */

/* The digits of a number without their point: the first 19 that count, as most that fit 64 bits. */
struct digits {
        uint64_t value;
        int exponent; /* of 10: the number is value times this power */
        bool has_any;
};

static const char *take_digits(const char *at, const char *end, struct digits *d, bool is_fraction)
{
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
                d->has_any = true;
                if (d->value >= UINT64_C(1000000000000000000)) {
                        d->exponent += !is_fraction && d->exponent < EXPONENT_MAX;
                        continue;
                }
                d->value = d->value * 10 + (uint64_t)(*at - '0');
                d->exponent -= is_fraction && d->exponent > -EXPONENT_MAX;
        }
        return at;
}

/* NULL: no number follows the e. */
static const char *take_exponent(const char *at, const char *end, int *ret_exponent)
{
        struct digits d = { .value = 0 };
        bool is_negative = at < end && *at == '-';

        if (at < end && (*at == '-' || *at == '+'))
                at++;
        at = take_digits(at, end, &d, false);
        if (!d.has_any)
                return NULL;
        *ret_exponent = d.value > EXPONENT_MAX || d.exponent > 0 ? EXPONENT_MAX : (int)d.value;
        if (is_negative)
                *ret_exponent = -*ret_exponent;
        return at;
}

static bool scale(uint64_t value, int exponent, uint64_t *ret_value)
{
        bool half = false;

        for (; exponent > 0 && value; exponent--)
                if (__builtin_mul_overflow(value, UINT64_C(10), &value))
                        return false;
        for (; exponent < 0 && (value || half); exponent++) {
                half = value % 10 >= 5;
                value /= 10;
        }
        *ret_value = value + half;
        return true;
}

bool json_pull_decimal(struct text_view number, int shift, int64_t *ret_value)
{
        const char *at = number.bytes, *end = number.n_bytes ? at + number.n_bytes : at;
        struct digits d = { .value = 0 };
        bool is_negative = at < end && *at == '-';
        int exponent = 0;
        uint64_t value;

        at = take_digits(at + is_negative, end, &d, false);
        if (at < end && *at == '.')
                at = take_digits(at + 1, end, &d, true);
        if (!d.has_any)
                return false;
        if (at < end && (*at == 'e' || *at == 'E')) {
                at = take_exponent(at + 1, end, &exponent);
                if (!at)
                        return false;
        }
        if (at != end || !scale(d.value, d.exponent + exponent + shift, &value) || value > INT64_MAX)
                return false;
        *ret_value = is_negative ? -(int64_t)value : (int64_t)value;
        return true;
}

bool json_pull_unsigned(struct text_view number, uint64_t *ret_value)
{
        uint64_t value = 0;

        for (size_t i = 0; i < number.n_bytes; i++) {
                char c = number.bytes[i];

                if (c < '0' || c > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
                    __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
                        return false;
        }
        *ret_value = value;
        return number.n_bytes > 0;
}
