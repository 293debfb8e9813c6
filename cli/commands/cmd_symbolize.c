/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/cache_folder.h"
#include "cli/files/reader_confinement.h"
#include "cli/files/replaced_file.h"
#include "cli/files/trace_code.h"
#include "cli/options/search_options.h"
#include "cli/options/source_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/views/module_words.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "symbolize/debug/debuginfod_fetch.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/listing/source_embedder.h"
#include "symbolize/process/debuginfod_folder.h"
#include "symbolize/process/known_symbols.h"
#include "symbolize/process/symbol_findings.h"
#include "symbolize/process/symbol_process.h"
#include "symbolize/stacks/kept_stacks.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LETTER_NO_CACHE = OPTION_LONG_ONLY, LETTER_DEBUGINFOD, LETTER_EMBED_SOURCE };

struct arguments {
        struct symbol_search search;
        const char *output; /* NULL = the trace itself */
        bool debuginfod;
        bool no_cache;
        struct source_folders source_folders;
        bool embed_source;
        bool force;    /* FILE is replaced if it exists */
        unsigned mode; /* of the result; 0 = not given */
        bool quiet;
};

/* One run. */
struct work {
        const struct arguments *args;
        const char *path;
        bool is_in_place; /* TRACE is replaced, and only if there is something new */
        struct symbol_search search;
        struct trace_code code;
        struct trace_writer *writer;
        struct replaced_file file;
        struct index_cache cache;
        bool has_cache;
        struct symbol_findings findings;
        struct known_symbols_totals totals;
        struct kept_stacks_totals stacks;
        uint64_t n_news;
        uint32_t n_sources; /* that were embedded */
};

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT("write the trace to FILE, - for a pipe; default: replace TRACE"),
        COMMON_ROW_FORCE,
        COMMON_ROW_MODE,
        SEARCH_OPTION_ROWS,
        { LETTER_DEBUGINFOD, "debuginfod", "[=URLS]",
          "ask debuginfod servers for missing files; default: the servers in DEBUGINFOD_URLS, if it is set" },
        { LETTER_NO_CACHE, "no-cache", NULL, "neither use nor write the cache for large debug information" },
        { LETTER_EMBED_SOURCE, "embed-source", NULL,
          "keep the sources of sampled lines as well; the trace says which files are read" },
        SOURCE_OPTION_ROW,
        COMMON_ROW_INPUT,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof symbolize",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .about =
                "Finds names, files and lines for the addresses of a trace, and adds them to it: from the code\n"
                "that the trace keeps, and from files of this machine that are identical by build-id or content.\n"
                "Call stacks of 'hyprof record --keep-stacks=cut' are finished with the tables of these files.\n"
                "TRACE may come from another machine of any architecture; - is standard input;\n"
                "default: " OPTION_DEFAULT_TRACE
                ".  Names that were found before stay; run it again with more files.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = done, even if names are missing still; 1 = the trace cannot be read or "
                   "written, and is\n"
                   "unchanged; 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        switch (letter) {
        case SEARCH_OPTION_DEBUG_DIR:
        case SEARCH_OPTION_SYSROOT:
                return search_options_take(&args->search, letter, value);
        case SOURCE_OPTION_DIR:
                return source_options_take(&args->source_folders, value);
        case LETTER_DEBUGINFOD:
                args->debuginfod = true;
                /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
                if (value && setenv("DEBUGINFOD_URLS", value, 1) < 0) {
                        complain("error: --debuginfod: no memory");
                        return -EINVAL;
                }
                return 0;
        case LETTER_NO_CACHE:
                args->no_cache = true;
                return 0;
        default:
                args->embed_source = true;
                return 0;
        }
}

/* ---- the work ------------------------------------------------------------------------------------------ */

/* Replacing an incomplete trace would cut off the rest of it; that is left to `hyprof check --repair`. */
static int judge_ending(const struct work *w, struct error *err)
{
        const char *words;
        enum trace_ending ending = trace_reader_ending(w->code.reader, &words, NULL);

        if (ending == TRACE_ENDING_WHOLE)
                return 0;
        if (w->is_in_place)
                return error_set(err, -ENODATA, "%s: %s", w->path, words);
        if (!w->args->quiet)
                complain("warning: %s: %s; what follows is left out", w->path, words);
        return 0;
}

