/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_range.h"

#include "analyze/path/past.h"
#include "analyze/path/path.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "format/trace_dictionary.h"

#include <stdbool.h>

/* Before a range of time, this much more is read: STATES chunks do not say which locks are held in it. */
#define BEFORE_NS  UINT64_C(1000000000)
#define NEAR_NS    UINT64_C(20000000)
#define NEAR_TIMES 8

static uint64_t sum_or_max(uint64_t a, uint64_t b)
{
        return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

uint64_t path_range_near_ns(const struct path_request *request)
{
        return request->has_at ? NEAR_NS : 0;
}

uint64_t path_range_wider_ns(uint64_t near_ns, const struct loaded_trace *trace)
{
        return near_ns < trace->end_ns - trace->start_ns ? near_ns * NEAR_TIMES : 0;
}

struct path_range path_range_choose(const struct path_request *request, const struct trace_filter *filter,
                                    const struct loaded_trace *trace, uint64_t near_ns)
{
        bool has_locks = trace_dictionary_count(trace->dictionary, TRACE_TABLE_LOCKS) != 0;
        uint64_t before_ns = near_ns + (near_ns == 0 || has_locks ? BEFORE_NS : 0);
        uint64_t from_ns = near_ns != 0 ? request->at_ns : filter->from_ns;
        struct path_range range = {
                .from_ns = from_ns > trace->start_ns + before_ns ? from_ns - before_ns : 0,
                .until_ns = sum_or_max(request->has_at ? request->at_ns : filter->to_ns, PAST_LATE_NS),
        };

        if (near_ns != 0 && sum_or_max(request->at_ns, near_ns) < trace->end_ns)
                range.stop_ns = request->at_ns + near_ns;
        return range;
}
