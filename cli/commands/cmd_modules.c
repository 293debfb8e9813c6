/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "base/text_view.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/trace_code.h"
#include "cli/options/output_options.h"
#include "cli/options/search_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/views/module_words.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/process/known_symbols.h"
#include "symbolize/process/symbol_findings.h"
#include "symbolize/process/symbol_process.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTER_EXTRACT = OPTION_LONG_ONLY };

/* --extract makes another command of it, see the aliases of command_table. */
static const struct option_row option_rows[] = {
        { LETTER_EXTRACT, "extract", NULL,
          "write the code of a module into a file instead: hyprof modules --extract [TRACE] MODULE -o FILE" },
        SEARCH_OPTION_ROWS,
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_INPUT,
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
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

/* ---- the code ------------------------------------------------------------------------------------------ */

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

/* ---- the answer ---------------------------------------------------------------------------------------- */

static const struct view_column columns[] = {
        { .key = "id", .title = "id", .type = VIEW_ID },
        { .key = "n_samples", .title = "samples", .type = VIEW_COUNT },
        { .key = "n_frames", .title = "frames", .type = VIEW_COUNT },
        { .key = "n_named", .title = "named", .type = VIEW_COUNT },
        { .key = "n_with_line", .title = "lines", .type = VIEW_COUNT },
        { .key = "code", .title = "code", .type = VIEW_STRING, .n_columns_max = 14 },
        { .key = "path", .title = "module", .type = VIEW_PLACE },
        { .key = "kind", .title = "kind", .type = VIEW_STRING, .n_columns_max = 9, .may_go = true },
        { .key = "kept_bytes", .title = "kept", .type = VIEW_BYTES },
        { .key = "kept", .title = "what is kept", .type = VIEW_STRING, .n_columns_max = 12, .may_go = true },
        { .key = "keeping", .title = "keeping", .type = VIEW_STRING, .n_columns_max = 14, .may_go = true },
        { .key = "build_id", .title = "build-id", .type = VIEW_STRING, .may_go = true },
        { .key = "found_at", .title = "found at", .type = VIEW_STRING, .may_go = true },
};

/* The columns give what is needed to find a module: its whole path and build-id. */
static const struct view_column missing_columns[] = {
        { .key = "id", .title = "id", .type = VIEW_ID },
        { .key = "build_id", .title = "build-id", .type = VIEW_STRING },
        { .key = "path", .title = "module", .type = VIEW_STRING, .is_below = true },
};

/* The code is missing and not all of its names are in the trace, or it is stripped of what is needed. */
static bool lacks_names(const struct trace_code *t, const struct module_finding *finding, uint32_t module)
{
        const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES, module);

        if (row->kind == TRACE_MODULE_KERNEL && row->generation != 0)
                return false; /* kernel-generated code is in no file */
        return finding->n_frames > 0 && row->kind != TRACE_MODULE_ANONYMOUS &&
               (finding->n_named < finding->n_frames - finding->n_named ||
                (finding->source < IMAGE_SOURCE_DEBUG && finding->n_named < finding->n_frames));
}

static void put_words(struct view_document *d, struct view_table *t, const char *words)
{
        if (words && words[0] != '\0')
                view_table_put_words(d, t, words);
        else
                view_table_put_unknown(d, t);
}

/* How much of its code the trace keeps, and whether that can be read. */
static void put_kept(struct view_document *d, struct view_table *out, const struct trace_code *t,
                     const struct trace_module_image *image)
{
        const struct trace_attachment *kept;
        struct spooled_image spooled;

        if (!image || image->attachment == 0) {
                view_table_put_unknown(d, out);
                view_table_put_unknown(d, out);
                return;
        }
        kept = trace_dictionary_row(t->dictionary, TRACE_TABLE_ATTACHMENTS, image->attachment);
        view_table_put_number(d, out, kept->size_bytes);
        if (image_spool_map(&t->spool, t->dictionary, image->attachment, &spooled, NULL) != 1) {
                view_table_put_words(d, out, "damaged");
                return;
        }
        image_spool_unmap(&spooled);
        view_table_put_words(d, out, kept->kind == TRACE_ATTACHMENT_MODULE_PARTS ? "parts" : "whole file");
}

static void put_module(struct view_document *d, struct view_table *out, const struct trace_code *t,
                       const struct module_finding *finding)
{
        const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES,
                                                              finding->module);
        const struct trace_module_image *image = module_images_find(&t->images, t->dictionary,
                                                                    finding->module);

        view_table_put_number(d, out, finding->module);
        view_table_put_number(d, out, t->n_samples ? t->n_samples[finding->module] : 0);
        view_table_put_number(d, out, finding->n_frames);
        view_table_put_number(d, out, finding->n_named);
        view_table_put_number(d, out, finding->n_lines);
        put_words(d, out, module_words_source(finding->source));
        if (row->path != 0)
                view_table_put_place(d, out, trace_dictionary_text(t->dictionary, row->path), 0);
        else
                view_table_put_unknown(d, out);
        put_words(d, out, module_words_kind(row->kind));
        put_kept(d, out, t, image);
        put_words(d, out, module_words_state(image));
        put_words(d, out, module_words_of(t->dictionary, finding->module).build_id);
        put_words(d, out, finding->path);
}

