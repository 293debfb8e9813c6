/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_log.h - profile_log_device.csv: zones, sums and data of each processor, row by row
 *
 * Way of the data:  import_source -> [import_tt_log] -> import_tt_tracks, import_rows
 */
#ifndef IMPORT_IMPORT_TT_LOG_H
#define IMPORT_IMPORT_TT_LOG_H

#include "base/text_view.h"

#include <stdbool.h>

struct import_source;
struct import_tt_tracks;

bool import_tt_log_recognise(struct text_view head);

/* Reads all of @source.  Returns 0, -EBADMSG: no such log, or -errno, with words in the tracks' `err`. */
int import_tt_log_read(struct import_tt_tracks *tracks, struct import_source *source);

#endif /* IMPORT_IMPORT_TT_LOG_H */
