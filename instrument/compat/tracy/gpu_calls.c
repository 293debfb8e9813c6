/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/gpu_calls.c - Tracy's functions for GPUs and other queues with clocks of their own
 *
 * Programs make their contexts once, perhaps long before a recording.  So the first and the last facts about
 * the clocks are kept here, and repeated at the first event of each recording.  A name is used if the program
 * gives it before the first recorded event, as Tracy's own helpers do.
 */
#include "instrument/compat/tracy/tracy_api.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES    64
#define SESSION_SHIFT 16 /* of the control word */

struct calibration {
        uint64_t ticks;
        uint64_t host_ns; /* CLOCK_MONOTONIC_RAW; 0 = none */
};

struct gpu_context {
        struct hyprof_device device;
        char name[NAME_BYTES];
        struct calibration first;
        struct calibration last;
        uint32_t session; /* in which the calibrations were told */
};

/* Indexed by the program's numbers.  Contexts that were never made have no name. */
static struct gpu_context contexts[UINT8_MAX + 1];

static struct calibration now_at(int64_t ticks)
{
        return (struct calibration){ .ticks = (uint64_t)ticks, .host_ns = (uint64_t)___tracy_get_time() };
}

/* The device of a context, if it is recorded, else NULL. */
static struct hyprof_device *find_device(uint8_t number)
{
        struct gpu_context *context = &contexts[number];
        uint32_t session = HYPROF_WANTED_(UINT32_MAX) >> SESSION_SHIFT;
        struct calibration last;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_) || !context->name[0])
                return NULL;
        if (__atomic_load_n(&context->session, __ATOMIC_RELAXED) == session ||
            __atomic_exchange_n(&context->session, session, __ATOMIC_ACQ_REL) == session)
                return &context->device;

        last = context->last;
        hyprof_device_calibrate(&context->device, context->first.ticks, context->first.host_ns);
        if (last.host_ns != 0)
                hyprof_device_calibrate(&context->device, last.ticks, last.host_ns);
        return &context->device;
}

void ___tracy_emit_gpu_new_context(struct ___tracy_gpu_new_context_data data)
{
        struct gpu_context *context = &contexts[data.context];

        (void)snprintf(context->name, sizeof(context->name), "GPU context %u", (unsigned)data.context);
        hyprof_device_init(&context->device, context->name, (double)data.period, data.type);
        context->first = now_at(data.gpuTime);
        context->last = (struct calibration){ .host_ns = 0 };
        __atomic_store_n(&context->session, 0, __ATOMIC_RELEASE);
}

void ___tracy_emit_gpu_context_name(struct ___tracy_gpu_context_name_data data)
{
        struct gpu_context *context = &contexts[data.context];
        size_t n = data.len;

        if (!context->name[0] || n == 0 || context->device.location.id != 0)
                return;
        if (n >= NAME_BYTES)
                n = NAME_BYTES - 1;
        memcpy(context->name, data.name, n);
        context->name[n] = '\0';
}

/* Keeps the calibration for the next recording, even if it is reported at once. */
static void calibrate(uint8_t number, int64_t ticks)
{
        struct calibration c = now_at(ticks);
        struct hyprof_device *device = find_device(number);

        contexts[number].last = c;
        if (device)
                hyprof_device_calibrate(device, c.ticks, c.host_ns);
}

void ___tracy_emit_gpu_calibration(struct ___tracy_gpu_calibration_data data)
{
        calibrate(data.context, data.gpuTime);
}

void ___tracy_emit_gpu_time_sync(struct ___tracy_gpu_time_sync_data data)
{
        calibrate(data.context, data.gpuTime);
}

static void begin(uint8_t number, struct hyprof_location *location, uint16_t query, int32_t depth)
{
        struct hyprof_device *device = find_device(number);

        if (device && location)
                hyprof_emit_device_zone_begin(device, location, query, depth > 0 ? (uint32_t)depth : 0);
}

