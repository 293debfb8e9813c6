/* SPDX-License-Identifier: MIT */
#include "view/text/text_charset.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *name)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment */
        const char *value = getenv(name);

        return value && value[0] != '\0' ? value : NULL;
}

bool text_charset_is_ascii(void)
{
        static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
        const char *locale = NULL;

        for (size_t i = 0; !locale && i < sizeof(names) / sizeof(names[0]); i++)
                locale = value_of(names[i]);
        return locale && (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0);
}

const char *text_charset_ellipsis(void)
{
        return text_charset_is_ascii() ? ".." : "…";
}
