/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/argument_words.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/pace/pace.h"
#include "sampler/recording/control_search.h"
#include "sampler/recording/control_socket.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERBS "status|pause|resume|stop|dump|mark"

struct arguments {
        struct output_options output;
        struct control_search *search; /* heap */
};

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof ctl",
        .operands = "[PID] " VERBS " [TEXT]",
        .n_operands_max = 3,
        .about =
                "Controls a recording that is running.  PID is that of the recorder or of the process that it\n"
                "records; it may be left out if you have one recording.\n"
                "\n"
                "  status     what is recorded, since when, and how much of it there is\n"
                "  pause      take no samples, and let programs begin nothing new; context switches go on\n"
                "  resume     go on\n"
                "  stop       end the recording, and keep the trace; the command runs on\n"
                "  dump       write what the ring holds now (hyprof record --ring)\n"
                "  mark TEXT  put a message at this moment\n"
                "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = done; 1 = no such recording, or it refused or did not answer; 2 = usage\n",
        .stray_advice = "hyprof ctl mark 'a text in quotes'",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = output_options_take(&args->output, letter, value);

        return r < 0 ? r : 0;
}

/* ---- recorders ----------------------------------------------------------------------------------------- */

static bool is_silent(const struct control_recorder *recorder)
{
        return recorder->status[0] == '\0';
}

/* Has complained if it is. */
static bool refuse_silent(const struct control_recorder *recorder)
{
        if (!is_silent(recorder))
                return false;
        complain("error: the recorder, process %" PRIu64
                 ", has not answered for %d s: it is stopped, busy, or still starting",
                 recorder->pid, PACE_CONTROL_WAIT_MS / 1000);
        complain_try("kill -CONT %" PRIu64, recorder->pid);
        return true;
}

static void list(const struct control_search *search, uint64_t pid, const char *verb)
{
        char trace[CONTROL_STATUS_VALUE];
        uint64_t example = 0;

        for (size_t i = 0; i < search->n_recorders; i++) {
                const struct control_recorder *recorder = &search->recorders[i];

                if (is_silent(recorder)) {
                        complain("process %" PRIu64 " does not answer", recorder->pid);
                } else if (pid == 0 || control_recorder_is(recorder, pid)) {
                        control_recorder_find(recorder, "trace", trace);
                        complain("process %" PRIu64 " writes %s", recorder->pid, trace);
                        example = recorder->pid;
                }
        }
        if (example != 0)
                complain_try("hyprof ctl %" PRIu64 " %s", example, verb);
}

static void refuse_none(const struct control_search *search, uint64_t pid)
{
        if (pid == 0)
                complain("error: you have no recording that is running");
        else
                complain("error: process %" PRIu64 " records nothing of yours, and is not recorded by you",
                         pid);
        for (size_t i = 0; i < search->n_recorders; i++)
                if (is_silent(&search->recorders[i]))
                        complain("the recorder, process %" PRIu64 ", does not answer, and may be the one",
                                 search->recorders[i].pid);
        complain_try("hyprof record -- COMMAND");
}

/* The recorder that is meant; NULL after a complaint. */
static const struct control_recorder *choose(struct control_search *search, uint64_t pid, const char *verb)
{
        const struct control_recorder *found = NULL;
        size_t n = 0;

        control_search_run(search, pid);
        for (size_t i = 0; i < search->n_recorders; i++) {
                const struct control_recorder *recorder = &search->recorders[i];

                if (pid == 0 || recorder->pid == pid || control_recorder_is(recorder, pid)) {
                        found = recorder;
                        n++;
                }
        }
        if (n == 1)
                return refuse_silent(found) ? NULL : found;
        if (n > 1) {
                complain("error: you have %zu recordings; say which by its process", n);
                list(search, pid, verb);
        } else {
                refuse_none(search, pid);
        }
        return NULL;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

/*
 * The keys are those of the recorder's status.  People see a fact, by its title, only if the status has its
 * value.
 */
static const struct view_column facts[] = {
        { .key = "recorder_pid", .title = "recorder", .type = VIEW_ID },
        { .key = "program_pid",
          .title = "program",
          .type = VIEW_ID,
          .words = "of the recorded command; 0 = there is none" },
        { .key = "state",
          .title = "state",
          .type = VIEW_STRING,
          .one_of = "delayed|recording|paused",
          .words = "delayed: nothing is recorded before the delay (--delay) is over" },
        { .key = "elapsed_ns", .title = "for", .type = VIEW_DURATION },
        { .key = "paused_ns",
          .title = "paused",
          .type = VIEW_DURATION,
          .words = "all pauses together, part of `elapsed_ns`" },
        { .key = "n_pauses", .title = "pauses", .type = VIEW_COUNT },
        { .key = "n_marks", .title = "marks", .type = VIEW_COUNT },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "n_zones", .title = "zones", .type = VIEW_COUNT },
        { .key = "n_lost", .title = "lost", .type = VIEW_COUNT },
        { .key = "file_bytes",
          .title = "trace has",
          .type = VIEW_BYTES,
          .words = "of the trace so far; with --ring, of the ring in memory" },
        { .key = "mode", .title = "mode", .type = VIEW_STRING, .one_of = "file|ring" },
        { .key = "trace",
          .title = "trace",
          .type = VIEW_STRING,
          .words = "as it was named; - is standard output" },
        { .key = "attached_pids",
          .title = "attached",
          .type = VIEW_STRING,
          .words =
                  "the processes that -p and -t name, 256 at most, with blanks between; null = none is named" },
};

