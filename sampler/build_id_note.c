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

size_t build_id_note_find_in(const uint8_t *notes, size_t n_bytes, const struct build_id_segment *segment,
                             const uint8_t **ret_id)
{
        size_t align_bytes = segment->align_bytes == 8 ? 8 : 4;
        struct byte_reader r = byte_reader_of(notes, n_bytes);

        if (segment->size_bytes < r.left)
                r.left = (size_t)segment->size_bytes;
        for (unsigned i = 0; i < NOTES_MAX; i++) {
                uint32_t name_bytes = bytes_u32(&r), id_bytes = bytes_u32(&r);
                uint32_t type = bytes_u32(&r);
                const uint8_t *name = take_padded(&r, name_bytes, align_bytes);
                const uint8_t *id = take_padded(&r, id_bytes, align_bytes);

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

bool build_id_note_next(const uint8_t *bytes, size_t n_bytes, uint16_t *at, struct build_id_segment *ret)
{
        struct segment_table table;

        if (!read_header(bytes, n_bytes, &table))
                return false;
        while (*at < table.n_segments && *at < SEGMENTS_MAX) {
                uint64_t offset_bytes = (uint64_t)*at * table.entry_bytes;
                struct byte_reader r;

                ++*at;
                if (__builtin_add_overflow(table.offset_bytes, offset_bytes, &offset_bytes))
                        return false;
                r = reader_at(bytes, n_bytes, offset_bytes);
                if (read_segment(&r, table.is_64_bit, &ret->offset_bytes, &ret->size_bytes,
                                 &ret->align_bytes))
                        return true;
        }
        return false;
}

size_t build_id_note_find(const uint8_t *bytes, size_t n_bytes, const uint8_t **ret_id)
{
        struct build_id_segment segment;
        uint16_t at = 0;

        while (build_id_note_next(bytes, n_bytes, &at, &segment)) {
                struct byte_reader notes = reader_at(bytes, n_bytes, segment.offset_bytes);
                size_t n = notes.left > 0 ? build_id_note_find_in(bytes + segment.offset_bytes, notes.left,
                                                                  &segment, ret_id)
                                          : 0;

                if (n > 0)
                        return n;
        }
        return 0;
}
