/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"
#include "format/trace_dictionary.h"

#include "analyze/diff/diff_command.h"
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/diff/diff_settle.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/name_guess.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/common_options.h"
#include "cli/options/filter_options.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "view/diff/diff_view.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_ROWS 20

/* Recorders write no more than this; variables beyond it are not compared. */
#define ENVIRONMENT_BYTES_MAX 16384
#define VARIABLES_NAMED_MAX   4

/* As diff(1): 1 is an answer, not a failure. */
#define STATUS_WORSE   1
#define STATUS_TROUBLE 2
#define STATUS_UNKNOWN 3

enum {
        LETTER_BEFORE = OPTION_LONG_ONLY,
        LETTER_AFTER,
        LETTER_PER,
        LETTER_WALL,
        LETTER_ONLY,
        LETTER_THRESHOLD,
        LETTER_FAIL_ABOVE,
        LETTER_ALPHA,
        LETTER_NOISE,
        LETTER_MIN_SHARE,
        LETTER_ANYWAY,
};

/* Zero-initialised is empty and valid. */
struct diff_files {
        char **paths; /* heap, as is each path; sorted, without duplicates */
        size_t n, capacity;
};

struct arguments {
        struct diff_files before, after;
        struct trace_filter_request filter;
        struct output_options output;
        struct diff_options options;
        const char *per;
        double threshold, fail_above;
        bool has_fail_above, anyway, shows_native;
};

/* The state of loading all runs, one after the other. */
struct loading {
        const struct arguments *args;
        struct diff_names names;
        struct diff_run *runs;        /* heap */
        const struct diff_run **list; /* heap; of all runs, in order */
        size_t n_runs;
        const char *unread_path; /* of a recording that could not be opened; else NULL */
        struct zone_pattern unit;
        char *event;              /* heap; event to compare: as requested, or the first run's */
        char *command;            /* heap; of the first run that states one */
        const char *command_path; /* of that recording */
        bool arguments_differ;
        char *environment;            /* heap; of the first run that states one */
        const char *environment_path; /* of that recording */
        bool environment_is_before;
        bool environments_differ;
        struct trace_sample_event rate; /* how the first run was sampled; all 0 = it was not */
        bool rates_differ;
        struct view_document *document;
};

static const struct option_row option_rows[] = {
        { LETTER_BEFORE, "before", "TRACE",
          "a recording from before the change; may be repeated; hyprof expands '*'" },
        { LETTER_AFTER, "after", "TRACE", "a recording from after the change; likewise" },
        { LETTER_PER, "per", "ZONE",
          "compare the cost of each ZONE: for runs that do different amounts of work" },
        { LETTER_WALL, "wall", NULL,
          "compare zones from begin to end, waiting included; default: their time on a CPU" },
        { LETTER_ONLY, "only", "WHAT",
          "judge and show only functions, zones, kernels, waits or syscalls, or only these names (a glob)" },
        NATIVE_OPTION_ROW,
        { LETTER_ANYWAY, "anyway", NULL, "compare recordings of different programs" },
        { LETTER_THRESHOLD, "threshold", "PERCENT", "leave out smaller changes that are not significant" },
        { LETTER_FAIL_ABOVE, "fail-above", "PERCENT",
          "exit with status 1 if something is significantly slower by more than this, 3 if that cannot be told" },
        { LETTER_ALPHA, "alpha", "PERCENT",
          "accepted false alarms: how often anything may be called significant if nothing changed; default: 5; 1 for a "
          "pair, 0.5 for 8 runs or more of each" },
        { LETTER_NOISE, "noise", "PERCENT",
          "for a pair: how much a function or zone varies from run to run (standard deviation); default: 2.5" },
        { LETTER_MIN_SHARE, "min-share", "PERCENT",
          "judge only functions and zones with at least this share of a run; default: 0.5" },
        FILTER_OPTION_ROWS,
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof diff",
        .operands = "BEFORE AFTER",
        .n_operands_max = 2,
        .about =
                "Shows which functions, zones and kernels became slower or faster between two recordings, or between\n"
                "two sets of them (--before, --after), and how sure that is.  The method: docs/use/diff.md.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = FILTER_OPTION_WORDS
        "exit status: 0 = compared; 1 = --fail-above holds; 2 = usage, a recording cannot be read, different\n"
        "programs, --only matches nothing, or there is nothing to compare for --fail-above; 3 = the whole run is\n"
        "slower than --fail-above allows as it was recorded, but that may be chance\n",
};

