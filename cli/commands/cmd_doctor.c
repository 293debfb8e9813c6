/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/commands/doctor_findings.h"
#include "cli/exit_status.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/kernel/perf_access.h"
#include "view/document/view_document.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define SCHEMA "hyprof.doctor/2"

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof doctor",
        .operands = "",
        .about =
                "Shows what this machine and this user can record, and the command that would allow the rest.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = programs can be recorded; 1 = they cannot; 2 = usage\n",
};

static int cmd_doctor_take_option(void *context, int letter, const char *value)
{
        int r = output_options_take(context, letter, value);

        return r < 0 ? r : 0;
}

/* The verdict. */
static const char *cmd_doctor_answer(const struct perf_access *a)
{
        return a->user_error == 0 ? "hyprof record COMMAND works here."
                                  : "hyprof record cannot work here until that is allowed.";
}

static const struct view_column columns[] = {
        { .key = "is_good", .title = "", .type = VIEW_BOOL },
        { .key = "what", .title = "what", .type = VIEW_STRING, .n_columns_max = 22 },
        { .key = "words", .title = "found", .type = VIEW_STRING },
        { .key = "remedy", .title = "try", .type = VIEW_STRING, .is_below = true },
};

static void cmd_doctor_add_words(struct view_document *d, const char *key, const char *title,
                                 const char *words)
{
        view_document_add_string(d, key, title,
                                 (struct text_view){ .bytes = words, .n_bytes = strlen(words) });
}

/* A setting of the kernel, for programs: people have it among the findings.  Null if it cannot be read. */
static void add_setting(struct view_document *d, const char *key, long value)
{
        if (value == LONG_MIN || value < 0)
                view_document_add_unknown(d, key, NULL, VIEW_ID);
        else
                view_document_add_number(d, key, NULL, VIEW_ID, (uint64_t)value);
}

static void cmd_doctor_fill(struct view_document *d, const struct doctor_findings *findings,
                            const struct perf_access *access, const struct utsname *system)
{
        const char *sentence = cmd_doctor_answer(access);
        struct view_table *t;

        view_document_set_answer(d, (struct text_view){ sentence, strlen(sentence) });
        view_document_add_bool(d, "can_record", NULL, access->user_error == 0);
        cmd_doctor_add_words(d, "version", "hyprof", HYPROF_VERSION);
        cmd_doctor_add_words(d, "kernel", "Linux", system->release);
        cmd_doctor_add_words(d, "machine", "machine", system->machine);
        cmd_doctor_add_words(d, "user", "user", access->is_root ? "root" : "ordinary");
        add_setting(d, "perf_event_max_sample_rate", access->max_sample_hz);
        add_setting(d, "perf_event_mlock_kb", access->mlock_kib);
        t = view_document_add_table(d, "findings", "Findings", columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; i < findings->n_items; i++) {
                const struct doctor_finding *item = &findings->items[i];

                view_table_put_bool(d, t, item->good);
                view_table_put_words(d, t, item->what);
                view_table_put_words(d, t, item->words);
                if (item->remedy[0] != '\0')
                        view_table_put_words(d, t, item->remedy);
                else
                        view_table_put_unknown(d, t);
        }
}

static int cmd_doctor_run(void *context, struct common_options *common)
{
        struct output_options *output = context;
        struct doctor_findings findings = { .n_items = 0 };
        struct perf_access access;
        struct utsname system = { .release = "" };
        struct view_document document;
        int status;

        if (output_options_adopt(output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(output);
        perf_access_read(&access);
        (void)uname(&system);
        doctor_findings_add(&findings, &access);
        view_document_init(&document, SCHEMA);
        cmd_doctor_fill(&document, &findings, &access, &system);
        status = output_options_print(output, &document);
        view_document_deinit(&document);
        return status == EXIT_STATUS_OK && access.user_error != 0 ? EXIT_STATUS_FAILED : status;
}

const struct option_table *cmd_doctor_options(void)
{
        return &table;
}

int cmd_doctor(int argc, char **argv)
{
        struct output_options output;
        const struct command_frame frame = {
                .table = &table, .take = cmd_doctor_take_option, .context = &output, .run = cmd_doctor_run
        };

        output_options_init(&output);
        output.document.full_names = true; /* a finding that is cut helps little */
        return command_frame_run(&frame, argc, argv);
}
