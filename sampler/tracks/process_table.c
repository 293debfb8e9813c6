/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/process_table.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/pace/pace.h"
#include "sampler/tracks/thread_track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void **map_slot(const struct track_map *map, uint32_t id)
{
        return &map->tracks[id - 1];
}

/* Finds the slot for a number; every number that was ever seen keeps its slot. */
static int map_add(struct track_map *map, uint32_t number, void ***ret_slot)
{
        uint32_t id = 0;
        int r = array_reserve(&map->tracks, &map->capacity, (size_t)map->numbers.n_items + 1,
                              sizeof(*map->tracks));

        if (r == 0)
                r = intern_add(&map->numbers, &number, sizeof(number), &id);
        if (r < 0)
                return r;
        if (r == 1)
                *map_slot(map, id) = NULL;
        *ret_slot = map_slot(map, id);
        return 0;
}

static void *map_find(const struct track_map *map, uint32_t number)
{
        uint32_t id = intern_find(&map->numbers, &number, sizeof(number));

        return id ? *map_slot(map, id) : NULL;
}

static void map_remove(const struct track_map *map, uint32_t number)
{
        uint32_t id = intern_find(&map->numbers, &number, sizeof(number));

        if (id)
                *map_slot(map, id) = NULL;
}

static void map_init(struct track_map *map)
{
        *map = (struct track_map){ .capacity = 0 };
        intern_init(&map->numbers, sizeof(uint32_t), 0);
}

static void map_deinit(struct track_map *map)
{
        intern_deinit(&map->numbers);
        free(map->tracks);
        map_init(map);
}

void process_table_init(struct process_table *t, struct trace_dictionary *dictionary)
{
        *t = (struct process_table){ .dictionary = dictionary };
        number_bitmap_init(&t->seen);
        number_bitmap_init(&t->ended);
}

static void thread_free(struct thread_track *thread)
{
        if (!thread)
                return;
        thread_track_deinit(thread);
        free(thread);
}

void process_table_forget_fibers(struct process_table *t, struct process_track *process)
{
        for (uint32_t id = 1; id <= process->fibers.numbers.n_items; id++) {
                struct thread_track *fiber = *map_slot(&process->fibers, id);

                t->n_fibers -= fiber != NULL;
                thread_free(fiber);
        }
        map_deinit(&process->fibers);
}

int process_track_map(struct process_track *process, const struct address_range *range, uint64_t time_ns)
{
        int r = address_space_covers(&process->space, range)
                        ? earlier_spaces_keep(&process->earlier, &process->space, time_ns)
                        : 0;

        return r < 0 ? r : address_space_add(&process->space, range);
}

int process_track_exec(struct process_track *process, uint64_t time_ns)
{
        int r = earlier_spaces_keep(&process->earlier, &process->space, time_ns);

        address_space_clear(&process->space);
        return r;
}

static void process_free(struct process_table *t, struct process_track *process)
{
        if (!process)
                return;
        process_table_forget_fibers(t, process);
        map_deinit(&process->own_threads);
        address_space_deinit(&process->space);
        earlier_spaces_deinit(&process->earlier);
        free(process);
}

void process_table_deinit(struct process_table *t)
{
        size_t at = 0;

        for (struct thread_track *thread; (thread = number_map_next(&t->threads, &at)) != NULL;)
                thread_free(thread);
        at = 0;
        for (struct process_track *process; (process = number_map_next(&t->processes, &at)) != NULL;)
                process_free(t, process);
        number_map_deinit(&t->threads);
        number_map_deinit(&t->processes);
        number_bitmap_deinit(&t->seen);
        number_bitmap_deinit(&t->ended);
        free(t->pids);
        free(t->listed);
}

struct process_track *process_table_find_process(const struct process_table *t, uint32_t pid)
{
        return number_map_find(&t->processes, pid);
}

struct process_track *process_table_find_id(const struct process_table *t, uint32_t process)
{
        struct process_track *track = process > 0 && process <= t->pids_capacity
                                              ? number_map_find(&t->processes, t->pids[process - 1])
                                              : NULL;

        return track && track->process == process ? track : NULL;
}

bool process_table_has_seen(const struct process_table *t, uint32_t pid)
{
        return number_bitmap_has(&t->seen, pid);
}

struct thread_track *process_table_find_thread(const struct process_table *t, uint32_t tid)
{
        return number_map_find(&t->threads, tid);
}

bool process_table_has_ended(const struct process_table *t, uint32_t tid)
{
        return number_bitmap_has(&t->ended, tid);
}

