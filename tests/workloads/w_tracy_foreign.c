/* SPDX-License-Identifier: MIT */
/*
 * w_tracy_foreign
 *
 * Like bindings of other languages: no header of Tracy's or of ours, but
 * declarations of their own, made from Tracy's header of some revision.
 * REVISION is 1400 (0.14) or 1103 (0.11 to 0.13), ON_DEMAND as in Tracy's.
 *
 * Truth: a zone "foreign 0" to "foreign 2" each with two texts, "first" and
 * "second"; a message "foreign"; in the pool "foreign pool" 100 bytes at
 * address 0x1000 with a callstack and without, both freed, then 7 and a discard.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef REVISION
#define REVISION 1400
#endif
#if REVISION >= 1400
#define SECURE
#define NOT_SECURE
#else
#define SECURE     , int32_t secure
#define NOT_SECURE , 0
#endif

struct source_location {
        const char *name, *function, *file;
        uint32_t line, color;
};

struct context {
        uint32_t id;
        int32_t active;
#ifdef ON_DEMAND
        uint64_t connection;
#endif
};

/* NOLINTBEGIN */
struct context ___tracy_emit_zone_begin(const struct source_location *place, int32_t active);
struct context ___tracy_emit_zone_begin_alloc(uint64_t place, int32_t active);
uint64_t ___tracy_alloc_srcloc_name(uint32_t line, const char *source, size_t source_bytes,
                                    const char *function, size_t function_bytes, const char *name,
                                    size_t name_bytes, uint32_t color);
void ___tracy_emit_zone_text(struct context zone, const char *text, size_t bytes);
void ___tracy_emit_zone_end(struct context zone);
void ___tracy_emit_memory_alloc_named(const void *at, size_t bytes SECURE, const char *pool);
void ___tracy_emit_memory_alloc_callstack_named(const void *at, size_t bytes, int32_t depth SECURE,
                                                const char *pool);
void ___tracy_emit_memory_free_named(const void *at SECURE, const char *pool);
void ___tracy_emit_memory_free_callstack_named(const void *at, int32_t depth SECURE, const char *pool);
void ___tracy_emit_memory_discard_callstack(const char *pool SECURE, int32_t depth);
#if REVISION >= 1400
void ___tracy_emit_logStringL(int8_t severity, int32_t color, int32_t depth, const char *text);
#else
void ___tracy_emit_messageL(const char *text, int32_t depth);
#endif
/* NOLINTEND */

static void about(struct context zone)
{
        ___tracy_emit_zone_text(zone, "first", 5);
        ___tracy_emit_zone_text(zone, "second", 6);
        ___tracy_emit_zone_end(zone);
}

int main(void)
{
        static const struct source_location place = { "foreign 0", "main", "foreign.rs", 1, 0 };
        const void *address = (const void *)(uintptr_t)0x1000;
        static const char pool[] = "foreign pool";

        about(___tracy_emit_zone_begin(&place, 1));
        for (uint32_t i = 1; i <= 2; i++) {
                char name[16];
                size_t bytes = (size_t)snprintf(name, sizeof(name), "foreign %u", i);

                about(___tracy_emit_zone_begin_alloc(
                        ___tracy_alloc_srcloc_name(2, "foreign.rs", 10, "main", 4, name, bytes, 0), 1));
        }
        about(___tracy_emit_zone_begin(&place, 0));

#if REVISION >= 1400
        ___tracy_emit_logStringL(2, 0, 0, "foreign");
#else
        ___tracy_emit_messageL("foreign", 0);
#endif
        ___tracy_emit_memory_alloc_named(address, 100 NOT_SECURE, pool);
        ___tracy_emit_memory_free_named(address NOT_SECURE, pool);
        ___tracy_emit_memory_alloc_callstack_named(address, 100, 8 NOT_SECURE, pool);
        ___tracy_emit_memory_free_callstack_named(address, 8 NOT_SECURE, pool);
        ___tracy_emit_memory_alloc_named(address, 7 NOT_SECURE, pool);
        ___tracy_emit_memory_discard_callstack(pool NOT_SECURE, 8);
        return 0;
}
