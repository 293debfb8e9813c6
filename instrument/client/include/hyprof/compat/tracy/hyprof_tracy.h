/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/tracy/hyprof_tracy.h - what Tracy's macros for C and for C++ have in common
 *
 * Way of the data:  program -> Tracy.hpp, TracyC.h -> [hyprof_tracy.h] -> hyprof.h -> libhyprof
 *
 * Tracy names plots, frames and pools by pointers.  A string literal is looked
 * up once where it stands in the source; any other pointer is looked up by what
 * it points to each time, about 20 to 60 ns, so that it may also be a string
 * whose memory is used again.
 *
 * Nothing here is for callers.
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_H
#define HYPROF_COMPAT_HYPROF_TRACY_H

#include "../../hyprof.h"

#include <stddef.h>
#include <stdint.h>

/* The revision of Tracy's API: 1103 is 0.11, 1200 is 0.12 and 0.13, 1400 is 0.14. */
#ifndef TRACY_COMPAT_API
#define TRACY_COMPAT_API 1400
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct hyprof_tracy_name_ {
        struct hyprof_location *site; /* static, where a literal stands; NULL = it is no literal */
        const char *text;             /* NULL = none: the main frames, the main pool */
};

/* Evaluates @words once; in C++ what they point to lives until the end of the whole expression. */
#ifdef __cplusplus
#define HYPROF_TRACY_NAME_(words) \
        (::hyprof_tracy_name_{ __builtin_constant_p(words) ? HYPROF_SITE_() : nullptr, (words) })
#else
#define HYPROF_TRACY_NAME_(words)                                                    \
        __extension__({                                                              \
                const struct hyprof_tracy_name_ hyprof_name_ = {                     \
                        __builtin_constant_p(words) ? HYPROF_SITE_() : NULL, (words) \
                };                                                                   \
                hyprof_name_;                                                        \
        })
#endif

/* In a function that was inlined, one place may stand for several literals: the first one keeps it. */
static inline int hyprof_tracy_is_of_(struct hyprof_location *site, const char *text)
{
        const char *known = __atomic_load_n(&site->name, __ATOMIC_ACQUIRE);

        return known == text ||
               (!known && __atomic_compare_exchange_n(&site->name, &known, text, 0, __ATOMIC_ACQ_REL,
                                                      __ATOMIC_ACQUIRE)) ||
               known == text;
}

static inline struct hyprof_location *hyprof_tracy_location_(struct hyprof_tracy_name_ name)
{
        if (!name.text)
                return HYPROF_NULL_;
        if (name.site && hyprof_tracy_is_of_(name.site, name.text))
                return name.site;
        return hyprof_emit_location_of(name.text, __builtin_strlen(name.text), HYPROF_NULL_, 0, HYPROF_NULL_,
                                       0, 0, 0);
}

/* Frames. */
static inline void hyprof_tracy_frame_mark_(struct hyprof_tracy_name_ name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_mark(hyprof_tracy_location_(name));
}

static inline void hyprof_tracy_frame_begin_(struct hyprof_tracy_name_ name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_begin(hyprof_tracy_location_(name));
}

static inline void hyprof_tracy_frame_end_(struct hyprof_tracy_name_ name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_end(hyprof_tracy_location_(name));
}

/* Plots. */
static inline void hyprof_tracy_plot_int_(struct hyprof_tracy_name_ name, int64_t value)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_PLOTS_)))
                hyprof_emit_plot_int(hyprof_tracy_location_(name), value);
}

static inline void hyprof_tracy_plot_double_(struct hyprof_tracy_name_ name, double value)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_PLOTS_)))
                hyprof_emit_plot_double(hyprof_tracy_location_(name), value);
}

/* Kept for recordings that begin later, so it does not check whether a recorder is active. */
static inline void hyprof_tracy_plot_config_(struct hyprof_tracy_name_ name, uint32_t format, uint32_t flags,
                                             uint32_t color)
{
        enum hyprof_plot_format known = format <= HYPROF_PLOT_WATTS
                                                ? HYPROF_CAST_(enum hyprof_plot_format, format)
                                                : HYPROF_PLOT_NUMBER;

        hyprof_plot_config(hyprof_tracy_location_(name), known, flags, color, HYPROF_NULL_);
}

static inline enum hyprof_severity hyprof_tracy_severity_(uint32_t severity)
{
        return severity <= HYPROF_SEVERITY_FATAL ? HYPROF_CAST_(enum hyprof_severity, severity)
                                                 : HYPROF_SEVERITY_INFO;
}

/* Messages; @depth of 0 or less = no callstack. */
static inline void hyprof_tracy_message_(const char *text, size_t text_bytes, uint32_t severity,
                                         uint32_t color, int32_t depth)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_)))
                hyprof_emit_message(text, text_bytes, hyprof_tracy_severity_(severity), color,
                                    depth > 0 ? HYPROF_CAST_(uint32_t, depth) : 0);
}

/*
 * A message whose text Tracy requires to stay for ever.  Only where compilers see a literal, it gets a
 * number.
 */
static inline void hyprof_tracy_message_literal_(struct hyprof_tracy_name_ text, uint32_t severity,
                                                 uint32_t color, int32_t depth)
{
        if (!text.site || !text.text)
                hyprof_tracy_message_(text.text, text.text ? __builtin_strlen(text.text) : 0, severity, color,
                                      depth);
        else if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_)))
                hyprof_emit_message_literal(text.site, text.text, hyprof_tracy_severity_(severity), color,
                                            depth > 0 ? HYPROF_CAST_(uint32_t, depth) : 0);
}

/* Memory. */
HYPROF_NOT_FOLLOWED_(2)
static inline void hyprof_tracy_alloc_(struct hyprof_tracy_name_ pool, const void *address, size_t bytes,
                                       int32_t depth)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_alloc(hyprof_tracy_location_(pool), address, bytes,
                                         depth > 0 ? HYPROF_CAST_(uint32_t, depth) : 0);
}

HYPROF_NOT_FOLLOWED_(2)
static inline void hyprof_tracy_free_(struct hyprof_tracy_name_ pool, const void *address, int32_t depth)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_free(hyprof_tracy_location_(pool), address,
                                        depth > 0 ? HYPROF_CAST_(uint32_t, depth) : 0);
}

static inline void hyprof_tracy_discard_(struct hyprof_tracy_name_ pool)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MEMORY_)))
                hyprof_emit_memory_discard(hyprof_tracy_location_(pool));
}

/*
 * Counts a call that is accepted and not recorded, while something is recorded; the report shows the sum.
 * Returns 0.
 */
static inline uint32_t hyprof_tracy_unrecorded_(enum hyprof_unrecorded_ what)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_unrecorded(what);
        return 0;
}

/* Zones. */
static inline hyprof_zone hyprof_tracy_zone_begin_(struct hyprof_location *location, int32_t depth,
                                                   int active)
{
        if (!active || !HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)))
                return 0;
        return depth > 0 ? hyprof_emit_zone_begin_callstack(location, HYPROF_CAST_(uint32_t, depth))
                         : hyprof_emit_zone_begin(location);
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_COMPAT_HYPROF_TRACY_H */
