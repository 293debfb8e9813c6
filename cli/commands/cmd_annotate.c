/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"
#include "format/trace_dictionary.h"

#include "analyze/annotate/annotation.h"
#include "analyze/report/report.h"
#include "analyze/samples/function_table.h"
#include "analyze/samples/sampled_trace.h"
#include "analyze/trace/handle_word.h"
#include "analyze/trace/meta_value.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/filter_options.h"
#include "cli/options/output_options.h"
#include "cli/options/search_options.h"
#include "cli/options/source_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "symbolize/debug/symbol_search.h"
#include "view/annotate/annotation_view.h"
#include "view/document/answer_schema.h"
#include "view/text/shell_word.h"
#include "view/text/text_color.h"
#include "view/text/text_number.h"
#include "view/text/text_width.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX          300 /* of a function with more instructions, only the hot parts are shown */
#define CONTEXT_DEFAULT   8
#define CONTEXT_UNSET     UINT32_MAX
#define SHARE_HOT_DEFAULT 0.005
#define LIMIT_DEFAULT     1000 /* rows of a table */
#define LIMIT_JSON        32   /* which fit into OUTPUT_JSON_BYTES_MAX, as a rule */
#define CANDIDATES_MAX    10
#define TRACE_ENDING_WORD ".hyp"

enum {
        LETTER_MODULE = OPTION_LONG_ONLY,
        LETTER_SOURCE,
        LETTER_WHOLE_FILES,
        LETTER_ASM,
        LETTER_CONTEXT,
        LETTER_PERCENT_LIMIT,
        LETTER_INLINED,
};

struct arguments {
        const char *path;
        const char *function;               /* NULL = the hottest */
        const char *module;                 /* NULL = any */
        const char *event;                  /* NULL = the one with the most samples */
        struct trace_filter_request filter; /* whose samples count */
        struct symbol_search search;
        struct source_folders source_folders;
        uint32_t context; /* CONTEXT_UNSET, CONTEXT_ALL */
        double share_hot;
        struct output_options output;
        bool source, assembly, intel, inlined, whole_files;
};

#define CONTEXT_ALL (UINT32_MAX - 1)

static const struct option_row option_rows[] = {
        COMMON_ROW_INPUT,
        { LETTER_MODULE, "module", "MODULE", "the function in this module: its path, or a part of it" },
        { 'e', "event", "EVENT", "show the samples of this event; default: the one with the most" },
        { LETTER_INLINED, "inlined", NULL,
          "show the places where FUNCTION was inlined into others, even if it has code of its own" },
        { LETTER_SOURCE, "source", NULL, "only source lines; with --asm: both" },
        { LETTER_WHOLE_FILES, "whole-files", NULL,
          "all lines of the source files, also those without code of the function" },
        { LETTER_ASM, "asm", NULL, "only instructions; default: both" },
        { 'M', "disassembler-style", "att|intel", "syntax of x86 instructions; default: att" },
        { LETTER_CONTEXT, "context", "N|all",
          "in a function of more than 300 instructions, show N around each hot one; all = the whole function; default: 8" },
        { LETTER_PERCENT_LIMIT, "percent-limit", "P",
          "instructions with P percent of the samples or more are hot; default: 0.5" },
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_PAGER,
        FILTER_OPTION_ROWS_OF_PLACE,
        FILTER_OPTION_ROW_ZONE,
        SEARCH_OPTION_ROWS,
        SOURCE_OPTION_ROW,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof annotate",
        .operands = "[TRACE] [FUNCTION]",
        .n_operands_max = 2,
        .about =
                "Shows the instructions of a function with the samples at each, its jumps, and the lines of its\n"
                "source.  FUNCTION is its name, a part of it, or its handle f12 of a report; default: the hottest.\n"
                "TRACE is a trace, \"-\" standard input; default: " OPTION_DEFAULT_TRACE
                ".  They may be given in any order.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = FILTER_OPTION_WORDS
        "exit status: 0 = shown, even without code, or as far as a damaged trace can be read;\n"
        "1 = TRACE cannot be read, no function or several have that name, or the result cannot be\n"
        "written; 2 = usage\n",
};

