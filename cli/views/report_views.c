/* SPDX-License-Identifier: MIT */
#include "cli/views/report_views.h"

#include "analyze/report/report.h"
#include "analyze/trace/handle_word.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/options/argument_words.h"
#include "cli/options/filter_options.h"
#include "cli/options/option_table.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "cli/views/lost_cores.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in enum zone_group_key. */
#define GROUP_CHOICES "text|name|value|thread|parent|process|recording|host"

/* Rows that fit a screen, unless --limit says otherwise. */
#define TEXT_ROWS          25
#define TEXT_ROWS_ZONE     5 /* of each table about one zone */
#define TEXT_ROWS_OVERVIEW 8 /* of each table: all together should be about 60 lines */
#define TEXT_ZONES_INSIDE  3
#define TEXT_ROWS_INSIDE   3
#define DATA_ROWS_INSIDE   10 /* functions of each zone */
#define TEXT_TREE_ROWS     40
#define TEXT_TREE_ZONE     20
#define JSON_TREE_ROWS     100 /* the heaviest ones; the bound of JSON alone would keep the first branch */
#define TEXT_SHARE_MIN     0.01
#define TEXT_CALLERS       4 /* levels of a tree from the bottom */
#define TEXT_HISTOGRAMS    3
#define DATA_SHARE_MIN     0.001
#define DEPTH_MAX          64
#define SLOWEST            10

void report_views_init(struct report_views *v)
{
        *v = (struct report_views){ .share_min = -1, .depth_max = REPORT_VIEWS_DEPTH_UNSET };
        output_options_init(&v->output);
}

static int take_view(struct report_views *v, enum report_view view)
{
        if (v->view != REPORT_VIEW_NONE && v->view != view) {
                complain("error: choose one view: --functions, --zones, --threads or --modules");
                return -EINVAL;
        }
        v->view = view;
        return 1;
}

static int take_share(struct report_views *v, const char *value)
{
        char *end;
        double percent = strtod(value, &end);

        if (end == value || (*end != '\0' && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100)) {
                complain("error: --min-share %s: not a percentage", value);
                return -EINVAL;
        }
        v->share_min = percent / 100;
        return 1;
}

static int take_depth(struct report_views *v, const char *value)
{
        uint64_t depth;

        if (option_parse_number(value, 0, REPORT_VIEWS_DEPTH_UNSET - 1, &depth) < 0) {
                complain("error: --depth %s: not a number of levels", value);
                return -EINVAL;
        }
        v->depth_max = (uint32_t)depth;
        return 1;
}

static int take_duration(const char *option, const char *value, uint64_t *ret_ns)
{
        if (option_parse_duration(value, 0, UINT64_MAX, ret_ns) == 0 && *ret_ns != 0)
                return 1;
        complain("error: --%s %s: not a time such as 10ms", option, value);
        return -EINVAL;
}

static int take_also(struct report_views *v, const char *value)
{
        static const struct {
                const char *name;
                int letter;
        } views[] = {
                { "functions", VIEW_OPTION_FUNCTIONS }, { "top-down", VIEW_OPTION_TOP_DOWN },
                { "bottom-up", VIEW_OPTION_BOTTOM_UP }, { "zones-as-frames", VIEW_OPTION_ZONES_AS_FRAMES },
                { "zones", VIEW_OPTION_ZONES },         { "threads", VIEW_OPTION_THREADS },
                { "off-cpu", VIEW_OPTION_OFF_CPU },     { "cpus", VIEW_OPTION_CPUS },
                { "syscalls", VIEW_OPTION_SYSCALLS },
        };

        for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
                if (strcmp(views[i].name, value) == 0 && v->n_also < REPORT_VIEWS_ALSO_MAX) {
                        v->also[v->n_also++] = views[i].letter;
                        return 1;
                }
        complain("error: --also %s: not a view, or too many", value);
        return -EINVAL;
}

