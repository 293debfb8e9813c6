/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_files.h"

#include "base/text_view.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REPORT_PREFIX   "ops_perf_results"
#define REPORTS         "reports"
#define CPP_REPORT_NAME "cpp_device_perf_report.csv"
#define PARENTS_MAX     3 /* from reports/NAME/DATE up to generated/profiler */

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

/* What @look finds first, from the last entry in the order of the alphabet on: dates end the names. */
static int find_newest(const char *folder, int (*filter)(const struct dirent *entry),
                       int (*look)(const char *folder, const char *name, char **ret_path), char **ret_path)
{
        struct dirent **entries = NULL;
        int r = 0, n = scandir(folder, &entries, filter, alphasort);

        *ret_path = NULL;
        for (int i = n - 1; i >= 0; i--) {
                if (r == 0 && !*ret_path)
                        r = look(folder, entries[i]->d_name, ret_path);
                free(entries[i]);
        }
        free(entries);
        return r;
}

static int find_log_in(const char *folder, const char *name, char **ret_path)
{
        char *inner;
        int r;

        if (asprintf(&inner, "%s/%s", folder, name) < 0)
                return -ENOMEM;
        r = find_file(inner, "", IMPORT_TT_LOG_NAME, ret_path);
        free(inner);
        return r;
}

/* A log in folder/name, which is a DATE, or one folder deeper. */
static int find_log_below(const char *folder, const char *name, char **ret_path)
{
        char *inner;
        int r = find_log_in(folder, name, ret_path);

        if (r < 0 || *ret_path)
                return r;
        if (asprintf(&inner, "%s/%s", folder, name) < 0)
                return -ENOMEM;
        r = find_newest(inner, is_visible, find_log_in, ret_path);
        free(inner);
        return r;
}

/* Whether both are files of as many bytes: tt-metal copies the log into its reports. */
static bool is_copy(const char *a, const char *b)
{
        off_t n_a, n_b;

        return is_file(a, &n_a) && is_file(b, &n_b) && n_a == n_b;
}

/* A report of the last run has more than its .logs; an older one is of another run. */
static int find_log_of_run(const char *folder, char **ret_path)
{
        char *reports, *report = NULL;
        int r = find_file(folder, "", IMPORT_TT_LOG_NAME, ret_path);

        if (r < 0 || *ret_path)
                return r;
        if (asprintf(&reports, "%s/" REPORTS, folder) < 0)
                return -ENOMEM;
        r = find_newest(reports, is_visible, find_log_below, &report);
        free(reports);
        if (r == 0)
                r = find_file(folder, ".logs/", IMPORT_TT_LOG_NAME, ret_path);
        if (r == 0 && report && (!*ret_path || is_copy(report, *ret_path))) {
                free(*ret_path);
                *ret_path = report;
                return 0;
        }
        free(report);
        return r;
}

static bool is_of_reports(const char *folder)
{
        size_t n = strlen(folder);

        while (n > 1 && folder[n - 1] == '/')
                n--;
        return n >= strlen(REPORTS) && memcmp(folder + n - strlen(REPORTS), REPORTS, strlen(REPORTS)) == 0;
}

int import_tt_files_find_log(const char *folder, char **ret_path)
{
        static const char *const inner[] = { "profiler", "generated/profiler" };
        int r = find_log_of_run(folder, ret_path);

        if (r == 0 && !*ret_path && is_of_reports(folder))
                r = find_newest(folder, is_visible, find_log_below, ret_path);
        for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]) && r == 0 && !*ret_path; i++) {
                char *path;

                if (asprintf(&path, "%s/%s", folder, inner[i]) < 0)
                        return -ENOMEM;
                r = find_log_of_run(path, ret_path);
                free(path);
        }
        return r;
}

static int is_report(const struct dirent *entry)
{
        return strncmp(entry->d_name, REPORT_PREFIX, strlen(REPORT_PREFIX)) == 0 &&
               text_ends_with(entry->d_name, ".csv");
}

static int find_report_in(const char *folder, const char *name, char **ret_path)
{
        return find_file(folder, "", name, ret_path);
}

static char *folder_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
}

int import_tt_files_find_report(const char *folder, const char *log_path, char **ret_path)
{
        char *own = log_path ? folder_of(log_path) : strdup(folder);
        int r;

        *ret_path = NULL;
        if (!own)
                return -ENOMEM;
        r = find_newest(own, is_report, find_report_in, ret_path);
        if (r == 0 && !*ret_path)
                r = find_file(own, "", CPP_REPORT_NAME, ret_path);
        free(own);
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
        static const char *const up[PARENTS_MAX] = { "../.logs/", "../../.logs/", "../../../.logs/" };
        off_t n_log_bytes;
        char *folder;
        int r;

        *ret_path = NULL;
        if (!is_file(log_path, &n_log_bytes))
                return 0;
        folder = folder_of(log_path);
        if (!folder)
                return -ENOMEM;
        r = find_file(folder, "", IMPORT_TT_SYNC_NAME, ret_path);
        if (r == 0 && !*ret_path)
                r = find_file(folder, ".logs/", IMPORT_TT_SYNC_NAME, ret_path);
        for (size_t i = 0; i < PARENTS_MAX && r == 0 && !*ret_path; i++)
                r = find_sync_above(folder, up[i], n_log_bytes, ret_path);
        free(folder);
        return r;
}
