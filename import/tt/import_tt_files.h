/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_files.h - which files of a folder belong together, as tt-metal lays them out
 *
 * Way of the data:  a folder -> [import_tt_files] -> import_tt_device
 *
 *     generated/profiler/.logs/                the last run: profile_log_device.csv, sync_device_info.csv
 *     generated/profiler/reports/[NAME/]DATE/  a copy of profile_log_device.csv, ops_perf_results_*.csv
 *
 * Users hand around any of these, and files of them in one folder.  Only regular files count.
 */
#ifndef IMPORT_IMPORT_TT_FILES_H
#define IMPORT_IMPORT_TT_FILES_H

#define IMPORT_TT_LOG_NAME  "profile_log_device.csv"
#define IMPORT_TT_SYNC_NAME "sync_device_info.csv"

/*
 * The device log in @folder, or of the last run below it, rather in its report than in .logs.
 * @ret_path: heap, or NULL if there is none.  Returns 0 or -ENOMEM.
 */
int import_tt_files_find_log(const char *folder, char **ret_path);

/*
 * The readings of clocks that belong to a log: beside it, in .logs beside it, or in the .logs of the same
 * generated/profiler, if the log there has as many bytes; else they are of another run.
 * @ret_path: heap, or NULL if there are none.  Returns 0 or -ENOMEM.
 */
int import_tt_files_find_sync(const char *log_path, char **ret_path);

/*
 * The report of operations beside a log, or in @folder if @log_path is NULL.  @ret_path: as above.
 * Returns 0 or -ENOMEM.
 */
int import_tt_files_find_report(const char *folder, const char *log_path, char **ret_path);

#endif /* IMPORT_IMPORT_TT_FILES_H */
