/* SPDX-License-Identifier: MIT */
#include "cli/views/waits_text.h"

#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "view/answers/report_names.h"
#include "view/text/text_charset.h"
#include "view/text/text_line.h"
#include "view/text/text_number.h"
#include "view/text/text_page.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <inttypes.h>

#define FRAMES_SHOWN 12 /* of a callstack, unless all is wanted */
#define WAKERS_SHOWN 3
#define INDENT_UNDER 6 /* of what is said about a row, below it */

static uint64_t mean_of(const struct wait_sum *sum)
{
        return sum->n_waits != 0 ? sum->total_ns / sum->n_waits : 0;
}

static void add_duration(struct text_table *table, uint64_t duration_ns, bool known)
{
        text_table_add_text(table, known ? text_number_duration(duration_ns).text : "-");
}

/* total, share, count, mean, max: the columns that every list of waits begins with. */
#define SUM_COLUMNS                                                       \
        { .title = "total", .right = true, .n_columns_max = 12 },         \
                { .title = "%", .right = true, .n_columns_max = 6 },      \
                { .title = "count", .right = true, .n_columns_max = 20 }, \
                { .title = "mean", .right = true, .n_columns_max = 12 },  \
        {                                                                 \
                .title = "max", .right = true, .n_columns_max = 12        \
        }

static void add_sum(struct text_table *table, const struct wait_row *sum, uint64_t whole_ns)
{
        struct text_number count = text_number_count(sum->ended.n_waits);
        char text[72];

        (void)snprintf(text, sizeof(text), "%s", count.text);
        if (sum->n_open != 0)
                (void)snprintf(text, sizeof(text), "%s+%s", count.text, text_number_count(sum->n_open).text);
        add_duration(table, wait_row_total_ns(sum), true);
        text_table_add_text(table, text_number_share(report_share(wait_row_total_ns(sum), whole_ns)).text);
        text_table_add_text(table, text);
        add_duration(table, mean_of(&sum->ended), sum->ended.n_waits != 0);
        add_duration(table, sum->ended.max_ns, sum->ended.n_waits != 0);
}

/* Never empty: a line begins with it. */
static struct report_string name_of_place(const struct report_wait_place *place)
{
        struct report_string name = place->kernel;

        if (!place->has_stack)
                return report_names_words("[stack not recorded]");
        if (place->n_frames != 0) {
                uint32_t i = place->frame < place->n_frames ? place->frame : 0;

                name = report_names_function(place->frames[i].name, place->frames[i].kind);
        }
        return name.n_bytes != 0 ? name : report_names_words("[no name]");
}

static int print_callstack(const struct report_wait_place *place, uint32_t limit, struct byte_buffer *line,
                           const struct text_page *page)
{
        uint32_t n = limit == 0 ? place->n_frames : report_limited(place->n_frames, FRAMES_SHOWN);

        if (!place->has_stack)
                return 0;
        if (place->kernel.n_bytes != 0) {
                text_line_add_string(line, place->kernel);
                text_line_add(line, " (kernel)");
        }
        for (uint32_t i = 0; i < n; i++) {
                text_line_add(line, "%s", line->used_bytes != 0 ? " < " : "");
                text_line_add_string(line,
                                     report_names_function(place->frames[i].name, place->frames[i].kind));
        }
        if (n < place->n_frames)
                text_line_add(line, " < %s %" PRIu32 " more", text_charset_ellipsis(), place->n_frames - n);
        else if (place->is_cut)
                text_line_add(line, " < %s", text_charset_ellipsis());
        return text_line_print_indented(INDENT_UNDER, INDENT_UNDER + 2, line, page->out);
}

static void add_waker(struct byte_buffer *line, const struct report_waker *waker, uint64_t whole_ns)
{
        if (waker->thread.n_bytes != 0)
                text_line_add_string(line, waker->thread);
        else
                text_line_add(line, "[unknown, or an interrupt]");
        if (waker->has_function) {
                text_line_add(line, " in ");
                text_line_add_string(line, report_names_function(waker->function.name, waker->function.kind));
        }
        text_line_add(line, " %s", text_number_share(report_share(waker->ended.total_ns, whole_ns)).text);
}

static int print_wakers(const struct report_wait_place *place, uint32_t limit, struct byte_buffer *line,
                        const struct text_page *page)
{
        uint32_t n = limit == 0 ? place->n_wakers : report_limited(place->n_wakers, WAKERS_SHOWN);

        if (n == 0)
                return 0;
        text_line_add(line, "woken by ");
        for (uint32_t i = 0; i < n; i++) {
                text_line_add(line, "%s", i != 0 ? ", " : "");
                add_waker(line, &place->wakers[i], place->sum.ended.total_ns);
        }
        if (n < place->n_wakers)
                text_line_add(line, ", %s %" PRIu32 " more", text_charset_ellipsis(), place->n_wakers - n);
        if (place->sum.delays.n_waits != 0)
                text_line_add(line, "; ran %s later (max %s)",
                              text_number_duration(mean_of(&place->sum.delays)).text,
                              text_number_duration(place->sum.delays.max_ns).text);
        return text_line_print_indented(INDENT_UNDER, INDENT_UNDER + 2, line, page->out);
}

