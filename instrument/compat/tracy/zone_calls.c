/* SPDX-License-Identifier: MIT */
/* instrument/compat/tracy/zone_calls.c - Tracy's functions for zones */
#include "instrument/compat/tracy/tracy_api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SHORT_TEXT_BYTES 512

/*
 * ctx.active says whether the zone is recorded, so that programs need not build texts for zones that are
 * not.
 */
static TracyCZoneCtx context_of(hyprof_zone zone)
{
        return (TracyCZoneCtx){ .id = zone, .active = zone != 0 };
}

static hyprof_zone begin(struct hyprof_location *location, int32_t depth)
{
        if (!location)
                return 0;
        return depth > 0 ? hyprof_emit_zone_begin_callstack(location, (uint32_t)depth)
                         : hyprof_emit_zone_begin(location);
}

TracyCZoneCtx ___tracy_emit_zone_begin_callstack(const struct ___tracy_source_location_data *srcloc,
                                                 int32_t depth, int32_t active)
{
        if (!active || !HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                return context_of(0);
        return context_of(begin(source_location_find(srcloc), depth));
}

TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data *srcloc, int32_t active)
{
        return ___tracy_emit_zone_begin_callstack(srcloc, 0, active);
}

/*
 * A location that is made at run time is one of hyprof's, found by its content: nothing has to be freed,
 * and any number of zones may use it.  The number returned is its address, 0 without a recorder.
 */
/* NOLINTNEXTLINE(readability-function-size): Tracy's arguments */
uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t source_bytes,
                                    const char *function, size_t function_bytes, const char *name,
                                    size_t name_bytes, uint32_t color)
{
        return (uintptr_t)hyprof_location_of(name_bytes > 0 ? name : NULL, name_bytes, function,
                                             function_bytes, source, source_bytes, line, color);
}

uint64_t ___tracy_alloc_srcloc(uint32_t line, const char *source, size_t source_bytes, const char *function,
                               size_t function_bytes, uint32_t color)
{
        return ___tracy_alloc_srcloc_name(line, source, source_bytes, function, function_bytes, NULL, 0,
                                          color);
}

TracyCZoneCtx ___tracy_emit_zone_begin_alloc_callstack(uint64_t srcloc, int32_t depth, int32_t active)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): it was one in ___tracy_alloc_srcloc() */
        struct hyprof_location *location = (struct hyprof_location *)(uintptr_t)srcloc;

        if (!active || !HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                return context_of(0);
        return context_of(begin(location, depth));
}

TracyCZoneCtx ___tracy_emit_zone_begin_alloc(uint64_t srcloc, int32_t active)
{
        return ___tracy_emit_zone_begin_alloc_callstack(srcloc, 0, active);
}

void ___tracy_emit_zone_end(TracyCZoneCtx ctx)
{
        hyprof_zone_end(ctx.id);
}

void ___tracy_emit_zone_text(TracyCZoneCtx ctx, const char *txt, size_t size)
{
        hyprof_zone_text(ctx.id, txt, size);
}

void ___tracy_emit_zone_name(TracyCZoneCtx ctx, const char *txt, size_t size)
{
        hyprof_zone_name(ctx.id, txt, size);
}

void ___tracy_emit_zone_color(TracyCZoneCtx ctx, uint32_t color)
{
        hyprof_zone_color(ctx.id, color);
}

void ___tracy_emit_zone_value(TracyCZoneCtx ctx, uint64_t value)
{
        hyprof_zone_value(ctx.id, (int64_t)value);
}

/* Prints a long text on the heap; if there is no memory for it, emits its beginning. */
__attribute__((format(printf, 3, 0))) static void print(void (*emit)(hyprof_zone, const char *, size_t),
                                                        hyprof_zone zone, const char *fmt, va_list arguments)
{
        char short_text[SHORT_TEXT_BYTES];
        char *long_text = NULL;
        va_list again;
        int n;

        va_copy(again, arguments);
        n = vsnprintf(short_text, sizeof(short_text), fmt, arguments);
        if (n >= SHORT_TEXT_BYTES) {
                long_text = malloc((size_t)n + 1);
                if (!long_text || vsnprintf(long_text, (size_t)n + 1, fmt, again) != n)
                        n = SHORT_TEXT_BYTES - 1;
        }
        va_end(again);
        if (n > 0)
                emit(zone, n >= SHORT_TEXT_BYTES ? long_text : short_text, (size_t)n);
        free(long_text);
}

void ___tracy_emit_zone_text_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
{
        va_list arguments;

        if (ctx.id == 0)
                return;
        va_start(arguments, fmt);
        print(hyprof_emit_zone_text, ctx.id, fmt, arguments);
        va_end(arguments);
}

void ___tracy_emit_zone_name_fmt(TracyCZoneCtx ctx, const char *fmt, ...)
{
        va_list arguments;

        if (ctx.id == 0)
                return;
        va_start(arguments, fmt);
        print(hyprof_emit_zone_name, ctx.id, fmt, arguments);
        va_end(arguments);
}
