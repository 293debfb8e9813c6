/* SPDX-License-Identifier: MIT */
#include "cli/options/record_options.h"
#include "cli/record/record_parts.h"
#include "cli/terminal/complaint.h"
#include "format/trace_dictionary.h"
#include "sampler/recording/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CURRENT_EXE "/proc/self/exe"
#define LIBRARY     "libhyprof_inject.so"
#define CHOICE      "HYPROF_INJECT"

/* Each variable, and the interface that a program has which looks for it. */
static const struct variable {
        const char *name;
        uint32_t part;     /* enum injection_part */
        const char *value; /* NULL = the path of the library */
} variables[] = {
        { "INTEL_LIBITTNOTIFY64", INJECTION_ITT | INJECTION_OMPT, NULL },
        { "INTEL_JIT_PROFILER64", INJECTION_ITT, NULL },
        { "OMP_TOOL_LIBRARIES", INJECTION_OMPT, NULL },
        /* libomp reports the names of regions as they begin, not when they have ended. */
        { "KMP_FORKJOIN_FRAMES_MODE", INJECTION_OMPT, "0" },
        { "NVTX_INJECTION64_PATH", INJECTION_NVTX, NULL },
};

#define N_VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* Looks beside this program, and where an installation has it. */
static bool find_library(char path[PATH_MAX])
{
        static const char *const folders[] = { "", "../lib/hyprof/" };
        char own[PATH_MAX];
        ssize_t n = readlink(CURRENT_EXE, own, sizeof(own) - 1);
        char *slash;

        if (n <= 0)
                return false;
        own[n] = '\0';
        slash = strrchr(own, '/');
        if (!slash)
                return false;
        slash[1] = '\0';
        for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
                if (snprintf(path, PATH_MAX, "%s%s" LIBRARY, own, folders[i]) < PATH_MAX &&
                    access(path, R_OK) == 0)
                        return true;
        return false;
}

/* True if the command gets rights that we do not have. */
static bool has_own_rights(const char *command)
{
        char path[PATH_MAX];
        struct stat st;

        if (command_find_file(command, path, NULL) < 0 || stat(path, &st) < 0)
                return false;
        return (st.st_mode & (S_ISUID | S_ISGID)) != 0 || getxattr(path, "security.capability", NULL, 0) > 0;
}

static void add(struct injection *in, const char *name, const char *value)
{
        in->pairs[in->n++] = name;
        in->pairs[in->n++] = value;
}

/* A variable that is set stays; with the same value, a recorder around this one has set it. */
static void add_variable(struct injection *in, const struct variable *v, bool is_quiet)
{
        const char *value = v->value ? v->value : in->path;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *known = getenv(v->name);

        if (!known)
                add(in, v->name, value);
        else if (!is_quiet && strcmp(known, value) != 0)
                complain("note: --inject: %s is set already, and left as it is", v->name);
}

void injection_init(struct injection *in, const struct record_options *options, char **argv)
{
        uint32_t parts = options->injection & INJECTION_ALL;
        bool is_asked = options->injection != INJECTION_AUTO && !options->quiet;

        *in = (struct injection){ .n = 0 };
        if (!argv || record_options_is_attaching(options))
                return;
        if (parts == 0) {
                /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
                if (getenv(CHOICE)) /* a recorder around this one has set the variables */
                        add(in, CHOICE, "none");
                return;
        }
        if (has_own_rights(argv[0])) {
                if (is_asked)
                        complain("note: --inject: %s gets rights of its own: it is left as it is", argv[0]);
                return;
        }
        if (!find_library(in->path)) {
                if (is_asked)
                        complain("note: --inject: " LIBRARY " is neither beside hyprof nor in ../lib/hyprof");
                return;
        }
        injection_print(parts, in->words);
        add(in, CHOICE, in->words);
        for (size_t i = 0; i < N_VARIABLES; i++)
                if (variables[i].part & parts)
                        add_variable(in, &variables[i], options->quiet);
}

/* True if some program said that it has loaded the library. */
static bool was_loaded(const struct trace_dictionary *d)
{
        static const char key[] = "injected into";
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_PROGRAM_INFO);

        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_program_info *row = trace_dictionary_row(d, TRACE_TABLE_PROGRAM_INFO, id);
                const char *text;
                size_t n_bytes;

                text = trace_dictionary_string(d, row->key, &n_bytes);
                if (text && n_bytes >= sizeof(key) - 1 && memcmp(text, key, sizeof(key) - 1) == 0)
                        return true;
        }
        return false;
}

void injection_note_unused(const struct injection *in, const struct record_options *options,
                           const struct trace_dictionary *dictionary)
{
        if (in->words[0] != '\0' && options->injection != INJECTION_AUTO && options->delay_ns == 0 &&
            !options->quiet && !was_loaded(dictionary))
                complain("note: --inject=%s: no program asked for it, or it changed the variables itself",
                         in->words);
}