static int add_meta(struct trace_dictionary *d, const char *key, const char *value, struct error *err)
{
        struct trace_meta row;
        uint32_t id;
        int r = trace_dictionary_add_string(d, key, strlen(key), &row.key);

        if (r == 0)
                r = trace_dictionary_add_string(d, value, strlen(value), &row.value);
        if (r == 0)
                r = trace_dictionary_add(d, TRACE_TABLE_META, &row, &id);
        return r < 0 ? error_set(err, r, "no memory to describe the trace") : 0;
}

/* Names that could not be found are no failure: the trace says what it said before. */
static int find_names(struct work *w, struct trace_dictionary *d, const struct index_cache *cache,
                      struct error *err)
{
        struct error why = ERROR_NONE;
        uint64_t n_news = 0;
        struct symbol_process_options options = {
                .stop_fd = -1,
                .search = &w->search,
                .spool = &w->code.spool,
                .cache = cache,
                .findings = &w->findings,
                .ret_n_news = &n_news,
        };
        int r = symbol_process_run(d, &options, &why);

        w->n_news += n_news;
        if (r == -ENOMEM || r == -EOVERFLOW)
                return error_set(err, r, "%s", why.text);
        if (r < 0)
                complain("warning: symbols are incomplete: %s", why.text);
        return 0;
}

/* Searches once more, with what servers have for modules that lack something. */
static bool asks_servers(const struct arguments *args)
{
        return args->debuginfod || debuginfod_fetch_is_wanted();
}

static int find_more_names(struct work *w, struct trace_dictionary *d, struct error *err)
{
        struct debuginfod_folder folder;
        struct error why = ERROR_NONE;
        int r = 0;

        if (!asks_servers(w->args))
                return 0;
        if (w->search.n_debug_dirs == SYMBOL_SEARCH_FOLDERS_MAX) {
                complain("warning: with so many folders debuginfod is not asked");
                return 0;
        }
        if (debuginfod_folder_open(&folder, d, &w->findings, -1, &why) < 0)
                complain("warning: debuginfod: %s", why.text);
        if (!w->args->quiet && folder.n_asked > 0)
                complain("debuginfod has %u of %u files", folder.n_found, folder.n_asked);
        if (folder.n_found > 0) {
                w->search.debug_dirs[w->search.n_debug_dirs++] = folder.path;
                r = find_names(w, d, NULL, err); /* the folder is another one each time */
                w->search.n_debug_dirs--;
        }
        debuginfod_folder_close(&folder);
        return r;
}

static int find_all_names(struct work *w, struct trace_dictionary *d, struct error *err)
{
        int r = find_names(w, d, w->has_cache ? &w->cache : NULL, err);

        return r == 0 ? find_more_names(w, d, err) : r;
}

/* Call stacks come before names: their new frames need names, too. */
static int finish_stacks(struct work *w, struct error *err)
{
        const struct image_finder finder = { .dictionary = w->code.dictionary,
                                             .images = &w->code.images,
                                             .spool = &w->code.spool,
                                             .search = &w->search };

        return w->code.has_kept_stacks
                       ? kept_stacks_finish(w->code.reader, w->writer, &finder,
                                            (struct confinement_user){ 0, 0 }, &w->stacks, err)
                       : 0;
}

static int symbolize(struct work *w, struct error *err)
{
        struct trace_dictionary *d;
        int r;

        w->search = w->args->search;
        search_options_complete(&w->search, w->code.dictionary);
        r = finish_stacks(w, err);
        if (r == 0)
                r = judge_ending(w, err);
        if (r < 0)
                return r;
        d = trace_reader_edit(w->code.reader);
        r = symbol_findings_init(&w->findings, trace_dictionary_count(d, TRACE_TABLE_MODULES), err);
        if (r < 0)
                return r;
        r = find_all_names(w, d, err);
        if (r < 0)
                return r;
        r = known_symbols_count(d, NULL, &w->totals, err);
        if (r == 0 && (w->n_news > 0 || w->stacks.n_finished > 0))
                r = add_meta(d, "symbolized_by", HYPROF_VERSION, err);
        if (r < 0)
                return r;
        if (w->args->embed_source)
                r = source_options_embed(
                        &(struct source_embedder_options){ .sysroot = w->search.sysroot,
                                                           .given = &w->args->source_folders },
                        d, w->writer, w->args->quiet, &w->n_sources, err);
        if (r < 0)
                return r;
        r = trace_writer_put_tables(w->writer, d, err);
        return r < 0 ? r : trace_writer_finish(w->writer, err);
}

