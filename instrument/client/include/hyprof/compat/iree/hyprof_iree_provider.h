/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/iree/hyprof_iree_provider.h - IREE's tracing, recorded by hyprof
 *
 * Way of the data:  IREE -> [hyprof_iree_provider.h] -> libhyprof_iree -> shared memory -> hyprof record
 * Specification:    docs/use/iree.md
 *
 * IREE's iree/base/tracing.h includes this file where it is configured with
 * -DIREE_TRACING_PROVIDER_H=.../hyprof_iree_provider.h, and defines IREE_TRACING_FEATURES_REQUESTED before
 * that.  IREE itself replaces the macros of a feature that is off by nothing.  C and C++.
 *
 * Names that IREE keeps for ever (of plots, frames, pools, fibers) are looked
 * up by their content, copied at the first use.
 */
#ifndef HYPROF_COMPAT_IREE_PROVIDER_H
#define HYPROF_COMPAT_IREE_PROVIDER_H

#include "iree_calls.h"

#ifndef IREE_TRACING_FEATURES
#define IREE_TRACING_FEATURES (IREE_TRACING_FEATURES_REQUESTED)
#endif

#define HYPROF_IREE_HAS_(feature) (IREE_TRACING_FEATURES & IREE_TRACING_FEATURE_##feature)

/* How many frames of callstack an event asks for. */
#if HYPROF_IREE_HAS_(INSTRUMENTATION_CALLSTACKS)
#define HYPROF_IREE_ZONE_DEPTH_ IREE_TRACING_MAX_CALLSTACK_DEPTH
#else
#define HYPROF_IREE_ZONE_DEPTH_ 0
#endif
#if HYPROF_IREE_HAS_(ALLOCATION_CALLSTACKS)
#define HYPROF_IREE_MEMORY_DEPTH_ IREE_TRACING_MAX_CALLSTACK_DEPTH
#else
#define HYPROF_IREE_MEMORY_DEPTH_ 0
#endif

/*
 * Callers define locations, called TracyConcat(__tracy_source_location, __LINE__), and fill them by position.
 */
#ifndef TracyConcat
#define TracyConcat(a, b) HYPROF_JOIN_(a, b)
#endif

