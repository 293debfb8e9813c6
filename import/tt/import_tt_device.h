/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_device.h - what Tenstorrent's chips did: profile_log_device.csv of tt-metal
 *
 * Way of the data:  profile_log_device.csv, sync_device_info.csv -> [import_tt_device] -> import_rows
 *
 * Tracks: device (chip) > core (x, y) > processor.  ZONE_START and ZONE_END, in the order of the file, become
 * spans of the processor; ZONE_TOTAL a value in cycles; TS_DATA, TS_EVENT and the bare timers of the oldest
 * logs become instants.  Times are the chip's own cycles.  Keys are of the kind TT_RUN_KEY_KIND.  Five
 * versions of the log are read; columns are found by their names.
 *
 * Not thread-safe.  Blocks on the files.  Memory: tracks, distinct names, and zones that are open.
 */
#ifndef IMPORT_IMPORT_TT_DEVICE_H
#define IMPORT_IMPORT_TT_DEVICE_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

#define IMPORT_TT_FORMAT        "tt-device"
#define IMPORT_TT_LANES_MAX     (UINT32_C(1) << 18) /* processors of all chips; rows of more are left out */
#define IMPORT_TT_NAMES_MAX     (UINT32_C(1) << 20) /* distinct names and files; more have no name */
#define IMPORT_TT_OPEN_MAX      (UINT32_C(1) << 20) /* zones that are open at once, on all processors */
#define IMPORT_TT_LANE_OPEN_MAX 256                 /* on one: of more, the outermost has lost its end */
#define IMPORT_TT_NEO_CLOCK_MHZ 1400                /* of Quasar's NEO processors, whatever the log says */

/* @head: the first bytes of a file, up to IMPORT_HEAD_BYTES. */
bool import_tt_device_recognise(struct text_view head);

/* Whether a folder has a log: itself, or as tt-metal lays out generated/profiler and its reports. */
bool import_tt_device_recognise_folder(const char *path);

/*
 * Read a log, and the readings of clocks in sync_device_info.csv where that lies beside it.
 * Return 0, -EBADMSG if it is no such log, or -errno with words.
 */
int import_tt_device_read(struct import_source *source, struct import_rows *rows, struct error *err);

/* The same for the newest log of a folder that import_tt_device_recognise_folder() knows. */
int import_tt_device_read_folder(const char *path, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_TT_DEVICE_H */
