/* SPDX-License-Identifier: MIT */
#include "analyze/walk/name_times.h"

#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

void name_times_init(struct name_times *n)
{
        *n = (struct name_times){ .n_marks = 0 };
        intern_init(&n->keys, sizeof(struct name_time_key), 0);
}

void name_times_deinit(struct name_times *n)
{
        intern_deinit(&n->keys);
        free(n->rows);
        free(n->marks);
        *n = (struct name_times){ .n_marks = 0 };
}

static int reserve_marks(struct name_times *n, uint32_t n_threads)
{
        return array_reach(&n->marks, &n->marks_capacity, &n->n_marks, n_threads, sizeof(*n->marks));
}

static uint64_t since(uint64_t now, uint64_t before)
{
        return now > before ? now - before : 0;
}

/* Adds the thread's time and samples since its last change of name to the name that it had then. */
static int add(struct name_times *n, const struct trace_walk *walk, const struct walked_thread *thread,
               uint64_t time_ns, uint64_t on_cpu_ns)
{
        struct name_times_mark *mark = &n->marks[thread->id - 1];
        struct name_time_key key = { .thread = thread->id, .name = thread->timeline.name };
        uint64_t first_ns = mark->n_names != 0 ? mark->at_ns : thread->timeline.first_ns;
        struct name_time *row;
        uint32_t id = intern_find(&n->keys, &key, sizeof(key));
        bool is_new = id == 0;
        int r;

        if (is_new && mark->n_names >= NAME_TIMES_PER_THREAD)
                key.name = 0;
        r = intern_add_row(&n->keys, &key, &n->rows, &n->rows_capacity, sizeof(*n->rows), &id);
        if (r < 0)
                return r;
        row = &n->rows[id - 1];
        if (row->last_ns == 0 || (walk->filter && row->last_ns <= walk->filter->from_ns))
                row->first_ns = first_ns;
        row->last_ns = time_ns;
        row->on_cpu_ns += since(on_cpu_ns, mark->on_cpu_ns);
        row->n_samples += thread->n_samples - mark->n_samples;
        *mark = (struct name_times_mark){ .at_ns = time_ns,
                                          .on_cpu_ns = on_cpu_ns,
                                          .n_samples = thread->n_samples,
                                          .n_names = mark->n_names + (is_new && key.name != 0) };
        return 0;
}

int name_times_end(struct name_times *n, const struct trace_walk *walk, const struct walked_thread *thread,
                   uint64_t time_ns)
{
        int r = thread->timeline.name != 0 ? reserve_marks(n, walk->n_threads) : 0;

        if (r < 0 || thread->timeline.name == 0)
                return r;
        return add(n, walk, thread, time_ns, trace_walk_ran_so_far_ns(walk, thread, time_ns));
}

int name_times_finish(struct name_times *n, const struct trace_walk *walk)
{
        int r = 0;

        for (uint32_t i = 0; i < n->n_marks && r == 0; i++) {
                const struct walked_thread *thread = &walk->threads[i];

                if (n->marks[i].n_names != 0)
                        r = add(n, walk, thread, thread->timeline.last_ns, trace_walk_ran_ns(walk, thread));
        }
        return r;
}