static struct ended_thread *ended_slot(struct process_table *t, uint32_t tid)
{
        return &t->last_ended[tid & (PROCESS_TABLE_ENDED - 1)];
}

const struct ended_thread *process_table_find_ended(const struct process_table *t, uint32_t pid, uint32_t tid,
                                                    uint64_t now_ns)
{
        const struct ended_thread *ended = &t->last_ended[tid & (PROCESS_TABLE_ENDED - 1)];

        if (tid == 0 || ended->tid != tid || ended->pid != pid)
                return NULL;
        return now_ns <= ended->ended_ns + PACE_WAITS_ENDED_NS ? ended : NULL;
}

/* Notes which process has the id of a new row. */
static int note_pid(struct process_table *t, uint32_t process, uint32_t pid)
{
        size_t before = t->pids_capacity;
        int r = array_reserve(&t->pids, &t->pids_capacity, process, sizeof(*t->pids));

        if (r < 0)
                return r;
        if (t->pids_capacity > before)
                memset(t->pids + before, 0, (t->pids_capacity - before) * sizeof(*t->pids));
        t->pids[process - 1] = pid;
        return 0;
}

static int add_process(struct process_table *t, uint32_t pid, uint32_t parent_pid, uint64_t now_ns,
                       struct process_track **ret_process)
{
        struct process_track *parent = parent_pid ? process_table_find_process(t, parent_pid) : NULL;
        struct trace_process row = { .pid = pid, .parent = parent ? parent->process : 0, .start_ns = now_ns };
        struct process_track *process = process_table_find_process(t, pid);
        int r = number_bitmap_add(&t->seen, pid);

        *ret_process = process;
        if (r < 0 || process)
                return r;
        r = number_map_reserve(&t->processes);
        if (r < 0)
                return r;
        process = calloc(1, sizeof(*process));
        if (!process)
                return -ENOMEM;
        process->pid = pid;
        process->stalled_ns = UINT64_MAX;
        process->held_ns = UINT64_MAX;
        address_space_init(&process->space);
        map_init(&process->fibers);
        map_init(&process->own_threads);
        if (parent)
                r = address_space_copy(&process->space, &parent->space);
        if (r == 0)
                r = trace_dictionary_append_new(t->dictionary, TRACE_TABLE_PROCESSES, &row,
                                                &process->process);
        if (r == 0)
                r = note_pid(t, process->process, pid);
        if (r < 0) {
                process_free(t, process);
                return r;
        }
        number_map_put(&t->processes, pid, process);
        *ret_process = process;
        return 0;
}

/* The id of the thread that created another; 0 if it is not recorded. */
static uint32_t creator_of(const struct process_table *t, const struct thread_birth *birth)
{
        uint32_t pid = birth->parent_pid != 0 ? birth->parent_pid : birth->pid;
        const struct thread_track *creator = birth->parent_tid != 0
                                                     ? process_table_find_thread(t, birth->parent_tid)
                                                     : NULL;

        return creator && creator->process->pid == pid ? creator->thread : 0;
}

int process_table_add_born(struct process_table *t, const struct thread_birth *birth,
                           struct thread_track **ret_thread)
{
        struct trace_thread row = { .tid = birth->tid,
                                    .start_ns = birth->time_ns,
                                    .creator = creator_of(t, birth) };
        struct process_track *process = NULL;
        struct thread_track *thread = process_table_find_thread(t, birth->tid);
        int r;

        if (thread) {
                *ret_thread = thread;
                return 0;
        }
        r = number_map_reserve(&t->threads);
        if (r == 0)
                r = add_process(t, birth->pid, birth->parent_pid, birth->time_ns, &process);
        if (r < 0 || !process)
                return r;
        thread = calloc(1, sizeof(*thread));
        if (!thread)
                return -ENOMEM;
        thread->tid = birth->tid;
        thread->process = process;
        row.process = process->process;
        r = trace_dictionary_append_new(t->dictionary, TRACE_TABLE_THREADS, &row, &thread->thread);
        if (r < 0) {
                thread_free(thread);
                return r;
        }
        process->n_threads++;
        process->n_threads_ever++;
        t->n_threads++;
        number_bitmap_remove(&t->ended, birth->tid);
        if (ended_slot(t, birth->tid)->tid == birth->tid)
                *ended_slot(t, birth->tid) = (struct ended_thread){ .tid = 0 };
        number_map_put(&t->threads, birth->tid, thread);
        *ret_thread = thread;
        return 0;
}

