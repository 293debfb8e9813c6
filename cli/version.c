/* SPDX-License-Identifier: MIT */
#include "cli/version.h"

#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/output_options.h"
#include "format/trace_spec.h"
#include "instrument/client_abi.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * The Makefile defines HYPROF_GIT_ID, HYPROF_MACHINE, HYPROF_VARIANT and HYPROF_HAS_... for this file
 * alone, and HYPROF_IS_STATIC where libraries cannot be loaded while running.
 */
#ifndef HYPROF_IS_STATIC
#define HYPROF_IS_STATIC 0
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct feature {
        const char *name;
        bool is_there;
        const char *help;
};

static const struct feature features[] = {
        { "bpf", HYPROF_HAS_BPF, "context switches by a BPF program; without it by perf" },
        { "libpfm4", HYPROF_HAS_PFM, "names of this processor's own events" },
        { "ncurses", HYPROF_HAS_NCURSES, "the screen of hyprof top; without it plain tables" },
        { "viewer", HYPROF_HAS_VIEWER, "hyprof view; without it hyprof export html" },
        { "sqlite", HYPROF_HAS_SQLITE, "hyprof export sqlite" },
        { "demangler", true, "readable names of C++, Rust and D" },
        { "lzma", true, "symbol tables in .gnu_debugdata" },
        { "zstd", true, "traces; compressed debug information" },
        { "seccomp", true, "processes that read untrusted files run without privileges" },
        { "llvm", !HYPROF_IS_STATIC, "disassembly, if libLLVM is installed at run time" },
        { "debuginfod", !HYPROF_IS_STATIC,
          "debug files from servers, if libdebuginfod is installed at run time" },
};

#define N_FEATURES (sizeof(features) / sizeof(features[0]))

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof --version",
        .operands = "",
        .about = "Shows which hyprof this is, what it was built from, and what is built in.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = shown; 2 = usage\n",
};

static const struct view_column feature_columns[] = {
        { .key = "is_built_in", .title = "", .type = VIEW_BOOL },
        { .key = "name", .title = "feature", .type = VIEW_STRING, .n_columns_max = 16 },
        { .key = "about", .title = "for", .type = VIEW_STRING },
};

static struct text_view text(const char *words)
{
        return (struct text_view){ words, strlen(words) };
}

static void fill(struct view_document *d)
{
        const bool has_git = HYPROF_GIT_ID[0] != '\0';
        char words[128];
        struct view_table *t;

        (void)snprintf(words, sizeof(words), "hyprof %s%s%s%s", HYPROF_VERSION, has_git ? " (git " : "",
                       HYPROF_GIT_ID, has_git ? ")" : "");
        view_document_set_answer(d, text(words));
        view_document_add_string(d, "version", NULL, text(HYPROF_VERSION));
        view_document_add_string(d, "git", NULL, text(HYPROF_GIT_ID));
        view_document_add_string(d, "machine", "machine", text(HYPROF_MACHINE));
        view_document_add_string(d, "variant", "variant", text(HYPROF_VARIANT));
        view_document_add_string(d, "compiler", "compiler", text(COMPILER));
        (void)snprintf(words, sizeof(words), "%d.%d", TRACE_VERSION_MAJOR, TRACE_VERSION_MINOR);
        view_document_add_string(d, "trace_format", "trace format", text(words));
        view_document_add_number(d, "client_abi", "client ABI", VIEW_ID, CLIENT_ABI_MAJOR);
        t = view_document_add_table(d, "features", "Features", feature_columns,
                                    sizeof(feature_columns) / sizeof(feature_columns[0]));
        for (size_t i = 0; i < N_FEATURES; i++) {
                view_table_put_bool(d, t, features[i].is_there);
                view_table_put_words(d, t, features[i].name);
                view_table_put_words(d, t, features[i].help);
        }
}

static int take_option(void *context, int letter, const char *value)
{
        int r = output_options_take(context, letter, value);

        return r < 0 ? r : 0;
}

const struct answer_schema version_schema = {
        .name = "hyprof.version/2",
        .command = "hyprof --version --json",
        .parts = (const struct answer_part *const[]){ NULL },
};

static int print(void *context, struct common_options *common)
{
        struct output_options *output = context;
        struct view_document document;
        int status;

        if (output_options_adopt(output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(output);
        view_document_init(&document, version_schema.name);
        fill(&document);
        status = output_options_print(output, &document);
        view_document_deinit(&document);
        return status;
}

int version_run(int argc, char **argv)
{
        struct output_options output;
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &output, .run = print
        };

        output_options_init(&output);
        return command_frame_run(&frame, argc, argv);
}
