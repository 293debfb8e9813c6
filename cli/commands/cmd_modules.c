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

/* The attachment with the module's code; NULL = the trace keeps none. */
static const struct trace_attachment *kept_of(const struct trace_code *t,
                                              const struct trace_module_image *image)
{
        return image && image->attachment != 0
                       ? trace_dictionary_row(t->dictionary, TRACE_TABLE_ATTACHMENTS, image->attachment)
                       : NULL;
}

/* Says in a word whether the kept code can be read; NULL = the trace keeps none of it. */
static const char *words_of_kept(const struct trace_code *t, const struct trace_module_image *image)
{
        const struct trace_attachment *kept = kept_of(t, image);
        struct spooled_image spooled;

        if (!kept)
                return NULL;
        if (image_spool_map(&t->spool, t->dictionary, image->attachment, &spooled, NULL) != 1)
                return "damaged";
        image_spool_unmap(&spooled);
        return kept->kind == TRACE_ATTACHMENT_MODULE_PARTS ? "parts" : "whole file";
}

/* clang-format off */
#define MODULES_FACTS(FACT)                                                                                   \
        FACT(COUNT, "n_modules", NULL, view_number(n_modules), NULL)                                          \
        FACT(COUNT, "n_found", NULL, view_number(n_found), "their code is kept or found")                     \
        FACT(COUNT, "n_missing", NULL, view_number(n_lacking), NULL)
#define MODULE_COLUMNS(COLUMN)                                                                                \
        COLUMN(ID, "id", "id", view_number(finding->module), "as `hyprof modules --extract` takes it",        \
               .may_be_null = true)                                                                           \
        COLUMN(COUNT, "n_samples", "samples", view_number(code->n_samples ? code->n_samples[finding->module] : 0), \
               "that fell into it")                                                                           \
        COLUMN(COUNT, "n_frames", "frames", view_number(finding->n_frames), "of samples and their callers")   \
        COLUMN(COUNT, "n_named", "named", view_number(finding->n_named),                                      \
               "frames that have a name in the trace or get one now")                                         \
        COLUMN(COUNT, "n_with_line", "lines", view_number(finding->n_lines),                                  \
               "frames that have a line in the trace or get one now")                                         \
        COLUMN(STRING, "code", "code", view_words(module_words_source(finding->source)), "where it is found", \
               .one_of = "kept|kept, parts|found|debug file|this machine|announced|differs|unchecked|missing", \
               .n_columns_max = 14)                                                                           \
        COLUMN(PLACE, "path", "module", view_place(path, 0), NULL)                                            \
        COLUMN(STRING, "kind", "kind", view_words(module_words_kind(row->kind)),                              \
               "`file`, `vdso`, `kernel`, `anonymous`, `image`", .n_columns_max = 9, .may_go = true)          \
        COLUMN(BYTES, "kept_bytes", "kept", view_known(kept ? kept->size_bytes : 0, kept),                    \
               "of its code, in the trace; null = nothing")                                                   \
        COLUMN(STRING, "kept", "what is kept", view_words(words_of_kept(code, image)), NULL,                  \
               .one_of = "whole file|parts|damaged", .may_be_null = true, .n_columns_max = 12, .may_go = true) \
        COLUMN(STRING, "keeping", "keeping", view_words(module_words_state(image)),                           \
               "`kept`, or why not: `too late`, `over the limit`, `unreadable`; null = it was not tried",     \
               .n_columns_max = 14, .may_go = true)                                                           \
        COLUMN(STRING, "build_id", "build-id", view_words(build_id.build_id), "hexadecimal", .may_go = true)  \
        COLUMN(STRING, "found_at", "found at", view_words(finding->path), "the file, or the one that differs", \
               .may_go = true)
#define MISSING_COLUMNS(COLUMN)                                                                               \
        COLUMN(ID, "id", "id", view_number(module), NULL)                                                     \
        COLUMN(STRING, "build_id", "build-id", view_words(build_id.build_id), NULL)                           \
        COLUMN(STRING, "path", "module", view_name(path), NULL, .is_below = true)
/* clang-format on */

static const struct view_column fact_columns[] = { MODULES_FACTS(VIEW_MEMBER) };
static const struct view_column columns[] = { MODULE_COLUMNS(VIEW_COLUMN) };
/* All that it takes to find a module: its whole path and build-id. */
static const struct view_column missing_columns[] = { MISSING_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part modules_part = ANSWER_TABLE("modules", columns, "a module with frames");
static const struct answer_part missing_part = ANSWER_TABLE(
        "missing", missing_columns, "a module some of whose names are missing; its file would have them");
const struct answer_schema module_list_schema = {
        .name = "hyprof.module_list/2",
        .command = "hyprof modules --json",
        .parts = (const struct answer_part *const[]){ &facts_part, &modules_part, &missing_part, NULL },
};

static void put_module(struct view_document *d, struct view_table *t, const struct trace_code *code,
                       const struct module_finding *finding)
{
        const struct trace_dictionary *all = code->dictionary;
        const struct trace_module *row = trace_dictionary_row(all, TRACE_TABLE_MODULES, finding->module);
        const struct trace_module_image *image = module_images_find(&code->images, all, finding->module);
        const struct trace_attachment *kept = kept_of(code, image);
        struct text_view path = row->path != 0 ? trace_dictionary_text(all, row->path)
                                               : (struct text_view){ 0 };
        struct module_words build_id = module_words_of(all, finding->module);

        MODULE_COLUMNS(VIEW_CELL)
}

static void put_missing(struct view_document *d, struct view_table *t, const struct trace_code *code,
                        uint32_t module)
{
        const struct trace_dictionary *all = code->dictionary;
        const struct trace_module *row = trace_dictionary_row(all, TRACE_TABLE_MODULES, module);
        struct text_view path = row->path != 0 ? trace_dictionary_text(all, row->path)
                                               : (struct text_view){ 0 };
        struct module_words build_id = module_words_of(all, module);

        MISSING_COLUMNS(VIEW_CELL)
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
        MODULES_FACTS(VIEW_FACT)
}

static void fill(struct view_document *d, const struct trace_code *t, const struct symbol_findings *findings,
                 uint32_t limit)
{
        struct view_table *modules, *missing;
        uint32_t n_lacking = 0;

        modules = view_document_add_part(d, &modules_part, "Modules, and their code");
        missing = view_document_add_part(d, &missing_part, "Missing, or without names");
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
        const struct command_frame frame = { .table = &table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .reading = COMMAND_PRINTS,
                                             .run = run };

        output_options_init(&args.output);
        return command_frame_run(&frame, argc, argv);
}
