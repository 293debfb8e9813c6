/* SPDX-License-Identifier: MIT */
#include "analyze/stats/lock_stats.h"
#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "format/trace_dictionary.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/text/text_number.h"

#include <stdlib.h>

static const struct view_column lock_columns[] = {
        { .key = "lock", .title = "lock", .type = VIEW_STRING },
        { .key = "n_obtains", .title = "obtained", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_waits", .title = "waits", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_contended", .title = "contended", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "wait_ns", .title = "waited", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "wait_mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "wait_p99_ns", .title = "p99", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "wait_max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "hold_ns", .title = "held", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "hold_mean_ns", .title = "mean", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "hold_max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_shared", .title = "shared", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "place", .title = "place", .type = VIEW_PLACE, .n_columns_max = 30 },
        { .key = "hold_p99_ns", .title = "p99 held", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "blocked_ns", .title = "blocked", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_given_up", .title = "given up", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "marked_at", .title = "marked at", .type = VIEW_PLACE, .n_columns_max = 30 },
        { .key = "id", .title = "id", .type = VIEW_ID, .n_columns_max = 10 },
        { .key = "pid", .title = "pid", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct view_column holder_columns[] = {
        { .key = "lock", .title = "lock", .type = VIEW_STRING },
        { .key = "thread", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "thread_name", .title = "held by", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "blocked_ns", .title = "blocked", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_holds", .title = "held", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "hold_ns", .title = "for", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "hold_max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "zones", .title = "in zone", .type = VIEW_STRING, .n_columns_max = 60 },
        { .key = "id", .title = "id", .type = VIEW_ID, .n_columns_max = 10 },
};

static const struct view_column wait_columns[] = {
        { .key = "lock", .title = "lock", .type = VIEW_STRING },
        { .key = "thread", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "thread_name", .title = "waits", .type = VIEW_STRING, .n_columns_max = 30 },
        { .key = "wait_ns", .title = "waited", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "n_waits", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "n_contended", .title = "contended", .type = VIEW_COUNT, .n_columns_max = 12 },
        { .key = "wait_max_ns", .title = "max", .type = VIEW_DURATION, .n_columns_max = 10 },
        { .key = "zones", .title = "in zone", .type = VIEW_STRING, .n_columns_max = 60 },
        { .key = "id", .title = "id", .type = VIEW_ID, .n_columns_max = 10 },
};

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

static void put_location(const struct event_names *n, struct view_table *t, uint32_t location)
{
        const struct trace_dictionary *d = n->trace->dictionary;
        const struct trace_location *row;

        if (location == 0) {
                view_table_put_unknown(n->document, t);
                return;
        }
        row = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, location);
        view_table_put_place(n->document, t, trace_dictionary_text(d, row->file), row->line);
}

static void put_lock(struct event_names *n, struct view_table *t, const struct lock_stats *s, uint32_t id)
{
        const struct lock_state *lock = &s->locks[id - 1];
        const struct trace_lock *row = trace_dictionary_row(n->trace->dictionary, TRACE_TABLE_LOCKS, id);
        const struct trace_process *process = trace_dictionary_row(n->trace->dictionary,
                                                                   TRACE_TABLE_PROCESSES, row->process);
        const struct histogram *waits = &lock->waits_ns, *holds = &lock->holds_ns;
        bool waited = waits->n_values != 0, held = holds->n_values != 0;
        struct view_document *d = n->document;

        view_table_put_string(d, t, lock_name(n, s, id));
        view_table_put_number(d, t, lock->n_obtains);
        view_table_put_number(d, t, waits->n_values);
        view_table_put_number(d, t, lock->n_contended);
        view_table_put_number(d, t, waits->sum);
        event_names_put_known(n, t, waited ? waits->sum / waits->n_values : 0, waited);
        event_names_put_known(n, t, histogram_quantile(waits, 0.99), waited);
        event_names_put_known(n, t, waits->largest, waited);
        view_table_put_number(d, t, holds->sum);
        event_names_put_known(n, t, held ? holds->sum / holds->n_values : 0, held);
        event_names_put_known(n, t, holds->largest, held);
        view_table_put_number(d, t, lock->n_shared);
        put_location(n, t, row->location);
        event_names_put_known(n, t, histogram_quantile(holds, 0.99), held);
        view_table_put_number(d, t, lock->blocked_ns);
        view_table_put_number(d, t, lock->n_given_up);
        put_location(n, t, lock->mark);
        view_table_put_number(d, t, id);
        view_table_put_number(d, t, process->pid);
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
        struct view_table *t = view_document_add_table(n->document, "locks", "Locks, by time waited for them",
                                                       lock_columns,
                                                       sizeof(lock_columns) / sizeof(lock_columns[0]));
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

        view_table_put_string(d, t, lock_name(n, s, key->lock));
        view_table_put_handle(d, t, 't', key->thread);
        event_names_put_thread(n, t, key->thread);
        if (key->holds != 0) {
                view_table_put_number(d, t, row->blocked_ns);
                view_table_put_number(d, t, row->n);
                view_table_put_number(d, t, row->total_ns);
        } else {
                view_table_put_number(d, t, row->total_ns);
                view_table_put_number(d, t, row->n);
                view_table_put_number(d, t, row->n_contended);
        }
        view_table_put_number(d, t, row->max_ns);
        event_names_put_path(n, t, key->path);
        view_table_put_number(d, t, key->lock);
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

        t = view_document_add_table(d, "holders", "Threads that held a lock while others waited for it",
                                    holder_columns, sizeof(holder_columns) / sizeof(holder_columns[0]));
        view_table_set_about(d, t, "blocked: the time of all that waited meanwhile, added up");
        holder = add_rows(n, s, t, 1);
        t = view_document_add_table(d, "waits", "Threads that waited, and in which zone", wait_columns,
                                    sizeof(wait_columns) / sizeof(wait_columns[0]));
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

void locks_view_fill(struct view_document *d, const struct lock_stats *s, const struct event_walk *walk,
                     struct loaded_trace *trace, const struct event_view_options *options)
{
        struct answer_words answer;
        struct event_names n;

        event_names_init(&n, d, trace, &walk->walk.paths, options);
        answer = make_answer(&n, s);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_LOCKS, walk->events.order.n_late);
        view_document_add_number(d, "n_locks", "locks", VIEW_COUNT, s->n_used);
        view_document_add_number(d, "n_open_waits", "waits at the end", VIEW_COUNT, s->n_open_waits);
        view_document_add_number(d, "n_open_holds", "held at the end", VIEW_COUNT, s->n_open_holds);
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
