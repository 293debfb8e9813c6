/* SPDX-License-Identifier: MIT */
/*
 * cli/options/filter_options.h - --from, --to, --process, --thread, --cpu, --zone, --module, --event: of
 * every command that reads events
 *
 * Way of the data:  command line -> [filter_options] -> trace_filter
 */
#ifndef CLI_OPTIONS_FILTER_OPTIONS_H
#define CLI_OPTIONS_FILTER_OPTIONS_H

#include "analyze/walk/trace_filter.h"

#include <stdbool.h>

struct byte_buffer;
struct error;
struct loaded_trace;

/* Rows for a command's option_table; its letters must be these. */
#define FILTER_OPTION_FROM    1100
#define FILTER_OPTION_TO      1101
#define FILTER_OPTION_PROCESS 1102
#define FILTER_OPTION_THREAD  1103
#define FILTER_OPTION_CPU     1104
#define FILTER_OPTION_ZONE    1105
#define FILTER_OPTION_MODULE  1106
#define FILTER_OPTION_EVENT   'e'
#define FILTER_OPTION_TIME    1107
#define FILTER_OPTION_TID     1108
#define FILTER_OPTION_NAMES   1109

/*
 * The time and place of an event, which every event has.  Only the viewer gives --names-fd, when it asks
 * about a trace that grows: the descriptor of the file that live_symbols writes.
 */
#define FILTER_OPTION_ROWS_OF_PLACE                                                                        \
        { FILTER_OPTION_FROM, "from", "TIME", "only from this time after the start on: 1.5s, 200ms" },     \
                { FILTER_OPTION_TO, "to", "TIME", "only before this time" },                               \
                { FILTER_OPTION_TIME, "time", "FROM,TO", "=--from FROM --to TO" },                         \
                { FILTER_OPTION_PROCESS, "process", "LIST", "only these processes: PIDs or names" },       \
                { FILTER_OPTION_THREAD, "thread", "LIST", "only these threads: TIDs, names (globs), t3" }, \
                { FILTER_OPTION_TID, "tid", "LIST", "=--thread" },                                         \
                { FILTER_OPTION_NAMES, "names-fd", "N", NULL },                                            \
        {                                                                                                  \
                FILTER_OPTION_CPU, "cpu", "LIST", "only what happened on these CPUs: 0-3,7"                \
        }
#define FILTER_OPTION_ROW_ZONE                                                                              \
        {                                                                                                   \
                FILTER_OPTION_ZONE, "zone", "PATTERN", "only inside these zones: 'dispatch', 'dispatch/**'" \
        }

/* A command for which --zone means something else takes FILTER_OPTION_ROWS_BUT_ZONE. */
#define FILTER_OPTION_ROWS_BUT_ZONE                                                                \
        FILTER_OPTION_ROWS_OF_PLACE,                                                               \
                { FILTER_OPTION_MODULE, "module", "LIST", "only samples in these files (globs)" }, \
        {                                                                                          \
                FILTER_OPTION_EVENT, "event", "NAME", "only samples of this event"                 \
        }
#define FILTER_OPTION_ROWS FILTER_OPTION_ROWS_BUT_ZONE, FILTER_OPTION_ROW_ZONE

/* How names are matched; for the text below the options. */
#define FILTER_OPTION_WORDS                                                                                    \
        "Names are globs with '*', '?' and '[ab]', not regular expressions: 'work*' matches worker/1, 'a|b'\n" \
        "matches neither a nor b.  a,b matches either; zones with / between them are nested:\n"                \
        "docs/use/report.md.  t3, z7 and f12 are handles of reports; if something else has such a name,\n"     \
        "write handle:t3 or name:t3.\n\n"

/*
 * filter_options_take() - take one of the options
 * @request:  borrows @value
 * Returns 1; 0 if the letter is another option's; -EINVAL after a complaint.
 */
int filter_options_take(struct trace_filter_request *request, int letter, const char *value);

/*
 * For a command that does not filter by its zone: whether the trace has zones that @zone means, and what
 * "frame@main" is: the threads go into @request.
 * @ret_zone:  heap; the zone without the threads; NULL = @zone as it is
 * Returns what trace_filter_init() returns, whose words about the alternatives are the best.
 */
int filter_options_find_zone(struct trace_filter_request *request, struct loaded_trace *trace,
                             const char *zone, char **ret_zone, struct error *err);

bool filter_options_is_empty(const struct trace_filter_request *request);

/* The filter in words: "from 1.5 s, thread worker*"; nothing if that is everything. */
void filter_options_describe(const struct trace_filter_request *request, struct byte_buffer *words);

/*
 * filter_options_explain() - a complaint about what trace_filter_init() or opening the trace
 * returned, and what to try
 * @code:  negative; @path: of the trace
 * Returns the exit status.
 */
int filter_options_explain(const struct trace_filter_request *request, int code, const char *path,
                           const struct error *err);

#endif /* CLI_OPTIONS_FILTER_OPTIONS_H */
