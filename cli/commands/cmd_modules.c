/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "analyze/trace/report_string.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/trace_code.h"
#include "cli/options/output_options.h"
#include "cli/options/search_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/views/module_words.h"
#include "cli/views/modules_json.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/symbols/image_finder.h"
#include "symbolize/symbols/known_symbols.h"
#include "symbolize/symbols/symbol_findings.h"
#include "symbolize/symbols/symbol_process.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_DIGITS 12 /* of a build-id, in the table */

static const struct option_row option_rows[] = {
        SEARCH_OPTION_ROWS, OUTPUT_OPTION_ROWS_OF_FORMAT, COMMON_ROW_INPUT, COMMON_ROW_PAGER, COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof modules",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about =
                "Shows the modules that samples or their callers fell into: whether the trace keeps their code,\n"
                "whether it is found on this machine, and how many of their frames get names and lines.\n"
                "TRACE is - for standard input; default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = shown; 1 = the trace cannot be read; 2 = usage\n",
};

struct arguments {
        struct symbol_search search;
        struct output_options output;
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = output_options_take(&args->output, letter, value);

        if (r == 0)
                r = search_options_take(&args->search, letter, value);
        return r < 0 ? r : 0;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static const struct text_column columns[] = {
        { .title = "id", .right = true },
        { .title = "samples", .right = true },
        { .title = "frames", .right = true },
        { .title = "named", .right = true },
        { .title = "lines", .right = true },
        { .title = "kind" },
        { .title = "build-id" },
        { .title = "code" },
        { .title = "module" },
};

/* "kept 12.1 KB", "found", "missing: too late" */
static void describe_code(const struct trace_code *t, const struct module_finding *finding, char *out,
                          size_t out_bytes)
{
        const struct trace_module_image *row = module_images_find(&t->images, t->dictionary, finding->module);
        const char *words = module_words_source(finding->source);

        if (row && row->attachment != 0) {
                const struct trace_attachment *a = trace_dictionary_row(
                        t->dictionary, TRACE_TABLE_ATTACHMENTS, row->attachment);

                (void)snprintf(out, out_bytes, "%s%s (%s)",
                               finding->source < IMAGE_SOURCE_PARTS ? "kept, damaged" : words,
                               finding->source == IMAGE_SOURCE_FILE ? ", kept" : "",
                               text_number_bytes(a->size_bytes).text);
        } else if (row && row->state != TRACE_IMAGE_KEPT && finding->source < IMAGE_SOURCE_DEBUG) {
                (void)snprintf(out, out_bytes, "%s: %s", words, module_words_state(row));
        } else {
                (void)snprintf(out, out_bytes, "%s", words);
        }
}

static void add_row(struct text_table *out, const struct trace_code *t, const struct module_finding *finding)
{
        const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES,
                                                              finding->module);
        struct module_words words = module_words_of(t->dictionary, finding->module);
        char text[64];

        (void)snprintf(text, sizeof(text), "%" PRIu32, finding->module);
        text_table_add_text(out, text);
        text_table_add_text(out, text_number_count(t->n_samples ? t->n_samples[finding->module] : 0).text);
        text_table_add_text(out, text_number_count(finding->n_frames).text);
        text_table_add_text(out, text_number_count(finding->n_named).text);
        text_table_add_text(out, text_number_count(finding->n_lines).text);
        text_table_add_text(out, module_words_kind(row->kind));
        text_table_add(out, words.build_id[0] ? words.build_id : "-",
                       words.build_id[0] ? strnlen(words.build_id, ID_DIGITS) : 1);
        describe_code(t, finding, text, sizeof(text));
        text_table_add_text(out, text);
        text_table_add_text(out, words.name[0] ? words.name : "-");
}

/* The code is missing and not all of its names are in the trace, or its needed parts are stripped. */
static bool lacks_names(const struct trace_code *t, const struct module_finding *finding, uint32_t module)
{
        const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES, module);

        return finding->n_frames > 0 && row->kind != TRACE_MODULE_ANONYMOUS &&
               (finding->n_named < finding->n_frames - finding->n_named ||
                (finding->source < IMAGE_SOURCE_DEBUG && finding->n_named < finding->n_frames));
}

