/* SPDX-License-Identifier: MIT */
/*
 * hyprof/program.h - about the program: its threads, its settings, the source and the
 * code that it makes itself
 *
 * Way of the data:  program -> [program.h] -> libhyprof -> shared memory -> hyprof record
 *
 * Events without an active recorder are not kept, except names of threads.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_PROGRAM_H
#define HYPROF_PROGRAM_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the code of a source line begins. */
struct hyprof_code_line {
        uint32_t offset_bytes; /* from the beginning of the code */
        uint32_t line;
};

/* The slow halves of the functions below; call those instead. */
HYPROF_API_ void hyprof_emit_thread_name(const char *name);
HYPROF_API_ void hyprof_emit_thread_group(int32_t group);
HYPROF_API_ void hyprof_emit_program_info(const char *key, size_t key_bytes, const char *text,
                                          size_t text_bytes);
HYPROF_API_ void hyprof_emit_source_text(const char *file, size_t file_bytes, const char *text,
                                         size_t text_bytes);
HYPROF_API_ void hyprof_emit_code_add(const void *address, size_t bytes, const char *name, size_t name_bytes,
                                      const void *image, size_t image_bytes);
HYPROF_API_ void hyprof_emit_code_add_lines(const void *address, size_t bytes,
                                            struct hyprof_location *location,
                                            const struct hyprof_code_line *lines, size_t n_lines);
HYPROF_API_ void hyprof_emit_code_remove(const void *address, size_t bytes);
HYPROF_API_ uint64_t hyprof_emit_now_ns(void);
HYPROF_API_ void hyprof_emit_pause(void);
HYPROF_API_ void hyprof_emit_resume(void);

/* For headers in the place of other profilers': what a call is about that hyprof has no event for. */
enum hyprof_unrecorded_ {
        HYPROF_UNRECORDED_PICTURE_ = 0,
        HYPROF_UNRECORDED_DEVICE_ZONE_ = 1,
        HYPROF_UNRECORDED_OTHER_ = 2
};
HYPROF_API_ void hyprof_emit_unrecorded(enum hyprof_unrecorded_ what);

/*
 * hyprof_thread_name() - name the calling thread in recordings
 * @name: ends in NUL; copied, and cut to 63 bytes; NULL is nothing
 * May be called at any time: the name is kept for recordings that begin later.
 */
static inline void hyprof_thread_name(const char *name)
{
#ifndef HYPROF_DISABLE
        hyprof_emit_thread_name(name);
#else
        (void)name;
#endif
}

/*
 * The same for the group that the calling thread belongs to; viewers show the threads of one group together.
 */
static inline void hyprof_thread_group(int32_t group)
{
#ifndef HYPROF_DISABLE
        hyprof_emit_thread_group(group);
#else
        (void)group;
#endif
}

/* A line about this run of the program: its version, its arguments, its model.  Copied. */
static inline void hyprof_program_info(const char *text, size_t text_bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_program_info(HYPROF_NULL_, 0, text, text_bytes);
}

/* The same as a key and a value; both end in NUL; a later value of a key replaces an earlier one. */
static inline void hyprof_program_value(const char *key, const char *value)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_program_info(key, key ? __builtin_strlen(key) : 0, value,
                                         value ? __builtin_strlen(value) : 0);
}

/*
 * hyprof_source_text() - hand over the source of what the program generated
 * @file:  its name, as the debug information of the generated code calls it; copied
 * @text:  copied; at most 128 MiB, more is refused and counted
 */
static inline void hyprof_source_text(const char *file, size_t file_bytes, const char *text,
                                      size_t text_bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_source_text(file, file_bytes, text, text_bytes);
}

/*
 * hyprof_code_add() - announce code that the program put into its memory itself
 * @address, @bytes:  where it lies
 * @name:             of the function, or of the whole; copied
 * @image:            the ELF image that it comes from, with symbols and debug
 *                    information; NULL = none; copied
 * Call hyprof_code_remove() when the code goes away: addresses are used again.
 */
static inline void hyprof_code_add(const void *address, size_t bytes, const char *name, size_t name_bytes,
                                   const void *image, size_t image_bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_code_add(address, bytes, name, name_bytes, image, image_bytes);
}

/*
 * hyprof_code_add_lines() - the same without an image, but with the source lines of the code
 * @location:  static, or from hyprof_location_of(): the name of the function, and the file of the lines
 * @lines:     upwards by their offsets; each lasts until the next begins; copied
 */
static inline void hyprof_code_add_lines(const void *address, size_t bytes, struct hyprof_location *location,
                                         const struct hyprof_code_line *lines, size_t n_lines)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_code_add_lines(address, bytes, location, lines, n_lines);
}

static inline void hyprof_code_remove(const void *address, size_t bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_code_remove(address, bytes);
}

/*
 * hyprof_pause() - leave out this program's events from now on, until hyprof_resume()
 * No zone begins and nothing else is emitted by any thread; zones that are open may end.  Samples and context
 * switches are the recorder's, and go on.  A recording that begins meanwhile begins paused.  The trace has
 * the messages "events paused by the program" and "events resumed by the program".  Pauses are not counted:
 * one hyprof_resume() ends them.  A child of fork() begins without a pause.
 */
static inline void hyprof_pause(void)
{
#ifndef HYPROF_DISABLE
        hyprof_emit_pause();
#endif
}

static inline void hyprof_resume(void)
{
#ifndef HYPROF_DISABLE
        hyprof_emit_resume();
#endif
}

/* Now, in nanoseconds of CLOCK_MONOTONIC_RAW, the clock of recordings; 0 without a recorder. */
static inline uint64_t hyprof_now_ns(void)
{
        return HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)) ? hyprof_emit_now_ns() : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_PROGRAM_H */
