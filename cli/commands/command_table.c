/* SPDX-License-Identifier: MIT */
#include "cli/commands/command_table.h"

#include "base/name_guess.h"
#include "cli/commands/commands.h"
#include "cli/terminal/complaint.h"
#include "view/text/shell_word.h"

#include <string.h>
#include <unistd.h>

/* The functions of a command are called after it. */
#define COMMAND(name) #name, cmd_##name, cmd_##name##_options

static const struct command_row rows[] = {
        { COMMAND(record), true, "run a program and record its call stacks and zones" },
        { COMMAND(capture), false, "take the trace of a recorder that listens: hyprof record --listen" },
        { COMMAND(ctl), false, "control a recording that is running: pause, mark, dump, stop" },
        { COMMAND(report), false, "show where the time went: functions, zones, functions inside zones" },
        { COMMAND(why), false, "show what the slow instances of a zone do that the others do not" },
        { COMMAND(view), false, "show a trace in the browser: timeline, tables, flame graphs, source" },
        { COMMAND(top), false, "show a program while it runs: functions, zones, threads, waits" },
        { COMMAND(html), false, "write the viewer and a trace as one HTML file, for a bug report" },
        { COMMAND(diff), false, "say what changed between two traces, or two sets of them" },
        { COMMAND(annotate), false, "show the instructions and lines of a function, with its samples" },
        { COMMAND(symbolize), false, "find names for the addresses of a trace, on any machine" },
        { COMMAND(modules), false, "show the code of a trace: kept, found or missing" },
        { COMMAND(extract), false, "write code that a trace keeps into a file" },
        { COMMAND(export), false,
          "write a trace as a file of another tool: Firefox Profiler, Perfetto, pprof ..." },
        { COMMAND(csv), false, "print zones, messages and plots as tracy-csvexport does" },
        { COMMAND(query), false, "write a trace as an SQLite database" },
        { COMMAND(dump), false, "print a trace as text, one line per record" },
        { COMMAND(merge), false, "put several traces onto one timeline: ranks, recorders, hosts" },
        { COMMAND(check), false, "check whether a trace is intact; repair one that is cut off" },
        { COMMAND(list), false, "show the events that can be recorded" },
        { COMMAND(doctor), false,
          "show what this machine and user can record, and what would allow the rest" },
        { COMMAND(guide), false, "show on one page how to find out where time goes" },
        { COMMAND(help), false, "show the manual of a command" },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

const struct command_row *command_table_rows(size_t *ret_n_rows)
{
        *ret_n_rows = N_ROWS;
        return rows;
}

const struct command_row *command_table_find(const char *name)
{
        for (size_t i = 0; i < N_ROWS; i++)
                if (strcmp(name, rows[i].name) == 0)
                        return &rows[i];
        return NULL;
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

/* A program, or what may be a trace. */
static const char *command_table_advise_on_file(const char *name)
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
                complain_try("%s%s", ours ? ours : command_table_advise_on_file(name),
                             ours ? "" : shell_word_of(name).text);
                return;
        }
        name_guess_init(&guess, name, strlen(name));
        for (size_t i = 0; i < N_ROWS; i++)
                name_guess_offer(&guess, rows[i].name);
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
        (void)fputs(
                "usage: hyprof COMMAND [OPTIONS]\n"
                "\n"
                "A hybrid profiler: samples call stacks, collects the zones that a program emits, and shows\n"
                "what the program did inside the piece of work that you care about.\n"
                "\n",
                out);
        for (size_t i = 0; i < N_ROWS; i++)
                (void)fprintf(out, "  %-*s  %s\n", (int)longest_name(), rows[i].name, rows[i].help);
        (void)fputs("\n"
                    "hyprof COMMAND --help explains a command briefly, hyprof help COMMAND in full;\n"
                    "hyprof --version [--json] prints the version and the compiled-in features.\n"
                    "First steps:  hyprof record ./program    then    hyprof report\n",
                    out);
}
