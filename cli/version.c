/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

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

/* clang-format off */
#define VERSION_FACTS(FACT)                                                                                   \
        FACT(STRING, "version", NULL, view_words(HYPROF_VERSION), NULL)                                       \
        FACT(STRING, "git", NULL, view_words(HYPROF_GIT_ID), "the commit that it was built from")             \
        FACT(STRING, "machine", "machine", view_words(HYPROF_MACHINE), NULL)                                  \
        FACT(STRING, "variant", "variant", view_words(HYPROF_VARIANT), "of the build",                        \
             .one_of = "release|debug|asan|tsan|clang")                                                       \
        FACT(STRING, "compiler", "compiler", view_words(COMPILER), NULL)                                      \
        FACT(STRING, "trace_format", "trace format",                                                          \
             view_format(d, "%d.%d", TRACE_VERSION_MAJOR, TRACE_VERSION_MINOR), "the newest that it writes")  \
        FACT(ID, "client_abi", "client ABI", view_number(CLIENT_ABI_MAJOR), "major version")
#define FEATURE_COLUMNS(COLUMN)                                                                               \
        COLUMN(BOOL, "is_built_in", "", view_number(features[i].is_there), NULL)                              \
        COLUMN(STRING, "name", "feature", view_words(features[i].name), NULL, .n_columns_max = 16)            \
        COLUMN(STRING, "about", "for", view_words(features[i].help), "what it is for")
/* clang-format on */

static const struct view_column version_columns[] = { VERSION_FACTS(VIEW_MEMBER) };
static const struct view_column feature_columns[] = { FEATURE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(version_columns);
static const struct answer_part features_part = ANSWER_TABLE("features", feature_columns,
                                                             "what may be left out of a build");
const struct answer_schema version_schema = {
        .name = "hyprof.version/2",
        .command = "hyprof --version --json",
        .parts = (const struct answer_part *const[]){ &facts_part, &features_part, NULL },
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
        VERSION_FACTS(VIEW_FACT)
        t = view_document_add_part(d, &features_part, "Features");
        for (size_t i = 0; i < N_FEATURES; i++) {
                FEATURE_COLUMNS(VIEW_CELL)
        }
}

static int take_option(void *context, int letter, const char *value)
{
        int r = output_options_take(context, letter, value);

        return r < 0 ? r : 0;
}

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
