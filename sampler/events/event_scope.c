/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_scope.h"

const char *event_scope_name(enum event_scope_kind kind)
{
        static const char *const names[] = { [EVENT_SCOPE_AUTO] = "auto",
                                             [EVENT_SCOPE_CGROUP] = "cgroup",
                                             [EVENT_SCOPE_CPUS] = "cpus",
                                             [EVENT_SCOPE_THREADS] = "threads" };

        return names[kind];
}
