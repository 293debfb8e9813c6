/* SPDX-License-Identifier: MIT */
#include "cli/views/report_views.h"

#include "analyze/cores/idle_cores.h"
#include "analyze/cores/wall_shares.h"
#include "analyze/devices/device_names.h"
#include "analyze/devices/device_stats.h"
#include "analyze/stats/flow_stats.h"
#include "analyze/stats/frame_stats.h"
#include "analyze/stats/frame_zones.h"
#include "analyze/stats/heat_grid.h"
#include "analyze/stats/lock_stats.h"
#include "analyze/stats/memory_stats.h"
#include "analyze/stats/message_list.h"
#include "analyze/stats/plot_stats.h"
#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/options/filter_options.h"
#include "cli/options/option_table.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/path/idle_view.h"
#include "view/path/wall_view.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"

#include <errno.h>
#include <string.h>

#define TEXT_ROWS 25
/* Steps of the time: as many as a person reads, or a program that answers itself; and as a picture has. */
#define STEPS_FEW  20
#define STEPS_MANY 500

struct printing {
        const struct event_views *views;
        struct loaded_trace trace;
        struct trace_filter filter;
        struct view_document document;
        struct event_view_options options;
        bool is_picture;  /* a program draws it, which takes more than a person reads */
        uint32_t n_steps; /* of --idle; 0 = not wanted */
};

static int take_view(struct event_views *v, enum event_view view)
{
        if (v->view != EVENT_VIEW_NONE && v->view != view) {
                complain(
                        "error: choose one view: --locks, --memory, --frames, --plots, --messages, --devices, "
                        "--flows, --wall, --idle or --heat");
                return -EINVAL;
        }
        v->view = view;
        return 1;
}

static int take_severity(struct event_views *v, const char *value)
{
        int severity = message_list_parse_severity(value);

        if (severity < 0) {
                complain("error: --severity %s: expected one of trace, debug, info, warning, error, fatal",
                         value);
                return -EINVAL;
        }
        v->severity_min = (uint32_t)severity;
        return take_view(v, EVENT_VIEW_MESSAGES);
}

int event_views_take(struct event_views *v, int letter, const char *value)
{
        switch (letter) {
        case EVENT_VIEW_OPTION_LOCKS:
                return take_view(v, EVENT_VIEW_LOCKS);
        case EVENT_VIEW_OPTION_MEMORY:
                return take_view(v, EVENT_VIEW_MEMORY);
        case EVENT_VIEW_OPTION_FRAMES:
                return take_view(v, EVENT_VIEW_FRAMES);
        case EVENT_VIEW_OPTION_PLOTS:
                return take_view(v, EVENT_VIEW_PLOTS);
        case EVENT_VIEW_OPTION_MESSAGES:
                return take_view(v, EVENT_VIEW_MESSAGES);
        case EVENT_VIEW_OPTION_SEVERITY:
                return take_severity(v, value);
        case EVENT_VIEW_OPTION_DEVICES:
                return take_view(v, EVENT_VIEW_DEVICES);
        case EVENT_VIEW_OPTION_WALL:
                return take_view(v, EVENT_VIEW_WALL);
        case EVENT_VIEW_OPTION_IDLE:
                return take_view(v, EVENT_VIEW_IDLE);
        case EVENT_VIEW_OPTION_HEAT:
                return take_view(v, EVENT_VIEW_HEAT);
        case EVENT_VIEW_OPTION_FLOWS:
                return take_view(v, EVENT_VIEW_FLOWS);
        default:
                return 0;
        }
}

/*
 * ------------------------------------------------------------------ each function takes the findings of one
 * view and fills the document with them
 */

static int fill_locks(struct printing *p, struct error *err)
{
        struct event_walk walk;
        struct lock_stats stats;
        int r = lock_stats_take(&stats, &p->trace, &p->filter, &walk, err);

        if (r == 0)
                locks_view_fill(&p->document, &stats, &walk, &p->trace, &p->options);
        lock_stats_deinit(&stats);
        event_walk_deinit(&walk);
        return r;
}

