/* SPDX-License-Identifier: MIT */
#include "view/text_color.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int text_color_parse(const char *word, enum text_color_when *ret_when)
{
        static const char *const words[] = { "auto", "always", "never" };

        for (int i = TEXT_COLOR_AUTO; i <= TEXT_COLOR_NEVER; i++)
                if (strcmp(word, words[i]) == 0) {
                        *ret_when = (enum text_color_when)i;
                        return 0;
                }
        return -EINVAL;
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
