/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/stats/wait_places.h"
#include "analyze/stats/wait_scale.h"
#include "analyze/waits/wait_ends.h"
#include "analyze/zones/trace_totals.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const wait_words[TRACE_WAIT_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = (words),
        TRACE_WAIT_STATES(X)
#undef X
                [TRACE_WAIT_STATE_COUNT] = "of a newer version of hyprof",
};

/* The waker of waits at a place, as people know it: by process, name and function.  Compared as bytes. */
struct waker {
        uint32_t place;
        uint32_t name;    /* string */
        uint32_t label;   /* 0 = none */
        uint32_t process; /* 0 = unknown */
        uint32_t kind;    /* enum interrupt_kind */
};

struct waker_row {
        struct wait_sum ended;
        uint32_t thread; /* the first one of them */
        bool are_several;
};

/* The state of report_waits_fill(). */
struct filling {
        struct report_waits *waits;
        const struct trace_totals *totals;
        const struct trace_dictionary *dictionary;
        struct wait_places places;
        uint32_t *place_of_row; /* heap; the place of a row of wait_stats, by its id */
        struct wait_ends ends;
        struct intern wakers;         /* struct waker */
        struct waker_row *waker_rows; /* heap; by id of `wakers` - 1 */
        size_t waker_rows_capacity;
        struct wait_scale scale;
        size_t frames_capacity, names_capacity, n_frames, n_names;
};

static struct report_wait_frame describe_label(const struct filling *f, uint32_t label)
{
        const struct function *function = function_table_get(&f->places.functions, label);

        return (struct report_wait_frame){
                .name = trace_dictionary_text(f->dictionary, function->name),
                .module = trace_dictionary_text(f->dictionary, function->module),
                .kind = (enum function_kind)function->kind,
        };
}

/*
 * The name of a waker: for a recorded thread the name that all views use, even if the kernel has another
 * one; else the kernel's.
 */
static uint32_t name_of_waker(const struct filling *f, uint32_t thread, uint32_t kernel_name)
{
        uint32_t name = thread != 0 ? f->totals->walk.threads[thread - 1].timeline.name : 0;

        return name != 0 ? name : kernel_name;
}

static uint32_t label_of_frame(const struct filling *f, uint32_t frame)
{
        const struct label_groups *frames = &f->places.functions.frames;

        return frame != 0 && frames->first[frame] < frames->first[frame + 1]
                       ? frames->labels[frames->first[frame]]
                       : 0;
}

/*
 * Tells who woke: a thread, also one that sent a packet to this machine; or an interrupt, whose functions say
 * no more than its kind, if that is known.
 */
static struct waker identify(struct filling *f, const struct waker_key *key, uint32_t *ret_thread)
{
        bool by_softirq = wait_ends_is_softirq(f->dictionary, key->name);
        bool by_interrupt = by_softirq || (key->thread == 0 && key->name == 0);
        const struct wait_key *wait = intern_get(&f->totals->waits.keys, key->row, NULL);
        struct waker waker = { .place = f->place_of_row[key->row], .kind = INTERRUPT_UNKNOWN };

        *ret_thread = by_softirq ? 0 : key->thread;
        if (by_interrupt)
                waker.kind = by_softirq ? wait_ends_softirq_kind(&f->ends, key->stack, wait->stack)
                                        : interrupt_kinds_find(&f->ends.interrupts, key->stack);
        if (waker.kind == INTERRUPT_SENDER) {
                *ret_thread = key->below;
                waker.label = label_of_frame(f, interrupt_kinds_find_send(&f->ends.interrupts, key->stack));
        } else if (waker.kind == INTERRUPT_UNKNOWN || waker.kind == INTERRUPT_OTHER) {
                waker.label = wait_places_find_waker(&f->places, key->stack);
        }
        waker.name = by_softirq ? 0 : name_of_waker(f, *ret_thread, key->name);
        waker.process = trace_dictionary_process_of(f->dictionary, *ret_thread);
        return waker;
}

