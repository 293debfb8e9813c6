/* SPDX-License-Identifier: MIT */
#include "analyze/stats/memory_stats.h"
#include "analyze/stats/wait_places.h"
#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
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

/* Sites whose call stacks have the same functions are merged into one. */
struct merged_key {
        uint32_t pool, place, path; /* a name; place 0 = no call stack */
};

struct merged_sites {
        struct wait_places places;
        struct intern keys;
        struct memory_site *sums; /* heap; by id - 1 */
        size_t capacity;
};

static int merge_site(struct merged_sites *m, const struct memory_stats *s, uint32_t id)
{
        const struct memory_site_key *key = intern_get(&s->site_keys, id, NULL);
        const struct memory_site *site = &s->sites[id - 1];
        const struct memory_pool_key *pool = intern_get(&s->pool_keys, key->pool, NULL);
        struct merged_key merged = { .pool = pool->name, .path = key->path };
        struct memory_site *sum;
        uint32_t at;
        int r = key->stack != 0 ? wait_places_add_told(&m->places, key->stack, &merged.place) : 0;

        if (r >= 0)
                r = intern_add(&m->keys, &merged, sizeof(merged), &at);
        if (r == 1) {
                r = array_reserve(&m->sums, &m->capacity, at, sizeof(*m->sums));
                if (r == 0)
                        m->sums[at - 1] = (struct memory_site){ .first_live_ns = UINT64_MAX };
        }
        if (r < 0)
                return r;
        sum = &m->sums[at - 1];
        sum->n_allocations += site->n_allocations;
        sum->allocated_bytes += site->allocated_bytes;
        sum->n_live += site->n_live;
        sum->live_bytes += site->live_bytes;
        if (site->first_live_ns < sum->first_live_ns)
                sum->first_live_ns = site->first_live_ns;
        return 0;
}

static int merge_sites(struct merged_sites *m, const struct memory_stats *s, const struct trace_dictionary *d)
{
        int r = 0;

        *m = (struct merged_sites){ .sums = NULL };
        intern_init(&m->keys, sizeof(struct merged_key), 0);
        if (s->has_stacks)
                r = wait_places_init(&m->places, d);
        for (uint32_t i = 1; i <= s->site_keys.n_items && r >= 0; i++)
                r = merge_site(m, s, i);
        return r;
}

static void merged_sites_deinit(struct merged_sites *m, const struct memory_stats *s)
{
        if (s->has_stacks)
                wait_places_deinit(&m->places);
        intern_deinit(&m->keys);
        free(m->sums);
}

static struct view_value pool_name(const struct event_names *n, uint32_t name)
{
        return name != 0 ? view_text(trace_dictionary_text(n->trace->dictionary, name))
                         : view_words("[main]");
}

/* The time that rates are of: the whole recording; 0: it is not known, or the sums are filtered. */
static double rate_seconds(const struct event_names *n)
{
        const struct loaded_trace *trace = n->trace;

        if (n->options->is_filtered || trace->end_ns <= trace->start_ns)
                return 0;
        return (double)(trace->end_ns - trace->start_ns) / 1e9;
}

/* clang-format off */
#define POOL_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "pool", "pool", pool_name(n, key->name), "its name; [main]: that without one")         \
        COLUMN(ID, "pid", "pid", view_number(process->pid), NULL)                                             \
        COLUMN(BYTES, "live_bytes", "at the end", view_number(pool->live_bytes), "in use at the end")         \
        COLUMN(COUNT, "n_live", "blocks", view_number(pool->n_live), "likewise")                              \
        COLUMN(BYTES, "peak_bytes", "peak", view_number(pool->peak_bytes), "the most that was in use")        \
        COLUMN(TIME, "peak_at_ns", "peak at",                                                                 \
               view_known(event_names_since_start(n, pool->peak_ns), pool->peak_bytes != 0), NULL)            \
        COLUMN(BYTES, "allocated_bytes", "allocated", view_number(pool->allocated_bytes), NULL)               \
        COLUMN(COUNT, "n_allocations", "allocs", view_number(pool->n_allocations), NULL)                      \
        COLUMN(COUNT, "n_frees", "frees", view_number(pool->n_frees), NULL)                                   \
        COLUMN(REAL, "allocations_per_s", "allocs/s",                                                         \
               seconds > 0 ? view_real((double)pool->n_allocations / seconds) : view_unknown(),               \
               "of the whole recording; null with a filter")                                                  \
        COLUMN(REAL, "bytes_per_s", "bytes/s",                                                                \
               seconds > 0 ? view_real_bytes((double)pool->allocated_bytes / seconds) : view_unknown(),       \
               "likewise")                                                                                    \
        COLUMN(BYTES, "largest_bytes", "largest", view_number(pool->largest_bytes), "the largest block")      \
        COLUMN(COUNT, "n_at_peak", "blocks at peak", view_number(pool->n_at_peak), NULL)                      \
        COLUMN(COUNT, "n_discards", "discards", view_number(pool->n_discards), NULL)                          \
        COLUMN(COUNT, "n_freed_twice", "freed twice", view_number(pool->n_freed_twice), NULL)                 \
        COLUMN(COUNT, "n_freed_unknown", "unknown frees", view_number(pool->n_freed_unknown), NULL)           \
        COLUMN(COUNT, "n_allocated_over", "over", view_number(pool->n_allocated_over),                        \
               "allocated at an address that was in use")                                                     \
        COLUMN(COUNT, "n_freed_inherited", "inherited frees", view_number(pool->n_freed_inherited),           \
               "blocks that the process had from its parent before a fork, and freed")
