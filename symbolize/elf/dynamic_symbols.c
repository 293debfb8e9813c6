/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/dynamic_symbols.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#define SEGMENTS_MAX 4096
#define ALIGNMENT    8

struct range {
        uint64_t file_off, n_bytes, svma;
};

struct dynamic {
        uint64_t symbols_svma, names_svma, names_bytes, hash_svma, gnu_hash_svma; /* 0 = it has none */
};

struct image {
        const uint8_t *bytes; /* the buffer's, until something is added */
        size_t n_bytes;
        Elf64_Ehdr header;
        size_t n_segments;
        struct range code[DYNAMIC_SYMBOLS_CODE_MAX];
        size_t n_code;
        struct dynamic dynamic;
};

/* Sections: none, the code, symbols, names of symbols, names of sections. */
enum { SECTIONS_BEFORE_CODE = 1, SECTIONS_BEHIND_CODE = 3 };

static const char section_names[] = "\0.text\0.dynsym\0.dynstr\0.shstrtab";

enum { NAME_TEXT = 1, NAME_DYNSYM = 7, NAME_DYNSTR = 15, NAME_SHSTRTAB = 23 };

bool dynamic_symbols_are_needed(const void *header, size_t n_bytes)
{
        Elf64_Ehdr h;

        if (n_bytes < sizeof(h))
                return false;
        memcpy(&h, header, sizeof(h));
        return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
               h.e_ident[EI_DATA] == ELFDATA2LSB && (h.e_type == ET_DYN || h.e_type == ET_EXEC) &&
               h.e_shoff == 0 && h.e_phentsize == sizeof(Elf64_Phdr) && h.e_phnum > 0;
}

/* ---- what the image says ------------------------------------------------------------------------------- */

static bool read_segment(const struct image *image, size_t i, Elf64_Phdr *ret_segment)
{
        struct byte_reader in = byte_reader_of(image->bytes, image->n_bytes);
        const uint8_t *at = NULL;

        if (image->header.e_phoff <= image->n_bytes && bytes_take(&in, image->header.e_phoff) &&
            bytes_take(&in, i * sizeof(*ret_segment)))
                at = bytes_take(&in, sizeof(*ret_segment));
        if (at)
                memcpy(ret_segment, at, sizeof(*ret_segment));
        return at != NULL;
}

/* The bytes from a loaded address on, as far as they are in the file. */
static struct byte_reader find_loaded(const struct image *image, uint64_t svma)
{
        Elf64_Phdr s;

        for (size_t i = 0; i < image->n_segments && svma != 0; i++) {
                uint64_t left;

                if (!read_segment(image, i, &s) || s.p_type != PT_LOAD || svma < s.p_vaddr ||
                    svma - s.p_vaddr >= s.p_filesz || s.p_offset > image->n_bytes ||
                    svma - s.p_vaddr > image->n_bytes - s.p_offset)
                        continue;
                left = image->n_bytes - s.p_offset - (svma - s.p_vaddr);
                if (left > s.p_filesz - (svma - s.p_vaddr))
                        left = s.p_filesz - (svma - s.p_vaddr);
                return byte_reader_of(image->bytes + s.p_offset + (svma - s.p_vaddr), left);
        }
        return (struct byte_reader){ .short_read = true };
}

static void read_dynamic(struct image *image, const Elf64_Phdr *segment)
{
        struct byte_reader in = { .short_read = true };
        struct dynamic *d = &image->dynamic;

        if (segment->p_offset <= image->n_bytes && segment->p_filesz <= image->n_bytes - segment->p_offset)
                in = byte_reader_of(image->bytes + segment->p_offset, segment->p_filesz);
        while (!in.short_read && in.left >= sizeof(Elf64_Dyn)) {
                uint64_t tag = bytes_u64(&in), value = bytes_u64(&in);

                if (tag == DT_NULL)
                        return;
                if (tag == DT_SYMTAB)
                        d->symbols_svma = value;
                else if (tag == DT_STRTAB)
                        d->names_svma = value;
                else if (tag == DT_STRSZ)
                        d->names_bytes = value;
                else if (tag == DT_HASH)
                        d->hash_svma = value;
                else if (tag == DT_GNU_HASH)
                        d->gnu_hash_svma = value;
        }
}

