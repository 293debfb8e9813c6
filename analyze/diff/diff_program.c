/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_program.h"

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
