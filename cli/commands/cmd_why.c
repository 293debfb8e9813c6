/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/common_options.h"
#include "cli/options/filter_options.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/text/shell_word.h"
#include "view/why/why_view.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOWEST_DEFAULT 0.01
#define SLOWEST_MAX     0.5
#define TEXT_ROWS       12

enum { LETTER_SLOWEST = OPTION_LONG_ONLY, LETTER_SLOWER_THAN, LETTER_BY, LETTER_DEVICES };

struct arguments {
        const char *path;
        struct why_request request;
        char *zone; /* heap; the zone of "frame@main" */
        struct trace_filter_request filter;
        struct output_options output;
};

static const struct option_row option_rows[] = {
        { FILTER_OPTION_ZONE, "zone", "PATTERN",
          "the zone: 'flush', 'dispatch/flush', 'frame@main' (on threads of that name), z7" },
        { LETTER_SLOWEST, "slowest", "SHARE",
          "the share of instances that is called slow: 1%, 0.1%; default: 1%" },
        { LETTER_SLOWER_THAN, "slower-than", "TIME",
          "instances that last at least this long are called slow: 10ms" },
        { LETTER_BY, "by", "wall|on-cpu|waiting|own",
          "rank by this time; default: wall, or own on a busy machine" },
        { LETTER_DEVICES, "devices", NULL,
          "compare zones of devices of that name, also if zones of threads fit" },
        NATIVE_OPTION_ROW,
        FILTER_OPTION_ROWS_BUT_ZONE,
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_PAGER,
        COMMON_ROW_INPUT,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof why",
        .operands = "[TRACE]",
        .n_operands_max = 1,
        .stray_advice = "hyprof why --zone ZONE TRACE",
        .about =
                "Compares the slow instances of a zone with all others and says where the extra time goes: other\n"
                "functions, waits, locks and their holders, page faults, moves between CPUs; each with its share\n"
                "and how sure that is.  Times are without what samples cost.  own is time on a CPU and own waits,\n"
                "without the time that others had the CPU.  Waits have places and wakers in traces that were\n"
                "recorded with --off-cpu.  Where only zones of devices have the name, these are compared: time on the\n"
                "device, waits for earlier work, a host that was late.  docs/use/why.md says how it is computed.\n"
                "TRACE is - for standard input; default: " OPTION_DEFAULT_TRACE ".\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = FILTER_OPTION_WORDS
        "exit status: 0 = shown; 1 = the trace cannot be read, or nothing in it passes the filters;\n"
        "2 = usage\n",
};

const struct option_table *cmd_why_options(void)
{
        return &table;
}

static int take_slowest(struct arguments *args, const char *value)
{
        if (option_parse_share(value, SLOWEST_MAX, &args->request.slowest) == 0)
                return 0;
        complain("error: --slowest %s: not a share up to 50%%", value);
        complain_try("--slowest 1%%");
        return -EINVAL;
}

static int take_slower_than(struct arguments *args, const char *value)
{
        if (option_parse_duration(value, 0, UINT64_MAX, &args->request.slower_than_ns) == 0 &&
            args->request.slower_than_ns != 0)
                return 0;
        complain("error: --slower-than %s: not a time", value);
        complain_try("--slower-than 10ms");
        return -EINVAL;
}

static int take_by(struct arguments *args, const char *value)
{
        static const char *const names[] = { [WHY_BY_WALL] = "wall",
                                             [WHY_BY_OWN] = "own",
                                             [WHY_BY_ON_CPU] = "on-cpu",
                                             [WHY_BY_WAITING] = "waiting" };

        for (int by = 0; by < WHY_BY_COUNT; by++)
                if (strcmp(value, names[by]) == 0) {
                        args->request.by = (enum why_by)by;
                        return 0;
                }
        complain("error: --by %s: expected one of wall, on-cpu, waiting, own", value);
        complain_try("--by on-cpu");
        return -EINVAL;
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
        case NATIVE_OPTION:
                args->request.shows_native = true;
                return 0;
        case LETTER_BY:
                return take_by(args, value);
        case LETTER_DEVICES:
                args->request.wants_devices = true;
                return 0;
        default:
                r = filter_options_take(&args->filter, letter, value);
                if (r == 0)
                        r = output_options_take(&args->output, letter, value);
                return r < 0 ? r : 0;
        }
}

static int print(const struct why *why, const struct loaded_trace *trace, const struct arguments *args)
{
        struct why_view_options options = { .path = args->path,
                                            .limit = output_options_limit(&args->output, TEXT_ROWS) };
        struct byte_buffer words = { .data = NULL };
        struct view_document document;
        int status;

        filter_options_describe(&args->filter, &words);
        options.filter = (struct text_view){ (const char *)words.data, words.used_bytes };
        view_document_init(&document, why_view_schema.name);
        document.failed = words.failed;
        why_view_fill(&document, why, trace, &options);
        byte_buffer_deinit(&words);
        if (args->filter.module)
                view_document_warn(&document,
                                   "--module: samples and waits in other files are left out, and their "
                                   "time is unexplained");
        status = output_options_print(&args->output, &document);
        view_document_deinit(&document);
        return status;
}

static int answer(struct arguments *args, int *ret_status, struct error *err)
{
        struct trace_filter filter = { .is_empty = true };
        struct why why = { .n_causes = 0 };
        struct loaded_trace trace;
        int r = loaded_trace_open(&trace, args->path, err);

        if (r != 0)
                goto done;
        r = loaded_trace_read_names(&trace, err);
        if (r != 0)
                goto done;
        r = filter_options_find_zone(&args->filter, &trace, args->request.zone, &args->zone, err);
        if (r != 0)
                goto done;
        if (args->zone)
                args->request.zone = args->zone;
        r = trace_filter_init(&filter, &args->filter, &trace, err);
        if (r != 0)
                goto done;
        args->request.event = filter.event;
        r = why_init(&why, &trace, &filter, &args->request, err);
        if (r != 0)
                goto done;
        complain_of_newer(args->path, trace.version, trace.n_unknown_events);
        if (trace_ending_is_early(trace.ending))
                complain("warning: %s: %s; showing the part before", args->path, trace.ending_words);
        *ret_status = print(&why, &trace, args);

done:
        why_deinit(&why);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r;
}

/* The zone is a condition like the others. */
static int explain(const struct arguments *args, int code, const struct error *err)
{
        struct trace_filter_request request = args->filter;

        request.zone = args->request.zone;
        return filter_options_explain(&request, code, args->path, err);
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
        if (!args->request.zone) {
                complain("error: which zone? --zone is missing");
                complain_try("hyprof report --zones %s", shell_word_of(args->path).text);
                return EXIT_STATUS_USAGE;
        }
        r = answer(args, &status, &err);
        return r == 0 ? status : explain(args, r, &err);
}

int cmd_why(int argc, char **argv)
{
        struct arguments args = { .request = { .slowest = SLOWEST_DEFAULT, .by = WHY_BY_AUTOMATIC } };
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
