/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_renamed.h - threads that had several names, and what they did under each
 *
 * Way of the data:  name_times -> [report_renamed] -> threads_view
 */
#ifndef ANALYZE_REPORT_REPORT_RENAMED_H
#define ANALYZE_REPORT_REPORT_RENAMED_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

struct report_renamed_row {
        uint32_t thread;
        struct text_view name;
        bool is_more;       /* several more names, together */
        uint64_t on_cpu_ns; /* see the report's `on_cpu_known` */
        double share;       /* of the thread's time on CPUs, or of its samples where that is not known */
        uint64_t n_samples;
        uint64_t first_ns, last_ns; /* from when until when it had the name, in the range of time */
};

/* Rows of a thread are together, in the order of `first_ns`, and threads as in the report. */
struct report_renamed {
        struct report_renamed_row *rows; /* heap */
        size_t n_rows;
};

/*
 * report_renamed_fill() - find the threads of the report that did something under at least two names
 * A name under which a thread did less than 1 % is left out: a thread has that of its maker before it takes
 * its own.  Returns 0 or -ENOMEM.
 */
int report_renamed_fill(struct report_renamed *n, const struct report *report);
void report_renamed_deinit(struct report_renamed *n);

#endif /* ANALYZE_REPORT_REPORT_RENAMED_H */
