/* SPDX-License-Identifier: MIT */
/*
 * hyprof/moment.h - things that happen at a moment: frames, messages, values of plots
 *
 * Way of the data:  program -> [moment.h] -> libhyprof -> shared memory -> hyprof record
 *
 * Cost while recording: one time stamp; 8 bytes for a frame, 16 for a value, 16
 * and the text for a message, 16 for one of a literal.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_MOMENT_H
#define HYPROF_MOMENT_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much a message matters. */
enum hyprof_severity {
        HYPROF_SEVERITY_TRACE = 0,
        HYPROF_SEVERITY_DEBUG = 1,
        HYPROF_SEVERITY_INFO = 2,
        HYPROF_SEVERITY_WARNING = 3,
        HYPROF_SEVERITY_ERROR = 4,
        HYPROF_SEVERITY_FATAL = 5
};

/* The unit of a plot's values. */
enum hyprof_plot_format {
        HYPROF_PLOT_NUMBER = 0,
        HYPROF_PLOT_BYTES = 1,   /* of memory: shown as KiB, MiB, GiB */
        HYPROF_PLOT_PERCENT = 2, /* 0 to 100 */
        HYPROF_PLOT_WATTS = 3
};

#define HYPROF_PLOT_STEP UINT32_C(1) /* a value holds until the next, else a line is drawn between them */
#define HYPROF_PLOT_FILL UINT32_C(2) /* the area below is filled */

/* The slow halves of the functions below; call those instead. */
HYPROF_API_ void hyprof_emit_frame_mark(struct hyprof_location *name);
HYPROF_API_ void hyprof_emit_frame_begin(struct hyprof_location *name);
HYPROF_API_ void hyprof_emit_frame_end(struct hyprof_location *name);
HYPROF_API_ void hyprof_emit_message(const char *text, size_t text_bytes, enum hyprof_severity severity,
                                     uint32_t color, uint32_t depth);
HYPROF_API_ void hyprof_emit_message_literal(struct hyprof_location *literal, const char *text,
                                             enum hyprof_severity severity, uint32_t color, uint32_t depth);
HYPROF_API_ void hyprof_emit_plot_int(struct hyprof_location *name, int64_t value);
HYPROF_API_ void hyprof_emit_plot_double(struct hyprof_location *name, double value);
HYPROF_API_ void hyprof_emit_plot_config(struct hyprof_location *name, enum hyprof_plot_format format,
                                         uint32_t flags, uint32_t color, const char *unit);

HYPROF_API_ void hyprof_emit_frame_picture(const void *pixels, uint32_t width, uint32_t height,
                                           uint32_t frames_back, int32_t is_flipped);

/* A frame ends and the next begins; NULL = the program's main frames, else those of @name. */
static inline void hyprof_frame_mark(struct hyprof_location *name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_mark(name);
}

/* Frames with gaps between them, on whatever threads: one begins, or ends. */
static inline void hyprof_frame_begin(struct hyprof_location *name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_begin(name);
}

static inline void hyprof_frame_end(struct hyprof_location *name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_end(name);
}

/*
 * hyprof_frame_picture() - what a main frame looked like, as a small picture
 * @pixels:       4 bytes each: red, green, blue, alpha, which is ignored; copied
 * @width, @height:  multiples of 4, at most 2048; others are refused and counted.  320 by 180 is enough
 * @frames_back:  how many main frames ago it was drawn, up to 255
 * @is_flipped:   the lowest row comes first, as of OpenGL
 */
static inline void hyprof_frame_picture(const void *pixels, uint32_t width, uint32_t height,
                                        uint32_t frames_back, int32_t is_flipped)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_picture(pixels, width, height, frames_back, is_flipped);
}

/*
 * hyprof_message() - a line of text at this moment
 * @text:        copied; need not end in NUL
 * @text_bytes:  at most 16 MiB; a longer one is left out and counted
 * @color:       0xRRGGBB, 0 = none
 */
static inline void hyprof_message(const char *text, size_t text_bytes, enum hyprof_severity severity,
                                  uint32_t color)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_)))
                hyprof_emit_message(text, text_bytes, severity, color, 0);
}

/*
 * hyprof_message_literal() - a line of text that is the same each time: 16 bytes of a ring, however long
 * @literal:  static, all zeros at first; the library keeps the text and its number there
 * @text:     ends in NUL, and never changes: a string literal.  If a program uses one @literal with several
 *            texts, all of them are recorded correctly, but only the first one fast.
 */
static inline void hyprof_message_literal(struct hyprof_location *literal, const char *text,
                                          enum hyprof_severity severity, uint32_t color)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_)))
                hyprof_emit_message_literal(literal, text, severity, color, 0);
}

/* A mark in the recording, as `hyprof ctl mark` sets it: a message that ends in NUL. */
static inline void hyprof_mark(const char *text)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_)) && text)
                hyprof_emit_message(text, __builtin_strlen(text), HYPROF_SEVERITY_INFO, 0, 0);
}

/* The same with the callstack that led here, of @depth frames at most; see hyprof_zone_begin_callstack(). */
static inline void hyprof_message_callstack(const char *text, size_t text_bytes,
                                            enum hyprof_severity severity, uint32_t color, uint32_t depth)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_MESSAGES_)))
                hyprof_emit_message(text, text_bytes, severity, color, depth);
}