static int take_own(struct report_views *v, int letter, const char *value)
{
        switch (letter) {
        case VIEW_OPTION_FUNCTIONS:
                return take_view(v, REPORT_VIEW_FUNCTIONS);
        case VIEW_OPTION_TOP_DOWN:
                v->top_down = true;
                return take_view(v, REPORT_VIEW_FUNCTIONS);
        case VIEW_OPTION_BOTTOM_UP:
                v->bottom_up = true;
                return take_view(v, REPORT_VIEW_FUNCTIONS);
        case VIEW_OPTION_ZONES_AS_FRAMES:
                v->zones_as_frames = true;
                v->top_down = true;
                return take_view(v, REPORT_VIEW_FUNCTIONS);
        case VIEW_OPTION_FUNCTION:
                v->function = value;
                return take_view(v, REPORT_VIEW_FUNCTIONS);
        case VIEW_OPTION_LINES:
                return take_view(v, REPORT_VIEW_LINES);
        case NATIVE_OPTION:
                v->native = true;
                return 1;
        case VIEW_OPTION_MIN_SHARE:
                return take_share(v, value);
        case VIEW_OPTION_DEPTH:
                return take_depth(v, value);
        case VIEW_OPTION_ZONES:
                return take_view(v, REPORT_VIEW_ZONES);
        case VIEW_OPTION_HISTOGRAM:
                v->histogram = true;
                return 1;
        case VIEW_OPTION_GROUP_BY:
                v->group_by = ZONE_GROUP_TEXT +
                              (enum zone_group_key)argument_words_find(GROUP_CHOICES, value);
                return 1;
        case VIEW_OPTION_LONGER:
                return take_duration("longer-than", value, &v->longer_than_ns);
        case VIEW_OPTION_SHORTER:
                return take_duration("shorter-than", value, &v->shorter_than_ns);
        case VIEW_OPTION_THREADS:
                return take_view(v, REPORT_VIEW_THREADS);
        case VIEW_OPTION_MODULES:
                return take_view(v, REPORT_VIEW_MODULES);
        case VIEW_OPTION_OFF_CPU:
                v->off_cpu = true;
                return take_view(v, REPORT_VIEW_WAITS);
        case VIEW_OPTION_SYSCALLS:
                return take_view(v, REPORT_VIEW_SYSCALLS);
        case VIEW_OPTION_CPUS:
                v->cpus = true;
                return take_view(v, REPORT_VIEW_WAITS);
        case VIEW_OPTION_ALSO:
                return take_also(v, value);
        default:
                return 0;
        }
}

int report_views_take(struct report_views *v, int letter, const char *value)
{
        int r = take_own(v, letter, value);

        if (r == 0)
                r = output_options_take(&v->output, letter, value);
        return r == 0 ? filter_options_take(&v->filter, letter, value) : r;
}

/* Options for groups and durations apply to the instances that --zone names, in their view. */
static int complete_instances(const struct report_views *v, bool has_other)
{
        bool is_group = v->group_by != ZONE_GROUP_NONE;
        const char *option = is_group ? "group-by" : v->longer_than_ns != 0 ? "longer-than" : "shorter-than";
        const char *value = is_group ? "text" : "10ms";

        if (!is_group && v->longer_than_ns == 0 && v->shorter_than_ns == 0)
                return 0;
        if (!v->filter.zone) {
                complain("error: --%s %s the instances of a zone, and no zone was given", option,
                         is_group ? "groups" : "chooses");
                complain_try("hyprof report --zones, then --zone NAME --%s %s", option, value);
                return -EINVAL;
        }
        if (!has_other && v->view == REPORT_VIEW_NONE)
                return 0;
        complain("error: --%s belongs to the view of --zone NAME, and another view was chosen as well",
                 option);
        complain_try("hyprof report --zone NAME --%s %s", option, value);
        return -EINVAL;
}

