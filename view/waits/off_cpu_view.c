/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/text/text_number.h"
#include "view/waits/owners_view.h"

#include <inttypes.h>
#include <string.h>

#define WAKERS_SHOWN 3 /* of each place, if there is a limit */

#define SUM_COLUMNS                                                                                    \
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION, .n_columns_max = 10 },           \
                { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },              \
                { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },         \
                { .key = "n_unended", .title = "not ended", .type = VIEW_COUNT, .n_columns_max = 12 }, \
                { .key = "mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },     \
        {                                                                                              \
                .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10            \
        }
#define DELAY_COLUMNS                                                                                   \
        { .key = "delay_mean_ns", .title = "delay", .type = VIEW_DURATION, .n_columns_max = 10 },       \
        {                                                                                               \
                .key = "delay_max_ns", .title = "max delay", .type = VIEW_DURATION, .n_columns_max = 10 \
        }

static const struct view_column place_columns[] = {
        { .key = "id", .type = VIEW_ID }, /* the order says it */
        SUM_COLUMNS,
        { .key = "place", .title = "place", .type = VIEW_STRING },
        { .key = "state", .title = "state", .type = VIEW_STRING, .n_columns_max = 34, .may_go = true },
        DELAY_COLUMNS,
        { .key = "kernel", .title = "in the kernel", .type = VIEW_STRING, .is_below = true },
        { .key = "callstack", .title = "call stack", .type = VIEW_STACK, .is_below = true },
        { .key = "module", .title = "module", .type = VIEW_PLACE, .n_columns_max = 26 },
        { .key = "state_code", .type = VIEW_STRING }, /* of `state` */
        { .key = "seen_ns",
          .title = "seen there",
          .type = VIEW_DURATION,
          .n_columns_max = 10,
          .may_go = true },
};

#define WAKER_COLUMNS                                                                                \
        { .key = "place_id", .type = VIEW_ID }, /* of `place` */                                     \
                { .key = "place", .title = "waits in", .type = VIEW_STRING },                        \
                { .key = "total_ns", .title = "ended", .type = VIEW_DURATION, .n_columns_max = 10 }, \
                { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },            \
                { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },       \
        {                                                                                            \
                .key = "thread_name", .title = "by thread", .type = VIEW_STRING, .n_columns_max = 26 \
        }

static const struct view_column waker_columns[] = {
        WAKER_COLUMNS,
        { .key = "function", .title = "which was in", .type = VIEW_STRING },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "pid", .type = VIEW_ID }, /* one process */
        { .key = "tid", .type = VIEW_ID },
};

/*
 * The same columns for several processes: if they share a name, pid and tid show which one is waited for.
 */
