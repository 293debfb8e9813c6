/* SPDX-License-Identifier: MIT */
/*
 * cli/views/report_views.h - the views of `hyprof report`: --functions, --zones, --zone NAME,
 * --threads ..., or the overview
 *
 * Way of the data:  command line -> [report_views] -> report_load(), functions_view ... -> output_options
 */
#ifndef CLI_VIEWS_REPORT_VIEWS_H
#define CLI_VIEWS_REPORT_VIEWS_H

#include "analyze/walk/trace_filter.h"
#include "analyze/zones/zone_groups.h"
#include "cli/options/common_options.h"
#include "cli/options/output_options.h"

#include <stdbool.h>
#include <stdint.h>

struct error;

/*
 * event_views.c - the views of `hyprof report` that need no call trees: --locks, --memory, --frames,
 * --plots, --messages, --devices, --wall, --idle, --heat, --flows
 *
 * Way of the data:  command line -> [event_views] -> lock_stats, wall_shares ... -> locks_view, wall_view ...
 *                   -> output_options
 */

/* Rows for the command's option_table; its letters must be these. */
#define EVENT_VIEW_OPTION_LOCKS    1400
#define EVENT_VIEW_OPTION_MEMORY   1401
#define EVENT_VIEW_OPTION_FRAMES   1402
#define EVENT_VIEW_OPTION_PLOTS    1403
#define EVENT_VIEW_OPTION_MESSAGES 1404
#define EVENT_VIEW_OPTION_SEVERITY 1405
#define EVENT_VIEW_OPTION_DEVICES  1406
#define EVENT_VIEW_OPTION_WALL     1407
#define EVENT_VIEW_OPTION_IDLE     1408
#define EVENT_VIEW_OPTION_HEAT     1409
#define EVENT_VIEW_OPTION_FLOWS    1410

#define EVENT_VIEW_ROWS                                                                                    \
        { EVENT_VIEW_OPTION_WALL, "wall", NULL,                                                            \
          "functions by wall time: each moment divided by the threads that can run" },                     \
                { EVENT_VIEW_OPTION_IDLE, "idle", NULL,                                                    \
                  "why cores were idle, and which thread was waited for" },                                \
                { EVENT_VIEW_OPTION_HEAT, "heat", NULL,                                                    \
                  "when within each second samples were taken; with --zone: and long instances began" },   \
                { EVENT_VIEW_OPTION_LOCKS, "locks", NULL, "waits for locks, and the holders meanwhile" },  \
                { EVENT_VIEW_OPTION_MEMORY, "memory", NULL,                                                \
                  "memory: in use, peak, never freed, by call stack or zone" },                            \
                { EVENT_VIEW_OPTION_FRAMES, "frames", NULL, "frames: times, zones in them, the slowest" }, \
                { EVENT_VIEW_OPTION_FLOWS, "flows", NULL,                                                  \
                  "how long work was on its way from zone to zone" },                                      \
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
        EVENT_VIEW_DEVICES,
        EVENT_VIEW_WALL,
        EVENT_VIEW_IDLE,
        EVENT_VIEW_HEAT,
        EVENT_VIEW_FLOWS
};

/* Zero-initialised: none. */
struct event_views {
        enum event_view view;
        uint32_t severity_min;
        bool shows_native; /* set by the caller: code below Python functions stands for itself */
        bool has_steps;    /* likewise, of --idle: the causes in equal steps of the time */
};

/* Takes one of the options.  Returns 1; 0 if it is another option; -EINVAL after a complaint. */
int event_views_take(struct event_views *v, int letter, const char *value);

/*
 * event_views_print() - load the trace and print the view; `view` is not NONE
 * Returns an exit status; -errno with words in @err if the trace could not be read, or has nothing that the
 * filters name.
 */
int event_views_print(const struct event_views *v, const struct trace_filter_request *request,
                      const struct output_options *output, const char *path, struct error *err);

/* Rows for the command's option_table; its letters must be these. */
#define VIEW_OPTION_FUNCTIONS       1300
#define VIEW_OPTION_TOP_DOWN        1301
#define VIEW_OPTION_BOTTOM_UP       1302
#define VIEW_OPTION_FUNCTION        1303
#define VIEW_OPTION_MIN_SHARE       1304
#define VIEW_OPTION_DEPTH           1305
#define VIEW_OPTION_ZONES           1306
#define VIEW_OPTION_HISTOGRAM       1307
#define VIEW_OPTION_THREADS         1308
#define VIEW_OPTION_MODULES         1309
#define VIEW_OPTION_GROUP_BY        1310
#define VIEW_OPTION_OFF_CPU         1311
#define VIEW_OPTION_CPUS            1312
#define VIEW_OPTION_LONGER          1313
#define VIEW_OPTION_SHORTER         1314
#define VIEW_OPTION_ZONES_AS_FRAMES 1315
#define VIEW_OPTION_SYSCALLS        1317
#define VIEW_OPTION_LINES           1318
#define VIEW_OPTION_ALSO            1319