int report_views_complete(struct report_views *v, bool has_other)
{
        if (complete_instances(v, has_other) < 0)
                return -EINVAL;
        if (v->histogram && v->group_by == ZONE_GROUP_NONE && take_view(v, REPORT_VIEW_ZONES) < 0)
                return -EINVAL;
        if (has_other && v->view != REPORT_VIEW_NONE) {
                complain("error: choose one view: --functions, --zones, --threads and --modules cannot be "
                         "combined with another one");
                return -EINVAL;
        }
        if (v->view == REPORT_VIEW_NONE && !has_other)
                v->view = v->filter.zone ? REPORT_VIEW_ZONE : REPORT_VIEW_OVERVIEW;
        return 0;
}

static bool is_for_people(const struct report_views *v)
{
        return v->output.document.format == DOCUMENT_TEXT || v->output.document.format == DOCUMENT_MARKDOWN;
}

static uint32_t count_slowest(const struct report_views *v)
{
        if (v->view != REPORT_VIEW_ZONE)
                return 0;
        if (v->output.limit == OUTPUT_LIMIT_UNSET)
                return SLOWEST;
        return output_options_limit(&v->output, 0) != 0 ? v->output.limit : ZONE_INSTANCES_SLOWEST_MAX;
}

static uint32_t choose_rows(const struct report_views *v)
{
        if (v->view == REPORT_VIEW_ZONE)
                return TEXT_ROWS_ZONE;
        return v->view == REPORT_VIEW_WAITS || v->view == REPORT_VIEW_OVERVIEW ? TEXT_ROWS_OVERVIEW
                                                                               : TEXT_ROWS;
}

static struct report_view_options choose(const struct report_views *v, const char *path)
{
        bool is_zone = v->view == REPORT_VIEW_ZONE;
        bool is_text = is_for_people(v);
        struct handle_word zone = handle_word_parse(v->filter.zone ? v->filter.zone : "", 'z');
        struct report_view_options options = {
                .path = strcmp(path, OPTION_DEFAULT_TRACE) != 0 && strcmp(path, "-") != 0 ? path : NULL,
                .limit = output_options_limit(&v->output, choose_rows(v)),
                .tree_limit = output_options_is_bounded(&v->output)
                                      ? JSON_TREE_ROWS
                                      : output_options_limit(&v->output,
                                                             is_zone ? TEXT_TREE_ZONE : TEXT_TREE_ROWS),
                .share_min = is_text ? TEXT_SHARE_MIN : DATA_SHARE_MIN,
                .depth_max = DEPTH_MAX,
                .function = v->function,
                .zone = zone.id != 0 ? zone.bare : v->filter.zone,
                .group_limit = output_options_limit(&v->output, TEXT_ROWS),
                .has_group_histograms = v->histogram && v->group_by != ZONE_GROUP_NONE,
                .n_histograms = is_text && !v->histogram ? TEXT_HISTOGRAMS : 0,
                .top_down = v->top_down,
                .bottom_up = v->bottom_up,
                .zones_as_frames = v->zones_as_frames,
                .skips_common = is_text && !v->function,
        };

        if (is_text && !v->function)
                options.up_depth_max = TEXT_CALLERS;
        if (v->share_min >= 0)
                options.share_min = v->share_min;
        if (v->depth_max != REPORT_VIEWS_DEPTH_UNSET) {
                options.depth_max = v->depth_max;
                options.up_depth_max = 0;
        }
        return options;
}

static const struct answer_schema *schema_of(const struct report_views *v)
{
        static const struct answer_schema *const schemas[] = {
                [REPORT_VIEW_FUNCTIONS] = &functions_view_schema,
                [REPORT_VIEW_LINES] = &lines_view_schema,
                [REPORT_VIEW_ZONES] = &zones_view_schema,
                [REPORT_VIEW_ZONE] = &zone_view_schema,
                [REPORT_VIEW_THREADS] = &threads_view_schema,
                [REPORT_VIEW_MODULES] = &modules_view_schema,
                [REPORT_VIEW_SYSCALLS] = &syscalls_view_schema,
                [REPORT_VIEW_OVERVIEW] = &overview_view_schema,
        };

        if (v->view == REPORT_VIEW_WAITS)
                return v->off_cpu ? &off_cpu_view_schema : &cpus_view_schema;
        return schemas[v->view];
}

