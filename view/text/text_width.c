/* SPDX-License-Identifier: MIT */
#include "view/text/text_width.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A value of $COLUMNS above the maximum is a mistake. */
#define WIDTH_MIN 20
#define WIDTH_MAX 10000

uint32_t text_width_of_terminal(int fd)
{
        struct winsize size;

        return fd >= 0 && isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

uint32_t text_width_of(FILE *out)
{
        uint32_t n_columns = text_width_of_terminal(fileno(out));
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *wanted = getenv("COLUMNS");
        char *end;
        unsigned long number;

        if (n_columns >= WIDTH_MIN)
                return n_columns;
        number = wanted && *wanted >= '0' && *wanted <= '9' ? strtoul(wanted, &end, 10) : 0;
        return number >= WIDTH_MIN && number <= WIDTH_MAX && *end == '\0' ? (uint32_t)number : TEXT_WIDTH;
}
