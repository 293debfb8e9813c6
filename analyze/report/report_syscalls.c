/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/trace/meta_value.h"
#include "base/intern.h"
#include "base/saturating.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Compared as bytes. */
struct place_key {
        uint32_t syscall, place;
};

struct filling {
        struct report_syscalls *s;
        const struct report *report;
        struct intern names;          /* of calls; row = id - 1 */
        struct intern callers, zones; /* struct place_key */
        size_t callers_capacity, zones_capacity;
};

/* ------------------------------------------------------------------ sums */

static int add_row(struct filling *f, const struct trace_syscall *from)
{
        struct text_view name = trace_dictionary_text(f->report->trace.dictionary, from->name);
        struct report_syscall *row;
        uint32_t id;
        int r;

        if (name.n_bytes == 0)
                name.bytes = "";
        r = intern_add(&f->names, name.bytes, name.n_bytes, &id);
        if (r < 0)
                return r;
        row = &f->s->rows[id - 1];
        row->name = name;
        row->n_calls = saturating_add(row->n_calls, from->n_calls);
        row->n_errors = saturating_add(row->n_errors, from->n_errors);
        row->time_ns = saturating_add(row->time_ns, from->time_ns);
        row->n_bytes = saturating_add(row->n_bytes, from->n_bytes);
        row->n_threads++;
        if (from->longest_ns > row->longest_ns)
                row->longest_ns = from->longest_ns;
        f->s->threads[f->s->n_threads++] = (struct report_syscall_thread){ .syscall = id - 1,
                                                                           .thread = from->thread,
                                                                           .n_calls = from->n_calls,
                                                                           .n_errors = from->n_errors,
                                                                           .time_ns = from->time_ns,
                                                                           .n_bytes = from->n_bytes };
        return 0;
}

static int sum_rows(struct filling *f)
{
        const struct trace_dictionary *d = f->report->trace.dictionary;
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_SYSCALLS);
        int r = 0;

        f->s->rows = calloc((size_t)n + 1, sizeof(*f->s->rows));
        f->s->threads = calloc((size_t)n + 1, sizeof(*f->s->threads));
        if (!f->s->rows || !f->s->threads)
                return -ENOMEM;
        for (uint32_t id = 1; id <= n && r == 0; id++)
                r = add_row(f, trace_dictionary_row(d, TRACE_TABLE_SYSCALLS, id));
        f->s->n_rows = f->names.n_items;
        for (uint32_t i = 0; i < f->s->n_rows; i++) {
                f->s->n_calls = saturating_add(f->s->n_calls, f->s->rows[i].n_calls);
                f->s->n_errors = saturating_add(f->s->n_errors, f->s->rows[i].n_errors);
                f->s->time_ns = saturating_add(f->s->time_ns, f->s->rows[i].time_ns);
        }
        return r;
}

/*
 * The first event of a command's thread comes while its execve(2) goes on, so the calls of a short thread may
 * take longer than there are events of it: it has lived as long as they took.
 */
static int sum_threads(struct filling *f)
{
        uint32_t n = trace_dictionary_count(f->report->trace.dictionary, TRACE_TABLE_THREADS);
        uint64_t *called_ns = calloc((size_t)n + 1, sizeof(*called_ns)); /* by id */

        if (!called_ns)
                return -ENOMEM;
        for (uint32_t i = 0; i < f->s->n_threads; i++) {
                const struct report_syscall_thread *row = &f->s->threads[i];

                if (row->thread <= n)
                        called_ns[row->thread] = saturating_add(called_ns[row->thread], row->time_ns);
        }
        for (uint32_t i = 0; i < f->report->n_threads; i++) {
                const struct report_thread *thread = &f->report->threads[i];
                uint64_t lived_ns = thread->last_ns - thread->first_ns;

                if (thread->is_fiber)
                        continue;
                if (thread->thread <= n && called_ns[thread->thread] > lived_ns)
                        lived_ns = called_ns[thread->thread];
                f->s->threads_ns = saturating_add(f->s->threads_ns, lived_ns);
        }
        free(called_ns);
        return 0;
}

