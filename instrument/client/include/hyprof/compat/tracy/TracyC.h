/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/tracy/TracyC.h - the macros and functions of Tracy for C, recorded by hyprof
 *
 * Way of the data:  program -> [TracyC.h] -> libhyprof_tracy -> libhyprof -> hyprof record
 * Specification:    docs/use/tracy-compat.md
 *
 * A program that is instrumented for Tracy is compiled again with
 * -I<prefix>/include/hyprof/compat instead of Tracy's folder `public`, with its
 * own definitions (TRACY_ENABLE, TRACY_CALLSTACK, TRACY_FIBERS, ...), and linked
 * with -lhyprof_tracy -lhyprof instead of Tracy's client.
 *
 * TRACY_COMPAT_API chooses between revisions of the functions: 1400 (the
 * default) is Tracy 0.14; 1200 is 0.12 and 0.13, where those for memory have an
 * argument `secure`; 1103 is 0.11, where the macros for memory end in a
 * semicolon as well.  The functions for messages of both are always there.
 *
 * Many macros end in a semicolon because Tracy's do.  Without TRACY_ENABLE all
 * are empty, and nothing has to be linked.  C99 and later; gcc and clang.
 */
#ifndef HYPROF_COMPAT_TRACY_C_H
#define HYPROF_COMPAT_TRACY_C_H

/*
 * NOLINTBEGIN(readability-identifier-naming, bugprone-macro-parentheses): names are Tracy's,
 * some arguments declared
 */

#include "../common/TracyApi.h"

#include <stddef.h>
#include <stdint.h>

/* A program may define these in its own way first. */
#ifndef TracyFunction
#define TracyFunction __FUNCTION__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

enum TracyPlotFormatEnum {
        TracyPlotFormatNumber,
        TracyPlotFormatMemory,
        TracyPlotFormatPercentage,
        TracyPlotFormatWatt
};

enum TracyMessageSeverity {
        TracyMessageSeverityTrace,
        TracyMessageSeverityDebug,
        TracyMessageSeverityInfo,
        TracyMessageSeverityWarning,
        TracyMessageSeverityError,
        TracyMessageSeverityFatal
};

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE

#include "hyprof_tracy.h"

#ifndef TRACY_CALLSTACK
#define TRACY_CALLSTACK 0
#endif

#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- types */

/* Static, like all strings that the functions here keep. */
struct ___tracy_source_location_data {
        const char *name; /* NULL = the function's */
        const char *function;
        const char *file;
        uint32_t line;
        uint32_t color; /* 0xRRGGBB, 0 = none */
};

/* A zone; to be handed on as it is. */
struct ___tracy_c_zone_context {
        uint32_t id;    /* a hyprof_zone */
        int32_t active; /* is it recorded? */
#ifdef HYPROF_TRACY_ON_DEMAND_ABI
        /* for programs that were compiled with Tracy's own header; see docs/use/tracy-compat.md */
        uint64_t connectionId;
#endif
};
typedef struct ___tracy_c_zone_context TracyCZoneCtx;

struct __tracy_lockable_context_data;
struct __tracy_shared_lockable_context_data;
typedef struct __tracy_lockable_context_data *TracyCLockCtx;
typedef struct __tracy_shared_lockable_context_data *TracyCSharedLockCtx;

/*
 * For devices: `context` is the program's number of the device, `queryId` that of a time stamp; times are
 * ticks of the device.
 */
struct ___tracy_gpu_new_context_data {
        int64_t gpuTime; /* now */
        float period;    /* nanoseconds a tick */
        uint8_t context;
        uint8_t flags;
        uint8_t type;
};
struct ___tracy_gpu_context_name_data {
        uint8_t context;
        const char *name;
        uint16_t len;
};
struct ___tracy_gpu_zone_begin_data {
        uint64_t
                srcloc; /* address of a struct ___tracy_source_location_data, or of ___tracy_alloc_srcloc() */
        uint16_t queryId;
        uint8_t context;
};
struct ___tracy_gpu_zone_begin_callstack_data {
        uint64_t srcloc;
        int32_t depth;
        uint16_t queryId;
        uint8_t context;
};
struct ___tracy_gpu_zone_end_data {
        uint16_t queryId;
        uint8_t context;
};
struct ___tracy_gpu_time_data {
        int64_t gpuTime;
        uint16_t queryId;
        uint8_t context;
};
struct ___tracy_gpu_calibration_data {
        int64_t gpuTime;
        int64_t cpuDelta;
        uint8_t context;
};
struct ___tracy_gpu_time_sync_data {
        int64_t gpuTime;
        uint8_t context;
};