const struct option_table *cmd_diff_options(void)
{
        return &table;
}

/* "5%" or "5" -> 0.05.  Returns 0 or -EINVAL after a complaint. */
static int parse_percent(const char *name, const char *text, double max, double *ret)
{
        char *end;
        double value = strtod(text, &end);

        if (*end == '%')
                end++;
        if (end == text || *end != '\0' || !isfinite(value) || value < 0 || value > max) {
                complain("error: --%s %s: not a percentage from 0 to %g", name, text, max);
                return -EINVAL;
        }
        *ret = value / 100;
        return 0;
}

static void forget_files(struct diff_files *f)
{
        for (size_t i = 0; i < f->n; i++)
                free(f->paths[i]);
        free(f->paths);
        *f = (struct diff_files){ .paths = NULL };
}

static int add_path(struct diff_files *f, const char *path, struct error *err)
{
        /* Twice the same run says nothing about how runs differ. */
        for (size_t i = 0; i < f->n; i++)
                if (strcmp(f->paths[i], path) == 0)
                        return 0;
        if (f->n >= DIFF_RUNS_MAX / 2)
                return error_set(err, -E2BIG, "more than %d recordings in a set", DIFF_RUNS_MAX / 2);
        if (array_reserve(&f->paths, &f->capacity, f->n + 1, sizeof(*f->paths)) < 0)
                return error_set(err, -ENOMEM, "no memory for names");
        f->paths[f->n] = strdup(path);
        if (!f->paths[f->n])
                return error_set(err, -ENOMEM, "no memory for names");
        f->n++;
        return 0;
}

/*
 * add_pattern() - the files that a name or glob(7) means
 * A file whose name looks like a glob is meant by it.  Returns 0, -ENOENT with words if none matches, -E2BIG
 * beyond DIFF_RUNS_MAX, -ENOMEM.
 */
static int add_pattern(struct diff_files *f, const char *pattern, struct error *err)
{
        glob_t found = { .gl_pathc = 0 };
        int r = 0;

        if (strcmp(pattern, "-") == 0 || access(pattern, F_OK) == 0)
                return add_path(f, pattern, err);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        switch (glob(pattern, 0, NULL, &found)) {
        case 0:
                for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
                        r = add_path(f, found.gl_pathv[i], err);
                break;
        case GLOB_NOSPACE:
                r = error_set(err, -ENOMEM, "no memory for names");
                break;
        default:
                r = error_set(err, -ENOENT, "no file is called '%s'", pattern);
                break;
        }
        globfree(&found);
        return r;
}

static int add_files(struct diff_files *files, const char *pattern)
{
        struct error err = ERROR_NONE;
        int r = add_pattern(files, pattern, &err);

        if (r < 0)
                complain("error: %s", err.text);
        return r < 0 ? -EINVAL : 0;
}

static int take_percent(struct arguments *args, int letter, const char *value)
{
        int r;

        switch (letter) {
        case LETTER_THRESHOLD:
                return parse_percent("threshold", value, 1e6, &args->threshold);
        case LETTER_FAIL_ABOVE:
                args->has_fail_above = true;
                return parse_percent("fail-above", value, 1e6, &args->fail_above);
        case LETTER_NOISE:
                return parse_percent("noise", value, 1e6, &args->options.noise);
        case LETTER_MIN_SHARE:
                return parse_percent("min-share", value, 100, &args->options.share_min);
        default:
                r = parse_percent("alpha", value, 100, &args->options.alpha);
                /* 0 would be the default. */
                args->options.alpha = fmax(args->options.alpha, 1e-12);
                return r;
        }
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = filter_options_take(&args->filter, letter, value);

        if (r == 0)
                r = output_options_take(&args->output, letter, value);
        if (r != 0)
                return r < 0 ? r : 0;
        switch (letter) {
        case LETTER_BEFORE:
                return add_files(&args->before, value);
        case LETTER_AFTER:
                return add_files(&args->after, value);
        case LETTER_PER:
                args->per = value;
                args->options.basis.per_unit = true;
                return 0;
        case LETTER_WALL:
                args->options.basis.wall = true;
                return 0;
        case LETTER_ANYWAY:
                args->anyway = true;
                return 0;
        case NATIVE_OPTION:
                args->shows_native = true;
                return 0;
        case LETTER_ONLY:
                args->options.only = value;
                return 0;
        default:
                return take_percent(args, letter, value);
        }
}

