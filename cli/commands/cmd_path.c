/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/path/path.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/common_options.h"
#include "cli/options/filter_options.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/path/path_view.h"
#include "view/text/shell_word.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROWS         12
#define TEXT_SEGMENTS     40
#define INSTANCE_ZONE_MAX 32

enum {
        LETTER_SLOWEST = OPTION_LONG_ONLY,
        LETTER_SLOWER_THAN,
        LETTER_INSTANCE,
        LETTER_AT,
        LETTER_STRICT,
        LETTER_WHAT_IF
};

struct arguments {
        const char *path;
        struct path_request request;
        struct trace_filter_request filter;
        struct output_options output;
        char *zone; /* heap; the zone of "ZONE@THREAD", or of "z7.12" */
};

static const struct option_row option_rows[] = {
        { FILTER_OPTION_ZONE, "zone", "PATTERN",
          "the zone: 'frame', 'frame@main' (on threads of that name), z7; default: the whole recording" },
        { LETTER_SLOWEST, "slowest", "SHARE", "only this share of the instances, the slowest: 1%" },
        { LETTER_SLOWER_THAN, "slower-than", "TIME", "only instances that last at least this long: 10ms" },
        { LETTER_INSTANCE, "instance", "N", "only this one, by its number: 17, or z7.17" },
        { LETTER_AT, "at", "TIME",
          "only the one that is open at this time after the start, of each thread: 1.5s" },
        { LETTER_STRICT, "strict", NULL, "leave out what the zone's own thread did while it also waited" },
        { LETTER_WHAT_IF, "what-if", "FUNCTION=FACTOR",
          "how much less the instances would take, at most, if FUNCTION took FACTOR of its time: 'parse=0.5', 'parse=0,write=20%'" },
        NATIVE_OPTION_ROW,
        FILTER_OPTION_ROWS_BUT_ZONE,
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_PAGER,
        COMMON_ROW_INPUT,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof path",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .stray_advice = "hyprof path --zone ZONE TRACE",
        .about =
                "Says who delayed the instances of a zone: where its thread waited, the path goes on at the thread\n"
                "that ended the wait, at the holder of the lock, at the disk or the timer, back to where the wait\n"
                "began.  Each moment counts once, so the parts add up to the whole.  The time in which a thread could\n"
                "run and did not is a part of its own.  Needs a recording with --off-cpu.  docs/use/path.md says how\n"
                "it is computed.  TRACE is - for standard input; default: " OPTION_DEFAULT_TRACE ".\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = FILTER_OPTION_WORDS
        "exit status: 0 = shown, also where the zone delays itself; 1 = cannot be answered: the trace cannot\n"
        "be read, has no switches, or no instance that has ended passes the filters; 2 = usage\n",
};

const struct option_table *cmd_path_options(void)
{
        return &table;
}

static int take_slowest(struct arguments *args, const char *value)
{
        if (option_parse_share(value, 1, &args->request.slowest) == 0)
                return 0;
        complain("error: --slowest %s: not a share", value);
        complain_try("--slowest 1%%");
        return OPTION_ADVISED;
}

static int take_slower_than(struct arguments *args, const char *value)
{
        if (option_parse_duration(value, 0, UINT64_MAX, &args->request.slower_than_ns) == 0 &&
            args->request.slower_than_ns != 0)
                return 0;
        complain("error: --slower-than %s: not a time", value);
        complain_try("--slower-than 10ms");
        return OPTION_ADVISED;
}

static int take_what_if(struct arguments *args, const char *value)
{
        struct error err = ERROR_NONE;

        if (what_if_parse(&args->request.what_if, value, &err) == 0)
                return 0;
        complain("error: --what-if %s: %s", value, err.text);
        complain_try("--what-if 'parse=0.5'");
        return OPTION_ADVISED;
}

/* "17", or "z7.17", which is the instance 17 of the zone z7. */
static int take_instance(struct arguments *args, const char *value)
{
        const char *point = strchr(value, '.');
        const char *number = point ? point + 1 : value;

        if ((point && (value[0] != 'z' || point - value >= INSTANCE_ZONE_MAX)) ||
            option_parse_number(number, 1, UINT64_MAX, &args->request.instance) < 0) {
                complain("error: --instance %s: not a number of an instance", value);
                complain_try("--instance 1");
                return OPTION_ADVISED;
        }
        if (point) {
                free(args->zone);
                args->zone = strndup(value, (size_t)(point - value));
                if (!args->zone)
                        return -ENOMEM;
        }
        return 0;
}

static int take_at(struct arguments *args, const char *value)
{
        if (option_parse_duration(value, 0, UINT64_MAX, &args->request.at_ns) == 0) {
                args->request.has_at = true;
                return 0;
        }
        complain("error: --at %s: not a time", value);
        complain_try("--at 1.5s");
        return OPTION_ADVISED;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r;

        switch (letter) {
        case FILTER_OPTION_ZONE:
                args->request.zone = value;
                return 0;
        case LETTER_SLOWEST:
                return take_slowest(args, value);
        case LETTER_SLOWER_THAN:
                return take_slower_than(args, value);
        case LETTER_INSTANCE:
                return take_instance(args, value);
        case LETTER_AT:
                return take_at(args, value);
        case LETTER_STRICT:
                args->request.is_strict = true;
                return 0;
        case LETTER_WHAT_IF:
                return take_what_if(args, value);
        case NATIVE_OPTION:
                args->request.shows_native = true;
                return 0;
        default:
                r = filter_options_take(&args->filter, letter, value);
                if (r == 0)
                        r = output_options_take(&args->output, letter, value);
                return r < 0 ? r : 0;
        }
}

