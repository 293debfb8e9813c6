/* SPDX-License-Identifier: MIT */
#include "cli/version.h"

#include "cli/exit_status.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "format/trace_spec.h"
#include "instrument/client_abi.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* For this file alone the Makefile says HYPROF_GIT_ID, HYPROF_MACHINE, HYPROF_VARIANT, HYPROF_HAS_BPF. */

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
        { "libpfm4", true, "names of this processor's own events" },
        { "demangler", true, "readable names of C++, Rust and D" },
        { "lzma", true, "symbol tables in .gnu_debugdata" },
        { "zstd", true, "traces; compressed debug information" },
        { "seccomp", true, "processes that read untrusted files run without privileges" },
        { "llvm", true, "disassembly, if libLLVM is installed at run time" },
        { "debuginfod", true, "debug files from servers, if libdebuginfod is installed at run time" },
};

#define N_FEATURES (sizeof(features) / sizeof(features[0]))

static int print_json(void)
{
        json_t *list = json_object();
        json_t *root;
        int r = 0;

        for (size_t i = 0; list && i < N_FEATURES; i++)
                r |= json_object_set_new(list, features[i].name, json_boolean(features[i].is_there));
        root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:i, s:i}, s:i, s:o}", "schema",
                         VERSION_JSON_SCHEMA, "version", HYPROF_VERSION, "git", HYPROF_GIT_ID, "machine",
                         HYPROF_MACHINE, "variant", HYPROF_VARIANT, "compiler", COMPILER, "trace_format",
                         "major", TRACE_VERSION_MAJOR, "minor", TRACE_VERSION_MINOR, "client_abi",
                         CLIENT_ABI_MAJOR, "features", list);
        if (r == 0 && root)
                r = json_dumpf(root, stdout, JSON_INDENT(2));
        (void)putchar('\n');
        if (r < 0 || !root)
                complain("error: no memory for the version");
        json_decref(root);
        return r < 0 || !root ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

static int print_text(void)
{
        (void)printf("hyprof %s%s%s%s\n", HYPROF_VERSION, HYPROF_GIT_ID[0] ? " (git " : "", HYPROF_GIT_ID,
                     HYPROF_GIT_ID[0] ? ")" : "");
        (void)printf("%s, %s, %s; traces %d.%d, client ABI %d\n", HYPROF_MACHINE, HYPROF_VARIANT, COMPILER,
                     TRACE_VERSION_MAJOR, TRACE_VERSION_MINOR, CLIENT_ABI_MAJOR);
        for (size_t i = 0; i < N_FEATURES; i++)
                (void)printf("  %c%-11s %s\n", features[i].is_there ? '+' : '-', features[i].name,
                             features[i].help);
        return EXIT_STATUS_OK;
}

int version_run(int argc, char **argv)
{
        bool json = argc == 2 && (strcmp(argv[1], "--json") == 0 || strcmp(argv[1], "-j") == 0);

        if (argc > 2 || (argc == 2 && !json)) {
                complain("error: %s: --version takes --json alone", argv[argc - 1]);
                complain_try("hyprof --version --json");
                return EXIT_STATUS_USAGE;
        }
        return standard_output_finish(json ? print_json() : print_text(), "the version");
}
