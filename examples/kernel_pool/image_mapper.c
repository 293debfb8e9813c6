/* SPDX-License-Identifier: MIT */
#include "examples/kernel_pool/image_mapper.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The one relocation that needs no symbol; all others of such a library put the address
 * of a symbol into a word.
 */
#if defined(__x86_64__)
#define RELOCATION_RELATIVE R_X86_64_RELATIVE
#elif defined(__aarch64__)
#define RELOCATION_RELATIVE R_AARCH64_RELATIVE
#elif defined(__riscv)
#define RELOCATION_RELATIVE R_RISCV_RELATIVE
#else
#error "image_mapper.c: name the relative relocation of this architecture"
#endif

/* The dynamic section's entries, as addresses in the image; 0 = absent. */
struct dynamic_words {
        uint64_t symbols, strings;
        uint64_t relocations, relocations_bytes;
        uint64_t calls, calls_bytes; /* relocations of the PLT */
};

static const Elf64_Phdr *segments_of(const unsigned char *image, size_t *ret_n)
{
        const Elf64_Ehdr *header = (const void *)image;

        *ret_n = header->e_phnum;
        return (const void *)(image + header->e_phoff);
}

static size_t span_of(const unsigned char *image)
{
        size_t n, span = 0;
        const Elf64_Phdr *segments = segments_of(image, &n);

        for (size_t i = 0; i < n; i++) {
                if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > span)
                        span = segments[i].p_vaddr + segments[i].p_memsz;
        }
        return span;
}

static void copy_segments(const struct image_mapping *mapping)
{
        size_t n;
        const Elf64_Phdr *segments = segments_of(mapping->image, &n);

        for (size_t i = 0; i < n; i++) {
                if (segments[i].p_type == PT_LOAD)
                        memcpy(mapping->base + segments[i].p_vaddr, mapping->image + segments[i].p_offset,
                               segments[i].p_filesz);
        }
}

static int protect_segments(const struct image_mapping *mapping)
{
        size_t n;
        const Elf64_Phdr *segments = segments_of(mapping->image, &n);
        uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

        for (size_t i = 0; i < n; i++) {
                uint64_t start = segments[i].p_vaddr & ~(page_bytes - 1);
                int allowed = PROT_READ;

                if (segments[i].p_type != PT_LOAD)
                        continue;
                if (segments[i].p_flags & PF_W)
                        allowed |= PROT_WRITE;
                if (segments[i].p_flags & PF_X)
                        allowed |= PROT_EXEC;
                if (mprotect(mapping->base + start, segments[i].p_vaddr + segments[i].p_memsz - start,
                             allowed) < 0)
                        return -1;
        }
        return 0;
}

static void read_dynamic(const struct image_mapping *mapping, struct dynamic_words *words)
{
        size_t n;
        const Elf64_Phdr *segments = segments_of(mapping->image, &n);

        memset(words, 0, sizeof(*words));
        for (size_t i = 0; i < n; i++) {
                if (segments[i].p_type != PT_DYNAMIC)
                        continue;
                for (const Elf64_Dyn *d = (const void *)(mapping->base + segments[i].p_vaddr);
                     d->d_tag != DT_NULL; d++) {
                        switch (d->d_tag) {
                        case DT_SYMTAB:
                                words->symbols = d->d_un.d_ptr;
                                break;
                        case DT_STRTAB:
                                words->strings = d->d_un.d_ptr;
                                break;
                        case DT_RELA:
                                words->relocations = d->d_un.d_ptr;
                                break;
                        case DT_RELASZ:
                                words->relocations_bytes = d->d_un.d_val;
                                break;
                        case DT_JMPREL:
                                words->calls = d->d_un.d_ptr;
                                break;
                        case DT_PLTRELSZ:
                                words->calls_bytes = d->d_un.d_val;
                                break;
                        default:
                                break;
                        }
                }
        }
}

/*
 * The address that a relocation refers to: in the image, else in the program.  Weak symbols may be nowhere.
 */
static int find_symbol(const struct image_mapping *mapping, const struct dynamic_words *words, uint64_t index,
                       uint64_t *ret_address)
{
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(mapping->base + words->symbols) + index;
        const char *name = (const char *)mapping->base + words->strings + symbol->st_name;

        if (symbol->st_shndx != SHN_UNDEF)
                *ret_address = (uintptr_t)mapping->base + symbol->st_value;
        else
                *ret_address = (uintptr_t)dlsym(RTLD_DEFAULT, name);
        return *ret_address != 0 || ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? 0 : -1;
}

static int relocate(const struct image_mapping *mapping, const struct dynamic_words *words, uint64_t table,
                    uint64_t table_bytes)
{
        const Elf64_Rela *relocations = (const void *)(mapping->base + table);

        for (size_t i = 0; i < table_bytes / sizeof(*relocations); i++) {
                const Elf64_Rela *r = &relocations[i];
                uint64_t address = (uintptr_t)mapping->base;

                if (ELF64_R_TYPE(r->r_info) != RELOCATION_RELATIVE &&
                    find_symbol(mapping, words, ELF64_R_SYM(r->r_info), &address) != 0)
                        return -1;
                address += (uint64_t)r->r_addend;
                memcpy(mapping->base + r->r_offset, &address, sizeof(address));
        }
        return 0;
}

int image_mapper_map(const unsigned char *image, size_t n_bytes, struct image_mapping *ret_mapping)
{
        struct image_mapping mapping = { .image = image };
        struct dynamic_words words;
        void *memory;

        if (n_bytes < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG) != 0 ||
            image[EI_CLASS] != ELFCLASS64)
                return -1;
        mapping.n_bytes = span_of(image);
        memory = mmap(NULL, mapping.n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return -1;
        mapping.base = memory;
        copy_segments(&mapping);
        read_dynamic(&mapping, &words);
        if (relocate(&mapping, &words, words.relocations, words.relocations_bytes) != 0 ||
            relocate(&mapping, &words, words.calls, words.calls_bytes) != 0 ||
            protect_segments(&mapping) != 0) {
                image_mapper_unmap(&mapping);
                return -1;
        }
        __builtin___clear_cache((char *)mapping.base, (char *)mapping.base + mapping.n_bytes);
        *ret_mapping = mapping;
        return 0;
}

void image_mapper_unmap(struct image_mapping *mapping)
{
        if (mapping->base)
                (void)munmap(mapping->base, mapping->n_bytes);
        mapping->base = NULL;
}

void *image_mapper_find(const struct image_mapping *mapping, const char *name)
{
        const Elf64_Ehdr *header = (const void *)mapping->image;
        const Elf64_Shdr *sections = (const void *)(mapping->image + header->e_shoff);

        for (size_t i = 0; i < header->e_shnum; i++) {
                const Elf64_Sym *symbols = (const void *)(mapping->image + sections[i].sh_offset);
                const char *strings;

                if (sections[i].sh_type != SHT_DYNSYM)
                        continue;
                strings = (const char *)mapping->image + sections[sections[i].sh_link].sh_offset;
                for (size_t s = 0; s < sections[i].sh_size / sizeof(*symbols); s++) {
                        if (symbols[s].st_shndx != SHN_UNDEF &&
                            strcmp(strings + symbols[s].st_name, name) == 0)
                                return mapping->base + symbols[s].st_value;
                }
        }
        return NULL;
}
