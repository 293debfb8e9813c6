/* SPDX-License-Identifier: MIT */
#include "analyze/cores/idle_cores.h"

#include "analyze/path/path_names.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More CPUs than any machine has: META may say anything. */
#define CPUS_MAX 65536

/* ------------------------------------------------------------------ rows */

/* A thread of the group that runs, or waits, as the cause says; 0 = none. */
static uint32_t find_thread(struct idle_cores *c, const struct wait_moment *m, const struct idle_key *key)
{
        bool runs = key->cause == IDLE_RUN || key->cause == IDLE_LOCK || key->cause == IDLE_TOO_FEW;

        for (uint32_t i = 0; i < m->n_items && key->group != 0; i++) {
                const struct wait_item *item = &m->items[i];

                if ((wait_roots_of(&c->roots, item) == NULL) == runs &&
                    path_names_group(&c->sweep.names, item->thread) == key->group)
                        return item->thread;
        }
        return 0;
}

static int add_cores(struct idle_cores *c, const struct wait_moment *m, const struct idle_key *key,
                     double cores, uint32_t n_waiting)
{
        struct idle_row *row;
        uint32_t id;
        int r = intern_add_row(&c->keys, key, &c->rows, &c->rows_capacity, sizeof(*c->rows), &id);

        if (r == -EOVERFLOW) {
                c->n_left_out++;
                return 0;
        }
        if (r < 0)
                return r;
        cores = idle_steps_round(cores);
        if (key->span == 0)
                idle_steps_add(&c->steps, m->time_ns, key->cause, cores);
        else
                r = idle_steps_keep(&c->steps, m->time_ns, id, cores);
        if (r < 0)
                return r;
        row = &c->rows[id - 1];
        row->cores += cores;
        row->n_waiting += n_waiting;
        row->n_moments++;
        row->n_alone += m->n_running == 1;
        if (row->thread == 0)
                row->thread = find_thread(c, m, key);
        return 0;
}

static struct idle_key key_of(const struct wait_roots *roots, uint32_t root)
{
        static const enum idle_cause causes[] = {
                [WAIT_ROOT_RUN] = IDLE_RUN,         [WAIT_ROOT_LOCK] = IDLE_LOCK,
                [WAIT_ROOT_READY] = IDLE_OTHERS,    [WAIT_ROOT_TIMER] = IDLE_TIMER,
                [WAIT_ROOT_DISK] = IDLE_DISK,       [WAIT_ROOT_NETWORK] = IDLE_NETWORK,
                [WAIT_ROOT_PROGRAM] = IDLE_PROGRAM, [WAIT_ROOT_UNKNOWN] = IDLE_UNKNOWN,
                [WAIT_ROOT_OPEN] = IDLE_OPEN,       [WAIT_ROOT_INTERRUPT] = IDLE_INTERRUPT,
        };
        const struct wait_root *of = wait_roots_get(roots, root);

        return (struct idle_key){
                .cause = causes[of->kind], .group = of->group, .own = of->own, .by = of->by
        };
}

/* ------------------------------------------------------------------ a moment */

/* Counts for each root the threads that wait for it. */
static int count_votes(struct idle_cores *c, const struct wait_moment *m)
{
        uint32_t n = c->roots.roots.n_items + 1;

        if (n > c->n_votes &&
            array_reach(&c->votes, &c->votes_capacity, &c->n_votes, n, sizeof(*c->votes)) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < m->n_items; i++)
                if (wait_roots_of(&c->roots, &m->items[i]))
                        c->votes[m->items[i].id]++;
        return 0;
}

static void clear_votes(struct idle_cores *c, const struct wait_moment *m)
{
        for (uint32_t i = 0; i < m->n_items; i++)
                if (wait_roots_of(&c->roots, &m->items[i]))
                        c->votes[m->items[i].id] = 0;
}

/* How much say a root has: what is not over has some only if nothing else has. */
enum say { SAY_NONE, SAY_OPEN, SAY_READY, SAY_FULL };

static enum say say_of(const struct wait_root *root)
{
        if (!root)
                return SAY_NONE;
        if (root->kind == WAIT_ROOT_OPEN)
                return SAY_OPEN;
        return root->kind == WAIT_ROOT_READY ? SAY_READY : SAY_FULL;
}

/* Divides @cores among the roots with that say, by the threads that wait for them. */
static int divide(struct idle_cores *c, const struct wait_moment *m, double cores, enum say say, uint32_t n)
{
        int r = 0;

        for (uint32_t i = 0; i < m->n_items && r == 0; i++) {
                const struct wait_item *item = &m->items[i];
                struct idle_key key;
                uint32_t votes;

                if (say_of(wait_roots_of(&c->roots, item)) != say || c->votes[item->id] == 0)
                        continue;
                votes = c->votes[item->id];
                c->votes[item->id] = 0;
                key = key_of(&c->roots, item->id);
                r = add_cores(c, m, &key, cores * votes / n, votes);
        }
        return r;
}

