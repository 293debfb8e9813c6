/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_device_sums.h"

#include "analyze/why/why.h"

#include <errno.h>
#include <stdlib.h>

#define DOINGS (WHY_MEANWHILE_LAUNCH - WHY_MEANWHILE_DEVICE + 1)

int why_device_sums_init(struct why_device_sums *s, const struct device_works *works)
{
        *s = (struct why_device_sums){ .works = works };
        s->ns = calloc((size_t)works->names.n_items * DOINGS + 1, sizeof(*s->ns));
        return s->ns ? 0 : -ENOMEM;
}

void why_device_sums_deinit(struct why_device_sums *s)
{
        free(s->ns);
        s->ns = NULL;
}

void why_device_sums_add(struct why_device_sums *s, const struct why_meanwhile_key *key, double ns)
{
        s->ns[(size_t)(key->stack - 1) * DOINGS + key->doing - WHY_MEANWHILE_DEVICE] += ns;
        s->all_ns += ns;
}

static double sum_of_device(const struct why_device_sums *s, uint32_t device)
{
        double sum = 0;

        for (uint32_t id = 1; id <= s->works->names.n_items; id++) {
                const struct device_work_name *name = intern_get(&s->works->names, id, NULL);

                for (size_t k = 0; k < DOINGS && name->device == device; k++)
                        sum += s->ns[(size_t)(id - 1) * DOINGS + k];
        }
        return sum;
}

/* The largest sum's device has more than half, if one has: unless many works share it. */
static size_t find_largest(const struct why_device_sums *s)
{
        size_t n = (size_t)s->works->names.n_items * DOINGS, best = 0;

        for (size_t i = 1; i < n; i++)
                if (s->ns[i] > s->ns[best])
                        best = i;
        return best;
}

bool why_device_sums_judge(const struct why_device_sums *s, double wait_ns, struct why_step *ret)
{
        const struct device_work_name *name;
        size_t best;

        if (s->works->names.n_items == 0 || !(wait_ns > 0))
                return false;
        best = find_largest(s);
        name = intern_get(&s->works->names, (uint32_t)(best / DOINGS) + 1, NULL);
        if (sum_of_device(s, name->device) <= wait_ns / 2)
                return false;
        *ret = (struct why_step){ .device = name->device, .doing = WHY_DOING_DEVICE };
        if (s->ns[best] > wait_ns / 2) {
                ret->location = name->location;
                ret->doing = (enum why_doing)(WHY_DOING_DEVICE + best % DOINGS);
                ret->ns = (uint64_t)s->ns[best];
        }
        return true;
}
