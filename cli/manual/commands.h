/* SPDX-License-Identifier: MIT */
/*
 * cli/manual/commands.h - the commands: two functions each, both in cmd_NAME.c (export_csv in cmd_csv.c,
 * export_sqlite in cmd_query.c); and what main() runs besides: completion_run(), version_run()
 *
 * Way of the data:  main -> command_table -> [commands]; from there on as stated below
 *
 * cmd_NAME(): @argv from the command's name on; returns the exit status, an enum exit_status, which its
 * --help lists.  cmd_NAME_options(): for the command_table, manual pages and completions.
 */
#ifndef CLI_MANUAL_COMMANDS_H
#define CLI_MANUAL_COMMANDS_H

struct answer_schema;
struct option_table;

/* The parts of the documents of check, ctl, doctor, list, modules and --version. */
extern const struct answer_schema check_schema, ctl_schema, doctor_schema, events_schema, module_list_schema,
        probes_schema, version_schema;

/* [annotate] -> sampled_trace, function_choice, annotation -> annotation_view */
int cmd_annotate(int argc, char **argv);
const struct option_table *cmd_annotate_options(void);

/* relay_server -> [capture] (relay_intake, confined) -> trace -> symbolize */
int cmd_capture(int argc, char **argv);
const struct option_table *cmd_capture_options(void);

/* trace -> trace_reader -> [check] -> standard output, mended trace */
int cmd_check(int argc, char **argv);
const struct option_table *cmd_check_options(void);

/* [csv] -> tracy_csv */
int cmd_csv(int argc, char **argv);
const struct option_table *cmd_csv_options(void);

/* [ctl] -> control_socket -> recorder_control */
int cmd_ctl(int argc, char **argv);
const struct option_table *cmd_ctl_options(void);
int cmd_merge(int argc, char **argv);
const struct option_table *cmd_merge_options(void);

/*
 * command line, diff_comparison, diff_view -> [diff] -> standard output
 * Its exit status is as of diff(1): 0; 1 if --fail-above holds; 2 = usage, or a
 * recording that cannot be read.
 */
int cmd_diff(int argc, char **argv);
const struct option_table *cmd_diff_options(void);

/* perf_access -> [doctor] -> standard output */
int cmd_doctor(int argc, char **argv);
const struct option_table *cmd_doctor_options(void);

/* trace -> trace_dump -> [dump] -> standard output */
int cmd_dump(int argc, char **argv);
const struct option_table *cmd_dump_options(void);

/* [export] -> export_format -> file, standard output */
int cmd_export(int argc, char **argv);
const struct option_table *cmd_export_options(void);

/* `hyprof export csv`: [csv] -> tracy_csv */
int cmd_export_csv(int argc, char **argv);
const struct option_table *cmd_export_csv_options(void);

/* `hyprof export sqlite`: [query] -> sqlite_database */
int cmd_export_sqlite(int argc, char **argv);
const struct option_table *cmd_export_sqlite_options(void);

/* trace -> trace_code -> [extract] -> file */
int cmd_extract(int argc, char **argv);
const struct option_table *cmd_extract_options(void);

/* manual_prose -> man_page -> [guide] -> standard output */
int cmd_guide(int argc, char **argv);
const struct option_table *cmd_guide_options(void);

/* manual_prose -> man_page -> [help] -> standard output */
int cmd_help(int argc, char **argv);
const struct option_table *cmd_help_options(void);

/* [html] -> html_file -> file */
int cmd_html(int argc, char **argv);
const struct option_table *cmd_html_options(void);

/* files of other tools -> [import] (import_formats, import_trace) -> trace_writer -> trace */
int cmd_import(int argc, char **argv);
const struct option_table *cmd_import_options(void);

/* event_catalog -> [list] -> standard output */
int cmd_list(int argc, char **argv);
const struct option_table *cmd_list_options(void);

/* trace -> trace_code -> symbol_process (looks only) -> [modules] -> terminal, JSON */
int cmd_modules(int argc, char **argv);
const struct option_table *cmd_modules_options(void);

/* [query] -> sqlite_database */
int cmd_query(int argc, char **argv);
const struct option_table *cmd_query_options(void);

/*
 * [record] -> recorder, symbol_process -> trace
 * Does not return if a signal ended the recorded command: the same signal ends hyprof then.
 */
int cmd_record(int argc, char **argv);
const struct option_table *cmd_record_options(void);

/* [path] -> path -> path_view -> standard output */
int cmd_path(int argc, char **argv);
const struct option_table *cmd_path_options(void);

/* report -> report_text, report_json -> [report] -> standard output */
int cmd_report(int argc, char **argv);
const struct option_table *cmd_report_options(void);

/* trace -> trace_code -> symbol_process -> [symbolize] -> trace */
int cmd_symbolize(int argc, char **argv);
const struct option_table *cmd_symbolize_options(void);

/* [top] -> top_input -> top_screen, standard output */
int cmd_top(int argc, char **argv);
const struct option_table *cmd_top_options(void);

/* [view] -> viewer_start -> view_front */
int cmd_view(int argc, char **argv);
const struct option_table *cmd_view_options(void);

/* [why] -> why -> why_view -> standard output */
int cmd_why(int argc, char **argv);
const struct option_table *cmd_why_options(void);

/*
 * completion.c - possible ends of a command line: for shells, from the tables of options
 *
 * Way of the data:  shell -> [completion] (command_table, option_table, event_catalog) -> shell
 *
 * `hyprof __complete WORD...` gets the words after "hyprof", the last of which is being typed,
 * and prints lines:
 *
 *      WORD<TAB>HELP   the whole word, as it can become
 *      :file           the shell is to offer files; :folder, :trace and :program are the same for those
 *      :rest N         another program's command line begins at the Nth word, from 1
 *
 * It prints nothing else, and its exit status is always 0.
 */

#define COMPLETION_COMMAND "__complete"

/* @words: those after COMPLETION_COMMAND.  Returns an exit status. */
int completion_run(int n_words, char **words);

/*
 * version.c - which hyprof this is, and its compiled-in features: for reports of faults
 *
 * Way of the data:  Makefile -> [version] -> view_document -> standard output
 */

/*
 * @argv: from "--version" on, then how the answer is printed: --json and its like.  Returns an exit status.
 */
int version_run(int argc, char **argv);

#endif /* CLI_MANUAL_COMMANDS_H */
