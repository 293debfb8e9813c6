/* SPDX-License-Identifier: MIT */
#include "import/text/ftrace_line.h"

#include "import/file/decimal_time.h"

#include <string.h>

#define NS_PER_S    UINT64_C(1000000000)
#define TASK_COLUMN 16 /* the kernel fills names of tasks up with blanks */
#define PID_DIGITS  10
#define TASK_BYTES  64 /* other writers fill up more, but no name is longer than this */

struct cursor {
        const char *at, *end;
};

static bool take(struct cursor *c, char byte)
{
        if (c->at == c->end || *c->at != byte)
                return false;
        c->at++;
        return true;
}

static void skip_blanks(struct cursor *c)
{
        while (c->at < c->end && *c->at == ' ')
                c->at++;
}

static bool take_number(struct cursor *c, uint64_t *ret)
{
        const char *from = c->at;

        *ret = 0;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9' && c->at - from < PID_DIGITS; c->at++)
                *ret = *ret * 10 + (uint64_t)(*c->at - '0');
        return c->at > from;
}

/* Up to a byte, which is taken as well. */
static bool take_until(struct cursor *c, char byte, struct text_view *ret)
{
        const char *found = c->at < c->end ? memchr(c->at, byte, (size_t)(c->end - c->at)) : NULL;

        if (!found)
                return false;
        *ret = (struct text_view){ c->at, (size_t)(found - c->at) };
        c->at = found + 1;
        return true;
}

static struct text_view rest_of(const struct cursor *c)
{
        return (struct text_view){ c->at, (size_t)(c->end - c->at) };
}

/* "(1234)", "(-----)", "( 123)" */
static bool take_group(struct cursor *c, uint64_t *ret)
{
        *ret = 0;
        if (!take(c, '('))
                return true;
        skip_blanks(c);
        if (!take_number(c, ret))
                while (take(c, '-'))
                        ;
        return take(c, ')');
}

/* Reads all after the '-' that ends the name of the task. */
static bool read_from(struct cursor c, struct ftrace_line *ret)
{
        struct text_view time;
        uint64_t cpu;

        if (!take_number(&c, &ret->tid) || !take(&c, ' '))
                return false;
        skip_blanks(&c);
        if (!take_group(&c, &ret->tgid))
                return false;
        skip_blanks(&c);
        if (!take(&c, '[') || !take_number(&c, &cpu) || !take(&c, ']') || !take(&c, ' '))
                return false;
        skip_blanks(&c);
        if (!take_until(&c, ':', &time))
                return false;
        /* Flags and a time, or a time only. */
        if (time.n_bytes > 0 && memrchr(time.bytes, ' ', time.n_bytes)) {
                const char *from = (const char *)memrchr(time.bytes, ' ', time.n_bytes) + 1;

                time = (struct text_view){ from, (size_t)(time.bytes + time.n_bytes - from) };
        }
        if (time.n_bytes == 0 || !memchr(time.bytes, '.', time.n_bytes) ||
            !decimal_time_parse(time, NS_PER_S, &ret->time_ns))
                return false;
        skip_blanks(&c);
        if (!take_until(&c, ':', &ret->event))
                return false;
        (void)take(&c, ' ');
        ret->text = rest_of(&c);
        return true;
}

static bool read_at(struct text_view line, size_t dash, struct ftrace_line *ret)
{
        const char *from = line.bytes, *end = line.bytes + dash;

        if (!read_from((struct cursor){ end + 1, line.bytes + line.n_bytes }, ret))
                return false;
        while (from < end && *from == ' ')
                from++;
        ret->task = (struct text_view){ from, (size_t)(end - from) };
        return true;
}

bool ftrace_line_read(struct text_view line, struct ftrace_line *ret)
{
        if (line.n_bytes > TASK_COLUMN && line.bytes[TASK_COLUMN] == '-' && read_at(line, TASK_COLUMN, ret))
                return true;
        for (size_t at = 0; at < TASK_BYTES && at < line.n_bytes; at++)
                if (line.bytes[at] == '-' && at != TASK_COLUMN && read_at(line, at, ret))
                        return true;
        return false;
}

/* "print: tracing_mark_write: B|..", "print: 0xffff: B|.." */
static struct text_view skip_place(struct text_view text)
{
        static const char word[] = "tracing_mark_write: ";
        size_t n = 0;

        if (text_view_begins_with(text, word))
                return (struct text_view){ text.bytes + sizeof(word) - 1, text.n_bytes - (sizeof(word) - 1) };
        while (n < text.n_bytes && strchr("0123456789abcdefx", text.bytes[n]) && text.bytes[n] != '\0')
                n++;
        if (n < 4 || n + 2 > text.n_bytes || text.bytes[n] != ':' || text.bytes[n + 1] != ' ')
                return text;
        return (struct text_view){ text.bytes + n + 2, text.n_bytes - n - 2 };
}

bool ftrace_line_marker(const struct ftrace_line *line, struct text_view *ret)
{
        *ret = line->text;
        if (text_view_is(line->event, "tracing_mark_write"))
                return true;
        if (!text_view_is(line->event, "print"))
                return false;
        *ret = skip_place(line->text);
        return true;
}

/* ------------------------------------------------------------------ messages */

/* Takes what is after the last bar. */
static bool split_last(struct text_view *text, struct text_view *ret)
{
        const char *bar = text->n_bytes > 0 ? memrchr(text->bytes, '|', text->n_bytes) : NULL;

        if (!bar)
                return false;
        *ret = (struct text_view){ bar + 1, (size_t)(text->bytes + text->n_bytes - bar - 1) };
        text->n_bytes = (size_t)(bar - text->bytes);
        return true;
}

/* Whether the parts are there that this message has. */
static bool read_parts(struct ftrace_marker *m, struct text_view rest)
{
        struct cursor c = { rest.bytes, rest.bytes + rest.n_bytes };

        m->name = rest;
        switch (m->what) {
        case 'B':
        case 'E':
        case 'I':
                return true;
        case 'C':
        case 'S':
        case 'F':
                return split_last(&m->name, &m->value);
        case 'G':
                return take_until(&c, '|', &m->track) && (m->name = rest_of(&c), true) &&
                       split_last(&m->name, &m->value);
        case 'H':
                /* With the name or without. */
                if (!split_last(&m->name, &m->value))
                        return false;
                if (!take_until(&c, '|', &m->track) || c.at > m->value.bytes - 1)
                        m->track = m->name;
                m->name = (struct text_view){ NULL, 0 };
                return true;
        case 'N':
                if (!take_until(&c, '|', &m->track))
                        return false;
                m->name = rest_of(&c);
                return true;
        default:
                return false;
        }
}

void ftrace_marker_read(struct text_view text, struct ftrace_marker *ret)
{
        struct cursor c = { text.bytes, text.bytes + text.n_bytes };
        struct ftrace_marker m = { .what = '\0' };

        *ret = (struct ftrace_marker){ .name = text };
        if (text.n_bytes > 0)
                m.what = *text.bytes;
        if (m.what == '\0' || !strchr("BECSFGHIN", m.what))
                return;
        c.at++;
        if (c.at == c.end) {
                if (m.what == 'E')
                        *ret = m;
                return;
        }
        if (!take(&c, '|'))
                return;
        m.has_pid = take_number(&c, &m.pid);
        if (c.at < c.end && !take(&c, '|'))
                return;
        if (m.what != 'E' && (!m.has_pid || c.at[-1] != '|'))
                return;
        if (read_parts(&m, rest_of(&c)))
                *ret = m;
}
