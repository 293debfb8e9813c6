/* SPDX-License-Identifier: MIT */
#include "import/import_tt_files.h"

#include "base/error.h"
#include "import/import_source.h"
#include "import/import_tt_device.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REPORTS_DEPTH 2 /* reports/NAME/DATE */
#define PARENTS_MAX   3 /* from reports/NAME/DATE up to generated/profiler */

static bool is_file(const char *path, off_t *ret_bytes)
{
        struct stat st;

        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        *ret_bytes = st.st_size;
        return true;
}

/* The file folder/middle/name, if it is one.  NULL in *ret_path: it is none. */
static int find_file(const char *folder, const char *middle, const char *name, char **ret_path)
{
        off_t n_bytes;
        char *path;

        *ret_path = NULL;
        if (asprintf(&path, "%s/%s%s", folder, middle, name) < 0)
                return -ENOMEM;
        if (is_file(path, &n_bytes))
                *ret_path = path;
        else
                free(path);
        return 0;
}

static int is_visible(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

static int find_report(const char *folder, unsigned depth, char **ret_path);

/* A log in folder/name, or one folder deeper. */
static int find_in(const char *folder, const char *name, unsigned depth, char **ret_path)
{
        char *inner;
        int r;

        if (asprintf(&inner, "%s/%s", folder, name) < 0)
                return -ENOMEM;
        r = find_file(inner, "", IMPORT_TT_LOG_NAME, ret_path);
        if (r == 0 && !*ret_path && depth > 1)
                r = find_report(inner, depth - 1, ret_path);
        free(inner);
        return r;
}

/* Names of reports are dates: the last one in the order of the alphabet is the newest. */
static int find_report(const char *folder, unsigned depth, char **ret_path)
{
        struct dirent **entries = NULL;
        int r = 0, n = scandir(folder, &entries, is_visible, alphasort);

        *ret_path = NULL;
        for (int i = n - 1; i >= 0; i--) {
                if (r == 0 && !*ret_path)
                        r = find_in(folder, entries[i]->d_name, depth, ret_path);
                free(entries[i]);
        }
        free(entries);
        return r;
}

int import_tt_files_find_log(const char *folder, char **ret_path)
{
        char *reports;
        int r = find_file(folder, "", IMPORT_TT_LOG_NAME, ret_path);

        if (r == 0 && !*ret_path)
                r = find_file(folder, ".logs/", IMPORT_TT_LOG_NAME, ret_path);
        if (r < 0 || *ret_path)
                return r;
        if (asprintf(&reports, "%s/reports", folder) < 0)
                return -ENOMEM;
        r = find_report(reports, REPORTS_DEPTH, ret_path);
        free(reports);
        return r;
}

/* Whether the .logs at the end of so many parents has a log of as many bytes. */
static int find_sync_above(const char *folder, const char *up, off_t n_log_bytes, char **ret_path)
{
        off_t n_bytes = -1;
        char *log;
        int r = find_file(folder, up, IMPORT_TT_LOG_NAME, &log);

        *ret_path = NULL;
        if (r < 0 || !log)
                return r;
        if (is_file(log, &n_bytes) && n_bytes == n_log_bytes)
                r = find_file(folder, up, IMPORT_TT_SYNC_NAME, ret_path);
        free(log);
        return r;
}

int import_tt_files_find_sync(const char *log_path, char **ret_path)
{
        static const char *const UP[PARENTS_MAX] = { "../.logs/", "../../.logs/", "../../../.logs/" };
        const char *slash = strrchr(log_path, '/');
        off_t n_log_bytes;
        char *folder;
        int r;

        *ret_path = NULL;
        if (!is_file(log_path, &n_log_bytes))
                return 0;
        folder = slash ? strndup(log_path, (size_t)(slash - log_path)) : strdup(".");
        if (!folder)
                return -ENOMEM;
        r = find_file(folder, "", IMPORT_TT_SYNC_NAME, ret_path);
        if (r == 0 && !*ret_path)
                r = find_file(folder, ".logs/", IMPORT_TT_SYNC_NAME, ret_path);
        for (size_t i = 0; i < PARENTS_MAX && r == 0 && !*ret_path; i++)
                r = find_sync_above(folder, UP[i], n_log_bytes, ret_path);
        free(folder);
        return r;
}

bool import_tt_device_recognise_folder(const char *path)
{
        char *log;
        bool is_known = import_tt_files_find_log(path, &log) == 0 && log;

        if (is_known)
                free(log);
        return is_known;
}

int import_tt_device_read_folder(const char *path, struct import_rows *rows, struct error *err)
{
        struct import_source *source;
        char *log;
        int r = import_tt_files_find_log(path, &log);

        if (r < 0)
                return error_set(err, r, "out of memory");
        if (!log)
                return error_set(err, -ENOENT, "%s: no profile_log_device.csv in it", path);
        r = import_source_open(&source, log, err);
        if (r == 0) {
                r = import_tt_device_read(source, rows, err);
                import_source_close(source);
        }
        free(log);
        return r;
}