static int find_places(struct filling *f)
{
        const struct wait_stats *stats = &f->totals->waits;
        uint32_t n_rows = wait_stats_count(stats);

        f->place_of_row = calloc((size_t)n_rows + 1, sizeof(*f->place_of_row));
        if (!f->place_of_row)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n_rows; i++) {
                const struct wait_key *key = intern_get(&stats->keys, i, NULL);
                int r = wait_places_add(&f->places, key->stack, key->wait, &f->place_of_row[i]);

                if (r < 0)
                        return r;
        }
        f->waits->n_places = f->places.places.n_items;
        f->waits->places = calloc((size_t)f->waits->n_places + 1, sizeof(*f->waits->places));
        return f->waits->places ? 0 : -ENOMEM;
}

static void scale_sum(const struct filling *f, const struct wait_key *key, struct wait_sum *sum)
{
        sum->total_ns = (uint64_t)llround(wait_scale_ns(&f->scale, key, sum->total_ns));
        sum->n_waits = (uint64_t)llround(wait_scale_count(&f->scale, key, sum->n_waits));
}

/*
 * Waits with a call stack are scaled to stand for the waits of their class without one, which then are not
 * added themselves.
 */
static void sum_row(struct filling *f, uint32_t id)
{
        const struct wait_key *key = intern_get(&f->totals->waits.keys, id, NULL);
        struct report_wait_place *place = &f->waits->places[f->place_of_row[id] - 1];
        struct wait_row row = f->totals->waits.rows[id - 1];

        wait_row_merge(&f->waits->all, &row);
        if (key->stack != 0) {
                wait_row_merge(&f->waits->with_stack, &row);
                place->seen_ns += wait_row_total_ns(&row);
                scale_sum(f, key, &row.ended);
                scale_sum(f, key, &row.delays);
        } else {
                f->waits->idle.n_open += row.n_open;
                f->waits->idle.open_ns += row.open_ns;
                row.n_open = 0;
                row.open_ns = 0;
                if (wait_scale_is_from_before(&f->scale, key)) {
                        wait_sum_merge(&f->waits->idle.ended, &row.ended);
                        return;
                }
                if (wait_scale_is_known(&f->scale, key))
                        return;
        }
        wait_row_merge(&place->sum, &row);
}

static void sum_places(struct filling *f)
{
        const struct wait_stats *stats = &f->totals->waits;

        for (uint32_t i = 1; i <= wait_stats_count(stats); i++)
                wait_scale_add(&f->scale, intern_get(&stats->keys, i, NULL), stats->rows[i - 1].ended.n_waits,
                               stats->rows[i - 1].ended.total_ns);
        for (uint32_t i = 1; i <= wait_stats_count(stats); i++)
                sum_row(f, i);
}

static int describe_place(struct filling *f, uint32_t id)
{
        struct report_wait_place *row = &f->waits->places[id - 1];
        struct wait_place place;
        int r;

        wait_places_get(&f->places, id, &place);
        r = array_reserve(&f->waits->frames, &f->frames_capacity, f->n_frames + place.n_labels + 1,
                          sizeof(*f->waits->frames));
        if (r < 0)
                return r;
        for (uint32_t i = 0; i < place.n_labels; i++)
                f->waits->frames[f->n_frames + i] = describe_label(f, place.labels[i]);
        row->n_frames = place.n_labels;
        row->frame = wait_places_find_own(&f->places, &place);
        if (place.kernel_label != 0)
                row->kernel = describe_label(f, place.kernel_label).name;
        row->wait = place.wait;
        row->wait_words = wait_words[place.wait];
        row->has_stack = place.has_stack != 0;
        row->is_cut = place.is_cut != 0;
        row->line = place.line;
        f->n_frames += place.n_labels;
        return 0;
}

/* The array of frames has moved while it grew, so places get their pointers into it only now. */
static int describe_places(struct filling *f)
{
        size_t first = 0;

        for (uint32_t id = 1; id <= f->waits->n_places; id++) {
                int r = describe_place(f, id);

                if (r < 0)
                        return r;
        }
        for (uint32_t i = 0; i < f->waits->n_places; i++) {
                f->waits->places[i].frames = f->waits->frames + first;
                first += f->waits->places[i].n_frames;
        }
        return 0;
}