int process_table_add_thread(struct process_table *t, uint32_t pid, uint32_t tid, uint32_t parent_pid,
                             uint64_t now_ns, struct thread_track **ret_thread)
{
        const struct thread_birth birth = {
                .pid = pid, .tid = tid, .parent_pid = parent_pid, .time_ns = now_ns
        };

        return process_table_add_born(t, &birth, ret_thread);
}

struct thread_track *process_table_next_thread(const struct process_table *t,
                                               const struct process_track *process, size_t *at)
{
        for (struct thread_track *thread; (thread = number_map_next(&t->threads, at)) != NULL;)
                if (thread->process == process)
                        return thread;
        return NULL;
}

struct thread_track *process_table_find_own(const struct process_track *process, uint32_t own_tid)
{
        return map_find(&process->own_threads, own_tid);
}

int process_table_number_thread(struct thread_track *thread, uint32_t own_tid)
{
        void **slot;
        int r = map_add(&thread->process->own_threads, own_tid, &slot);

        if (r < 0)
                return r;
        thread->own_tid = own_tid;
        *slot = thread;
        return 0;
}

struct thread_track *process_table_find_fiber(const struct process_track *process, uint32_t number)
{
        return map_find(&process->fibers, number);
}

int process_table_add_fiber(struct process_table *t, struct process_track *process, uint32_t number,
                            uint64_t now_ns, struct thread_track **ret_fiber)
{
        struct trace_thread row = {
                .process = process->process, .start_ns = now_ns, .kind = TRACE_THREAD_FIBER, .fiber = number
        };
        struct thread_track *fiber;
        void **slot;
        int r;

        if (t->n_fibers >= PROCESS_TABLE_FIBERS_MAX)
                return -EOVERFLOW;
        r = map_add(&process->fibers, number, &slot);
        if (r < 0)
                return r;
        fiber = calloc(1, sizeof(*fiber));
        if (!fiber)
                return -ENOMEM;
        fiber->process = process;
        r = trace_dictionary_append_new(t->dictionary, TRACE_TABLE_THREADS, &row, &fiber->thread);
        if (r < 0) {
                thread_free(fiber);
                return r;
        }
        t->n_fibers++;
        *slot = fiber;
        *ret_fiber = fiber;
        return 0;
}

int process_table_add_pending(struct process_table *t, struct thread_track *thread,
                              const struct pending_event *event)
{
        int r = thread_track_add_pending(thread, event);

        if (r < 0)
                kept_copy_free(event->copy);
        if (r == 0 && event->closes_zones)
                thread->process->exec_waits = true;
        if (r < 0 || thread->listed)
                return r;
        r = array_reserve(&t->listed, &t->listed_capacity, t->n_listed + 1, sizeof(struct thread_track *));
        if (r < 0)
                return r;
        t->listed[t->n_listed++] = thread;
        thread->listed = true;
        return 0;
}

int process_table_add_sample(struct process_table *t, struct thread_track *thread,
                             const struct pending_event *sample)
{
        return thread->exits ? thread_track_add_last_sample(thread, sample)
                             : process_table_add_pending(t, thread, sample);
}

uint32_t process_table_forget_thread(struct process_table *t, struct thread_track *thread)
{
        struct process_track *process = thread->process;
        uint32_t pid = process->pid;

        (void)number_bitmap_add(&t->ended,
                                thread->tid); /* without memory a late record makes it known again */
        *ended_slot(t, thread->tid) = (struct ended_thread){ .pid = pid,
                                                             .tid = thread->tid,
                                                             .thread = thread->thread,
                                                             .name = thread->name,
                                                             .ended_ns = thread->last_ns };
        number_map_remove(&t->threads, thread->tid);
        if (map_find(&process->own_threads, thread->own_tid) == thread)
                map_remove(&process->own_threads, thread->own_tid);
        thread_free(thread);
        t->n_threads--;
        if (--process->n_threads > 0)
                return 0;
        number_map_remove(&t->processes, pid);
        process_free(t, process);
        return pid;
}

static void visit_all(const struct track_map *tracks,
                      void (*visit)(void *context, const struct thread_track *track), void *context)
{
        for (uint32_t id = 1; id <= tracks->numbers.n_items; id++) {
                const struct thread_track *track = *map_slot(tracks, id);

                if (track)
                        visit(context, track);
        }
}

void process_table_visit(const struct process_table *t,
                         void (*visit)(void *context, const struct thread_track *track), void *context)
{
        size_t at = 0;

        for (struct thread_track *thread; (thread = number_map_next(&t->threads, &at)) != NULL;)
                visit(context, thread);
        at = 0;
        for (struct process_track *process; (process = number_map_next(&t->processes, &at)) != NULL;)
                visit_all(&process->fibers, visit, context);
}
