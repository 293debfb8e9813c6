/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/chrome_parts.h - what the files of the export to Chrome's trace events have in common
 *
 * Way of the data:  export_chrome, chrome_devices -> [chrome_parts] -> json_out -> file
 */
#ifndef EXPORT_PERFETTO_CHROME_PARTS_H
#define EXPORT_PERFETTO_CHROME_PARTS_H

#include "analyze/devices/device_keys.h"
#include "analyze/walk/trace_walk.h"
#include "base/byte_buffer.h"
#include "export/shared/event_spool.h"
#include "export/shared/json_out.h"
#include "export/shared/lock_waits.h"
#include "export/shared/process_names.h"

#include <stddef.h>
#include <stdint.h>

struct device_tracks;
struct error;
struct export_totals;
struct loaded_trace;
struct trace_filter;
struct trace_location;

/* The offsets of a thread's open zones in its chain, by depth, and the offset of its pending lock wait. */
struct chrome_thread {
        uint64_t *offsets; /* heap */
        size_t capacity;
        uint64_t wait_offset;
};

struct chrome_export {
        struct loaded_trace *trace;
        struct export_totals *totals;
        const struct trace_filter *filter;
        struct trace_walk walk;
        struct event_spool spool;
        struct process_names names;
        struct lock_waits lock_waits;
        struct device_keys keys;
        struct device_tracks *devices; /* while they are written */
        uint64_t n_flows;              /* from zones to the work of devices */
        struct chrome_thread *threads; /* heap; by id - 1 */
        struct json_out json;
        struct byte_buffer name; /* of an arrow's end */
};

/* ------------------------------------------------------------------ export_chrome.c */

/* A member that is a time, as microseconds with three digits; for "ts" since the start of the trace. */
void chrome_export_put_time(struct chrome_export *x, const char *key, uint64_t time_ns);
uint64_t chrome_export_since_start(const struct chrome_export *x, uint64_t time_ns);

/* The members that all events of threads have.  The caller writes the rest, up to the end of the event. */
void chrome_export_begin_event(struct chrome_export *x, const char *phase, uint32_t thread);
void chrome_export_end_event(struct chrome_export *x);

/* After the begin of an event that has a length. */
void chrome_export_begin_slice(struct chrome_export *x, uint64_t begin_ns, uint64_t end_ns,
                               const char *category);

/* "file:line", where Tracy looks for it. */
void chrome_export_put_source(struct chrome_export *x, const struct trace_location *location);

/* ------------------------------------------------------------------ chrome_devices.c */

/* All devices, a thread for each sub-lane.  Returns 0 or -errno with words. */
int chrome_devices_write(struct chrome_export *x, struct error *err);

#endif /* EXPORT_PERFETTO_CHROME_PARTS_H */