/* clang-format on */

static const struct view_column pool_columns[] = { POOL_COLUMNS(VIEW_COLUMN) };
static const struct answer_part pools_part = ANSWER_TABLE("pools", pool_columns, "a pool of a process");

static void put_pool(struct event_names *n, struct view_table *t, const struct memory_stats *s, uint32_t id)
{
        const struct memory_pool_key *key = intern_get(&s->pool_keys, id, NULL);
        const struct trace_process *process = trace_dictionary_row(n->trace->dictionary,
                                                                   TRACE_TABLE_PROCESSES, key->process);
        const struct memory_pool *pool = &s->pools[id - 1];
        struct view_document *d = n->document;
        double seconds = rate_seconds(n);

        POOL_COLUMNS(VIEW_CELL)
}

static void add_pools(struct event_names *n, const struct memory_stats *s)
{
        struct view_table *t = view_document_add_part(n->document, &pools_part, "Pools");
        size_t n_shown = event_names_limit(n, t, s->pool_keys.n_items);

        view_table_set_about(
                n->document, t,
                "one row for each pool of each process; rates are of the whole recording; over: allocated at an "
                "address that was in use; inherited: allocated by the parent process before the fork");
        for (uint32_t i = 1; i <= n_shown; i++)
                put_pool(n, t, s, i);
}

struct site_order {
        const struct merged_sites *sites;
        bool live;
};

static uint64_t bytes_of(const struct site_order *order, uint32_t id)
{
        const struct memory_site *site = &order->sites->sums[id - 1];

        return order->live ? site->live_bytes : site->allocated_bytes;
}

static int compare_sites(const void *left, const void *right, void *context)
{
        const uint32_t *a = left, *b = right;
        uint64_t x = bytes_of(context, *a), y = bytes_of(context, *b);

        if (x != y)
                return x > y ? -1 : 1;
        return *a < *b ? -1 : *a > *b;
}

static struct view_value callstack_of(const struct event_names *n, const struct merged_sites *sites,
                                      uint32_t id)
{
        struct wait_place place = { .wait = 0 };

        if (id == 0)
                return view_unknown();
        wait_places_get(&sites->places, id, &place);
        return event_names_callstack(n, &sites->places, &place);
}

/* clang-format off */
#define SITE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(BYTES, "bytes", "bytes", view_number(bytes_of(order, id)), NULL)                               \
        COLUMN(COUNT, "count", "blocks", view_number(order->live ? site->n_live : site->n_allocations), NULL) \
        COLUMN(STRING, "pool", "pool", pool_name(n, key->pool), NULL, .n_columns_max = 20)                    \
        COLUMN(STACK, "callstack", "callstack", callstack_of(n, order->sites, key->place), NULL)              \
        COLUMN(STRING, "zones", "in zone", event_names_path(n, key->path), "if there is no call stack",       \
               .n_columns_max = 60)                                                                           \
        COLUMN(TIME, "oldest_at_ns", "oldest at", site->first_live_ns != UINT64_MAX                           \
               ? view_number(event_names_since_start(n, site->first_live_ns)) : view_unknown(),               \
               "of those never freed")
/* clang-format on */

static const struct view_column site_columns[] = { SITE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part leaks_part = ANSWER_TABLE(
        "leaks", site_columns, "where memory was allocated that was never freed, the most bytes first",
        .may_be_absent = true);
static const struct answer_part sites_part = ANSWER_TABLE(
        "sites", site_columns, "where memory was allocated, the most bytes first", .may_be_absent = true);
const struct answer_schema memory_view_schema = {
        .name = "hyprof.memory/2",
        .command = "hyprof report --memory --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &pools_part, &leaks_part,
                                                      &sites_part, NULL },
};

static void put_site(struct event_names *n, struct view_table *t, const struct site_order *order, uint32_t id)
{
        const struct merged_key *key = intern_get(&order->sites->keys, id, NULL);
        const struct memory_site *site = &order->sites->sums[id - 1];
        struct view_document *d = n->document;

        SITE_COLUMNS(VIEW_CELL)
}

/* Returns the zones of the site that is shown first; 0 = outside of all, or there is no site. */
static uint32_t add_sites(struct event_names *n, struct view_table *t, struct site_order *order)
{
        uint32_t n_sites = order->sites->keys.n_items, n_ids = 0, path = 0;
        uint32_t *ids = calloc((size_t)n_sites + 1, sizeof(*ids));
        size_t n_shown;

        if (!ids) {
                n->document->failed = true;
                return 0;
        }
        for (uint32_t i = 1; i <= n_sites; i++)
                if (!order->live || order->sites->sums[i - 1].n_live != 0)
                        ids[n_ids++] = i;
        if (n_ids != 0)
                qsort_r(ids, n_ids, sizeof(*ids), compare_sites, order);
        n_shown = event_names_limit(n, t, n_ids);
        for (size_t i = 0; i < n_shown; i++)
                put_site(n, t, order, ids[i]);
        if (n_ids != 0)
                path = ((const struct merged_key *)intern_get(&order->sites->keys, ids[0], NULL))->path;
        free(ids);
        return path;
}

