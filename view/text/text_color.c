/* SPDX-License-Identifier: MIT */
#include "view/text/text_color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum text_color_when text_color_find(const char *word)
{
        if (strcmp(word, "always") == 0)
                return TEXT_COLOR_ALWAYS;
        return strcmp(word, "never") == 0 ? TEXT_COLOR_NEVER : TEXT_COLOR_AUTO;
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
