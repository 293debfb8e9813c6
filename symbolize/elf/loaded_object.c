/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/loaded_object.h"

#include "base/byte_buffer.h"
#include "base/error.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 16 /* of a section's name that are looked at */

/* ------------------------------------------------------------------ one relocation */

enum operation { SET, SET_RELATIVE, ADD, SUBTRACT };

struct kind {
        uint16_t machine;
        uint8_t operation; /* enum operation */
        uint8_t n_bits;
        uint32_t type;
};

static const struct kind kinds[] = {
        { EM_X86_64, SET, 64, R_X86_64_64 },
        { EM_X86_64, SET, 32, R_X86_64_32 },
        { EM_X86_64, SET, 32, R_X86_64_32S },
        { EM_X86_64, SET_RELATIVE, 32, R_X86_64_PC32 },
        { EM_X86_64, SET_RELATIVE, 64, R_X86_64_PC64 },
        { EM_AARCH64, SET, 64, R_AARCH64_ABS64 },
        { EM_AARCH64, SET, 32, R_AARCH64_ABS32 },
        { EM_AARCH64, SET_RELATIVE, 64, R_AARCH64_PREL64 },
        { EM_AARCH64, SET_RELATIVE, 32, R_AARCH64_PREL32 },
        { EM_RISCV, SET, 64, R_RISCV_64 },
        { EM_RISCV, SET, 32, R_RISCV_32 },
        { EM_RISCV, SET_RELATIVE, 32, R_RISCV_32_PCREL },
        { EM_RISCV, SET, 32, R_RISCV_SET32 },
        { EM_RISCV, SET, 16, R_RISCV_SET16 },
        { EM_RISCV, SET, 8, R_RISCV_SET8 },
        { EM_RISCV, SET, 6, R_RISCV_SET6 },
        { EM_RISCV, ADD, 64, R_RISCV_ADD64 },
        { EM_RISCV, ADD, 32, R_RISCV_ADD32 },
        { EM_RISCV, ADD, 16, R_RISCV_ADD16 },
        { EM_RISCV, ADD, 8, R_RISCV_ADD8 },
        { EM_RISCV, SUBTRACT, 64, R_RISCV_SUB64 },
        { EM_RISCV, SUBTRACT, 32, R_RISCV_SUB32 },
        { EM_RISCV, SUBTRACT, 16, R_RISCV_SUB16 },
        { EM_RISCV, SUBTRACT, 8, R_RISCV_SUB8 },
        { EM_RISCV, SUBTRACT, 6, R_RISCV_SUB6 },
};

static const struct kind *find_kind(const struct elf_relocation *relocation)
{
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (kinds[i].machine == relocation->machine && kinds[i].type == relocation->type)
                        return &kinds[i];
        return NULL;
}

static uint64_t read_number(const uint8_t *at, unsigned n_bytes)
{
        uint64_t v = 0;

        for (unsigned i = 0; i < n_bytes; i++)
                v |= (uint64_t)at[i] << 8 * i;
        return v;
}

static void write_number(uint8_t *at, unsigned n_bytes, uint64_t v)
{
        for (unsigned i = 0; i < n_bytes; i++)
                at[i] = (uint8_t)(v >> 8 * i);
}

/* 32 bits, whether the machine calls them signed or not. */
static bool fits(uint64_t v, unsigned n_bits)
{
        return n_bits != 32 || v <= UINT32_MAX || v >= (uint64_t)INT32_MIN;
}

bool elf_relocation_apply(const struct elf_relocation *relocation, uint8_t *at, size_t n_bytes)
{
        const struct kind *kind = find_kind(relocation);
        unsigned width = kind ? (kind->n_bits + 7U) / 8U : 0;
        uint64_t old, new = relocation->value;
        uint64_t mask;

        if (!kind || width > n_bytes)
                return false;
        old = read_number(at, width);
        mask = kind->n_bits == 64 ? UINT64_MAX : (UINT64_C(1) << kind->n_bits) - 1;
        if (kind->operation == SET_RELATIVE)
                new -= relocation->place_svma;
        if (kind->operation <= SET_RELATIVE && !fits(new, kind->n_bits))
                return false;
        if (kind->operation == ADD)
                new = old + new;
        else if (kind->operation == SUBTRACT)
                new = old - new;
        write_number(at, width, (old & ~mask) | (new &mask));
        return true;
}

/* ------------------------------------------------------------------ the object */

struct object {
        uint8_t *bytes; /* memory of the buffer; valid until something is added */
        size_t n_bytes;
        Elf64_Ehdr header;
        Elf64_Shdr *sections; /* heap: a copy, written back at the end */
        uint64_t n_relocations;
};

static bool lies_within(const struct object *o, uint64_t offset, uint64_t n_bytes)
{
        return offset <= o->n_bytes && n_bytes <= o->n_bytes - offset;
}

