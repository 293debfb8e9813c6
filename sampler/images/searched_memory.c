/* SPDX-License-Identifier: MIT */
#include "sampler/images/code_images_parts.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

struct sampled_stretch {
        uint32_t pid, reserved;
        uint64_t start_avma;
};

struct sampled_place {
        uint32_t n_samples, n_looks;
};

void sampled_places_init(struct sampled_places *s)
{
        *s = (struct sampled_places){ .places = NULL };
        intern_init(&s->stretches, sizeof(struct sampled_stretch), SAMPLED_PLACES_MAX);
}

void sampled_places_deinit(struct sampled_places *s)
{
        intern_deinit(&s->stretches);
        free(s->places);
        s->places = NULL;
}

int sampled_places_is_due(struct sampled_places *s, uint32_t pid, uint64_t start_avma)
{
        const struct sampled_stretch key = { .pid = pid, .start_avma = start_avma };
        struct sampled_place *place;
        uint32_t id = 0;
        int r = array_reserve(&s->places, &s->capacity, (size_t)s->stretches.n_items + 1, sizeof(*s->places));

        if (r == 0)
                r = intern_add(&s->stretches, &key, sizeof(key), &id);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        place = &s->places[id - 1];
        if (r == 1)
                *place = (struct sampled_place){ .n_samples = 0 };
        place->n_samples++;
        if (place->n_looks == SAMPLED_PLACES_LOOKS_MAX || place->n_samples < UINT32_C(1)
                                                                                     << 3 * place->n_looks)
                return 0;
        place->n_looks++;
        return 1;
}

void sampled_places_restart(struct sampled_places *s, uint32_t pid, uint64_t start_avma)
{
        const struct sampled_stretch key = { .pid = pid, .start_avma = start_avma };
        uint32_t id = intern_find(&s->stretches, &key, sizeof(key));

        if (id != 0)
                s->places[id - 1] = (struct sampled_place){ .n_samples = 0 };
}

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
