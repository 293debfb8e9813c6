/* SPDX-License-Identifier: MIT */
/*
 * A context of IREE is a device of hyprof.  IREE states once, when it makes the context, which time of the
 * host corresponds to a time of the device's clock.  This code repeats it to each recording, because a
 * recording that begins later could not know it.
 */
#include <hyprof/compat/iree/iree_calls.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONTEXTS_MAX  255
#define SESSION_SHIFT 16 /* of the control word: which recording it is */

/* Written once, before the context's number is given out; only `told_session` changes later. */
static struct iree_context {
        struct hyprof_device device;
        uint64_t gpu_ticks, host_ns; /* the same moment */
        uint32_t told_session;       /* atomic; the recording that knows of that moment; 0 = none */
} contexts[CONTEXTS_MAX + 1];
static uint32_t n_contexts;

int64_t iree_tracing_time(void)
{
        struct timespec now;

        /* Not hyprof_now_ns(): a context that is made without a recorder needs it too. */
        if (clock_gettime(CLOCK_MONOTONIC_RAW, &now) < 0)
                return 0;
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t iree_tracing_frequency(void)
{
        return 1000000000;
}

/* Returns the device if events of it are wanted, and sees to it that the recording knows its clock. */
static struct hyprof_device *device_of(uint8_t context)
{
        struct iree_context *c = &contexts[context];
        uint32_t session;

        if (context == 0 || HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_) == 0)
                return NULL;
        session = hyprof_is_wanted_(UINT32_MAX) >> SESSION_SHIFT;
        if (__atomic_load_n(&c->told_session, __ATOMIC_RELAXED) != session &&
            __atomic_exchange_n(&c->told_session, session, __ATOMIC_RELAXED) != session)
                hyprof_device_calibrate(&c->device, c->gpu_ticks, c->host_ns);
        return &c->device;
}

static const char *copy_name(const char *name, size_t name_bytes)
{
        char *copy = name ? malloc(name_bytes + 1) : NULL;

        if (!copy)
                return "GPU";
        memcpy(copy, name, name_bytes);
        copy[name_bytes] = '\0';
        return copy;
}

/* @is_calibrated: whether more calibrations will follow; it makes no difference here. */
/* NOLINTNEXTLINE(readability-function-size): IREE's parameters */
uint8_t iree_tracing_gpu_context_allocate(iree_tracing_gpu_context_type_t type, const char *name,
                                          size_t name_bytes, bool is_calibrated, uint64_t host_ns,
                                          uint64_t gpu_ticks, float period)
{
        static const char text[] = "more than 255 contexts of GPUs: the others are not recorded";
        uint32_t n = __atomic_load_n(&n_contexts, __ATOMIC_RELAXED);
        struct iree_context *c;

        (void)is_calibrated;
        do {
                if (n == CONTEXTS_MAX) {
                        hyprof_message(text, sizeof(text) - 1, HYPROF_SEVERITY_WARNING, 0);
                        return 0;
                }
        } while (!__atomic_compare_exchange_n(&n_contexts, &n, n + 1, true, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED));
        c = &contexts[n + 1];
        /* The device keeps the name; contexts live as long as the process. */
        hyprof_device_init(&c->device, copy_name(name, name_bytes), (double)period, (uint32_t)type);
        c->gpu_ticks = gpu_ticks;
        c->host_ns = host_ns;
        (void)device_of((uint8_t)(n + 1));
        return (uint8_t)(n + 1);
}

void iree_tracing_gpu_context_calibrate(uint8_t context, int64_t host_delta_ns, int64_t host_ns,
                                        int64_t gpu_ticks)
{
        struct hyprof_device *device = device_of(context);

        (void)host_delta_ns;
        if (device)
                hyprof_device_calibrate(device, (uint64_t)gpu_ticks, (uint64_t)host_ns);
}

void iree_tracing_gpu_zone_begin(uint8_t context, uint16_t query, const iree_tracing_location_t *location)
{
        iree_tracing_gpu_zone_begin_external(
                context, query, location->file, location->file ? strlen(location->file) : 0, location->line,
                location->function, location->function ? strlen(location->function) : 0, location->name,
                location->name ? strlen(location->name) : 0);
}

/* NOLINTNEXTLINE(readability-function-size): IREE's parameters */
void iree_tracing_gpu_zone_begin_external(uint8_t context, uint16_t query, const char *file,
                                          size_t file_bytes, uint32_t line, const char *function,
                                          size_t function_bytes, const char *name, size_t name_bytes)
{
        struct hyprof_device *device = device_of(context);
        struct hyprof_location *location;

        if (!device)
                return;
        location = hyprof_location_of(name_bytes ? name : NULL, name_bytes, function, function_bytes, file,
                                      file_bytes, line, 0);
        if (location)
                hyprof_device_zone_begin(device, location, query);
}

void iree_tracing_gpu_zone_end(uint8_t context, uint16_t query)
{
        struct hyprof_device *device = device_of(context);

        if (device)
                hyprof_device_zone_end(device, query);
}

/* IREE reports 0 for a query that was never submitted, and so does hyprof. */
void iree_tracing_gpu_zone_notify(uint8_t context, uint16_t query, int64_t gpu_ticks)
{
        struct hyprof_device *device = device_of(context);

        if (device)
                hyprof_device_time(device, query, (uint64_t)gpu_ticks);
}