static void add_all_sites(struct event_names *n, const struct memory_stats *s)
{
        struct view_document *d = n->document;
        struct merged_sites sites;
        struct site_order live = { .sites = &sites, .live = true }, all = { .sites = &sites };
        struct view_table *t;
        uint32_t leaks, allocations;

        if (merge_sites(&sites, s, n->trace->dictionary) < 0) {
                d->failed = true;
        } else {
                t = view_document_add_part(d, &leaks_part, "Never freed, by where it was allocated");
                view_table_set_about(
                        d, t,
                        "by call stack where the program recorded it, else by zone; it may have been in use still "
                        "when the recording ended");
                leaks = add_sites(n, t, &live);
                t = view_document_add_part(d, &sites_part, "Allocated, by where");
                allocations = add_sites(n, t, &all);
                event_names_hint_zone(n, leaks != 0 ? leaks : allocations);
        }
        merged_sites_deinit(&sites, s);
}

struct memory_sum {
        uint64_t n_twice, n_unknown, n_over, n_untracked;
};

static struct memory_sum add_up(const struct memory_stats *s)
{
        struct memory_sum sum = { .n_twice = 0 };

        for (uint32_t i = 0; i < s->pool_keys.n_items; i++) {
                sum.n_twice += s->pools[i].n_freed_twice;
                sum.n_unknown += s->pools[i].n_freed_unknown;
                sum.n_over += s->pools[i].n_allocated_over;
                sum.n_untracked += s->pools[i].n_untracked;
        }
        return sum;
}

static void add_warnings(struct event_names *n, const struct memory_stats *s)
{
        struct memory_sum sum = add_up(s);

        event_names_warn(n, sum.n_twice, "frees of memory that was free already");
        event_names_warn(n, sum.n_unknown,
                         n->options->is_filtered
                                 ? "frees of memory that the filters leave out or that was never allocated"
                         : sum.n_untracked > 0
                                 ? "frees of memory that was not followed or never allocated"
                                 : "frees of memory that was never allocated, as far as is known");
        event_names_warn(n, sum.n_over, "allocations at an address that was in use: its free is missing");
        event_names_warn(n, sum.n_untracked, "allocations beyond the limit of blocks in use; not followed");
        event_names_warn(n, s->n_pools_lost, "events of pools beyond the limit; left out");
}

/*
 * Suggests the next command: in a report up to the peak, memory that is never freed is the memory in use at
 * the peak.
 */
static void add_peak_hint(const struct event_names *n, const struct memory_stats *s)
{
        const struct memory_pool *pool = s->pools;

        for (uint32_t i = 1; i < s->pool_keys.n_items; i++)
                if (s->pools[i].peak_bytes > pool->peak_bytes)
                        pool = &s->pools[i];
        if (s->pool_keys.n_items == 0 || pool->peak_bytes == 0 || n->options->is_filtered)
                return;
        report_heading_hint(n->document, n->options->path, "report --memory --to %lluns",
                            (unsigned long long)event_names_since_start(n, pool->peak_ns) + 1);
}

static struct answer_words make_answer(const struct event_names *n, const struct memory_stats *s)
{
        struct answer_words a = { .used_bytes = 0 };
        uint64_t n_bytes = 0, n_allocations = 0, live_bytes = 0;

        for (uint32_t i = 0; i < s->pool_keys.n_items; i++) {
                n_bytes += s->pools[i].allocated_bytes;
                n_allocations += s->pools[i].n_allocations;
                live_bytes += s->pools[i].live_bytes;
        }
        if (s->pool_keys.n_items == 0)
                answer_words_add(&a, "%s",
                                 n->options->is_filtered
                                         ? "no allocation passes the filters"
                                         : family_words_none(n->trace->dictionary, "memory",
                                                             "the program reported no allocations")
                                                   .text);
        else
                answer_words_add(&a, "%s allocated in %s, %s of it never freed",
                                 text_number_bytes(n_bytes).text,
                                 text_number_counted(n_allocations, "allocations").text,
                                 text_number_bytes(live_bytes).text);
        return a;
}

void memory_view_fill(struct view_document *d, const struct memory_stats *s, const struct event_walk *walk,
                      struct loaded_trace *trace, const struct event_view_options *options)
{
        struct answer_words answer;
        struct event_names n;

        event_names_init(&n, d, trace, &walk->walk.paths, options);
        answer = make_answer(&n, s);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_MEMORY, walk->events.order.n_late);
        add_warnings(&n, s);
        add_pools(&n, s);
        add_peak_hint(&n, s);
        if (s->pool_keys.n_items != 0)
                add_all_sites(&n, s);
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}
