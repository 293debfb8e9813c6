/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_device_sums.h - which work of which device has most of a wait
 *
 * Way of the data:  rows of why_meanwhile -> [why_device_sums] -> steps of why
 *
 * Memory: 24 bytes for each name of a work.  Not thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_DEVICE_SUMS_H
#define ANALYZE_WHY_WHY_DEVICE_SUMS_H

#include "analyze/why/why_meanwhile.h"

#include <stdbool.h>
#include <stdint.h>

struct why_step;

/* Zero-initialised is valid: nothing can be added. */
struct why_device_sums {
        const struct device_works *works; /* borrowed */
        double *ns;                       /* heap; by id of the works' names - 1, and what the device did */
        double all_ns;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int why_device_sums_init(struct why_device_sums *s, const struct device_works *works);
void why_device_sums_deinit(struct why_device_sums *s);

static inline bool why_device_sums_take(const struct why_meanwhile_key *key)
{
        return key->doing >= WHY_MEANWHILE_DEVICE;
}

/* @ns: may be below 0, where sums are differences */
void why_device_sums_add(struct why_device_sums *s, const struct why_meanwhile_key *key, double ns);

/* Fills @ret, and returns true, if one device has more than half of @wait_ns. */
bool why_device_sums_judge(const struct why_device_sums *s, double wait_ns, struct why_step *ret);

#endif /* ANALYZE_WHY_WHY_DEVICE_SUMS_H */
