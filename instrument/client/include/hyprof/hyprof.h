/* SPDX-License-Identifier: MIT */
/*
 * hyprof/hyprof.h - tell a recording what your program is doing
 *
 * Way of the data:  program -> [hyprof.h] -> libhyprof -> shared memory -> hyprof record
 * Specification:    docs/client-abi.md
 *
 *      #include <hyprof/hyprof.h>
 *
 *      void render(void)
 *      {
 *              HYPROF_ZONE("render");         // ends with the enclosing block
 *              ...
 *      }
 *
 * Link with -lhyprof.  Nothing has to be started or stopped; `hyprof record`
 * finds the program before or while it runs.
 *
 * Cost.  While nobody records, every call is one relaxed load and a branch.
 * While somebody does, an event is one time stamp and one or two stores of
 * 8 bytes into a ring of the calling thread.
 *
 * Threads and signals.  Everything here may be called from any thread and from
 * signal handlers, and leaves errno alone.  Nothing blocks, allocates, prints,
 * starts a thread or ends the program.  An event from a handler that
 * interrupted the library in the middle of writing another one is dropped and
 * counted.  (HYPROF_FULL=wait in the environment asks for waiting, instead of
 * dropping, when a ring is full.)
 *
 * Ownership.  Texts and names are copied before a call returns.  A
 * struct hyprof_location must stay where it is as long as it may be used.
 *
 * -DHYPROF_DISABLE makes all of it nothing: the same machine code as without
 * the lines, arguments not evaluated by the macros, nothing to link with.
 *
 * C99 and later, C++11 and later; gcc and clang.
 */
#ifndef HYPROF_HYPROF_H
#define HYPROF_HYPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A zone that was begun; 0 = it is not recorded, and ending it is nothing.  Ends on the thread that began it. */
typedef uint32_t hyprof_zone;

/*
 * A place in the source code, or the name of a plot or of a sequence of frames.
 * The macros define one; static storage, zero in the last two members.
 */
struct hyprof_location {
        const char *name;     /* what is shown; NULL = the function's name */
        const char *function; /* may be NULL */
        const char *file;     /* may be NULL */
        uint32_t line;        /* 0 = none */
        uint32_t color;       /* 0xRRGGBB, 0 = none */
        uint32_t id;          /* the library's; 0 = not used yet */
        uint32_t reserved;    /* 0 */
};

/* How much a message matters. */
enum hyprof_severity {
        HYPROF_SEVERITY_TRACE = 0,
        HYPROF_SEVERITY_DEBUG = 1,
        HYPROF_SEVERITY_INFO = 2,
        HYPROF_SEVERITY_WARNING = 3,
        HYPROF_SEVERITY_ERROR = 4,
        HYPROF_SEVERITY_FATAL = 5
};

#ifdef __cplusplus
#define HYPROF_NULL_ nullptr
#else
#define HYPROF_NULL_ NULL
#endif

/* Initialisers: HYPROF_LOCATION("name", 0xRRGGBB or 0) in a function, HYPROF_NAME("name") anywhere. */
/* clang-format off */
#define HYPROF_LOCATION(name, color) { (name), __func__, __FILE__, __LINE__, (color), 0, 0 }
#define HYPROF_NAME(name)            { (name), HYPROF_NULL_, HYPROF_NULL_, 0, 0, 0, 0 }
/* clang-format on */

#define HYPROF_JOIN_TWICE_(a, b) a##b
#define HYPROF_JOIN_(a, b)       HYPROF_JOIN_TWICE_(a, b)

#ifndef HYPROF_DISABLE

#define HYPROF_API_         __attribute__((visibility("default")))
#define HYPROF_UNLIKELY_(x) __builtin_expect(!!(x), 0)

/* What a recorder asks for; numbers of the shared memory. */
#define HYPROF_FAMILY_ZONES_    UINT32_C(0x01)
#define HYPROF_FAMILY_FRAMES_   UINT32_C(0x02)
#define HYPROF_FAMILY_MESSAGES_ UINT32_C(0x04)
#define HYPROF_FAMILY_PLOTS_    UINT32_C(0x08)
#define HYPROF_FAMILY_ANY_      UINT32_C(0xff)

/* The first page of the shared memory lies here, so that to ask is one load from a constant address. */
#define HYPROF_CONTROL_WORDS_ 16384
#define HYPROF_CONTROL_AT_    32
extern HYPROF_API_ uint32_t hyprof_control[HYPROF_CONTROL_WORDS_];

/* The slow halves of the functions below; call those instead. */
HYPROF_API_ hyprof_zone hyprof_emit_zone_begin(struct hyprof_location *location);
HYPROF_API_ void hyprof_emit_zone_end(hyprof_zone zone);
HYPROF_API_ void hyprof_emit_message(const char *text, size_t text_bytes, enum hyprof_severity severity,
                                     uint32_t color);
