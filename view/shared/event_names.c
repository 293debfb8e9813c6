/* SPDX-License-Identifier: MIT */
#include "view/shared/event_names.h"

#include "analyze/stats/wait_places.h"
#include "analyze/trace/zone_paths.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <string.h>

#define PATH_ZONES_MAX 64 /* of one path; those around them are left out */

void event_names_init(struct event_names *n, struct view_document *d, struct loaded_trace *trace,
                      const struct zone_paths *paths, const struct event_view_options *options)
{
        *n = (struct event_names){ .document = d, .trace = trace, .paths = paths, .options = options };
}

void event_names_deinit(struct event_names *n)
{
        byte_buffer_deinit(&n->words);
}

static const char *loss_words(uint32_t reason)
{
        static const char *const words[] = {
#define X(id, name, text) [id] = (text),
                TRACE_LOSS_REASONS(X)
#undef X
        };

        return reason < sizeof(words) / sizeof(words[0]) && words[reason]
                       ? words[reason]
                       : "events lost for an unknown reason";
}

static bool is_about_events(uint32_t reason, uint32_t own)
{
        switch (reason) {
        case TRACE_LOSS_CLIENT_NO_RING:
        case TRACE_LOSS_CLIENT_GARBAGE:
        case TRACE_LOSS_THREAD_UNKNOWN:
        case TRACE_LOSS_CLIENT_UNREAD:
        case TRACE_LOSS_CLIENT_GONE:
        case TRACE_LOSS_CLIENT_REFUSED:
        case TRACE_LOSS_CLIENT_NO_ROOM:
        case TRACE_LOSS_CLIENT_NO_FILES:
        case TRACE_LOSS_CLIENT_NO_SPACE:
        case TRACE_LOSS_CLIENT_JOINED:
        case TRACE_LOSS_LOCATIONS_SHARE:
        case TRACE_LOSS_STRING_TABLE_FULL:
        case TRACE_LOSS_NAMES_FULL:
                return true;
        default:
                return reason == own;
        }
}

static void warn_of_losses(struct event_names *n, uint32_t own)
{
        const struct trace_dictionary *d = n->trace->dictionary;
        uint32_t n_rows = trace_dictionary_count(d, TRACE_TABLE_LOSSES);
        uint64_t sums[TRACE_LOSS_COUNT] = { 0 };

        for (uint32_t i = 1; i <= n_rows; i++) {
                const struct trace_loss *loss = trace_dictionary_row(d, TRACE_TABLE_LOSSES, i);

                if (loss->reason < TRACE_LOSS_COUNT && is_about_events(loss->reason, own))
                        sums[loss->reason] += loss->count;
        }
        for (uint32_t reason = 1; reason < TRACE_LOSS_COUNT; reason++)
                event_names_warn(n, sums[reason], loss_words(reason));
}

void event_names_heading(struct event_names *n, const struct answer_words *answer, uint32_t loss_reason,
                         uint64_t n_late)
{
        struct view_document *d = n->document;
        const struct loaded_trace *trace = n->trace;
        uint64_t duration_ns = trace->end_ns > trace->start_ns ? trace->end_ns - trace->start_ns : 0;

        answer_words_set(answer, d);
        report_heading_add_command(d, loaded_trace_meta(trace, "command"));
        report_heading_add_filter(d, n->options->filter);
        report_heading_add_length(d, &n->options->range, duration_ns);
        warn_of_losses(n, loss_reason);
        event_names_warn(n, n_late, "events too far out of order to be sorted");
        if (trace->ending == TRACE_ENDING_GROWING)
                view_document_warn(d, "%s", trace->ending_words);
        else if (trace->ending != TRACE_ENDING_WHOLE && trace->ending_words && trace->ending_words[0] != '\0')
                view_document_warn(d, "the trace does not end as it should: %s", trace->ending_words);
}

void event_names_warn(struct event_names *n, uint64_t count, const char *words)
{
        if (count != 0)
                view_document_warn(n->document, "%s", text_number_counted(count, words).text);
}

size_t event_names_limit(const struct event_names *n, struct view_table *t, size_t n_rows)
{
        size_t n_shown = n->options->limit != 0 && n->options->limit < n_rows ? n->options->limit : n_rows;

        if (t)
                t->n_left_out = n_rows - n_shown;
        return n_shown;
}

struct view_value event_names_thread(struct event_names *n, uint32_t thread)
{
        struct text_view name = loaded_trace_thread_name(n->trace, thread);
        const struct trace_thread *row = trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_THREADS,
                                                              thread);

        if (name.n_bytes != 0)
                return view_text(name);
        return row->kind == TRACE_THREAD_FIBER ? view_format(n->document, "fiber %u", row->fiber)
                                               : view_format(n->document, "%u", row->tid);
}

struct text_view event_names_zone(const struct event_names *n, uint32_t location)
{
        return zone_pattern_name_of(n->trace->dictionary, location);
}

struct view_value event_names_path(struct event_names *n, uint32_t path)
{
        uint32_t locations[PATH_ZONES_MAX], n_locations = 0;

        if (path == 0 || !n->paths)
                return view_unknown();
        for (; path != 0 && n_locations < PATH_ZONES_MAX; path = zone_paths_parent(n->paths, path))
                locations[n_locations++] = zone_paths_location(n->paths, path);
        byte_buffer_clear(&n->words);
        if (path != 0)
                byte_buffer_add(&n->words, "…/", strlen("…/"));
        for (uint32_t i = n_locations; i > 0; i--) {
                struct text_view name = event_names_zone(n, locations[i - 1]);

                byte_buffer_add(&n->words, name.bytes, name.n_bytes);
                if (i > 1)
                        byte_buffer_add_u8(&n->words, '/');
        }
        n->document->failed |= n->words.failed;
        return view_text((struct text_view){ (const char *)n->words.data, n->words.used_bytes });
}

uint64_t event_names_since_start(const struct event_names *n, uint64_t time_ns)
{
        return time_ns > n->trace->start_ns ? time_ns - n->trace->start_ns : 0;
}

void event_names_hint_zone(const struct event_names *n, uint32_t path)
{
        struct handle_text zone;

        if (path == 0 || !n->paths)
                return;
        zone = report_heading_zone(n->trace->dictionary, zone_paths_location(n->paths, path));
        report_heading_hint(n->document, n->options->path, "report --zone %s", zone.text);
        report_heading_hint(n->document, n->options->path, "why --zone %s", zone.text);
}

void event_names_hint_overview(const struct event_names *n)
{
        if (n->document->hints.used_bytes == 0)
                report_heading_hint(n->document, n->options->path, "report");
}

struct view_value event_names_callstack(const struct event_names *n, const struct wait_places *places,
                                        const struct wait_place *place)
{
        struct view_value stack = view_begin_stack(n->document);

        for (uint32_t i = 0; i < place->n_labels; i++) {
                const struct function *f = function_table_get(&places->functions, place->labels[i]);

                view_add_frame(n->document, &stack,
                               report_names_function(trace_dictionary_text(n->trace->dictionary, f->name),
                                                     (enum function_kind)f->kind));
        }
        if (place->is_cut != 0)
                view_add_frame(n->document, &stack, report_names_words("…"));
        if (place->n_labels == 0)
                view_add_frame(n->document, &stack, report_names_words("[no call stack]"));
        return stack;
}
