/* SPDX-License-Identifier: MIT */
#include "cli/viewer/view_answers.h"

#include "analyze/trace/handle_word.h"
#include "cli/exit_status.h"
#include "cli/manual/command_table.h"
#include "cli/terminal/complaint.h"
#include "web/request/web_question.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The command of a question, and its options beside those of the parameters. */
static const struct answer_row {
        const char *command;
        const char *options[2];
} rows[WEB_QUESTION_COUNT] = {
        [WEB_QUESTION_OVERVIEW] = { "report", { NULL } },
        [WEB_QUESTION_FUNCTIONS] = { "report", { "--functions" } },
        [WEB_QUESTION_TOP_DOWN] = { "report", { "--top-down" } },
        [WEB_QUESTION_BOTTOM_UP] = { "report", { "--bottom-up" } },
        [WEB_QUESTION_ZONES] = { "report", { "--zones" } },
        [WEB_QUESTION_ZONE] = { "report", { NULL } },
        [WEB_QUESTION_THREADS] = { "report", { "--threads" } },
        [WEB_QUESTION_MODULES] = { "report", { "--modules" } },
        [WEB_QUESTION_OFF_CPU] = { "report", { "--off-cpu" } },
        [WEB_QUESTION_CPUS] = { "report", { "--cpus" } },
        [WEB_QUESTION_IDLE] = { "report", { "--idle" } },
        [WEB_QUESTION_HEAT] = { "report", { "--heat" } },
        [WEB_QUESTION_SYSCALLS] = { "report", { "--syscalls" } },
        [WEB_QUESTION_LOCKS] = { "report", { "--locks" } },
        [WEB_QUESTION_MEMORY] = { "report", { "--memory" } },
        [WEB_QUESTION_MESSAGES] = { "report", { "--messages" } },
        [WEB_QUESTION_FRAMES] = { "report", { "--frames" } },
        [WEB_QUESTION_PLOTS] = { "report", { "--plots" } },
        [WEB_QUESTION_DEVICES] = { "report", { "--devices" } },
        [WEB_QUESTION_ANNOTATE] = { "annotate", { NULL } },
        [WEB_QUESTION_WHY] = { "why", { NULL } },
        [WEB_QUESTION_PATH] = { "path", { NULL } },
        [WEB_QUESTION_DIFF] = { "diff", { NULL } },
        [WEB_QUESTION_PAGE] = { "html", { "--notes", "--quiet" } },
};

/* A parameter is the option of the same name, with these exceptions. */
static const struct parameter_option {
        const char *option; /* NULL = the parameter's name */
        bool is_flag;       /* has no argument */
        bool is_time;       /* whole nanoseconds */
        bool is_apart;      /* no option: an operand, or the choice of the trace */
} options[WEB_PARAMETER_COUNT] = {
        [WEB_PARAMETER_FROM] = { .is_time = true },
        [WEB_PARAMETER_TO] = { .is_time = true },
        [WEB_PARAMETER_SLOWER_THAN] = { .option = "slower-than", .is_time = true },
        [WEB_PARAMETER_LONGER_THAN] = { .option = "longer-than", .is_time = true },
        [WEB_PARAMETER_SHORTER_THAN] = { .option = "shorter-than", .is_time = true },
        [WEB_PARAMETER_ZONES_AS_FRAMES] = { .option = "zones-as-frames", .is_flag = true },
        [WEB_PARAMETER_DISASSEMBLER_STYLE] = { .option = "disassembler-style" },
        [WEB_PARAMETER_HISTOGRAM] = { .is_flag = true },
        [WEB_PARAMETER_INLINED] = { .is_flag = true },
        [WEB_PARAMETER_WHOLE_FILES] = { .option = "whole-files", .is_flag = true },
        [WEB_PARAMETER_TOP] = { .option = "limit" },
        [WEB_PARAMETER_MIN_SHARE] = { .option = "min-share" },
        [WEB_PARAMETER_GROUP_BY] = { .option = "group-by" },
        [WEB_PARAMETER_SIDE] = { .is_apart = true },
        [WEB_PARAMETER_AT] = { .is_time = true },
};

struct words {
        char **argv;
        int n;
        bool failed;
};

static __attribute__((format(printf, 2, 3))) void add(struct words *w, const char *format, ...)
{
        va_list args;
        char *word = NULL;

        va_start(args, format);
        if (vasprintf(&word, format, args) < 0)
                word = NULL;
        va_end(args);
        if (!word || w->n + 1 >= VIEW_ANSWERS_WORDS_MAX) {
                free(word);
                w->failed = true;
                return;
        }
        w->argv[w->n++] = word;
        w->argv[w->n] = NULL;
}

