/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_module.h"

#include "base/bytes.h"
#include "base/error.h"
#include "symbolize/elf_image.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define SIGRETURNS_MAX   8  /* trampolines in one file; a C library has one */
#define EH_FRAME_HDR_MAX 64 /* bytes that are looked at: the version, three encodings, one address */

struct source {
        struct unwind_table_source table;
        struct unwind_code_range *code; /* heap */
        uint64_t sigreturns[SIGRETURNS_MAX];
};

/* A section's bytes, unpacked if it is compressed; NULL if it has none or too many. */
static Elf_Data *load_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header, bool is_gnu_packed)
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
        (void)elf;
        return data && data->d_buf && data->d_size <= CFI_SECTION_BYTES_MAX ? data : NULL;
}

static void add_section(struct source *s, const Elf_Data *data, uint64_t svma, bool is_debug_frame)
{
        if (s->table.n_sections == UNWIND_TABLE_SOURCES_MAX)
                return;
        s->table.sections[s->table.n_sections++] = (struct cfi_section){
                .bytes = data->d_buf,
                .n_bytes = data->d_size,
                .svma = svma,
                .is_debug_frame = is_debug_frame,
        };
}

/* The first section of that name that has bytes.  Returns false if there is none. */
static bool take_section(struct source *s, Elf *elf, const char *name, bool is_debug_frame)
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
                data = load_section(elf, section, &header, is_gnu_packed);
                if (!data)
                        continue;
                add_section(s, data, header.sh_addr, is_debug_frame);
                return true;
        }
        return false;
}

/* The loaded segment that holds an address; it ends the bytes that can be read from there. */
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
static void take_eh_frame_of_segment(struct source *s, const struct elf_image *image)
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
                add_section(s, data, svma, false);
                s->table.sections[s->table.n_sections - 1].ends_at_zero = true;
                return;
        }
}

/* A file that needs no other: only there the C library's signal trampoline can be. */
static bool needs_no_other(const struct elf_image *image)
{
        size_t n_headers = 0;
        GElf_Phdr header;

        (void)elf_getphdrnum(image->elf, &n_headers);
        for (size_t i = 0; i < n_headers; i++) {
                struct byte_reader in;
                Elf_Data *data;

                if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_DYNAMIC)
                        continue;
                data = read_chunk(image, header.p_offset, header.p_filesz);
                if (!data)
                        return false;
                in = byte_reader_of(data->d_buf, data->d_size);
                while (in.left >= sizeof(Elf64_Dyn)) {
                        if (bytes_u64(&in) == DT_NEEDED)
                                return false;
                        (void)bytes_u64(&in);
                }
        }
        return true;
}

/* Where no entry tells of a signal trampoline (the C library musl, say), its instructions do. */
static void find_sigreturns(struct source *s, const struct elf_image *image,
                            const struct unwind_module *module)
{
        const struct unwind_machine *machine = s->table.machine;
        uint64_t n_bytes = 0;

        for (size_t i = 0; i < module->n_segments; i++)
                n_bytes += module->segments[i].file_bytes < UNWIND_MODULE_SCAN_BYTES_MAX
                                   ? module->segments[i].file_bytes
                                   : UNWIND_MODULE_SCAN_BYTES_MAX;
        if (n_bytes >= UNWIND_MODULE_SCAN_BYTES_MAX || !needs_no_other(image))
                return;
        for (size_t i = 0; i < module->n_segments; i++) {
                const struct unwind_module_segment *segment = &module->segments[i];
                Elf_Data *data = read_chunk(image, segment->file_off, segment->file_bytes);
                const uint8_t *at = data ? data->d_buf : NULL;
                size_t left = data ? data->d_size : 0;

                while (left > 0 && s->table.n_sigreturns < SIGRETURNS_MAX) {
                        const uint8_t *found = memmem(at, left, machine->sigreturn_code,
                                                      machine->n_sigreturn_code_bytes);

                        if (!found)
                                break;
                        s->sigreturns[s->table.n_sigreturns++] =
                                segment->svma + (uint64_t)(found - (const uint8_t *)data->d_buf);
                        left -= (size_t)(found - at) + 1;
                        at = found + 1;
                }
        }
}

static int take_segments(struct source *s, const struct elf_image *image, struct unwind_module *module)
{
        s->code = calloc(image->n_segments + 1, sizeof(*s->code));
        module->segments = calloc(image->n_segments + 1, sizeof(*module->segments));
        if (!s->code || !module->segments)
                return -ENOMEM;
        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *from = &image->segments[i];
                struct unwind_code_range range = { .start_svma = from->svma };

                if (!from->executable ||
                    __builtin_add_overflow(from->svma, from->file_bytes, &range.end_svma))
                        continue;
                s->code[s->table.n_code++] = range;
                module->segments[module->n_segments++] = (struct unwind_module_segment){
                        .file_off = from->file_off, .file_bytes = from->file_bytes, .svma = from->svma
                };
        }
        s->table.code = s->code;
        return 0;
}

static int build(struct source *s, const struct elf_image *image, struct unwind_module *module,
                 struct error *err)
{
        GElf_Ehdr header;
        int r;

        if (!gelf_getehdr(image->elf, &header))
                return error_set(err, -EBADMSG, "damaged ELF header");
        s->table.machine = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB
                                   ? unwind_machine_find(header.e_machine)
                                   : NULL;
        if (!s->table.machine)
                return error_set(err, -ENOTSUP, "no unwind rules for ELF machine %u, class %u",
                                 header.e_machine, header.e_ident[EI_CLASS]);
        s->table.entry_svma = header.e_entry;
        if (take_segments(s, image, module) < 0)
                return error_set(err, -ENOMEM, "no memory for %zu segments", image->n_segments);
        if (!take_section(s, image->elf, ".eh_frame", false))
                take_eh_frame_of_segment(s, image);
        if (!take_section(s, image->elf, ".debug_frame", true))
                (void)take_section(s, image->elf, ".zdebug_frame", true);
        find_sigreturns(s, image, module);
        s->table.sigreturns = s->sigreturns;
        r = unwind_table_build(&s->table, &module->table, err);
        return r == -ENODATA ? 0 : r;
}

int unwind_module_build(const struct elf_image *image, struct unwind_module **ret_module, struct error *err)
{
        struct unwind_module *module = calloc(1, sizeof(*module));
        struct source source = { .code = NULL };
        int r;

        if (!module)
                return error_set(err, -ENOMEM, "no memory for a module");
        r = build(&source, image, module, err);
        free(source.code);
        if (r < 0) {
                unwind_module_free(module);
                return r;
        }
        module->n_bytes = sizeof(*module) + module->n_segments * sizeof(*module->segments) +
                          (module->table ? module->table->n_bytes : 0);
        *ret_module = module;
        return 0;
}

void unwind_module_free(struct unwind_module *module)
{
        if (!module)
                return;
        unwind_table_free(module->table);
        free(module->segments);
        free(module);
}

bool unwind_module_find_bias(const struct unwind_module *module, uint64_t start_avma, uint64_t file_off,
                             uint64_t length_bytes, uint64_t *ret_bias)
{
        for (size_t i = 0; i < module->n_segments; i++) {
                const struct unwind_module_segment *s = &module->segments[i];

                /* A mapping begins at a page, so before its segment or within it; never compare addresses alone. */
                if (file_off >= s->file_off + s->file_bytes || s->file_off >= file_off + length_bytes)
                        continue;
                *ret_bias = start_avma - (s->svma - s->file_off + file_off);
                return true;
        }
        return false;
}
