/* SPDX-License-Identifier: MIT */
#include "sampler/pace/wakeup_throttle.h"

#include "sampler/pace/pace.h"

/* A process that maps several files as it starts is no pool yet. */
static void note_urgent(struct wakeup_throttle *c, uint32_t pid, uint64_t now_ns)
{
        size_t oldest = c->n_mappers % WAKEUP_THROTTLE_PIDS;

        c->n_urgent++;
        c->urgent_ns = now_ns;
        for (size_t i = 0; i < WAKEUP_THROTTLE_PIDS; i++) {
                if (c->mappers[i].pid != pid)
                        continue;
                if (now_ns - c->mappers[i].first_ns >= PACE_BELLS_WINDOW_NS)
                        c->pool_ns = now_ns + PACE_BELLS_POOL_NS;
                return;
        }
        c->mappers[oldest].pid = pid;
        c->mappers[oldest].first_ns = now_ns;
        c->n_mappers++;
}

void wakeup_throttle_note(struct wakeup_throttle *c, uint32_t pid, bool is_urgent, uint64_t now_ns)
{
        c->n_mappings++;
        c->is_unreported = true;
        c->has_urgent |= is_urgent;
        if (is_urgent)
                note_urgent(c, pid, now_ns);
}

bool wakeup_throttle_decide(struct wakeup_throttle *c, unsigned n_rings, uint64_t now_ns)
{
        bool is_pool = now_ns < c->pool_ns;

        c->n_vain += n_rings > c->n_urgent ? n_rings - c->n_urgent : 0;
        c->n_urgent = 0;
        if (!c->silent && c->n_vain > PACE_BELLS_VAIN_MAX && !is_pool) {
                c->silent = true;
        } else if (now_ns - c->window_ns < PACE_BELLS_WINDOW_NS) {
                if (is_pool)
                        c->silent = false;
                return c->silent;
        } else if (c->n_mappings <= PACE_BELLS_VAIN_MAX || is_pool) {
                c->silent = false;
        }
        c->window_ns = now_ns;
        c->n_vain = 0;
        c->n_mappings = 0;
        return c->silent;
}

int wakeup_throttle_wait_ms(const struct wakeup_throttle *c, uint64_t now_ns)
{
        if (!c->silent)
                return -1;
        return c->urgent_ns != 0 && now_ns - c->urgent_ns < PACE_BELLS_URGENT_NS ? PACE_BELLS_URGENT_POLL_MS
                                                                                 : PACE_BELLS_POLL_MS;
}

uint64_t wakeup_throttle_pause_ns(struct wakeup_throttle *c, uint64_t cpu_ns, uint64_t now_ns)
{
        uint64_t pause_ns = (cpu_ns - c->looked_cpu_ns) * PACE_OPENER_PAUSE_TIMES;

        c->looked_cpu_ns = cpu_ns;
        if (now_ns - c->begun_ns >= PACE_OPENER_WINDOW_NS) {
                c->begun_ns = now_ns;
                c->begun_cpu_ns = cpu_ns;
                return 0;
        }
        if (cpu_ns - c->begun_cpu_ns < PACE_OPENER_TIME_NS)
                return 0;
        return pause_ns < PACE_OPENER_PAUSE_MAX_NS ? pause_ns : PACE_OPENER_PAUSE_MAX_NS;
}

bool wakeup_throttle_report(struct wakeup_throttle *c, bool rang, uint64_t now_ns)
{
        if (!rang && !c->has_urgent && (!c->is_unreported || now_ns - c->reported_ns < PACE_OPENER_REPORT_NS))
                return false;
        c->is_unreported = c->has_urgent = false;
        c->reported_ns = now_ns;
        return true;
}