static bool has_input(const struct diff_files *files)
{
        bool found = false;

        for (size_t i = 0; i < files->n; i++)
                found |= strcmp(files->paths[i], "-") == 0;
        return found;
}

/* With one set given, the operands are the other one. */
static int take_operands(struct arguments *args, const struct common_options *common)
{
        for (int i = 0; i < common->n_operands; i++) {
                bool is_before = args->after.n > 0 ||
                                 (args->before.n == 0 && i == 0 && common->n_operands == 2);

                if (add_files(is_before ? &args->before : &args->after, common->operands[i]) < 0)
                        return -EINVAL;
        }
        if (has_input(&args->before) && has_input(&args->after)) {
                complain("error: standard input cannot be both before and after");
                return -EINVAL;
        }
        if (args->before.n > 0 && args->after.n > 0)
                return 0;
        complain("error: two recordings are needed, one before and one after");
        complain_try("hyprof diff before.hyp after.hyp");
        return -EINVAL;
}

/* The event of the first run applies to all runs: they must have counted the same event. */
static int remember_event(struct loading *l, const struct loaded_trace *trace, const struct diff_run *run)
{
        const struct trace_sample_event *row;
        struct text_view name = { .n_bytes = 0 };

        if (l->event)
                return 0;
        if (run->event != 0) {
                row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, run->event);
                name = trace_dictionary_text(trace->dictionary, row->name);
        }
        l->event = strndup(name.n_bytes > 0 ? name.bytes : "", name.n_bytes);
        return l->event ? 0 : -ENOMEM;
}

/* Sampling itself costs time, also in the sampled functions, so the rates are compared. */
static void compare_rates(struct loading *l, const struct loaded_trace *trace, const struct diff_run *run)
{
        const struct trace_sample_event *row;

        if (run->event == 0)
                return;
        row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, run->event);
        if (l->rate.rate == 0)
                l->rate = *row;
        l->rates_differ |= row->rate != l->rate.rate || row->mode != l->rate.mode;
}

/* The zone of --per must exist; the filter is asked because its message on the alternatives is the best. */
static int find_unit(const struct loading *l, struct loaded_trace *trace, struct error *err)
{
        struct trace_filter_request request = { .zone = l->args->per };
        struct trace_filter filter = { .is_empty = true };
        int r = l->args->per ? trace_filter_init(&filter, &request, trace, err) : 0;

        trace_filter_deinit(&filter);
        return r;
}

static int load_events(struct loading *l, struct diff_run *run, struct loaded_trace *trace, const char *path,
                       struct error *err)
{
        struct diff_run_request request = { .event = l->event, .shows_native = l->args->shows_native };
        struct trace_filter filter = { .is_empty = true };
        int r = find_unit(l, trace, err);

        if (r < 0)
                return r;
        r = trace_filter_init(&filter, &l->args->filter, trace, err);
        if (r < 0)
                goto fail;
        filter.event = 0; /* the run selects its samples by event, and is compared even if it has none */
        request.filter = &filter;
        request.unit = l->args->per ? &l->unit : NULL;
        r = diff_run_load(run, &l->names, trace, &request, err);
        if (r < 0)
                goto fail;
        if (remember_event(l, trace, run) < 0) {
                r = error_set(err, -ENOMEM, "no memory for a name");
                goto fail;
        }
        compare_rates(l, trace, run);
        complain_of_newer(path, trace->version, trace->n_unknown_events);
        if (run->event == 0 && l->event && *l->event != '\0')
                view_document_warn(l->document, "%s: no samples of %s", path, l->event);
        if (l->args->per && run->n_units == 0)
                r = error_set(err, -ENOENT, "no zone '%s' ended", l->args->per);
        else if (trace_ending_is_early(trace->ending))
                view_document_warn(l->document, "%s: %s; only zones are compared, or --per", path,
                                   trace->ending_words);
fail:
        trace_filter_deinit(&filter);
        return r;
}

/* Another program has other functions, so the fact that none of them is slower would mean nothing. */
static int compare_programs(struct loading *l, const struct loaded_trace *trace, const char *path,
                            struct error *err)
{
        struct text_view command = loaded_trace_meta(trace, "command"), name, first, first_name;

