/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_calls.h"

#include "analyze/diff/diff_run.h"
#include "analyze/samples/function_table.h"
#include "analyze/trace/meta_value.h"
#include "analyze/walk/trace_walk.h"
#include "base/saturating.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Waits of one call stack, state and length. */
struct diff_wait_row {
        struct diff_wait sum;
        uint64_t n;
};

struct caller_pair {
        uint32_t key, name;
};

void diff_calls_init(struct diff_calls *c, struct diff_run *run, struct diff_names *names,
                     const struct call_finder *finder)
{
        *c = (struct diff_calls){ .run = run, .names = names, .finder = *finder };
        intern_init(&c->keys, sizeof(struct wait_key), 0);
        c->callers[0] = (struct diff_callers){ .run = run, .finder = *finder };
        c->callers[0].finder.folds = NULL;
        c->callers[0].finder.skips_python = true;
        c->callers[1] = (struct diff_callers){ .run = run->folded, .finder = *finder };
        for (int i = 0; i < 2; i++)
                intern_init(&c->callers[i].pairs, sizeof(struct caller_pair), 0);
        if (run->folded)
                run->folded->duration_ns = run->duration_ns;
        run->has_waits = meta_value_number(finder->dictionary, "off_cpu") != 0;
        run->has_calls = meta_value_number(finder->dictionary, "syscalls") != 0 &&
                         meta_value_number(finder->dictionary, "end_raw_ns") != 0; /* when they are written */
        run->lost_calls = trace_dictionary_loss_count(finder->dictionary, TRACE_LOSS_SYSCALLS_MISSED) != 0;
}

void diff_calls_deinit(struct diff_calls *c)
{
        intern_deinit(&c->keys);
        for (int i = 0; i < 2; i++) {
                intern_deinit(&c->callers[i].pairs);
                free(c->callers[i].weights);
                c->callers[i].weights = NULL;
        }
        free(c->rows);
        c->rows = NULL;
}

/* Calls of one name from one function. */
struct same_calls {
        enum diff_kind kind;
        struct text_view call;
        uint32_t caller; /* label; 0 = unknown, or not asked for */
        uint64_t n;
};

/*
 * Finds the key of some calls.  If there are too many names, the calls are counted as unnamed, and *ret_key
 * is 0.
 */
static int add_key(const struct diff_calls *c, struct diff_run *run, const struct same_calls *calls,
                   uint32_t *ret_key)
{
        const struct function_table *functions = c->finder.functions;
        const struct trace_dictionary *d = c->finder.dictionary;
        struct diff_caller from = { .function = NULL };
        int r;

        if (calls->caller != 0) {
                from.function = function_table_get(functions, calls->caller);
                from.symbol = function_table_symbol(functions, d, calls->caller);
        }
        r = diff_names_add_call(c->names, d, calls->kind, calls->call, &from, ret_key);
        if (r != -EOVERFLOW)
                return r;
        run->n_unnamed_calls = saturating_add(run->n_unnamed_calls, calls->n);
        *ret_key = 0;
        return 0;
}

/* ------------------------------------------------------------------ system calls */

int diff_calls_add_counted(struct diff_calls *c)
{
        const struct trace_dictionary *d = c->finder.dictionary;
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_SYSCALLS);
        int r = 0;

        for (uint32_t id = 1; id <= n && r == 0; id++) {
                const struct trace_syscall *row = trace_dictionary_row(d, TRACE_TABLE_SYSCALLS, id);
                struct same_calls calls = { .kind = DIFF_CALL };
                uint32_t key;

                calls.call = trace_dictionary_text(d, row->name);
                calls.n = row->n_calls;
                r = add_key(c, c->run, &calls, &key);
                if (r == 0 && key == 0 && c->run->folded)
                        c->run->folded->n_unnamed_calls = c->run->n_unnamed_calls;
                for (int i = 0; i < 2 && r == 0 && key != 0; i++)
                        if (c->callers[i].run)
                                r = diff_run_add_calls(c->callers[i].run, key, row->n_calls,
                                                       (double)row->time_ns);
        }
        return r;
}

/* Adds unknown callers as well, because a caller's share is of all calls. */
static int add_call_of(struct diff_callers *callers, uint32_t key, uint32_t name, double weight)
{
        const struct caller_pair pair = { key, name };
        uint32_t id;
        int r = intern_add_row(&callers->pairs, &pair, &callers->weights, &callers->capacity,
                               sizeof(*callers->weights), &id);

        if (r < 0)
                return r;
        callers->weights[id - 1] += weight;
        return 0;
}

