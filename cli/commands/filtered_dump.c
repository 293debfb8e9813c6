/* SPDX-License-Identifier: MIT */
#include "cli/commands/filtered_dump.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/terminal/complaint.h"
#include "format/trace_dump.h"
#include "format/trace_event.h"
#include "view/text/shell_word.h"

#include <errno.h>
#include <stdbool.h>

struct printing {
        const struct trace_dictionary *dictionary;
        FILE *out;
        bool has_tables; /* they stand there already */
};

/* The tables come with the first event: where none passes, there is nothing but the complaint. */
static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        struct printing *p = context;

        if (!p->has_tables)
                trace_dump_put_tables(p->dictionary, p->out);
        p->has_tables = true;
        trace_dump_put_event(thread->id, event, p->out);
        /* The reader has gone: the caller says why, or that this is fine. */
        return ferror(p->out) ? error_set(err, -EPIPE, "the dump cannot be written") : 0;
}

/* The end of a zone that passed does as well.  One that never ended has none. */
static int on_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                   struct error *err)
{
        const struct trace_event end = { .time_ns = zone->end_ns, .op = TRACE_OP_ZONE_END };

        return zone->closed ? on_event(context, thread, &end, err) : 0;
}

static int print(struct loaded_trace *trace, const struct trace_filter *filter, FILE *out, struct error *err)
{
        struct printing p = { .dictionary = trace->dictionary, .out = out };
        const struct trace_sink sink = {
                .context = &p,
                .begin_zone = on_event,
                .zone = on_zone,
                .sample = on_event,
                .event = on_event,
                .may_skip = true,
        };
        struct trace_walk walk = { .n_threads = 0 };
        int r = trace_walk_init(&walk, trace, filter, &sink);

        r = r < 0 ? error_set(err, r, "choosing events: out of memory")
                  : loaded_trace_walk(trace, &walk, err);
        trace_walk_deinit(&walk);
        return r;
}

int filtered_dump_print(const char *path, const struct trace_filter_request *request, FILE *out,
                        struct error *err)
{
        struct trace_filter filter = { .is_empty = true };
        struct loaded_trace trace;
        int status = EXIT_STATUS_OK;
        int r = loaded_trace_open(&trace, path, err);

        if (r == 0)
                r = trace_filter_init(&filter, request, &trace, err);
        if (r == 0)
                r = print(&trace, &filter, out, err);
        if (r == 0 && (trace.ending == TRACE_ENDING_CUT_OFF || trace.ending == TRACE_ENDING_DAMAGED)) {
                (void)fflush(
                        stdout); /* the complaint comes after all of it, and not in the middle of a line */
                complain("error: %s: %s; the output covers the part before", path, trace.ending_words);
                if (trace.ending == TRACE_ENDING_CUT_OFF)
                        complain_try("hyprof check --repair %s", shell_word_of(path).text);
                status = EXIT_STATUS_FAILED;
        }
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r < 0 ? r : status;
}