/* The value of a quantity from this moment on, for a curve over time.  Plots of one name are one plot. */
static inline void hyprof_plot_int(struct hyprof_location *name, int64_t value)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_PLOTS_)))
                hyprof_emit_plot_int(name, value);
}

static inline void hyprof_plot_double(struct hyprof_location *name, double value)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_PLOTS_)))
                hyprof_emit_plot_double(name, value);
}

static inline void hyprof_plot_float(struct hyprof_location *name, float value)
{
        hyprof_plot_double(name, HYPROF_CAST_(double, value));
}

/*
 * hyprof_plot_config() - what the values of a plot mean
 * @flags:  HYPROF_PLOT_STEP | HYPROF_PLOT_FILL
 * @color:  0xRRGGBB, 0 = the viewer chooses
 * @unit:   "ms", "tokens"; NULL = none; copied
 * Kept for recordings that begin later, so one call as the program starts is
 * enough.
 */
#ifndef HYPROF_DISABLE
static inline void hyprof_plot_config(struct hyprof_location *name, enum hyprof_plot_format format,
                                      uint32_t flags, uint32_t color, const char *unit)
{
        hyprof_emit_plot_config(name, format, flags, color, unit);
}
#else
static inline void hyprof_plot_config(struct hyprof_location *name, enum hyprof_plot_format format,
                                      uint32_t flags, uint32_t color, const char *unit)
{
        (void)name;
        (void)format;
        (void)flags;
        (void)color;
        (void)unit;
}
#endif

#ifdef __cplusplus
}
#endif

#ifndef HYPROF_DISABLE

/* HYPROF_MESSAGE("literal") - a message of severity INFO */
#define HYPROF_MESSAGE(literal) HYPROF_MESSAGE_COLOR(literal, HYPROF_SEVERITY_INFO, 0)
#define HYPROF_MESSAGE_COLOR(literal, severity, color) \
        hyprof_message_literal(HYPROF_SITE_(), "" literal "", (severity), (color))

/* HYPROF_PLOT_INT("name", int64_t), HYPROF_PLOT_FLOAT("name", float), HYPROF_PLOT_DOUBLE("name", double) */
#define HYPROF_PLOT_AT_(function, plot, value)                                  \
        do {                                                                    \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(plot); \
                function(&hyprof_name_, (value));                               \
        } while (0)
#define HYPROF_PLOT_INT(name, value)    HYPROF_PLOT_AT_(hyprof_plot_int, name, value)
#define HYPROF_PLOT_FLOAT(name, value)  HYPROF_PLOT_AT_(hyprof_plot_float, name, value)
#define HYPROF_PLOT_DOUBLE(name, value) HYPROF_PLOT_AT_(hyprof_plot_double, name, value)

/* HYPROF_PLOT_CONFIG("name", format, flags, 0xRRGGBB, "unit" or NULL) - see hyprof_plot_config() */
#define HYPROF_PLOT_CONFIG(name, format, flags, color, unit)                           \
        do {                                                                           \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(name);        \
                hyprof_plot_config(&hyprof_name_, (format), (flags), (color), (unit)); \
        } while (0)

/* HYPROF_FRAME(), HYPROF_FRAME_NAMED("name") - a frame of the program, or of one of its parts, ends here */
#define HYPROF_FRAME_AT_(function, frames)                                        \
        do {                                                                      \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(frames); \
                function(&hyprof_name_);                                          \
        } while (0)
#define HYPROF_FRAME()           hyprof_frame_mark(HYPROF_NULL_)
#define HYPROF_FRAME_NAMED(name) HYPROF_FRAME_AT_(hyprof_frame_mark, name)
/* HYPROF_FRAME_BEGIN("name"), HYPROF_FRAME_END("name") - frames with gaps between them */
#define HYPROF_FRAME_BEGIN(name) HYPROF_FRAME_AT_(hyprof_frame_begin, name)
#define HYPROF_FRAME_END(name)   HYPROF_FRAME_AT_(hyprof_frame_end, name)

#else /* HYPROF_DISABLE */

#define HYPROF_MESSAGE(literal)                              HYPROF_NOTHING_
#define HYPROF_MESSAGE_COLOR(literal, severity, color)       HYPROF_NOTHING_
#define HYPROF_PLOT_INT(name, value)                         HYPROF_UNEVALUATED_(value)
#define HYPROF_PLOT_FLOAT(name, value)                       HYPROF_UNEVALUATED_(value)
#define HYPROF_PLOT_DOUBLE(name, value)                      HYPROF_UNEVALUATED_(value)
#define HYPROF_PLOT_CONFIG(name, format, flags, color, unit) HYPROF_NOTHING_
#define HYPROF_FRAME()                                       HYPROF_NOTHING_
#define HYPROF_FRAME_NAMED(name)                             HYPROF_NOTHING_
#define HYPROF_FRAME_BEGIN(name)                             HYPROF_NOTHING_
#define HYPROF_FRAME_END(name)                               HYPROF_NOTHING_

#endif /* HYPROF_DISABLE */

#endif /* HYPROF_MOMENT_H */
