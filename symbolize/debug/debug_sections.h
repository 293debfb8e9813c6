/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debug_sections.h - the sections of one file that hold its debug information, unpacked
 *
 * Way of the data:  debug_files -> [debug_sections] -> code_index
 *
 * Compressed sections (SHF_COMPRESSED with zlib or zstd, and the older .zdebug_)
 * are unpacked, up to a limit.  The bytes are the profiled program's, and not checked.
 */
#ifndef SYMBOLIZE_DEBUG_DEBUG_SECTIONS_H
#define SYMBOLIZE_DEBUG_DEBUG_SECTIONS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_SECTIONS_UNPACKED_MAX (UINT64_C(3) << 30) /* bytes, of all sections of a file together */

struct error;

enum debug_section {
        DEBUG_SECTION_INFO,
        DEBUG_SECTION_ABBREV,
        DEBUG_SECTION_LINE,
        DEBUG_SECTION_STR,
        DEBUG_SECTION_LINE_STR,
        DEBUG_SECTION_STR_OFFSETS,
        DEBUG_SECTION_ADDR,
        DEBUG_SECTION_RANGES,
        DEBUG_SECTION_RNGLISTS,
        DEBUG_SECTION_TYPES,
        DEBUG_SECTION_CU_INDEX, /* of a .dwp */
        DEBUG_SECTION_LOC,      /* where variables are: only by debug_sections_load_locations() */
        DEBUG_SECTION_LOCLISTS,
        DEBUG_SECTION_COUNT
};

struct debug_section_bytes {
        const uint8_t *bytes; /* borrowed from the Elf, or from `unpacked`; NULL = there is none */
        size_t n_bytes;
        void *unpacked; /* heap, owned; NULL = it was not compressed */
};

struct debug_sections {
        struct debug_section_bytes sections[DEBUG_SECTION_COUNT];
        bool is_big_endian;
};

/*
 * debug_sections_load() - find and unpack them
 * @elf:    borrowed until debug_sections_deinit()
 * @split:  take the sections of a .dwo or .dwp, whose names end in ".dwo"
 * Returns 0 also for a file without any; -EBADMSG for a damaged one, -EOVERFLOW over the limit, -ENOMEM.
 */
int debug_sections_load(struct debug_sections *s, Elf *elf, bool split, struct error *err);

/* Adds those with the places of variables, which names of code do not need.  Returns as above. */
int debug_sections_load_locations(struct debug_sections *s, Elf *elf, struct error *err);

/* All zero is fine. */
void debug_sections_deinit(struct debug_sections *s);

#endif /* SYMBOLIZE_DEBUG_DEBUG_SECTIONS_H */
