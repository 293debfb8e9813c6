/* SPDX-License-Identifier: MIT */
/*
 * cli/options/ring_trigger.h - "zone:NAME>16ms": what `hyprof record --trigger` waits for
 *
 * Way of the data:  command line -> [ring_trigger] -> zone_trigger
 */
#ifndef CLI_OPTIONS_RING_TRIGGER_H
#define CLI_OPTIONS_RING_TRIGGER_H

#include "analyze/trace/zone_pattern.h"
#include "sampler/tracks/zone_trigger.h"

struct ring_trigger {
        const char *words; /* as it was given; borrowed */
        struct zone_pattern pattern;
        uint64_t longer_than_ns;
};

/* Returns 0, or -EINVAL after a complaint. */
int ring_trigger_init(struct ring_trigger *t, const char *words);
void ring_trigger_deinit(struct ring_trigger *t);

/* Borrows @t. */
struct zone_trigger_rule ring_trigger_rule(const struct ring_trigger *t);

#endif /* CLI_OPTIONS_RING_TRIGGER_H */
