/* SPDX-License-Identifier: MIT */
#include "analyze/cores/idle_steps.h"

#include <errno.h>
#include <stdlib.h>

/* Compared as bytes. */
struct unsplit_key {
        uint32_t step, row;
};

int idle_steps_begin(struct idle_steps *s, uint32_t n_steps, uint64_t begin_ns, uint64_t end_ns,
                     double moment_ns)
{
        double length_ns = end_ns > begin_ns ? (double)(end_ns - begin_ns) : 1;
        double n = fmin(fmin(n_steps, IDLE_STEPS_MAX),
                        length_ns / fmax(moment_ns, 1) / IDLE_STEP_MOMENTS_MIN);

        s->n_steps = (uint32_t)fmax(n, 1);
        s->begin_ns = begin_ns;
        s->step_ns = length_ns / s->n_steps;
        s->steps = calloc(s->n_steps, sizeof(*s->steps));
        intern_init(&s->keys, sizeof(struct unsplit_key), 0);
        return s->steps ? 0 : -ENOMEM;
}

void idle_steps_deinit(struct idle_steps *s)
{
        intern_deinit(&s->keys);
        free(s->steps);
        free(s->unsplit);
        *s = (struct idle_steps){ .steps = NULL };
}

static uint32_t step_at(const struct idle_steps *s, uint64_t time_ns)
{
        double n = time_ns > s->begin_ns ? floor((double)(time_ns - s->begin_ns) / s->step_ns) : 0;

        return (uint32_t)fmin(n, s->n_steps - 1);
}

void idle_steps_add_moment(struct idle_steps *s, uint64_t time_ns, uint32_t n_running)
{
        struct idle_step *step;

        if (!s->steps)
                return;
        step = &s->steps[step_at(s, time_ns)];
        step->n_moments++;
        step->running += n_running;
}

void idle_steps_add(struct idle_steps *s, uint64_t time_ns, enum idle_cause cause, double cores)
{
        if (s->steps)
                s->steps[step_at(s, time_ns)].cores[cause] += cores;
}

int idle_steps_keep(struct idle_steps *s, uint64_t time_ns, uint32_t row, double cores)
{
        struct unsplit_key key = { .row = row };
        uint32_t id;
        int r;

        if (!s->steps)
                return 0;
        key.step = step_at(s, time_ns);
        r = intern_add_row(&s->keys, &key, &s->unsplit, &s->unsplit_capacity, sizeof(*s->unsplit), &id);
        if (r >= 0)
                s->unsplit[id - 1] += cores;
        return r < 0 ? r : 0;
}

/* The sum up to each step is rounded, so the quota has the same part of the steps as of the row. */
void idle_steps_split(struct idle_steps *s, uint32_t row, enum idle_cause cause, double part)
{
        double sum = 0, given = 0;

        for (uint32_t id = 1; id <= s->keys.n_items; id++) {
                const struct unsplit_key *key = intern_get(&s->keys, id, NULL);
                double cores = s->unsplit[id - 1], quota;

                if (key->row != row)
                        continue;
                sum += cores;
                quota = idle_steps_round(sum * part) - given;
                given += quota;
                s->steps[key->step].cores[IDLE_QUOTA] += quota;
                s->steps[key->step].cores[cause] += cores - quota;
        }
}
