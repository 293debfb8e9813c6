/* SPDX-License-Identifier: MIT */
/*
 * export/tables/tracy_csv.h - the tables that tracy-csvexport prints, for scripts that read these
 *
 * Way of the data:  loaded_trace, trace_walk -> [tracy_csv] -> csv_writer -> file, pipe
 *
 * The columns have its names and its order; ours follow them.  Differences, on purpose:
 * fields are quoted where they need it; zones that never ended are left out; with `self`
 * the standard deviation is that of the self times; `thread` is hyprof's number (t3 is 3).
 * Memory: a few numbers for each source location.
 */
#ifndef EXPORT_TABLES_TRACY_CSV_H
#define EXPORT_TABLES_TRACY_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct loaded_trace;
struct lost_zones;
struct trace_filter;

struct tracy_csv_options {
        const struct trace_filter *filter; /* NULL = everything */
        const char *name;                  /* only zones whose name has this in it; NULL = all */
        bool case_sensitive;               /* about `name` */
        bool self;                         /* times without the zones inside */
        bool unwrap;                       /* every zone instead of statistics; with `plots` every value */
        bool messages, plots, devices;     /* tables of their own */
        char separator;
        bool is_safe;                /* see csv_writer.h */
        struct lost_zones *ret_lost; /* what the table of zones lacks; NULL = not asked for */
};

/*
 *      statistics  name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns
 *      unwrap      name,src_file,src_line,ns_since_start,exec_time_ns,thread,value,tid,thread_name,zone_name
 *      messages    MessageName,total_ns,tid,thread_name,severity
 *      devices     name,src_file,Time from start of program,GPU execution time: zones of
 *                  devices, as they became known
 *      plots       name,src_file,src_line,ns_since_start,exec_time_ns,thread,value: values below the zones
 *
 * Times are ns, ns_since_start since the start of the recording; total_perc is of its whole length; value is
 * the text of the zone, or the number of the plot.  Returns 0, -ENOENT with words if no zone of the trace has
 * `name` in its name (unless messages or plots are asked for), -ENOMEM, -errno of @out, what
 * loaded_trace_walk() returns.
 */
int tracy_csv_write(struct loaded_trace *trace, const struct tracy_csv_options *options, FILE *out,
                    struct error *err);

#endif /* EXPORT_TABLES_TRACY_CSV_H */
