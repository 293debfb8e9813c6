/* SPDX-License-Identifier: MIT */
#include "sampler/event_attr.h"

#include "base/clock.h"
#include "sampler/event_request.h"

#include <time.h>

#define WAKE_WHEN_FULL_SHARE 4
#define WAKE_BYTES_MAX       (UINT32_C(1) << 21) /* what was written is still in a cache when it is read */

uint64_t event_attr_clock_period_ns(uint64_t rate_hz)
{
        return NS_PER_S / rate_hz;
}

static uint32_t wake_bytes(size_t ring_bytes)
{
        size_t share_bytes = ring_bytes / WAKE_WHEN_FULL_SHARE;

        return share_bytes < WAKE_BYTES_MAX ? (uint32_t)share_bytes : WAKE_BYTES_MAX;
}

static struct perf_event_attr common_attr(const struct event_attr_options *options)
{
        return (struct perf_event_attr){
                .size = sizeof(struct perf_event_attr),
                .sample_type = PERF_RECORD_SAMPLE_TYPE,
                .sample_id_all = 1,
                /*
                 * Inherited events are never enabled later: a thread that is born meanwhile can inherit the old state,
                 * and as the kernel exchanges the events of threads that inherited from each other, all would end with that.
                 */
                .disabled = options->enable_on_exec || options->disabled,
                .enable_on_exec = options->enable_on_exec,
                .inherit = options->inherit,
                .inherit_thread = options->inherit && options->threads_only,
                .use_clockid = 1,
                .clockid = CLOCK_MONOTONIC_RAW,
                .watermark = 1,
        };
}

struct perf_event_attr event_attr_of_spec(const struct event_attr_options *options, size_t i)
{
        const struct event_request *request = options->request;
        const struct event_spec *spec = &request->specs[i];
        struct perf_event_attr attr = common_attr(options);

        if (options->single)
                attr.inherit = attr.inherit_thread = false;
        attr.exclude_idle = options->cpu_wide && spec->is_clock; /* counters of some machines refuse it */
        attr.type = spec->type;
        attr.config = spec->config;
        attr.config1 = spec->config1;
        attr.config2 = spec->config2;
        if (request->rate_hz == 0) {
                attr.sample_period = request->period;
        } else if (spec->is_clock) {
                attr.sample_period = event_attr_clock_period_ns(request->rate_hz);
        } else {
                attr.freq = 1;
                attr.sample_freq = request->rate_hz;
        }
        attr.exclude_user = spec->exclude_user;
        attr.exclude_kernel = spec->exclude_kernel;
        attr.exclude_callchain_kernel = spec->exclude_kernel;
        attr.exclude_hv = 1;
        attr.context_switch = options->switches && i == 0; /* once is enough */
        attr.read_format = PERF_FORMAT_LOST;
        attr.wakeup_watermark = wake_bytes(options->ring_bytes);
        stack_unwinder_fill_attr(&options->unwinder, &attr);
        return attr;
}

struct perf_event_attr event_attr_of_tracker(const struct event_attr_options *options)
{
        struct perf_event_attr attr = common_attr(options);

        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.exclude_kernel = 1; /* no sample ever comes from it: the least rights will do */
        attr.mmap = 1;
        attr.mmap2 = 1;
        attr.mmap_data = 1; /* the clients' regions are data */
        attr.comm = 1;
        attr.comm_exec = 1;
        attr.task = 1;
        attr.build_id = options->build_ids;
        attr.read_format = PERF_FORMAT_LOST;
        attr.wakeup_watermark = 1;
        return attr;
}

struct perf_record_layout event_attr_layout(const struct event_attr_options *options)
{
        struct perf_event_attr attr = event_attr_of_spec(options, 0);

        return (struct perf_record_layout){ .sample_type = attr.sample_type,
                                            .read_format = attr.read_format,
                                            .user_registers = attr.sample_regs_user };
}
