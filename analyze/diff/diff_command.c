/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_command.h"

#include <string.h>

/* Arguments are separated by blanks, several commands by "; ". */
static size_t word_bytes(struct text_view command)
{
        size_t n = 0;

        while (n < command.n_bytes && command.bytes[n] != ' ')
                n++;
        return n;
}

struct text_view diff_program_name(struct text_view command)
{
        size_t end = word_bytes(command), start;

        if (end > 0 && end < command.n_bytes && command.bytes[end - 1] == ';')
                end--;
        start = end;
        while (start > 0 && command.bytes[start - 1] != '/')
                start--;
        return (struct text_view){ command.bytes ? command.bytes + start : NULL, end - start };
}

struct text_view diff_program_arguments(struct text_view command)
{
        size_t start = word_bytes(command);

        if (start < command.n_bytes)
                start++;
        return (struct text_view){ command.bytes ? command.bytes + start : NULL, command.n_bytes - start };
}

/* ------------------------------------------------------------------ environments */

/*
 * Reads the next "NAME=VALUE" of @text, from @at on; 0 at the end.  A word without a value, such as "none",
 * has no name.
 */
static int next_variable(struct text_view text, size_t *at, struct text_view *ret_name,
                         struct text_view *ret_value)
{
        size_t end = *at;
        const char *word, *equals;

        if (*at >= text.n_bytes)
                return 0;
        while (end < text.n_bytes && text.bytes[end] != ' ')
                end++;
        word = text.bytes + *at;
        equals = memchr(word, '=', end - *at);
        *ret_name = (struct text_view){ word, equals ? (size_t)(equals - word) : 0 };
        *ret_value = (struct text_view){ equals ? equals + 1 : NULL,
                                         equals ? end - *at - ret_name->n_bytes - 1 : 0 };
        *at = end + 1;
        return 1;
}

/* The value of a variable; NULL if it is not set. */
static struct text_view value_of(struct text_view environment, struct text_view wanted)
{
        struct text_view name, value;
        size_t at = 0;

        while (next_variable(environment, &at, &name, &value))
                if (value.bytes && text_view_equal(name, wanted))
                        return value;
        return (struct text_view){ NULL, 0 };
}

int diff_environment_next(struct diff_environment *e, struct diff_variable *ret_variable)
{
        struct diff_variable v;

        if (e->first.n_bytes == 0 || e->second.n_bytes == 0)
                return 0;
        while (!e->is_second && next_variable(e->first, &e->at, &v.name, &v.first)) {
                if (v.name.n_bytes == 0)
                        continue;
                v.second = value_of(e->second, v.name);
                if (v.second.bytes && text_view_equal(v.first, v.second))
                        continue;
                *ret_variable = v;
                return 1;
        }
        if (!e->is_second)
                e->at = 0;
        e->is_second = true;
        while (next_variable(e->second, &e->at, &v.name, &v.second)) {
                v.first = (struct text_view){ NULL, 0 };
                if (v.name.n_bytes == 0 || value_of(e->first, v.name).bytes)
                        continue;
                *ret_variable = v;
                return 1;
        }
        return 0;
}