/* ---- the command line ---------------------------------------------------------------------------------- */

static int take_context(struct arguments *args, const char *value)
{
        uint64_t n;

        if (strcmp(value, "all") == 0) {
                args->context = CONTEXT_ALL;
                return 0;
        }
        if (option_parse_number(value, 0, CONTEXT_ALL - 1, &n) < 0) {
                complain("error: --context %s: neither a number of rows nor all", value);
                return -EINVAL;
        }
        args->context = (uint32_t)n;
        return 0;
}

static int take_limit(struct arguments *args, const char *value)
{
        char *end;
        double percent = strtod(value, &end);

        if (end == value || *end != '\0' || !(percent >= 0 && percent <= 100)) {
                complain("error: --percent-limit %s: not a number from 0 to 100", value);
                return -EINVAL;
        }
        args->share_hot = percent / 100;
        return 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r;

        switch (letter) {
        case LETTER_MODULE:
                args->module = value;
                return 0;
        case 'e':
                args->event = value;
                return 0;
        case LETTER_INLINED:
                args->inlined = true;
                return 0;
        case LETTER_SOURCE:
                args->source = true;
                return 0;
        case LETTER_WHOLE_FILES:
                args->whole_files = true;
                return 0;
        case LETTER_ASM:
                args->assembly = true;
                return 0;
        case 'M':
                args->intel = strcmp(value, "intel") == 0;
                return 0;
        case LETTER_CONTEXT:
                return take_context(args, value);
        case SOURCE_OPTION_DIR:
                return source_options_take(&args->source_folders, value);
        case LETTER_PERCENT_LIMIT:
                return take_limit(args, value);
        default:
                r = filter_options_take(&args->filter, letter, value);
                if (r == 0)
                        r = output_options_take(&args->output, letter, value);
                if (r == 0)
                        r = search_options_take(&args->search, letter, value);
                return r < 0 ? r : 0;
        }
}

static bool is_name_of_trace(const char *word)
{
        size_t n = strlen(word), n_end = strlen(TRACE_ENDING_WORD);

        return strcmp(word, "-") == 0 || (n > n_end && strcmp(word + n - n_end, TRACE_ENDING_WORD) == 0);
}

static bool may_be_trace(const char *word)
{
        return is_name_of_trace(word) || access(word, F_OK) == 0;
}

/*
 * Two operands are TRACE and FUNCTION, or FUNCTION and TRACE if only the second one may be a trace.  A
 * single operand is FUNCTION, as for perf, unless it is named like a trace.
 */
static int take_operands(struct arguments *args, struct common_options *common)
{
        int n = common->n_operands;

        if (n == 2 && !common->trace && !may_be_trace(common->operands[0]) &&
            may_be_trace(common->operands[1])) {
                args->path = common->operands[1];
                args->function = common->operands[0];
                return 0;
        }
        if ((n == 2 || (n == 1 && !common->trace && is_name_of_trace(common->operands[0]))) &&
            common_options_take_trace(common) < 0)
                return -EINVAL;
        args->path = common->trace ? common->trace : OPTION_DEFAULT_TRACE;
        args->function = common->operands[0];
        return 0;
}

/* ---- the function -------------------------------------------------------------------------------------- */

static bool is_event(const struct sampled_trace *trace, uint32_t event, const char *name)
{
        const struct trace_sample_event *row = trace_dictionary_row(trace->dictionary,
                                                                    TRACE_TABLE_SAMPLE_EVENTS, event);

        return text_view_is(trace_dictionary_text(trace->dictionary, row->name), name);
}

/*
 * Whether @event stands for system calls chosen from the counted ones: the program's code takes no time in
 * them.
 */
static bool is_of_counted_calls(const struct sampled_trace *trace, uint32_t event)
{
        const struct trace_sample_event *row = trace_dictionary_row(trace->dictionary,
                                                                    TRACE_TABLE_SAMPLE_EVENTS, event);

        return row->mode == TRACE_SAMPLE_MODE_WITH_LEADER && row->leader == 0;
}