static void read_segments(struct image *image)
{
        Elf64_Phdr s;

        image->n_segments = image->header.e_phnum < SEGMENTS_MAX ? image->header.e_phnum : SEGMENTS_MAX;
        for (size_t i = 0; i < image->n_segments && read_segment(image, i, &s); i++) {
                if (s.p_type == PT_LOAD && s.p_flags & PF_X && image->n_code < DYNAMIC_SYMBOLS_CODE_MAX)
                        image->code[image->n_code++] = (struct range){ s.p_offset, s.p_filesz, s.p_vaddr };
                else if (s.p_type == PT_DYNAMIC)
                        read_dynamic(image, &s);
        }
}

/* One past the last symbol of any chain.  Symbols before `first` are in none. */
static uint64_t count_by_gnu_hash(const struct image *image)
{
        struct byte_reader in = find_loaded(image, image->dynamic.gnu_hash_svma);
        uint32_t n_buckets = bytes_u32(&in), first = bytes_u32(&in), n_words = bytes_u32(&in);
        uint32_t last = 0;

        (void)bytes_u32(&in);
        (void)bytes_take(&in, (size_t)n_words * sizeof(uint64_t));
        for (uint32_t i = 0; i < n_buckets && !in.short_read; i++) {
                uint32_t bucket = bytes_u32(&in);

                last = bucket > last ? bucket : last;
        }
        if (in.short_read || last < first)
                return in.short_read ? 0 : first;
        (void)bytes_take(&in, (size_t)(last - first) * sizeof(uint32_t));
        while (!in.short_read && !(bytes_u32(&in) & 1)) /* the last of a chain has bit 0 */
                last++;
        return in.short_read ? 0 : (uint64_t)last + 1;
}

static uint64_t count_symbols(const struct image *image)
{
        struct byte_reader in = find_loaded(image, image->dynamic.hash_svma);
        uint64_t n;

        (void)bytes_u32(&in); /* buckets; there are as many chains as symbols */
        n = bytes_u32(&in);
        return n > 0 ? n : count_by_gnu_hash(image);
}

/* ---- the appended sections ----------------------------------------------------------------------------- */

static uint64_t align(struct byte_buffer *out)
{
        static const uint8_t zeros[ALIGNMENT] = { 0 };

        byte_buffer_add(out, zeros, (ALIGNMENT - out->used_bytes % ALIGNMENT) % ALIGNMENT);
        return out->used_bytes;
}

/* The number of the appended section that holds an address, or SHN_ABS. */
static uint16_t find_section(const struct image *image, uint64_t svma)
{
        for (size_t i = 0; i < image->n_code; i++)
                if (svma >= image->code[i].svma && svma - image->code[i].svma < image->code[i].n_bytes)
                        return (uint16_t)(SECTIONS_BEFORE_CODE + i);
        return SHN_ABS;
}

static void add_symbols(const struct image *image, struct byte_reader symbols, uint64_t n_symbols,
                        struct byte_buffer *out)
{
        for (uint64_t i = 0; i < n_symbols; i++) {
                const uint8_t *bytes = bytes_take(&symbols, sizeof(Elf64_Sym));
                Elf64_Sym symbol;

                if (!bytes)
                        return;
                memcpy(&symbol, bytes, sizeof(symbol));
                if (symbol.st_shndx != SHN_UNDEF)
                        symbol.st_shndx = find_section(image, symbol.st_value);
                byte_buffer_add(out, &symbol, sizeof(symbol));
        }
}

static void add_section_headers(struct image *image, const struct range *symbols, const struct range *names,
                                struct byte_buffer *out)
{
        uint32_t n_sections = (uint32_t)(SECTIONS_BEFORE_CODE + image->n_code + SECTIONS_BEHIND_CODE);
        Elf64_Shdr section = { .sh_type = SHT_NULL };
        uint64_t section_names_off = out->used_bytes;