/* ---- messages about it --------------------------------------------------------------------------------- */

/* The module's code is missing, or it is stripped, with names for only a few exported functions. */
static bool lacks_names(const struct module_finding *finding)
{
        return finding->n_named < finding->n_frames - finding->n_named;
}

static uint32_t count_nameless(const struct work *w, uint32_t *ret_largest)
{
        const struct trace_dictionary *d = w->code.dictionary;
        uint32_t n = 0;

        *ret_largest = 0;
        if (w->totals.n_named == w->totals.n_frames)
                return 0; /* names in the trace count, too: the kernel's are only there */
        for (uint32_t i = 1; i <= w->findings.n_modules; i++) {
                const struct module_finding *finding = &w->findings.items[i];
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);

                if (!lacks_names(finding) || row->kind == TRACE_MODULE_ANONYMOUS ||
                    (row->kind == TRACE_MODULE_KERNEL && row->generation != 0)) /* no file has it */
                        continue;
                n++;
                if (*ret_largest == 0 || finding->n_frames > w->findings.items[*ret_largest].n_frames)
                        *ret_largest = i;
        }
        return n;
}

/* The advice for naming @module.  @others: words about further ones. */
static void advise(const struct work *w, uint32_t module, const char *others)
{
        struct module_words words = module_words_of(w->code.dictionary, module);
        const struct trace_module_image *kept = module_images_find(&w->code.images, w->code.dictionary,
                                                                   module);
        struct shell_word trace = shell_word_of(w->path);

        if (words.build_id[0])
                complain_try("hyprof symbolize --debug-dir DIR %s, with %s of build-id %s in DIR%s",
                             trace.text, words.name, words.build_id, others);
        else if (kept && kept->attachment != 0)
                complain_try(
                        "hyprof symbolize --debug-dir DIR %s, with the unstripped file of %s in DIR: it is recognised by its code, under any name%s",
                        trace.text, words.name, others);
        else
                complain_try(
                        "hyprof record --embed=all: %s has no build-id, and without its code in the trace no file "
                        "can be recognised%s",
                        words.name, others);
}

static void print_stacks(const struct work *w)
{
        const struct kept_stacks_totals *s = &w->stacks;
        struct module_words words = { .name = "" };

        if (s->left_module != 0)
                words = module_words_of(w->code.dictionary, s->left_module);
        if (s->n_finished + s->n_left > 0)
                complain("%s of %s call stacks without unwind tables are finished, by their copies%s%s%s",
                         text_number_count(s->n_finished).text,
                         text_number_count(s->n_finished + s->n_left).text,
                         words.name[0] != '\0' ? "; most others end in " : "", words.name,
                         words.name[0] != '\0' ? ", for which no file with tables is found" : "");
}