static void fill_waits(struct view_document *d, const struct report_views *v, const struct report *report,
                       const struct report_view_options *options)
{
        if (v->off_cpu)
                off_cpu_view_set_answer(d, report);
        else
                cpus_view_set_answer(d, report);
        report_heading_add(d, report, options->filter);
        if (v->off_cpu)
                off_cpu_view_fill(d, report, options);
        if (v->cpus)
                cpus_view_fill(d, report, options);
}

static int fill(struct view_document *d, const struct report_views *v, const struct report *report,
                const struct report_view_options *options, struct error *err)
{
        switch (v->view) {
        case REPORT_VIEW_FUNCTIONS:
                return functions_view_fill(d, report, options, err);
        case REPORT_VIEW_LINES:
                lines_view_fill(d, report, options);
                break;
        case REPORT_VIEW_ZONES:
                zones_view_fill(d, report, options);
                break;
        case REPORT_VIEW_ZONE:
                zone_view_fill(d, report, options);
                break;
        case REPORT_VIEW_THREADS:
                threads_view_fill(d, report, options);
                break;
        case REPORT_VIEW_MODULES:
                modules_view_fill(d, report, options);
                break;
        case REPORT_VIEW_WAITS:
                fill_waits(d, v, report, options);
                break;
        case REPORT_VIEW_SYSCALLS:
                syscalls_view_fill(d, report, options);
                break;
        case REPORT_VIEW_OVERVIEW:
                overview_view_fill(d, report, options);
                break;
        case REPORT_VIEW_NONE:
                break;
        }
        return 0;
}

static int print_document(const struct report_views *v, const struct report *report,
                          const struct report_view_options *options, struct error *err)
{
        struct output_options output = v->output;
        struct view_document document;
        int r;

        output_options_complete(&output);
        view_document_init(&document, schema_of(v)->name);
        r = fill(&document, v, report, options, err);
        if (r == 0)
                r = output_options_check(&document, options->filter, err);
        if (r == 0)
                r = output_options_print(&output, &document);
        view_document_deinit(&document);
        return r;
}

/* One of those that are printed after the first. */
static struct report_views also_of(const struct report_views *v, uint32_t i)
{
        struct report_views other = *v;

        other.view = REPORT_VIEW_NONE;
        other.top_down = other.bottom_up = other.zones_as_frames = other.off_cpu = other.cpus = false;
        other.n_also = 0;
        (void)take_own(&other, v->also[i], "");
        return other;
}

/* A document that cannot be printed is empty: all others can be. */
static int print_all(const struct report_views *v, const struct report *report, const char *path,
                     const struct report_view_options *options, struct error *err)
{
        int r = print_document(v, report, options, err);

        for (uint32_t i = 0; i < v->n_also && r != EXIT_STATUS_FAILED; i++) {
                struct report_views other = also_of(v, i);
                struct report_view_options others = choose(&other, path);

                others.filter = options->filter;
                (void)fputc('\0', stdout);
                r = print_document(&other, report, &others, err);
        }
        if (v->n_also == 0 || r == EXIT_STATUS_FAILED)
                return r;
        (void)fputc('\0', stdout);
        return standard_output_finish(EXIT_STATUS_OK, "the answers");
}

