/* SPDX-License-Identifier: MIT */
#include "import/file/json_pull.h"

#include "base/bytes.h"
#include "import/file/wide_scan.h"

#include <errno.h>
#include <string.h>

#define DIGITS_SURE  19   /* so many fit 64 bits, whatever they are */
#define EXPONENT_MAX 1000 /* beyond it a number is zero or does not fit, whatever its digits */

/* Each member of each row comes here: what it is read with is one function. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

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

static inline bool is(char c, unsigned class)
{
        return (classes[(unsigned char)c] & class) != 0;
}

/* ------------------------------------------------------------------ where a value ends */

/* After the quote that ends the string, or NULL. */
static const char *end_of_string(struct json_scan *s, const char *at, const char *end)
{
        if (s->is_escaped && at < end) {
                s->is_escaped = false;
                at++;
        }
        for (;;) {
                at = wide_scan_find(at, end, '"', '\\');
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

/* As json_scan_piece(), byte for byte outside of strings. */
static const char *scan_bytes(struct json_scan *s, const char *at, const char *end)
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

#if WIDE_SCAN_HAS_BLOCKS
/* Each bit: whether the number of those up to it is odd. */
static uint64_t find_odd(uint64_t bits)
{
        for (unsigned by = 1; by < 64; by *= 2)
                bits ^= bits << by;
        return bits;
}

/* The same of a block without a backslash, in a container. */
static inline const char *scan_block(struct json_scan *s, const char *at, const struct wide_block *block)
{
        uint64_t in_string = find_odd(block->quotes) ^ (s->in_string ? UINT64_MAX : 0);

        for (uint64_t left = block->brackets & ~in_string; left != 0; left &= left - 1) {
                const char *bracket = at + __builtin_ctzll(left);
                char kind = (char)(*bracket | 0x20); /* this bit tells both sorts of brackets apart */

                if (kind == '{') {
                        s->depth++;
                } else if (kind == '}' && --s->depth == 0) {
                        s->in_string = false;
                        return bracket + 1;
                }
        }
        s->in_string = in_string >> 63;
        return NULL;
}
#endif

const char *json_scan_piece(struct json_scan *s, const char *at, const char *end)
{
#if WIDE_SCAN_HAS_BLOCKS
        if (s->depth == 0 && !s->in_string && at < end && (*at == '{' || *at == '[')) {
                s->depth = 1;
                at++;
        }
        for (; s->depth > 0 && end - at >= WIDE_SCAN_BLOCK; at += WIDE_SCAN_BLOCK) {
                struct wide_block block = wide_scan_block(at);
                const char *found = s->is_escaped || block.has_escape
                                            ? scan_bytes(s, at, at + WIDE_SCAN_BLOCK)
                                            : scan_block(s, at, &block);

                if (found)
                        return found;
        }
#endif
        return scan_bytes(s, at, end);
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

static inline int fail(struct json_pull *p)
{
        p->at = p->end;
        return -EBADMSG;
}

static ALWAYS_INLINE void skip_space(struct json_pull *p)
{
        while (p->at < p->end && is(*p->at, SPACE))
                p->at++;
}

static ALWAYS_INLINE void skip_commas(struct json_pull *p)
{
        while (p->at < p->end && (is(*p->at, SPACE) || *p->at == ','))
                p->at++;
}

/* Where the quote is that ends the string, or NULL.  Keys, and most texts, are short. */
static ALWAYS_INLINE const char *find_quote(const char *at, const char *end)
{
        struct json_scan scan = { .in_string = true };

#if WIDE_SCAN_HAS_BLOCKS
        for (; end - at >= 16; at += 16) {
                unsigned found = wide_scan_either(at, '"', '\\');

                if (found == 0)
                        continue;
                at += __builtin_ctz(found);
                if (*at == '"')
                        return at;
                break;
        }
#endif
        at = end_of_string(&scan, at, end);
        return at ? at - 1 : NULL;
}

static ALWAYS_INLINE int take_string(struct json_pull *p, struct text_view *ret)
{
        const char *begin = p->at + 1, *end = find_quote(begin, p->end);

        if (!end)
                return fail(p);
        *ret = (struct text_view){ begin, (size_t)(end - begin) };
        p->at = end + 1;
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

static ALWAYS_INLINE const char *end_of_word(const char *at, const char *end)
{
#if WIDE_SCAN_HAS_BLOCKS
        /* From '-' to '9' are all bytes of most numbers. */
        for (; end - at >= 16; at += 16) {
                unsigned others = wide_scan_outside(at, '-', '9' - '-');

                if (others != 0) {
                        at += __builtin_ctz(others);
                        break;
                }
        }
#endif
        while (at < end && !is(*at, ENDS_WORD))
                at++;
        return at;
}

static ALWAYS_INLINE int take_number(struct json_pull *p, struct json_value *ret)
{
        const char *begin = p->at;

        p->at = end_of_word(begin, p->end);
        ret->kind = JSON_NUMBER;
        ret->text = (struct text_view){ begin, (size_t)(p->at - begin) };
        return 1;
}

static int take_word(struct json_pull *p, struct json_value *ret)
{
        const char *begin = p->at;

        if (*begin == '-' && p->end - begin > 1 && begin[1] >= '0' && begin[1] <= '9')
                return take_number(p, ret);
        p->at = end_of_word(begin, p->end);
        if (p->at == begin)
                return fail(p);
        *ret = (struct json_value){ .kind = JSON_WORD, .text = { begin, (size_t)(p->at - begin) } };
        return 1;
}

/* The value that begins with the byte at p->at, which is there; the most usual kinds first. */
static ALWAYS_INLINE int take_value_here(struct json_pull *p, struct json_value *ret)
{
        const char first = *p->at;

        if (first == '"') {
                ret->kind = JSON_STRING;
                return take_string(p, &ret->text);
        }
        if (first >= '0' && first <= '9')
                return take_number(p, ret);
        return first == '{' || first == '[' ? take_container(p, ret) : take_word(p, ret);
}

static ALWAYS_INLINE int take_value(struct json_pull *p, struct json_value *ret)
{
        return p->at == p->end ? fail(p) : take_value_here(p, ret);
}

bool json_pull_is_empty(struct json_value container)
{
        struct json_pull p = json_pull_inside(container);

        if (p.at)
                skip_commas(&p);
        return p.at && p.at == p.end;
}

int json_pull_next(struct json_pull *p, struct json_value *ret_value)
{
        skip_commas(p);
        return p->at == p->end ? 0 : take_value(p, ret_value);
}

static ALWAYS_INLINE int take_key(struct json_pull *p, struct text_view *ret_key)
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

int json_pull_key(struct json_pull *p, struct text_view *ret_key)
{
        return take_key(p, ret_key);
}

int json_pull_member(struct json_pull *p, struct text_view *ret_key, struct json_value *ret_value)
{
        int r = take_key(p, ret_key);

        return r == 1 ? take_value(p, ret_value) : r;
}

/* Whether the next member begins as @known, and there is something behind that. */
static ALWAYS_INLINE bool begins_alike(const struct json_pull *p, const struct json_shape_member *known)
{
        size_t last = known->n_bytes - (size_t)JSON_SHAPE_WIDTH;

        if (p->end - p->at < JSON_SHAPE_BYTES ||
            (wide_scan_same(p->at, known->bytes) & known->mask) != known->mask)
                return false;
        return known->n_bytes <= JSON_SHAPE_WIDTH ||
               wide_scan_same(p->at + last, known->bytes + last) == JSON_SHAPE_NEVER - 1;
}

/* Keeps how the member of @index begins, which is not as it was.  The members after it are forgotten. */
static void learn(struct json_shape *shape, size_t index, struct text_view begin, uint16_t place)
{
        struct json_shape_member *member = &shape->members[index];
        bool fits = begin.n_bytes < JSON_SHAPE_BYTES;

        *member = (struct json_shape_member){ .mask = JSON_SHAPE_NEVER, .place = place };
        if (fits) {
                memcpy(member->bytes, begin.bytes, begin.n_bytes);
                member->n_bytes = (uint16_t)begin.n_bytes;
                member->mask = begin.n_bytes < JSON_SHAPE_WIDTH ? (UINT32_C(1) << begin.n_bytes) - 1
                                                                : JSON_SHAPE_NEVER - 1;
        }
        shape->n = index + 1;
}

/* Reads the beginning of a member that is written in another way.  Returns as take_key(). */
static int read_beginning(struct json_pull *p, struct json_shape *shape, size_t index,
                          json_find_place *find_place, const void *context, uint16_t *ret_place)
{
        const char *begin = p->at;
        struct text_view key;
        int r = take_key(p, &key);

        if (r != 1)
                return r;
        *ret_place = find_place(context, key);
        if (index < JSON_SHAPE_MEMBERS)
                learn(shape, index, (struct text_view){ begin, (size_t)(p->at - begin) }, *ret_place);
        return 1;
}

/* As the member of @index before, to its value. */
static ALWAYS_INLINE bool take_alike(struct json_pull *p, const struct json_shape *shape, size_t index,
                                     uint16_t *ret_place)
{
        const struct json_shape_member *known;

        if (index >= shape->n)
                return false;
        known = &shape->members[index];
        if (!begins_alike(p, known))
                return false;
        p->at += known->n_bytes;
        if (is(*p->at, SPACE))
                skip_space(p);
        *ret_place = known->place;
        return true;
}

int json_pull_open_object(struct json_pull *pull, struct json_shape *shape, json_find_place *find_place,
                          void *places)
{
        struct json_pull p = *pull; /* in registers */

        memset(places, 0, shape->places_bytes);
        for (size_t i = 0; p.at < p.end && *p.at != '}'; i++) {
                void *to; /* a value is put where it stays: each byte less that is copied counts here */
                uint16_t place;

                if (!take_alike(&p, shape, i, &place)) {
                        *pull = p;
                        skip_commas(&p);
                        if (p.at < p.end && *p.at == '}')
                                break;
                        if (read_beginning(pull, shape, i, find_place, places, &place) != 1)
                                return -EBADMSG;
                        p = *pull;
                }
                to = (char *)places + place;
                if (take_value(&p, to) != 1)
                        return -EBADMSG;
        }
        if (p.at == p.end)
                return -EBADMSG;
        pull->at = p.at + 1;
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

/* Eight digits, a byte each, as one number: first in pairs, then fours, then eights. */
static inline uint64_t join_digits(uint64_t digits)
{
        digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
        digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
        return (digits * 10000 + (digits >> 32)) & UINT32_MAX;
}

/* Eight bytes at once, if all are digits. */
static inline bool take_eight_digits(const char *at, uint64_t *value)
{
        struct byte_reader in = byte_reader_of(at, sizeof(uint64_t));
        const uint64_t threes = WIDE_SCAN_ONES * 0x30;
        uint64_t bytes = bytes_u64(&in), digits = bytes - threes;

        /* Of '0' to '9' alone the upper half is 3, and still is when 6 is added. */
        if ((bytes & WIDE_SCAN_ONES * 0xf0) != threes ||
            ((bytes + WIDE_SCAN_ONES * 6) & WIDE_SCAN_ONES * 0xf0) != threes)
                return false;
        *value = *value * 100000000 + join_digits(digits);
        return true;
}

/* As many digits as @n_max, at most 19 in all, which always fit.  Returns the first byte after them. */
static ALWAYS_INLINE const char *take_short(const char *at, const char *end, size_t n_max, uint64_t *value)
{
        const char *stop = (size_t)(end - at) > n_max ? at + n_max : end;

        while (stop - at >= 8 && take_eight_digits(at, value))
                at += 8;
        for (; at < stop && *at >= '0' && *at <= '9'; at++)
                *value = *value * 10 + (uint64_t)(*at - '0');
        return at;
}

/* Microseconds with nanoseconds behind the point, as most writers write times: "1712195400000011.123". */
static ALWAYS_INLINE bool read_thousandths(const char *at, const char *end, uint64_t *ret_value)
{
        uint64_t value = 0;
        uint64_t a, b, c;

        if (end - at < 5 || end - at > DIGITS_SURE + 1 || end[-4] != '.')
                return false;
        a = (uint64_t)(end[-3] - '0');
        b = (uint64_t)(end[-2] - '0');
        c = (uint64_t)(end[-1] - '0');
        if (a > 9 || b > 9 || c > 9 || take_short(at, end - 4, DIGITS_SURE, &value) != end - 4)
                return false;
        *ret_value = value * 1000 + a * 100 + b * 10 + c;
        return true;
}

/* The most usual numbers: up to 19 digits, with a point or without.  Returns false for others. */
static ALWAYS_INLINE bool read_short(const char *at, const char *end, int shift, uint64_t *ret_value)
{
        const char *whole = at;
        uint64_t value = 0;
        size_t n_fraction = 0;

        if (shift == 3 && read_thousandths(at, end, ret_value))
                return true;
        at = take_short(at, end, DIGITS_SURE, &value);
        if (at == whole)
                return false;
        if (at < end && *at == '.') {
                const char *fraction = ++at;

                at = take_short(at, end, DIGITS_SURE - (size_t)(fraction - 1 - whole), &value);
                n_fraction = (size_t)(at - fraction);
        }
        if (at != end || n_fraction > (size_t)shift)
                return false;
        for (size_t i = n_fraction; i < (size_t)shift; i++)
                if (__builtin_mul_overflow(value, UINT64_C(10), &value))
                        return false;
        *ret_value = value;
        return true;
}

/* Any number: with more digits, or an exponent. */
static __attribute__((noinline)) bool read_long(struct text_view number, int shift, int64_t *ret_value)
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

bool json_pull_decimal(struct text_view number, int shift, int64_t *ret_value)
{
        const char *at = number.bytes;
        bool is_negative = number.n_bytes > 0 && *at == '-';
        uint64_t value;

        if (number.n_bytes == 0 || shift < 0 ||
            !read_short(at + is_negative, at + number.n_bytes, shift, &value) || value > INT64_MAX)
                return read_long(number, shift, ret_value);
        *ret_value = is_negative ? -(int64_t)value : (int64_t)value;
        return true;
}

bool json_pull_unsigned(struct text_view number, uint64_t *ret_value)
{
        const char *at = number.bytes, *end = number.n_bytes > 0 ? at + number.n_bytes : at;
        uint64_t value = 0;

        if (number.n_bytes > 0 && number.n_bytes <= DIGITS_SURE)
                at = take_short(at, end, DIGITS_SURE, &value);
        for (; at < end; at++) {
                if (*at < '0' || *at > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
                    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
                        return false;
        }
        *ret_value = value;
        return number.n_bytes > 0;
}

/* ------------------------------------------------------------------ members that are numbers */

/*
 * The digits that the next eight bytes begin with, of which there may be none: what is not one is shifted
 * out, and what comes in instead counts as zeros before them.  Returns how many there are.
 */
static ALWAYS_INLINE unsigned take_leading_digits(const char *at, uint64_t *value)
{
        static const uint32_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
        struct byte_reader in = byte_reader_of(at, sizeof(uint64_t));
        uint64_t digits = bytes_u64(&in) ^ WIDE_SCAN_ONES * 0x30;
        uint64_t others = (digits + WIDE_SCAN_ONES * 0x76) | digits; /* above the lowest one also digits */
        unsigned n;

        others &= WIDE_SCAN_ONES << 7;
        n = others != 0 ? (unsigned)__builtin_ctzll(others) / 8 : 8;
        if (n == 0)
                return 0;
        *value = *value * tens[n] + join_digits(digits << (64 - 8 * n));
        return n;
}

/* A number of digits alone, at most 19, with eight bytes behind each eight of them.  NULL: another value. */
static ALWAYS_INLINE const char *take_plain(const char *at, const char *end, uint64_t *ret_number)
{
        unsigned n_all = 0, n;
        uint64_t number = 0;

        do {
                if (end - at < 8)
                        return NULL;
                n = take_leading_digits(at, &number);
                at += n;
                n_all += n;
        } while (n == 8 && n_all < DIGITS_SURE);
        if (n_all == 0 || n_all > DIGITS_SURE)
                return NULL;
        *ret_number = number;
        return at;
}

/* The same where a value ends.  Returns false if it is written in another way. */
static ALWAYS_INLINE bool take_one(struct json_pull *p, uint64_t *ret_number)
{
        uint64_t number;
        const char *at = take_plain(p->at, p->end, &number);

        if (!at || !is(*at, ENDS_WORD))
                return false;
        *ret_number = number;
        p->at = at;
        return true;
}

/* An array of @n such numbers, some of which may be written also if false is returned. */
static bool take_array(struct json_pull *p, uint64_t *numbers, unsigned n)
{
        const char *at = p->at;

        if (at == p->end || *at++ != '[')
                return false;
        for (unsigned i = 0; i < n; i++) {
                at = take_plain(at, p->end, &numbers[i]);
                if (!at || *at++ != (i + 1 < n ? ',' : ']'))
                        return false;
        }
        p->at = at;
        return true;
}

static ALWAYS_INLINE bool take_numbers(struct json_pull *p, uint64_t *numbers, uint16_t place)
{
        unsigned n = JSON_PLACE_N(place);

        numbers += JSON_PLACE_AT(place);
        return n == 1 ? take_one(p, numbers) : take_array(p, numbers, n);
}

int json_numbers_next(struct json_numbers *n, uint16_t *ret_place, struct json_value *ret_value)
{
        struct json_pull p = n->pull; /* in registers */
        uint16_t place;
        int r = 0;

        while (n->n_wanted > 0) {
                if (!take_alike(&p, n->shape, n->index, &place)) {
                        n->pull = p;
                        r = read_beginning(&n->pull, n->shape, n->index, n->find_place, n->context, &place);
                        if (r != 1)
                                return r;
                        p = n->pull;
                }
                n->index++;
                n->n_wanted -= place < JSON_PLACE_OWN;
                if (place < JSON_PLACE_OWN && take_numbers(&p, n->numbers, place))
                        continue;
                r = take_value(&p, ret_value);
                if (r == 1 && place == JSON_PLACE_NONE)
                        continue;
                n->pull = p;
                *ret_place = place;
                return r;
        }
        n->pull = p;
        return 0;
}
