/* SPDX-License-Identifier: MIT */
#include "cli/commands/viewer_start.h"

#include "base/error.h"
#include "cli/commands/drop_rights.h"
#include "cli/commands/view_pipe.h"
#include "cli/exit_status.h"
#include "cli/files/cache_folder.h"
#include "cli/terminal/complaint.h"
#include "symbolize/symbols/index_cache.h"
#include "timeline/timeline_cache.h"
#include "view/text/shell_word.h"
#include "web/view_front.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SSH_PORT_STANDARD "22"

/* NULL if it is not set, or empty. */
static const char *environment(const char *name)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *value = getenv(name);

        return value && value[0] != '\0' ? value : NULL;
}

static bool has_display(void)
{
        return environment("DISPLAY") || environment("WAYLAND_DISPLAY");
}

/* "ssh -L 8080:127.0.0.1:8080 user@host", from "client-address client-port server-address server-port". */
static void print_ssh_line(uint16_t port)
{
        const char *connection = environment("SSH_CONNECTION");
        const char *user = environment("USER");
        char host[64], ssh_port[16];

        if (!connection || sscanf(connection, "%*63s %*15s %63s %15s", host, ssh_port) != 2)
                return;
        (void)printf("on the machine with the browser:  ssh -N -L %u:127.0.0.1:%u%s%s %s%s%s\n",
                     (unsigned)port, (unsigned)port, strcmp(ssh_port, SSH_PORT_STANDARD) == 0 ? "" : " -p ",
                     strcmp(ssh_port, SSH_PORT_STANDARD) == 0 ? "" : ssh_port,
                     user ? shell_word_of(user).text : "", user ? "@" : "", host);
}

static void print_address(void *context, const char *url, uint16_t port)
{
        const struct viewer_start *start = context;

        (void)printf("%s\n", url);
        if (!start->quiet) {
                if (!has_display())
                        print_ssh_line(port);
                (void)printf("Ctrl-C ends the viewer\n");
        }
        (void)fflush(stdout);
}

static int explain(const struct viewer_start *start, int code, const struct error *err)
{
        const char *path = start->traces.trace;

        if (start->is_pipe && strncmp(err->text, path, strlen(path)) == 0) {
                complain("error: standard input%s", err->text + strlen(path));
                complain_try("hyprof record -o - COMMAND | hyprof view -");
        } else if (code == -EADDRINUSE) {
                complain("error: %s", err->text);
                complain_try("hyprof view --port 0, which takes a free one");
        } else {
                complain_of_trace(code, start->traces.trace, err);
        }
        return EXIT_STATUS_FAILED;
}

static int viewer_start_serve(struct viewer_start *start)
{
        struct web_answers answers = view_answers_of(&start->traces);
        struct view_front_options options = { .trace = start->traces.trace,
                                              .before = start->traces.before,
                                              .port = start->port,
                                              .follows = start->follows,
                                              .names_come_fd = start->names_come_fd,
                                              .opens_browser = !start->no_open && has_display(),
                                              .answers = &answers,
                                              .ready = print_address,
                                              .context = start };
        struct timeline_cache cache;
        struct index_cache symbols;
        struct error err = ERROR_NONE;
        bool has_cache, has_symbols;
        int r;

        has_cache = cache_folder_open_timeline(&cache);
        has_symbols = start->follows && cache_folder_open(&symbols);
        options.cache = has_cache ? &cache : NULL;
        options.symbols = has_symbols && index_cache_prepare(&symbols, NULL) == 0 ? &symbols : NULL;
        r = view_front_run(&options, &err);
        if (has_cache)
                timeline_cache_close(&cache);
        if (has_symbols)
                index_cache_close(&symbols);
        return r < 0 ? explain(start, r, &err) : EXIT_STATUS_OK;
}

/* The trace that comes on standard input is followed in a file. */
static int viewer_start_pipe(struct viewer_start *start)
{
        struct error err = ERROR_NONE;
        struct view_pipe spool;
        int status = EXIT_STATUS_FAILED;

        if (view_pipe_start(&spool, &err) == 0) {
                start->traces.trace = spool.path;
                start->follows = start->is_pipe = true;
                status = viewer_start_serve(start);
        } else {
                complain("error: %s", err.text);
                complain_try("hyprof record -o - COMMAND | hyprof view -");
        }
        view_pipe_end(&spool);
        return status;
}

int viewer_start_run(struct viewer_start *start)
{
        if (drop_rights_for_good("hyprof view without sudo") < 0)
                return EXIT_STATUS_FAILED;
        if (start->ends_with_parent) /* not before: a change of the user takes it back */
                (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        return strcmp(start->traces.trace, "-") == 0 ? viewer_start_pipe(start) : viewer_start_serve(start);
}
