/* SPDX-License-Identifier: MIT */
/*
 * import/file/wide_scan.h - many bytes of a file looked at at once
 *
 * Way of the data:  bytes of a file -> [wide_scan] -> import_source, json_pull, csv_rows
 *
 * 16 bytes at a time by SSE2, which every x86-64 has, else 8 in a word.  Nothing beyond @end is read.
 */
#ifndef IMPORT_WIDE_SCAN_H
#define IMPORT_WIDE_SCAN_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* WIDE_SCAN_PORTABLE: tests do without SSE2. */
#if defined(__SSE2__) && !defined(WIDE_SCAN_PORTABLE)
#define WIDE_SCAN_HAS_BLOCKS 1
#include <emmintrin.h>
#else
#define WIDE_SCAN_HAS_BLOCKS 0
#endif

#define WIDE_SCAN_ONES  UINT64_C(0x0101010101010101)
#define WIDE_SCAN_BLOCK 64

#if WIDE_SCAN_HAS_BLOCKS
static inline __m128i wide_scan_load(const char *at)
{
        return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* A bit for each of 16 bytes, the first one lowest: whether it is one of both. */
static inline unsigned wide_scan_either(const char *at, char a, char b)
{
        __m128i bytes = wide_scan_load(at);

        return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(a)),
                                                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b))));
}

/* A bit for each of 16 bytes: whether it is none of those from @first up to @n more. */
static inline unsigned wide_scan_outside(const char *at, char first, char n)
{
        __m128i by = _mm_sub_epi8(wide_scan_load(at), _mm_set1_epi8(first));
        __m128i inside = _mm_cmpeq_epi8(_mm_min_epu8(by, _mm_set1_epi8(n)), by);

        return (unsigned)_mm_movemask_epi8(inside) ^ 0xffff;
}

/* The bytes of a block that matter to JSON, as bits, the first byte lowest. */
struct wide_block {
        uint64_t quotes;
        uint64_t brackets; /* also some letters, which are outside of strings only where no JSON is */
        bool has_escape;   /* a backslash */
};

/* All brackets, "_", "Y", "y" and DEL are the same but for these bits. */
#define WIDE_BRACKET_BITS ((char)0xd9)

static inline struct wide_block wide_scan_block(const char *at)
{
        __m128i escapes = _mm_setzero_si128();
        struct wide_block block = { 0, 0, false };

        for (unsigned i = 0; i < WIDE_SCAN_BLOCK / 16; i++) {
                __m128i bytes = wide_scan_load(at + (size_t)16 * i);
                __m128i marked = _mm_and_si128(bytes, _mm_set1_epi8(WIDE_BRACKET_BITS));
                __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
                __m128i brackets = _mm_cmpeq_epi8(marked, _mm_set1_epi8('{' & WIDE_BRACKET_BITS));

                block.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(quotes) << 16 * i;
                block.brackets |= (uint64_t)(unsigned)_mm_movemask_epi8(brackets) << 16 * i;
                escapes = _mm_or_si128(escapes, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        }
        block.has_escape = _mm_movemask_epi8(escapes) != 0;
        return block;
}
#endif

/* A bit for each of 16 bytes, the first one lowest: whether it is the same in both. */
static inline unsigned wide_scan_same(const char *a, const char *b)
{
#if WIDE_SCAN_HAS_BLOCKS
        return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(wide_scan_load(a), wide_scan_load(b)));
#else
        unsigned same = 0;

        for (unsigned i = 0; i < 16; i++)
                same |= (unsigned)(a[i] == b[i]) << i;
        return same;
#endif
}

/* The top bit of each byte of @word that is @c; above the lowest such byte also of others. */
static inline uint64_t wide_scan_mark(uint64_t word, char c)
{
        uint64_t zeros = word ^ WIDE_SCAN_ONES * (unsigned char)c;

        return (zeros - WIDE_SCAN_ONES) & ~zeros & WIDE_SCAN_ONES << 7;
}

/* Where the first byte is that is one of both, or @end. */
static inline const char *wide_scan_find(const char *at, const char *end, char a, char b)
{
        struct byte_reader rest;

#if WIDE_SCAN_HAS_BLOCKS
        for (; end - at >= 16; at += 16) {
                unsigned found = wide_scan_either(at, a, b);

                if (found != 0)
                        return at + __builtin_ctz(found);
        }
#endif
        rest = byte_reader_of(at, (size_t)(end - at));
        while (rest.left >= sizeof(uint64_t)) {
                const char *here = (const char *)rest.at;
                uint64_t word = bytes_u64(&rest);
                uint64_t marks = wide_scan_mark(word, a) | wide_scan_mark(word, b);

                if (marks != 0)
                        return here + __builtin_ctzll(marks) / 8;
        }
        for (at = (const char *)rest.at; at < end && *at != a && *at != b;)
                at++;
        return at;
}

/* Where @first is with @second after it, or NULL. */
static inline const char *wide_scan_pair(const char *at, const char *end, char first, char second)
{
#if WIDE_SCAN_HAS_BLOCKS
        while (end - at > 16) {
                __m128i both = _mm_and_si128(_mm_cmpeq_epi8(wide_scan_load(at), _mm_set1_epi8(first)),
                                             _mm_cmpeq_epi8(wide_scan_load(at + 1), _mm_set1_epi8(second)));
                unsigned found = (unsigned)_mm_movemask_epi8(both);

                if (found != 0)
                        return at + __builtin_ctz(found);
                at += 16;
                if (end - at > 1 && end - at <= 16)
                        at = end - 17; /* the rest, and some bytes once more */
        }
#endif
        for (; end - at > 1; at++)
                if (at[0] == first && at[1] == second)
                        return at;
        return NULL;
}

/* How many of the bytes are @c. */
static inline size_t wide_scan_count(const char *at, const char *end, char c)
{
        size_t n = 0;

#if WIDE_SCAN_HAS_BLOCKS
        __m128i zero = _mm_setzero_si128(), wanted = _mm_set1_epi8(c), sums = zero;

        /* Each byte that is @c is -1, so the differences are at most 4; their sum is in two halves. */
        for (; end - at >= WIDE_SCAN_BLOCK; at += WIDE_SCAN_BLOCK) {
                __m128i found = zero;

                for (unsigned i = 0; i < WIDE_SCAN_BLOCK / 16; i++)
                        found = _mm_sub_epi8(found,
                                             _mm_cmpeq_epi8(wide_scan_load(at + (size_t)16 * i), wanted));
                sums = _mm_add_epi64(sums, _mm_sad_epu8(found, zero));
        }
        sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
        n = (size_t)_mm_cvtsi128_si64(sums);
#else
        const uint64_t low = ~(WIDE_SCAN_ONES << 7);
        struct byte_reader rest = byte_reader_of(at, (size_t)(end - at));

        while (rest.left >= sizeof(uint64_t)) {
                uint64_t x = bytes_u64(&rest) ^ WIDE_SCAN_ONES * (unsigned char)c;

                /* The top bit of each byte that is @c; their number is in the top byte of the product. */
                x = ~(((x & low) + low) | x | low);
                n += (x >> 7) * WIDE_SCAN_ONES >> 56;
        }
        at = (const char *)rest.at;
#endif
        for (; at < end; at++)
                n += *at == c;
        return n;
}

#endif /* IMPORT_WIDE_SCAN_H */