/* Gives each call the caller that made more than half of its samples, if there is one. */
static int settle_callers(const struct diff_callers *callers)
{
        struct diff_run *run = callers->run;
        double *all = calloc((size_t)run->n_sums + 1, sizeof(*all));

        if (!all)
                return -ENOMEM;
        for (uint32_t id = 1; id <= callers->pairs.n_items; id++) {
                const struct caller_pair *pair = intern_get(&callers->pairs, id, NULL);

                all[pair->key] += callers->weights[id - 1];
        }
        for (uint32_t id = 1; id <= callers->pairs.n_items; id++) {
                const struct caller_pair *pair = intern_get(&callers->pairs, id, NULL);

                if (2 * callers->weights[id - 1] > all[pair->key])
                        run->sums[pair->key - 1].caller = pair->name;
        }
        free(all);
        return 0;
}

/* @stack: the program's part of the call stack; 0 = it was not recorded */
static int add_caller(const struct diff_calls *c, struct diff_callers *callers, uint32_t key, uint32_t stack,
                      double weight)
{
        static const uint32_t unknown;
        const struct trace_dictionary *d = c->finder.dictionary;
        const struct function_table *functions = c->finder.functions;
        struct found_call found = call_finder_of_stack(&callers->finder, stack, &unknown);
        uint32_t caller = found.caller != 0 ? found.caller : found.call, name = 0;
        int r = 0;

        if (caller != 0)
                r = diff_names_add_name(c->names, d, function_table_get(functions, caller),
                                        function_table_symbol(functions, d, caller), &name);
        return r == 0 || r == -EOVERFLOW ? add_call_of(callers, key, name, weight) : r;
}

int diff_calls_take_sample(struct diff_calls *c, const struct trace_event *event)
{
        const struct trace_dictionary *d = c->finder.dictionary;
        const struct label_groups *frames = &c->finder.functions->frames;
        const struct trace_sample_event *sampled = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS,
                                                                        (uint32_t)event->sample.event);
        const struct trace_stack *stack;
        struct same_calls calls = { .kind = DIFF_CALL };
        uint32_t key;
        int r;

        if (!c->run->has_calls || sampled->mode != TRACE_SAMPLE_MODE_WITH_LEADER || sampled->leader != 0 ||
            event->sample.stack == 0)
                return 0;
        stack = trace_dictionary_row(d, TRACE_TABLE_STACKS, (uint32_t)event->sample.stack);
        calls.call = call_finder_counted_call(&c->finder, frames->labels[frames->first[stack->frame]]);
        if (calls.call.n_bytes == 0)
                return 0;
        r = add_key(c, c->run, &calls, &key);
        if (r < 0 || key == 0 || diff_run_sum(c->run, key).n == 0)
                return r;
        for (int i = 0; i < 2 && r == 0; i++)
                if (c->callers[i].run)
                        r = add_caller(c, &c->callers[i], key, (uint32_t)stack->parent,
                                       (double)event->sample.weight);
        return r;
}

/* ------------------------------------------------------------------ waits */

static void add_to_blocks(struct diff_calls *c, struct diff_wait *sum, uint64_t end_ns, double ns)
{
        uint64_t block_ns = c->run->duration_ns / DIFF_RUN_BLOCKS + 1;
        uint64_t block = end_ns > c->from_ns ? (end_ns - c->from_ns) / block_ns : 0;

        sum->blocks[block < DIFF_RUN_BLOCKS ? block : DIFF_RUN_BLOCKS - 1] += ns;
}

int diff_calls_take_wait(struct diff_calls *c, const struct thread_wait *wait)
{
        uint64_t end_ns = wait->is_woken && wait->woken_ns < wait->in_ns ? wait->woken_ns : wait->in_ns;
        uint64_t ns = end_ns > wait->out_ns ? end_ns - wait->out_ns : 0;
        struct wait_key key = { .stack = wait->stack, .wait = wait->state, .length = wait_length_of(ns) };
        struct diff_wait_row *row;
        uint32_t id;
        int r;

        /*
         * Open waits come last: if other waits ended, the open ones belong to idle threads, or to helpers
         * without work.
         */
        if (wait->preempted || (!wait->ended && (wait->stack == 0 || c->ended_ns > c->run->duration_ns / 2)))
                return 0;
        r = intern_add_row(&c->keys, &key, &c->rows, &c->rows_capacity, sizeof(*c->rows), &id);
        if (r < 0)
                return r;
        row = &c->rows[id - 1];
        row->n++;
        row->sum.ns += (double)ns;
        row->sum.squares += (double)ns * (double)ns;
        if (wait->is_woken && wait->waker_thread != 0)
                row->sum.by_others_ns += (double)ns;
        add_to_blocks(c, &row->sum, end_ns, (double)ns);
        if (wait->ended)
                c->ended_ns += ns;
        wait_scale_add(&c->scale, &key, 1, ns);
        return 0;
}