/* The viewer asks by handle; a handle is never mistaken for the name of something else. */
static const char *prefix_of(enum web_parameter parameter, const char *value)
{
        static const char letters[WEB_PARAMETER_COUNT] = {
                [WEB_PARAMETER_ZONE] = 'z', [WEB_PARAMETER_THREAD] = 't', [WEB_PARAMETER_FUNCTION] = 'f'
        };
        char letter = letters[parameter];
        struct handle_word word;

        if (letter == '\0')
                return "";
        word = handle_word_parse(value, letter);
        return word.id != 0 && !word.is_certain ? HANDLE_PREFIX : "";
}

/* Values come after '=' or after "--": none of them is read as an option. */
static void add_parameter(struct words *w, enum web_parameter parameter, const char *value)
{
        const struct parameter_option *option = &options[parameter];
        const char *name = option->option ? option->option : web_parameter_text(parameter);

        if (option->is_apart)
                return;
        if (option->is_flag)
                add(w, "--%s", name);
        else
                add(w, "--%s=%s%s%s", name, prefix_of(parameter, value), value, option->is_time ? "ns" : "");
}

static void add_source_folders(struct words *w, const struct source_folders *folders)
{
        if (!folders->has_current)
                add(w, "--source-dir=");
        for (unsigned i = 0; i < folders->n_paths; i++)
                add(w, "--source-dir=%s", folders->paths[i]);
}

/* All are views of the same command, which the first question is about. */
static void add_also(struct words *w, const struct web_question *also)
{
        for (; also; also = also->also) {
                bool is_zones = also->values[WEB_PARAMETER_ZONES_AS_FRAMES] != NULL;

                add(w, "--also=%s", (is_zones ? "--zones-as-frames" : rows[also->name].options[0]) + 2);
        }
}

static const char *trace_of_question(const struct view_traces *traces, const struct web_question *q)
{
        const char *side = q->values[WEB_PARAMETER_SIDE];

        return side && strcmp(side, "before") == 0 && traces->before ? traces->before : traces->trace;
}

int view_answers_command(const struct view_traces *traces, const struct web_question *question, int names_fd,
                         char *argv[VIEW_ANSWERS_WORDS_MAX])
{
        const struct answer_row *row = &rows[question->name];
        const char *function = question->values[WEB_PARAMETER_FUNCTION];
        struct words w = { .argv = argv };

        argv[0] = NULL;
        add(&w, "%s", row->command);
        for (size_t i = 0; i < sizeof(row->options) / sizeof(row->options[0]) && row->options[i]; i++)
                add(&w, "%s", row->options[i]);
        for (unsigned i = 0; i < WEB_PARAMETER_COUNT; i++)
                if (question->values[i] &&
                    (i != WEB_PARAMETER_FUNCTION || question->name != WEB_QUESTION_ANNOTATE))
                        add_parameter(&w, (enum web_parameter)i, question->values[i]);
        if (question->name == WEB_QUESTION_ANNOTATE || question->name == WEB_QUESTION_PAGE)
                add_source_folders(&w, &traces->source_folders);
        if (question->name == WEB_QUESTION_PAGE) {
                add(&w, "--output=-");
        } else {
                add(&w, "--json");
                add(&w, "--whole");
        }
        add_also(&w, question->also);
        if (names_fd >= 0)
                add(&w, "--names-fd=%d", names_fd);
        if (question->name == WEB_QUESTION_DIFF) {
                add(&w, "--anyway");
                add(&w, "--before=%s", traces->before ? traces->before : "");
                add(&w, "--after=%s", traces->trace);
        } else {
                add(&w, "--input=%s", trace_of_question(traces, question));
        }
        if (question->name == WEB_QUESTION_ANNOTATE && function) {
                add(&w, "--");
                add(&w, "%s%s", prefix_of(WEB_PARAMETER_FUNCTION, function), function);
        }
        if (!w.failed)
                return w.n;
        view_answers_free(argv);
        return -ENOMEM;
}

void view_answers_free(char *argv[VIEW_ANSWERS_WORDS_MAX])
{
        for (int i = 0; argv[i]; i++)
                free(argv[i]);
        argv[0] = NULL;
}

/* In the child; see web_answers. */
static int run(void *context, const struct web_question *question, const char *before, int names_fd)
{
        struct view_traces traces = *(const struct view_traces *)context;
        char *argv[VIEW_ANSWERS_WORDS_MAX];
        int argc, status;

        traces.before = before;
        argc = view_answers_command(&traces, question, names_fd, argv);
        if (argc < 0) {
                complain("error: no memory for an answer");
                return EXIT_STATUS_FAILED;
        }
        (void)signal(SIGPIPE, SIG_IGN);
        status = command_table_find(argv[0])->run(argc, argv);
        view_answers_free(argv);
        return status;
}

struct web_answers view_answers_of(struct view_traces *traces)
{
        return (struct web_answers){ .run = run, .context = traces, .before = traces->before };
}
