/* SPDX-License-Identifier: MIT */
#include "analyze/stats/lock_stats.h"
#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#include <stdlib.h>

static struct text_view lock_name(const struct event_names *n, const struct lock_stats *s, uint32_t lock)
{
        const struct trace_dictionary *d = n->trace->dictionary;
        const struct trace_lock *row = trace_dictionary_row(d, TRACE_TABLE_LOCKS, lock);
        const struct trace_location *location =
                row->location != 0 ? trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, row->location) : NULL;
        uint32_t name = s->locks[lock - 1].name;

        if (name == 0 && location)
                name = location->name != 0 ? location->name : location->function;
        return trace_dictionary_text(d, name);
}

static struct view_value location_of(const struct event_names *n, uint32_t location)
{
        const struct trace_dictionary *d = n->trace->dictionary;
        const struct trace_location *row;

        if (location == 0)
                return view_unknown();
        row = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, location);
        return view_place(trace_dictionary_text(d, row->file), row->line);
}

/* clang-format off */
#define LOCK_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "lock", "lock", view_text(lock_name(n, s, id)),                                        \
               "its name, or the function in which it was declared")                                          \
        COLUMN(COUNT, "n_obtains", "obtained", view_number(lock->n_obtains), NULL)                            \
        COLUMN(COUNT, "n_waits", "waits", view_number(waits->n_values), NULL)                                 \
        COLUMN(COUNT, "n_contended", "contended", view_number(lock->n_contended),                             \
               "waits while another thread held it")                                                          \
        COLUMN(DURATION, "wait_ns", "waited", view_number(waits->sum), "of all threads")                      \
        COLUMN(DURATION, "wait_mean_ns", "mean", view_known(waited ? waits->sum / waits->n_values : 0, waited), NULL) \
        COLUMN(DURATION, "wait_p99_ns", "p99", view_known(histogram_quantile(waits, 0.99), waited), NULL)     \
        COLUMN(DURATION, "wait_max_ns", "max", view_known(waits->largest, waited), NULL)                      \
        COLUMN(DURATION, "hold_ns", "held", view_number(holds->sum), NULL)                                    \
        COLUMN(DURATION, "hold_mean_ns", "mean", view_known(held ? holds->sum / holds->n_values : 0, held), NULL) \
        COLUMN(DURATION, "hold_max_ns", "max", view_known(holds->largest, held), NULL)                        \
        COLUMN(COUNT, "n_shared", "shared", view_number(lock->n_shared), "obtained by a reader")              \
        COLUMN(PLACE, "place", "place", location_of(n, row->location), NULL, .n_columns_max = 30)             \
        COLUMN(DURATION, "hold_p99_ns", "p99 held", view_known(histogram_quantile(holds, 0.99), held), NULL)  \
        COLUMN(DURATION, "blocked_ns", "blocked", view_number(lock->blocked_ns),                              \
               "the time of all that waited while it was held, added up")                                     \
        COLUMN(COUNT, "n_given_up", "given up", view_number(lock->n_given_up),                                \
               "waits that ended without the lock")                                                           \
        COLUMN(PLACE, "marked_at", "marked at", location_of(n, lock->mark),                                   \
               "the last place that the program marked while it held the lock", .n_columns_max = 30)          \
        COLUMN(ID, "id", "id", view_number(id), "of the trace: tells locks of one name apart")                \
        COLUMN(ID, "pid", "pid", view_number(process->pid), NULL)
#define HOLDER_COLUMNS(COLUMN)                                                                                \
        COLUMN(STRING, "lock", "lock", view_text(lock_name(n, s, key->lock)), NULL)                           \
        COLUMN(HANDLE, "thread", "", view_handle('t', key->thread), NULL)                                     \
        COLUMN(STRING, "thread_name", "held by", event_names_thread(n, key->thread), NULL, .n_columns_max = 30) \
        COLUMN(DURATION, "blocked_ns", "blocked", view_number(row->blocked_ns),                               \
               "the time of all that waited meanwhile, added up")                                             \
        COLUMN(COUNT, "n_holds", "held", view_number(row->n), NULL)                                           \
        COLUMN(DURATION, "hold_ns", "for", view_number(row->total_ns), NULL)                                  \
        COLUMN(DURATION, "hold_max_ns", "max", view_number(row->max_ns), NULL)                                \
        COLUMN(STRING, "zones", "in zone", event_names_path(n, key->path), NULL, .n_columns_max = 60)         \
        COLUMN(ID, "id", "id", view_number(key->lock), "of the lock")