/* NOLINTBEGIN(performance-no-int-to-ptr): Tracy hands on addresses as numbers */
static void begin_static(uint8_t number, uint64_t srcloc, uint16_t query, int32_t depth)
{
        if (HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_))
                begin(number,
                      source_location_find((const struct ___tracy_source_location_data *)(uintptr_t)srcloc),
                      query, depth);
}

static void begin_made(uint8_t number, uint64_t srcloc, uint16_t query, int32_t depth)
{
        begin(number, (struct hyprof_location *)(uintptr_t)srcloc, query, depth);
}
/* NOLINTEND(performance-no-int-to-ptr) */

void ___tracy_emit_gpu_zone_begin(struct ___tracy_gpu_zone_begin_data data)
{
        begin_static(data.context, data.srcloc, data.queryId, 0);
}

void ___tracy_emit_gpu_zone_begin_callstack(struct ___tracy_gpu_zone_begin_callstack_data data)
{
        begin_static(data.context, data.srcloc, data.queryId, data.depth);
}

void ___tracy_emit_gpu_zone_begin_alloc(struct ___tracy_gpu_zone_begin_data data)
{
        begin_made(data.context, data.srcloc, data.queryId, 0);
}

void ___tracy_emit_gpu_zone_begin_alloc_callstack(struct ___tracy_gpu_zone_begin_callstack_data data)
{
        begin_made(data.context, data.srcloc, data.queryId, data.depth);
}

void ___tracy_emit_gpu_zone_end(struct ___tracy_gpu_zone_end_data data)
{
        struct hyprof_device *device = find_device(data.context);

        if (device)
                hyprof_emit_device_zone_end(device, data.queryId);
}

void ___tracy_emit_gpu_time(struct ___tracy_gpu_time_data data)
{
        struct hyprof_device *device = find_device(data.context);

        if (device)
                hyprof_emit_device_time(device, data.queryId, (uint64_t)data.gpuTime);
}

/*
 * Tracy has a second queue, which keeps the calls of all threads in order; hyprof's events are in order of
 * their times.
 */
void ___tracy_emit_gpu_zone_begin_serial(struct ___tracy_gpu_zone_begin_data data)
{
        ___tracy_emit_gpu_zone_begin(data);
}

void ___tracy_emit_gpu_zone_begin_callstack_serial(struct ___tracy_gpu_zone_begin_callstack_data data)
{
        ___tracy_emit_gpu_zone_begin_callstack(data);
}

void ___tracy_emit_gpu_zone_begin_alloc_serial(struct ___tracy_gpu_zone_begin_data data)
{
        ___tracy_emit_gpu_zone_begin_alloc(data);
}

void ___tracy_emit_gpu_zone_begin_alloc_callstack_serial(struct ___tracy_gpu_zone_begin_callstack_data data)
{
        ___tracy_emit_gpu_zone_begin_alloc_callstack(data);
}

void ___tracy_emit_gpu_zone_end_serial(struct ___tracy_gpu_zone_end_data data)
{
        ___tracy_emit_gpu_zone_end(data);
}

void ___tracy_emit_gpu_time_serial(struct ___tracy_gpu_time_data data)
{
        ___tracy_emit_gpu_time(data);
}

void ___tracy_emit_gpu_new_context_serial(struct ___tracy_gpu_new_context_data data)
{
        ___tracy_emit_gpu_new_context(data);
}

void ___tracy_emit_gpu_context_name_serial(struct ___tracy_gpu_context_name_data data)
{
        ___tracy_emit_gpu_context_name(data);
}

void ___tracy_emit_gpu_calibration_serial(struct ___tracy_gpu_calibration_data data)
{
        ___tracy_emit_gpu_calibration(data);
}

void ___tracy_emit_gpu_time_sync_serial(struct ___tracy_gpu_time_sync_data data)
{
        ___tracy_emit_gpu_time_sync(data);
}
