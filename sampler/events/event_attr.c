/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_attr.h"
#include "sampler/kernel/unwind_request.h"

#include "base/clock.h"
#include "sampler/events/event_request.h"
#include "sampler/pace/pace.h"

#include <time.h>

/* The result of read(2) for each event; the times show whether it shared a counter. */
#define READ_FORMAT (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST)

/* The usual rates of the timers that programs use, in ticks a second. */
static const uint64_t timer_rates_hz[] = { 10000, 8000, 5000, 4000, 2000, 1000, 500, 250, 200, 144, 120,
                                           100,   60,   50,   30,   25,   24,   20,  10,  5,   2,   1 };

#define POINTS  10   /* of a timer's period: samples that meet no more than these are in step */
#define STEP    4096 /* candidate periods are 1/STEP of the period apart */
#define STEPS   40   /* about one percent */
#define NEAR_BY 400  /* in step: off by less than 1/NEAR_BY of a timer's period */

/*
 * If samples of period p are in step with a timer of period T after b samples (b p is a multiple of T),
 * they meet only b points of T.  Being slightly out of step does not help: 1,000,003 ns, a prime, creeps
 * past a period of a millisecond in five minutes, and until then meets one and the same point.  So after
 * each small number of samples the distance has to be large; then 1 / distance samples have seen all of T.
 */
static bool is_in_step(uint64_t period_ns, uint64_t timer_hz)
{
        uint64_t timer_ns = NS_PER_S / timer_hz;

        /* Samples meet more points than that of the period of a slower timer in any case. */
        for (uint64_t b = 1; b <= POINTS && timer_ns <= POINTS * period_ns; b++) {
                uint64_t rest_ns = b * period_ns % timer_ns;

                if (rest_ns < timer_ns / NEAR_BY || timer_ns - rest_ns < timer_ns / NEAR_BY)
                        return true;
        }
        return false;
}

static bool is_in_step_with_any(uint64_t period_ns)
{
        for (size_t i = 0; i < sizeof(timer_rates_hz) / sizeof(timer_rates_hz[0]); i++)
                if (is_in_step(period_ns, timer_rates_hz[i]))
                        return true;
        return false;
}

uint64_t event_attr_clock_period_ns(uint64_t rate_hz)
{
        uint64_t wanted_ns = (NS_PER_S + rate_hz / 2) / rate_hz;

        /*
         * Tries the nearest periods first, longer before shorter, to take no more samples than were asked
         * for.
         */
        for (uint64_t i = 0; i <= STEPS; i++) {
                uint64_t apart_ns = wanted_ns * i / STEP;

                if (!is_in_step_with_any(wanted_ns + apart_ns))
                        return wanted_ns + apart_ns;
                if (!is_in_step_with_any(wanted_ns - apart_ns))
                        return wanted_ns - apart_ns;
        }
        return wanted_ns;
}

static uint32_t wake_bytes(size_t ring_bytes)
{
        size_t share_bytes = ring_bytes / PACE_RING_WAKE_SHARE;

        return share_bytes < PACE_RING_WAKE_MAX_BYTES ? (uint32_t)share_bytes : PACE_RING_WAKE_MAX_BYTES;
}