/* One place as a table of one row, so that what belongs to it stands below it; titles only before the first. */
static int print_place(const struct report_waits *w, const struct report_wait_place *place, uint32_t limit,
                       struct byte_buffer *line, const struct text_page *page)
{
        struct text_number count = text_number_count(place->sum.ended.n_waits);
        uint64_t total_ns = wait_row_total_ns(&place->sum);
        int r;

        text_line_add(line, "%9s  %6s  ", text_number_duration(total_ns).text,
                      text_number_share(report_share(total_ns, wait_row_total_ns(&w->all))).text);
        text_line_add_string(line, name_of_place(place));
        r = text_line_print_indented(TEXT_LINE_INDENT, INDENT_UNDER, line, page->out);
        if (r < 0)
                return r;
        text_line_add(line, "%s", count.text);
        if (place->sum.n_open != 0)
                text_line_add(line, "+%s", text_number_count(place->sum.n_open).text);
        text_line_add(line, " time%s", text_line_plural(place->sum.ended.n_waits + place->sum.n_open));
        if (place->sum.ended.n_waits != 0)
                text_line_add(line, ", mean %s, max %s",
                              text_number_duration(mean_of(&place->sum.ended)).text,
                              text_number_duration(place->sum.ended.max_ns).text);
        text_line_add(line, ", %s", place->wait_words);
        r = text_line_print_indented(INDENT_UNDER, INDENT_UNDER + 2, line, page->out);
        if (r == 0)
                r = print_callstack(place, limit, line, page);
        return r == 0 ? print_wakers(place, limit, line, page) : r;
}

static int print_places(const struct report_waits *w, uint32_t limit, struct byte_buffer *line,
                        const struct text_page *page)
{
        uint32_t n_rows = report_limited(w->n_places, limit);

        text_page_print_title(page,
                              "waits by place: % of all waiting; below it the call stack, innermost first");
        for (uint32_t i = 0; i < n_rows; i++) {
                int r = print_place(w, &w->places[i], limit, line, page);

                if (r < 0)
                        return r;
        }
        if (n_rows < w->n_places)
                (void)fprintf(page->out, "  %s %s more place%s, --limit 0 shows all\n",
                              text_charset_ellipsis(), text_number_count(w->n_places - n_rows).text,
                              text_line_plural(w->n_places - n_rows));
        return 0;
}

static int add_zone(struct text_table *table, const struct report_wait_zone *zone, uint64_t whole_ns)
{
        struct byte_buffer path = { .data = NULL };
        bool failed;

        add_sum(table, &zone->sum, whole_ns);
        for (uint32_t i = zone->n_names; i-- > 0;) {
                text_line_add(&path, "%s", i + 1 != zone->n_names ? " < " : "");
                byte_buffer_add(&path, zone->names[i].bytes, zone->names[i].n_bytes); /* the table escapes */
        }
        if (zone->is_cut)
                text_line_add(&path, " < %s", text_charset_ellipsis());
        if (path.used_bytes != 0)
                text_table_add(table, (const char *)path.data, path.used_bytes);
        else
                text_table_add_text(table, zone->n_names == 0 ? "[outside of every zone]" : "");
        failed = path.failed;
        byte_buffer_deinit(&path);
        return failed ? -ENOMEM : 0;
}

static int print_zones(const struct report *report, uint32_t limit, const struct text_page *page)
{
        static const struct text_column columns[] = { SUM_COLUMNS, { .title = "zone" } };
        const struct report_waits *w = &report->waits;
        uint32_t n_rows = report_limited(w->n_zones, limit);
        struct text_table table;
        int r = 0;

        if (report->n_zone_events == 0)
                return 0;
        text_page_print_title(page, "waits by zone: zones that were open, the innermost first");
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_rows && r == 0; i++)
                r = add_zone(&table, &w->zones[i], wait_row_total_ns(&w->all));
        if (r == 0)
                r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        text_table_deinit(&table);
        if (n_rows < w->n_zones)
                (void)fprintf(page->out, "  %s %s more, --limit 0 shows all\n", text_charset_ellipsis(),
                              text_number_count(w->n_zones - n_rows).text);
        return r;
}

