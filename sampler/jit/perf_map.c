/* SPDX-License-Identifier: MIT */
#include "sampler/jit/perf_map.h"

#include <errno.h>
#include <string.h>

#define DIGITS_MAX 16

void perf_map_deinit(struct perf_map *m)
{
        byte_buffer_deinit(&m->text);
        *m = (struct perf_map){ .at_bytes = 0 };
}

void perf_map_restart(struct perf_map *m)
{
        byte_buffer_clear(&m->text);
        m->at_bytes = 0;
        m->skips = false;
}

/* At most one line is left before the new data. */
int perf_map_add(struct perf_map *m, const void *bytes, size_t n_bytes)
{
        size_t left = m->text.used_bytes - m->at_bytes;

        if (m->at_bytes > 0) {
                memmove(m->text.data, m->text.data + m->at_bytes, left);
                m->text.used_bytes = left;
                m->at_bytes = 0;
        }
        byte_buffer_add(&m->text, bytes, n_bytes);
        return m->text.failed ? -ENOMEM : 0;
}

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A number and the blanks after it.  Returns what follows, or NULL. */
static const char *parse_number(const char *at, const char *end, uint64_t *ret_number)
{
        uint64_t number = 0;
        unsigned n_digits = 0;

        if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
                at += 2;
        for (; at < end && digit_of(*at) >= 0; at++) {
                number = number << 4 | (uint64_t)digit_of(*at);
                n_digits += n_digits > 0 || number != 0; /* zeros in front do not count */
                if (n_digits > DIGITS_MAX)
                        return NULL;
        }
        if (at == end || (*at != ' ' && *at != '\t') || digit_of(at[-1]) < 0)
                return NULL;
        while (at < end && (*at == ' ' || *at == '\t'))
                at++;
        *ret_number = number;
        return at;
}

int perf_map_parse(const char *line, size_t n_bytes, struct perf_map_line *ret_line)
{
        const char *end = line + n_bytes, *at = line;
        struct perf_map_line l = { .start_avma = 0 };
        uint64_t behind;

        if (n_bytes == 0 || digit_of(*at) < 0)
                return -EBADMSG;
        at = parse_number(at, end, &l.start_avma);
        if (!at || at == end || digit_of(*at) < 0)
                return -EBADMSG;
        at = parse_number(at, end, &l.length_bytes);
        while (at && end > at && (end[-1] == '\r' || end[-1] == ' '))
                end--;
        if (!at || at == end || l.length_bytes == 0 ||
            __builtin_add_overflow(l.start_avma, l.length_bytes, &behind))
                return -EBADMSG;
        l.name = at;
        l.name_bytes = (size_t)(end - at);
        *ret_line = l;
        return 0;
}

/* Returns 1 with a whole line, which may be empty; 0 if no whole line is left. */
static int next_text(struct perf_map *m, const char **ret_text, size_t *ret_bytes)
{
        const char *text = (const char *)m->text.data + m->at_bytes;
        size_t left = m->text.used_bytes - m->at_bytes;
        const char *end = left > 0 ? memchr(text, '\n', left) : NULL;
        size_t n_bytes = end ? (size_t)(end - text) : left;

        if (m->skips || n_bytes > PERF_MAP_LINE_BYTES_MAX) {
                m->n_garbage += !m->skips;
                m->skips = !end;
                m->at_bytes += n_bytes + (end != NULL);
                *ret_bytes = 0;
                return end != NULL;
        }
        if (!end)
                return 0;
        m->at_bytes += n_bytes + 1;
        *ret_text = text;
        *ret_bytes = n_bytes;
        return 1;
}

int perf_map_next(struct perf_map *m, struct perf_map_line *ret_line)
{
        const char *text = NULL;
        size_t n_bytes;

        while (next_text(m, &text, &n_bytes) == 1) {
                if (n_bytes == 0)
                        continue;
                if (perf_map_parse(text, n_bytes, ret_line) == 0)
                        return 1;
                m->n_garbage++;
        }
        return 0;
}

int perf_map_last(struct perf_map *m, bool believed, struct perf_map_line *ret_line)
{
        const char *text = (const char *)m->text.data + m->at_bytes;
        size_t n_bytes = m->text.used_bytes - m->at_bytes;
        bool skips = m->skips;

        m->at_bytes += n_bytes;
        m->skips = false;
        if (skips || n_bytes == 0) /* of a line that is counted already, or nothing */
                return 0;
        if (believed && perf_map_parse(text, n_bytes, ret_line) == 0)
                return 1;
        m->n_garbage++;
        return 0;
}