static struct perf_event_attr common_attr(const struct event_attr_options *options)
{
        return (struct perf_event_attr){
                .size = sizeof(struct perf_event_attr),
                .sample_type = PERF_RECORD_SAMPLE_TYPE,
                .sample_id_all = 1,
                /*
                 * Inherited events are never enabled later: a thread that starts meanwhile can inherit the
                 * disabled state, and since the kernel exchanges the events of threads that inherited from
                 * each other, all of them would end up disabled.
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

/*
 * Sets how often a sample is taken; totals, and members that are read with their leader, have no samples.
 */
static void set_rate(const struct event_request *request, const struct event_spec *spec,
                     struct perf_event_attr *attr)
{
        if (spec->only_counts)
                return;
        if (spec->role != EVENT_ROLE_SAMPLES || (spec->is_tracepoint && request->rate_is_default)) {
                attr->sample_period = 1;
        } else if (request->rate_hz == 0) {
                attr->sample_period = request->period;
        } else if (spec->is_clock) {
                attr->sample_period = event_attr_clock_period_ns(request->rate_hz);
        } else {
                attr->freq = 1;
                attr->sample_freq = request->rate_hz;
        }
}

/* Switches are reported once on each CPU, by the first sampling event there. */
static bool is_first_on_its_cpus(const struct event_request *request, size_t spec)
{
        const struct event_spec *one = &request->specs[spec];

        for (size_t i = 0; i < spec; i++) {
                const struct event_spec *other = &request->specs[i];

                if (other->only_counts)
                        continue;
                if (!one->on_some_cpus || !other->on_some_cpus)
                        return false;
                for (size_t word = 0; word < EVENT_SPEC_CPUS_MAX / 64; word++)
                        if (one->cpus[word] & other->cpus[word])
                                return false;
        }
        return !one->only_counts;
}

/*
 * If one event needs the raw bytes of its tracepoint, the records of all events have them: all are laid out
 * alike.
 */
static bool needs_raw_bytes(const struct event_request *request)
{
        for (size_t i = 0; i < request->n_specs; i++)
                if (request->specs[i].role == EVENT_ROLE_WAKERS || request->specs[i].is_syscall)
                        return true;
        return false;
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
        set_rate(request, spec, &attr);
        attr.precise_ip = spec->precise & 3u;
        attr.exclude_user = spec->exclude_user;
        attr.exclude_kernel = spec->exclude_kernel;
        attr.exclude_hv = spec->type < PERF_TYPE_MAX; /* PMUs that tell nothing apart refuse it */
        attr.context_switch = options->switches && is_first_on_its_cpus(request, i);
        attr.read_format = READ_FORMAT;
        if (event_request_reads_groups(request)) {
                attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
                attr.sample_type |= PERF_SAMPLE_READ;
        }
        if (needs_raw_bytes(request))
                attr.sample_type |= PERF_SAMPLE_RAW;
        if (spec->leader != i) { /* it begins when its leader does */
                attr.disabled = 0;
                attr.enable_on_exec = 0;
        }
        attr.wakeup_watermark = wake_bytes(options->ring_bytes);
        unwind_request_fill_attr(&options->unwinder, &attr);
        return attr;
}

struct perf_event_attr event_attr_of_tracker(const struct event_attr_options *options)
{
        struct perf_event_attr attr = common_attr(options);

        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.exclude_kernel = 1; /* the event never takes samples: the least rights are enough */
        attr.mmap = 1;
        attr.mmap2 = 1;
        attr.mmap_data = options->data;
        attr.comm = 1;
        attr.comm_exec = 1;
        attr.task = 1;
        attr.build_id = options->build_ids;
        attr.read_format = READ_FORMAT;
        attr.wakeup_watermark = options->tracker_ring_bytes ? wake_bytes(options->tracker_ring_bytes) : 1;
        return attr;
}

struct perf_event_attr event_attr_of_kernel_code(const struct event_attr_options *options)
{
        struct perf_event_attr attr = common_attr(options);

        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.exclude_kernel = 1;
        attr.disabled = attr.enable_on_exec = attr.inherit = attr.inherit_thread = 0;
        attr.ksymbol = 1;
        attr.wakeup_watermark = options->tracker_ring_bytes ? wake_bytes(options->tracker_ring_bytes) : 1;
        return attr;
}

/* Small records: no times, no build-ids. */
struct perf_event_attr event_attr_of_doorbell(const struct event_attr_options *options)
{
        struct perf_event_attr attr = common_attr(options);

        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.sample_type = 0;
        attr.sample_id_all = 0;
        attr.exclude_kernel = 1;
        attr.mmap = 1;
        attr.task = 1;
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
