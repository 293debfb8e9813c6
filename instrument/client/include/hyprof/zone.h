/* SPDX-License-Identifier: MIT */
/*
 * hyprof/zone.h - pieces of work: begin, end, and what one of them is about
 *
 * Way of the data:  program -> [zone.h] -> libhyprof -> shared memory -> hyprof record
 *
 * Zones nest, separately on each thread and each fiber (see fiber.h).  Ending a zone
 * also ends those inside of it that were forgotten.  Ending a zone twice, on another
 * thread, or in a later recording than it began in, does nothing.
 *
 * Cost while recording: one time stamp and a store of 8 bytes for each begin
 * and end; a number, colour or text about a zone one more event.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_ZONE_H
#define HYPROF_ZONE_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zone that was begun; 0 = it is not recorded, and no operation on it does anything. */
typedef uint32_t hyprof_zone;

/* A constant when disabled, like HYPROF_WANTED_(). */
#ifndef HYPROF_DISABLE
#define HYPROF_ZONE_IS_BEGUN_(zone) ((zone) != 0)
#else
#define HYPROF_ZONE_IS_BEGUN_(zone) (sizeof(zone) == 0)
#endif

/* The slow halves of the functions below; call those instead. */
HYPROF_API_ hyprof_zone hyprof_emit_zone_begin(struct hyprof_location *location);
HYPROF_API_ hyprof_zone hyprof_emit_zone_begin_callstack(struct hyprof_location *location, uint32_t depth);
HYPROF_API_ void hyprof_emit_zone_end(hyprof_zone zone);
HYPROF_API_ void hyprof_emit_zone_text(hyprof_zone zone, const char *text, size_t text_bytes);
HYPROF_API_ void hyprof_emit_zone_name(hyprof_zone zone, const char *name, size_t name_bytes);
HYPROF_API_ void hyprof_emit_zone_value(hyprof_zone zone, int64_t value);
HYPROF_API_ void hyprof_emit_zone_color(hyprof_zone zone, uint32_t color);
HYPROF_API_ void hyprof_emit_zone_key(hyprof_zone zone, struct hyprof_location *space, uint64_t key);

/*
 * hyprof_zone_begin() - a piece of work begins on this thread
 * @location:  static, or from hyprof_location_of(); NULL = no zone begins
 * Returns the zone for the functions below.  4095 zones may be open on a thread; deeper
 * ones are not recorded.
 */
static inline hyprof_zone hyprof_zone_begin(struct hyprof_location *location)
{
        return HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_)) ? hyprof_emit_zone_begin(location) : 0;
}

/*
 * The same with the callstack that led here; @depth: at most that many frames, up to 64.
 * Follows the frame pointers where the program keeps them (about 3 ns a frame), else copies up
 * to 8 KiB of the stack.
 */
static inline hyprof_zone hyprof_zone_begin_callstack(struct hyprof_location *location, uint32_t depth)
{
        return HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                       ? hyprof_emit_zone_begin_callstack(location, depth)
                       : 0;
}

/* It ends. */
static inline void hyprof_zone_end(hyprof_zone zone)
{
        if (HYPROF_UNLIKELY_(HYPROF_ZONE_IS_BEGUN_(zone)))
                hyprof_emit_zone_end(zone);
}

/*
 * Adds a line of text to an open zone; @text is copied and need not end in NUL.  Over 16
 * MiB: left out and counted.
 */
static inline void hyprof_zone_text(hyprof_zone zone, const char *text, size_t text_bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_ZONE_IS_BEGUN_(zone)))
                hyprof_emit_zone_text(zone, text, text_bytes);
}

/*
 * Gives this one instance of an open zone another name; it is still counted with the zones of its location.
 */
static inline void hyprof_zone_name(hyprof_zone zone, const char *name, size_t name_bytes)
{
        if (HYPROF_UNLIKELY_(HYPROF_ZONE_IS_BEGUN_(zone)))
                hyprof_emit_zone_name(zone, name, name_bytes);
}

/* Adds a number to an open zone: bytes, items, an id. */
static inline void hyprof_zone_value(hyprof_zone zone, int64_t value)
{
        if (HYPROF_UNLIKELY_(HYPROF_ZONE_IS_BEGUN_(zone)))
                hyprof_emit_zone_value(zone, value);
}

/*
 * hyprof_zone_key() - joins an open zone with events of devices
 * Spans and instants of devices that this process reports with the same space and key belong to the zone:
 * the call that submitted them, for instance.
 * @space:  what kind of number the key is, a static HYPROF_NAME("submission"); equal names are equal spaces
 * A zone may have keys of several spaces.  Costs 16 bytes and no time stamp.
 */
static inline void hyprof_zone_key(hyprof_zone zone, struct hyprof_location *space, uint64_t key)
{
        if (HYPROF_UNLIKELY_(HYPROF_ZONE_IS_BEGUN_(zone)))
                hyprof_emit_zone_key(zone, space, key);
}

/* Gives this one instance a colour, 0xRRGGBB. */
static inline void hyprof_zone_color(hyprof_zone zone, uint32_t color)
{
        if (HYPROF_UNLIKELY_(HYPROF_ZONE_IS_BEGUN_(zone)))
                hyprof_emit_zone_color(zone, color);
}

#ifdef __cplusplus
} /* extern "C" */

/*
 * The class of the object that HYPROF_ZONE makes in C++: begins in the constructor, ends in the destructor.
 */
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

#ifndef HYPROF_DISABLE

/*
 * HYPROF_ZONE("name") - the rest of the enclosing block is a zone; two on one line of source do not compile
 * HYPROF_ZONE_COLOR("name", 0xRRGGBB) - the same with a colour
 * HYPROF_ZONE_FUNCTION() - the same with the function's name
 * In C a zone that longjmp() leaves ends with the one around it.
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

/* HYPROF_ZONE_TEXT(var, text, bytes), HYPROF_ZONE_VALUE(var, number) - about a zone of HYPROF_ZONE_BEGIN */
#define HYPROF_ZONE_TEXT(var, text, bytes) hyprof_zone_text(var, text, bytes)
#define HYPROF_ZONE_VALUE(var, value)      hyprof_zone_value(var, value)

#else /* HYPROF_DISABLE */

#define HYPROF_ZONE(name)                         HYPROF_NOTHING_
#define HYPROF_ZONE_COLOR(name, color)            HYPROF_NOTHING_
#define HYPROF_ZONE_FUNCTION()                    HYPROF_NOTHING_
#define HYPROF_ZONE_BEGIN(var, name)              HYPROF_NOTHING_
#define HYPROF_ZONE_BEGIN_COLOR(var, name, color) HYPROF_NOTHING_
#define HYPROF_ZONE_END(var)                      HYPROF_NOTHING_
#define HYPROF_ZONE_TEXT(var, text, bytes)        HYPROF_UNEVALUATED_(text)
#define HYPROF_ZONE_VALUE(var, value)             HYPROF_UNEVALUATED_(value)

#endif /* HYPROF_DISABLE */

#endif /* HYPROF_ZONE_H */
