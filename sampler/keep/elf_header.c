/* SPDX-License-Identifier: MIT */
#include "sampler/keep/elf_header.h"

#include "base/bytes.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_RISCV
#endif

#define SEGMENT_BYTES   56
#define PROGRAM_HEADERS 128                 /* of all kinds that are looked at */
#define ADDRESS_MAX     (UINT64_C(1) << 62) /* so that sums do not overflow */

/* The bytes from @where on, which are known to be there. */
static struct byte_reader bytes_at(const uint8_t *bytes, size_t n_bytes, size_t where)
{
        return byte_reader_of(bytes + where, n_bytes - where);
}

static bool is_ours(const uint8_t *bytes)
{
        static const uint8_t ident[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

        return memcmp(bytes, ident, sizeof(ident)) == 0;
}

static bool is_of_interest(const struct elf_header_segment *s)
{
        return (s->type == PT_LOAD || s->type == PT_NOTE || s->type == PT_DYNAMIC) && s->file_bytes > 0;
}

static int read_segments(struct byte_reader in, uint32_t n, struct elf_header *h)
{
        for (uint32_t i = 0; i < n; i++) {
                struct elf_header_segment s = { .type = bytes_u32(&in) };

                s.flags = bytes_u32(&in);
                s.file_off = bytes_u64(&in);
                s.svma = bytes_u64(&in);
                (void)bytes_u64(&in); /* the physical address */
                s.file_bytes = bytes_u64(&in);
                s.memory_bytes = bytes_u64(&in);
                (void)bytes_u64(&in); /* the alignment */
                if (in.short_read)
                        return -ENODATA;
                if (!is_of_interest(&s))
                        continue;
                if (s.file_off > ADDRESS_MAX || s.file_bytes > ADDRESS_MAX || s.svma > ADDRESS_MAX ||
                    s.memory_bytes > ADDRESS_MAX || h->n_segments == ELF_HEADER_SEGMENTS_MAX ||
                    (s.type == PT_LOAD && s.memory_bytes < s.file_bytes))
                        return -EBADMSG;
                h->segments[h->n_segments++] = s;
        }
        return 0;
}

int elf_header_read(const void *bytes, size_t n_bytes, struct elf_header *ret_header)
{
        struct elf_header h = { .n_bytes = ELF_HEADER_BYTES };
        uint16_t segment_bytes, n_segments, section_bytes;
        struct byte_reader in;
        int r;

        if (n_bytes < ELF_HEADER_BYTES)
                return -ENODATA;
        if (!is_ours(bytes))
                return -EBADMSG;
        in = bytes_at(bytes, n_bytes, EI_NIDENT);
        h.type = bytes_u16(&in);
        h.machine = bytes_u16(&in);
        (void)bytes_u32(&in); /* the version */
        (void)bytes_u64(&in); /* where it begins to run */
        h.segments_off = bytes_u64(&in);
        h.sections_off = bytes_u64(&in);
        (void)bytes_u32(&in); /* flags */
        (void)bytes_u16(&in); /* the length of this header */
        segment_bytes = bytes_u16(&in);
        n_segments = bytes_u16(&in);
        section_bytes = bytes_u16(&in);
        h.n_sections = bytes_u16(&in);
        h.names_section = bytes_u16(&in);
        if (h.machine != OWN_MACHINE || (h.type != ET_REL && h.type != ET_EXEC && h.type != ET_DYN) ||
            h.sections_off > ADDRESS_MAX || h.segments_off > ADDRESS_MAX || n_segments > PROGRAM_HEADERS ||
            (n_segments > 0 && segment_bytes != SEGMENT_BYTES) ||
            (h.n_sections > 0 && section_bytes != ELF_HEADER_SECTION_BYTES) ||
            (h.type != ET_REL && n_segments == 0))
                return -EBADMSG;
        if (h.n_sections == 0 || h.sections_off == 0) {
                h.n_sections = 0;
                h.sections_off = 0;
        }
        if (n_segments > 0) {
                if (h.segments_off > n_bytes || (size_t)n_segments * SEGMENT_BYTES > n_bytes - h.segments_off)
                        return -ENODATA;
                h.n_bytes = h.segments_off + (size_t)n_segments * SEGMENT_BYTES;
        }
        r = n_segments > 0 ? read_segments(bytes_at(bytes, n_bytes, h.segments_off), n_segments, &h) : 0;
        if (r == 0)
                *ret_header = h;
        return r;
}

uint64_t elf_header_count_bytes(const struct elf_header *header)
{
        uint64_t end = header->n_bytes;
        uint64_t sections_end = header->sections_off +
                                (uint64_t)header->n_sections * ELF_HEADER_SECTION_BYTES;

        for (size_t i = 0; i < header->n_segments; i++) {
                const struct elf_header_segment *s = &header->segments[i];

                if (s->file_off + s->file_bytes > end)
                        end = s->file_off + s->file_bytes;
        }
        return header->sections_off != 0 && sections_end > end ? sections_end : end;
}

bool elf_header_find_svma(const struct elf_header *header, uint64_t file_off, uint64_t *ret_svma)
{
        for (size_t i = 0; i < header->n_segments; i++) {
                const struct elf_header_segment *s = &header->segments[i];

                if (s->type != PT_LOAD || file_off < s->file_off || file_off - s->file_off >= s->file_bytes)
                        continue;
                *ret_svma = s->svma + (file_off - s->file_off);
                return true;
        }
        return false;
}

const struct elf_header_segment *elf_header_next_code(const struct elf_header *header, size_t *at)
{
        while (*at < header->n_segments) {
                const struct elf_header_segment *s = &header->segments[(*at)++];

                if (s->type == PT_LOAD && s->flags & PF_X)
                        return s;
        }
        return NULL;
}

void elf_header_section_read(const uint8_t bytes[ELF_HEADER_SECTION_BYTES],
                             struct elf_header_section *ret_section)
{
        struct byte_reader in = byte_reader_of(bytes, ELF_HEADER_SECTION_BYTES);

        (void)bytes_u32(&in); /* the name */
        ret_section->type = bytes_u32(&in);
        ret_section->flags = bytes_u64(&in);
        ret_section->svma = bytes_u64(&in);
        ret_section->file_off = bytes_u64(&in);
        ret_section->n_bytes = bytes_u64(&in);
}
