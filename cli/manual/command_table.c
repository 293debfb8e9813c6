/* SPDX-License-Identifier: MIT */
#include "cli/manual/command_table.h"

#include "base/name_guess.h"
#include "cli/exit_status.h"
#include "cli/files/drop_rights.h"
#include "cli/manual/commands.h"
#include "cli/terminal/complaint.h"
#include "view/text/shell_word.h"
#include "view/text/text_table.h"
#include "view/text/text_width.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_COLUMNS_MAX 100 /* wider lines are hard to read */

/* The functions of a command are called after it. */
#define COMMAND(name) #name, cmd_##name, cmd_##name##_options

static const struct command_row rows[] = {
        { COMMAND(record), true, false, "run a program and record its call stacks and zones" },
        { COMMAND(capture), false, false,
          "take the trace of a recorder that listens: hyprof record --listen" },
        { COMMAND(ctl), false, false, "control a recording that is running: pause, mark, dump, stop" },
        { COMMAND(report), false, true,
          "show where the time went: functions, zones, functions inside zones" },
        { COMMAND(path), false, true,
          "show who delayed the instances of a zone: threads, locks, devices, the machine" },
        { COMMAND(why), false, true, "show what the slow instances of a zone do that the others do not" },
        { COMMAND(view), false, false,
          "show a trace in the browser: timeline, tables, flame graphs, source" },
        { COMMAND(top), false, false, "show a program while it runs: functions, zones, threads, waits" },
        { COMMAND(diff), false, true, "say what changed between two traces, or two sets of them" },
        { COMMAND(annotate), false, true, "show the instructions and lines of a function, with its samples" },
        { COMMAND(symbolize), false, true, "find names for the addresses of a trace, on any machine" },
        { COMMAND(modules), false, true, "show the code of a trace: kept, found or missing" },
        { COMMAND(export), false, true,
          "write a trace as another file: Firefox Profiler, Perfetto, pprof, SQLite, HTML ..." },
        { COMMAND(dump), false, true, "print a trace as text, one line per record" },
        { COMMAND(import), false, true,
          "read what devices and other tools recorded: trace-event JSON, CSV ..." },
        { COMMAND(merge), false, true, "put several traces onto one timeline: ranks, recorders, hosts" },
        { COMMAND(check), false, true, "check whether a trace is intact; repair one that is cut off" },
        { COMMAND(list), false, false, "show the events that can be recorded" },
        { COMMAND(doctor), false, false,
          "show what this machine and user can record, and what would allow the rest" },
        { COMMAND(help), false, false,
          "show the manual of a command, or how to find out where time goes: help guide" },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Under both names the same functions run, except where the options of both differ. */
#define ALIAS(name, words, form, help)                                             \
        {                                                                          \
                { COMMAND(name), false, true, help },                              \
                {                                                                  \
                        words, cmd_##form, cmd_##form##_options, false, true, help \
                }                                                                  \
        }

static const struct command_alias aliases[] = {
        ALIAS(csv, "export csv", export_csv, "print zones, messages and plots as tracy-csvexport does"),
        ALIAS(extract, "modules --extract", extract, "write code that a trace keeps into a file"),
        ALIAS(guide, "help guide", guide, "show on one page how to find out where time goes"),
        ALIAS(html, "export html", html, "write the viewer and a trace as one HTML file, for a bug report"),
        ALIAS(query, "export sqlite", export_sqlite, "write a trace as an SQLite database"),
};

#define N_ALIASES (sizeof(aliases) / sizeof(aliases[0]))

const struct command_row *command_table_rows(size_t *ret_n_rows)
{
        *ret_n_rows = N_ROWS;
        return rows;
}

const struct command_alias *command_table_aliases(size_t *ret_n_aliases)
{
        *ret_n_aliases = N_ALIASES;
        return aliases;
}

const struct command_row *command_table_find(const char *name)
{
        for (size_t i = 0; i < N_ROWS; i++)
                if (strcmp(name, rows[i].name) == 0)
                        return &rows[i];
        for (size_t i = 0; i < N_ALIASES; i++)
                if (strcmp(name, aliases[i].row.name) == 0)
                        return &aliases[i].row;
        return NULL;
}

bool command_alias_is_of(const struct command_alias *a, const char *name)
{
        size_t n = strlen(name);

        return strncmp(a->form.name, name, n) == 0 && a->form.name[n] == ' ';
}

/* The place of the first operand, or of the option @name where that is not NULL; 0 = there is none. */
static int find_form_word(const struct option_table *table, int n_words, char **words, const char *name)
{
        for (int i = 1; i < n_words; i++) {
                const char *word = words[i];
                const struct option_row *row;

                if (word[0] != '-' || word[1] == '\0') {
                        if (!name)
                                return i;
                } else if (strcmp(word, "--") == 0) {
                        return !name && i + 1 < n_words ? i + 1 : 0;
                } else if (option_table_find_waiting(table, word)) {
                        i++;
                } else if (name && strncmp(word, "--", 2) == 0) {
                        row = option_table_find_long(table, word);
                        if (row && strcmp(row->name, name) == 0)
                                return i;
                }
        }
        return 0;
}

const struct command_row *command_table_find_form(const struct command_row *row, int n_words, char **words,
                                                  int *ret_place)
{
        for (size_t i = 0; i < N_ALIASES; i++) {
                const char *word = strchr(aliases[i].form.name, ' ') + 1;
                bool is_option = strncmp(word, "--", 2) == 0;
                int place;

                if (!command_alias_is_of(&aliases[i], row->name))
                        continue;
                place = find_form_word(row->options(), n_words, words, is_option ? word + 2 : NULL);
                if (place == 0 || (!is_option && strcmp(words[place], word) != 0))
                        continue;
                *ret_place = place;
                return &aliases[i].form;
        }
        return NULL;
}

int command_table_run(const struct command_row *row, int argc, char **argv)
{
        int place = 0, status;
        const struct command_row *form = command_table_find_form(row, argc, argv, &place);
        char *name;

        if (row->becomes_user && drop_rights_to_read() < 0)
                return EXIT_STATUS_FAILED;
        if (!form)
                return row->run(argc, argv);
        name = strdup(form->name);
        if (!name) {
                complain("error: no memory for the name of a command");
                return EXIT_STATUS_FAILED;
        }
        memmove(argv + 2, argv + 1, (size_t)(place - 1) * sizeof(*argv));
        argv[1] = name;
        status = form->run(argc - 1, argv + 1);
        free(name);
        return status;
}

void command_table_list_aliases(char words[COMMAND_ALIASES_BYTES])
{
        int used = 0;

        for (size_t i = 0; i < N_ALIASES && used < COMMAND_ALIASES_BYTES; i++)
                used += snprintf(words + used, COMMAND_ALIASES_BYTES - (size_t)used, "%s%s = %s",
                                 i > 0 ? ", " : "", aliases[i].row.name, aliases[i].form.name);
}

/* Its names in other profilers. */
static const char *find_equivalent(const char *name)
{
        static const struct {
                const char *name, *command;
        } others[] = {
                { "control", "hyprof ctl status" },
                { "stat", "hyprof record --stat -- COMMAND" },
                { "run", "hyprof record -- COMMAND" },
                { "start", "hyprof record -- COMMAND" },
                { "trace", "hyprof record --off-cpu -- COMMAND" },
                { "sched", "hyprof record --off-cpu -- COMMAND" },
                { "show", "hyprof report" },
                { "gui", "hyprof view" },
                { "ui", "hyprof view" },
                { "serve", "hyprof view" },
                { "info", "hyprof report" },
                { "script", "hyprof dump" },
                { "compare", "hyprof diff BEFORE AFTER" },
                { "convert", "hyprof export FORMAT TRACE" },
                { "flamegraph", "hyprof export flamegraph" },
                { "buildid-list", "hyprof modules" },
                { "archive", "hyprof record --embed=all -- COMMAND" },
                { "version", "hyprof --version" },
        };

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                if (strcmp(others[i].name, name) == 0)
                        return others[i].command;
        return NULL;
}

/* The command that may be meant: an executable is recorded, any other file may be a trace. */
static const char *advise_on_file(const char *name)
{
        return access(name, X_OK) == 0 ? "hyprof record -- " : "hyprof report ";
}

void command_table_complain(const char *name)
{
        struct name_guess guess;
        const char *ours = find_equivalent(name);

        if (name[0] == '-') {
                complain("error: unknown option %s; options follow a command", name);
                complain_try("hyprof --version, or hyprof --help");
                return;
        }
        if (ours || access(name, F_OK) == 0) {
                complain("error: unknown command '%s'", name);
                complain_try("%s%s", ours ? ours : advise_on_file(name),
                             ours ? "" : shell_word_of(name).text);
                return;
        }
        name_guess_init(&guess, name, strlen(name));
        for (size_t i = 0; i < N_ROWS; i++)
                name_guess_offer(&guess, rows[i].name);
        for (size_t i = 0; i < N_ALIASES; i++)
                name_guess_offer(&guess, aliases[i].row.name);
        if (guess.best[0] != '\0')
                complain("error: unknown command '%s'; did you mean '%s'?", name, guess.best);
        else
                complain("error: unknown command '%s'", name);
        complain_try("hyprof --help");
}

/* In bytes: the names are a column. */
static size_t longest_name(void)
{
        size_t longest = 0;

        for (size_t i = 0; i < N_ROWS; i++)
                if (strlen(rows[i].name) > longest)
                        longest = strlen(rows[i].name);
        return longest;
}

void command_table_print(FILE *out)
{
        uint32_t n_columns = text_width_of(out);
        char list[COMMAND_ALIASES_BYTES];

        if (n_columns > HELP_COLUMNS_MAX)
                n_columns = HELP_COLUMNS_MAX;
        command_table_list_aliases(list);
        (void)fputs(
                "usage: hyprof COMMAND [OPTIONS]\n"
                "\n"
                "A hybrid profiler: samples call stacks, collects the zones that a program emits, and shows\n"
                "what the program did inside the piece of work that you care about.\n"
                "\n"
                "  hyprof record ./program          run a program and record it, into hyprof.hyp\n"
                "  hyprof report                    where its time went\n"
                "  hyprof why --zone NAME           why some instances of a zone are slow\n"
                "\n",
                out);
        for (size_t i = 0; i < N_ROWS; i++)
                (void)fprintf(out, "  %-*s  %s\n", (int)longest_name(), rows[i].name, rows[i].help);
        (void)fputs("\naliases: ", out);
        text_wrap_within(list, strlen(list), (uint32_t)strlen("aliases: "), n_columns, out);
        (void)fputs("\n"
                    "hyprof COMMAND --help explains a command briefly, hyprof help COMMAND in full;\n"
                    "hyprof --version [--json] prints the version and the compiled-in features.\n",
                    out);
}
