/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "base/io.h"
#include "base/name_guess.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/replaced_file.h"
#include "cli/files/trace_code.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/views/module_words.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LISTED_MAX 20 /* modules of one name that are shown */

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT("write to FILE, - for standard output"),
        COMMON_ROW_FORCE,
        COMMON_ROW_INPUT,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof extract",
        .operands = "[TRACE] MODULE -o FILE",
        .n_operands_max = 2,
        .about =
                "Writes the code of a module that the trace keeps into a file: byte for byte the file that was\n"
                "mapped, or its mapped part where only that could be kept.\n"
                "MODULE is a path, the name of a file, the beginning of a build-id, or a number that\n"
                "'hyprof modules' shows.  TRACE is - for standard input; default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = written; 1 = the trace cannot be read, keeps no such code, or FILE cannot be\n"
                "written; 2 = usage\n",
};

/* The attachment of a module's code; 0 = it is not kept. */
static uint32_t attachment_of(const struct trace_code *t, uint32_t module)
{
        const struct trace_module_image *row = module_images_find(&t->images, t->dictionary, module);

        return row ? row->attachment : 0;
}

static void list(const struct trace_code *t, const char *wanted)
{
        uint32_t n = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(t->dictionary, TRACE_TABLE_MODULES); i++) {
                struct module_words words = module_words_of(t->dictionary, i);

                if (!module_words_match(t->dictionary, i, wanted))
                        continue;
                if (++n <= LISTED_MAX)
                        complain("  %" PRIu32 ": %s%s%s%s", i, words.name,
                                 words.build_id[0] ? ", build-id " : "", words.build_id,
                                 attachment_of(t, i) ? "" : ", not kept");
        }
        if (n > LISTED_MAX)
                complain("  and %" PRIu32 " more", n - LISTED_MAX);
}

static struct name_guess guess_name(const struct trace_code *t, const char *wanted)
{
        uint32_t n_modules = trace_dictionary_count(t->dictionary, TRACE_TABLE_MODULES);
        struct name_guess guess;

        name_guess_init(&guess, wanted, strlen(wanted));
        for (uint32_t i = 1; i <= n_modules; i++) {
                struct module_words words = module_words_of(t->dictionary, i);

                name_guess_offer_bytes(&guess, words.name, strlen(words.name));
        }
        return guess;
}

/*
 * A number selects one module.  A name that matches several modules is fine if they have the same code.
 * Returns the module, or 0 after a complaint.
 */
static uint32_t choose(const struct trace_code *t, const char *wanted)
{
        uint32_t n_modules = trace_dictionary_count(t->dictionary, TRACE_TABLE_MODULES);
        uint32_t found = 0;
        uint64_t number;

        if (option_parse_number(wanted, 1, n_modules, &number) == 0)
                return (uint32_t)number;
        for (uint32_t i = 1; i <= n_modules; i++) {
                if (!module_words_match(t->dictionary, i, wanted))
                        continue;
                if (found != 0 && attachment_of(t, found) != attachment_of(t, i)) {
                        complain("error: more than one module is called '%s'", wanted);
                        list(t, wanted);
                        complain_try("one of these numbers");
                        return 0;
                }
                found = i;
        }
        if (found == 0) {
                struct name_guess guess = guess_name(t, wanted);

                if (guess.best[0] != '\0')
                        complain("error: no module is called '%s'; did you mean '%s'?", wanted, guess.best);
                else
                        complain("error: no module is called '%s'", wanted);
                complain_try("hyprof modules, which lists them");
        }
        return found;
}

static int write_image(const struct spooled_image *image, const struct common_options *common,
                       struct error *err)
{
        const struct replaced_file_options options = { .only_new = !common->force };
        struct replaced_file file;
        int r = replaced_file_open(&file, common->output, &options, err);

        if (r < 0)
                return r;
        r = io_write_all(file.fd, image->bytes, image->n_bytes, err);
        if (r == 0)
                r = replaced_file_commit(&file, err);
        replaced_file_close(&file);
        return r;
}

static void print_done(const struct trace_code *t, uint32_t module, const struct spooled_image *image,
                       const char *output)
{
        const struct trace_attachment *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                  attachment_of(t, module));

        complain("wrote %s (%s): %s", output, text_number_bytes(image->n_bytes).text,
                 row->kind == TRACE_ATTACHMENT_MODULE_PARTS ? "only the mapped part of the file"
                                                            : "the whole file");
}

static int extract(const struct trace_code *t, uint32_t module, const struct common_options *common)
{
        const struct trace_module_image *row = module_images_find(&t->images, t->dictionary, module);
        struct error err = ERROR_NONE;
        struct spooled_image image;
        int r = 0;

        if (!row || row->attachment == 0) {
                const char *state = module_words_state(row);
                const struct trace_module *what = trace_dictionary_row(t->dictionary, TRACE_TABLE_MODULES,
                                                                       module);

                complain("error: the trace does not keep the code of module %" PRIu32 ", %s%s%s", module,
                         module_words_of(t->dictionary, module).name, state ? ": " : "", state ? state : "");
                if (!state && what->kind == TRACE_MODULE_FILE)
                        complain_try("hyprof record --embed=all, which keeps all files with samples");
                return EXIT_STATUS_FAILED;
        }
        r = image_spool_map(&t->spool, t->dictionary, row->attachment, &image, &err);
        if (r == 0)
                r = error_set(&err, -EBADMSG, "the code of module %" PRIu32 " is not whole in the trace",
                              module);
        if (r == 1) {
                r = write_image(&image, common, &err);
                if (r == 0 && !common->quiet && strcmp(common->output, "-") != 0)
                        print_done(t, module, &image, common->output);
                image_spool_unmap(&image);
        }
        if (r < 0)
                complain("error: %s", err.text);
        if (r == -EEXIST)
                complain_try("%s --force", common->command);
        return r < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

static int run(void *context, struct common_options *common)
{
        struct error err = ERROR_NONE;
        struct trace_code code;
        const char *path;
        uint32_t module;
        int status, r;

        (void)context;
        if (common->n_operands == 0 || !common->output) {
                complain("error: MODULE and -o FILE are needed");
                complain_try("%s --help", common->command);
                return EXIT_STATUS_USAGE;
        }
        if (strcmp(common->output, "-") == 0 && standard_output_check_bytes("machine code", &err) < 0) {
                complain("error: %s", err.text);
                complain_try("%s -o FILE MODULE", common->command);
                return EXIT_STATUS_USAGE;
        }
        if (common->n_operands == 2 && common_options_take_trace(common) < 0)
                return EXIT_STATUS_USAGE;
        path = common->trace ? common->trace : OPTION_DEFAULT_TRACE;
        r = trace_code_read(&code, path, &(struct trace_code_options){ .copy = NULL }, &err);
        if (r < 0) {
                complain_of_trace(r, path, &err);
                return EXIT_STATUS_FAILED;
        }
        module = choose(&code, common->operands[0]);
        status = module != 0 ? extract(&code, module, common) : EXIT_STATUS_FAILED;
        trace_code_deinit(&code);
        return status;
}

const struct option_table *cmd_extract_options(void)
{
        return &table;
}

int cmd_extract(int argc, char **argv)
{
        const struct command_frame frame = { .table = &table, .reading = COMMAND_WRITES_OUTPUT, .run = run };

        return command_frame_run(&frame, argc, argv);
}