/* Threads could run: the quota kept them from the CPUs, or others had these, or the kernel was not ready. */
static int add_machine(struct idle_cores *c, const struct wait_moment *m, enum idle_cause cause, double cores)
{
        struct idle_key key = { .cause = cause, .span = throttled_times_find(&c->throttled, m->time_ns) };

        return add_cores(c, m, &key, cores, m->n_ready);
}

/* As many cores as threads could run on: the quota's time is counted by them. */
static int add_wanted(struct idle_cores *c, const struct wait_moment *m, double cores)
{
        uint32_t span = throttled_times_find(&c->throttled, m->time_ns);
        double n_others = idle_gaps_are_known(&c->gaps) ? 0 : fmin(cores, m->n_ready - m->n_queued);
        int r = 0;

        if (span != 0)
                c->unowned[span - 1] += cores;
        if (n_others > 0)
                r = add_machine(c, m, IDLE_OTHERS, n_others);
        return r == 0 && cores > n_others ? add_machine(c, m, IDLE_READY, cores - n_others) : r;
}

/* No thread waits for anything that happens: names the thread that runs, if one does. */
static int add_too_few(struct idle_cores *c, const struct wait_moment *m, double cores)
{
        const struct wait_item *running = wait_roots_running(m);
        struct idle_key key = { .cause = IDLE_TOO_FEW };

        if (running) {
                key = key_of(&c->roots, running->id);
                key.cause = IDLE_TOO_FEW;
        }
        return add_cores(c, m, &key, cores, 0);
}

static int take_rest(struct idle_cores *c, const struct wait_moment *m, double cores)
{
        uint32_t n_says[SAY_FULL + 1] = { 0 };
        bool is_throttled;
        int r;

        for (uint32_t i = 0; i < m->n_items; i++)
                n_says[say_of(wait_roots_of(&c->roots, &m->items[i]))]++;
        is_throttled = m->n_ready != 0 && throttled_times_find(&c->throttled, m->time_ns) != 0;
        if (n_says[SAY_FULL] == 0 && (n_says[SAY_READY] != 0 || is_throttled))
                return add_machine(c, m, IDLE_READY, cores);
        /* threads that could run have their cores already: no thread is left for these */
        if (n_says[SAY_FULL] == 0 && (m->n_running != 0 || m->n_ready != 0 || n_says[SAY_OPEN] == 0))
                return add_too_few(c, m, cores);
        r = count_votes(c, m);
        if (r < 0)
                return r;
        r = n_says[SAY_FULL] != 0 ? divide(c, m, cores, SAY_FULL, n_says[SAY_FULL])
                                  : divide(c, m, cores, SAY_OPEN, n_says[SAY_OPEN]);
        clear_votes(c, m);
        return r;
}

static int take_roots(void *context, const struct wait_moment *m)
{
        struct idle_cores *c = context;
        double n_free = c->n_cpus > m->n_running ? c->n_cpus - m->n_running : 0;
        double n_others = n_free * (1 - idle_gaps_share(&c->gaps, m->time_ns));
        double n_machine = fmin(fmax(m->n_ready - n_others, 0), n_free - n_others);
        const struct idle_key others = { .cause = IDLE_OTHERS };
        int r;

        idle_steps_add_moment(&c->steps, m->time_ns, c->n_cpus - (uint32_t)n_free);
        r = n_others > 0 ? add_cores(c, m, &others, n_others, m->n_ready) : 0;

        n_free -= n_others;
        if (r == 0 && n_machine > 0)
                r = add_wanted(c, m, n_machine);
        return r == 0 && n_free > n_machine ? take_rest(c, m, n_free - n_machine) : r;
}

static int take_moment(void *context, uint64_t time_ns)
{
        struct idle_cores *c = context;

        if (c->request.n_steps != 0 && !c->steps.steps &&
            idle_steps_begin(&c->steps, c->request.n_steps, c->sweep.begin_ns, c->sweep.end_ns,
                             c->sweep.moment_ns) < 0)
                return -ENOMEM;
        c->n_moments++;
        if (c->sweep.n_running >= c->n_cpus) {
                idle_steps_add_moment(&c->steps, time_ns, c->n_cpus);
                return 0;
        }
        return wait_roots_add(&c->roots, time_ns, 0);
}

static int take_wait(void *context, uint32_t thread, uint64_t out_ns)
{
        struct idle_cores *c = context;

        return wait_roots_over(&c->roots, thread, out_ns);
}

/* ------------------------------------------------------------------ the end */

/* The row of a cause without a thread.  Returns 0 or -errno. */
static int reach_plain_row(struct idle_cores *c, uint32_t cause, uint32_t *ret_id)
{
        const struct idle_key key = { .cause = cause };
        int r = intern_add_row(&c->keys, &key, &c->rows, &c->rows_capacity, sizeof(*c->rows), ret_id);

        return r < 0 ? r : 0;
}

static void move_part(struct idle_cores *c, uint32_t from_id, uint32_t to_id, double cores)
{
        struct idle_row *from = &c->rows[from_id - 1], *to = &c->rows[to_id - 1];
        double share = from->cores > 0 ? cores / from->cores : 0;

        to->cores += cores;
        to->n_waiting += from->n_waiting * share;
        to->n_moments += (uint64_t)((double)from->n_moments * share);
        to->n_alone += (uint64_t)((double)from->n_alone * share);
}

