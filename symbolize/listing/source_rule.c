/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/source_rule.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Endings of files for compilers and interpreters.  Files of configuration, data, and text for people are
 * not included.
 */
static const char *const endings[] = {
        "a51",   "ada", "adb",  "ads", "as",   "asm", "c",   "c++",  "cc",    "cl",    "clj", "comp",
        "cp",    "cpp", "cppm", "cr",  "cs",   "cu",  "cuh", "cxx",  "d",     "dart",  "def", "di",
        "el",    "erl", "ex",   "exs", "f",    "f03", "f08", "f77",  "f90",   "f95",   "for", "frag",
        "fs",    "ftn", "glsl", "go",  "h",    "h++", "hh",  "hip",  "hlsl",  "hpp",   "hrl", "hs",
        "hxx",   "i",   "ii",   "inc", "inl",  "ino", "ipp", "ispc", "ixx",   "java",  "jl",  "js",
        "jsx",   "kt",  "kts",  "l",   "lhs",  "ll",  "lua", "m",    "metal", "mjs",   "ml",  "mli",
        "mlir",  "mm",  "mojo", "nim", "odin", "pas", "php", "pl",   "pm",    "pp",    "pxd", "py",
        "pyi",   "pyx", "r",    "rb",  "re",   "rkt", "rl",  "rs",   "s",     "scala", "scm", "sv",
        "swift", "sx",  "tcc",  "tpp", "ts",   "tsx", "txx", "v",    "vala",  "vert",  "vhd", "wat",
        "wgsl",  "y",   "yy",   "zig",
};

static bool ends_like_source(const char *path)
{
        const char *name = strrchr(path, '/') + 1;
        const char *dot = strrchr(name, '.');

        if (!dot) /* <vector>, <string>: headers of C++ have no ending */
                return strstr(path, "/include/") != NULL;
        for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
                if (strcasecmp(dot + 1, endings[i]) == 0)
                        return true;
        return false;
}

/* The rest of @path below @folder; NULL if @path lies elsewhere. */
static const char *find_rest_below(const char *path, const char *folder)
{
        char resolved[PATH_MAX];
        size_t n;

        if (!realpath(folder, resolved))
                return NULL;
        n = strlen(resolved);
        n -= n == 1; /* "/" */
        return strncmp(path, resolved, n) == 0 && path[n] == '/' ? path + n : NULL;
}

static const char *find_rest_below_current(const char *path)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *home = getenv("HOME");
        const char *rest = find_rest_below(path, ".");
        struct stat current, other;

        if (!rest || rest == path || stat(".", &current) < 0)
                return NULL;
        if (home && stat(home, &other) == 0 && other.st_dev == current.st_dev &&
            other.st_ino == current.st_ino)
                return NULL;
        return rest;
}

bool source_rule_allows(const char *path, const struct stat *status, const struct source_folders *given)
{
        const char *rest = NULL;

        if (path[0] != '/' || !ends_like_source(path))
                return false;
        for (unsigned i = 0; given && !rest && i < given->n_paths; i++)
                rest = find_rest_below(path, given->paths[i]);
        if (given && !rest && given->has_current)
                rest = find_rest_below_current(path);
        if (strstr(rest ? rest : path, "/."))
                return false;
        return rest || (status->st_mode & S_IROTH);
}
