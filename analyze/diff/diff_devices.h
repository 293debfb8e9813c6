/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_devices.h - the zones of devices of one recording, as sums of a diff_run
 *
 * Way of the data:  device_zones, device_keys -> [diff_devices] -> diff_run
 *
 * Zones of one name on devices of one name are one sum, on whichever lanes they are.  The delay of a zone is
 * the time from the begin of its zone of a thread, which it has by its key, to its own; else from when the
 * program handed it over, if that is known.  Two passes.  Not thread-safe.
 */
#ifndef ANALYZE_DIFF_DIFF_DEVICES_H
#define ANALYZE_DIFF_DIFF_DEVICES_H

struct diff_names;
struct diff_run;
struct error;
struct loaded_trace;
struct trace_filter;

/*
 * Adds the zones of devices, if the trace has devices, before diff_run_finish().  @filter: NULL = everything
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int diff_devices_take(struct diff_run *run, struct diff_names *names, struct loaded_trace *trace,
                      const struct trace_filter *filter, struct error *err);

#endif /* ANALYZE_DIFF_DIFF_DEVICES_H */
