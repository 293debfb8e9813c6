/* SPDX-License-Identifier: MIT */
/*
 * iree_tracing.h - stands for IREE's iree/base/tracing.h: asks for features, includes the
 * provider, fills the gaps
 *
 * -DIREE_TRACING_MODE=1..4 or -DIREE_TRACING_FEATURES_REQUESTED=bits; all features if neither is given.
 * -DIREE_TRACING_PROVIDER_H=... as IREE's build defines it.
 */
#ifndef TESTS_WORKLOADS_IREE_TRACING_H
#define TESTS_WORKLOADS_IREE_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IREE_TRACING_FEATURE_INSTRUMENTATION            (1 << 0)
#define IREE_TRACING_FEATURE_INSTRUMENTATION_CALLSTACKS (1 << 1)
#define IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE     (1 << 2)
#define IREE_TRACING_FEATURE_ALLOCATION_TRACKING        (1 << 3)
#define IREE_TRACING_FEATURE_ALLOCATION_CALLSTACKS      (1 << 4)
#define IREE_TRACING_FEATURE_FAST_LOCKS                 (1 << 5)
#define IREE_TRACING_FEATURE_SLOW_LOCKS                 (1 << 6)
#define IREE_TRACING_FEATURE_LOG_MESSAGES               (1 << 7)
#define IREE_TRACING_FEATURE_FIBERS                     (1 << 8)

#if defined(IREE_TRACING_MODE) && IREE_TRACING_MODE == 1
#define IREE_TRACING_FEATURES_REQUESTED  0x081
#define IREE_TRACING_MAX_CALLSTACK_DEPTH 0
#elif defined(IREE_TRACING_MODE) && IREE_TRACING_MODE == 2
#define IREE_TRACING_FEATURES_REQUESTED 0x08d
#elif defined(IREE_TRACING_MODE) && IREE_TRACING_MODE == 3
#define IREE_TRACING_FEATURES_REQUESTED 0x19d
#elif defined(IREE_TRACING_MODE)
#define IREE_TRACING_FEATURES_REQUESTED 0x19f
#elif !defined(IREE_TRACING_FEATURES_REQUESTED)
#define IREE_TRACING_FEATURES_REQUESTED 0x1ff
#endif

#ifndef IREE_TRACING_MAX_CALLSTACK_DEPTH
#define IREE_TRACING_MAX_CALLSTACK_DEPTH 16
#endif

#ifndef IREE_TRACING_PROVIDER_H
#define IREE_TRACING_PROVIDER_H <hyprof/compat/iree/hyprof_iree_provider.h>
#endif
#include IREE_TRACING_PROVIDER_H

#ifndef IREE_TRACING_FEATURES
#error "the provider does not say what it has"
#endif

/* Behind the provider, as in IREE. */
enum {
        IREE_TRACING_PLOT_TYPE_NUMBER = 0,
        IREE_TRACING_PLOT_TYPE_MEMORY = 1,
        IREE_TRACING_PLOT_TYPE_PERCENTAGE = 2,

        IREE_TRACING_MESSAGE_LEVEL_ERROR = 0xff0000,
        IREE_TRACING_MESSAGE_LEVEL_WARNING = 0xffff00,
        IREE_TRACING_MESSAGE_LEVEL_INFO = 0xffffff,
        IREE_TRACING_MESSAGE_LEVEL_VERBOSE = 0xc0c0c0,
        IREE_TRACING_MESSAGE_LEVEL_DEBUG = 0x00ff00
};

/* A status of IREE is an int here, 0 = good. */
#define IREE_RETURN_IF_ERROR(...) IREE_RETURN_AND_EVAL_IF_ERROR((void)0, __VA_ARGS__)
#define IREE_RETURN_AND_EVAL_IF_ERROR(tail, ...) \
        do {                                     \
                int status_ = (__VA_ARGS__);     \
                if (status_ != 0) {              \
                        (tail);                  \
                        return status_;          \
                }                                \
        } while (0)

#if !(IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_INSTRUMENTATION)
#define IREE_TRACE(expr)
#define IREE_TRACE_APP_ENTER()
#define IREE_TRACE_APP_EXIT(exit_code)
#define IREE_TRACE_SET_APP_INFO(value, length)
#define IREE_TRACE_SET_THREAD_NAME(name)
#define IREE_TRACE_FIBER_ENTER(fiber)
#define IREE_TRACE_FIBER_LEAVE()
#define IREE_TRACE_PUBLISH_SOURCE_FILE(name, name_length, content, content_length)
#define IREE_TRACE_ZONE_BEGIN(zone)                              \
        iree_zone_id_t zone = 0; /* NOLINT: not an expression */ \
        (void)zone
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone, name)                 IREE_TRACE_ZONE_BEGIN(zone)
#define IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone, name, length) IREE_TRACE_ZONE_BEGIN(zone)
#define IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone, f, f_length, line, fn, fn_length, n, n_length) \
        IREE_TRACE_ZONE_BEGIN(zone)
#define IREE_TRACE_ZONE_END(zone)                    (void)(zone)
#define IREE_RETURN_AND_END_ZONE_IF_ERROR(zone, ...) IREE_RETURN_IF_ERROR(__VA_ARGS__)
#define IREE_RETURN_AND_END_ZONE(zone, ...)          return (__VA_ARGS__)
#define IREE_TRACE_ZONE_SET_COLOR(zone, color)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone, value)
#define IREE_TRACE_ZONE_APPEND_TEXT(zone, ...)
#define IREE_TRACE_SET_PLOT_TYPE(name, type, step, fill, color)
#define IREE_TRACE_PLOT_VALUE_I64(name, value)
#define IREE_TRACE_PLOT_VALUE_F32(name, value)
#define IREE_TRACE_PLOT_VALUE_F64(name, value)
#define IREE_TRACE_FRAME_MARK()
#define IREE_TRACE_FRAME_MARK_NAMED(name)
#define IREE_TRACE_FRAME_MARK_BEGIN_NAMED(name)
#define IREE_TRACE_FRAME_MARK_END_NAMED(name)
#define IREE_TRACE_MESSAGE(level, literal)
#define IREE_TRACE_MESSAGE_COLORED(color, literal)
#define IREE_TRACE_MESSAGE_DYNAMIC(level, value, length)
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, length)
#define IREE_TRACE_SCOPE()
#define IREE_TRACE_SCOPE_NAMED(name)
#define IREE_TRACE_SCOPE_ID
#endif

#if !(IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_ALLOCATION_TRACKING)
static inline void *iree_tracing_obscure_ptr(void *ptr)
{
        return ptr;
}
#define IREE_TRACE_ALLOC(ptr, size)
#define IREE_TRACE_FREE(ptr)
#define IREE_TRACE_ALLOC_NAMED(name, ptr, size)
#define IREE_TRACE_FREE_NAMED(name, ptr)
#endif

#endif /* TESTS_WORKLOADS_IREE_TRACING_H */
