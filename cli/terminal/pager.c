/* SPDX-License-Identifier: MIT */
#include "cli/terminal/pager.h"

#include "cli/terminal/complaint.h"
#include "view/text/text_width.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGER_DEFAULT "less -R"

/* NOLINTBEGIN(concurrency-mt-unsafe): there is one thread */

static void tell_width(void)
{
        char columns[16];

        (void)snprintf(columns, sizeof(columns), "%u", text_width_of(stdout));
        (void)setenv("COLUMNS", columns, 1);
}

/* It is to die of a closed terminal; we are not. */
static FILE *open_pager(const char *command)
{
        void (*before)(int) = signal(SIGPIPE, SIG_DFL);
        /* NOLINTNEXTLINE(cert-env33-c): the user's own command, as git and man run it */
        FILE *stream = popen(command, "we");

        (void)signal(SIGPIPE, before);
        return stream;
}

void pager_start(struct pager *pager, enum text_color_when *color)
{
        const char *command = getenv("PAGER");

        pager->stream = NULL;
        if (isatty(STDOUT_FILENO) != 1)
                return;
        *color = text_color_is_wanted(*color, STDOUT_FILENO) ? TEXT_COLOR_ALWAYS : TEXT_COLOR_NEVER;
        tell_width();
        pager->stream = open_pager(command && command[0] != '\0' ? command : PAGER_DEFAULT);
        if (!pager->stream || dup2(fileno(pager->stream), STDOUT_FILENO) < 0)
                complain("warning: --pager: %s", strerror(errno));
}

/* NOLINTEND(concurrency-mt-unsafe) */

void pager_finish(struct pager *pager)
{
        int nowhere;

        if (!pager->stream)
                return;
        (void)fflush(stdout);
        nowhere = open("/dev/null",
                       O_WRONLY | O_CLOEXEC); /* our end of the pipe is closed, so that it sees the end */
        if (nowhere >= 0)
                (void)dup2(nowhere, STDOUT_FILENO);
        (void)close(nowhere);
        (void)pclose(pager->stream);
        pager->stream = NULL;
}
