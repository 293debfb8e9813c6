/* SPDX-License-Identifier: MIT */
#include "cli/commands/command_frame.h"

#include "cli/exit_status.h"
#include "cli/files/reader_confinement.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "view/text/text_color.h"
#include "view/text/text_width.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the pager */

/*
 * Sends standard output through $PAGER if the user asked for it and there is a terminal.
 */

struct pager {
        FILE *stream; /* to it; NULL = no pager */
};

#define PAGER_DEFAULT "less -R"

/* NOLINTBEGIN(concurrency-mt-unsafe): there is one thread */

static void tell_width(void)
{
        char columns[16];

        (void)snprintf(columns, sizeof(columns), "%u", text_width_of(stdout));
        (void)setenv("COLUMNS", columns, 1);
}

/* A closed terminal should end the pager, but not us. */
static FILE *open_pager(const char *command)
{
        void (*before)(int) = signal(SIGPIPE, SIG_DFL);
        /* NOLINTNEXTLINE(cert-env33-c): the user's own command, as git and man run it */
        FILE *stream = popen(command, "we");

        (void)signal(SIGPIPE, before);
        return stream;
}

/*
 * start_pager() - sends standard output to the pager from here on
 * @color:  as requested; decided now, by the terminal
 * Does nothing if standard output is no terminal, or the pager cannot be started.
 */
static void start_pager(struct pager *pager, enum text_color_when *color)
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

/* Waits until people have seen it. */
static void finish_pager(struct pager *pager)
{
        int nowhere;

        if (!pager->stream)
                return;
        (void)fflush(stdout);
        nowhere = open("/dev/null",
                       O_WRONLY | O_CLOEXEC); /* closes our end of the pipe, so that the pager sees its end */
        if (nowhere >= 0)
                (void)dup2(nowhere, STDOUT_FILENO);
        (void)close(nowhere);
        (void)pclose(pager->stream);
        pager->stream = NULL;
}

/* ------------------------------------------------------------------ the frame */

#define NAME_BYTES 64

/* The target of the options. */
struct taking {
        const struct command_frame *frame;
        struct common_options common;
};

static int take(void *context, int letter, const char *value)
{
        struct taking *t = context;
        const struct option_row *row = option_table_find_letter(t->frame->table, letter);
        int r = row ? common_options_take(&t->common, row, value) : 0;

        if (r == 0 && t->frame->take)
                r = t->frame->take(t->frame->context, letter, value);
        return r < 0 ? r : 0;
}

int command_frame_confine(enum command_reading reading, const struct common_options *common,
                          const char *result)
{
        bool is_beside = reading == COMMAND_WRITES_BESIDE && !common->output;
        size_t n_operands = is_beside ? (size_t)common->n_operands : 0;
        const char **results = calloc(n_operands + 3, sizeof(*results));
        struct reader_places places = { .results = results };
        int r;

        if (!results) {
                complain("error: no memory for the folders of results");
                return -ENOMEM;
        }
        if (result)
                results[places.n_results++] = result;
        if (reading != COMMAND_PRINTS && common->output)
                results[places.n_results++] = common->output;
        if (is_beside && common->trace)
                results[places.n_results++] = common->trace;
        for (size_t i = 0; i < n_operands; i++)
                results[places.n_results++] = common->operands[i];
        r = reader_confinement_enter(&places);
        free(results);
        return r;
}

static int run_one(const struct command_frame *frame, struct common_options *common)
{
        struct pager pager = { .stream = NULL };
        int status;

        if (common->pager)
                start_pager(&pager, &common->color);
        if (frame->reading != COMMAND_READS_ELSEWHERE &&
            command_frame_confine(frame->reading, common, NULL) < 0)
                status = EXIT_STATUS_FAILED;
        else
                status = frame->run(frame->context, common);
        finish_pager(&pager);
        return status;
}

int command_frame_run(const struct command_frame *frame, int argc, char **argv)
{
        struct option_table table = *frame->table;
        struct taking t = { .frame = frame };
        char name[NAME_BYTES];
        int first;

        common_options_init(&t.common);
        if (strchr(argv[0], ' ')) {
                (void)snprintf(name, sizeof(name), "hyprof %s", argv[0]);
                table.command = name;
        }
        t.common.command = table.command;
        if (option_table_parse(&table, argc, argv, take, &t, &first) < 0)
                return EXIT_STATUS_USAGE;
        if (t.common.help) {
                option_table_print(&table, stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        t.common.operands = argv + first;
        t.common.n_operands = argc - first;
        if (frame->takes_trace && common_options_take_trace(&t.common) < 0)
                return EXIT_STATUS_USAGE;
        return run_one(frame, &t.common);
}
