/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/frame_sections.h"

#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#define EH_FRAME_HDR_MAX 64 /* bytes that are looked at: the version, three encodings, one address */

struct found {
        struct cfi_section *sections; /* the caller's */
        size_t n_sections;
};

/* A section's bytes, unpacked if it is compressed; NULL if it has none or too many. */
static Elf_Data *load_section(Elf_Scn *section, GElf_Shdr *header, bool is_gnu_packed)
{
        GElf_Chdr packed;
        Elf_Data *data;

        if (header->sh_type == SHT_NOBITS || header->sh_size == 0 || header->sh_size > CFI_SECTION_BYTES_MAX)
                return NULL;
        if (header->sh_flags & SHF_COMPRESSED) {
                if (!gelf_getchdr(section, &packed) || packed.ch_size > CFI_SECTION_BYTES_MAX ||
                    elf_compress(section, 0, 0) < 0)
                        return NULL;
        } else if (is_gnu_packed) {
                /* "ZLIB" and the length as eight bytes, the highest first. */
                static const uint8_t magic[] = { 'Z', 'L', 'I', 'B', 0, 0, 0, 0 };

                data = elf_rawdata(section, NULL);
                if (!data || !data->d_buf || data->d_size < 12 ||
                    memcmp(data->d_buf, magic, sizeof(magic)) != 0 ||
                    ((const uint8_t *)data->d_buf)[8] > CFI_SECTION_BYTES_MAX >> 24 ||
                    elf_compress_gnu(section, 0, 0) < 0)
                        return NULL;
        }
        if (!gelf_getshdr(section, header))
                return NULL;
        data = elf_getdata(section, NULL);
        return data && data->d_buf && data->d_size <= CFI_SECTION_BYTES_MAX ? data : NULL;
}

static void add_section(struct found *f, const Elf_Data *data, uint64_t svma, bool is_debug_frame)
{
        if (f->n_sections == FRAME_SECTIONS_MAX)
                return;
        f->sections[f->n_sections++] = (struct cfi_section){
                .bytes = data->d_buf,
                .n_bytes = data->d_size,
                .svma = svma,
                .is_debug_frame = is_debug_frame,
        };
}

/* The first section of that name that has bytes.  Returns false if there is none. */
static bool take_section(struct found *f, Elf *elf, const char *name, bool is_debug_frame)
{
        bool is_gnu_packed = name[1] == 'z';
        Elf_Scn *section = NULL;
        size_t names;

        if (elf_getshdrstrndx(elf, &names) != 0)
                return false;
        while ((section = elf_nextscn(elf, section))) {
                const char *its_name;
                GElf_Shdr header;
                Elf_Data *data;

                if (!gelf_getshdr(section, &header))
                        continue;
                its_name = elf_strptr(elf, names, header.sh_name);
                if (!its_name || strcmp(its_name, name) != 0)
                        continue;
                data = load_section(section, &header, is_gnu_packed);
                if (!data)
                        continue;
                add_section(f, data, header.sh_addr, is_debug_frame);
                return true;
        }
        return false;
}

/*
 * The loaded segment that holds an address; the bytes that can be read from the address on end with the
 * segment.
 */
static const struct elf_image_segment *find_segment(const struct elf_image *image, uint64_t svma)
{
        for (size_t i = 0; i < image->n_segments; i++)
                if (svma >= image->segments[i].svma &&
                    svma - image->segments[i].svma < image->segments[i].file_bytes)
                        return &image->segments[i];
        return NULL;
}

static Elf_Data *read_chunk(const struct elf_image *image, uint64_t file_off, uint64_t n_bytes)
{
        return n_bytes == 0 || file_off > INT64_MAX
                       ? NULL
                       : elf_getdata_rawchunk(image->elf, (int64_t)file_off, n_bytes, ELF_T_BYTE);
}

/* Without section headers: .eh_frame_hdr says where .eh_frame begins, and a zero where it ends. */
static void take_eh_frame_of_segment(struct found *f, const struct elf_image *image)
{
        size_t n_headers = 0;
        GElf_Phdr header;

        (void)elf_getphdrnum(image->elf, &n_headers);
        for (size_t i = 0; i < n_headers; i++) {
                struct cfi_section hdr = { .n_bytes = 0 };
                const struct elf_image_segment *segment;
                uint64_t svma, n_bytes;
                size_t off = 4;
                Elf_Data *data;

                if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
                        continue;
                n_bytes = header.p_filesz < EH_FRAME_HDR_MAX ? header.p_filesz : EH_FRAME_HDR_MAX;
                data = read_chunk(image, header.p_offset, n_bytes);
                if (!data || data->d_size <= off)
                        continue;
                hdr = (struct cfi_section){ .bytes = data->d_buf,
                                            .n_bytes = data->d_size,
                                            .svma = header.p_vaddr };
                if (!cfi_pointer_read(&hdr, hdr.bytes[1], &off, hdr.n_bytes, &svma))
                        continue;
                segment = find_segment(image, svma);
                if (!segment)
                        continue;
                n_bytes = segment->file_bytes - (svma - segment->svma);
                data = read_chunk(image, segment->file_off + (svma - segment->svma),
                                  n_bytes < CFI_SECTION_BYTES_MAX ? n_bytes : CFI_SECTION_BYTES_MAX);
                if (!data)
                        continue;
                add_section(f, data, svma, false);
                f->sections[f->n_sections - 1].ends_at_zero = true;
                return;
        }
}

size_t frame_sections_find(const struct elf_image *image, struct cfi_section ret_sections[FRAME_SECTIONS_MAX])
{
        struct found found = { .sections = ret_sections };

        if (!take_section(&found, image->elf, ".eh_frame", false))
                take_eh_frame_of_segment(&found, image);
        if (!take_section(&found, image->elf, ".debug_frame", true))
                (void)take_section(&found, image->elf, ".zdebug_frame", true);
        return found.n_sections;
}