/* ------------------------------------------------------------------ samples */

/* The row + 1 of the call to which a sample with @stack belongs; 0 = not a counted call. */
static uint32_t syscall_of_stack(const struct filling *f, const struct trace_stack *stack)
{
        const struct label_groups *frames = &f->report->samples.functions.frames;
        struct text_view name = kernel_calls_counted_call(f->report,
                                                          frames->labels[frames->first[stack->frame]]);

        return name.n_bytes != 0 ? intern_find(&f->names, name.bytes, name.n_bytes) : 0;
}

static int add_place(struct intern *keys, struct report_syscall_place **places, size_t *capacity,
                     const struct place_key *key, const struct sample_sum *sum)
{
        struct report_syscall_place *place;
        uint32_t id;
        int r = intern_add_row(keys, key, places, capacity, sizeof(**places), &id);

        if (r < 0)
                return r;
        place = &(*places)[id - 1];
        place->syscall = key->syscall;
        place->place = key->place;
        place->n_samples += sum->n_samples;
        place->sampled_calls = saturating_add(place->sampled_calls, sum->weight);
        return 0;
}

static uint32_t location_of_path(const struct trace_dictionary *d, uint32_t path)
{
        const struct trace_zone_path *row;

        if (path == 0)
                return 0;
        row = trace_dictionary_row(d, TRACE_TABLE_ZONE_PATHS, path);
        return row->location;
}

static int take_sample(struct filling *f, const struct sample_key *key, const struct sample_sum *sum)
{
        const struct trace_dictionary *d = f->report->trace.dictionary;
        const struct trace_stack *stack = trace_dictionary_row(d, TRACE_TABLE_STACKS, key->stack);
        uint32_t id = syscall_of_stack(f, stack);
        struct place_key caller = { .syscall = id - 1 }, zone = caller;
        struct report_syscall *row;
        int r;

        if (id == 0)
                return 0;
        row = &f->s->rows[id - 1];
        caller.place = kernel_calls_caller(f->report, stack->parent);
        zone.place = location_of_path(d, key->path);
        f->s->has_zones |= zone.place != 0;
        f->s->n_samples += sum->n_samples;
        row->n_samples += sum->n_samples;
        row->sampled_calls = saturating_add(row->sampled_calls, sum->weight);
        r = add_place(&f->callers, &f->s->callers, &f->callers_capacity, &caller, sum);
        return r == 0 ? add_place(&f->zones, &f->s->zones, &f->zones_capacity, &zone, sum) : r;
}

/* Whether the samples of an event are counted system calls: the mode WITH_LEADER without a leader. */
static bool is_event(const struct report *report, uint32_t event)
{
        const struct report_event *e = &report->events[event - 1];

        return e->mode == TRACE_SAMPLE_MODE_WITH_LEADER && e->leader == 0;
}

static int sum_samples(struct filling *f)
{
        const struct sample_stats *stats = &f->report->totals.samples;
        int r = 0;

        for (uint32_t i = 0; i < sample_stats_count(stats) && r == 0; i++) {
                const struct sample_key *key = sample_stats_key(stats, i);

                if (key->stack != 0 && is_event(f->report, key->event))
                        r = take_sample(f, key, &stats->sums[i]);
        }
        f->s->n_callers = f->callers.n_items;
        f->s->n_zones = f->zones.n_items;
        for (uint32_t i = 0; i < f->s->n_callers; i++) {
                const struct report_syscall_place *place = &f->s->callers[i];
                struct report_syscall *row = &f->s->rows[place->syscall];

                if (place->place != 0 && place->sampled_calls > row->caller_calls) {
                        row->caller = place->place;
                        row->caller_calls = place->sampled_calls;
                }
        }
        return r;
}