/* The event that was asked for, or the one with the most samples; 0 after a complaint. */
static uint32_t find_event(const struct sampled_trace *trace, const struct arguments *args)
{
        uint32_t found = 0;

        for (uint32_t event = 1; event <= trace->n_events; event++) {
                if (args->event ? !is_event(trace, event, args->event) : is_of_counted_calls(trace, event))
                        continue;
                if (found == 0 || trace->events[event - 1].n_samples > trace->events[found - 1].n_samples)
                        found = event;
        }
        if (found == 0 && args->event)
                complain("error: %s: no samples of an event %s", args->path, args->event);
        else if (found == 0 || trace->events[found - 1].n_samples == 0)
                complain("error: %s: the trace has no samples%s", args->path,
                         filter_options_is_empty(&args->filter) ? "" : " that pass the filters");
        else
                return found;
        return 0;
}

/* The line of a candidate in a complaint. */
static void list_candidate(const struct sampled_trace *trace, const struct chosen_function *row)
{
        const struct trace_dictionary *d = trace->dictionary;
        struct text_view name = annotation_function_name(d, row), path = { .bytes = "-", .n_bytes = 1 };
        const struct trace_module *module =
                row->module ? trace_dictionary_row(d, TRACE_TABLE_MODULES, row->module) : NULL;

        if (module && module->path != 0)
                path = trace_dictionary_text(d, module->path);
        complain("%9s samples  %.*s  in %.*s", text_number_count(row->sum.n_samples).text,
                 (int)(name.n_bytes < 2000 ? name.n_bytes : 2000), name.bytes,
                 (int)(path.n_bytes < 1000 ? path.n_bytes : 1000), path.bytes);
}

static void list_candidates(const struct sampled_trace *trace, const struct function_choice *choice)
{
        for (size_t i = 0; i < choice->n_rows && i < CANDIDATES_MAX; i++)
                list_candidate(trace, &choice->rows[i]);
        if (choice->n_rows > CANDIDATES_MAX)
                complain("... and %zu more", choice->n_rows - CANDIDATES_MAX);
}

/*
 * The trace was recorded with --no-symbolize and has not been symbolized since; the kernel's names may
 * still be in it.
 */
static bool is_without_names(const struct sampled_trace *trace)
{
        const struct trace_dictionary *d = trace->dictionary;

        if (trace->n_symbols == 0)
                return true;
        return sampled_trace_meta(trace, "symbolized_by").n_bytes == 0 &&
               trace_dictionary_has_notice(d, TRACE_NOTICE_NOT_SYMBOLIZED);
}

static void explain_caller(const struct sampled_trace *trace, const struct arguments *args, uint32_t name)
{
        struct text_view caller = trace_dictionary_text(trace->dictionary, name);

        complain("error: the function '%.*s' has no samples of its own: all are in functions that it called",
                 (int)(caller.n_bytes < 2000 ? caller.n_bytes : 2000), caller.bytes);
        complain_try("hyprof report --function %s %s, which shows them", shell_word_of_name(caller).text,
                     shell_word_of(args->path).text);
}

static void explain_no_function(const struct sampled_trace *trace, const struct arguments *args,
                                const struct function_choice *choice)
{
        if (is_without_names(trace)) {
                complain("error: %s: the trace has no names of functions yet", args->path);
                complain_try("hyprof symbolize %s", shell_word_of(args->path).text);
        } else if (choice->has_other_module) {
                complain("error: no sampled function '%s' in a module '%s', but in others",
                         args->function ? args->function : "", args->module);
                complain_try("hyprof annotate without --module");
        } else if (choice->caller != 0 && args->function) {
                explain_caller(trace, args, choice->caller);
        } else {
                complain("error: no function with samples has '%s' in its name%s%s%s",
                         args->function ? args->function : "",
                         choice->near.best[0] != '\0' ? "; did you mean '" : "", choice->near.best,
                         choice->near.best[0] != '\0' ? "'?" : "");
                complain_try("hyprof report %s, which lists them", shell_word_of(args->path).text);
        }
}

/* Choices that were made for the user. */
static void explain_choice(const struct sampled_trace *trace, const struct arguments *args,
                           const struct function_choice *choice)
{
        if (!args->function)
                complain("note: no function was given; this is the hottest");
        else if (choice->is_inlined && !args->inlined)
                complain(
                        "note: '%s' has no samples in code of its own: these are the places where it was inlined",
                        args->function);
        if (choice->n_names == 1 && choice->n_rows > 1) {
                complain(
                        "note: several modules have this function; this is the hottest, --module shows others:");
                list_candidates(trace, choice);
        }
}