static int fill_memory(struct printing *p, struct error *err)
{
        struct event_walk walk;
        struct memory_stats stats;
        int r = memory_stats_take(&stats, &p->trace, &p->filter, &walk, err);

        if (r == 0)
                memory_view_fill(&p->document, &stats, &walk, &p->trace, &p->options);
        memory_stats_deinit(&stats);
        event_walk_deinit(&walk);
        return r;
}

static int fill_frames(struct printing *p, struct error *err)
{
        struct frame_zones zones = { .rows = NULL };
        struct frame_stats stats;
        int r = frame_stats_take(&stats, &p->trace, &p->filter, err);

        if (r == 0)
                r = frame_zones_take(&zones, &stats, &p->trace, &p->filter, err);
        if (r == 0)
                frames_view_fill(&p->document, &zones, &p->trace, &p->options);
        frame_zones_deinit(&zones);
        frame_stats_deinit(&stats);
        return r;
}

static int fill_flows(struct printing *p, struct error *err)
{
        struct flow_stats stats;
        int r = flow_stats_take(&stats, &p->trace, &p->filter, err);

        if (r == 0)
                flows_view_fill(&p->document, &stats, &p->trace, &p->options);
        flow_stats_deinit(&stats);
        return r;
}

static int fill_plots(struct printing *p, struct error *err)
{
        struct plot_stats stats;
        int r = plot_stats_take(&stats, &p->trace, &p->filter, err);

        if (r == 0)
                plots_view_fill(&p->document, &stats, &p->trace, &p->options);
        plot_stats_deinit(&stats);
        return r;
}

static int fill_messages(struct printing *p, struct error *err)
{
        struct message_list list;
        struct trace_walk walk;
        int r;

        message_list_init(&list, p->views->severity_min, 0);
        r = message_list_take(&list, &p->trace, &p->filter, &walk, err);
        if (r == 0)
                messages_view_fill(&p->document, &list, &walk.paths, &p->trace, &p->options);
        message_list_deinit(&list);
        trace_walk_deinit(&walk);
        return r;
}

static int fill_devices(struct printing *p, struct error *err)
{
        struct device_stats stats;
        int r = device_stats_take(&stats, &p->trace, &p->filter, err);

        if (r == 0 && stats.n_rows == 0 && p->options.is_filtered)
                r = output_options_say_none(p->options.filter, err);
        else if (r == 0)
                devices_view_fill(&p->document, &stats, &p->trace, &p->options);
        else if (r == -ENOENT && p->filter.has_zone)
                r = device_names_explain_other(&p->trace, &p->filter.zone, p->filter.request.zone, err);
        device_stats_deinit(&stats);
        return r;
}

static int fill_wall(struct printing *p, struct error *err)
{
        const struct wall_shares_request request = { .filter = &p->filter,
                                                     .shows_native = p->views->shows_native };
        struct wall_shares shares;
        int r = wall_shares_take(&shares, &p->trace, &request, err);

        if (r == 0)
                wall_view_fill(&p->document, &shares, &p->trace, &p->options);
        wall_shares_deinit(&shares);
        return r;
}

static int fill_idle(struct printing *p, struct error *err)
{
        const struct idle_cores_request request = { .filter = &p->filter,
                                                    .shows_native = p->views->shows_native,
                                                    .n_steps = p->n_steps };
        struct idle_cores cores;
        int r = idle_cores_take(&cores, &p->trace, &request, err);

        if (r == 0)
                idle_view_fill(&p->document, &cores, &p->trace, &p->options);
        idle_cores_deinit(&cores);
        return r;
}

static int fill_heat(struct printing *p, struct error *err)
{
        struct heat_grid grid = { .cells = NULL };
        int r = heat_grid_take(&grid, &p->trace, &p->filter, err);

        if (r == 0)
                heat_view_fill(&p->document, &grid, p->filter.request.zone, p->is_picture, &p->trace,
                               &p->options);
        heat_grid_deinit(&grid);
        return r;
}

