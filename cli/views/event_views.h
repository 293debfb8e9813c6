/* SPDX-License-Identifier: MIT */
/*
 * cli/views/event_views.h - the views of `hyprof report` that need no samples: --locks, --memory, --frames,
 * --plots, --messages, --devices
 *
 * Way of the data:  command line -> [event_views] -> lock_stats ... -> locks_view ... -> output_options
 */
#ifndef CLI_VIEWS_EVENT_VIEWS_H
#define CLI_VIEWS_EVENT_VIEWS_H

#include "analyze/walk/trace_filter.h"

#include <stdint.h>

struct error;
struct output_options;

/* Rows for the command's option_table; its letters must be these. */
#define EVENT_VIEW_OPTION_LOCKS    1400
#define EVENT_VIEW_OPTION_MEMORY   1401
#define EVENT_VIEW_OPTION_FRAMES   1402
#define EVENT_VIEW_OPTION_PLOTS    1403
#define EVENT_VIEW_OPTION_MESSAGES 1404
#define EVENT_VIEW_OPTION_SEVERITY 1405
#define EVENT_VIEW_OPTION_DEVICES  1406

#define EVENT_VIEW_ROWS                                                                                    \
        { EVENT_VIEW_OPTION_LOCKS, "locks", NULL, "waits for locks, and the holders meanwhile" },          \
                { EVENT_VIEW_OPTION_MEMORY, "memory", NULL,                                                \
                  "memory: in use, peak, never freed, by call stack or zone" },                            \
                { EVENT_VIEW_OPTION_FRAMES, "frames", NULL, "frames: times, zones in them, the slowest" }, \
                { EVENT_VIEW_OPTION_PLOTS, "plots", NULL, "plotted values and their course" },             \
                { EVENT_VIEW_OPTION_MESSAGES, "messages", NULL, "messages of the program" },               \
                { EVENT_VIEW_OPTION_SEVERITY, "severity", "LEVEL",                                         \
                  "with --messages: only trace, debug, info, warning, error, fatal, or above" },           \
        {                                                                                                  \
                EVENT_VIEW_OPTION_DEVICES, "devices", NULL,                                                \
                        "zones on accelerators, and how busy the accelerators were"                        \
        }

enum event_view {
        EVENT_VIEW_NONE,
        EVENT_VIEW_LOCKS,
        EVENT_VIEW_MEMORY,
        EVENT_VIEW_FRAMES,
        EVENT_VIEW_PLOTS,
        EVENT_VIEW_MESSAGES,
        EVENT_VIEW_DEVICES
};

/* Zero-initialised: none. */
struct event_views {
        enum event_view view;
        uint32_t severity_min;
};

/* Takes one of the options.  Returns 1; 0 if it is another option; -EINVAL after a complaint. */
int event_views_take(struct event_views *v, int letter, const char *value);

/*
 * event_views_print() - load the trace and print the view; `view` is not NONE
 * Returns an exit status; -errno with words in @err if the trace could not be read, or nothing in it is
 * what the filters name.
 */
int event_views_print(const struct event_views *v, const struct trace_filter_request *request,
                      const struct output_options *output, const char *path, struct error *err);

#endif /* CLI_VIEWS_EVENT_VIEWS_H */