/* As function_table_find_handle(), or -ENOMEM. */
static int find_handle(const struct sampled_trace *trace, const char *wanted, struct function *ret_function,
                       struct error *err)
{
        struct function_table functions;
        uint32_t label;
        int r;

        if (handle_word_parse(wanted, 'f').id == 0)
                return 0;
        r = function_table_init(&functions, trace->dictionary);
        if (r < 0)
                return r;
        r = function_table_find_handle(&functions, trace->dictionary, wanted, &label, err);
        if (r == 1)
                *ret_function = *function_table_get(&functions, label);
        function_table_deinit(&functions);
        return r;
}

/*
 * Returns 1, with the function as the first row of the choice, which is to be deinitialised; 0
 * after a complaint, -EINVAL, -ENOENT, -ENOMEM.
 */
static int choose_function(const struct sampled_trace *trace, const struct arguments *args, uint32_t event,
                           struct function_choice *ret_choice, struct error *err)
{
        struct function_request request = { .name = args->function
                                                            ? handle_word_parse(args->function, 'f').bare
                                                            : NULL,
                                            .module = args->module,
                                            .event = event,
                                            .only_inlined = args->inlined };
        struct function_choice choice;
        struct function exact;
        int r = args->function ? find_handle(trace, args->function, &exact, err) : 0;

        if (r == 1)
                request.exact = &exact;
        if (r >= 0)
                r = function_choice_init(&choice, trace, &request);
        if (r < 0)
                return r;
        if (choice.n_rows == 0) {
                explain_no_function(trace, args, &choice);
        } else if (args->function && choice.n_names > 1) {
                complain("error: several functions have '%s' in their names:", args->function);
                list_candidates(trace, &choice);
                complain_try(
                        "hyprof annotate %s %s, which is the first of them",
                        shell_word_of_name(annotation_function_name(trace->dictionary, &choice.rows[0])).text,
                        shell_word_of(args->path).text);
        } else {
                explain_choice(trace, args, &choice);
                *ret_choice = choice;
                return 1;
        }
        function_choice_deinit(&choice);
        return 0;
}

/* ---- the result ---------------------------------------------------------------------------------------- */

/* A limit keeps the hottest rows; the bound of JSON would keep the first ones. */
static uint32_t choose_limit(const struct arguments *args)
{
        if (args->output.limit != OUTPUT_LIMIT_UNSET)
                return output_options_limit(&args->output, 0);
        return output_options_is_bounded(&args->output) ? LIMIT_JSON : LIMIT_DEFAULT;
}

static struct annotation_view_options choose_rows(const struct annotation *a, const struct arguments *args)
{
        bool is_short = args->context == CONTEXT_UNSET && a->listing.n_instructions <= ROWS_MAX;
        bool is_text = args->output.document.format == DOCUMENT_TEXT;
        bool only_lines = args->source || (is_text && a->is_python);

        return (struct annotation_view_options){
                .with_source = !args->assembly || args->source,
                /*
                 * CSV output has the source lines as a section of its own; text output has them between the
                 * instructions.
                 */
                .with_lines = !is_text || (only_lines && !args->assembly),
                .with_code = !only_lines || args->assembly,
                .show_all = is_short || args->context == CONTEXT_ALL,
                .n_context = args->context == CONTEXT_UNSET ? CONTEXT_DEFAULT : args->context,
                .share_hot = args->share_hot,
                .limit = choose_limit(args),
                .path = args->path,
        };
}

/* Returns 0, or an exit status after a complaint. */
static int print(const struct annotation *a, struct source_texts *sources,
                 const struct annotation_view_options *options, const struct arguments *args)
{
        struct view_document document;
        int r;

        view_document_init(&document, annotation_view_schema.name);
        annotation_view_fill(&document, a, sources, options);
        r = output_options_print(&args->output, &document);
        view_document_deinit(&document);
        return r;
}

