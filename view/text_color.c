/* SPDX-License-Identifier: MIT */
#include "view/text_color.h"

#include "cli/argument_words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum text_color_when text_color_find(const char *word)
{
        int place = argument_words_find(TEXT_COLOR_CHOICES, word);

        return place < 0 ? TEXT_COLOR_AUTO : (enum text_color_when)place;
}

bool text_color_is_wanted(enum text_color_when when, int fd)
{
        /* NOLINTBEGIN(concurrency-mt-unsafe): nothing changes the environment */
        const char *no_color = getenv("NO_COLOR");
        const char *terminal = getenv("TERM");
        /* NOLINTEND(concurrency-mt-unsafe) */

        if (when != TEXT_COLOR_AUTO)
                return when == TEXT_COLOR_ALWAYS;
        if ((no_color && no_color[0] != '\0') || (terminal && strcmp(terminal, "dumb") == 0))
                return false;
        return isatty(fd) == 1;
}
