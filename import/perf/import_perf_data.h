/* SPDX-License-Identifier: MIT */
/*
 * import/perf/import_perf_data.h - perf.data, as `perf record` writes it
 *
 * Way of the data:  import_source -> perf_file, perf_queue, perf_tasks, perf_stacks in [import_perf_data] ->
 *                   import_samples
 *
 * The clock is that of `perf record -k`; without it the kernel's own, of which nothing else is known.
 * docs/use/import-perf.md says what becomes of which record.
 */
#ifndef IMPORT_IMPORT_PERF_DATA_H
#define IMPORT_IMPORT_PERF_DATA_H

#include "base/text_view.h"

#include <stdbool.h>

struct error;
struct import_rows;
struct import_source;

bool import_perf_data_recognise(struct text_view head);

/*
 * Returns 0, also for a file that is cut off: then that is noted; -EBADMSG: its header makes no sense;
 * -ENOTSUP: it came through a pipe, or from a machine of the other byte order; -ENOMEM, -errno.
 */
int import_perf_data_read(struct import_source *source, struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_PERF_DATA_H */