static int print(const struct path *path, const struct arguments *args)
{
        struct path_view_options options = { .path = args->path,
                                             .limit = output_options_limit(&args->output, TEXT_ROWS),
                                             .segments_limit = output_options_limit(&args->output,
                                                                                    TEXT_SEGMENTS),
                                             .chooses_samples = args->filter.cpu || args->filter.module };
        struct byte_buffer words = { .data = NULL };
        struct view_document document;
        int status;

        filter_options_describe(&args->filter, &words);
        options.filter = (struct text_view){ (const char *)words.data, words.used_bytes };
        view_document_init(&document, path_view_schema.name);
        document.failed = words.failed;
        path_view_fill(&document, path, &options);
        byte_buffer_deinit(&words);
        status = output_options_print(&args->output, &document);
        view_document_deinit(&document);
        return status;
}

/* "z7.12" has given the zone already. */
static int find_zone(struct loaded_trace *trace, struct arguments *args, struct error *err)
{
        const char *zone = args->request.zone;
        char *found = NULL;
        int r;

        if (!zone)
                return 0;
        r = filter_options_find_zone(&args->filter, trace, zone, &found, err);
        if (!found)
                return r;
        free(args->zone);
        args->request.zone = args->zone = found;
        return r;
}

/* The option's time is since the start of the recording. */
static int place_at(const struct loaded_trace *trace, struct path_request *request, struct error *err)
{
        uint64_t duration_ns = trace->end_ns - trace->start_ns;

        if (request->has_at && request->at_ns > duration_ns)
                return error_set(err, -ENOENT, "--at is after the end of the recording, which lasts %.9f s",
                                 (double)duration_ns / (double)NS_PER_S);
        request->at_ns += trace->start_ns;
        return 0;
}

/* Also where nothing was found: that may be why. */
static void complain_of_trace_end(const char *path, const struct loaded_trace *trace)
{
        complain_of_newer(path, trace->version, trace->n_unknown_events);
        if (trace_ending_is_early(trace->ending))
                complain("warning: %s: %s; showing the part before", path, trace->ending_words);
}

static int answer(struct arguments *args, int *ret_status, struct error *err)
{
        struct trace_filter filter = { .is_empty = true };
        struct path path = { .order = NULL };
        struct loaded_trace trace;
        int r = loaded_trace_open(&trace, args->path, err);

        if (r != 0)
                goto done;
        r = loaded_trace_read_names(&trace, err);
        if (r != 0)
                goto done;
        r = find_zone(&trace, args, err);
        if (r == 0)
                r = place_at(&trace, &args->request, err);
        if (r != 0)
                goto done;
        r = trace_filter_init(&filter, &args->filter, &trace, err);
        if (r != 0)
                goto done;
        args->request.event = filter.event;
        args->request.reads_code = true;
        r = path_init(&path, &trace, &filter, &args->request, err);
        if (r == 0 || r == -ENOENT)
                complain_of_trace_end(args->path, &trace);
        if (r != 0)
                goto done;
        if (!path.has_switches && trace_dictionary_count(trace.dictionary, TRACE_TABLE_LOCKS) == 0) {
                r = error_set(err, -ENOENT,
                              "no context switches were recorded: who waited, and for whom, is unknown");
                goto done;
        }
        *ret_status = print(&path, args);

done:
        path_deinit(&path);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r;
}

/* The zone is a condition like the others. */
static int explain(const struct arguments *args, int code, const struct error *err)
{
        struct trace_filter_request request = args->filter;

        if (code == -ESRCH) { /* a function of --what-if */
                complain_of_trace(code, args->path, err);
                complain_try("hyprof report --functions %s", shell_word_of(args->path).text);
                return EXIT_STATUS_FAILED;
        }
        request.zone = args->request.zone;
        return filter_options_explain(&request, code, args->path, err);
}

static bool choice_is_possible(const struct arguments *args)
{
        const struct path_request *request = &args->request;
        bool is_by_duration = request->slowest > 0 || request->slower_than_ns != 0;

        if (!request->zone && !args->zone && (request->instance != 0 || request->has_at || is_by_duration)) {
                complain("error: which zone? --zone is missing");
                complain_try("hyprof report --zones %s", shell_word_of(args->path).text);
                return false;
        }
        if (request->zone && args->zone) {
                complain("error: --instance %s.%" PRIu64 " names the zone: not with --zone", args->zone,
                         request->instance);
                return false;
        }
        if (request->has_at && (request->instance != 0 || is_by_duration)) {
                complain("error: --at chooses the instance: not with --instance, --slowest or --slower-than");
                return false;
        }
        return true;
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct error err = ERROR_NONE;
        int status = EXIT_STATUS_OK;
        int r;

        args->path = common->trace;
        if (output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(&args->output);
        if (!choice_is_possible(args))
                return EXIT_STATUS_USAGE;
        if (!args->request.zone)
                args->request.zone = args->zone;
        r = answer(args, &status, &err);
        return r == 0 ? status : explain(args, r, &err);
}

int cmd_path(int argc, char **argv)
{
        struct arguments args = { .path = NULL };
        const struct command_frame frame = { .table = &table,
                                             .take = take_option,
                                             .context = &args,
                                             .takes_trace = true,
                                             .reading = COMMAND_PRINTS,
                                             .run = run };
        int status;

        output_options_init(&args.output);
        status = command_frame_run(&frame, argc, argv);
        free(args.zone);
        return status;
}
