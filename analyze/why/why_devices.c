/* SPDX-License-Identifier: MIT */
#include "analyze/why/why.h"
#include "analyze/why/why_device_sums.h"
#include "analyze/why/why_explain.h"
#include "format/trace_dictionary.h"

#include <math.h>

/* Causes that are examined, the largest first: each costs a pass through all rows. */
#define CAUSES_MAX 64

/* A part of the mean time of a slow instance, less that of the others. */
static double extra_of(const struct why *w, const struct why_meanwhile_key *key, double amount)
{
        const struct why_instances *s = &w->collector.instances;
        double n_typical = fmax((double)w->groups[WHY_TYPICAL].n, 1);

        if (!key->is_typical)
                return amount / fmax((double)w->groups[WHY_SLOW].n, 1);
        /* the followed ones are a sample of those that are kept; the rest did not wait */
        return -amount / fmax((double)w->meanwhile.n_typical, 1) * (double)s->n_typical / n_typical;
}

static void judge_cause(const struct why *w, struct why_device_sums *sums, struct why_cause *cause)
{
        const struct why_meanwhile *m = &w->meanwhile;
        uint32_t n_locks = trace_dictionary_count(w->dictionary, TRACE_TABLE_LOCKS);
        double slow_ns = 0;

        for (uint32_t i = 1; i <= m->keys.n_items; i++) {
                const struct why_meanwhile_key *key = intern_get(&m->keys, i, NULL);
                double ns;

                if (!why_device_sums_take(key) || key->level != 0 || key->kind <= n_locks ||
                    w->place_ids[key->kind - n_locks - 1] != cause->id)
                        continue;
                ns = extra_of(w, key, (double)m->amounts[i - 1]);
                slow_ns += fmax(ns, 0);
                why_device_sums_add(sums, key, ns);
        }
        if (slow_ns > cause->share.slow_ns / 2)
                (void)why_device_sums_judge(sums, cause->share.slow_ns - cause->share.typical_ns,
                                            &cause->device);
}

int why_devices_find(struct why *w)
{
        for (size_t i = 0; i < w->n_causes && i < CAUSES_MAX && w->meanwhile.n_devices != 0; i++) {
                struct why_device_sums sums;
                int r;

                if (w->causes[i].kind != WHY_CAUSE_WAIT)
                        continue;
                r = why_device_sums_init(&sums, &w->meanwhile.works);
                if (r == 0)
                        judge_cause(w, &sums, &w->causes[i]);
                why_device_sums_deinit(&sums);
                if (r < 0)
                        return r;
        }
        return 0;
}