static void print_summary(const struct work *w)
{
        const struct known_symbols_totals *t = &w->totals;
        uint32_t largest;
        uint32_t n_nameless = count_nameless(w, &largest);

        print_stacks(w);
        complain("%s of %s frames are named, %s with a line; %s are new; %u of %u modules lack names",
                 text_number_count(t->n_named).text, text_number_count(t->n_frames).text,
                 text_number_count(t->n_lines).text, text_number_count(w->n_news).text, n_nameless,
                 w->findings.n_modules);
        if (n_nameless > 0)
                advise(w, largest, n_nameless > 1 ? "; hyprof modules shows the others" : "");
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int write_trace(struct work *w, const char *output, struct error *err)
{
        int r = trace_writer_new(w->file.fd, &w->writer, err);

        if (r < 0)
                return error_prefix(err, r, "%s", output);
        r = trace_code_read(&w->code, w->path, &(struct trace_code_options){ .copy = w->writer }, err);
        if (r == 0)
                r = symbolize(w, err);
        return r < 0 && trace_writer_has_failed(w->writer) ? error_prefix(err, r, "%s", output) : r;
}

static int run_work(struct work *w, struct error *err)
{
        const char *output = w->args->output ? w->args->output : w->path;
        const struct replaced_file_options options = { .only_new = w->args->output && !w->args->force,
                                                       .is_recording = true,
                                                       .mode = w->args->mode };
        int r = replaced_file_open(&w->file, output, &options, err);

        if (r == 0)
                r = write_trace(w, output, err);
        if (r == 0 && (w->n_news > 0 || w->n_sources > 0 || w->stacks.n_finished > 0 || !w->is_in_place))
                r = replaced_file_commit(&w->file, err);
        return r;
}

/* Opening a pipe that we also read from would wait for its reader forever. */
static int check_place(const char *path, struct error *err)
{
        struct stat status;

        if (stat(path, &status) < 0)
                return error_errno(err, "%s", path);
        if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
                return 0;
        return error_set(err, -ESPIPE, "%s: no file that could be replaced", path);
}

static void close_cache(struct work *w)
{
        if (w->has_cache)
                index_cache_close(&w->cache);
}

/* The client of debuginfod is a child of this process, and makes sockets, and files in its cache. */
static int confine(const struct work *w, const char *output)
{
        bool asks = asks_servers(w->args);
        int folders[] = { w->has_cache ? w->cache.folder.fd : -1, asks ? debuginfod_fetch_open_cache() : -1 };
        const struct reader_places places = {
                .results = &output,
                .n_results = 1,
                .folder_fds = folders,
                .n_folders = sizeof(folders) / sizeof(folders[0]),
                .reach = asks ? CONFINEMENT_SERVERS : CONFINEMENT_PLACES,
        };
        int r = reader_confinement_enter(&places);

        io_close(&folders[1]);
        return r;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        const char *path = common->trace;
        struct work w = { .args = args, .path = path, .file = { .fd = -1, .folder_fd = -1 } };
        struct error err = ERROR_NONE;
        int r;

        args->quiet = common->quiet;
        args->output = common->output;
        args->force = common->force;
        args->mode = common->mode;
        if (strcmp(args->output ? args->output : path, "-") == 0 &&
            standard_output_check_bytes("a trace", &err) < 0) {
                complain("error: %s", err.text);
                complain_try("hyprof symbolize -o FILE %s", shell_word_of(path).text);
                return EXIT_STATUS_USAGE;
        }
        w.is_in_place = !args->output && strcmp(path, "-") != 0;
        w.has_cache = !args->no_cache && cache_folder_open(&w.cache);
        if (confine(&w, args->output ? args->output : path) < 0) {
                close_cache(&w);
                return EXIT_STATUS_FAILED;
        }
        r = w.is_in_place ? check_place(path, &err) : 0;
        if (r == 0)
                r = run_work(&w, &err);
        if (r == -EEXIST)
                complain_of_existing("hyprof symbolize", "-o", args->output, path, &err);
        else if (r < 0)
                complain_of_trace(r, path, &err);
        if (r == -ENODATA)
                complain_try("hyprof check --repair %s, or -o FILE for another trace",
                             shell_word_of(path).text);
        else if (r < 0 && w.is_in_place && (r == -ESPIPE || r == -EACCES || r == -EPERM || r == -EROFS))
                complain_try("hyprof symbolize -o FILE %s", shell_word_of(path).text);
        else if (r == 0 && !args->quiet)
                print_summary(&w);
        symbol_findings_deinit(&w.findings);
        if (w.code.reader)
                trace_code_deinit(&w.code);
        trace_writer_free(w.writer);
        replaced_file_close(&w.file);
        close_cache(&w);
        return r < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

const struct option_table *cmd_symbolize_options(void)
{
        return &table;
}

int cmd_symbolize(int argc, char **argv)
{
        struct arguments args = { .output = NULL };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .takes_trace = true, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}
