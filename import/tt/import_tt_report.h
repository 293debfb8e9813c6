/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_report.h - tt-metal's reports of operations: by Python and by C++
 *
 * Way of the data:  import_source -> [import_tt_report] -> import_tt_tracks, import_rows
 *
 * These are ops_perf_results_*.csv and cpp_device_perf_report.csv, of 74 to 139 columns, which are found by
 * their names.  An operation becomes a span of the host and one of its chip, from the first to the last cycle
 * of firmware, with the same key; a signpost an instant of the host.  The host's times are placed by the TSC
 * that sync_device_info.csv states, else they are a clock of their own.
 */
#ifndef IMPORT_IMPORT_TT_REPORT_H
#define IMPORT_IMPORT_TT_REPORT_H

#include "base/text_view.h"

#include <stdbool.h>

struct import_source;
struct import_tt_tracks;

bool import_tt_report_recognise(struct text_view head);

/*
 * Reads all of @source.
 * @is_alone: there is no log, which would have said what file this is, and the frequency
 * Returns 0, -EBADMSG if it is no such report, or -errno with words in the tracks' `err`.
 */
int import_tt_report_read(struct import_tt_tracks *tracks, struct import_source *source, bool is_alone);

#endif /* IMPORT_IMPORT_TT_REPORT_H */