/* --------------------------------------------- functions: libhyprof_tracy */

TRACY_API void ___tracy_startup_profiler(void);
TRACY_API void ___tracy_shutdown_profiler(void);
TRACY_API int32_t ___tracy_profiler_started(void);
TRACY_API int32_t ___tracy_connected(void);
TRACY_API int ___tracy_begin_sampling_profiling(void);
TRACY_API void ___tracy_end_sampling_profiling(void);
TRACY_API int ___tracy_begin_sampling_profiler(void); /* what 0.13 calls them */
TRACY_API void ___tracy_end_sampling_profiler(void);
TRACY_API int64_t ___tracy_get_time(void);
TRACY_API void ___tracy_set_thread_name(const char *name);
TRACY_API void ___tracy_fiber_enter(const char *fiber);
TRACY_API void ___tracy_fiber_leave(void);

TRACY_API uint64_t ___tracy_alloc_srcloc(uint32_t line, const char *source, size_t source_bytes,
                                         const char *function, size_t function_bytes, uint32_t color);
TRACY_API uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t source_bytes,
                                              const char *function, size_t function_bytes, const char *name,
                                              size_t name_bytes, uint32_t color);

TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data *srcloc,
                                                 int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_callstack(const struct ___tracy_source_location_data *srcloc,
                                                           int32_t depth, int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t srcloc, int32_t active);
TRACY_API TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t srcloc, int32_t depth,
                                                                 int32_t active);
TRACY_API void ___tracy_emit_zone_end(TracyCZoneCtx ctx);
TRACY_API void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char *txt, size_t size);
TRACY_API void ___tracy_emit_zone_text_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
TRACY_API void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char *txt, size_t size);
TRACY_API void ___tracy_emit_zone_name_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
TRACY_API void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t color);
TRACY_API void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t value);

