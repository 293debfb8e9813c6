/* SPDX-License-Identifier: MIT */
#include "sampler/build_id_note.h"

#include "base/bytes.h"

#include <elf.h>
#include <string.h>

#define SEGMENTS_MAX   128 /* that are looked at; files have a dozen */
#define NOTES_MAX      64  /* of a segment */
#define NOTE_NAME      "GNU"
#define ID_BYTES_MAX   64
#define PHDR_BYTES_64  56
#define PHDR_BYTES_32  32
#define EHDR_MIN_BYTES 52

/* Where the program headers are. */
struct segment_table {
        uint64_t offset_bytes;
        uint16_t n_segments, entry_bytes;
        bool is_64_bit;
};

bool build_id_note_is_elf(const uint8_t *bytes, size_t n_bytes)
{
        return n_bytes >= EHDR_MIN_BYTES && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

/* A reader of what begins at an offset; at the end if that is beyond it. */
static struct byte_reader reader_at(const uint8_t *bytes, size_t n_bytes, uint64_t offset_bytes)
{
        return offset_bytes < n_bytes ? byte_reader_of(bytes + offset_bytes, n_bytes - (size_t)offset_bytes)
                                      : byte_reader_of(bytes, 0);
}

static bool read_header(const uint8_t *bytes, size_t n_bytes, struct segment_table *ret_table)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes);
        struct segment_table t = { .offset_bytes = 0 };

        if (!build_id_note_is_elf(bytes, n_bytes) || bytes[EI_DATA] != ELFDATA2LSB)
                return false;
        t.is_64_bit = bytes[EI_CLASS] == ELFCLASS64;
        (void)bytes_take(&r, t.is_64_bit ? 32 : 28);
        t.offset_bytes = t.is_64_bit ? bytes_u64(&r) : bytes_u32(&r);
        /* e_shoff, e_flags, e_ehsize */
        (void)bytes_take(&r, t.is_64_bit ? 8 + 4 + 2 : 4 + 4 + 2);
        t.entry_bytes = bytes_u16(&r);
        t.n_segments = bytes_u16(&r);
        *ret_table = t;
        return !r.short_read && t.entry_bytes >= (t.is_64_bit ? PHDR_BYTES_64 : PHDR_BYTES_32);
}

/* The part of the file that a segment of notes is; false if this is another segment. */
static bool read_segment(struct byte_reader *r, bool is_64_bit, uint64_t *ret_offset_bytes,
                         uint64_t *ret_size_bytes, uint64_t *ret_align_bytes)
{
        uint32_t type = bytes_u32(r);

        if (is_64_bit)
                (void)bytes_u32(r); /* p_flags */
        *ret_offset_bytes = is_64_bit ? bytes_u64(r) : bytes_u32(r);
        (void)bytes_take(r, is_64_bit ? 16 : 8); /* p_vaddr, p_paddr */
        *ret_size_bytes = is_64_bit ? bytes_u64(r) : bytes_u32(r);
        (void)bytes_take(r, 8); /* p_memsz; of 32 bits p_flags as well */
        *ret_align_bytes = is_64_bit ? bytes_u64(r) : bytes_u32(r);
        return !r->short_read && type == PT_NOTE;
}

static const uint8_t *take_padded(struct byte_reader *r, uint32_t n_bytes, size_t align_bytes)
{
        const uint8_t *at = bytes_take(r, n_bytes);
        size_t n_over = n_bytes % align_bytes;

        /* The last one's padding may be missing. */
        if (at && n_over != 0)
                (void)bytes_take(r, align_bytes - n_over < r->left ? align_bytes - n_over : r->left);
        return at;
}

static size_t find_in_notes(struct byte_reader notes, size_t align_bytes, const uint8_t **ret_id)
{
        for (unsigned i = 0; i < NOTES_MAX; i++) {
                uint32_t name_bytes = bytes_u32(&notes), id_bytes = bytes_u32(&notes);
                uint32_t type = bytes_u32(&notes);
                const uint8_t *name = take_padded(&notes, name_bytes, align_bytes);
                const uint8_t *id = take_padded(&notes, id_bytes, align_bytes);

                if (!name || !id)
                        return 0;
                if (type == NT_GNU_BUILD_ID && name_bytes == sizeof(NOTE_NAME) &&
                    memcmp(name, NOTE_NAME, sizeof(NOTE_NAME)) == 0 && id_bytes > 0 &&
                    id_bytes <= ID_BYTES_MAX) {
                        *ret_id = id;
                        return id_bytes;
                }
        }
        return 0;
}

size_t build_id_note_find(const uint8_t *bytes, size_t n_bytes, const uint8_t **ret_id)
{
        struct segment_table table;

        if (!read_header(bytes, n_bytes, &table))
                return 0;
        for (uint16_t i = 0; i < table.n_segments && i < SEGMENTS_MAX; i++) {
                uint64_t offset_bytes, size_bytes, align_bytes, at = (uint64_t)i * table.entry_bytes;
                struct byte_reader r, notes;
                size_t n;

                if (__builtin_add_overflow(table.offset_bytes, at, &at))
                        return 0;
                r = reader_at(bytes, n_bytes, at);
                if (!read_segment(&r, table.is_64_bit, &offset_bytes, &size_bytes, &align_bytes))
                        continue;
                notes = reader_at(bytes, n_bytes, offset_bytes);
                if (size_bytes < notes.left)
                        notes.left = (size_t)size_bytes;
                n = find_in_notes(notes, align_bytes == 8 ? 8 : 4, ret_id);
                if (n > 0)
                        return n;
        }
        return 0;
}