        byte_buffer_add(out, section_names, sizeof(section_names));
        image->header.e_shoff = align(out);
        image->header.e_shentsize = sizeof(section);
        image->header.e_shnum = (uint16_t)n_sections;
        image->header.e_shstrndx = (uint16_t)(n_sections - 1);
        byte_buffer_add(out, &section, sizeof(section));
        for (size_t i = 0; i < image->n_code; i++) {
                section = (Elf64_Shdr){ .sh_name = NAME_TEXT,
                                        .sh_type = SHT_PROGBITS,
                                        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                        .sh_addr = image->code[i].svma,
                                        .sh_offset = image->code[i].file_off,
                                        .sh_size = image->code[i].n_bytes,
                                        .sh_addralign = 1 };
                byte_buffer_add(out, &section, sizeof(section));
        }
        section = (Elf64_Shdr){ .sh_name = NAME_DYNSYM,
                                .sh_type = SHT_DYNSYM,
                                .sh_offset = symbols->file_off,
                                .sh_size = symbols->n_bytes,
                                .sh_link = n_sections - 2,
                                .sh_info = 1,
                                .sh_addralign = ALIGNMENT,
                                .sh_entsize = sizeof(Elf64_Sym) };
        byte_buffer_add(out, &section, sizeof(section));
        section = (Elf64_Shdr){ .sh_name = NAME_DYNSTR,
                                .sh_type = SHT_STRTAB,
                                .sh_offset = names->file_off,
                                .sh_size = names->n_bytes,
                                .sh_addralign = 1 };
        byte_buffer_add(out, &section, sizeof(section));
        section.sh_name = NAME_SHSTRTAB;
        section.sh_offset = section_names_off;
        section.sh_size = sizeof(section_names);
        byte_buffer_add(out, &section, sizeof(section));
}

static int write_sections(struct image *image, uint64_t n_symbols, struct byte_buffer *out)
{
        struct byte_reader symbols = find_loaded(image, image->dynamic.symbols_svma);
        struct byte_reader names = find_loaded(image, image->dynamic.names_svma);
        struct range symbol_range, name_range = { .n_bytes = names.left };
        struct byte_buffer behind = { .data = NULL };
        size_t before = out->used_bytes;
        int r = -ENOMEM;

        if (n_symbols > symbols.left / sizeof(Elf64_Sym))
                n_symbols = symbols.left / sizeof(Elf64_Sym);
        if (name_range.n_bytes > image->dynamic.names_bytes)
                name_range.n_bytes = image->dynamic.names_bytes;
        name_range.file_off = (uint64_t)(names.at - image->bytes);
        symbol_range = (struct range){ .n_bytes = n_symbols * sizeof(Elf64_Sym) };
        /* Built separately, because the image may move as it grows. */
        add_symbols(image, symbols, n_symbols, &behind);
        if (behind.failed)
                goto end;
        symbol_range.file_off = align(out);
        byte_buffer_add(out, behind.data, behind.used_bytes);
        add_section_headers(image, &symbol_range, &name_range, out);
        if (!out->failed) {
                memcpy(out->data, &image->header, sizeof(image->header));
                r = 0;
        } else {
                out->used_bytes = before;
        }

end:
        byte_buffer_deinit(&behind);
        return r;
}

int dynamic_symbols_add(struct byte_buffer *image)
{
        struct image i = { .bytes = image->data, .n_bytes = image->used_bytes };
        uint64_t n_symbols;

        if (!dynamic_symbols_are_needed(image->data, image->used_bytes))
                return 0;
        memcpy(&i.header, image->data, sizeof(i.header));
        read_segments(&i);
        n_symbols = count_symbols(&i);
        if (i.n_code == 0 || n_symbols == 0 || n_symbols > DYNAMIC_SYMBOLS_MAX ||
            i.dynamic.names_bytes == 0 || find_loaded(&i, i.dynamic.names_svma).short_read ||
            find_loaded(&i, i.dynamic.symbols_svma).short_read)
                return 0;
        return write_sections(&i, n_symbols, image);
}
