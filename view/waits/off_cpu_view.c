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

static const struct text_view no_text = { .n_bytes = 0 };

/* Stable names, beside the words for people. */
static const char *const state_codes[TRACE_WAIT_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = #name,
        TRACE_WAIT_STATES(X)
#undef X
                [TRACE_WAIT_STATE_COUNT] = "UNKNOWN",
};

static struct view_value mean_of(const struct wait_sum *sum)
{
        return sum->n_waits != 0 ? view_number(sum->total_ns / sum->n_waits) : view_unknown();
}

static struct view_value max_of(const struct wait_sum *sum)
{
        return view_known(sum->max_ns, sum->n_waits != 0);
}

/* `sum` is a struct wait_row, and `whole_ns` the time that shares are of. */
/* clang-format off */
#define SUM_COLUMNS(COLUMN)                                                                                   \
        COLUMN(DURATION, "total_ns", "total", view_number(wait_row_total_ns(sum)), NULL)                      \
        COLUMN(SHARE, "share", "%", report_heading_share(wait_row_total_ns(sum), whole_ns), NULL)             \
        COLUMN(COUNT, "count", "count", view_number(sum->ended.n_waits), NULL)                                \
        COLUMN(COUNT, "n_unended", "not ended", view_number(sum->n_open), NULL)                               \
        COLUMN(DURATION, "mean_ns", "mean", mean_of(&sum->ended), NULL)                                       \
        COLUMN(DURATION, "max_ns", "max", max_of(&sum->ended), NULL)
#define DELAY_COLUMNS(COLUMN)                                                                                 \
        COLUMN(DURATION, "delay_mean_ns", "delay", mean_of(&sum->delays), NULL)                               \
        COLUMN(DURATION, "delay_max_ns", "max delay", max_of(&sum->delays), NULL)
/* clang-format on */

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

/* Python functions with their line, "f (work.py:12)", because text has no room for the column of modules. */
static struct view_value place_of(struct view_document *d, const struct report_wait_place *place)
{
        const struct report_wait_frame *frame = frame_of(place);
        struct text_view name = place_name(place);
        struct text_view file;

        if (!frame || place->line == 0)
                return view_text(name);
        file = report_names_file(frame->module);
        return view_format(d, "%.*s (%.*s:%" PRIu32 ")", (int)name.n_bytes, name.bytes, (int)file.n_bytes,
                           file.bytes, place->line);
}

static struct view_value callstack_of(struct view_document *d, const struct report_wait_place *place)
{
        struct view_value stack;

        if (!place->has_stack)
                return view_unknown();
        stack = view_begin_stack(d);
        for (uint32_t i = 0; i < place->n_frames; i++)
                view_add_frame(d, &stack,
                               report_names_function(place->frames[i].name, place->frames[i].kind));
        if (place->is_cut)
                view_add_frame(d, &stack, report_names_words("…"));
        return stack;
}

/* clang-format off */
#define PLACE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(ID, "id", NULL, view_number(i + 1), "for `place_id` of `wakers`; rows have that order")        \
        SUM_COLUMNS(COLUMN)                                                                                   \
        COLUMN(STRING, "place", "place", place_of(d, place),                                                  \
               "the innermost function of the program outside of the C library, the loader and the "          \
               "standard library of C++ or Rust; in the Python view the Python function with its line: "      \
               "f (work.py:12)")                                                                              \
        COLUMN(STRING, "state", "state", view_words(place->wait_words), "why it left the CPU",                \
               .n_columns_max = 34, .may_go = true)                                                           \
        DELAY_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "kernel", "in the kernel", view_name(place->kernel),                                   \
               "the function of the kernel that it waits in", .is_below = true)                               \
        COLUMN(STACK, "callstack", "call stack", callstack_of(d, place), "null if none is known",             \
               .is_below = true)                                                                              \
        COLUMN(PLACE, "module", "module", view_place(frame ? frame->module : no_text, 0), NULL,               \
               .n_columns_max = 26)                                                                           \
        COLUMN(STRING, "state_code", NULL,                                                                    \
               view_words(place->is_idle ? "IDLE_THREADS" : state_codes[place->wait]),                        \
               "a stable name of `state`; IDLE_THREADS: the waits of idle threads, the last row")             \
        COLUMN(DURATION, "seen_ns", "seen there", view_number(place->seen_ns),                                \
               "of `total_ns`, the waits that have the call stack themselves; the others are an estimate",    \
               .may_go = true)
/* clang-format on */

