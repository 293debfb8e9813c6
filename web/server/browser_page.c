/* SPDX-License-Identifier: MIT */
#include "web/server/browser_page.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_FORMAT                                                                               \
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">" \
        "<meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>hyprof</title>"                \
        "<p><a href=\"%s\" rel=\"noreferrer\">hyprof</a>\n"

/* Returns 0 or -1. */
static int write_page(struct browser_page *page, const char *url)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *folder = getenv("XDG_RUNTIME_DIR");
        char text[2048];
        int n, fd;

        n = snprintf(page->path, sizeof(page->path), "%s/hyprof-view-XXXXXX.html",
                     folder && access(folder, W_OK) == 0 ? folder : io_temporary_folder());
        fd = n < (int)sizeof(page->path) ? mkostemps(page->path, (int)strlen(".html"), O_CLOEXEC) : -1;
        if (fd < 0) {
                page->path[0] = '\0';
                return -1;
        }
        n = snprintf(text, sizeof(text), PAGE_FORMAT, url, url);
        n = io_write_all(fd, text, (size_t)n, NULL);
        io_close(&fd);
        return n;
}

/* In a session of its own, so that Ctrl-C does not end a browser that was started here. */
static void run_opener(const char *path)
{
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        sigset_t none;

        (void)sigemptyset(&none);
        (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
        (void)setsid();
        if (fork() != 0)
                _exit(0);
        for (int i = 0; null_fd >= 0 && i < 3; i++)
                (void)dup2(null_fd, i);
        (void)execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(EXIT_FAILURE);
}

void browser_page_open(struct browser_page *page, const char *url)
{
        pid_t pid;

        if (write_page(page, url) < 0)
                return;
        pid = fork();
        if (pid == 0)
                run_opener(page->path);
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

void browser_page_close(struct browser_page *page)
{
        if (page->path[0] != '\0')
                (void)unlink(page->path);
        page->path[0] = '\0';
}