        if (command.n_bytes == 0)
                return 0;
        if (!l->command) {
                l->command = strndup(command.bytes, command.n_bytes);
                l->command_path = path;
                return l->command ? 0 : error_set(err, -ENOMEM, "no memory for a command line");
        }
        first = (struct text_view){ l->command, strlen(l->command) };
        name = diff_program_name(command);
        first_name = diff_program_name(first);
        if (!text_view_equal(name, first_name) && !l->args->anyway)
                return error_set(
                        err, -EINVAL,
                        "records '%.*s', and %s records '%.*s': these are different programs; compare them with --anyway",
                        (int)name.n_bytes, name.bytes, l->command_path, (int)first_name.n_bytes,
                        first_name.bytes);
        if (!l->arguments_differ &&
            !text_view_equal(diff_program_arguments(command), diff_program_arguments(first))) {
                l->arguments_differ = true;
                view_document_warn(l->document, "the arguments differ: '%s' in %s, '%.*s' in %s", l->command,
                                   l->command_path, (int)command.n_bytes, command.bytes, path);
        }
        return 0;
}

static void put_setting(struct byte_buffer *words, const struct diff_variable *v, bool is_second)
{
        struct text_view value = is_second ? v->second : v->first;

        if (value.bytes && (!is_second || !v->first.bytes))
                byte_buffer_add_format(words, "%.*s=%.*s", (int)v->name.n_bytes, v->name.bytes,
                                       (int)value.n_bytes, value.bytes);
        else if (value.bytes)
                byte_buffer_add_format(words, "%.*s", (int)value.n_bytes, value.bytes);
        else if (is_second)
                byte_buffer_add_format(words, "not set");
        else
                byte_buffer_add_format(words, "%.*s not set", (int)v->name.n_bytes, v->name.bytes);
}

/* "GOGC=2 before, not set after; ..." */
static void put_settings(struct diff_environment *e, const char *first_place, const char *second_place,
                         struct byte_buffer *words)
{
        struct diff_variable v;
        size_t n = 0;

        while (diff_environment_next(e, &v)) {
                if (n++ >= VARIABLES_NAMED_MAX)
                        continue;
                byte_buffer_add_format(words, "%s", n > 1 ? "; " : "");
                put_setting(words, &v, false);
                byte_buffer_add_format(words, " %s, ", first_place);
                put_setting(words, &v, true);
                byte_buffer_add_format(words, " %s", second_place);
        }
        if (n > VARIABLES_NAMED_MAX)
                byte_buffer_add_format(words, "; and %zu more", n - VARIABLES_NAMED_MAX);
}

static int warn_of_environments(struct loading *l, struct diff_environment *e, const char *path,
                                bool is_after)
{
        struct byte_buffer first = { .data = NULL }, second = { .data = NULL }, words = { .data = NULL };
        int r = -ENOMEM;

        byte_buffer_add_format(&first, is_after ? "before" : "in %s", l->environment_path);
        byte_buffer_add_format(&second, is_after ? "after" : "in %s", path);
        byte_buffer_add_u8(&first, '\0');
        byte_buffer_add_u8(&second, '\0');
        if (first.failed || second.failed)
                goto fail;
        put_settings(e, (const char *)first.data, (const char *)second.data, &words);
        if (words.failed)
                goto fail;
        r = 0;
        l->environments_differ = words.used_bytes > 0;
        if (l->environments_differ)
                view_document_warn(l->document, "the environments differ: %.*s", (int)words.used_bytes,
                                   (const char *)words.data);
fail:
        byte_buffer_deinit(&first);
        byte_buffer_deinit(&second);
        byte_buffer_deinit(&words);
        return r;
}

/* Each difference is reported for the first recording whose environment differs. */
static int compare_environments(struct loading *l, const struct loaded_trace *trace, const char *path,
                                bool is_after, struct error *err)
{
        struct text_view text = loaded_trace_meta(trace, "environment");
        struct diff_environment e;

        if (text.n_bytes > ENVIRONMENT_BYTES_MAX)
                text.n_bytes = ENVIRONMENT_BYTES_MAX;
        if (text.n_bytes == 0 || l->environments_differ)
                return 0;
        if (!l->environment) {
                l->environment = strndup(text.bytes, text.n_bytes);
                l->environment_path = path;
                l->environment_is_before = !is_after;
                return l->environment ? 0 : error_set(err, -ENOMEM, "no memory for an environment");
        }
        e = (struct diff_environment){ .first = { l->environment, strlen(l->environment) }, .second = text };
        if (text_view_equal(e.first, text))
                return 0;
        if (memchr(e.first.bytes, ';', e.first.n_bytes) || memchr(text.bytes, ';', text.n_bytes)) {
                l->environments_differ = true;
                view_document_warn(l->document,
                                   "the environments of the processes differ between %s and %s; "
                                   "`hyprof report --json` has them",
                                   l->environment_path, path);
                return 0;
        }
        return warn_of_environments(l, &e, path, is_after && l->environment_is_before) < 0
                       ? error_set(err, -ENOMEM, "no memory for an environment")
                       : 0;
}