/* A sum of waits with a call stack, scaled to stand for all waits of the same state and length. */
static struct diff_wait scaled(const struct diff_calls *c, const struct wait_key *key,
                               const struct diff_wait_row *row)
{
        double by = row->sum.ns > 0 ? wait_scale_ns(&c->scale, key, (uint64_t)row->sum.ns) / row->sum.ns : 1;
        struct diff_wait sum = row->sum;

        sum.n_seen = (double)row->n;
        sum.n = wait_scale_count(&c->scale, key, row->n);
        sum.ns *= by;
        sum.by_others_ns *= by;
        sum.squares *= by * by;
        for (int i = 0; i < DIFF_RUN_BLOCKS; i++)
                sum.blocks[i] *= by;
        return sum;
}

bool diff_calls_is_sleep(struct text_view call)
{
        return text_view_is(call, "clock_nanosleep") || text_view_is(call, "nanosleep") ||
               text_view_is(call, "usleep") || text_view_is(call, "sleep");
}

static bool is_write_name(struct text_view name)
{
        static const char *const names[] = {
                "fsync",  "fdatasync", "sync",     "syncfs",   "sync_file_range", "msync",     "write",
                "writev", "pwrite",    "pwrite64", "pwritev",  "pwritev2",        "pwritev64", "pwritev64v2",
                "unlink", "unlinkat",  "rename",   "renameat", "renameat2",       "ftruncate", "ftruncate64",
        };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (text_view_is(name, names[i]))
                        return true;
        return false;
}

/*
 * Whether the call waits until data is on a disk; reads may find their data in memory already.  A function of
 * the program may have the name of such a call, so the kernel's function has to agree, if it is known.
 */
static bool is_write(const struct call_finder *finder, const struct kernel_entry *entry,
                     struct text_view call)
{
        if (!is_write_name(call))
                return false;
        return entry->function == 0 ||
               is_write_name(call_finder_system_call(call_finder_name(finder, entry->function)));
}

static int add_place(const struct diff_calls *c, const struct diff_callers *callers,
                     const struct wait_key *key, const struct diff_wait_row *row)
{
        struct kernel_entry entry = call_finder_entry(&callers->finder, key->stack);
        bool is_fault = kernel_entry_is_page_fault(&entry);
        const char *no_call = is_fault ? DIFF_NAMES_PAGE_FAULTS : DIFF_NAMES_UNKNOWN_CALL;
        struct text_view call = { no_call, strlen(no_call) };
        struct diff_wait sum = scaled(c, key, row);
        struct same_calls calls = { .kind = DIFF_WAIT };
        struct found_call found;
        uint32_t id;
        int r;

        if (entry.user_stack == 0)
                return 0;
        found = call_finder_of_stack(&callers->finder, entry.user_stack, is_fault ? NULL : &entry.function);
        if (found.call != 0)
                call = call_finder_as_written(call_finder_name(&c->finder, found.call));
        if (entry.is_child)
                sum.by_others_ns = sum.ns;
        if (!diff_calls_is_sleep(call) &&
            (key->wait != TRACE_WAIT_UNINTERRUPTIBLE || !is_write(&callers->finder, &entry, call)))
                sum.outside_ns = sum.ns;
        calls.call = call;
        calls.caller = found.caller;
        calls.n = (uint64_t)(sum.n + 0.5);
        r = add_key(c, callers->run, &calls, &id);
        return r == 0 && id != 0 ? diff_run_add_wait(callers->run, id, &sum) : r;
}

static int add_places(const struct diff_calls *c, const struct diff_callers *callers)
{
        int r = 0;

        for (uint32_t id = 1; id <= c->keys.n_items && r == 0 && c->run->has_waits; id++) {
                const struct wait_key *key = intern_get(&c->keys, id, NULL);

                r = add_place(c, callers, key, &c->rows[id - 1]);
        }
        return r == 0 ? settle_callers(callers) : r;
}

int diff_calls_finish(struct diff_calls *c)
{
        uint64_t n_stacks = 0;
        int r = 0;

        for (uint32_t id = 1; id <= c->keys.n_items; id++) {
                const struct wait_key *key = intern_get(&c->keys, id, NULL);

                if (wait_scale_is_from_before(&c->scale, key))
                        continue;
                c->run->waited_ns += c->rows[id - 1].sum.ns;
                n_stacks += key->stack != 0;
        }
        /* A recorder without the right to see call stacks records waits, but not their places. */
        c->run->has_waits &= n_stacks != 0 || !(c->run->waited_ns > 0);
        for (int i = 0; i < 2 && r == 0; i++)
                if (c->callers[i].run)
                        r = add_places(c, &c->callers[i]);
        return r;
}
