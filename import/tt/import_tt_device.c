/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_device.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/tt/import_tt_files.h"
#include "import/tt/import_tt_log.h"
#include "import/tt/import_tt_report.h"
#include "import/tt/import_tt_tracks.h"

#include <errno.h>
#include <stdlib.h>

bool import_tt_device_recognise(struct text_view head)
{
        return import_tt_log_recognise(head) || import_tt_report_recognise(head);
}

static int read_sync(struct import_tt_tracks *tracks, const char *path)
{
        struct import_source *source;
        int r = import_source_open(&source, path, tracks->err);

        if (r < 0)
                return r;
        r = import_tt_sync_read(&tracks->sync, source, tracks->rows, tracks->err);
        import_source_close(source);
        return r < 0 ? r : import_tt_tracks_add_tsc(tracks);
}

static int read_report(struct import_tt_tracks *tracks, const char *path, bool is_alone)
{
        struct import_source *source;
        int r = import_source_open(&source, path, tracks->err);

        if (r < 0)
                return r;
        r = import_tt_report_read(tracks, source, is_alone);
        import_source_close(source);
        return r < 0 ? error_prefix_once(tracks->err, r, path) : 0;
}

/* @log: borrowed; it and the paths are NULL where there is no such file. */
static int read_files(struct import_source *log, const char *sync_path, const char *report_path,
                      struct import_rows *rows, struct error *err)
{
        struct error own = ERROR_NONE; /* with a code: import_rows or a source failed */
        struct import_tt_tracks tracks;
        int r = 0;

        import_tt_tracks_init(&tracks, rows, &own);
        if (sync_path)
                r = read_sync(&tracks, sync_path);
        if (r == 0 && log) {
                r = import_tt_log_read(&tracks, log);
                if (r < 0)
                        r = error_prefix_once(&own, r, import_source_path(log));
        }
        if (r == 0 && report_path)
                r = read_report(&tracks, report_path, log == NULL);
        import_tt_tracks_deinit(&tracks);
        if (r < 0 && err)
                *err = own;
        return r;
}

static int read_report_alone(struct import_source *source, const char *sync_path, struct import_rows *rows,
                             struct error *err)
{
        struct error own = ERROR_NONE;
        struct import_tt_tracks tracks;
        int r = 0;

        import_tt_tracks_init(&tracks, rows, &own);
        if (sync_path)
                r = read_sync(&tracks, sync_path);
        if (r == 0)
                r = import_tt_report_read(&tracks, source, true);
        import_tt_tracks_deinit(&tracks);
        if (r < 0 && err)
                *err = own;
        return r;
}

int import_tt_device_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        char *sync_path = NULL;
        struct text_view head;
        int r = import_source_head(source, &head, err);
        bool is_report = r == 0 && import_tt_report_recognise(head);

        if (r < 0)
                return r;
        r = import_tt_files_find_sync(import_source_path(source), &sync_path);
        if (r < 0)
                return error_set(err, r, "out of memory");
        r = is_report ? read_report_alone(source, sync_path, rows, err)
                      : read_files(source, sync_path, NULL, rows, err);
        free(sync_path);
        return r;
}

bool import_tt_device_recognise_folder(const char *path)
{
        char *log, *report = NULL;
        bool is_known = import_tt_files_find_log(path, &log) == 0 &&
                        (log || (import_tt_files_find_report(path, NULL, &report) == 0 && report));

        free(log);
        free(report);
        return is_known;
}

int import_tt_device_read_folder(const char *path, struct import_rows *rows, struct error *err)
{
        struct import_source *source = NULL;
        char *log = NULL, *sync = NULL, *report = NULL;
        int r = import_tt_files_find_log(path, &log);

        if (r == 0)
                r = import_tt_files_find_report(path, log, &report);
        if (r == 0 && (log || report))
                r = import_tt_files_find_sync(log ? log : report, &sync);
        if (r < 0)
                r = error_set(err, r, "out of memory");
        else if (!log && !report)
                r = error_set(err, -ENOENT, "%s: neither a device log nor a report of operations", path);
        if (r == 0 && log)
                r = import_source_open(&source, log, err);
        if (r == 0 && source)
                import_rows_written(rows, import_source_written_ns(source));
        if (r == 0)
                r = read_files(source, sync, report, rows, err);
        if (source)
                import_source_close(source);
        free(log);
        free(sync);
        free(report);
        return r;
}