TRACY_API void ___tracy_emit_gpu_zone_begin(struct ___tracy_gpu_zone_begin_data data);
TRACY_API void ___tracy_emit_gpu_zone_begin_callstack(struct ___tracy_gpu_zone_begin_callstack_data data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc(struct ___tracy_gpu_zone_begin_data data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc_callstack(
        struct ___tracy_gpu_zone_begin_callstack_data data);
TRACY_API void ___tracy_emit_gpu_zone_end(struct ___tracy_gpu_zone_end_data data);
TRACY_API void ___tracy_emit_gpu_time(struct ___tracy_gpu_time_data data);
TRACY_API void ___tracy_emit_gpu_new_context(struct ___tracy_gpu_new_context_data data);
TRACY_API void ___tracy_emit_gpu_context_name(struct ___tracy_gpu_context_name_data data);
TRACY_API void ___tracy_emit_gpu_calibration(struct ___tracy_gpu_calibration_data data);
TRACY_API void ___tracy_emit_gpu_time_sync(struct ___tracy_gpu_time_sync_data data);

/* Tracy's other queue; here there is one. */
TRACY_API void ___tracy_emit_gpu_zone_begin_serial(struct ___tracy_gpu_zone_begin_data data);
TRACY_API void ___tracy_emit_gpu_zone_begin_callstack_serial(
        struct ___tracy_gpu_zone_begin_callstack_data data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc_serial(struct ___tracy_gpu_zone_begin_data data);
TRACY_API void ___tracy_emit_gpu_zone_begin_alloc_callstack_serial(
        struct ___tracy_gpu_zone_begin_callstack_data data);
TRACY_API void ___tracy_emit_gpu_zone_end_serial(struct ___tracy_gpu_zone_end_data data);
TRACY_API void ___tracy_emit_gpu_time_serial(struct ___tracy_gpu_time_data data);
TRACY_API void ___tracy_emit_gpu_new_context_serial(struct ___tracy_gpu_new_context_data data);
TRACY_API void ___tracy_emit_gpu_context_name_serial(struct ___tracy_gpu_context_name_data data);
TRACY_API void ___tracy_emit_gpu_calibration_serial(struct ___tracy_gpu_calibration_data data);
TRACY_API void ___tracy_emit_gpu_time_sync_serial(struct ___tracy_gpu_time_sync_data data);

TRACY_API void ___tracy_emit_frame_mark(const char *name);
TRACY_API void ___tracy_emit_frame_mark_start(const char *name);
TRACY_API void ___tracy_emit_frame_mark_end(const char *name);
TRACY_API void ___tracy_emit_frame_image(const void *image, uint16_t w, uint16_t h, uint8_t offset,
                                         int32_t flip);

TRACY_API void ___tracy_emit_plot(const char *name, double val);
TRACY_API void ___tracy_emit_plot_float(const char *name, float val);
TRACY_API void ___tracy_emit_plot_int(const char *name, int64_t val);
TRACY_API void ___tracy_emit_plot_config(const char *name, int32_t type, int32_t step, int32_t fill,
                                         uint32_t color);

/* Messages of 0.14. */
TRACY_API void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t callstack_depth, size_t size,
                                       const char *txt);
TRACY_API void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t callstack_depth,
                                        const char *txt);
TRACY_API void ___tracy_emit_message_appinfo(const char *txt, size_t size);
/* Messages up to 0.13. */
TRACY_API void ___tracy_emit_message(const char *txt, size_t size, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageL(const char *txt, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageC(const char *txt, size_t size, uint32_t color, int32_t callstack_depth);
TRACY_API void ___tracy_emit_messageLC(const char *txt, uint32_t color, int32_t callstack_depth);

TRACY_API struct __tracy_lockable_context_data *___tracy_announce_lockable_ctx(
        const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_terminate_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API int32_t ___tracy_before_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_unlock_lockable_ctx(struct __tracy_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_try_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                                    int32_t acquired);
TRACY_API void ___tracy_mark_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                          const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_custom_name_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                                 const char *name, size_t name_bytes);

TRACY_API struct __tracy_shared_lockable_context_data *___tracy_announce_shared_lockable_ctx(
        const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_terminate_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API int32_t
___tracy_before_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_unlock_shared_lockable_ctx(
        struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_try_lock_shared_lockable_ctx(
        struct __tracy_shared_lockable_context_data *lockdata, int32_t acquired);
TRACY_API int32_t
___tracy_before_lock_shared_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_lock_shared_shared_lockable_ctx(
        struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_unlock_shared_shared_lockable_ctx(
        struct __tracy_shared_lockable_context_data *lockdata);
TRACY_API void ___tracy_after_try_lock_shared_shared_lockable_ctx(
        struct __tracy_shared_lockable_context_data *lockdata, int32_t acquired);
TRACY_API void ___tracy_mark_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                                 const struct ___tracy_source_location_data *srcloc);
TRACY_API void ___tracy_custom_name_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                                        const char *name, size_t name_bytes);

/* ------------------------------------------------------ memory: inline here */

/*
 * The functions that differ between the revisions are compiled into the program, so that it works with any
 * library of ours.  The library has copies of its own for programs that were compiled with Tracy's header.
 */
#ifndef HYPROF_TRACY_MEMORY_API_
#define HYPROF_TRACY_MEMORY_API_ static inline
#endif
#if TRACY_COMPAT_API >= 1400
#define HYPROF_TRACY_SECURE_
#define HYPROF_TRACY_NOT_SECURE_
#else
#define HYPROF_TRACY_SECURE_     , int32_t secure __attribute__((unused))
#define HYPROF_TRACY_NOT_SECURE_ , 0
#endif

/* The pool that a pointer names, which need not be a literal; NULL = the main one. */
static inline struct hyprof_tracy_name_ hyprof_tracy_pool_(const char *name)
{
        const struct hyprof_tracy_name_ pool = { HYPROF_NULL_, name };

        return pool;
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_alloc(const void *ptr, size_t size HYPROF_TRACY_SECURE_)
{
        hyprof_tracy_alloc_(hyprof_tracy_pool_(HYPROF_NULL_), ptr, size, 0);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_alloc_callstack(const void *ptr, size_t size,
                                                                   int32_t depth HYPROF_TRACY_SECURE_)
{
        hyprof_tracy_alloc_(hyprof_tracy_pool_(HYPROF_NULL_), ptr, size, depth);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_free(const void *ptr HYPROF_TRACY_SECURE_)
{
        hyprof_tracy_free_(hyprof_tracy_pool_(HYPROF_NULL_), ptr, 0);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_free_callstack(const void *ptr,
                                                                  int32_t depth HYPROF_TRACY_SECURE_)
{
        hyprof_tracy_free_(hyprof_tracy_pool_(HYPROF_NULL_), ptr, depth);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_alloc_named(const void *ptr,
                                                               size_t size HYPROF_TRACY_SECURE_,
                                                               const char *name)
{
        hyprof_tracy_alloc_(hyprof_tracy_pool_(name), ptr, size, 0);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_alloc_callstack_named(const void *ptr, size_t size,
                                                                         int32_t depth HYPROF_TRACY_SECURE_,
                                                                         const char *name)
{
        hyprof_tracy_alloc_(hyprof_tracy_pool_(name), ptr, size, depth);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_free_named(const void *ptr HYPROF_TRACY_SECURE_,
                                                              const char *name)
{
        hyprof_tracy_free_(hyprof_tracy_pool_(name), ptr, 0);
}

HYPROF_NOT_FOLLOWED_(1)
HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_free_callstack_named(const void *ptr,
                                                                        int32_t depth HYPROF_TRACY_SECURE_,
                                                                        const char *name)
{
        hyprof_tracy_free_(hyprof_tracy_pool_(name), ptr, depth);
}

HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_discard(const char *name HYPROF_TRACY_SECURE_)
{
        hyprof_tracy_discard_(hyprof_tracy_pool_(name));
}

HYPROF_TRACY_MEMORY_API_ void ___tracy_emit_memory_discard_callstack(const char *name HYPROF_TRACY_SECURE_,
                                                                     int32_t depth __attribute__((unused)))
{
        hyprof_tracy_discard_(hyprof_tracy_pool_(name));
}

/* Begins the zones of the macros below.  Each macro has its own location, so nothing has to be looked up. */
static inline TracyCZoneCtx hyprof_tracy_c_zone_begin_(struct hyprof_location *location, int32_t depth,
                                                       int32_t active)
{
        TracyCZoneCtx ctx;

        __builtin_memset(&ctx, 0, sizeof(ctx));
        ctx.id = hyprof_tracy_zone_begin_(location, depth, active);
        ctx.active = ctx.id != 0;
        return ctx;
}

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------ macros */

#define HYPROF_TRACY_C_ZONE_(ctx, name, color, depth, active)                                           \
        static struct hyprof_location HYPROF_JOIN_(hyprof_tracy_location_, __LINE__) = {                \
                name, __func__, TracyFile, HYPROF_CAST_(uint32_t, TracyLine), color, 0, 0               \
        };                                                                                              \
        TracyCZoneCtx ctx = hyprof_tracy_c_zone_begin_(&HYPROF_JOIN_(hyprof_tracy_location_, __LINE__), \
                                                       depth, active)
#define HYPROF_TRACY_C_PLACE_                                                                             \
        static const struct ___tracy_source_location_data HYPROF_JOIN_(hyprof_tracy_place_, __LINE__) = { \
                HYPROF_NULL_, __func__, TracyFile, HYPROF_CAST_(uint32_t, TracyLine), 0                   \
        };

#define TracyCZone(ctx, active)                        TracyCZoneS(ctx, TRACY_CALLSTACK, active)
#define TracyCZoneN(ctx, name, active)                 TracyCZoneNS(ctx, name, TRACY_CALLSTACK, active)
#define TracyCZoneC(ctx, color, active)                TracyCZoneCS(ctx, color, TRACY_CALLSTACK, active)
#define TracyCZoneNC(ctx, name, color, active)         TracyCZoneNCS(ctx, name, color, TRACY_CALLSTACK, active)
#define TracyCZoneS(ctx, depth, active)                HYPROF_TRACY_C_ZONE_(ctx, HYPROF_NULL_, 0, depth, active);
#define TracyCZoneNS(ctx, name, depth, active)         HYPROF_TRACY_C_ZONE_(ctx, name, 0, depth, active);
#define TracyCZoneCS(ctx, color, depth, active)        HYPROF_TRACY_C_ZONE_(ctx, HYPROF_NULL_, color, depth, active);
#define TracyCZoneNCS(ctx, name, color, depth, active) HYPROF_TRACY_C_ZONE_(ctx, name, color, depth, active);

#define TracyCZoneEnd(ctx)             hyprof_zone_end((ctx).id);
#define TracyCZoneText(ctx, txt, size) hyprof_zone_text((ctx).id, txt, size);
#define TracyCZoneTextF(ctx, ...)      ___tracy_emit_zone_text_fmt(ctx, __VA_ARGS__);
#define TracyCZoneName(ctx, txt, size) hyprof_zone_name((ctx).id, txt, size);
#define TracyCZoneNameF(ctx, ...)      ___tracy_emit_zone_name_fmt(ctx, __VA_ARGS__);
#define TracyCZoneColor(ctx, color)    hyprof_zone_color((ctx).id, color);
#define TracyCZoneValue(ctx, value)    hyprof_zone_value((ctx).id, HYPROF_CAST_(int64_t, value));

#define TracyCFrameMark            hyprof_frame_mark(HYPROF_NULL_);
#define TracyCFrameMarkNamed(name) hyprof_tracy_frame_mark_(HYPROF_TRACY_NAME_(name));
#define TracyCFrameMarkStart(name) hyprof_tracy_frame_begin_(HYPROF_TRACY_NAME_(name));
#define TracyCFrameMarkEnd(name)   hyprof_tracy_frame_end_(HYPROF_TRACY_NAME_(name));
#define TracyCFrameImage(image, width, height, offset, flip) \
        hyprof_frame_picture(image, width, height, offset, flip);

#define TracyCPlot(name, val)  hyprof_tracy_plot_double_(HYPROF_TRACY_NAME_(name), val);
#define TracyCPlotF(name, val) hyprof_tracy_plot_double_(HYPROF_TRACY_NAME_(name), HYPROF_CAST_(double, val));
#define TracyCPlotI(name, val) hyprof_tracy_plot_int_(HYPROF_TRACY_NAME_(name), val);
#define TracyCPlotConfig(name, type, step, fill, color)                                   \
        hyprof_tracy_plot_config_(HYPROF_TRACY_NAME_(name), HYPROF_CAST_(uint32_t, type), \
                                  ((step) ? HYPROF_PLOT_STEP : UINT32_C(0)) |             \
                                          ((fill) ? HYPROF_PLOT_FILL : UINT32_C(0)),      \
                                  color);

/*
 * Those of 0.14 have no semicolon.  Those for messages had one up to 0.13, those for memory up to 0.11: a
 * program that writes its own has an empty statement then.
 */
#if TRACY_COMPAT_API >= 1400
#define HYPROF_TRACY_SEMICOLON_
#else
#define HYPROF_TRACY_SEMICOLON_ ;
#endif
#if TRACY_COMPAT_API >= 1200
#define HYPROF_TRACY_MEMORY_SEMICOLON_
#else
#define HYPROF_TRACY_MEMORY_SEMICOLON_ ;
#endif
#define HYPROF_TRACY_INFO_               HYPROF_CAST_(uint32_t, TracyMessageSeverityInfo)
#define TracyCMessage(txt, size)         TracyCMessageCS(txt, size, 0, TRACY_CALLSTACK)
#define TracyCMessageL(txt)              TracyCMessageLCS(txt, 0, TRACY_CALLSTACK)
#define TracyCMessageC(txt, size, color) TracyCMessageCS(txt, size, color, TRACY_CALLSTACK)
#define TracyCMessageLC(txt, color)      TracyCMessageLCS(txt, color, TRACY_CALLSTACK)
#define TracyCMessageS(txt, size, depth) TracyCMessageCS(txt, size, 0, depth)
#define TracyCMessageLS(txt, depth)      TracyCMessageLCS(txt, 0, depth)
#define TracyCMessageCS(txt, size, color, depth) \
        hyprof_tracy_message_(txt, size, HYPROF_TRACY_INFO_, color, depth) HYPROF_TRACY_SEMICOLON_
#define TracyCMessageLCS(txt, color, depth)                                                      \
        hyprof_tracy_message_literal_(HYPROF_TRACY_NAME_(txt), HYPROF_TRACY_INFO_, color, depth) \
                HYPROF_TRACY_SEMICOLON_
#define TracyCAppInfo(txt, size) hyprof_program_info(txt, size);

#define TracyCAlloc(ptr, size)        TracyCAllocS(ptr, size, TRACY_CALLSTACK)
#define TracyCFree(ptr)               TracyCFreeS(ptr, TRACY_CALLSTACK)
#define TracyCAllocN(ptr, size, name) TracyCAllocNS(ptr, size, TRACY_CALLSTACK, name)
#define TracyCFreeN(ptr, name)        TracyCFreeNS(ptr, TRACY_CALLSTACK, name)
#define TracyCMemoryDiscard(name)     hyprof_tracy_discard_(HYPROF_TRACY_NAME_(name));
#define TracyCAllocS(ptr, size, depth) \
        hyprof_tracy_alloc_(hyprof_tracy_pool_(HYPROF_NULL_), ptr, size, depth) HYPROF_TRACY_MEMORY_SEMICOLON_
#define TracyCFreeS(ptr, depth) \
        hyprof_tracy_free_(hyprof_tracy_pool_(HYPROF_NULL_), ptr, depth) HYPROF_TRACY_MEMORY_SEMICOLON_
#define TracyCAllocNS(ptr, size, depth, name) \
        hyprof_tracy_alloc_(HYPROF_TRACY_NAME_(name), ptr, size, depth) HYPROF_TRACY_MEMORY_SEMICOLON_
#define TracyCFreeNS(ptr, depth, name) \
        hyprof_tracy_free_(HYPROF_TRACY_NAME_(name), ptr, depth) HYPROF_TRACY_MEMORY_SEMICOLON_
#define TracyCMemoryDiscardS(name, depth) hyprof_tracy_discard_(HYPROF_TRACY_NAME_(name))

/*
 * Up to Tracy 0.13, only these are safe before the program's constructors and after its destructors; here all
 * macros are.
 */
#define TracyCSecureAlloc(ptr, size)                TracyCAlloc(ptr, size)
#define TracyCSecureFree(ptr)                       TracyCFree(ptr)
#define TracyCSecureAllocN(ptr, size, name)         TracyCAllocN(ptr, size, name)
#define TracyCSecureFreeN(ptr, name)                TracyCFreeN(ptr, name)
#define TracyCSecureMemoryDiscard(name)             TracyCMemoryDiscard(name)
#define TracyCSecureAllocS(ptr, size, depth)        TracyCAllocS(ptr, size, depth)
#define TracyCSecureFreeS(ptr, depth)               TracyCFreeS(ptr, depth)
#define TracyCSecureAllocNS(ptr, size, depth, name) TracyCAllocNS(ptr, size, depth, name)
#define TracyCSecureFreeNS(ptr, depth, name)        TracyCFreeNS(ptr, depth, name)
#define TracyCSecureMemoryDiscardS(name, depth)     TracyCMemoryDiscardS(name, depth)

#define TracyCLockAnnounce(lock)                                     \
        HYPROF_TRACY_C_PLACE_ lock = ___tracy_announce_lockable_ctx( \
                &HYPROF_JOIN_(hyprof_tracy_place_, __LINE__));
#define TracyCLockTerminate(lock)              ___tracy_terminate_lockable_ctx(lock);
#define TracyCLockBeforeLock(lock)             ___tracy_before_lock_lockable_ctx(lock);
#define TracyCLockAfterLock(lock)              ___tracy_after_lock_lockable_ctx(lock);
#define TracyCLockAfterUnlock(lock)            ___tracy_after_unlock_lockable_ctx(lock);
#define TracyCLockAfterTryLock(lock, acquired) ___tracy_after_try_lock_lockable_ctx(lock, acquired);
#define TracyCLockMark(lock) \
        HYPROF_TRACY_C_PLACE_ ___tracy_mark_lockable_ctx(lock, &HYPROF_JOIN_(hyprof_tracy_place_, __LINE__));
#define TracyCLockCustomName(lock, name, name_bytes) \
        ___tracy_custom_name_lockable_ctx(lock, name, name_bytes);

#define TracyCSharedLockAnnounce(lock)                                      \
        HYPROF_TRACY_C_PLACE_ lock = ___tracy_announce_shared_lockable_ctx( \
                &HYPROF_JOIN_(hyprof_tracy_place_, __LINE__));
#define TracyCSharedLockTerminate(lock)   ___tracy_terminate_shared_lockable_ctx(lock);
#define TracyCSharedLockBeforeLock(lock)  ___tracy_before_lock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterLock(lock)   ___tracy_after_lock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterUnlock(lock) ___tracy_after_unlock_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterTryLock(lock, acquired) \
        ___tracy_after_try_lock_shared_lockable_ctx(lock, acquired);
#define TracyCSharedLockBeforeSharedLock(lock)  ___tracy_before_lock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterSharedLock(lock)   ___tracy_after_lock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterSharedUnlock(lock) ___tracy_after_unlock_shared_shared_lockable_ctx(lock);
#define TracyCSharedLockAfterTrySharedLock(lock, acquired) \
        ___tracy_after_try_lock_shared_shared_lockable_ctx(lock, acquired);
#define TracyCSharedLockMark(lock)                               \
        HYPROF_TRACY_C_PLACE_ ___tracy_mark_shared_lockable_ctx( \
                lock, &HYPROF_JOIN_(hyprof_tracy_place_, __LINE__));
#define TracyCSharedLockCustomName(lock, name, name_bytes) \
        ___tracy_custom_name_shared_lockable_ctx(lock, name, name_bytes);

#define TracyCSetThreadName(name)      ___tracy_set_thread_name(name);
#define TracyCIsConnected              hyprof_is_recording()
#define TracyCIsStarted                1
#define TracyCBeginSamplingProfiling() hyprof_is_recording()
#define TracyCEndSamplingProfiling()   ((void)0)

#ifdef TRACY_FIBERS
#define TracyCFiberEnter(fiber) hyprof_fiber_enter(fiber);
#define TracyCFiberLeave        hyprof_fiber_leave();
#endif

#else /* not TRACY_ENABLE */

#include <sys/prctl.h>

typedef const void *TracyCZoneCtx;
typedef const void *TracyCLockCtx;
typedef const void *TracyCSharedLockCtx;

/* Names the thread for the system (top, gdb), as the macro with TRACY_ENABLE also does. */
#define TracyCSetThreadName(name) (void)prctl(PR_SET_NAME, name);

#define TracyCZone(ctx, active)
#define TracyCZoneN(ctx, name, active)
#define TracyCZoneC(ctx, color, active)
#define TracyCZoneNC(ctx, name, color, active)
#define TracyCZoneS(ctx, depth, active)
#define TracyCZoneNS(ctx, name, depth, active)
#define TracyCZoneCS(ctx, color, depth, active)
#define TracyCZoneNCS(ctx, name, color, depth, active)

#define TracyCZoneEnd(ctx)
#define TracyCZoneText(ctx, txt, size)
#define TracyCZoneTextF(ctx, ...)
#define TracyCZoneName(ctx, txt, size)
#define TracyCZoneNameF(ctx, ...)
#define TracyCZoneColor(ctx, color)
#define TracyCZoneValue(ctx, value)

#define TracyCFrameMark
#define TracyCFrameMarkNamed(name)
#define TracyCFrameMarkStart(name)
#define TracyCFrameMarkEnd(name)
#define TracyCFrameImage(image, width, height, offset, flip)

#define TracyCPlot(name, val)
#define TracyCPlotF(name, val)
#define TracyCPlotI(name, val)
#define TracyCPlotConfig(name, type, step, fill, color)

#define TracyCMessage(txt, size)
#define TracyCMessageL(txt)
#define TracyCMessageC(txt, size, color)
#define TracyCMessageLC(txt, color)
#define TracyCMessageS(txt, size, depth)
#define TracyCMessageLS(txt, depth)
#define TracyCMessageCS(txt, size, color, depth)
#define TracyCMessageLCS(txt, color, depth)
#define TracyCAppInfo(txt, size)

#define TracyCAlloc(ptr, size)
#define TracyCFree(ptr)
#define TracyCAllocN(ptr, size, name)
#define TracyCFreeN(ptr, name)
#define TracyCMemoryDiscard(name)
#define TracyCAllocS(ptr, size, depth)
#define TracyCFreeS(ptr, depth)
#define TracyCAllocNS(ptr, size, depth, name)
#define TracyCFreeNS(ptr, depth, name)
#define TracyCMemoryDiscardS(name, depth)
#define TracyCSecureAlloc(ptr, size)
#define TracyCSecureFree(ptr)
#define TracyCSecureAllocN(ptr, size, name)
#define TracyCSecureFreeN(ptr, name)
#define TracyCSecureMemoryDiscard(name)
#define TracyCSecureAllocS(ptr, size, depth)
#define TracyCSecureFreeS(ptr, depth)
#define TracyCSecureAllocNS(ptr, size, depth, name)
#define TracyCSecureFreeNS(ptr, depth, name)
#define TracyCSecureMemoryDiscardS(name, depth)

#define TracyCLockCtx(lock)
#define TracyCLockAnnounce(lock)
#define TracyCLockTerminate(lock)
#define TracyCLockBeforeLock(lock)
#define TracyCLockAfterLock(lock)
#define TracyCLockAfterUnlock(lock)
#define TracyCLockAfterTryLock(lock, acquired)
#define TracyCLockMark(lock)
#define TracyCLockCustomName(lock, name, name_bytes)

#define TracyCSharedLockCtx(lock)
#define TracyCSharedLockAnnounce(lock)
#define TracyCSharedLockAnnonce(lock) /* as Tracy 0.14 spells it there */
#define TracyCSharedLockTerminate(lock)
#define TracyCSharedLockBeforeLock(lock)
#define TracyCSharedLockAfterLock(lock)
#define TracyCSharedLockAfterUnlock(lock)
#define TracyCSharedLockAfterTryLock(lock, acquired)
#define TracyCSharedLockBeforeSharedLock(lock)
#define TracyCSharedLockAfterSharedLock(lock)
#define TracyCSharedLockAfterSharedUnlock(lock)
#define TracyCSharedLockAfterTrySharedLock(lock, acquired)
#define TracyCSharedLockMark(lock)
#define TracyCSharedLockCustomName(lock, name, name_bytes)

#define TracyCIsConnected              0
#define TracyCIsStarted                0
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling()

#ifdef TRACY_FIBERS
#define TracyCFiberEnter(fiber)
#define TracyCFiberLeave
#endif

#endif

/* NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses) */

#endif /* HYPROF_COMPAT_TRACY_C_H */