#ifdef __cplusplus
extern "C" {
#endif

static inline iree_zone_id_t hyprof_iree_zone_begin_(struct hyprof_location *location)
{
        return HYPROF_IREE_ZONE_DEPTH_ > 0 ? hyprof_zone_begin_callstack(location, HYPROF_IREE_ZONE_DEPTH_)
                                           : hyprof_zone_begin(location);
}

static inline iree_zone_id_t hyprof_iree_zone_begin_external_(const char *file, size_t file_bytes,
                                                              uint32_t line, const char *function,
                                                              size_t function_bytes, const char *name,
                                                              size_t name_bytes)
{
        if (!HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                return 0;
        return hyprof_iree_zone_begin_(hyprof_location_of(name_bytes ? name : HYPROF_NULL_, name_bytes,
                                                          function, function_bytes, file, file_bytes, line,
                                                          0));
}

static inline void hyprof_iree_zone_cstring_(iree_zone_id_t zone, const char *text)
{
        hyprof_zone_text(zone, text, zone && text ? __builtin_strlen(text) : 0);
}

/*
 * @xbgr: 0xXXBBGGRR.  Only zones have this order in IREE; the colours of messages and plots are 0xXXRRGGBB.
 */
static inline void hyprof_iree_zone_color_(iree_zone_id_t zone, uint32_t xbgr)
{
        hyprof_zone_color(zone, (xbgr & 0xff) << 16 | (xbgr & 0xff00) | (xbgr >> 16 & 0xff));
}

/* The level of a message is its colour: IREE_TRACING_MESSAGE_LEVEL_*, which IREE defines after this file. */
static inline void hyprof_iree_message_(const char *text, size_t text_bytes, uint32_t color)
{
        hyprof_message(text, text_bytes,
                       color == 0xff0000   ? HYPROF_SEVERITY_ERROR
                       : color == 0xffff00 ? HYPROF_SEVERITY_WARNING
                       : color == 0x00ff00 ? HYPROF_SEVERITY_DEBUG
                       : color == 0xc0c0c0 ? HYPROF_SEVERITY_TRACE
                                           : HYPROF_SEVERITY_INFO,
                       color & 0xffffff);
}

/*
 * Never returns NULL, which would mean the main frames or the main pool: hyprof_name_of() returns NULL when a
 * recording has just ended.
 */
static inline struct hyprof_location *hyprof_iree_name_(const char *name)
{
        struct hyprof_location *location = hyprof_name_of(name);

        return location ? location : &hyprof_iree_no_name;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#if HYPROF_IREE_HAS_(INSTRUMENTATION)

#define IREE_TRACE(expr)                            expr
#define IREE_TRACE_APP_ENTER()                      HYPROF_NOTHING_
#define IREE_TRACE_APP_EXIT(exit_code)              HYPROF_UNEVALUATED_(exit_code)
#define IREE_TRACE_SET_APP_INFO(value, value_bytes) hyprof_program_info(value, value_bytes)
#define IREE_TRACE_SET_THREAD_NAME(name)            hyprof_thread_name(name)
#define IREE_TRACE_PUBLISH_SOURCE_FILE(file, file_bytes, content, content_bytes) \
        hyprof_source_text((const char *)(file), file_bytes, (const char *)(content), content_bytes)

#if HYPROF_IREE_HAS_(FIBERS)
#define IREE_TRACE_FIBER_ENTER(fiber) hyprof_fiber_enter((const char *)(fiber))
#define IREE_TRACE_FIBER_LEAVE()      hyprof_fiber_leave()
#else
#define IREE_TRACE_FIBER_ENTER(fiber) HYPROF_UNEVALUATED_(fiber)
#define IREE_TRACE_FIBER_LEAVE()      HYPROF_NOTHING_
#endif

#define IREE_TRACE_ZONE_BEGIN(zone_id) IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, HYPROF_NULL_)
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, name)                                                  \
        static struct hyprof_location HYPROF_JOIN_(zone_id, _location_) = HYPROF_LOCATION(name, 0); \
        iree_zone_id_t zone_id = hyprof_iree_zone_begin_(&HYPROF_JOIN_(zone_id, _location_))
#define IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone_id, name, name_bytes)                              \
        IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone_id, __FILE__, sizeof(__FILE__) - 1, __LINE__, __func__, \
                                       sizeof(__func__) - 1, name, name_bytes)
#define IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone_id, file, file_bytes, line, function, function_bytes, name, \
                                       name_bytes)                                                      \
        iree_zone_id_t zone_id = hyprof_iree_zone_begin_external_(                                      \
                file, file_bytes, (uint32_t)(line), function, function_bytes, name, name_bytes)
#define IREE_TRACE_ZONE_END(zone_id) hyprof_zone_end(zone_id)
#define IREE_RETURN_AND_END_ZONE_IF_ERROR(zone_id, ...) \
        IREE_RETURN_AND_EVAL_IF_ERROR(IREE_TRACE_ZONE_END(zone_id), __VA_ARGS__)
#define IREE_RETURN_AND_END_ZONE(zone_id, ...) \
        do {                                   \
                IREE_TRACE_ZONE_END(zone_id);  \
                return (__VA_ARGS__);          \
        } while (0)
#define IREE_TRACE_ZONE_SET_COLOR(zone_id, color_xbgr)   hyprof_iree_zone_color_(zone_id, color_xbgr)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone_id, value) hyprof_zone_value(zone_id, (int64_t)(value))
/* (zone_id, string) or (zone_id, text, bytes) */
#define IREE_TRACE_ZONE_APPEND_TEXT(...) \
        HYPROF_IREE_FOURTH_(__VA_ARGS__, hyprof_zone_text, hyprof_iree_zone_cstring_, )(__VA_ARGS__)
#define HYPROF_IREE_FOURTH_(a, b, c, d, ...) d

#define IREE_TRACE_SET_PLOT_TYPE(name, type, step, fill, color) \
        hyprof_iree_plot_type(name, (int)(type), step, fill, color)