/* With the facts needed to find them: the whole path and build-id. */
static void print_missing(const struct trace_code *t, const struct symbol_findings *findings)
{
        bool is_first = true;

        for (uint32_t i = 1; i <= findings->n_modules; i++) {
                const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES, i);
                struct byte_buffer path = { .data = NULL };
                size_t path_bytes;
                const char *text = trace_dictionary_string(t->dictionary, row->path, &path_bytes);

                if (!lacks_names(t, &findings->items[i], i))
                        continue;
                if (is_first)
                        (void)fputs("\nmissing, or without names:\n", stdout);
                is_first = false;
                (void)text_escape(&path, text, path_bytes);
                byte_buffer_add_u8(&path, '\0');
                if (!path.failed)
                        (void)printf("  %s %s\n",
                                     row->build_id ? module_words_of(t->dictionary, i).build_id
                                                   : "(no build-id)",
                                     (const char *)path.data);
                byte_buffer_deinit(&path);
        }
}

static int print_table(const struct trace_code *t, const struct symbol_findings *findings)
{
        struct text_table out;
        int r;

        text_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 1; i <= findings->n_modules; i++)
                if (findings->items[i].n_frames > 0)
                        add_row(&out, t, &findings->items[i]);
        r = text_table_print(&out, 0, stdout);
        text_table_deinit(&out);
        if (r == 0)
                print_missing(t, findings);
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static uint32_t at_least(uint32_t n, uint64_t n_known, uint32_t n_max)
{
        return n_known <= n ? n : n_known < n_max ? (uint32_t)n_known : n_max;
}

/* Names that are in the trace count, whether its files are on this machine or not. */
static int add_known(const struct trace_dictionary *d, struct symbol_findings *findings, struct error *err)
{
        struct known_symbols_totals all, *modules = calloc((size_t)findings->n_modules + 1, sizeof(*modules));
        int r = modules ? known_symbols_count(d, modules, &all, err)
                        : error_set(err, -ENOMEM, "no memory for the modules");

        for (uint32_t i = 1; r == 0 && modules && i <= findings->n_modules; i++) {
                struct module_finding *f = &findings->items[i];

                f->n_named = at_least(f->n_named, modules[i].n_named, f->n_frames);
                f->n_lines = at_least(f->n_lines, modules[i].n_lines, f->n_frames);
        }
        free(modules);
        return r;
}

/* The children need no cache: nothing is written. */
static int look(struct trace_code *t, const struct symbol_search *wanted, struct symbol_findings *findings,
                struct error *err)
{
        struct symbol_search search = *wanted;
        struct error why = ERROR_NONE;
        struct symbol_process_options options = {
                .stop_fd = -1, .search = &search, .spool = &t->spool, .findings = findings, .only_look = true
        };
        struct trace_dictionary *d = trace_reader_edit(t->reader);
        int r = symbol_findings_init(findings, trace_dictionary_count(d, TRACE_TABLE_MODULES), err);

        if (r < 0)
                return r;
        search_options_complete(&search, d);
        r = symbol_process_run(d, &options, &why);
        if (r == -ENOMEM)
                return error_set(err, r, "%s", why.text);
        if (r < 0)
                complain("warning: %s", why.text);
        return add_known(d, findings, err);
}

/* ---- Markdown and CSV ----------------------------------------------------------------------------------- */

static const struct view_column document_columns[] = {
        { .key = "id", .title = "id", .type = VIEW_ID },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "n_frames", .title = "frames", .type = VIEW_COUNT },
        { .key = "n_named", .title = "named", .type = VIEW_COUNT },
        { .key = "n_with_line", .title = "lines", .type = VIEW_COUNT },
        { .key = "kind", .title = "kind", .type = VIEW_STRING },
        { .key = "code", .title = "code", .type = VIEW_STRING },
        { .key = "path", .title = "module", .type = VIEW_STRING },
        { .key = "build_id", .title = "build-id", .type = VIEW_STRING },
        { .key = "found_at", .title = "found at", .type = VIEW_STRING },
        { .key = "kept_bytes", .title = "kept", .type = VIEW_BYTES },
        { .key = "keeping", .title = "keeping", .type = VIEW_STRING },
};