#define WAIT_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "lock", "lock", view_text(lock_name(n, s, key->lock)), NULL)                           \
        COLUMN(HANDLE, "thread", "", view_handle('t', key->thread), NULL)                                     \
        COLUMN(STRING, "thread_name", "waits", event_names_thread(n, key->thread), NULL, .n_columns_max = 30) \
        COLUMN(DURATION, "wait_ns", "waited", view_number(row->total_ns), NULL)                               \
        COLUMN(COUNT, "n_waits", "count", view_number(row->n), NULL)                                          \
        COLUMN(COUNT, "n_contended", "contended", view_number(row->n_contended), NULL)                        \
        COLUMN(DURATION, "wait_max_ns", "max", view_number(row->max_ns), NULL)                                \
        COLUMN(STRING, "zones", "in zone", event_names_path(n, key->path), NULL, .n_columns_max = 60)         \
        COLUMN(ID, "id", "id", view_number(key->lock), "of the lock")
/* clang-format on */

static const struct view_column lock_columns[] = { LOCK_COLUMNS(VIEW_COLUMN) };
static const struct view_column holder_columns[] = { HOLDER_COLUMNS(VIEW_COLUMN) };
static const struct view_column wait_columns[] = { WAIT_COLUMNS(VIEW_COLUMN) };
static const struct answer_part lock_part = ANSWER_TABLE("locks", lock_columns,
                                                         "a lock, by time waited for it");
static const struct answer_part holder_part = ANSWER_TABLE(
        "holders", holder_columns, "a thread that held a lock while others waited for it, and in which zone",
        .may_be_absent = true);
static const struct answer_part wait_part = ANSWER_TABLE(
        "waits", wait_columns, "a thread that waited, and in which zone", .may_be_absent = true);

static void put_lock(struct event_names *n, struct view_table *t, const struct lock_stats *s, uint32_t id)
{
        const struct lock_state *lock = &s->locks[id - 1];
        const struct trace_lock *row = trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_LOCKS, id);
        const struct trace_process *process = trace_dictionary_row(n->trace->dictionary,
                                                                   TRACE_TABLE_PROCESSES, row->process);
        const struct histogram *waits = &lock->waits_ns, *holds = &lock->holds_ns;
        bool waited = waits->n_values != 0, held = holds->n_values != 0;
        struct view_document *d = n->document;

        LOCK_COLUMNS(VIEW_CELL)
}

/* The input of the comparisons. */
struct lock_order {
        const struct lock_stats *stats;
};

static int compare_locks(const void *left, const void *right, void *context)
{
        const uint32_t *a = left, *b = right;
        const struct lock_stats *s = ((const struct lock_order *)context)->stats;
        const struct lock_state *x = &s->locks[*a - 1], *y = &s->locks[*b - 1];

        if (x->waits_ns.sum != y->waits_ns.sum)
                return x->waits_ns.sum > y->waits_ns.sum ? -1 : 1;
        if (x->holds_ns.sum != y->holds_ns.sum)
                return x->holds_ns.sum > y->holds_ns.sum ? -1 : 1;
        return *a < *b ? -1 : *a > *b;
}

static void add_locks(struct event_names *n, const struct lock_stats *s)
{
        struct view_table *t = view_document_add_part(n->document, &lock_part,
                                                      "Locks, by time waited for them");
        uint32_t *ids = calloc((size_t)s->n_used + 1, sizeof(*ids)), n_ids = 0;
        struct lock_order order = { .stats = s };
        size_t n_shown;

        view_table_set_about(
                n->document, t,
                "contended: another thread held it while this one waited; blocked: how long that was, of "
                "all that waited together; percentiles are within 1%%");
        if (!ids) {
                n->document->failed = true;
                return;
        }
        for (uint32_t i = 1; i <= s->n_locks; i++)
                if (s->locks[i - 1].any)
                        ids[n_ids++] = i;
        if (n_ids != 0)
                qsort_r(ids, n_ids, sizeof(*ids), compare_locks, &order);
        n_shown = event_names_limit(n, t, n_ids);
        for (size_t i = 0; i < n_shown; i++)
                put_lock(n, t, s, ids[i]);
        free(ids);
}

static uint64_t weight_of(const struct lock_stats *s, uint32_t id)
{
        const struct lock_row_key *key = intern_get(&s->keys, id, NULL);
        const struct lock_row *row = &s->rows[id - 1];

        return key->holds != 0 ? row->blocked_ns : row->total_ns;
}

static int compare_rows(const void *left, const void *right, void *context)
{
        const uint32_t *a = left, *b = right;
        const struct lock_order *order = context;
        uint64_t x = weight_of(order->stats, *a), y = weight_of(order->stats, *b);

        if (x != y)
                return x > y ? -1 : 1;
        return *a < *b ? -1 : *a > *b;
}

static void put_row(struct event_names *n, struct view_table *t, const struct lock_stats *s, uint32_t id)
{
        const struct lock_row_key *key = intern_get(&s->keys, id, NULL);
        const struct lock_row *row = &s->rows[id - 1];
        struct view_document *d = n->document;

        if (key->holds != 0) {
                HOLDER_COLUMNS(VIEW_CELL)
        } else {
                WAIT_COLUMNS(VIEW_CELL)
        }
}