#define IREE_TRACE_PLOT_VALUE_I64(name, value) hyprof_plot_int(hyprof_name_of(name), (int64_t)(value))
#define IREE_TRACE_PLOT_VALUE_F32(name, value) hyprof_plot_float(hyprof_name_of(name), (float)(value))
#define IREE_TRACE_PLOT_VALUE_F64(name, value) hyprof_plot_double(hyprof_name_of(name), (double)(value))

#define IREE_TRACE_FRAME_MARK()                 hyprof_frame_mark(HYPROF_NULL_)
#define IREE_TRACE_FRAME_MARK_NAMED(name)       hyprof_frame_mark(hyprof_iree_name_(name))
#define IREE_TRACE_FRAME_MARK_BEGIN_NAMED(name) hyprof_frame_begin(hyprof_iree_name_(name))
#define IREE_TRACE_FRAME_MARK_END_NAMED(name)   hyprof_frame_end(hyprof_iree_name_(name))

#define IREE_TRACE_MESSAGE(level, literal) \
        IREE_TRACE_MESSAGE_COLORED(IREE_TRACING_MESSAGE_LEVEL_##level, literal)
#define IREE_TRACE_MESSAGE_COLORED(color, literal) \
        IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, literal, __builtin_strlen(literal))
#define IREE_TRACE_MESSAGE_DYNAMIC(level, value, value_bytes) \
        IREE_TRACE_MESSAGE_DYNAMIC_COLORED(IREE_TRACING_MESSAGE_LEVEL_##level, value, value_bytes)
#if HYPROF_IREE_HAS_(LOG_MESSAGES)
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, value_bytes) \
        hyprof_iree_message_(value, value_bytes, color)
#else
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, value_bytes) \
        (HYPROF_UNEVALUATED_(color), HYPROF_UNEVALUATED_(value), HYPROF_UNEVALUATED_(value_bytes))
#endif

#ifdef __cplusplus

struct hyprof_iree_scope {
        const iree_zone_id_t zone;
        operator iree_zone_id_t() const noexcept
        {
                return zone;
        }
        ~hyprof_iree_scope() noexcept
        {
                hyprof_zone_end(zone);
        }
};

#define IREE_TRACE_SCOPE() IREE_TRACE_SCOPE_NAMED(HYPROF_NULL_)
#define IREE_TRACE_SCOPE_NAMED(name)                                                    \
        static struct hyprof_location hyprof_iree_location_ = HYPROF_LOCATION(name, 0); \
        const hyprof_iree_scope IREE_TRACE_SCOPE_ID = { hyprof_iree_zone_begin_(&hyprof_iree_location_) }
#define IREE_TRACE_SCOPE_ID hyprof_iree_scope_

#endif /* __cplusplus */

#endif /* INSTRUMENTATION */

#if HYPROF_IREE_HAS_(ALLOCATION_TRACKING)
#define iree_tracing_obscure_ptr(ptr) hyprof_iree_obscure_ptr(ptr)
#define HYPROF_IREE_ALLOC_(pool, ptr, size) \
        hyprof_memory_alloc_callstack(pool, ptr, size, HYPROF_IREE_MEMORY_DEPTH_)
#define HYPROF_IREE_FREE_(pool, ptr)            hyprof_memory_free_callstack(pool, ptr, HYPROF_IREE_MEMORY_DEPTH_)
#define IREE_TRACE_ALLOC(ptr, size)             HYPROF_IREE_ALLOC_(HYPROF_NULL_, ptr, size)
#define IREE_TRACE_FREE(ptr)                    HYPROF_IREE_FREE_(HYPROF_NULL_, ptr)
#define IREE_TRACE_ALLOC_NAMED(name, ptr, size) HYPROF_IREE_ALLOC_(hyprof_iree_name_(name), ptr, size)
#define IREE_TRACE_FREE_NAMED(name, ptr)        HYPROF_IREE_FREE_(hyprof_iree_name_(name), ptr)
#endif

#endif /* HYPROF_COMPAT_IREE_PROVIDER_H */
