/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/searched_processes.h"

#include "base/array.h"

#include <stdlib.h>

void searched_processes_init(struct searched_processes *s)
{
        *s = (struct searched_processes){ .processes = NULL };
        intern_init(&s->pids, sizeof(uint32_t), SEARCHED_PROCESSES_MAX);
}

void searched_processes_deinit(struct searched_processes *s)
{
        intern_deinit(&s->pids);
        free(s->processes);
        s->processes = NULL;
}

struct searched_process *searched_processes_get(struct searched_processes *s, uint32_t pid)
{
        uint32_t id = 0;
        int r = array_reserve(&s->processes, &s->capacity, (size_t)s->pids.n_items + 1,
                              sizeof(*s->processes));

        if (r == 0)
                r = intern_add(&s->pids, &pid, sizeof(pid), &id);
        if (r < 0 || id == 0)
                return NULL;
        if (r == 1)
                s->processes[id - 1] = (struct searched_process){ .n_searches = 0 };
        return &s->processes[id - 1];
}

void searched_processes_leave(struct searched_processes *s, uint32_t pid)
{
        uint32_t id = intern_find(&s->pids, &pid, sizeof(pid));

        if (id != 0)
                s->processes[id - 1].n_programs++;
}
