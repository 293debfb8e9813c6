/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's text format: functions with the cost of each of their lines, and calls with their inclusive
 * cost.  Each name is written once and from then on replaced by its number.
 */
#include "analyze/trace/id_set.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "export/shared/callstack_sums.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/export_stream.h"
#include "export/shared/process_names.h"
#include "export/stacks/callgrind_graph.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct callgrind_export {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct callstack_sums sums;
        struct export_frames frames;
        struct callgrind_graph graph;
        struct export_stream out;
        struct id_set functions, files, objects; /* that were named */
        enum callstack_value columns[CALLSTACK_VALUES];
        int n_columns;
};

static void put_words(struct callgrind_export *e, const char *words)
{
        byte_buffer_add(&e->out.buffer, words, strlen(words));
}

/* An entry of the format ends with the line, so control characters in names become blanks. */
static void put_name(struct callgrind_export *e, const char *bytes, size_t n_bytes)
{
        for (size_t i = 0; i < n_bytes; i++) {
                unsigned char c = (unsigned char)bytes[i];

                byte_buffer_add_u8(&e->out.buffer, c < ' ' || c == 0x7f ? ' ' : c);
        }
}

static void put_number(struct callgrind_export *e, uint64_t number)
{
        char digits[24];

        (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
        put_words(e, digits);
}

/*
 * Writes the keyword of a line, and the number of a name.  Returns 1 if the name has to follow, 0 if it was
 * written before, -ENOMEM.
 */
static int put_reference(struct callgrind_export *e, const char *word, struct id_set *named, uint32_t id)
{
        uint32_t n_before = named->n_ids;
        int r = id_set_add(named, id);

        put_words(e, word);
        put_words(e, "=(");
        put_number(e, (uint64_t)id + 1); /* they count from 1 */
        put_words(e, ")");
        if (r < 0 || named->n_ids == n_before)
                return r;
        put_words(e, " ");
        return 1;
}

/* @string 0 is written as "???", as callgrind itself does. */
static int put_string_line(struct callgrind_export *e, const char *word, struct id_set *named,
                           uint32_t string)
{
        int r = put_reference(e, word, named, string);

        if (r == 1) {
                size_t n_bytes;
                const char *text = trace_dictionary_string(e->trace->dictionary, string, &n_bytes);

                put_name(e, n_bytes ? text : "???", n_bytes ? n_bytes : 3);
        }
        put_words(e, "\n");
        return r < 0 ? r : 0;
}

static int put_thread_name(struct callgrind_export *e, uint32_t thread)
{
        struct text_view name = process_names_thread(&e->sums.names, thread);

        put_words(e, "thread ");
        put_number(e, process_names_tid(&e->sums.names, thread));
        put_words(e, " ");
        put_name(e, name.bytes, name.n_bytes);
        return 0;
}

static int put_function_name(struct callgrind_export *e, uint32_t node)
{
        uint32_t thread = callgrind_graph_thread(&e->graph, node);
        size_t n_bytes;
        const char *name;

        if (thread != 0)
                return put_thread_name(e, thread);
        name = export_frames_name(&e->frames, &e->graph.examples[node], &n_bytes);
        if (!name)
                return -ENOMEM;
        put_name(e, name, n_bytes);
        return 0;
}

/* @words: of the object, the file and the function. */
static int put_function(struct callgrind_export *e, const char *const words[3], uint32_t node)
{
        const struct export_frame *frame = &e->graph.examples[node];
        uint32_t module = 0;
        uint32_t file = 0;
        uint32_t line;
        int r;

        if (callgrind_graph_thread(&e->graph, node) == 0) {
                module = export_frames_module(&e->frames, frame);
                file = export_frames_file(&e->frames, frame, &line);
        }
        if (module != 0) {
                const struct trace_module *row = trace_dictionary_row(e->trace->dictionary,
                                                                      TRACE_TABLE_MODULES, module);

                module = row->path;
        }
        r = put_string_line(e, words[0], &e->objects, module);
        if (r == 0)
                r = put_string_line(e, words[1], &e->files, file);
        if (r == 0)
                r = put_reference(e, words[2], &e->functions, node);
        if (r == 1)
                r = put_function_name(e, node);
        put_words(e, "\n");
        return r;
}

static void put_costs(struct callgrind_export *e, uint32_t line, const struct callstack_sum *sum)
{
        put_number(e, line);
        for (int i = 0; i < e->n_columns; i++) {
                put_words(e, " ");
                put_number(e, sum->values[e->columns[i]]);
        }
        put_words(e, "\n");
}

static int put_line(struct callgrind_export *e, const struct callgrind_line *line,
                    const struct callgrind_cost *cost)
{
        static const char *const words[3] = { "cob", "cfi", "cfn" };
        int r;

        if (line->callee != 0) {
                r = put_function(e, words, line->callee);
                if (r < 0)
                        return r;
                put_words(e, "calls=");
                put_number(e, cost->n_calls ? cost->n_calls : 1); /* the number of waits alone is unknown */
                put_words(e, " 0\n");
        }
        put_costs(e, line->line, &cost->sum);
        return export_stream_flush_some(&e->out);
}

static int put_lines(struct callgrind_export *e)
{
        static const char *const words[3] = { "ob", "fl", "fn" };
        uint32_t *order = callgrind_graph_order(&e->graph);
        uint32_t node = 0;
        int r = order ? 0 : -ENOMEM;

        for (uint32_t i = 0; i < e->graph.lines.n_items && r == 0; i++) {
                const struct callgrind_line *line = intern_get(&e->graph.lines, order[i], NULL);

                if (line->node != node) {
                        node = line->node;
                        put_words(e, "\n");
                        r = put_function(e, words, node);
                }
                if (r == 0)
                        r = put_line(e, line, &e->graph.costs[order[i] - 1]);
        }
        free(order);
        return r;
}

/* Writes the event's name as one word, with "_" for each character that the format might misread. */
static void put_event_word(struct callgrind_export *e)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS,
                                                                    e->options->event);
        size_t n_bytes;
        const char *name = trace_dictionary_string(d, row->name, &n_bytes);

        for (size_t i = 0; i < n_bytes; i++) {
                char c = name[i];
                bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                               c == '-';

                byte_buffer_add_u8(&e->out.buffer, is_word ? (uint8_t)c : '_');
        }
        if (n_bytes == 0)
                put_words(e, "event");
}