HYPROF_API_ void hyprof_emit_plot_int(struct hyprof_location *name, int64_t value);
HYPROF_API_ void hyprof_emit_plot_double(struct hyprof_location *name, double value);
HYPROF_API_ void hyprof_emit_frame_mark(struct hyprof_location *name);

/*
 * hyprof_thread_name() - name the calling thread in recordings
 * @name:  NUL-terminated; copied, what is longer than 63 bytes is cut; NULL is nothing
 * May be called at any time: the name is kept for recordings that begin later.
 */
HYPROF_API_ void hyprof_thread_name(const char *name);

static inline uint32_t hyprof_is_wanted_(uint32_t families)
{
        return __atomic_load_n(&hyprof_control[HYPROF_CONTROL_AT_], __ATOMIC_RELAXED) & families;
}

/* 1 while somebody records, else 0: guards work that is only done for the recording. */
static inline int hyprof_is_recording(void)
{
        return hyprof_is_wanted_(HYPROF_FAMILY_ANY_) != 0;
}

/*
 * hyprof_zone_begin() - a piece of work begins on this thread
 * Returns what to give to hyprof_zone_end().  Zones of a thread nest.
 */
static inline hyprof_zone hyprof_zone_begin(struct hyprof_location *location)
{
        return HYPROF_UNLIKELY_(hyprof_is_wanted_(HYPROF_FAMILY_ZONES_)) ? hyprof_emit_zone_begin(location)
                                                                         : 0;
}

/* It ends: the innermost zone that is open on this thread. */
static inline void hyprof_zone_end(hyprof_zone zone)
{
        if (HYPROF_UNLIKELY_(zone != 0))
                hyprof_emit_zone_end(zone);
}

/*
 * hyprof_message() - a line of text at this moment
 * @text:        borrowed; need not end in NUL
 * @text_bytes:  at most 1 MiB and less than a ring; a longer one is dropped and counted
 * @color:       0xRRGGBB, 0 = none
 */
static inline void hyprof_message(const char *text, size_t text_bytes, enum hyprof_severity severity,
                                  uint32_t color)
{
        if (HYPROF_UNLIKELY_(hyprof_is_wanted_(HYPROF_FAMILY_MESSAGES_)))
                hyprof_emit_message(text, text_bytes, severity, color);
}

/* The value of a quantity from this moment on, for a curve over time. */
static inline void hyprof_plot_int(struct hyprof_location *name, int64_t value)
{
        if (HYPROF_UNLIKELY_(hyprof_is_wanted_(HYPROF_FAMILY_PLOTS_)))
                hyprof_emit_plot_int(name, value);
}

static inline void hyprof_plot_double(struct hyprof_location *name, double value)
{
        if (HYPROF_UNLIKELY_(hyprof_is_wanted_(HYPROF_FAMILY_PLOTS_)))
                hyprof_emit_plot_double(name, value);
}

/* A frame ends and the next begins; NULL = the program's main frames, else those of @name. */
static inline void hyprof_frame_mark(struct hyprof_location *name)
{
        if (HYPROF_UNLIKELY_(hyprof_is_wanted_(HYPROF_FAMILY_FRAMES_)))
                hyprof_emit_frame_mark(name);
}

/*
 * HYPROF_ZONE("name") - the rest of the enclosing block is a zone; two on one line of source do not compile
 * HYPROF_ZONE_COLOR("name", 0xRRGGBB) - the same with a colour
 * HYPROF_ZONE_FUNCTION() - the same with the function's name
 * In C a zone that longjmp() leaves is never ended.
 */
#define HYPROF_ZONE_AT_(name, color) HYPROF_ZONE_AS_(HYPROF_JOIN_(hyprof_zone_, __LINE__), name, color)
#ifdef __cplusplus
#define HYPROF_ZONE_AS_(var, name, color)                                                           \
        static struct hyprof_location HYPROF_JOIN_(var, _location_) = HYPROF_LOCATION(name, color); \
        const hyprof_scoped_zone var(&HYPROF_JOIN_(var, _location_))
#else
#define HYPROF_ZONE_AS_(var, name, color)                                                                 \
        static struct hyprof_location HYPROF_JOIN_(var, _location_) = HYPROF_LOCATION(name, color);       \
        const hyprof_zone var __attribute__((cleanup(hyprof_zone_cleanup_), unused)) = hyprof_zone_begin( \
                &HYPROF_JOIN_(var, _location_))

static inline void hyprof_zone_cleanup_(const hyprof_zone *zone)
{
        hyprof_zone_end(*zone);
}
#endif

#define HYPROF_ZONE(name)              HYPROF_ZONE_AT_(name, 0)
#define HYPROF_ZONE_COLOR(name, color) HYPROF_ZONE_AT_(name, color)
#define HYPROF_ZONE_FUNCTION()         HYPROF_ZONE_AT_(HYPROF_NULL_, 0)

