/* SPDX-License-Identifier: MIT */
#include "sampler/stack_unwinder.h"

#include <linux/perf_event.h>

void stack_unwinder_fill_attr(const struct stack_unwinder_options *options, struct perf_event_attr *attr)
{
        (void)options;
        attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
}