/* Scales a waker's sum like the waits that the waker ended. */
static int sum_waker(struct filling *f, const struct waker_key *key, struct wait_sum ended)
{
        const struct wait_key *wait = intern_get(&f->totals->waits.keys, key->row, NULL);
        struct waker_row *row;
        struct waker waker;
        uint32_t id, thread;
        int r;

        wait_sum_merge(&f->waits->woken, &ended);
        if (wait->stack == 0 && wait_scale_is_known(&f->scale, wait))
                return 0;
        waker = identify(f, key, &thread);
        r = intern_add_row(&f->wakers, &waker, &f->waker_rows, &f->waker_rows_capacity,
                           sizeof(*f->waker_rows), &id);
        if (r < 0)
                return r;
        row = &f->waker_rows[id - 1];
        if (r == 1)
                row->thread = thread;
        row->are_several |= row->thread != thread;
        if (wait->stack != 0)
                scale_sum(f, wait, &ended);
        wait_sum_merge(&row->ended, &ended);
        return 0;
}

static int sum_wakers(struct filling *f)
{
        const struct wait_stats *stats = &f->totals->waits;
        int r = 0;

        for (uint32_t i = 1; i <= stats->waker_keys.n_items && r == 0; i++)
                r = sum_waker(f, intern_get(&stats->waker_keys, i, NULL), stats->wakers[i - 1]);
        return r;
}

static int compare_wakers(const void *a, const void *b)
{
        const struct report_waker *x = a;
        const struct report_waker *y = b;
        int order = report_compare(y->ended.total_ns, x->ended.total_ns);

        if (order == 0)
                order = report_compare(y->ended.n_waits, x->ended.n_waits);
        if (order == 0)
                order = report_compare((uintptr_t)x->thread.bytes, (uintptr_t)y->thread.bytes);
        return order != 0
                       ? order
                       : report_compare((uintptr_t)x->function.name.bytes, (uintptr_t)y->function.name.bytes);
}

/* Sorts the wakers by their place, by counting, and then those of each place. */
static int list_wakers(struct filling *f)
{
        struct report_waits *w = f->waits;
        uint32_t *next = calloc((size_t)w->n_places + 2, sizeof(*next));

        w->wakers = calloc((size_t)f->wakers.n_items + 1, sizeof(*w->wakers));
        if (!next || !w->wakers) {
                free(next);
                return -ENOMEM;
        }
        for (uint32_t i = 1; i <= f->wakers.n_items; i++)
                next[((const struct waker *)intern_get(&f->wakers, i, NULL))->place + 1]++;
        for (uint32_t i = 1; i <= w->n_places; i++) {
                next[i + 1] += next[i];
                w->places[i - 1].wakers = w->wakers + next[i];
                w->places[i - 1].n_wakers = next[i + 1] - next[i];
        }
        for (uint32_t i = 1; i <= f->wakers.n_items; i++) {
                const struct waker *waker = intern_get(&f->wakers, i, NULL);
                struct report_waker *row = &w->wakers[next[waker->place]++];

                row->thread = trace_dictionary_text(f->dictionary, waker->name);
                row->interrupt = (enum interrupt_kind)waker->kind;
                row->has_function = waker->label != 0;
                if (row->has_function)
                        row->function = describe_label(f, waker->label);
                row->ended = f->waker_rows[i - 1].ended;
                row->process = waker->process;
                if (waker->process != 0 && !f->waker_rows[i - 1].are_several)
                        row->tid = ((const struct trace_thread *)trace_dictionary_row(
                                            f->dictionary, TRACE_TABLE_THREADS, f->waker_rows[i - 1].thread))
                                           ->tid;
        }
        for (uint32_t i = 0; i < w->n_places; i++)
                qsort(w->wakers + (w->places[i].wakers - w->wakers), w->places[i].n_wakers,
                      sizeof(*w->wakers), compare_wakers);
        free(next);
        return 0;
}

