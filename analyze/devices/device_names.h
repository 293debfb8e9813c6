/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_names.h - words about a zone that was not found, which devices may have
 *
 * Way of the data:  device_zones -> [device_names] -> why, path, event_views
 *
 * Zones of threads and of devices share the table of locations, so only the events tell which of them has a
 * name.  One pass, and a byte a location.
 */
#ifndef ANALYZE_DEVICES_DEVICE_NAMES_H
#define ANALYZE_DEVICES_DEVICE_NAMES_H

struct error;
struct loaded_trace;
struct zone_pattern;

/*
 * device_names_explain_missing() - why no zone of a device was found that @pattern names
 * @wanted:  the pattern, as typed
 * Returns -ENOENT with words (none is called that, and which name is near; or the filters leave none),
 * -ENOMEM, or what loaded_trace_walk() returns.
 */
int device_names_explain_missing(struct loaded_trace *trace, const struct zone_pattern *pattern,
                                 const char *wanted, struct error *err);

/*
 * device_names_explain_other() - the same after no zone of a thread was found: if devices have zones of that
 * name, says so instead of the words in @err
 */
int device_names_explain_other(struct loaded_trace *trace, const struct zone_pattern *pattern,
                               const char *wanted, struct error *err);

#endif /* ANALYZE_DEVICES_DEVICE_NAMES_H */