static int read_header(struct object *o, struct error *err)
{
        size_t table_bytes;

        if (o->n_bytes < sizeof(o->header))
                return error_set(err, -EBADMSG, "ELF object of %zu bytes", o->n_bytes);
        memcpy(&o->header, o->bytes, sizeof(o->header));
        if (memcmp(o->header.e_ident, ELFMAG, SELFMAG) != 0 || o->header.e_ident[EI_CLASS] != ELFCLASS64 ||
            o->header.e_ident[EI_DATA] != ELFDATA2LSB || o->header.e_type != ET_REL ||
            o->header.e_shentsize != sizeof(Elf64_Shdr))
                return error_set(err, -EBADMSG, "not a relocatable ELF object of 64 bits, little endian");
        table_bytes = (size_t)o->header.e_shnum * sizeof(Elf64_Shdr);
        if (o->header.e_shnum == 0 || !lies_within(o, o->header.e_shoff, table_bytes))
                return error_set(err, -EBADMSG, "ELF section headers lie outside of the object");
        o->sections = malloc(table_bytes);
        if (!o->sections)
                return error_set(err, -ENOMEM, "no memory for %u sections", o->header.e_shnum);
        memcpy(o->sections, o->bytes + o->header.e_shoff, table_bytes);
        return 0;
}

/* The bytes of a section, or NULL if it has none in the file. */
static uint8_t *find_bytes(const struct object *o, const Elf64_Shdr *section)
{
        if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL ||
            !lies_within(o, section->sh_offset, section->sh_size))
                return NULL;
        return o->bytes + section->sh_offset;
}

/* Reads the beginning of a section's name, cut to NAME_BYTES and filled with zeros. */
static void read_name(const struct object *o, const Elf64_Shdr *section, char name[NAME_BYTES])
{
        const Elf64_Shdr *names = o->header.e_shstrndx < o->header.e_shnum
                                          ? &o->sections[o->header.e_shstrndx]
                                          : NULL;
        const uint8_t *bytes = names ? find_bytes(o, names) : NULL;

        memset(name, 0, NAME_BYTES);
        if (!bytes || section->sh_name >= names->sh_size)
                return;
        for (size_t i = 0; i < NAME_BYTES - 1 && i < names->sh_size - section->sh_name; i++) {
                name[i] = (char)bytes[section->sh_name + i];
                if (name[i] == '\0')
                        return;
        }
}

static bool is_loaded(const Elf64_Shdr *section)
{
        return section->sh_flags & SHF_ALLOC && section->sh_addr != 0;
}

/*
 * Clears the addresses of sections that are not loaded: some loaders set one for debug information too,
 * which counts from 0.
 */
static void forget_other_addresses(struct object *o)
{
        for (size_t i = 0; i < o->header.e_shnum; i++)
                if (!(o->sections[i].sh_flags & SHF_ALLOC))
                        o->sections[i].sh_addr = 0;
}

/* ---- relocation ---------------------------------------------------------------------------------------- */

/* Where a symbol lies; false if that is not known here. */
static bool find_symbol(const struct object *o, const Elf64_Shdr *table, uint64_t number, uint64_t *ret_svma)
{
        const uint8_t *bytes = find_bytes(o, table);
        Elf64_Sym symbol;

        if (!bytes || table->sh_type != SHT_SYMTAB || number >= table->sh_size / sizeof(symbol))
                return false;
        memcpy(&symbol, bytes + number * sizeof(symbol), sizeof(symbol));
        *ret_svma = symbol.st_value;
        if (symbol.st_shndx == SHN_ABS)
                return true;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= o->header.e_shnum)
                return false;
        *ret_svma += o->sections[symbol.st_shndx].sh_addr;
        return true;
}

static void relocate(struct object *o, const Elf64_Shdr *list, const Elf64_Shdr *target)
{
        const uint8_t *entries = find_bytes(o, list);
        uint8_t *bytes = find_bytes(o, target);
        const Elf64_Shdr *symbols = &o->sections[list->sh_link];
        size_t n_entries = entries ? list->sh_size / sizeof(Elf64_Rela) : 0;

        for (size_t i = 0; bytes && i < n_entries && o->n_relocations < LOADED_OBJECT_RELOCATIONS_MAX; i++) {
                struct elf_relocation relocation = { .machine = o->header.e_machine };
                Elf64_Rela entry;

                o->n_relocations++;
                memcpy(&entry, entries + i * sizeof(entry), sizeof(entry));
                if (entry.r_offset >= target->sh_size ||
                    !find_symbol(o, symbols, ELF64_R_SYM(entry.r_info), &relocation.value))
                        continue;
                relocation.type = (uint32_t)ELF64_R_TYPE(entry.r_info);
                relocation.value += (uint64_t)entry.r_addend;
                relocation.place_svma = target->sh_addr + entry.r_offset;
                (void)elf_relocation_apply(&relocation, bytes + entry.r_offset,
                                           target->sh_size - entry.r_offset);
        }
}

static bool is_for_debuggers(const struct object *o, const Elf64_Shdr *section)
{
        char name[NAME_BYTES];

        read_name(o, section, name);
        return strncmp(name, ".debug_", strlen(".debug_")) == 0 || strcmp(name, ".eh_frame") == 0;
}