static int load_run(struct loading *l, const char *path, struct error *err)
{
        struct diff_run *loaded = &l->runs[l->n_runs];
        bool is_after = l->n_runs >= l->args->before.n;
        struct loaded_trace trace;
        int r = loaded_trace_open(&trace, path, err);

        l->list[l->n_runs++] = loaded;
        if (r < 0)
                l->unread_path = path;
        if (r == 0) {
                r = compare_programs(l, &trace, path, err);
                if (r == 0)
                        r = compare_environments(l, &trace, path, is_after, err);
                if (r == 0)
                        r = load_events(l, loaded, &trace, path, err);
                if (r < 0)
                        r = error_prefix_once(err, r, path);
        }
        loaded_trace_close(&trace);
        return r;
}

/* Comparing a file with itself is a mistake that looks like a pass. */
static void warn_of_same(const struct loading *l)
{
        const struct diff_files *before = &l->args->before, *after = &l->args->after;

        for (size_t i = 0; i < before->n; i++)
                for (size_t j = 0; j < after->n; j++)
                        if (strcmp(before->paths[i], after->paths[j]) == 0)
                                view_document_warn(l->document, "%s is compared with itself",
                                                   after->paths[j]);
}

static int load_runs(struct loading *l, struct error *err)
{
        const struct diff_files *before = &l->args->before, *after = &l->args->after;
        int r = 0;

        l->runs = calloc(before->n + after->n, sizeof(*l->runs));
        l->list = calloc(before->n + after->n, sizeof(void *));
        if (!l->runs || !l->list)
                return error_set(err, -ENOMEM, "no memory for the recordings");
        if (l->args->filter.event) {
                l->event = strdup(l->args->filter.event);
                if (!l->event)
                        return error_set(err, -ENOMEM, "no memory for a name");
        }
        if (l->args->per)
                r = zone_pattern_init(&l->unit, l->args->per, err);
        for (size_t i = 0; r == 0 && i < before->n; i++)
                r = load_run(l, before->paths[i], err);
        for (size_t i = 0; r == 0 && i < after->n; i++)
                r = load_run(l, after->paths[i], err);
        warn_of_same(l);
        if (r == 0 && l->rates_differ)
                view_document_warn(
                        l->document,
                        "not all were sampled at the same rate: sampling takes time itself, so functions "
                        "may differ for that reason");
        return r;
}

static void unload(struct loading *l)
{
        for (size_t i = 0; i < l->n_runs; i++)
                diff_run_deinit(&l->runs[i]);
        free(l->runs);
        free((void *)l->list);
        free(l->event);
        free(l->command);
        free(l->environment);
        zone_pattern_deinit(&l->unit);
        diff_names_deinit(&l->names);
}

/* Slower as recorded, perhaps by chance: neither a pass nor a failure. */
static int refuse_to_tell(const struct arguments *args, const struct diff_comparison *c,
                          const struct diff_item *item, double change)
{
        struct text_view name = { .bytes = "the whole run", .n_bytes = strlen("the whole run") };

        if (item)
                name = diff_names_shown(c->names, item->key_after);
        complain("error: --fail-above: cannot tell %g%% from %s: %.*s %+.1f%% as recorded, not certain",
                 100 * args->fail_above, diff_comparison_is_pair(c) ? "one pair" : "these recordings",
                 (int)name.n_bytes, name.bytes, 100 * change);
        complain_try("hyprof diff --before 'a*.hyp' --after 'b*.hyp', with five recordings each");
        return STATUS_UNKNOWN;
}

/* If there was nothing to compare, nothing was slower, but that is no reason to pass. */
static int judge(const struct arguments *args, const struct diff_comparison *c)
{
        const struct diff_item *item;
        double suspected;

        if (!args->has_fail_above)
                return EXIT_STATUS_OK;
        if (diff_comparison_count_gates(c) == 0) {
                complain("error: --fail-above: nothing can be compared");
                return STATUS_TROUBLE;
        }
        if (diff_comparison_worst(c, &item) > args->fail_above)
                return STATUS_WORSE;
        suspected = diff_comparison_suspected(c, &item);
        return suspected > args->fail_above ? refuse_to_tell(args, c, item, suspected) : EXIT_STATUS_OK;
}

