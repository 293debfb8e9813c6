/* SPDX-License-Identifier: MIT */
#include "sampler/events/doorbell_calm.h"

/* A process that maps several files as it starts is no pool yet. */
static void note_urgent(struct doorbell_calm *c, uint32_t pid, uint64_t now_ns)
{
        size_t oldest = c->n_mappers % DOORBELL_CALM_PIDS;

        c->n_urgent++;
        c->urgent_ns = now_ns;
        for (size_t i = 0; i < DOORBELL_CALM_PIDS; i++) {
                if (c->mappers[i].pid != pid)
                        continue;
                if (now_ns - c->mappers[i].first_ns >= DOORBELL_CALM_WINDOW_NS)
                        c->pool_ns = now_ns + DOORBELL_CALM_POOL_NS;
                return;
        }
        c->mappers[oldest].pid = pid;
        c->mappers[oldest].first_ns = now_ns;
        c->n_mappers++;
}

void doorbell_calm_note(struct doorbell_calm *c, uint32_t pid, bool is_urgent, uint64_t now_ns)
{
        c->n_mappings++;
        if (is_urgent)
                note_urgent(c, pid, now_ns);
}

bool doorbell_calm_decide(struct doorbell_calm *c, unsigned n_rings, uint64_t now_ns)
{
        bool is_pool = now_ns < c->pool_ns;

        c->n_vain += n_rings > c->n_urgent ? n_rings - c->n_urgent : 0;
        c->n_urgent = 0;
        if (!c->silent && c->n_vain > DOORBELL_CALM_VAIN_MAX && !is_pool) {
                c->silent = true;
        } else if (now_ns - c->window_ns < DOORBELL_CALM_WINDOW_NS) {
                if (is_pool)
                        c->silent = false;
                return c->silent;
        } else if (c->n_mappings <= DOORBELL_CALM_VAIN_MAX || is_pool) {
                c->silent = false;
        }
        c->window_ns = now_ns;
        c->n_vain = 0;
        c->n_mappings = 0;
        return c->silent;
}

int doorbell_calm_wait_ms(const struct doorbell_calm *c, uint64_t now_ns)
{
        if (!c->silent)
                return -1;
        return c->urgent_ns != 0 && now_ns - c->urgent_ns < DOORBELL_CALM_URGENT_NS ? DOORBELL_CALM_URGENT_MS
                                                                                    : DOORBELL_CALM_POLL_MS;
}
