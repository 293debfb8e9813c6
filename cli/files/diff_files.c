/* SPDX-License-Identifier: MIT */
#include "cli/files/diff_files.h"

#include "analyze/diff/diff_comparison.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void diff_files_deinit(struct diff_files *f)
{
        for (size_t i = 0; i < f->n; i++)
                free(f->paths[i]);
        free(f->paths);
        *f = (struct diff_files){ .paths = NULL };
}

static int add_path(struct diff_files *f, const char *path, struct error *err)
{
        /* Twice the same run says nothing about how runs differ. */
        for (size_t i = 0; i < f->n; i++)
                if (strcmp(f->paths[i], path) == 0)
                        return 0;
        if (f->n >= DIFF_RUNS_MAX / 2)
                return error_set(err, -E2BIG, "more than %d recordings in a set", DIFF_RUNS_MAX / 2);
        if (array_reserve(&f->paths, &f->capacity, f->n + 1, sizeof(*f->paths)) < 0)
                return error_set(err, -ENOMEM, "no memory for names");
        f->paths[f->n] = strdup(path);
        if (!f->paths[f->n])
                return error_set(err, -ENOMEM, "no memory for names");
        f->n++;
        return 0;
}

int diff_files_add(struct diff_files *f, const char *pattern, struct error *err)
{
        glob_t found = { .gl_pathc = 0 };
        int r = 0;

        if (strcmp(pattern, "-") == 0 || access(pattern, F_OK) == 0)
                return add_path(f, pattern, err);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        switch (glob(pattern, 0, NULL, &found)) {
        case 0:
                for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
                        r = add_path(f, found.gl_pathv[i], err);
                break;
        case GLOB_NOSPACE:
                r = error_set(err, -ENOMEM, "no memory for names");
                break;
        default:
                r = error_set(err, -ENOENT, "no file is called '%s'", pattern);
                break;
        }
        globfree(&found);
        return r;
}