static struct report_options choose_load(const struct report_views *v,
                                         const struct trace_filter_request *filter,
                                         struct text_view filter_words)
{
        bool is_text = is_for_people(v);
        struct report_options load = {
                .event = v->filter.event,
                .n_zones_inside = 1,
                .n_functions_inside = 1,
                .wants_waits = v->view == REPORT_VIEW_ZONE || v->view == REPORT_VIEW_THREADS ||
                               v->view == REPORT_VIEW_OVERVIEW || v->off_cpu,
                .wants_cpus = v->cpus,
                .wants_ready = v->cpus || v->view == REPORT_VIEW_THREADS,
                .wants_syscalls = v->view == REPORT_VIEW_SYSCALLS,
                .wants_lines = v->view == REPORT_VIEW_LINES,
                .shows_native = v->native || v->view == REPORT_VIEW_MODULES,
                .function = v->function,
                .is_native = functions_view_is_native,
                .n_slowest = count_slowest(v),
                .group_by = v->group_by,
                .longer_than_ns = v->longer_than_ns,
                .shorter_than_ns = v->shorter_than_ns,
                .filter = filter,
                .filter_words = filter_words,
        };

        if (v->view != REPORT_VIEW_OVERVIEW)
                return load;
        load.n_zones_inside = is_text ? TEXT_ZONES_INSIDE : 0;
        load.n_functions_inside = is_text ? TEXT_ROWS_INSIDE : DATA_ROWS_INSIDE;
        if (v->output.limit != OUTPUT_LIMIT_UNSET)
                load.n_zones_inside = load.n_functions_inside = output_options_limit(&v->output, 0);
        return load;
}

/* Adds what the views need that are printed with this one. */
static void choose_load_of_others(const struct report_views *v, struct report_options *load)
{
        for (uint32_t i = 0; i < v->n_also; i++) {
                struct report_views other = also_of(v, i);
                struct report_options others = choose_load(&other, load->filter, load->filter_words);

                load->wants_waits |= others.wants_waits;
                load->wants_cpus |= others.wants_cpus;
                load->wants_ready |= others.wants_ready;
                load->wants_syscalls |= others.wants_syscalls;
        }
}

static void describe_duration(struct byte_buffer *words, const char *name, uint64_t ns)
{
        struct text_number duration = text_number_duration(ns);

        if (ns == 0)
                return;
        byte_buffer_add(words, name, strlen(name));
        byte_buffer_add(words, duration.text, strlen(duration.text));
}

int report_views_print(const struct report_views *v, const char *path, struct error *err)
{
        struct report_view_options options = choose(v, path);
        struct trace_filter_request filter = v->filter;
        struct byte_buffer words = { .data = NULL };
        struct report_options load;
        struct report *report = NULL;
        struct lost_cores lost;
        int r;

        /* --event chooses which samples are shown; the counters read with them are shown as well. */
        filter.event = NULL;
        filter_options_describe(&filter, &words);
        describe_duration(&words, ", lasting at least ", v->longer_than_ns);
        describe_duration(&words, ", lasting less than ", v->shorter_than_ns);
        options.filter = (struct text_view){ .bytes = (const char *)words.data, .n_bytes = words.used_bytes };
        load = choose_load(v, &filter, options.filter);
        choose_load_of_others(v, &load);
        r = words.failed ? error_set(err, -ENOMEM, "out of memory") : report_load(path, &load, &report, err);
        if (r < 0 || !report)
                goto fail;
        /* If the trace is incomplete, this is also printed on stderr, where a pipe does not swallow it. */
        complain_of_newer(path, report->trace.version, report->trace.n_unknown_events);
        if (trace_ending_is_early(report->ending))
                complain("warning: %s: %s; showing the part before", path, report->ending_words);
        if (v->view == REPORT_VIEW_OVERVIEW) {
                lost_cores_take(&lost, report, load.shows_native);
                options.idle_words = (struct text_view){ lost.idle.text, lost.idle.used_bytes };
                options.wall_words = (struct text_view){ lost.wall.text, lost.wall.used_bytes };
        }
        r = print_all(v, report, path, &options, err);
        report_free(report);
fail:
        byte_buffer_deinit(&words);
        return r;
}