static const struct answer_part facts_part = ANSWER_FACTS(facts);
const struct answer_schema ctl_schema = {
        .name = "hyprof.ctl/1",
        .command = "hyprof ctl status --json",
        .parts = (const struct answer_part *const[]){ &facts_part, NULL },
        .lacks_answer = true,
};

static int print_status(struct output_options *output, const struct control_recorder *recorder)
{
        struct view_document d;
        char value[CONTROL_STATUS_VALUE];
        int code;

        view_document_init(&d, ctl_schema.name);
        for (uint32_t i = 0; i < VIEW_N_COLUMNS(facts); i++) {
                control_recorder_find(recorder, facts[i].key, value);
                view_document_put(&d, facts[i].key, value[0] == '\0' ? NULL : facts[i].title, facts[i].type,
                                  facts[i].type == VIEW_STRING ? view_words(value)
                                                               : view_number(strtoull(value, NULL, 10)));
        }
        code = output_options_print(output, &d);
        view_document_deinit(&d);
        return code;
}

static int send_request(const struct control_recorder *to, const char *verb, const char *text, bool quiet)
{
        char request[CONTROL_SOCKET_BYTES], answer[CONTROL_SOCKET_BYTES];
        /*
         * The answer to a dump comes when it is written; the recorder is alive, for it has just answered.
         */
        int wait_ms = strcmp(verb, "dump") == 0 ? -1 : PACE_CONTROL_WAIT_MS;
        struct error err = ERROR_NONE;

        if (snprintf(request, sizeof(request), text ? "%s %s" : "%s", verb, text) >= (int)sizeof(request)) {
                complain("error: the text has more than %d bytes", CONTROL_SOCKET_BYTES - 16);
                return EXIT_STATUS_USAGE;
        }
        if (control_socket_ask(to->path, to->uid, request, wait_ms, answer, &err) < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        if (strncmp(answer, "ok", 2) != 0) {
                complain("%.200s", answer);
                return EXIT_STATUS_FAILED;
        }
        if (!quiet)
                complain("%.200s", answer[2] == ' ' ? answer + 3 : answer);
        return EXIT_STATUS_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int refuse(const char *words, const char *what)
{
        complain("error: %s%s", words, what);
        complain_try("hyprof ctl --help");
        return EXIT_STATUS_USAGE;
}

/* [PID] VERB [TEXT]; NULL = all is well. */
static const char *parse(char **operands, int n, uint64_t *ret_pid, const char **ret_verb,
                         const char **ret_text)
{
        int at = 0;

        *ret_pid = 0;
        *ret_text = NULL;
        if (n > 0 && option_parse_number(operands[0], 1, INT32_MAX, ret_pid) == 0)
                at++;
        if (at == n)
                return "what to do is missing: " VERBS;
        *ret_verb = operands[at++];
        if (argument_words_find(VERBS, *ret_verb) < 0)
                return "expected one of " VERBS ", not ";
        if (strcmp(*ret_verb, "mark") == 0) {
                if (at == n || operands[at][0] == '\0')
                        return "mark needs a text";
                *ret_text = operands[at++];
        }
        if (at < n) {
                *ret_verb = operands[at];
                return "unexpected argument ";
        }
        return NULL;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        const struct control_recorder *to;
        const char *verb = "", *text, *wrong;
        uint64_t pid;

        if (output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        wrong = parse(common->operands, common->n_operands, &pid, &verb, &text);
        if (wrong)
                return refuse(wrong, wrong[strlen(wrong) - 1] == ' ' ? verb : "");
        args->search = calloc(1, sizeof(*args->search));
        if (!args->search) {
                complain("error: no memory");
                return EXIT_STATUS_FAILED;
        }
        to = choose(args->search, pid, verb);
        if (!to)
                return EXIT_STATUS_FAILED;
        if (strcmp(verb, "status") != 0)
                return send_request(to, verb, text, common->quiet);
        output_options_complete(&args->output);
        return print_status(&args->output, to);
}

const struct option_table *cmd_ctl_options(void)
{
        return &table;
}

int cmd_ctl(int argc, char **argv)
{
        struct arguments args = { .search = NULL };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };
        int status;

        output_options_init(&args.output);
        status = command_frame_run(&frame, argc, argv);
        free(args.search);
        return status;
}