/* ------------------------------------------------------------------ order */

static int compare_rows(const void *a, const void *b)
{
        const struct report_syscall *x = a, *y = b;
        int order = report_compare(y->time_ns, x->time_ns);

        if (order == 0)
                order = report_compare(y->n_calls, x->n_calls);
        if (order == 0) /* names differ */
                order = memcmp(x->name.bytes, y->name.bytes,
                               x->name.n_bytes < y->name.n_bytes ? x->name.n_bytes : y->name.n_bytes);
        return order != 0 ? order : report_compare(x->name.n_bytes, y->name.n_bytes);
}

static int compare_places(const void *a, const void *b)
{
        const struct report_syscall_place *x = a, *y = b;
        int order = report_compare(y->sampled_calls, x->sampled_calls);

        if (order == 0)
                order = report_compare(x->syscall, y->syscall);
        return order != 0 ? order : report_compare(x->place, y->place);
}

static int compare_threads(const void *a, const void *b)
{
        const struct report_syscall_thread *x = a, *y = b;
        int order = report_compare(y->time_ns, x->time_ns);

        if (order == 0)
                order = report_compare(x->thread, y->thread);
        return order != 0 ? order : report_compare(x->syscall, y->syscall);
}

/* Sorts the rows, and renumbers all references to them. */
static int sort_all(struct filling *f)
{
        struct report_syscalls *s = f->s;
        uint32_t *places = calloc((size_t)s->n_rows + 1, sizeof(*places));

        if (!places)
                return -ENOMEM;
        if (s->n_rows > 0)
                qsort(s->rows, s->n_rows, sizeof(*s->rows), compare_rows);
        for (uint32_t i = 0; i < s->n_rows; i++)
                places[intern_find(&f->names, s->rows[i].name.bytes, s->rows[i].name.n_bytes) - 1] = i;
        for (uint32_t i = 0; i < s->n_callers; i++)
                s->callers[i].syscall = places[s->callers[i].syscall];
        for (uint32_t i = 0; i < s->n_zones; i++)
                s->zones[i].syscall = places[s->zones[i].syscall];
        for (uint32_t i = 0; i < s->n_threads; i++)
                s->threads[i].syscall = places[s->threads[i].syscall];
        free(places);
        if (s->n_callers > 0)
                qsort(s->callers, s->n_callers, sizeof(*s->callers), compare_places);
        if (s->n_zones > 0)
                qsort(s->zones, s->n_zones, sizeof(*s->zones), compare_places);
        if (s->n_threads > 0)
                qsort(s->threads, s->n_threads, sizeof(*s->threads), compare_threads);
        return 0;
}

uint64_t report_syscalls_estimate(const struct report_syscall *row, uint64_t sampled_calls)
{
        return (uint64_t)((double)row->n_calls * report_share(sampled_calls, row->sampled_calls) + 0.5);
}

int report_syscalls_fill(struct report_syscalls *s, const struct report *report)
{
        struct filling f = { .s = s, .report = report };
        int r;

        s->is_recorded = meta_value_number(report->trace.dictionary, "syscalls") != 0;
        s->lacks_end = meta_value_number(report->trace.dictionary, "end_raw_ns") == 0;
        intern_init(&f.names, 0, 0);
        intern_init(&f.callers, sizeof(struct place_key), 0);
        intern_init(&f.zones, sizeof(struct place_key), 0);
        r = sum_rows(&f);
        if (r == 0)
                r = sum_samples(&f);
        if (r == 0)
                r = sort_all(&f);
        if (r == 0)
                r = sum_threads(&f);
        intern_deinit(&f.names);
        intern_deinit(&f.callers);
        intern_deinit(&f.zones);
        return r;
}

void report_syscalls_deinit(struct report_syscalls *s)
{
        free(s->rows);
        free(s->callers);
        free(s->zones);
        free(s->threads);
        *s = (struct report_syscalls){ .rows = NULL };
}