static void put_words(struct view_document *d, struct view_table *t, const char *words)
{
        if (words && words[0] != '\0')
                view_table_put_words(d, t, words);
        else
                view_table_put_unknown(d, t);
}

static void put_module(struct view_document *d, struct view_table *out, const struct trace_code *t,
                       const struct module_finding *finding)
{
        const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES,
                                                              finding->module);
        const struct trace_module_image *image = module_images_find(&t->images, t->dictionary,
                                                                    finding->module);
        const struct trace_attachment *kept = NULL;

        if (image && image->attachment != 0)
                kept = trace_dictionary_row(t->dictionary, TRACE_TABLE_ATTACHMENTS, image->attachment);
        view_table_put_number(d, out, finding->module);
        view_table_put_number(d, out, t->n_samples ? t->n_samples[finding->module] : 0);
        view_table_put_number(d, out, finding->n_frames);
        view_table_put_number(d, out, finding->n_named);
        view_table_put_number(d, out, finding->n_lines);
        put_words(d, out, module_words_kind(row->kind));
        put_words(d, out, module_words_source(finding->source));
        view_table_put_string(d, out, report_string_of(t->dictionary, row->path));
        put_words(d, out, module_words_of(t->dictionary, finding->module).build_id);
        put_words(d, out, finding->path);
        if (kept)
                view_table_put_number(d, out, kept->size_bytes);
        else
                view_table_put_unknown(d, out);
        put_words(d, out, module_words_state(image));
}

static int print_document(const struct trace_code *t, const struct symbol_findings *findings,
                          const struct output_options *output)
{
        struct view_document d;
        struct view_table *out;
        int status;

        view_document_init(&d, MODULES_JSON_SCHEMA);
        view_document_set_title(&d, "Modules");
        out = view_document_add_table(&d, "modules", "Modules, and their code", document_columns,
                                      sizeof(document_columns) / sizeof(document_columns[0]));
        for (uint32_t i = 1; i <= findings->n_modules; i++)
                if (findings->items[i].n_frames > 0)
                        put_module(&d, out, t, &findings->items[i]);
        status = output_options_print(output, &d);
        view_document_deinit(&d);
        return status;
}

/* Returns 0, an exit status after a complaint, or -errno. */
static int print(const struct trace_code *t, const struct symbol_findings *findings,
                 const struct output_options *output)
{
        switch (output->document.format) {
        case DOCUMENT_TEXT:
                return print_table(t, findings);
        case DOCUMENT_JSON:
                return modules_json_print(t, findings);
        case DOCUMENT_MARKDOWN:
        case DOCUMENT_CSV:
                break;
        }
        return print_document(t, findings, output);
}

static int run(void *context, struct common_options *common)
{
        const struct arguments *args = context;
        struct symbol_findings findings = { .items = NULL };
        struct error err = ERROR_NONE;
        struct trace_code code;
        const char *words;
        int r = trace_code_read(&code, common->trace, &(struct trace_code_options){ .counts_samples = true },
                                &err);

        if (r < 0) {
                complain_of_trace(r, common->trace, &err);
                return EXIT_STATUS_FAILED;
        }
        if (trace_reader_ending(code.reader, &words, NULL) != TRACE_ENDING_WHOLE)
                complain("warning: %s: %s", common->trace, words);
        r = look(&code, &args->search, &findings, &err);
        if (r == 0)
                r = print(&code, &findings, &args->output);
        if (r < 0)
                complain("error: %s", err.code != 0 ? err.text : "no memory for the list");
        symbol_findings_deinit(&findings);
        trace_code_deinit(&code);
        return standard_output_finish(r != 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK, "the modules");
}

const struct option_table *cmd_modules_options(void)
{
        return &table;
}

int cmd_modules(int argc, char **argv)
{
        struct arguments args = { .search = { .n_debug_dirs = 0 } };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .takes_trace = true, .run = run
        };

        output_options_init(&args.output);
        return command_frame_run(&frame, argc, argv);
}