/* Moves the throttled part of what no recorded thread had to rows of its own. */
static int spread_throttled(struct idle_cores *c)
{
        double ns = c->n_moments != 0 ? (double)c->open_ns / (double)c->n_moments : 0;
        uint32_t n_keys = c->keys.n_items;

        for (uint32_t id = 1; id <= n_keys; id++) {
                const struct idle_key key = *idle_cores_key(c, id);
                double part = 0, quota, unowned;
                uint32_t quota_id, rest_id;
                int r;

                if (key.span == 0)
                        continue;
                unowned = c->unowned[key.span - 1];
                if (unowned > 0)
                        part = throttled_times_share(&c->throttled, key.span, unowned * ns);
                r = reach_plain_row(c, key.cause, &rest_id);
                if (r == 0)
                        r = reach_plain_row(c, IDLE_QUOTA, &quota_id);
                if (r < 0 && r != -EOVERFLOW)
                        return r;
                if (r < 0)
                        part = 0;
                idle_steps_split(&c->steps, id, key.cause, part);
                if (r < 0)
                        continue; /* no room for more rows: it stays as it is */
                quota = idle_steps_round(c->rows[id - 1].cores * part);
                move_part(c, id, rest_id, c->rows[id - 1].cores - quota);
                move_part(c, id, quota_id, quota);
                c->rows[id - 1].cores = 0;
        }
        return 0;
}

static int compare_rows(const void *a, const void *b, void *context)
{
        const uint32_t *left = a, *right = b;
        const struct idle_cores *c = context;
        double x = c->rows[*left - 1].cores, y = c->rows[*right - 1].cores;

        if (x != y)
                return x < y ? 1 : -1;
        return *left < *right ? -1 : *left > *right;
}

static int finish(struct idle_cores *c)
{
        int r;

        c->open_ns = c->sweep.open_ns;
        c->has_switches = c->sweep.past.has_switches;
        r = spread_throttled(c);
        c->order = calloc((size_t)c->keys.n_items + 1, sizeof(*c->order));
        if (r < 0 || !c->order)
                return r < 0 ? r : -ENOMEM;
        for (uint32_t id = 1; id <= c->keys.n_items; id++) {
                if (c->rows[id - 1].cores <= 0)
                        continue;
                c->order[c->n_rows++] = id;
                *(idle_cores_key(c, id)->cause == IDLE_OTHERS ? &c->others
                                                              : &c->cores) += c->rows[id - 1].cores;
        }
        qsort_r(c->order, c->n_rows, sizeof(*c->order), compare_rows, c);
        return 0;
}

static int prepare(struct idle_cores *c, const struct loaded_trace *trace)
{
        uint64_t n_cpus = loaded_trace_meta_number(trace, "cpus");

        c->n_cpus = n_cpus > CPUS_MAX ? CPUS_MAX : (uint32_t)n_cpus;
        intern_init(&c->keys, sizeof(struct idle_key), IDLE_CORES_ROWS_MAX);
        if (throttled_times_read(&c->throttled, trace->dictionary) < 0)
                return -ENOMEM;
        c->unowned = calloc(c->throttled.n_spans + 1, sizeof(*c->unowned));
        return c->unowned ? 0 : -ENOMEM;
}

int idle_cores_take(struct idle_cores *c, struct loaded_trace *trace,
                    const struct idle_cores_request *request, struct error *err)
{
        const struct past_sweep_request sweep = { .filter = request->filter,
                                                  .context = c,
                                                  .moment = take_moment,
                                                  .wait_over = take_wait,
                                                  .shows_native = request->shows_native,
                                                  .n_moments = request->n_moments,
                                                  .is_bounded = request->is_bounded };
        int r;

        *c = (struct idle_cores){ .request = *request };
        wait_roots_init(&c->roots, &c->sweep, take_roots, c);
        r = prepare(c, trace);
        if (r < 0)
                return error_set(err, r, "looking for idle cores: out of memory");
        r = idle_gaps_read(&c->gaps, trace, request->filter, c->n_cpus, request->is_bounded, err);
        if (r == 0)
                r = past_sweep_run(&c->sweep, trace, &sweep, err);
        if (r == 0 && (wait_roots_finish(&c->roots) < 0 || finish(c) < 0))
                r = error_set(err, -ENOMEM, "looking for idle cores: out of memory");
        return r;
}

void idle_cores_deinit(struct idle_cores *c)
{
        wait_roots_deinit(&c->roots);
        past_sweep_deinit(&c->sweep);
        idle_gaps_deinit(&c->gaps);
        idle_steps_deinit(&c->steps);
        throttled_times_deinit(&c->throttled);
        intern_deinit(&c->keys);
        free(c->unowned);
        free(c->rows);
        free(c->order);
        free(c->votes);
        *c = (struct idle_cores){ .rows = NULL };
}
