/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "view/answers/report_heading.h"
#include "view/answers/report_view.h"
#include "view/document/view_document.h"

/* The value of a number depends on it: where it was measured, and by what. */
static void add_environment(struct view_document *d, const struct report *report)
{
        const struct report_recording *recording = &report->recording;

        view_document_add_string(d, "hostname", "on", recording->hostname);
        view_document_add_string(d, "cpus", "CPUs", recording->cpus);
        view_document_add_string(d, "kernel", "kernel", recording->kernel);
        view_document_add_string(d, "machine", "machine", recording->machine);
        view_document_add_string(d, "hyprof_version", "hyprof", recording->hyprof_version);
        view_document_add_string(d, "exit_status", "exit status", recording->exit_status);
        view_document_add_number(d, "n_processes", "processes", VIEW_COUNT, report->n_processes);
        view_document_add_number(d, "n_threads", "threads", VIEW_COUNT, report->n_kernel_threads);
        view_document_add_number(d, "n_zones", "zones", VIEW_COUNT, report->n_zone_events);
        report_heading_add_lost(d, &report->lost);
        view_document_add_number(d, "n_unclosed", "unclosed", VIEW_COUNT, report->n_unclosed);
}

void overview_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options)
{
        view_document_set_title(d, "Recording");
        report_heading_add(d, report, options->filter);
        add_environment(d, report);
        if (!report->on_cpu_known && report->n_threads != 0)
                view_document_warn(d, "on-CPU and waiting are unknown: the trace has no context switches");
        functions_view_add_list(d, report, options->limit);
        zones_view_add_list(d, report, options->limit);
        threads_view_add_list(d, report, options->limit);
        report_heading_hint(d, options->path, "report --top-down");
        if (report->n_zones != 0)
                report_heading_hint(d, options->path, "report --zone z%u", report->zones[0].location);
        if (report->on_cpu_known)
                report_heading_hint(d, options->path, "report --off-cpu");
}
