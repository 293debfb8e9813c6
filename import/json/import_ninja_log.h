/* SPDX-License-Identifier: MIT */
/*
 * import/json/import_ninja_log.h - what ninja notes of its builds: .ninja_log, versions 5 to 7
 *
 * Way of the data:  import_source -> [import_ninja_log] -> import_rows
 *
 * A line is an output: milliseconds from the begin of its build to the begin and the end of its command, and
 * a time of CLOCK_REALTIME, that of the file when the command had ended or, in newer versions, when it began.
 * The begin of a build is the median of what its lines say.  A build ends where the ends of commands go back.
 * Memory: the lines of a build, at most IMPORT_NINJA_LINES_MAX.
 */
#ifndef IMPORT_IMPORT_NINJA_LOG_H
#define IMPORT_IMPORT_NINJA_LOG_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_rows;
struct import_source;

#define IMPORT_NINJA_LINES_MAX (UINT32_C(1) << 20) /* of a build; more of them are another one */

bool import_ninja_log_recognise(struct text_view head);

/* Reads the whole file.  Returns 0, -ENOTSUP for another version, -errno of @source or @rows; with words. */
int import_ninja_log_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_NINJA_LOG_H */