static const struct view_column process_waker_columns[] = {
        WAKER_COLUMNS,
        { .key = "function", .title = "which was in", .type = VIEW_STRING },
        { .key = "max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct view_column zone_columns[] = {
        SUM_COLUMNS,
        { .key = "zones", .title = "zone", .type = VIEW_STRING },
        DELAY_COLUMNS,
};

static const struct view_column thread_columns[] = {
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        SUM_COLUMNS,
        { .key = "preempted_ns", .title = "preempted", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
        DELAY_COLUMNS,
        { .key = "n_preemptions", .title = "preemptions", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct view_column cpu_columns[] = {
        { .key = "cpu", .title = "CPU", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "busy_ns", .title = "busy", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "busy_share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_switches", .title = "switches", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_threads", .title = "threads", .type = VIEW_COUNT, .n_columns_max = 12 },
};

static const struct view_column cpu_thread_columns[] = {
        { .key = "cpu", .title = "CPU", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "busy_ns", .title = "busy", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "share", .title = "%", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "n_switches", .title = "switches", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "handle", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "name", .title = "thread", .type = VIEW_STRING },
        { .key = "tid", .title = "tid", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
};

#define COUNT_OF(columns) (sizeof(columns) / sizeof((columns)[0]))

/* Stable names, beside the words for people. */
static const char *const state_codes[TRACE_WAIT_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = #name,
        TRACE_WAIT_STATES(X)
#undef X
                [TRACE_WAIT_STATE_COUNT] = "UNKNOWN",
};

static uint64_t mean(const struct wait_sum *sum)
{
        return sum->n_waits != 0 ? sum->total_ns / sum->n_waits : 0;
}

static void put_sum(struct view_document *d, struct view_table *t, const struct wait_row *sum,
                    uint64_t whole_ns)
{
        bool ended = sum->ended.n_waits != 0;

        view_table_put_number(d, t, wait_row_total_ns(sum));
        report_heading_put_share(d, t, wait_row_total_ns(sum), whole_ns, whole_ns != 0);
        view_table_put_number(d, t, sum->ended.n_waits);
        view_table_put_number(d, t, sum->n_open);
        report_heading_put_known(d, t, mean(&sum->ended), ended);
        report_heading_put_known(d, t, sum->ended.max_ns, ended);
}

static uint64_t sum_whole_ns(const struct report_waits *w)
{
        return wait_row_total_ns(&w->all) - wait_row_total_ns(&w->idle);
}

static void put_delays(struct view_document *d, struct view_table *t, const struct wait_row *sum)
{
        bool delayed = sum->delays.n_waits != 0;

        report_heading_put_known(d, t, mean(&sum->delays), delayed);
        report_heading_put_known(d, t, sum->delays.max_ns, delayed);
}

/* ------------------------------------------------------------------ places */

static const struct report_wait_frame *frame_of(const struct report_wait_place *place)
{
        if (place->n_frames == 0)
                return NULL;
        return &place->frames[place->frame < place->n_frames ? place->frame : 0];
}

static struct text_view place_name(const struct report_wait_place *place)
{
        const struct report_wait_frame *frame = frame_of(place);

        if (!place->has_stack)
                return report_names_words(place->is_idle ? "[idle threads]" : "[place unknown]");
        if (frame)
                return report_names_function(frame->name, frame->kind);
        return place->kernel.n_bytes != 0 ? place->kernel : report_names_words("[no name]");
}

/*
 * Puts Python functions with their line, "f (work.py:12)", because text has no room for the column of
 * modules.
 */
static void put_place_name(struct view_document *d, struct view_table *t,
                           const struct report_wait_place *place)
{
        const struct report_wait_frame *frame = frame_of(place);
        struct text_view name = place_name(place);
        struct text_view file;

        if (!frame || place->line == 0) {
                view_table_put_string(d, t, name);
                return;
        }
        file = report_names_file(frame->module);
        view_table_put_format(d, t, "%.*s (%.*s:%" PRIu32 ")", (int)name.n_bytes, name.bytes,
                              (int)file.n_bytes, file.bytes, place->line);
}

static void put_stack(struct view_document *d, struct view_table *t, const struct report_wait_place *place)
{
        if (!place->has_stack) {
                view_table_put_unknown(d, t);
                return;
        }
        view_table_begin_stack(d, t);
        for (uint32_t i = 0; i < place->n_frames; i++)
                view_table_add_frame(d, t,
                                     report_names_function(place->frames[i].name, place->frames[i].kind));
        if (place->is_cut)
                view_table_add_frame(d, t, report_names_words("…"));
}

static void put_place(struct view_document *d, struct view_table *t, const struct report_waits *w, uint32_t i)
{
        const struct report_wait_place *place = &w->places[i];
        const struct report_wait_frame *frame = frame_of(place);

        view_table_put_number(d, t, i + 1);
        put_sum(d, t, &place->sum, place->is_idle ? 0 : sum_whole_ns(w));
        put_place_name(d, t, place);
        view_table_put_words(d, t, place->wait_words);
        put_delays(d, t, &place->sum);
        report_heading_put_name(d, t, place->kernel);
        put_stack(d, t, place);
        view_table_put_place(d, t, frame ? frame->module : report_names_words(""), 0);
        view_table_put_words(d, t, place->is_idle ? "IDLE_THREADS" : state_codes[place->wait]);
        view_table_put_number(d, t, place->seen_ns);
}

static void add_places(struct view_document *d, const struct report_waits *w, uint32_t limit)
{
        struct view_table *t = view_document_add_table(d, "places", "Where threads waited", place_columns,
                                                       COUNT_OF(place_columns));
        uint32_t n = report_limited(w->n_places, limit);

        if (w->with_stack.ended.n_waits + w->idle.ended.n_waits == w->all.ended.n_waits ||
            w->with_stack.ended.n_waits == 0)
                view_table_set_about(
                        d, t,
                        "%% of all waiting but that of idle threads, from leaving a CPU until running again; "
                        "delay: of it, from being woken on");
        else
                view_table_set_about(
                        d, t,
                        "%% of all waiting but that of idle threads, an estimate: waits without a call stack "
                        "count for places as those of the same state and length that have one, which is %s of "
                        "the waits and %s of their time",
                        text_number_share(report_share(w->with_stack.ended.n_waits,
                                                       w->all.ended.n_waits - w->idle.ended.n_waits))
                                .text,
                        text_number_share(report_share(w->with_stack.ended.total_ns,
                                                       w->all.ended.total_ns - w->idle.ended.total_ns))
                                .text);
        for (uint32_t i = 0; i < n; i++)
                put_place(d, t, w, i);
        /* The line of idle threads is the last one, and shown all the same. */
        if (n < w->n_places && w->places[w->n_places - 1].is_idle)
                put_place(d, t, w, w->n_places - 1);
        if (t)
                t->n_left_out = w->n_places - (uint32_t)view_table_count(t);
}

static void put_waker(struct view_document *d, struct view_table *t, const struct report *report,
                      const struct report_wait_place *place, const struct report_waker *waker)
{
        put_place_name(d, t, place);
        view_table_put_number(d, t, waker->ended.total_ns);
        report_heading_put_share(d, t, waker->ended.total_ns, place->sum.ended.total_ns, true);
        view_table_put_number(d, t, waker->ended.n_waits);
        if (waker->thread.n_bytes != 0)
                view_table_put_string(d, t, waker->thread);
        else
                view_table_put_words(d, t, "[unknown, or an interrupt]");
        if (waker->has_function)
                report_heading_put_function(d, t, waker->function.name, waker->function.kind);
        else
                view_table_put_unknown(d, t);
        report_heading_put_known(d, t, waker->ended.max_ns, waker->ended.n_waits != 0);
        if (waker->process != 0) {
                const struct trace_process *process = trace_dictionary_row(
                        report->trace.dictionary, TRACE_TABLE_PROCESSES, waker->process);

                view_table_put_number(d, t, process->pid);
        } else {
                view_table_put_unknown(d, t);
        }
        report_heading_put_known(d, t, waker->tid, waker->tid != 0);
}

static void add_wakers(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *w = &report->waits;
        const struct view_column *columns = report->n_processes > 1 ? process_waker_columns : waker_columns;
        struct view_table *t = view_document_add_table(d, "wakers", "Who ended these waits", columns,
                                                       COUNT_OF(waker_columns));
        uint32_t n_places = report_limited(w->n_places, limit);

        view_table_set_about(d, t, "%% of the waits there that ended");
        for (uint32_t i = 0; i < n_places; i++) {
                const struct report_wait_place *place = &w->places[i];
                uint32_t n = limit != 0 ? report_limited(place->n_wakers, WAKERS_SHOWN) : place->n_wakers;

                for (uint32_t k = 0; k < n; k++) {
                        view_table_put_number(d, t, i + 1);
                        put_waker(d, t, report, place, &place->wakers[k]);
                }
                if (t)
                        t->n_left_out += place->n_wakers - n;
        }
        if (!t)
                return;
        t->n_grouping = 1;
        t->is_hidden_if_empty = true;
}

/* ------------------------------------------------------------------ zones and threads */

static void put_path(struct view_document *d, struct view_table *t, const struct report_wait_zone *zone)
{
        struct byte_buffer words = { .data = NULL };

        if (zone->is_cut)
                byte_buffer_add(&words, "…/", strlen("…/"));
        for (uint32_t i = 0; i < zone->n_names; i++) {
                byte_buffer_add(&words, "/", i != 0);
                if (zone->names[i].n_bytes != 0)
                        byte_buffer_add(&words, zone->names[i].bytes, zone->names[i].n_bytes);
        }
        d->failed = d->failed || words.failed;
        if (zone->n_names == 0)
                view_table_put_unknown(d, t);
        else
                view_table_put_string(d, t, (struct text_view){ (const char *)words.data, words.used_bytes });
        byte_buffer_deinit(&words);
}

static void add_zones(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *w = &report->waits;
        struct view_table *t = view_document_add_table(d, "zones", "In which zones", zone_columns,
                                                       COUNT_OF(zone_columns));
        uint32_t n = report_limited(w->n_zones, limit);

        view_table_set_about(
                d, t, "%% of all waiting; zones that were open, the outermost first; -: outside of all");
        for (uint32_t i = 0; i < n; i++) {
                put_sum(d, t, &w->zones[i].sum, wait_row_total_ns(&w->all));
                put_path(d, t, &w->zones[i]);
                put_delays(d, t, &w->zones[i].sum);
        }
        if (t)
                t->n_left_out = w->n_zones - n;
}

static void add_threads(struct view_document *d, const struct report_waits *w, uint32_t limit)
{
        struct view_table *t = view_document_add_table(d, "threads", "Which threads", thread_columns,
                                                       COUNT_OF(thread_columns));
        uint32_t n = report_limited(w->n_threads, limit);

        view_table_set_about(
                d, t, "%% of all waiting; preempted: ready to run while another thread ran, in no wait");
        for (uint32_t i = 0; i < n; i++) {
                const struct report_wait_thread *thread = &w->threads[i];

                view_table_put_handle(d, t, 't', thread->thread);
                put_sum(d, t, &thread->sum, wait_row_total_ns(&w->all));
                view_table_put_number(d, t, thread->preempted.total_ns);
                report_heading_put_name(d, t, thread->name);
                view_table_put_number(d, t, thread->tid);
                put_delays(d, t, &thread->sum);
                view_table_put_number(d, t, thread->preempted.n_waits);
                view_table_put_number(d, t, thread->pid);
        }
        if (t)
                t->n_left_out = w->n_threads - n;
}

/*
 * ------------------------------------------------------------------ in all, and how much of it is explained
 */

static void add_share(struct view_document *d, const char *key, const char *title, uint64_t part,
                      uint64_t whole, bool known)
{
        if (known && whole != 0)
                view_document_add_real(d, key, title, VIEW_SHARE, report_share(part, whole));
        else
                view_document_add_unknown(d, key, title, VIEW_SHARE);
}

static void add_facts(struct view_document *d, const struct report *report)
{
        const struct report_waits *w = &report->waits;
        bool known = report->on_cpu_known;
        uint64_t n_waits = w->all.ended.n_waits + w->all.n_open;
        uint64_t n_with_stack = w->with_stack.ended.n_waits + w->with_stack.n_open;

        if (w->is_folded) {
                view_document_add_string(d, "view", NULL, report_names_words("python"));
                view_document_add_string(
                        d, NULL, "python",
                        report_names_words(
                                "waits in native code count for the Python line that called it (--native: apart)"));
        }
        view_document_add_known(d, "n_waits", "waits", VIEW_COUNT, n_waits, known);
        view_document_add_known(d, "n_unended", "not ended", VIEW_COUNT, w->all.n_open, known);
        view_document_add_known(d, "waiting_ns", "waiting", VIEW_DURATION, wait_row_total_ns(&w->all), known);
        view_document_add_known(d, "mean_ns", "mean", VIEW_DURATION, mean(&w->all.ended),
                                known && w->all.ended.n_waits != 0);
        view_document_add_known(d, "max_ns", "max", VIEW_DURATION, w->all.ended.max_ns,
                                known && w->all.ended.n_waits != 0);
        view_document_add_known(d, "delay_mean_ns", "mean delay", VIEW_DURATION, mean(&w->all.delays),
                                known && w->all.delays.n_waits != 0);
        view_document_add_known(d, "delay_max_ns", "max delay", VIEW_DURATION, w->all.delays.max_ns,
                                known && w->all.delays.n_waits != 0);
        view_document_add_known(d, "n_preemptions", "preemptions", VIEW_COUNT, w->preempted.n_waits, known);
        view_document_add_known(d, "preempted_ns", "preempted", VIEW_DURATION, w->preempted.total_ns, known);
        add_share(d, "with_callstack_share", "with call stack", n_with_stack, n_waits, known);
        add_share(d, "with_callstack_time_share", "of the time", wait_row_total_ns(&w->with_stack),
                  wait_row_total_ns(&w->all), known);
        add_share(d, "with_waker_share", "with waker", w->woken.n_waits, n_waits, known && w->has_wakeups);
        if (!known)
                view_document_warn(
                        d, "waiting: nothing is known; hyprof record --off-cpu records it, with call stacks");
        else if (n_waits != 0 && n_with_stack == 0)
                view_document_warn(
                        d, "no call stack was recorded at waits; hyprof record --off-cpu records them, "
                           "with the right to see the kernel");
        else if (n_waits != 0 && !w->has_wakeups)
                view_document_warn(d, "wake-ups were not recorded");
}

void off_cpu_view_set_answer(struct view_document *d, const struct report *report)
{
        const struct kernel_calls *k = &report->kernel_calls;
        const struct report_waits *w = &report->waits;
        uint64_t n_asleep = w->all.n_open - w->with_stack.n_open; /* those without a call stack */
        struct answer_words a = { .used_bytes = 0 };

        if (!report->on_cpu_known) {
                answer_words_add(&a, "waiting is unknown: no context switches were recorded");
        } else if (k->waits.total_ns != 0) {
                answer_words_add(&a, "threads waited %s in all",
                                 text_number_duration(k->waits.total_ns).text);
                if (k->waits.top.weight != 0) {
                        answer_words_add(&a, ", ");
                        answer_words_add_waited(&a, &k->waits);
                }
        }
        if (report->on_cpu_known && n_asleep != 0)
                answer_words_add(&a, "%s%s slept to the end, %s in all", a.used_bytes != 0 ? "; " : "",
                                 text_number_counted(n_asleep, "threads").text,
                                 text_number_duration(w->all.open_ns - w->with_stack.open_ns).text);
        if (a.used_bytes == 0)
                answer_words_add(&a, "no thread waited");
        answer_words_set(&a, d);
}

void off_cpu_view_fill(struct view_document *d, const struct report *report,
                       const struct report_view_options *options)
{
        add_facts(d, report);
        add_places(d, &report->waits, options->limit);
        add_wakers(d, report, options->limit);
        add_zones(d, report, options->limit);
        add_threads(d, &report->waits, options->limit);
        if (report->waits.n_threads != 0)
                report_heading_hint(d, options->path, "report --off-cpu --thread %s",
                                    report_heading_thread(report, report->waits.threads[0].thread).text);
}

/* ------------------------------------------------------------------ CPUs */

static uint64_t cpus_put_threads(struct view_document *d, struct view_table *t, const struct report_cpu *cpu,
                                 uint32_t limit)
{
        uint32_t n = report_limited(cpu->n_threads, limit);

        for (uint32_t i = 0; i < n; i++) {
                const struct report_cpu_thread *thread = &cpu->threads[i];

                view_table_put_number(d, t, cpu->cpu);
                view_table_put_number(d, t, thread->busy_ns);
                report_heading_put_share(d, t, thread->busy_ns, cpu->busy_ns, true);
                view_table_put_number(d, t, thread->n_switches);
                view_table_put_handle(d, t, 't', thread->thread);
                report_heading_put_name(d, t, thread->name);
                view_table_put_number(d, t, thread->tid);
                view_table_put_number(d, t, thread->pid);
        }
        return cpu->n_threads - n;
}

void cpus_view_set_answer(struct view_document *d, const struct report *report)
{
        const struct report_cpu *busiest = NULL;
        struct answer_words a = { .used_bytes = 0 };

        for (uint32_t i = 0; report->on_cpu_known && i < report->cpus.n_rows; i++)
                if (!busiest || report->cpus.rows[i].busy_ns > busiest->busy_ns)
                        busiest = &report->cpus.rows[i];
        if (busiest) {
                answer_words_add(&a, "CPU %" PRIu64 " was busy for %s", busiest->cpu,
                                 text_number_duration(busiest->busy_ns).text);
                answer_words_add_most(&a, report->cpus.n_rows, "CPUs");
        } else {
                answer_words_add(&a, "how busy CPUs were is unknown: no context switches were recorded");
        }
        answer_words_set(&a, d);
}

void cpus_view_fill(struct view_document *d, const struct report *report,
                    const struct report_view_options *options)
{
        const struct report_cpus *cpus = &report->cpus;
        uint32_t n_all = report->on_cpu_known ? cpus->n_rows
                                              : 0; /* without switches nothing is known of them */
        uint32_t n_cpus = report_limited(n_all, options->limit);
        struct view_table *t = view_document_add_table(d, "cpus", "CPUs", cpu_columns, COUNT_OF(cpu_columns));

        if (!report->on_cpu_known)
                view_document_warn(
                        d, "CPUs: nothing is known; context switches are recorded unless hyprof record is "
                           "given --no-switches, or is not permitted to");
        view_table_set_about(
                d, t,
                "busy: with a recorded thread; %% of the time that is looked at; switches to such a thread");
        for (uint32_t i = 0; i < n_cpus; i++) {
                view_table_put_number(d, t, cpus->rows[i].cpu);
                view_table_put_number(d, t, cpus->rows[i].busy_ns);
                report_heading_put_share(d, t, cpus->rows[i].busy_ns, report->recording.range_ns, true);
                view_table_put_number(d, t, cpus->rows[i].n_switches);
                view_table_put_number(d, t, cpus->rows[i].n_threads);
        }
        if (t)
                t->n_left_out = n_all - n_cpus;
        t = view_document_add_table(d, "cpu_threads", "Threads on each CPU", cpu_thread_columns,
                                    COUNT_OF(cpu_thread_columns));
        view_table_set_about(d, t, "%% of the CPU's busy time");
        for (uint32_t i = 0; i < n_cpus && t; i++)
                t->n_left_out += cpus_put_threads(d, t, &cpus->rows[i], options->limit);
        owners_view_add_cpus(d, report, options->limit);
}

const struct answer_schema off_cpu_view_schema = {
        .name = "hyprof.off_cpu/2",
        .command = "hyprof report --off-cpu --json, also with --cpus",
        .parts = (const struct answer_part *const[]){ NULL },
};

const struct answer_schema cpus_view_schema = {
        .name = "hyprof.cpus/2",
        .command = "hyprof report --cpus --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
