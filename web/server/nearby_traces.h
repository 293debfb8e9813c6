/* SPDX-License-Identifier: MIT */
/*
 * web/server/nearby_traces.h - the traces in the folder of the one that is shown, to compare it with
 *
 * Way of the data:  a folder -> [nearby_traces] -> view_front -> http_server -> the page; a name -> a path
 *
 * A page names no path: it chooses among these names, and each must be that of a trace.  Runs in the front.
 */
#ifndef WEB_SERVER_NEARBY_TRACES_H
#define WEB_SERVER_NEARBY_TRACES_H

#include "base/text_view.h"

#include <stdbool.h>

struct byte_buffer;
struct error;

#define NEARBY_TRACES_MAX 200 /* the newest */

/*
 * Appends {"traces": [{"name", "bytes", "modified_s"}, ...], "is_compared", "failure"}, the newest first,
 * without @trace.
 * @is_compared: a server that has read another trace as well is there
 * @failure:     why the one that was chosen last is not shown; "" = nothing failed
 * Returns 0, -ENOMEM, -errno.
 */
int nearby_traces_put(const char *trace, bool is_compared, const char *failure, struct byte_buffer *out,
                      struct error *err);

/*
 * The path of one of them, on the heap.  Returns 0; -EINVAL if it is no name, or no trace has it; -ENOMEM.
 */
int nearby_traces_find(const char *trace, struct text_view name, char **ret_path, struct error *err);

#endif /* WEB_SERVER_NEARBY_TRACES_H */