static int fill(struct printing *p, struct error *err)
{
        switch (p->views->view) {
        case EVENT_VIEW_LOCKS:
                return fill_locks(p, err);
        case EVENT_VIEW_MEMORY:
                return fill_memory(p, err);
        case EVENT_VIEW_FRAMES:
                return fill_frames(p, err);
        case EVENT_VIEW_PLOTS:
                return fill_plots(p, err);
        case EVENT_VIEW_MESSAGES:
                return fill_messages(p, err);
        case EVENT_VIEW_DEVICES:
                return fill_devices(p, err);
        case EVENT_VIEW_WALL:
                return fill_wall(p, err);
        case EVENT_VIEW_IDLE:
                return fill_idle(p, err);
        case EVENT_VIEW_HEAT:
                return fill_heat(p, err);
        case EVENT_VIEW_FLOWS:
                return fill_flows(p, err);
        case EVENT_VIEW_NONE:
                break;
        }
        return 0;
}

/* ------------------------------------------------------------------ printing */

static const struct answer_schema *schema_of(enum event_view view)
{
        static const struct answer_schema *const schemas[] = {
                [EVENT_VIEW_LOCKS] = &locks_view_schema,       [EVENT_VIEW_MEMORY] = &memory_view_schema,
                [EVENT_VIEW_FRAMES] = &frames_view_schema,     [EVENT_VIEW_PLOTS] = &plots_view_schema,
                [EVENT_VIEW_MESSAGES] = &messages_view_schema, [EVENT_VIEW_DEVICES] = &devices_view_schema,
                [EVENT_VIEW_WALL] = &wall_view_schema,         [EVENT_VIEW_IDLE] = &idle_view_schema,
                [EVENT_VIEW_HEAT] = &heat_view_schema,         [EVENT_VIEW_FLOWS] = &flows_view_schema,
        };

        return schemas[view];
}

static int print_document(struct printing *p, const struct output_options *options, const char *path,
                          struct error *err)
{
        struct output_options output = *options;
        int r;

        output_options_complete(&output);
        view_document_init(&p->document, schema_of(p->views->view)->name);
        r = fill(p, err);
        if (r != 0)
                goto done;
        r = output_options_check(&p->document, p->options.filter, err);
        if (r != 0)
                goto done;
        complain_of_newer(path, p->trace.version, p->trace.n_unknown_events);
        if (trace_ending_is_early(p->trace.ending))
                complain("warning: %s: %s; showing the part before", path, p->trace.ending_words);
        r = output_options_print(&output, &p->document);

done:
        view_document_deinit(&p->document);
        return r;
}

int event_views_print(const struct event_views *v, const struct trace_filter_request *request,
                      const struct output_options *output, const char *path, struct error *err)
{
        bool is_usual = strcmp(path, OPTION_DEFAULT_TRACE) == 0 || strcmp(path, "-") == 0;
        struct printing p = { .views = v, .filter = { .is_empty = true } };
        struct byte_buffer words = { .data = NULL };
        int r = loaded_trace_open(&p.trace, path, err);

        p.is_picture = output->document.format == DOCUMENT_CSV ||
                       (output->document.format == DOCUMENT_JSON && !output_options_is_bounded(output));
        if (v->has_steps)
                p.n_steps = p.is_picture ? STEPS_MANY : STEPS_FEW;
        filter_options_describe(request, &words);
        p.options = (struct event_view_options){
                .path = is_usual ? NULL : path,
                .limit = output_options_limit(output, TEXT_ROWS),
                .filter = { .bytes = (const char *)words.data, .n_bytes = words.used_bytes },
        };
        if (r == 0)
                r = trace_filter_init(&p.filter, request, &p.trace, err);
        p.options.is_filtered = !p.filter.is_empty;
        if (r == 0) {
                p.options.range = trace_filter_range(&p.filter, &p.trace);
                r = loaded_trace_read_names(&p.trace, err);
        }
        if (r == 0)
                r = print_document(&p, output, path, err);
        trace_filter_deinit(&p.filter);
        loaded_trace_close(&p.trace);
        byte_buffer_deinit(&words);
        return r;
}
