/* SPDX-License-Identifier: MIT */
#include "sampler/keep/build_id_note.h"

#include "base/bytes.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define SEGMENTS_MAX   128 /* segments that are looked at; files have a dozen */
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

/* A reader of the bytes from an offset on; an empty one if the offset is beyond the end. */
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

/* Reads which part of the file a segment of notes covers; false if this is another kind of segment. */
static bool read_segment(struct byte_reader *r, bool is_64_bit, uint64_t *ret_offset_bytes,
                         uint64_t *ret_size_bytes)
{
        uint32_t type = bytes_u32(r);

        if (is_64_bit)
                (void)bytes_u32(r); /* p_flags */
        *ret_offset_bytes = is_64_bit ? bytes_u64(r) : bytes_u32(r);
        (void)bytes_take(r, is_64_bit ? 16 : 8); /* p_vaddr, p_paddr */
        *ret_size_bytes = is_64_bit ? bytes_u64(r) : bytes_u32(r);
        return !r->short_read && type == PT_NOTE;
}

/*
 * The next @n_bytes; what follows them begins at a multiple of @align_bytes, but the last
 * padding may be missing.
 */
static const uint8_t *take_padded(struct byte_reader *r, const uint8_t *notes, uint32_t n_bytes,
                                  size_t align_bytes)
{
        const uint8_t *at = bytes_take(r, n_bytes);
        size_t n_over = at ? (size_t)(r->at - notes) % align_bytes : 0;

        if (n_over != 0)
                (void)bytes_take(r, align_bytes - n_over < r->left ? align_bytes - n_over : r->left);
        return at;
}

static size_t find_padded(const uint8_t *notes, size_t n_bytes, size_t align_bytes, const uint8_t **ret_id)
{
        struct byte_reader r = byte_reader_of(notes, n_bytes);

        for (unsigned i = 0; i < NOTES_MAX; i++) {
                uint32_t name_bytes = bytes_u32(&r), id_bytes = bytes_u32(&r);
                uint32_t type = bytes_u32(&r);
                const uint8_t *name = take_padded(&r, notes, name_bytes, align_bytes);
                const uint8_t *id = take_padded(&r, notes, id_bytes, align_bytes);

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

/*
 * Linkers align notes to 4 bytes, as the kernel reads them, whatever the segment says: mold and lld
 * put them into one segment with .note.gnu.property, whose alignment is 8.  Notes that are aligned to
 * 8 are in the specification.
 */
size_t build_id_note_find_in(const uint8_t *notes, size_t n_bytes, const uint8_t **ret_id)
{
        size_t n = find_padded(notes, n_bytes, 4, ret_id);

        return n > 0 ? n : find_padded(notes, n_bytes, 8, ret_id);
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
                if (read_segment(&r, table.is_64_bit, &ret->offset_bytes, &ret->size_bytes))
                        return true;
        }
        return false;
}

size_t build_id_note_find(const uint8_t *bytes, size_t n_bytes, const uint8_t **ret_id)
{
        struct build_id_segment segment;
        uint16_t at = 0;
        size_t n = 0;

        while (n == 0 && build_id_note_next(bytes, n_bytes, &at, &segment)) {
                struct byte_reader notes = reader_at(bytes, n_bytes, segment.offset_bytes);

                if (segment.size_bytes < notes.left)
                        notes.left = (size_t)segment.size_bytes;
                n = build_id_note_find_in(notes.at, notes.left, ret_id);
        }
        return n;
}

/* Some tools put the notes after everything else, where the kernel finds them too (Linux 6.12). */
static size_t find_far(int fd, uint8_t *scratch, size_t n_first, const uint8_t **ret_id)
{
        uint8_t *notes = scratch + BUILD_ID_NOTE_FIRST_BYTES;
        struct build_id_segment segment;
        size_t n_read, n = 0;
        uint16_t at = 0;

        while (n == 0 && build_id_note_next(scratch, n_first, &at, &segment)) {
                size_t n_wanted = segment.size_bytes < BUILD_ID_NOTE_FIRST_BYTES ? (size_t)segment.size_bytes
                                                                                 : BUILD_ID_NOTE_FIRST_BYTES;

                if (segment.offset_bytes <= INT64_MAX - BUILD_ID_NOTE_FIRST_BYTES &&
                    io_pread_full(fd, notes, n_wanted, segment.offset_bytes, &n_read, NULL) == 0)
                        n = build_id_note_find_in(notes, n_read, ret_id);
        }
        return n;
}

int build_id_note_read(int fd, uint8_t scratch[BUILD_ID_NOTE_SCRATCH_BYTES], const uint8_t **ret_id)
{
        size_t n_read = 0, n;
        int r = io_pread_full(fd, scratch, BUILD_ID_NOTE_FIRST_BYTES, 0, &n_read, NULL);

        if (r < 0)
                return r;
        if (!build_id_note_is_elf(scratch, n_read))
                return -ENOEXEC;
        n = build_id_note_find(scratch, n_read, ret_id);
        return (int)(n > 0 ? n : find_far(fd, scratch, n_read, ret_id));
}