static int compare_places(const void *a, const void *b)
{
        const struct report_wait_place *x = a;
        const struct report_wait_place *y = b;
        int order = report_compare(x->is_idle, y->is_idle);

        if (order == 0)
                order = report_compare(y->has_stack, x->has_stack);
        if (order == 0)
                order = report_compare(wait_row_total_ns(&y->sum), wait_row_total_ns(&x->sum));
        if (order == 0)
                order = report_compare(y->sum.ended.n_waits, x->sum.ended.n_waits);
        return order != 0 ? order : report_compare((uintptr_t)x->frames, (uintptr_t)y->frames);
}

/* All idle threads are one place.  A place is left out if others stand for its waits. */
static void pick_places(struct report_waits *w)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < w->n_places; i++)
                if (w->places[i].sum.ended.n_waits != 0 || w->places[i].sum.n_open != 0)
                        w->places[n++] = w->places[i];
        if (w->idle.n_open != 0 || w->idle.ended.n_waits != 0)
                w->places[n++] = (struct report_wait_place){
                        .frames = w->frames, .wait_words = "idle", .is_idle = true, .sum = w->idle
                };
        w->n_places = n;
}

static int fill_places(struct filling *f)
{
        int r = find_places(f);

        if (r < 0)
                return r;
        sum_places(f);
        r = describe_places(f);
        if (r != 0)
                return r;
        r = sum_wakers(f);
        if (r != 0)
                return r;
        r = list_wakers(f);
        if (r != 0)
                return r;
        pick_places(f->waits);
        qsort(f->waits->places, f->waits->n_places, sizeof(*f->waits->places), compare_places);
        return r;
}

static int compare_zones(const void *a, const void *b)
{
        const struct report_wait_zone *x = a;
        const struct report_wait_zone *y = b;
        int order = report_compare(wait_row_total_ns(&y->sum), wait_row_total_ns(&x->sum));

        return order != 0 ? order : report_compare((uintptr_t)x->names, (uintptr_t)y->names);
}

/* Writes the names of a path's zones, the outermost first, after the names so far. */
static int add_names(struct filling *f, uint32_t path, struct report_wait_zone *zone)
{
        const struct zone_paths *paths = &f->totals->walk.paths;
        uint32_t n = 0;
        int r;

        for (uint32_t at = path; at != 0 && !zone->is_cut;) {
                at = zone_paths_parent(paths, at);
                n++;
                zone->is_cut = n == REPORT_WAIT_NAMES_MAX && at != 0;
        }
        r = array_reserve(&f->waits->names, &f->names_capacity, f->n_names + n + 1, sizeof(*f->waits->names));
        if (r < 0)
                return r;
        f->n_names += n;
        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_location *location = trace_dictionary_row(
                        f->dictionary, TRACE_TABLE_LOCATIONS, zone_paths_location(paths, path));

                f->waits->names[f->n_names - i] = trace_dictionary_text(f->dictionary, location->name);
                path = zone_paths_parent(paths, path);
        }
        zone->n_names = n;
        return 0;
}

static int fill_zones(struct filling *f)
{
        const struct wait_stats *stats = &f->totals->waits;
        uint32_t n_paths = zone_paths_count(&f->totals->walk.paths);
        struct wait_row *sums = calloc((size_t)n_paths + 1, sizeof(*sums));
        struct report_waits *w = f->waits;
        size_t first = 0;
        int r = 0;

        w->zones = calloc((size_t)n_paths + 1, sizeof(*w->zones));
        if (!sums || !w->zones) {
                free(sums);
                return -ENOMEM;
        }
        for (uint32_t i = 1; i <= wait_stats_count(stats); i++)
                wait_row_merge(&sums[((const struct wait_key *)intern_get(&stats->keys, i, NULL))->path],
                               &stats->rows[i - 1]);
        for (uint32_t path = 0; path <= n_paths && r == 0; path++) {
                if (sums[path].ended.n_waits == 0 && sums[path].n_open == 0)
                        continue;
                w->zones[w->n_zones].sum = sums[path];
                r = add_names(f, path, &w->zones[w->n_zones++]);
        }
        for (uint32_t i = 0; i < w->n_zones && r == 0; i++) {
                w->zones[i].names = w->names + first;
                first += w->zones[i].n_names;
        }
        if (r == 0)
                qsort(w->zones, w->n_zones, sizeof(*w->zones), compare_zones);
        free(sums);
        return r;
}