static int show(struct sampled_trace *trace, const struct arguments *args,
                const struct function_choice *choice, uint32_t event)
{
        struct annotation_options options = { .search = &args->search, .intel_syntax = args->intel };
        struct byte_buffer words = { .data = NULL };
        struct annotation_view_options view;
        struct annotation a;
        int r = annotation_init(&a, trace, &choice->rows[0], event, &options);

        filter_options_describe(&args->filter, &words);
        if (r == 0 && !a.has_code && !a.is_python && a.no_code.code != 0)
                complain("warning: no instructions: %s", a.no_code.text);
        if (r == 0 && args->whole_files)
                r = annotation_files_fill(&a, &trace->sources);
        if (r == 0) {
                view = choose_rows(&a, args);
                view.filter = (struct text_view){ (const char *)words.data, words.used_bytes };
                view.choice = args->function ? NULL : choice;
                r = print(&a, &trace->sources, &view, args);
        }
        byte_buffer_deinit(&words);
        annotation_deinit(&a);
        return r;
}

static int annotate(struct sampled_trace *trace, const struct arguments *args)
{
        uint32_t event = find_event(trace, args);
        struct error err = ERROR_NONE;
        struct function_choice choice;
        int r;

        if (event == 0)
                return EXIT_STATUS_FAILED;
        complain_of_newer(args->path, trace->trace.version, trace->trace.n_unknown_events);
        if (trace_ending_is_early(trace->ending))
                complain("warning: %s: %s; showing the part before", args->path, trace->ending_words);
        r = choose_function(trace, args, event, &choice, &err);
        if (r == -EINVAL || r == -ENOENT)
                complain("error: %s", err.text);
        if (r == 0 || r == -EINVAL || r == -ENOENT)
                return r == -EINVAL ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED;
        if (r == 1) {
                r = show(trace, args, &choice, event);
                function_choice_deinit(&choice);
        }
        if (r > 0)
                return r;
        if (r == 0)
                return standard_output_finish(EXIT_STATUS_OK, "the annotation");
        complain("error: out of memory");
        return EXIT_STATUS_FAILED;
}

static void set_up_sources(struct sampled_trace *trace, const struct arguments *args)
{
        trace->sources.recorded_ns = meta_value_number(trace->dictionary, "start_realtime_ns");
        trace->sources.sysroot = args->search.sysroot;
        trace->sources.given = args->source_folders;
}

static void explain_withheld(const struct source_texts *sources)
{
        size_t n = 0;

        for (size_t i = 0; i < sources->n_texts; i++) {
                const struct source_text *text = &sources->texts[i];

                if (text->origin == SOURCE_WITHHELD && ++n == 1)
                        complain("source withheld: %.*s: private, hidden or not named like a source",
                                 (int)text->name.used_bytes, (const char *)text->name.data);
        }
        if (n > 1)
                complain("source withheld: %zu more files", n - 1);
        if (n > 0)
                complain_try("--source-dir DIR, which shows private sources below DIR");
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct sampled_trace trace;
        struct error err = ERROR_NONE;
        int r, status = EXIT_STATUS_FAILED;

        if (take_operands(args, common) < 0 || output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        if (args->context == CONTEXT_ALL && args->output.limit == OUTPUT_LIMIT_UNSET)
                args->output.limit = 0;
        output_options_complete(&args->output);
        r = sampled_trace_load(&trace, args->path, &args->filter, &err);
        if (r < 0) {
                status = filter_options_explain(&args->filter, r, args->path, &err);
        } else {
                search_options_complete(&args->search, trace.dictionary);
                set_up_sources(&trace, args);
                status = annotate(&trace, args);
                explain_withheld(&trace.sources);
        }
        sampled_trace_deinit(&trace);
        return status;
}

const struct option_table *cmd_annotate_options(void)
{
        return &table;
}

int cmd_annotate(int argc, char **argv)
{
        struct arguments args = { .context = CONTEXT_UNSET,
                                  .share_hot = SHARE_HOT_DEFAULT,
                                  .source_folders = { .has_current = true } };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .reading = COMMAND_PRINTS, .run = run
        };

        output_options_init(&args.output);
        return command_frame_run(&frame, argc, argv);
}
