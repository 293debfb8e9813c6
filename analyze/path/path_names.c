/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_names.h"

#include "analyze/path/path_spins.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function further outwards that is named after barriers does not wait at one itself. */
#define BARRIER_FRAMES_MAX 8

/* Compared as bytes. */
struct group_key {
        uint32_t name, program;
};

/* ------------------------------------------------------------------ groups */

/* By process - 1: the string that is the name of its first thread. */
static uint32_t *find_programs(const struct loaded_trace *trace)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_PROCESSES);
        uint32_t *programs = calloc((size_t)n + 1, sizeof(*programs));

        for (uint32_t id = 1; id <= trace->n_threads && programs; id++) {
                uint32_t process = trace_dictionary_process_of(trace->dictionary, id);

                if (process != 0 && programs[process - 1] == 0)
                        programs[process - 1] = trace->thread_names[id - 1];
        }
        return programs;
}

static int add_thread(struct path_names *n, const uint32_t *programs, uint32_t *last_process, uint32_t id)
{
        uint32_t process = trace_dictionary_process_of(n->trace->dictionary, id), group;
        const struct group_key key = { .name = n->trace->thread_names[id - 1],
                                       .program = process != 0 ? programs[process - 1] : 0 };
        int r = intern_add_row(&n->group_keys, &key, &n->groups, &n->groups_capacity, sizeof(*n->groups),
                               &group);
        struct path_group *g;

        if (r < 0)
                return r;
        g = &n->groups[group - 1];
        if (g->n_threads++ == 0)
                *g = (struct path_group){
                        .name = key.name, .program = key.program, .first = id, .n_threads = 1
                };
        if (last_process[group - 1] !=
            process) /* a count of changes: exact where processes' threads are together */
                g->n_processes++;
        last_process[group - 1] = process;
        n->group_of[id - 1] = group;
        return 0;
}

static int find_groups(struct path_names *n)
{
        uint32_t *programs = find_programs(n->trace);
        uint32_t *last_process = calloc((size_t)n->n_threads + 1, sizeof(*last_process));
        int r = programs && last_process ? 0 : -ENOMEM;

        for (uint32_t id = 1; id <= n->n_threads && r == 0; id++)
                r = add_thread(n, programs, last_process, id);
        free(programs);
        free(last_process);
        return r;
}

/* ------------------------------------------------------------------ the object */

int path_names_init(struct path_names *n, const struct loaded_trace *trace)
{
        int r;

        *n = (struct path_names){ .trace = trace,
                                  .n_threads = trace->n_threads,
                                  .n_stacks = trace_dictionary_count(trace->dictionary, TRACE_TABLE_STACKS) };
        intern_init(&n->group_keys, sizeof(struct group_key), 0);
        intern_init(&n->items, sizeof(struct path_place), 0);
        n->group_of = calloc((size_t)n->n_threads + 1, sizeof(*n->group_of));
        n->place_of = calloc((size_t)n->n_stacks + 1, sizeof(*n->place_of));
        r = wait_places_init(&n->places, trace->dictionary);
        if (r == 0 && (!n->group_of || !n->place_of))
                r = -ENOMEM;
        return r == 0 ? find_groups(n) : r;
}

void path_names_deinit(struct path_names *n)
{
        wait_places_deinit(&n->places);
        python_stacks_deinit(&n->python);
        intern_deinit(&n->group_keys);
        intern_deinit(&n->items);
        free(n->groups);
        free(n->group_of);
        free(n->place_of);
        free(n->saved);
        *n = (struct path_names){ .groups = NULL };
}

int path_names_fold(struct path_names *n)
{
        int r = n->python.innermost ? 0 : python_stacks_init(&n->python, n->trace->dictionary);

        return r == 0 ? wait_places_fold(&n->places, &n->python) : r;
}

/* ------------------------------------------------------------------ places */

struct text_view path_names_function(const struct path_names *n, uint32_t label, enum function_kind *ret_kind)
{
        const struct function *f;

        *ret_kind = FUNCTION_NO_CALLSTACK;
        if (label == 0)
                return (struct text_view){ .n_bytes = 0 };
        f = function_table_get(&n->places.functions, label);
        *ret_kind = (enum function_kind)f->kind;
        return trace_dictionary_text(n->trace->dictionary, f->name);
}