/* HYPROF_ZONE_BEGIN(var, "name") ... HYPROF_ZONE_END(var) - a zone that is not a block; defines `var` */
#define HYPROF_ZONE_BEGIN_COLOR(var, name, color)                                                   \
        static struct hyprof_location HYPROF_JOIN_(var, _location_) = HYPROF_LOCATION(name, color); \
        const hyprof_zone var = hyprof_zone_begin(&HYPROF_JOIN_(var, _location_))
#define HYPROF_ZONE_BEGIN(var, name) HYPROF_ZONE_BEGIN_COLOR(var, name, 0)
#define HYPROF_ZONE_END(var)         hyprof_zone_end(var)

/* HYPROF_MESSAGE("literal") - a message of severity INFO */
#define HYPROF_MESSAGE(literal) HYPROF_MESSAGE_COLOR(literal, HYPROF_SEVERITY_INFO, 0)
#define HYPROF_MESSAGE_COLOR(literal, severity, color) \
        hyprof_message("" literal "", sizeof(literal) - 1, (severity), (color))

/* HYPROF_PLOT_INT("name", int64_t), HYPROF_PLOT_DOUBLE("name", double) */
#define HYPROF_PLOT_AT_(function, plot, value)                                  \
        do {                                                                    \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(plot); \
                function(&hyprof_name_, (value));                               \
        } while (0)
#define HYPROF_PLOT_INT(name, value)    HYPROF_PLOT_AT_(hyprof_plot_int, name, value)
#define HYPROF_PLOT_DOUBLE(name, value) HYPROF_PLOT_AT_(hyprof_plot_double, name, value)

/* HYPROF_FRAME(), HYPROF_FRAME_NAMED("name") - a frame of the program, or of one of its parts, ends here */
#define HYPROF_FRAME() hyprof_frame_mark(HYPROF_NULL_)
#define HYPROF_FRAME_NAMED(name)                                                \
        do {                                                                    \
                static struct hyprof_location hyprof_name_ = HYPROF_NAME(name); \
                hyprof_frame_mark(&hyprof_name_);                               \
        } while (0)

#else /* HYPROF_DISABLE */

/* sizeof: a variable that is only used here is still "used", and nothing is evaluated. */
#define HYPROF_NOTHING_                                ((void)0)
#define HYPROF_UNEVALUATED_(x)                         ((void)sizeof(x))
#define HYPROF_ZONE(name)                              HYPROF_NOTHING_
#define HYPROF_ZONE_COLOR(name, color)                 HYPROF_NOTHING_
#define HYPROF_ZONE_FUNCTION()                         HYPROF_NOTHING_
#define HYPROF_ZONE_BEGIN(var, name)                   HYPROF_NOTHING_
#define HYPROF_ZONE_BEGIN_COLOR(var, name, color)      HYPROF_NOTHING_
#define HYPROF_ZONE_END(var)                           HYPROF_NOTHING_
#define HYPROF_MESSAGE(literal)                        HYPROF_NOTHING_
#define HYPROF_MESSAGE_COLOR(literal, severity, color) HYPROF_NOTHING_
#define HYPROF_PLOT_INT(name, value)                   HYPROF_UNEVALUATED_(value)
#define HYPROF_PLOT_DOUBLE(name, value)                HYPROF_UNEVALUATED_(value)
#define HYPROF_FRAME()                                 HYPROF_NOTHING_
#define HYPROF_FRAME_NAMED(name)                       HYPROF_NOTHING_

static inline void hyprof_thread_name(const char *name)
{
        (void)name;
}

static inline int hyprof_is_recording(void)
{
        return 0;
}

static inline hyprof_zone hyprof_zone_begin(struct hyprof_location *location)
{
        (void)location;
        return 0;
}

static inline void hyprof_zone_end(hyprof_zone zone)
{
        (void)zone;
}

static inline void hyprof_message(const char *text, size_t text_bytes, enum hyprof_severity severity,
                                  uint32_t color)
{
        (void)text;
        (void)text_bytes;
        (void)severity;
        (void)color;
}

static inline void hyprof_plot_int(struct hyprof_location *name, int64_t value)
{
        (void)name;
        (void)value;
}

static inline void hyprof_plot_double(struct hyprof_location *name, double value)
{
        (void)name;
        (void)value;
}

static inline void hyprof_frame_mark(struct hyprof_location *name)
{
        (void)name;
}

#endif /* HYPROF_DISABLE */

#ifdef __cplusplus
} /* extern "C" */

/* The object behind HYPROF_ZONE in C++: begins in the constructor, ends in the destructor. */
class hyprof_scoped_zone
{
      public:
        explicit hyprof_scoped_zone(struct hyprof_location *location) noexcept
            : zone(hyprof_zone_begin(location))
        {
        }
        ~hyprof_scoped_zone() noexcept
        {
                hyprof_zone_end(zone);
        }
        hyprof_scoped_zone(const hyprof_scoped_zone &) = delete;
        hyprof_scoped_zone &operator=(const hyprof_scoped_zone &) = delete;

      private:
        const hyprof_zone zone;
};
#endif

#endif /* HYPROF_HYPROF_H */