static int print(const struct loading *l, const struct diff_comparison *c)
{
        const struct arguments *args = l->args;
        struct view_document *d = l->document;
        struct diff_view_options options = { .threshold = args->threshold };
        struct byte_buffer words = { .data = NULL };
        int status;

        filter_options_describe(&args->filter, &words);
        options.filter = (struct text_view){ (const char *)words.data, words.used_bytes };
        options.event = (struct text_view){ l->event, l->event ? strlen(l->event) : 0 };
        options.limit = output_options_limit(&args->output, TEXT_ROWS);
        d->failed = d->failed || words.failed;
        diff_view_fill(d, c, &options);
        byte_buffer_deinit(&words);
        status = output_options_print(&args->output, d);
        return status != EXIT_STATUS_OK ? STATUS_TROUBLE : judge(args, c);
}

/* Explains that nothing has the name that --only asks for. */
static int explain_only(const struct arguments *args, const struct diff_comparison *c, struct error *err)
{
        static const char *const kinds[][2] = { { "functions", "samples of the event" },
                                                { "zones", "zones" },
                                                { "waits", "waits with a call stack (record --off-cpu)" },
                                                { "syscalls",
                                                  "numbers of system calls (record --syscalls), or there "
                                                  "is a filter: they are of whole recordings" } };
        const char *only = args->options.only;
        struct name_guess guess;

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (strcmp(only, kinds[i][0]) == 0)
                        return error_set(err, -ENOENT, "--only %s: not all recordings have %s", only,
                                         kinds[i][1]);
        name_guess_init(&guess, only, strlen(only));
        for (size_t i = 0; i < c->n_items; i++) {
                uint32_t key = c->items[i].key_after != 0 ? c->items[i].key_after : c->items[i].key_before;
                struct text_view name = diff_names_shown(c->names, key);

                name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        return error_set(err, -ENOENT,
                         "--only %s: no function, zone, wait or system call is called '%s'%s%s%s", only, only,
                         guess.best[0] != '\0' ? "; did you mean '" : "", guess.best,
                         guess.best[0] != '\0' ? "'?" : "");
}

static int load_and_compare(struct arguments *args, struct loading *l, struct error *err)
{
        struct diff_comparison c;
        int r = load_runs(l, err);

        if (r < 0)
                return r;
        if (diff_python_settle(&l->names, l->runs, (uint32_t)l->n_runs, args->options.only) < 0 ||
            diff_identity_settle(&l->names, l->runs, (uint32_t)args->before.n, (uint32_t)args->after.n) < 0)
                return error_set(err, -ENOMEM, "no memory to compare");
        r = diff_comparison_init(&c, &l->names, l->list, (uint32_t)args->before.n, (uint32_t)args->after.n,
                                 &args->options);
        if (r < 0)
                r = error_set(err, r, "no memory to compare");
        else if (args->options.only && c.n_asked == 0)
                r = explain_only(args, &c, err);
        else
                r = print(l, &c);
        diff_comparison_deinit(&c);
        return r;
}

static int compare(struct arguments *args)
{
        struct error err = ERROR_NONE;
        struct view_document document;
        struct loading l = { .args = args, .document = &document };
        int r;

        diff_names_init(&l.names);
        view_document_init(&document, diff_view_schema.name);
        r = load_and_compare(args, &l, &err);
        if (r < 0 && l.unread_path)
                complain_of_trace(r, l.unread_path, &err);
        else if (r < 0)
                complain("error: %s", err.text);
        if (r < 0)
                r = STATUS_TROUBLE;
        unload(&l);
        view_document_deinit(&document);
        return r;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;

        if (output_options_adopt(&args->output, common) < 0)
                return STATUS_TROUBLE;
        output_options_complete(&args->output);
        return take_operands(args, common) < 0 ? EXIT_STATUS_USAGE : compare(args);
}

int cmd_diff(int argc, char **argv)
{
        struct arguments args = { .options = diff_options_default() };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .reading = COMMAND_PRINTS, .run = run
        };
        int status;

        output_options_init(&args.output);
        status = command_frame_run(&frame, argc, argv);
        forget_files(&args.before);
        forget_files(&args.after);
        return status;
}