static int compare_threads(const void *a, const void *b)
{
        const struct report_wait_thread *x = a;
        const struct report_wait_thread *y = b;
        int order = report_compare(wait_row_total_ns(&y->sum), wait_row_total_ns(&x->sum));

        if (order == 0)
                order = report_compare(y->preempted.total_ns, x->preempted.total_ns);
        return order != 0 ? order : report_compare(x->tid, y->tid);
}

static int fill_threads(struct filling *f)
{
        const struct wait_stats *stats = &f->totals->waits;
        struct report_waits *w = f->waits;

        w->threads = calloc((size_t)stats->n_threads + 1, sizeof(*w->threads));
        if (!w->threads)
                return -ENOMEM;
        for (uint32_t i = 0; i < stats->n_threads; i++) {
                const struct wait_thread *thread = &stats->threads[i];
                const struct trace_thread *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_THREADS,
                                                                      i + 1);
                const struct trace_process *process;

                wait_sum_merge(&w->preempted, &thread->preempted);
                if (thread->waits.ended.n_waits == 0 && thread->waits.n_open == 0 &&
                    thread->preempted.n_waits == 0)
                        continue;
                process = trace_dictionary_row(f->dictionary, TRACE_TABLE_PROCESSES, row->process);
                w->threads[w->n_threads++] = (struct report_wait_thread){
                        .thread = i + 1,
                        .pid = process->pid,
                        .tid = row->tid,
                        .name = trace_dictionary_text(f->dictionary,
                                                      f->totals->walk.threads[i].timeline.name),
                        .sum = thread->waits,
                        .preempted = thread->preempted,
                };
        }
        qsort(w->threads, w->n_threads, sizeof(*w->threads), compare_threads);
        return 0;
}

/* Waits without a call stack do not show whether they are in Python. */
static bool is_mostly_python(const struct trace_totals *totals, const struct trace_dictionary *d,
                             const struct python_stacks *python)
{
        const struct wait_stats *stats = &totals->waits;
        struct python_parts parts = { .all = 0 };

        for (uint32_t i = 1; i <= wait_stats_count(stats); i++) {
                const struct wait_key *key = intern_get(&stats->keys, i, NULL);

                if (key->stack != 0)
                        python_stacks_add(python, d, key->stack, wait_row_total_ns(&stats->rows[i - 1]),
                                          &parts);
        }
        return python_parts_are_most(&parts);
}

int report_waits_fill(struct report_waits *w, const struct trace_totals *totals,
                      const struct trace_dictionary *d, const struct python_stacks *python,
                      enum report_waits_view view)
{
        struct filling f = { .waits = w, .totals = totals, .dictionary = d };
        int r;

        intern_init(&f.wakers, sizeof(struct waker), 0);
        w->has_wakeups = totals->walk.n_events[TRACE_OP_WAKEUP] != 0;
        r = wait_places_init(&f.places, d);
        if (r == 0)
                r = wait_ends_init(&f.ends, d);
        if (r != 0)
                goto done;
        w->is_folded = view == REPORT_WAITS_PYTHON ||
                       (view == REPORT_WAITS_AS_MOST && is_mostly_python(totals, d, python));
        if (w->is_folded)
                r = wait_places_fold(&f.places, python);
        if (r != 0)
                goto done;
        r = fill_places(&f);
        if (r != 0)
                goto done;
        r = fill_zones(&f);
        if (r != 0)
                goto done;
        r = fill_threads(&f);

done:
        wait_places_deinit(&f.places);
        wait_ends_deinit(&f.ends);
        intern_deinit(&f.wakers);
        free(f.place_of_row);
        free(f.waker_rows);
        return r;
}

void report_waits_deinit(struct report_waits *w)
{
        free(w->places);
        free(w->zones);
        free(w->threads);
        free(w->frames);
        free(w->wakers);
        free(w->names);
        *w = (struct report_waits){ .places = NULL };
}