/* "spin_wait", "wait_spin", "SpinLock"; not "spindle". */
static bool contains_spin(struct text_view name)
{
        for (size_t i = 0; i + 4 <= name.n_bytes; i++)
                if (strncasecmp(name.bytes + i, "spin", 4) == 0 &&
                    (i + 4 == name.n_bytes || !islower((unsigned char)name.bytes[i + 4])))
                        return true;
        return false;
}

/* Whether code of this function runs in order to wait; the names are those of known libraries. */
static bool is_spin_name(struct text_view name)
{
        static const char *const beginnings[] = { "sched_yield",
                                                  "__sched_yield",
                                                  "native_queued_spin_lock_slowpath",
                                                  "queued_spin_lock_slowpath",
                                                  "do_spin",
                                                  "gomp_barrier_wait",
                                                  "gomp_team_barrier_wait",
                                                  "__kmp_wait",
                                                  "__kmp_fork_barrier",
                                                  "__kmp_join_barrier",
                                                  "__kmp_hyper_barrier",
                                                  "mutex_spin_on_owner",
                                                  "rwsem_spin_on_owner",
                                                  "osq_lock",
                                                  "cpu_relax",
                                                  NULL };

        return text_view_begins_with_any(name, beginnings);
}

/* The kernel takes its own short locks all the time: only the names above count there. */
static bool spins(const struct path_names *n, uint32_t label, bool is_kernel)
{
        enum function_kind kind;
        struct text_view name = path_names_function(n, label, &kind);

        return label != 0 && kind == FUNCTION_NAMED &&
               (is_spin_name(name) || (!is_kernel && contains_spin(name)));
}

bool path_names_spins(const struct path_names *n, uint32_t stack, const struct path_place *place)
{
        return place->spins != 0 || (n->spins && path_spins_has(n->spins, stack));
}

/* "pthread_barrier_wait", "std::sync::Barrier::wait", "gomp_team_barrier_wait_end" */
static bool is_barrier(struct text_view name)
{
        static const char word[] = "barrier";

        for (size_t i = 0; i + strlen(word) <= name.n_bytes; i++)
                if (strncasecmp(name.bytes + i, word, strlen(word)) == 0)
                        return true;
        return false;
}

static bool meets(const struct path_names *n, const struct wait_place *place)
{
        for (uint32_t i = 0; i < place->n_labels && i < BARRIER_FRAMES_MAX; i++) {
                enum function_kind kind;

                if (is_barrier(path_names_function(n, place->labels[i], &kind)) && kind == FUNCTION_NAMED)
                        return true;
        }
        return false;
}

static struct path_place describe(const struct path_names *n, uint32_t kept)
{
        struct path_place place = { .own = 0 };
        struct wait_place found;
        uint32_t own;

        wait_places_get(&n->places, kept, &found);
        own = wait_places_find_own(&n->places, &found);
        place.kernel = found.kernel_label;
        if (own < found.n_labels)
                place.own = found.labels[own];
        else if (found.n_labels != 0)
                place.own = found.labels[0];
        else
                place.own = found.kernel_label;
        place.call = own < found.n_labels ? wait_places_find_call(&n->places, &found) : 0;
        place.spins = spins(n, place.own, found.n_labels == 0) || spins(n, place.call, false) ||
                      spins(n, place.kernel, true) ||
                      (found.n_labels != 0 && spins(n, found.labels[0], false));
        place.meets = meets(n, &found);
        return place;
}

int path_names_place(struct path_names *n, uint32_t stack, uint32_t *ret_id)
{
        struct path_place place;
        uint32_t kept;
        int r;

        if (stack > n->n_stacks)
                stack = 0;
        *ret_id = n->place_of[stack];
        if (*ret_id != 0)
                return 0;
        r = wait_places_add(&n->places, stack, 0, &kept);
        if (r < 0)
                return r;
        place = describe(n, kept);
        r = intern_add(&n->items, &place, sizeof(place), ret_id);
        if (r >= 0)
                n->place_of[stack] = *ret_id;
        return r < 0 ? r : 0;
}