static void relocate_all(struct object *o)
{
        for (size_t i = 0; i < o->header.e_shnum; i++) {
                Elf64_Shdr *list = &o->sections[i];
                Elf64_Shdr *target = list->sh_info < o->header.e_shnum ? &o->sections[list->sh_info] : NULL;

                if (list->sh_type != SHT_RELA || !target || list->sh_link >= o->header.e_shnum ||
                    !is_for_debuggers(o, target))
                        continue;
                if (target->sh_flags & SHF_COMPRESSED)
                        target->sh_type = SHT_NULL; /* all its addresses would be wrong */
                else
                        relocate(o, list, target);
                list->sh_type = SHT_NULL; /* done; must not be done again */
        }
} /* NOLINT(clang-analyzer-unix.Malloc): the sections are the caller's, who frees them */

/* ---- the form of a linked image ------------------------------------------------------------------------ */

/* Gives addresses to the symbols of the first symbol table: an object has one. */
static void place_symbols(struct object *o)
{
        const Elf64_Shdr *table = o->sections;
        uint8_t *bytes = NULL;
        size_t n_symbols;

        while (table < o->sections + o->header.e_shnum && table->sh_type != SHT_SYMTAB)
                table++;
        if (table < o->sections + o->header.e_shnum)
                bytes = find_bytes(o, table);
        n_symbols = bytes ? table->sh_size / sizeof(Elf64_Sym) : 0;

        for (size_t i = 0; i < n_symbols; i++) {
                Elf64_Sym symbol;

                memcpy(&symbol, bytes + i * sizeof(symbol), sizeof(symbol));
                if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= o->header.e_shnum ||
                    !is_loaded(&o->sections[symbol.st_shndx]))
                        continue;
                symbol.st_value += o->sections[symbol.st_shndx].sh_addr;
                memcpy(bytes + i * sizeof(symbol), &symbol, sizeof(symbol));
        }
}

static int compare_segments(const void *a, const void *b)
{
        const Elf64_Phdr *x = a, *y = b;

        return x->p_vaddr < y->p_vaddr ? -1 : x->p_vaddr > y->p_vaddr;
}

/* Makes segments of the object's loaded sections, sorted by address.  Returns how many. */
static size_t make_segments(const struct object *o, Elf64_Phdr *segments)
{
        size_t n = 0;

        for (size_t i = 0; i < o->header.e_shnum && n < LOADED_OBJECT_SEGMENTS_MAX; i++) {
                const Elf64_Shdr *section = &o->sections[i];

                if (!is_loaded(section) || section->sh_size == 0 || !find_bytes(o, section) ||
                    section->sh_addr + section->sh_size < section->sh_addr)
                        continue;
                segments[n++] = (Elf64_Phdr){
                        .p_type = PT_LOAD,
                        .p_flags = PF_R | ((section->sh_flags & SHF_EXECINSTR) ? PF_X : 0) |
                                   ((section->sh_flags & SHF_WRITE) ? PF_W : 0),
                        .p_offset = section->sh_offset,
                        .p_vaddr = section->sh_addr,
                        .p_paddr = section->sh_addr,
                        .p_filesz = section->sh_size,
                        .p_memsz = section->sh_size,
                        .p_align = 1,
                };
        }
        qsort(segments, n, sizeof(*segments), compare_segments);
        return n;
}

/* Writes back the headers, and the segments after everything else.  Returns 0, -EBADMSG or -ENOMEM. */
static int write_headers(struct object *o, struct byte_buffer *object, struct error *err)
{
        static const uint8_t zeros[8] = { 0 };
        Elf64_Phdr *segments = calloc(LOADED_OBJECT_SEGMENTS_MAX, sizeof(*segments));
        size_t n_segments = segments ? make_segments(o, segments) : 0;
        int r = 0;

        if (!segments)
                return error_set(err, -ENOMEM, "no memory for segments");
        if (n_segments == 0)
                r = error_set(err, -EBADMSG, "relocatable ELF object that is not loaded anywhere");
        o->header.e_type = ET_EXEC;
        o->header.e_phoff = (object->used_bytes + 7) / 8 * 8;
        o->header.e_phentsize = sizeof(*segments);
        o->header.e_phnum = (uint16_t)n_segments;
        memcpy(o->bytes + o->header.e_shoff, o->sections, (size_t)o->header.e_shnum * sizeof(*o->sections));
        memcpy(o->bytes, &o->header, sizeof(o->header));
        byte_buffer_add(object, zeros, o->header.e_phoff - object->used_bytes);
        byte_buffer_add(object, segments, n_segments * sizeof(*segments));
        free(segments);
        if (r == 0 && object->failed)
                r = error_set(err, -ENOMEM, "no memory for segments");
        return r;
}

int loaded_object_link(struct byte_buffer *object, struct error *err)
{
        struct object o = { .bytes = object->data, .n_bytes = object->used_bytes };
        int r = read_header(&o, err);

        if (r == 0 && o.sections) {
                forget_other_addresses(&o);
                relocate_all(&o);
                place_symbols(&o);
                r = write_headers(&o, object, err);
        }
        free(o.sections);
        return r;
}