#define REPORT_VIEW_ROWS                                                                                     \
        { VIEW_OPTION_FUNCTIONS, "functions", NULL, "functions by self time" },                              \
                { VIEW_OPTION_TOP_DOWN, "top-down", NULL,                                                    \
                  "calls as a tree, from the outermost function inwards" },                                  \
                { VIEW_OPTION_ZONES_AS_FRAMES, "zones-as-frames", NULL,                                      \
                  "as --top-down, with the zones around the calls" },                                        \
                { VIEW_OPTION_BOTTOM_UP, "bottom-up", NULL, "functions and their callers, as a tree" },      \
                { VIEW_OPTION_FUNCTION, "function", "NAME",                                                  \
                  "only these: name (glob), a part of it, or handle f12" },                                  \
                { VIEW_OPTION_MIN_SHARE, "min-share", "PERCENT",                                             \
                  "in trees: leave out branches below this share" },                                         \
                { VIEW_OPTION_DEPTH, "depth", "N", "in trees: at most N levels; 0 = all" },                  \
                { VIEW_OPTION_LINES, "lines", NULL, "source lines by self time, of all functions" },         \
                NATIVE_OPTION_ROW,                                                                           \
                { VIEW_OPTION_ZONES, "zones", NULL, "zones with their times and percentiles" },              \
                { VIEW_OPTION_HISTOGRAM, "histogram", NULL,                                                  \
                  "with --zones or --group-by: a histogram of each zone or group; with --idle: over time" }, \
                { VIEW_OPTION_GROUP_BY, "group-by", "text|name|value|thread|parent|process|recording|host",  \
                  "with --zone NAME alone: its instances in groups" },                                       \
                { VIEW_OPTION_LONGER, "longer-than", "TIME",                                                 \
                  "with --zone NAME alone: instances that last at least this long" },                        \
                { VIEW_OPTION_SHORTER, "shorter-than", "TIME", "the same: less than this" },                 \
                { VIEW_OPTION_THREADS, "threads", NULL, "threads: on-CPU, waiting, samples" },               \
                { VIEW_OPTION_OFF_CPU, "off-cpu", NULL,                                                      \
                  "what threads waited for, and which threads woke them" },                                  \
                { VIEW_OPTION_SYSCALLS, "syscalls", NULL,                                                    \
                  "system calls that record --syscalls counted: number, time, bytes, callers" },             \
                { VIEW_OPTION_CPUS, "cpus", NULL, "how busy each CPU was, and with which threads" },         \
                { VIEW_OPTION_ALSO, "also", "VIEW", NULL },                                                  \
        {                                                                                                    \
                VIEW_OPTION_MODULES, "modules", NULL, "files with samples, and their symbols"                \
        }

enum report_view {
        REPORT_VIEW_NONE,
        REPORT_VIEW_FUNCTIONS,
        REPORT_VIEW_LINES,
        REPORT_VIEW_ZONES,
        REPORT_VIEW_ZONE,
        REPORT_VIEW_THREADS,
        REPORT_VIEW_MODULES,
        REPORT_VIEW_WAITS, /* --off-cpu, --cpus, or both */
        REPORT_VIEW_SYSCALLS,
        REPORT_VIEW_OVERVIEW /* what there is without a view */
};

#define REPORT_VIEWS_DEPTH_UNSET UINT32_MAX
#define REPORT_VIEWS_ALSO_MAX    8

struct report_views {
        enum report_view view;
        bool top_down, bottom_up, zones_as_frames, histogram, off_cpu, cpus, native;
        enum zone_group_key group_by;             /* ZONE_GROUP_NONE = not given */
        uint64_t longer_than_ns, shorter_than_ns; /* 0 = not given */
        const char *function;                     /* NULL = all */
        double share_min;                         /* negative = not given */
        uint32_t depth_max;                       /* 0 = all; REPORT_VIEWS_DEPTH_UNSET = not given */
        struct trace_filter_request filter;
        struct output_options output;
        /*
         * Only `hyprof html` gives --also VIEW: options of views that are printed after this one, of the same
         * report.  Each document has a NUL after it, and one that cannot be printed is empty.
         */
        int also[REPORT_VIEWS_ALSO_MAX];
        uint32_t n_also;
};

void report_views_init(struct report_views *v);

/*
 * Takes an option of a view, of a filter or of the output.  Returns 1; 0 if it is another option; -EINVAL
 * after a complaint.
 */
int report_views_take(struct report_views *v, int letter, const char *value);

/*
 * report_views_complete() - after the last option
 * @has_other: a view is asked for that is not one of these
 * --zone is a view if it is alone, else a filter.  Returns 0, or -EINVAL after a complaint.
 */
int report_views_complete(struct report_views *v, bool has_other);

/*
 * report_views_print() - load the trace and print the view; `view` is not NONE
 * Returns an exit status; -errno with words in @err if the trace could not be read.
 */
int report_views_print(const struct report_views *v, const char *path, struct error *err);

#endif /* CLI_VIEWS_REPORT_VIEWS_H */
