/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/commands/doctor_findings.h"
#include "cli/exit_status.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "sampler/kernel/perf_access.h"
#include "view/document/view_document.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define SCHEMA "hyprof.doctor/1"

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS_OF_FORMAT,
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

static int take_option(void *context, int letter, const char *value)
{
        int r = output_options_take(context, letter, value);

        return r < 0 ? r : 0;
}

/* The verdict. */
static const char *answer(const struct perf_access *a)
{
        return a->user_error == 0 ? "hyprof record COMMAND works here."
                                  : "hyprof record cannot work here until that is allowed.";
}

static void print_text(const struct doctor_findings *findings, const struct perf_access *access,
                       const struct utsname *system)
{
        if (system->release[0] != '\0')
                (void)printf("hyprof %s on Linux %s %s, as %s\n\n", HYPROF_VERSION, system->release,
                             system->machine, access->is_root ? "root" : "an ordinary user");
        for (size_t i = 0; i < findings->n_items; i++) {
                const struct doctor_finding *item = &findings->items[i];

                (void)printf("%-4s %-22s %s\n", item->good ? "yes" : "no", item->what, item->words);
                if (item->remedy[0] != '\0')
                        (void)printf("     %-22s try: %s\n", "", item->remedy);
        }
        (void)printf("\n%s\n", answer(access));
}

/* ------------------------------------------------------------------ as a document */

static const struct view_column columns[] = {
        { .key = "good", .title = "", .type = VIEW_STRING, .n_columns_max = 4 },
        { .key = "what", .title = "what", .type = VIEW_STRING, .n_columns_max = 22 },
        { .key = "words", .title = "found", .type = VIEW_STRING },
        { .key = "remedy", .title = "try", .type = VIEW_STRING },
};

static void add_words(struct view_document *d, const char *key, const char *title, const char *words)
{
        view_document_add_string(d, key, title,
                                 (struct report_string){ .bytes = words, .n_bytes = strlen(words) });
}

/* A setting of the kernel; null if it cannot be read. */
static void add_setting(struct view_document *d, const char *key, long value)
{
        if (value == LONG_MIN || value < 0)
                view_document_add_unknown(d, key, key, VIEW_ID);
        else
                view_document_add_number(d, key, key, VIEW_ID, (uint64_t)value);
}

static void fill(struct view_document *d, const struct doctor_findings *findings,
                 const struct perf_access *access, const struct utsname *system)
{
        struct view_table *t;

        view_document_set_title(d, "What can be recorded");
        add_words(d, "answer", "answer", answer(access));
        add_words(d, "can_record", "can record", access->user_error == 0 ? "yes" : "no");
        add_words(d, "version", "hyprof", HYPROF_VERSION);
        add_words(d, "kernel", "Linux", system->release);
        add_words(d, "machine", "machine", system->machine);
        add_words(d, "user", "user", access->is_root ? "root" : "ordinary");
        add_setting(d, "perf_event_max_sample_rate", access->max_sample_hz);
        add_setting(d, "perf_event_mlock_kb", access->mlock_kib);
        t = view_document_add_table(d, "findings", "Findings", columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; i < findings->n_items; i++) {
                const struct doctor_finding *item = &findings->items[i];

                view_table_put_words(d, t, item->good ? "yes" : "no");
                view_table_put_words(d, t, item->what);
                view_table_put_words(d, t, item->words);
                if (item->remedy[0] != '\0')
                        view_table_put_words(d, t, item->remedy);
                else
                        view_table_put_unknown(d, t);
        }
}

static int run(void *context, struct common_options *common)
{
        struct output_options *output = context;
        struct doctor_findings findings = { .n_items = 0 };
        struct perf_access access;
        struct utsname system = { .release = "" };
        struct view_document document;
        int status;

        (void)common;
        perf_access_read(&access);
        (void)uname(&system);
        doctor_findings_add(&findings, &access);
        if (output->document.format == DOCUMENT_TEXT) {
                print_text(&findings, &access, &system);
                status = standard_output_finish(EXIT_STATUS_OK, "the findings");
        } else {
                view_document_init(&document, SCHEMA);
                fill(&document, &findings, &access, &system);
                status = output_options_print(output, &document);
                view_document_deinit(&document);
        }
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
                .table = &table, .take = take_option, .context = &output, .run = run
        };

        output_options_init(&output);
        return command_frame_run(&frame, argc, argv);
}