/* Returns the zones of the row that is shown first; 0 = outside of all, or there is no row. */
static uint32_t add_rows(struct event_names *n, const struct lock_stats *s, struct view_table *t,
                         uint32_t holds)
{
        uint32_t *ids = calloc((size_t)s->keys.n_items + 1, sizeof(*ids)), n_ids = 0, path = 0;
        struct lock_order order = { .stats = s };
        size_t n_shown;

        if (!ids) {
                n->document->failed = true;
                return 0;
        }
        for (uint32_t i = 1; i <= s->keys.n_items; i++) {
                const struct lock_row_key *key = intern_get(&s->keys, i, NULL);

                if (key->holds == holds && (holds == 0 || s->rows[i - 1].blocked_ns != 0))
                        ids[n_ids++] = i;
        }
        if (n_ids != 0)
                qsort_r(ids, n_ids, sizeof(*ids), compare_rows, &order);
        n_shown = event_names_limit(n, t, n_ids);
        for (size_t i = 0; i < n_shown; i++)
                put_row(n, t, s, ids[i]);
        if (n_ids != 0)
                path = ((const struct lock_row_key *)intern_get(&s->keys, ids[0], NULL))->path;
        free(ids);
        return path;
}

static void add_holders_and_waits(struct event_names *n, const struct lock_stats *s)
{
        struct view_document *d = n->document;
        uint32_t holder, waiter;
        struct view_table *t;

        t = view_document_add_part(d, &holder_part, "Threads that held a lock while others waited for it");
        view_table_set_about(d, t, "blocked: the time of all that waited meanwhile, added up");
        holder = add_rows(n, s, t, 1);
        t = view_document_add_part(d, &wait_part, "Threads that waited, and in which zone");
        waiter = add_rows(n, s, t, 0);
        event_names_hint_zone(n, holder);
        if (waiter != holder)
                event_names_hint_zone(n, waiter);
}

/* BPF reads the lock of a Python interpreter; without BPF its functions are approximate. */
static bool lacks_gil(const struct loaded_trace *trace)
{
        return trace_dictionary_has_notice(trace->dictionary, TRACE_NOTICE_PYTHON_APPROXIMATE);
}

static struct answer_words make_answer(const struct event_names *n, const struct lock_stats *s)
{
        struct answer_words a = { .used_bytes = 0 };
        struct lock_order order = { .stats = s };
        uint32_t first = 0;

        for (uint32_t i = 1; i <= s->n_locks; i++)
                if (s->locks[i - 1].any && (first == 0 || compare_locks(&i, &first, &order) < 0))
                        first = i;
        if (s->n_used == 0 || first == 0) {
                answer_words_add(&a, "%s",
                                 n->options->is_filtered ? "no lock event passes the filters"
                                 : lacks_gil(n->trace)   ? "no locks are known: the GIL needs BPF"
                                                         : family_words_none(n->trace->dictionary, "locks",
                                                                             "the program reported no locks")
                                                                 .text);
                return a;
        }
        if (s->locks[first - 1].waits_ns.n_values == 0) {
                answer_words_add(&a, "no thread waited for a lock");
                return a;
        }
        answer_words_add(&a, "threads waited %s for lock ",
                         text_number_duration(s->locks[first - 1].waits_ns.sum).text);
        answer_words_add_name(&a, lock_name(n, s, first));
        answer_words_add_most(&a, s->n_used, "locks");
        return a;
}

/* clang-format off */
#define LOCKS_FACTS(FACT)                                                                                     \
        FACT(COUNT, "n_locks", "locks", view_number(s->n_used), "with at least one event")                    \
        FACT(COUNT, "n_open_waits", "waits at the end", view_number(s->n_open_waits), NULL)                   \
        FACT(COUNT, "n_open_holds", "held at the end", view_number(s->n_open_holds), NULL)
/* clang-format on */

static const struct view_column fact_columns[] = { LOCKS_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);
const struct answer_schema locks_view_schema = {
        .name = "hyprof.locks/1",
        .command = "hyprof report --locks --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &facts, &lock_part,
                                                      &holder_part, &wait_part, NULL },
};

void locks_view_fill(struct view_document *d, const struct lock_stats *s, const struct event_walk *walk,
                     struct loaded_trace *trace, const struct event_view_options *options)
{
        struct answer_words answer;
        struct event_names n;

        event_names_init(&n, d, trace, &walk->walk.paths, options);
        answer = make_answer(&n, s);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_LOCKS, walk->events.order.n_late);
        LOCKS_FACTS(VIEW_FACT)
        event_names_warn(&n, s->n_releases_alone,
                         "releases of locks that the thread did not hold, as far as is known");
        event_names_warn(&n, s->n_untracked, "threads at one lock beyond the limit; left out");
        event_names_warn(&n, s->n_rows_lost, "holds and waits in too many different zones; in the sums only");
        if (lacks_gil(trace))
                view_document_warn(d, "the lock of Python (GIL) is missing: it was recorded without BPF");
        add_locks(&n, s);
        if (s->n_used != 0)
                add_holders_and_waits(&n, s);
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}
