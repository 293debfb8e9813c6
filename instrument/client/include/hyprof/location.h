/* SPDX-License-Identifier: MIT */
/*
 * hyprof/location.h - whether a recorder is active, and what events refer to: places in the source and names
 *
 * Way of the data:  [location.h] -> every other header of hyprof
 *
 * Included by <hyprof/hyprof.h>; names that end in an underscore are not for callers.
 */
#ifndef HYPROF_LOCATION_H
#define HYPROF_LOCATION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A place in the source code, or the name of a plot, of a sequence of frames or of a memory pool.
 * The macros below fill one; its storage is static, and its last two members are zero at first.
 */
struct hyprof_location {
        const char *name;     /* the displayed name; NULL = the function's name */
        const char *function; /* may be NULL */
        const char *file;     /* may be NULL */
        uint32_t line;        /* 0 = none */
        uint32_t color;       /* 0xRRGGBB, 0 = none */
        uint32_t id;          /* the library's; 0 = not used yet */
        uint32_t reserved;    /* 0 */
};

/* These compile without warnings under -Wold-style-cast as well. */
#ifdef __cplusplus
#define HYPROF_NULL_              nullptr
#define HYPROF_CAST_(type, value) static_cast<type>(value)
#else
#define HYPROF_NULL_              NULL
#define HYPROF_CAST_(type, value) ((type)(value))
#endif

/* Initialisers: HYPROF_LOCATION("name", 0xRRGGBB or 0) in a function, HYPROF_NAME("name") anywhere. */
/* clang-format off */
#define HYPROF_LOCATION(name, color) { (name), __func__, __FILE__, __LINE__, (color), 0, 0 }
#define HYPROF_NAME(name)            { (name), HYPROF_NULL_, HYPROF_NULL_, 0, 0, 0, 0 }
/* clang-format on */

/*
 * A location without contents at this place in the source, as an expression.  In C++ it may stand wherever a
 * call may, outside of functions as well, and temporaries beside it live as long as beside a call.
 */
#ifdef __cplusplus
#define HYPROF_SITE_()                                                             \
        ([]() -> struct hyprof_location * {                                        \
                static struct hyprof_location hyprof_site_ = HYPROF_NAME(nullptr); \
                return &hyprof_site_;                                              \
        }())
#else
#define HYPROF_SITE_()                                                          \
        __extension__({                                                         \
                static struct hyprof_location hyprof_site_ = HYPROF_NAME(NULL); \
                &hyprof_site_;                                                  \
        })
#endif

#define HYPROF_JOIN_TWICE_(a, b) a##b
#define HYPROF_JOIN_(a, b)       HYPROF_JOIN_TWICE_(a, b)

#define HYPROF_API_         __attribute__((visibility("default")))
#define HYPROF_UNLIKELY_(x) __builtin_expect(!!(x), 0)

/*
 * The argument of this number is an address that is not followed: gcc must not demand
 * that something is there.
 */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#define HYPROF_NOT_FOLLOWED_(argument) __attribute__((access(none, argument)))
#else
#define HYPROF_NOT_FOLLOWED_(argument)
#endif

/* The events that a recorder requests; numbers of the shared memory. */
#define HYPROF_FAMILY_ZONES_    UINT32_C(0x01)
#define HYPROF_FAMILY_FRAMES_   UINT32_C(0x02)
#define HYPROF_FAMILY_MESSAGES_ UINT32_C(0x04)
#define HYPROF_FAMILY_PLOTS_    UINT32_C(0x08)
#define HYPROF_FAMILY_MEMORY_   UINT32_C(0x10)
#define HYPROF_FAMILY_LOCKS_    UINT32_C(0x20)
#define HYPROF_FAMILY_DEVICES_  UINT32_C(0x40)
#define HYPROF_FAMILY_ANY_      UINT32_C(0xff)

/*
 * The first page of the shared memory lies here, so that a program asks by one load from a constant address.
 */
#define HYPROF_CONTROL_WORDS_ 16384
#define HYPROF_CONTROL_AT_    32
extern HYPROF_API_ uint32_t hyprof_control[HYPROF_CONTROL_WORDS_];

/* A macro when disabled, so that even an unoptimised build has nothing left to link with. */
#ifndef HYPROF_DISABLE
#define HYPROF_WANTED_(families) hyprof_is_wanted_(families)
static inline uint32_t hyprof_is_wanted_(uint32_t families)
{
        return __atomic_load_n(&hyprof_control[HYPROF_CONTROL_AT_], __ATOMIC_RELAXED) & families;
}
#else
#define HYPROF_WANTED_(families) HYPROF_CAST_(uint32_t, (families)&0u)
#endif

/* sizeof: a variable that is only used here is still "used", and nothing is evaluated. */
#define HYPROF_NOTHING_        ((void)0)
#define HYPROF_UNEVALUATED_(x) ((void)sizeof(x))

HYPROF_API_ struct hyprof_location *hyprof_emit_location_of(const char *name, size_t name_bytes,
                                                            const char *function, size_t function_bytes,
                                                            const char *file, size_t file_bytes,
                                                            uint32_t line, uint32_t color);

/* 1 while a recorder is active, else 0: guards work that is only done for the recording. */
static inline int hyprof_is_recording(void)
{
        return HYPROF_WANTED_(HYPROF_FAMILY_ANY_) != 0;
}

/*
 * hyprof_location_of() - the location with this content: for interpreters, and for names
 * that are made at run time
 * @name, @function, @file:  copied; need not end in NUL; NULL = none.  More than 65535 bytes are cut
 * The same content gives the same location again, so that its zones are counted together; it lives as long as
 * the process.  Keep it where you can: finding it costs a comparison of the strings if it was found lately, a
 * few ns, else a hash of them, about 20 to 60 ns.  It takes about 100 bytes and the strings; after 4,194,303
 * different ones, or 1 GiB of strings, one named "(too many locations)" is returned.  Never NULL, except
 * while no recorder is there (then nothing is kept).
 */
/* NOLINTNEXTLINE(readability-function-size): all that a location consists of */
static inline struct hyprof_location *hyprof_location_of(const char *name, size_t name_bytes,
                                                         const char *function, size_t function_bytes,
                                                         const char *file, size_t file_bytes, uint32_t line,
                                                         uint32_t color)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                return hyprof_emit_location_of(name, name_bytes, function, function_bytes, file, file_bytes,
                                               line, color);
        return HYPROF_NULL_;
}

/*
 * The same for the name of a plot, of frames or of a pool that a program makes at run time; @name ends in
 * NUL.
 */
static inline struct hyprof_location *hyprof_name_of(const char *name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                return hyprof_emit_location_of(name, name ? __builtin_strlen(name) : 0, HYPROF_NULL_, 0,
                                               HYPROF_NULL_, 0, 0, 0);
        return HYPROF_NULL_;
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_LOCATION_H */