static const struct view_column place_columns[] = { PLACE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part places_part = ANSWER_TABLE(
        "places", place_columns,
        "where threads waited; shares are of all waiting but that of idle threads, which are the last row");

static void put_place(struct view_document *d, struct view_table *t, const struct report_waits *w, uint32_t i)
{
        const struct report_wait_place *place = &w->places[i];
        const struct report_wait_frame *frame = frame_of(place);
        const struct wait_row *sum = &place->sum;
        uint64_t whole_ns = place->is_idle ? 0 : wait_row_total_ns(&w->all) - wait_row_total_ns(&w->idle);

        PLACE_COLUMNS(VIEW_CELL)
}

static void add_places(struct view_document *d, const struct report_waits *w, uint32_t limit)
{
        struct view_table *t = view_document_add_part(d, &places_part, "Where threads waited");
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

static struct view_value pid_of(const struct report *report, uint32_t process)
{
        const struct trace_process *row;

        if (process == 0)
                return view_unknown();
        row = trace_dictionary_row(report->trace.dictionary, TRACE_TABLE_PROCESSES, process);
        return view_number(row->pid);
}

/* Stable names, and what people see in place of a thread's name; NULL = the thread's. */
static const struct {
        const char *code, *words;
} waker_kinds[INTERRUPT_KINDS] = {
        [INTERRUPT_TIMER] = { "timer", "[timer]" },
        [INTERRUPT_DISK] = { "disk", "[disk]" },
        [INTERRUPT_NETWORK] = { "network", "[network]" },
        [INTERRUPT_SENDER] = { "sender", NULL },
        [INTERRUPT_OTHER] = { "interrupt", "[another interrupt]" },
};

static const char *waker_code(const struct report_waker *waker)
{
        if (waker->interrupt != INTERRUPT_UNKNOWN)
                return waker_kinds[waker->interrupt].code;
        return waker->thread.n_bytes != 0 ? "thread" : "unknown";
}

static struct view_value waker_name(const struct report_waker *waker)
{
        const char *words = waker_kinds[waker->interrupt].words;

        if (waker->thread.n_bytes != 0)
                return view_text(waker->thread);
        if (waker->interrupt == INTERRUPT_SENDER)
                return view_words("[not recorded]");
        return view_words(words ? words : "[unknown, or an interrupt]");
}

static struct view_value waker_function(const struct report_waker *waker)
{
        return waker->has_function
                       ? view_text(report_names_function(waker->function.name, waker->function.kind))
                       : view_unknown();
}

/* clang-format off */
#define WAKER_COLUMNS(COLUMN, pid_title, tid_title)                                                           \
        COLUMN(ID, "place_id", NULL, view_number(i + 1), "the `id` in `places`")                              \
        COLUMN(STRING, "place", "waits in", place_of(d, place), NULL)                                         \
        COLUMN(DURATION, "total_ns", "ended", view_number(ended->total_ns), NULL)                             \
        COLUMN(SHARE, "share", "%", report_heading_share(ended->total_ns, place->sum.ended.total_ns),         \
               "of the waits there that ended")                                                               \
        COLUMN(COUNT, "count", "count", view_number(ended->n_waits), NULL)                                    \
        COLUMN(STRING, "thread_name", "by thread", waker_name(waker),                                         \
               "in brackets: no thread, or one that was not recorded", .n_columns_max = 26)                   \
        COLUMN(STRING, "function", "which was in", waker_function(waker), NULL)                               \
        COLUMN(DURATION, "max_ns", "max", max_of(ended), NULL)                                                \
        COLUMN(ID, "pid", pid_title, pid_of(report, waker->process), NULL, .may_be_null = true)               \
        COLUMN(ID, "tid", tid_title, view_known(waker->tid, waker->tid != 0),                                 \
               "null for several threads of that name", .may_be_null = true)                                  \
        COLUMN(STRING, "kind", NULL, view_words(waker_code(waker)),                                           \
               "sender: a thread, by a message through the network within the machine",                      \
               .one_of = "thread|sender|timer|disk|network|interrupt|unknown")
/* clang-format on */

static const struct view_column waker_columns[] = { WAKER_COLUMNS(VIEW_COLUMN, NULL, NULL) };
/*
 * The same columns for several processes: if they share a name, pid and tid show which one is waited for.
 */
static const struct view_column process_waker_columns[] = { WAKER_COLUMNS(VIEW_COLUMN, "pid", "tid") };
static const struct answer_part wakers_part = ANSWER_TABLE("wakers", waker_columns,
                                                           "who ended the waits of a place");

static void put_wakers(struct view_document *d, struct view_table *t, const struct report *report, uint32_t i,
                       uint32_t n)
{
        const struct report_wait_place *place = &report->waits.places[i];

        for (uint32_t k = 0; k < n; k++) {
                const struct report_waker *waker = &place->wakers[k];
                const struct wait_sum *ended = &waker->ended;

                WAKER_COLUMNS(VIEW_CELL, NULL, NULL)
        }
}

static void add_wakers(struct view_document *d, const struct report *report, uint32_t limit)
{
        const struct report_waits *w = &report->waits;
        const struct view_column *columns = report->n_processes > 1 ? process_waker_columns : waker_columns;
        struct view_table *t = view_document_add_table(d, wakers_part.key, "Who ended these waits", columns,
                                                       wakers_part.n_columns);
        uint32_t n_places = report_limited(w->n_places, limit);

        view_table_set_about(d, t, "%% of the waits there that ended");
        for (uint32_t i = 0; i < n_places; i++) {
                const struct report_wait_place *place = &w->places[i];
                uint32_t n = limit != 0 ? report_limited(place->n_wakers, WAKERS_SHOWN) : place->n_wakers;

                put_wakers(d, t, report, i, n);
                if (t)
                        t->n_left_out += place->n_wakers - n;
        }
        if (!t)
                return;
        t->n_grouping = 1;
        t->is_hidden_if_empty = true;
}

/* ------------------------------------------------------------------ zones and threads */

static struct view_value path_of(const struct report_wait_zone *zone, struct byte_buffer *words)
{
        if (zone->is_cut)
                byte_buffer_add(words, "…/", strlen("…/"));
        for (uint32_t i = 0; i < zone->n_names; i++) {
                byte_buffer_add(words, "/", i != 0);
                if (zone->names[i].n_bytes != 0)
                        byte_buffer_add(words, zone->names[i].bytes, zone->names[i].n_bytes);
        }
        return zone->n_names != 0
                       ? view_text((struct text_view){ (const char *)words->data, words->used_bytes })
                       : view_unknown();
}

/* clang-format off */
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        SUM_COLUMNS(COLUMN)                                                                                   \
        COLUMN(STRING, "zones", "zone", path_of(zone, &words), "null: outside of all zones")                  \
        DELAY_COLUMNS(COLUMN)
#define THREAD_COLUMNS(COLUMN)                                                                                \
        COLUMN(HANDLE, "handle", "", view_handle('t', thread->thread), NULL)                                  \
        SUM_COLUMNS(COLUMN)                                                                                   \
        COLUMN(DURATION, "preempted_ns", "preempted", view_number(thread->preempted.total_ns),                \
               "ready to run while another thread ran; in no wait")                                           \
        COLUMN(STRING, "name", "thread", view_name(thread->name), NULL)                                       \
        COLUMN(ID, "tid", "tid", view_number(thread->tid), NULL)                                              \
        DELAY_COLUMNS(COLUMN)                                                                                 \
        COLUMN(COUNT, "n_preemptions", "preemptions", view_number(thread->preempted.n_waits), NULL)           \
        COLUMN(ID, "pid", "pid", view_number(thread->pid), NULL)
/* clang-format on */

static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
static const struct view_column thread_columns[] = { THREAD_COLUMNS(VIEW_COLUMN) };
static const struct answer_part zones_part = ANSWER_TABLE(
        "zones", zone_columns, "in which zones threads waited; shares are of all waiting");
static const struct answer_part threads_part = ANSWER_TABLE(
        "threads", thread_columns, "which threads waited; shares are of all waiting");

static void put_zone(struct view_document *d, struct view_table *t, const struct report_wait_zone *zone,
                     uint64_t whole_ns)
{
        const struct wait_row *sum = &zone->sum;
        struct byte_buffer words = { .data = NULL };

        ZONE_COLUMNS(VIEW_CELL)
        d->failed = d->failed || words.failed;
        byte_buffer_deinit(&words);
}

static void add_zones(struct view_document *d, const struct report_waits *w, uint32_t limit)
{
        struct view_table *t = view_document_add_part(d, &zones_part, "In which zones");
        uint32_t n = report_limited(w->n_zones, limit);

        view_table_set_about(
                d, t, "%% of all waiting; zones that were open, the outermost first; -: outside of all");
        for (uint32_t i = 0; i < n; i++)
                put_zone(d, t, &w->zones[i], wait_row_total_ns(&w->all));
        if (t)
                t->n_left_out = w->n_zones - n;
}

static void add_threads(struct view_document *d, const struct report_waits *w, uint32_t limit)
{
        struct view_table *t = view_document_add_part(d, &threads_part, "Which threads");
        uint32_t n = report_limited(w->n_threads, limit);
        uint64_t whole_ns = wait_row_total_ns(&w->all);

        view_table_set_about(
                d, t, "%% of all waiting; preempted: ready to run while another thread ran, in no wait");
        for (uint32_t i = 0; i < n; i++) {
                const struct report_wait_thread *thread = &w->threads[i];
                const struct wait_row *sum = &thread->sum;

                THREAD_COLUMNS(VIEW_CELL)
        }
        if (t)
                t->n_left_out = w->n_threads - n;
}

/*
 * ------------------------------------------------------------------ in all, and how much of it is explained
 */

static struct view_value share_of(uint64_t part, uint64_t whole, bool known)
{
        return known ? report_heading_share(part, whole) : view_unknown();
}

/* clang-format off */
#define PYTHON_FACTS(FACT)                                                                                    \
        FACT(STRING, "view", NULL, view_words("python"),                                                      \
             "only in the Python view: waits in native code count for the Python line that called it",        \
             .one_of = "python")                                                                              \
        FACT(STRING, NULL, "python", view_words("waits in native code count for the Python line that called " \
             "it (--native: apart)"), NULL)
#define WAITS_FACTS(FACT)                                                                                     \
        FACT(COUNT, "n_waits", "waits", view_known(n_waits, known),                                           \
             "from leaving a CPU, unless by preemption, until running again; null without context switches, " \
             "as are the facts that follow", .may_be_null = true)                                             \
        FACT(COUNT, "n_unended", "not ended", view_known(w->all.n_open, known), NULL, .may_be_null = true)    \
        FACT(DURATION, "waiting_ns", "waiting", view_known(wait_row_total_ns(&w->all), known), NULL)          \
        FACT(DURATION, "mean_ns", "mean", known ? mean_of(&w->all.ended) : view_unknown(), NULL)              \
        FACT(DURATION, "max_ns", "max", known ? max_of(&w->all.ended) : view_unknown(), NULL)                 \
        FACT(DURATION, "delay_mean_ns", "mean delay", known ? mean_of(&w->all.delays) : view_unknown(),       \
             "from being woken until running, which is part of the wait")                                     \
        FACT(DURATION, "delay_max_ns", "max delay", known ? max_of(&w->all.delays) : view_unknown(), NULL)    \
        FACT(COUNT, "n_preemptions", "preemptions", view_known(w->preempted.n_waits, known), NULL,            \
             .may_be_null = true)                                                                             \
        FACT(DURATION, "preempted_ns", "preempted", view_known(w->preempted.total_ns, known),                 \
             "ready to run while another thread ran; in no wait")                                             \
        FACT(SHARE, "with_callstack_share", "with call stack", share_of(n_with_stack, n_waits, known),        \
             "of the waits: those with a call stack, which are at most one a millisecond and thread")         \
        FACT(SHARE, "with_callstack_time_share", "of the time",                                               \
             share_of(wait_row_total_ns(&w->with_stack), wait_row_total_ns(&w->all), known),                  \
             "the part of the waiting time that has a call stack")                                            \
        FACT(SHARE, "with_waker_share", "with waker",                                                         \
             share_of(w->woken.n_waits, n_waits, known && w->has_wakeups), "of the waits")
/* clang-format on */

static const struct view_column python_columns[] = { PYTHON_FACTS(VIEW_MEMBER) };
static const struct view_column waits_columns[] = { WAITS_FACTS(VIEW_MEMBER) };
static const struct answer_part python_part = ANSWER_FACTS_ABSENT(python_columns);
static const struct answer_part waits_part = ANSWER_FACTS(waits_columns);

static void add_facts(struct view_document *d, const struct report *report)
{
        const struct report_waits *w = &report->waits;
        bool known = report->on_cpu_known;
        uint64_t n_waits = w->all.ended.n_waits + w->all.n_open;
        uint64_t n_with_stack = w->with_stack.ended.n_waits + w->with_stack.n_open;

        if (w->is_folded) {
                PYTHON_FACTS(VIEW_FACT)
        }
        WAITS_FACTS(VIEW_FACT)
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
        add_zones(d, &report->waits, options->limit);
        add_threads(d, &report->waits, options->limit);
        if (report->waits.n_threads == 0)
                return;
        report_heading_hint(d, options->path, "report --off-cpu --thread %s",
                            report_heading_thread(report, report->waits.threads[0].thread).text);
        report_heading_hint(d, options->path, "path");
}

/* ------------------------------------------------------------------ CPUs */

/* clang-format off */
#define CPU_COLUMNS(COLUMN)                                                                                   \
        COLUMN(ID, "cpu", "CPU", view_number(cpu->cpu), NULL)                                                 \
        COLUMN(DURATION, "busy_ns", "busy", view_number(cpu->busy_ns), "a recorded thread ran")               \
        COLUMN(SHARE, "busy_share", "%", report_heading_share(cpu->busy_ns, report->recording.range_ns),      \
               "of the time that is looked at")                                                               \
        COLUMN(COUNT, "n_switches", "switches", view_number(cpu->n_switches), "to a recorded thread")         \
        COLUMN(COUNT, "n_threads", "threads", view_number(cpu->n_threads), NULL)
#define CPU_THREAD_COLUMNS(COLUMN)                                                                            \
        COLUMN(ID, "cpu", "CPU", view_number(cpu->cpu), NULL)                                                 \
        COLUMN(DURATION, "busy_ns", "busy", view_number(thread->busy_ns), NULL)                               \
        COLUMN(SHARE, "share", "%", report_heading_share(thread->busy_ns, cpu->busy_ns),                      \
               "of the CPU's busy time")                                                                      \
        COLUMN(COUNT, "n_switches", "switches", view_number(thread->n_switches), NULL)                        \
        COLUMN(HANDLE, "handle", "", view_handle('t', thread->thread), NULL)                                  \
        COLUMN(STRING, "name", "thread", view_name(thread->name), NULL)                                       \
        COLUMN(ID, "tid", "tid", view_number(thread->tid), NULL)                                              \
        COLUMN(ID, "pid", "pid", view_number(thread->pid), NULL)
/* clang-format on */

static const struct view_column cpu_columns[] = { CPU_COLUMNS(VIEW_COLUMN) };
static const struct view_column cpu_thread_columns[] = { CPU_THREAD_COLUMNS(VIEW_COLUMN) };
#define CPU_WORDS        "a CPU"
#define CPU_THREAD_WORDS "a thread on a CPU"
static const struct answer_part cpus_part = ANSWER_TABLE("cpus", cpu_columns, CPU_WORDS);
static const struct answer_part cpu_threads_part = ANSWER_TABLE("cpu_threads", cpu_thread_columns,
                                                                CPU_THREAD_WORDS);
/* The same tables for answers that have them only with --cpus. */
static const struct answer_part more_cpus_part = ANSWER_TABLE("cpus", cpu_columns, CPU_WORDS,
                                                              .may_be_absent = true);
static const struct answer_part more_cpu_threads_part = ANSWER_TABLE("cpu_threads", cpu_thread_columns,
                                                                     CPU_THREAD_WORDS, .may_be_absent = true);

static uint64_t put_cpu_threads(struct view_document *d, struct view_table *t, const struct report_cpu *cpu,
                                uint32_t limit)
{
        uint32_t n = report_limited(cpu->n_threads, limit);

        for (uint32_t i = 0; i < n; i++) {
                const struct report_cpu_thread *thread = &cpu->threads[i];

                CPU_THREAD_COLUMNS(VIEW_CELL)
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
        struct view_table *t = view_document_add_part(d, &cpus_part, "CPUs");

        if (!report->on_cpu_known)
                view_document_warn(
                        d, "CPUs: nothing is known; context switches are recorded unless hyprof record is "
                           "given --no-switches, or is not permitted to");
        view_table_set_about(
                d, t,
                "busy: with a recorded thread; %% of the time that is looked at; switches to such a thread");
        for (uint32_t i = 0; i < n_cpus; i++) {
                const struct report_cpu *cpu = &cpus->rows[i];

                CPU_COLUMNS(VIEW_CELL)
        }
        if (t)
                t->n_left_out = n_all - n_cpus;
        t = view_document_add_part(d, &cpu_threads_part, "Threads on each CPU");
        view_table_set_about(d, t, "%% of the CPU's busy time");
        for (uint32_t i = 0; i < n_cpus && t; i++)
                t->n_left_out += put_cpu_threads(d, t, &cpus->rows[i], options->limit);
        owners_view_add_cpus(d, report, options->limit);
}

const struct answer_schema off_cpu_view_schema = {
        .name = "hyprof.off_cpu/2",
        .command = "hyprof report --off-cpu --json, also with --cpus",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &python_part, &waits_part,
                                                      &report_heading_missing_part, &places_part,
                                                      &wakers_part, &zones_part, &threads_part,
                                                      &more_cpus_part, &more_cpu_threads_part,
                                                      &owners_view_cpus_part, NULL },
};

const struct answer_schema cpus_view_schema = {
        .name = "hyprof.cpus/2",
        .command = "hyprof report --cpus --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &report_heading_missing_part,
                                                      &cpus_part, &cpu_threads_part, &owners_view_cpus_part,
                                                      NULL },
};