static void add_thread(struct text_table *table, const struct report_wait_thread *thread, bool has_wakeups)
{
        struct report_string name = thread->name.n_bytes != 0 ? thread->name : report_names_words("-");
        const struct wait_sum *delays = &thread->sum.delays;
        char number[24];

        add_duration(table, wait_row_total_ns(&thread->sum), true);
        text_table_add_text(table, text_number_count(thread->sum.ended.n_waits + thread->sum.n_open).text);
        add_duration(table, thread->preempted.total_ns, true);
        text_table_add_text(table, text_number_count(thread->preempted.n_waits).text);
        add_duration(table, delays->total_ns, has_wakeups);
        add_duration(table, delays->max_ns, has_wakeups && delays->n_waits != 0);
        (void)snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
        text_table_add_text(table, number);
        text_table_add(table, name.bytes, name.n_bytes);
}

static int print_threads(const struct report_waits *w, uint32_t limit, const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "waiting", .right = true, .n_columns_max = 12 },
                { .title = "count", .right = true, .n_columns_max = 14 },
                { .title = "preempted", .right = true, .n_columns_max = 12 },
                { .title = "count", .right = true, .n_columns_max = 14 },
                { .title = "delayed", .right = true, .n_columns_max = 12 },
                { .title = "max", .right = true, .n_columns_max = 12 },
                { .title = "tid", .right = true, .n_columns_max = 10 },
                { .title = "thread" },
        };
        uint32_t n_rows = report_limited(w->n_threads, limit);
        struct text_table table;
        int r;

        text_page_print_title(
                page, "threads: waiting; preempted: ready to run while another thread ran; delayed: of the "
                      "waiting, from being woken until running");
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_rows; i++)
                add_thread(&table, &w->threads[i], w->has_wakeups);
        r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        text_table_deinit(&table);
        if (n_rows < w->n_threads)
                (void)fprintf(page->out, "  %s %s more thread%s, --limit 0 shows all\n",
                              text_charset_ellipsis(), text_number_count(w->n_threads - n_rows).text,
                              text_line_plural(w->n_threads - n_rows));
        return r;
}

/* In all, and how much of it is explained. */
static int print_summary(const struct report_waits *w, struct byte_buffer *line, const struct text_page *page)
{
        uint64_t n_waits = w->all.ended.n_waits + w->all.n_open;
        uint64_t all_ns = wait_row_total_ns(&w->all);

        text_line_add(line, "waiting: %s in %s wait%s, from leaving a CPU until running again",
                      text_number_duration(all_ns).text, text_number_count(n_waits).text,
                      text_line_plural(n_waits));
        if (w->all.n_open != 0)
                text_line_add(line, "; count +N: N more that had not ended");
        if (w->preempted.n_waits != 0)
                text_line_add(line, "; besides, ready but not running: %s in %s preemption%s",
                              text_number_duration(w->preempted.total_ns).text,
                              text_number_count(w->preempted.n_waits).text,
                              text_line_plural(w->preempted.n_waits));
        return text_page_print_title_line(page, line);
}

static int print_explained(const struct report_waits *w, struct byte_buffer *line,
                           const struct text_page *page)
{
        uint64_t n_waits = w->all.ended.n_waits + w->all.n_open;
        uint64_t n_with_stack = w->with_stack.ended.n_waits + w->with_stack.n_open;

        if (n_waits == 0)
                return 0;
        if (n_with_stack == 0)
                text_line_add(line, "call stacks: none was recorded at waits; hyprof record --off-cpu does, "
                                    "with the right to see the kernel");
        else
                text_line_add(line, "call stacks: %s of the waits and %s of the time have one",
                              text_number_share(report_share(n_with_stack, n_waits)).text,
                              text_number_share(report_share(wait_row_total_ns(&w->with_stack),
                                                             wait_row_total_ns(&w->all)))
                                      .text);
        if (w->has_wakeups)
                text_line_add(line, "; who ended it is known of %s of the waits",
                              text_number_share(report_share(w->woken.n_waits, n_waits)).text);
        else if (n_with_stack != 0)
                text_line_add(line, "; wake-ups were not recorded");
        return text_line_print_indented(TEXT_LINE_INDENT, TEXT_LINE_INDENT + 2, line, page->out);
}

int waits_text_print(const struct report *report, uint32_t limit, const struct text_page *page)
{
        const struct report_waits *w = &report->waits;
        struct byte_buffer line = { .data = NULL };
        int r;

        if (!report->on_cpu_known) {
                text_page_print_title(
                        page,
                        "waiting: nothing is known; hyprof record --off-cpu records it, with call stacks");
                return 0;
        }
        r = print_summary(w, &line, page);
        if (r == 0)
                r = print_explained(w, &line, page);
        if (r == 0 && w->n_places != 0)
                r = print_places(w, limit, &line, page);
        if (r == 0 && w->n_places != 0)
                r = print_zones(report, limit, page);
        if (r == 0 && w->n_threads != 0)
                r = print_threads(w, limit, page);
        byte_buffer_deinit(&line);
        return r;
}