static void put_missing(struct view_document *d, struct view_table *out, const struct trace_code *t,
                        uint32_t module)
{
        const struct trace_module *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES, module);

        view_table_put_number(d, out, module);
        put_words(d, out, module_words_of(t->dictionary, module).build_id);
        if (row->path != 0)
                view_table_put_string(d, out, trace_dictionary_text(t->dictionary, row->path));
        else
                view_table_put_unknown(d, out);
}

static void set_answer(struct view_document *d, const struct symbol_findings *findings, uint32_t n_lacking)
{
        uint32_t n_modules = 0, n_found = 0;
        char words[160];
        int n;

        for (uint32_t i = 1; i <= findings->n_modules; i++) {
                n_modules += findings->items[i].n_frames > 0;
                n_found += findings->items[i].n_frames > 0 && findings->items[i].source >= IMAGE_SOURCE_PARTS;
        }
        n = snprintf(words, sizeof(words),
                     "%" PRIu32 " of %" PRIu32 " modules have their code kept or found; %" PRIu32
                     " lack names that a file would bring",
                     n_found, n_modules, n_lacking);
        view_document_set_answer(d, (struct text_view){ .bytes = words, .n_bytes = (size_t)n });
        view_document_add_number(d, "n_modules", NULL, VIEW_COUNT, n_modules);
        view_document_add_number(d, "n_found", NULL, VIEW_COUNT, n_found);
        view_document_add_number(d, "n_missing", NULL, VIEW_COUNT, n_lacking);
}

static void fill(struct view_document *d, const struct trace_code *t, const struct symbol_findings *findings,
                 uint32_t limit)
{
        struct view_table *modules, *missing;
        uint32_t n_lacking = 0;

        modules = view_document_add_table(d, "modules", "Modules, and their code", columns,
                                          sizeof(columns) / sizeof(columns[0]));
        missing = view_document_add_table(d, "missing", "Missing, or without names", missing_columns,
                                          sizeof(missing_columns) / sizeof(missing_columns[0]));
        for (uint32_t i = 1, n = 0; i <= findings->n_modules; i++) {
                if (findings->items[i].n_frames == 0)
                        continue;
                if (limit == 0 || n++ < limit)
                        put_module(d, modules, t, &findings->items[i]);
                else if (modules)
                        modules->n_left_out++;
                if (!lacks_names(t, &findings->items[i], i))
                        continue;
                if (limit == 0 || n_lacking < limit)
                        put_missing(d, missing, t, i);
                else if (missing)
                        missing->n_left_out++;
                n_lacking++;
        }
        set_answer(d, findings, n_lacking);
        if (n_lacking != 0)
                view_document_hint(d, "hyprof symbolize --help");
}

const struct answer_schema module_list_schema = {
        .name = "hyprof.module_list/2",
        .command = "hyprof modules --json",
        .parts = (const struct answer_part *const[]){ NULL },
};

/* Returns an exit status. */
static int print(const struct trace_code *t, const char *path, const struct symbol_findings *findings,
                 const struct output_options *output)
{
        struct view_document d;
        const char *words;
        int status;

        view_document_init(&d, module_list_schema.name);
        complain_of_newer(path, trace_reader_version(t->reader), UINT64_MAX);
        if (trace_reader_ending(t->reader, &words, NULL) != TRACE_ENDING_WHOLE) {
                complain("warning: %s: %s", path, words);
                view_document_warn(&d, "%s", words);
        }
        fill(&d, t, findings, output_options_limit(output, 0));
        status = output_options_print(output, &d);
        view_document_deinit(&d);
        return status;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct symbol_findings findings = { .items = NULL };
        struct error err = ERROR_NONE;
        struct trace_code code;
        int status = EXIT_STATUS_FAILED;
        int r;

        if (output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(&args->output);
        r = trace_code_read(&code, common->trace, &(struct trace_code_options){ .counts_samples = true },
                            &err);
        if (r < 0) {
                complain_of_trace(r, common->trace, &err);
                return EXIT_STATUS_FAILED;
        }
        r = look(&code, &args->search, &findings, &err);
        if (r == 0)
                status = print(&code, common->trace, &findings, &args->output);
        else
                complain("error: %s", err.code != 0 ? err.text : "no memory for the list");
        symbol_findings_deinit(&findings);
        trace_code_deinit(&code);
        return status;
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
