/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/iree/iree_calls.h - functions that IREE calls: locks, queues of GPUs, and what needs memory
 *
 * Way of the data:  IREE -> hyprof_iree_provider -> [iree_calls.h] -> libhyprof_iree -> libhyprof
 * Specification:    docs/use/iree.md
 *
 * Names and signatures are IREE's where they begin with iree_.  Any thread may
 * call them; nothing blocks or prints.  Strings are copied, and need not end in
 * NUL where their length is given.
 */
#ifndef HYPROF_COMPAT_IREE_CALLS_H
#define HYPROF_COMPAT_IREE_CALLS_H

#include "../../hyprof.h"

#include <stdbool.h>

typedef hyprof_zone iree_zone_id_t; /* 0 = no zone */

/* IREE's locations are constant, and hyprof writes to its own: so this is another struct. */
typedef struct hyprof_iree_location {
        const char *name, *function, *file;
        uint32_t line, color;
} iree_tracing_location_t;

typedef enum iree_tracing_gpu_context_type_e {
        IREE_TRACING_GPU_CONTEXT_TYPE_INVALID = 0,
        IREE_TRACING_GPU_CONTEXT_TYPE_OPENGL,
        IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN,
        IREE_TRACING_GPU_CONTEXT_TYPE_OPENCL,
        IREE_TRACING_GPU_CONTEXT_TYPE_DIRECT3D12,
        IREE_TRACING_GPU_CONTEXT_TYPE_DIRECT3D11,
} iree_tracing_gpu_context_type_t;

#ifdef __cplusplus
extern "C" {
#endif

/* The name of events that have none, or that got their name while a recording ended. */
extern HYPROF_API_ struct hyprof_location hyprof_iree_no_name;

/* @type: of IREE, 0 = number, 1 = memory, 2 = percentage; @color: 0xXXRRGGBB */
HYPROF_API_ void hyprof_iree_plot_type(const char *name, int type, bool step, bool fill, uint32_t color);

/* Locks.  An id of 0 is one that is not recorded. */
HYPROF_API_ void iree_tracing_mutex_announce(const iree_tracing_location_t *location, uint32_t *ret_id);
HYPROF_API_ void iree_tracing_mutex_terminate(uint32_t id);
HYPROF_API_ void iree_tracing_mutex_before_lock(uint32_t id);
HYPROF_API_ void iree_tracing_mutex_after_lock(uint32_t id);
HYPROF_API_ void iree_tracing_mutex_after_try_lock(uint32_t id, bool was_acquired);
HYPROF_API_ void iree_tracing_mutex_after_unlock(uint32_t id);

/* The host's clock, CLOCK_MONOTONIC_RAW: nanoseconds, and how many there are in a second. */
HYPROF_API_ int64_t iree_tracing_time(void);
HYPROF_API_ int64_t iree_tracing_frequency(void);

/* Queues of a GPU.  @period: nanoseconds a tick.  A context of 0 is one that is not recorded. */
HYPROF_API_ uint8_t iree_tracing_gpu_context_allocate(iree_tracing_gpu_context_type_t type, const char *name,
                                                      size_t name_bytes, bool is_calibrated, uint64_t host_ns,
                                                      uint64_t gpu_ticks, float period);
HYPROF_API_ void iree_tracing_gpu_context_calibrate(uint8_t context, int64_t host_delta_ns, int64_t host_ns,
                                                    int64_t gpu_ticks);
HYPROF_API_ void iree_tracing_gpu_zone_begin(uint8_t context, uint16_t query,
                                             const iree_tracing_location_t *location);
HYPROF_API_ void iree_tracing_gpu_zone_begin_external(uint8_t context, uint16_t query, const char *file,
                                                      size_t file_bytes, uint32_t line, const char *function,
                                                      size_t function_bytes, const char *name,
                                                      size_t name_bytes);
HYPROF_API_ void iree_tracing_gpu_zone_end(uint8_t context, uint16_t query);
HYPROF_API_ void iree_tracing_gpu_zone_notify(uint8_t context, uint16_t query, int64_t gpu_ticks);

/*
 * Returns @ptr.  Compilers cannot see that, and so do not warn that memory which was given to realloc() is
 * used.
 */
HYPROF_API_ void *hyprof_iree_obscure_ptr(void *ptr);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HYPROF_COMPAT_IREE_CALLS_H */
