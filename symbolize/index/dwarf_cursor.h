/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/dwarf_cursor.h - numbers of DWARF sections, in either byte order
 *
 * Way of the data:  debug_sections -> [dwarf_cursor] -> dwarf_abbrevs, dwarf_units, dwarf_lines, code_walk
 *
 * A byte_reader that knows the order of the file's bytes.  Sticky like it: bytes after the end read as
 * 0 and set `r.short_read`.
 */
#ifndef SYMBOLIZE_INDEX_DWARF_CURSOR_H
#define SYMBOLIZE_INDEX_DWARF_CURSOR_H

#include "base/bytes.h"
#include "symbolize/debug/debug_sections.h"

#include <string.h>

struct dwarf_cursor {
        struct byte_reader r;
        bool is_big_endian;
};

/* A cursor at @offset of a section; one past the section's end reads nothing. */
static inline struct dwarf_cursor dwarf_cursor_at(const struct debug_sections *sections,
                                                  enum debug_section section, uint64_t offset)
{
        const struct debug_section_bytes *s = &sections->sections[section];
        struct dwarf_cursor c = { .is_big_endian = sections->is_big_endian };

        if (s->bytes && offset <= s->n_bytes)
                c.r = byte_reader_of(s->bytes + offset, s->n_bytes - (size_t)offset);
        else
                c.r.short_read = true;
        return c;
}

static inline bool dwarf_cursor_ended(const struct dwarf_cursor *c)
{
        return c->r.short_read || c->r.left == 0;
}

static inline void dwarf_cursor_skip(struct dwarf_cursor *c, uint64_t n_bytes)
{
        if (n_bytes > c->r.left)
                c->r.short_read = true;
        else
                (void)bytes_take(&c->r, (size_t)n_bytes);
}

static inline uint16_t dwarf_cursor_u16(struct dwarf_cursor *c)
{
        uint16_t v = bytes_u16(&c->r);

        return c->is_big_endian ? __builtin_bswap16(v) : v;
}

static inline uint32_t dwarf_cursor_u32(struct dwarf_cursor *c)
{
        uint32_t v = bytes_u32(&c->r);

        return c->is_big_endian ? __builtin_bswap32(v) : v;
}

static inline uint64_t dwarf_cursor_u64(struct dwarf_cursor *c)
{
        uint64_t v = bytes_u64(&c->r);

        return c->is_big_endian ? __builtin_bswap64(v) : v;
}

/* @n_bytes: 1, 2, 3, 4 or 8; others read nothing. */
static inline uint64_t dwarf_cursor_number(struct dwarf_cursor *c, unsigned n_bytes)
{
        const uint8_t *p;

        switch (n_bytes) {
        case 1:
                return bytes_u8(&c->r);
        case 2:
                return dwarf_cursor_u16(c);
        case 3:
                p = bytes_take(&c->r, 3);
                if (!p)
                        return 0;
                return c->is_big_endian ? (uint64_t)p[0] << 16 | (uint64_t)p[1] << 8 | p[2]
                                        : (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];
        case 4:
                return dwarf_cursor_u32(c);
        case 8:
                return dwarf_cursor_u64(c);
        default:
                c->r.short_read = true;
                return 0;
        }
}

/* Reads a LEB128 number.  Most have one byte, which needs no loop. */
static inline uint64_t dwarf_cursor_uleb(struct dwarf_cursor *c)
{
        if (c->r.left > 0 && *c->r.at < 0x80)
                return bytes_u8(&c->r);
        return bytes_varint(&c->r);
}

static inline int64_t dwarf_cursor_sleb(struct dwarf_cursor *c)
{
        return bytes_sleb128(&c->r);
}

/* A section offset: of 8 bytes in the 64-bit format of DWARF. */
static inline uint64_t dwarf_cursor_offset(struct dwarf_cursor *c, bool is_64)
{
        return is_64 ? dwarf_cursor_u64(c) : dwarf_cursor_u32(c);
}

/* Text up to its NUL, stepped over; NULL and sticky if it has no end. */
static inline const char *dwarf_cursor_string(struct dwarf_cursor *c)
{
        const uint8_t *start = c->r.at, *end = NULL;

        if (!dwarf_cursor_ended(c))
                end = memchr(start, '\0', c->r.left);
        if (!end) {
                c->r.short_read = true;
                return NULL;
        }
        return (const char *)bytes_take(&c->r, (size_t)(end - start) + 1);
}

/*
 * Reads the length at the start of a unit or a table, and cuts @c to what the length covers.  Returns false
 * if the length leads out of the section.
 */
static inline bool dwarf_cursor_enter(struct dwarf_cursor *c, bool *ret_is_64)
{
        uint64_t length = dwarf_cursor_u32(c);
        bool is_64 = length == UINT32_MAX;

        if (is_64)
                length = dwarf_cursor_u64(c);
        else if (length >= UINT32_C(0xfffffff0)) /* reserved */
                return false;
        if (c->r.short_read || length > c->r.left)
                return false;
        c->r.left = (size_t)length;
        *ret_is_64 = is_64;
        return true;
}

#endif /* SYMBOLIZE_INDEX_DWARF_CURSOR_H */