/*
 * The event's column is the first, because readers sort by it.  Values that are 0 everywhere get no column.
 */
static void choose_columns(struct callgrind_export *e)
{
        static const enum callstack_value order[] = {
                CALLSTACK_WEIGHT,      CALLSTACK_SAMPLES,         CALLSTACK_OFF_CPU_NS,
                CALLSTACK_ALLOCATIONS, CALLSTACK_ALLOCATED_BYTES,
        };

        for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
                if (order[i] == CALLSTACK_SAMPLES ||
                    (order[i] == CALLSTACK_WEIGHT ? e->options->event != 0
                                                  : e->sums.all.values[order[i]] != 0))
                        e->columns[e->n_columns++] = order[i];
}

static void put_head(struct callgrind_export *e)
{
        static const char *const words[CALLSTACK_VALUES] = {
                [CALLSTACK_SAMPLES] = "samples",
                [CALLSTACK_OFF_CPU_NS] = "off-cpu-ns",
                [CALLSTACK_ALLOCATIONS] = "allocations",
                [CALLSTACK_ALLOCATED_BYTES] = "allocated-bytes",
        };
        struct text_view command = loaded_trace_meta(e->trace, "command");

        put_words(e, "# callgrind format\nversion: 1\ncreator: hyprof\ncmd: ");
        put_name(e, command.bytes, command.n_bytes);
        put_words(e, "\npart: 1\npositions: line\nevents:");
        for (int i = 0; i < e->n_columns; i++) {
                put_words(e, " ");
                if (e->columns[i] == CALLSTACK_WEIGHT)
                        put_event_word(e);
                else
                        put_words(e, words[e->columns[i]]);
        }
        put_words(e, "\nsummary:");
        for (int i = 0; i < e->n_columns; i++) {
                put_words(e, " ");
                put_number(e, e->sums.all.values[e->columns[i]]);
        }
        put_words(e, "\n");
}

static int add_callstacks(struct callgrind_export *e)
{
        int r = 0;

        for (uint32_t i = 1; i <= callstack_sums_count(&e->sums) && r == 0; i++) {
                const struct callstack_key *key = callstack_sums_key(&e->sums, i);

                r = export_frames_of(&e->frames, &e->sums.walk.paths,
                                     e->options->zones_as_frames ? key->path : 0, key->stack);
                if (r == 0)
                        r = callgrind_graph_add(&e->graph, key->thread, &e->sums.sums[i - 1]);
        }
        return r;
}

static int write_all(struct callgrind_export *e, struct error *err)
{
        int r = export_frames_init(&e->frames, e->trace->dictionary);

        if (r != 0)
                goto done;
        e->frames.folds = callstack_sums_folds(&e->sums);
        r = callgrind_graph_init(&e->graph, &e->frames, e->trace->n_threads);
        if (r != 0)
                goto done;
        r = add_callstacks(e);
        if (r != 0)
                goto done;
        choose_columns(e);
        put_head(e);
        r = put_lines(e);

done:
        if (r == -ENOMEM || r == -EOVERFLOW)
                return error_set(err, r, "the calls: not enough memory");
        return export_stream_finish(&e->out, err);
}

int export_callgrind(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                     struct export_totals *ret_totals, struct error *err)
{
        struct callgrind_export e = { .trace = trace, .options = options };
        int r;

        export_stream_init(&e.out, out);
        r = callstack_sums_read(&e.sums, trace, options, err);
        if (r == 0)
                r = write_all(&e, err);
        if (r == 0) {
                *ret_totals = e.sums.totals;
                ret_totals->left_out[EXPORT_LEFT_OUT_LONG_STACKS] = e.frames.n_cut;
        }
        id_set_deinit(&e.functions);
        id_set_deinit(&e.files);
        id_set_deinit(&e.objects);
        callgrind_graph_deinit(&e.graph);
        export_frames_deinit(&e.frames);
        export_stream_deinit(&e.out);
        callstack_sums_deinit(&e.sums);
        return r;
}
