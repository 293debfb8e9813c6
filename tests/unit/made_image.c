/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_image.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#define ABSOLUTE_64 R_X86_64_64
#define ABSOLUTE_32 R_X86_64_32
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#define ABSOLUTE_64 R_AARCH64_ABS64
#define ABSOLUTE_32 R_AARCH64_ABS32
#else
#define OWN_MACHINE EM_RISCV
#define ABSOLUTE_64 R_RISCV_64
#define ABSOLUTE_32 R_RISCV_32
#endif

#define NOTE_OFF    0x200
#define SYMBOLS_OFF 0x300
#define NAMES_OFF   0x380
#define HASH_OFF    0x400

static const char symbol_names[] = "\0" MADE_IMAGE_FUNCTION;

static void put(struct made_image *image, size_t at, const void *bytes, size_t n_bytes)
{
        memcpy(image->bytes + at, bytes, n_bytes);
        if (at + n_bytes > image->n_bytes)
                image->n_bytes = at + n_bytes;
}

static Elf64_Ehdr make_header(uint16_t type)
{
        return (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                             .e_type = type,
                             .e_machine = OWN_MACHINE,
                             .e_version = EV_CURRENT,
                             .e_ehsize = sizeof(Elf64_Ehdr),
                             .e_phentsize = sizeof(Elf64_Phdr),
                             .e_shentsize = sizeof(Elf64_Shdr) };
}

static void put_note(struct made_image *image, uint8_t seed)
{
        const Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID };

        put(image, NOTE_OFF, &note, sizeof(note));
        put(image, NOTE_OFF + sizeof(note), "GNU", 4);
        memset(image->bytes + NOTE_OFF + sizeof(note) + 4, seed, 20);
}

static void put_dynamic(struct made_image *image)
{
        const Elf64_Sym symbols[2] = { { .st_name = 0 },
                                       { .st_name = 1,
                                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                         .st_shndx = 1,
                                         .st_value = MADE_IMAGE_FUNCTION_AT,
                                         .st_size = 0x20 } };
        const uint32_t hash[5] = { 1, 2, 1, 0, 0 }; /* one bucket, two chains */
        const Elf64_Dyn dynamic[5] = { { DT_SYMTAB, { SYMBOLS_OFF } },
                                       { DT_STRTAB, { NAMES_OFF } },
                                       { DT_STRSZ, { sizeof(symbol_names) } },
                                       { DT_HASH, { HASH_OFF } },
                                       { DT_NULL, { 0 } } };

        put(image, SYMBOLS_OFF, symbols, sizeof(symbols));
        put(image, NAMES_OFF, symbol_names, sizeof(symbol_names));
        put(image, HASH_OFF, hash, sizeof(hash));
        put(image, MADE_IMAGE_DATA_OFF, dynamic, sizeof(dynamic));
}

void made_image_init(struct made_image *image, const struct made_image_options *options)
{
        static const char names[] = "\0.text\0.shstrtab";
        const size_t names_off = 0x1600, sections_off = 0x1640;
        const Elf64_Shdr sections[3] = {
                { .sh_type = SHT_NULL },
                { .sh_name = 1,
                  .sh_type = SHT_PROGBITS,
                  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                  .sh_addr = MADE_IMAGE_CODE_SVMA,
                  .sh_offset = MADE_IMAGE_CODE_OFF,
                  .sh_size = MADE_IMAGE_CODE_BYTES },
                { .sh_name = 7, .sh_type = SHT_STRTAB, .sh_offset = names_off, .sh_size = sizeof(names) }
        };
        const Elf64_Phdr segments[5] = {
                { .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x800, .p_memsz = 0x800 },
                { .p_type = PT_LOAD,
                  .p_flags = PF_R | PF_X,
                  .p_offset = MADE_IMAGE_CODE_OFF,
                  .p_vaddr = MADE_IMAGE_CODE_SVMA,
                  .p_filesz = MADE_IMAGE_CODE_BYTES,
                  .p_memsz = MADE_IMAGE_CODE_BYTES },
                { .p_type = PT_LOAD,
                  .p_flags = PF_R | PF_W,
                  .p_offset = MADE_IMAGE_DATA_OFF,
                  .p_vaddr = MADE_IMAGE_DATA_SVMA,
                  .p_filesz = 0x100,
                  .p_memsz = 0x200 },
                { .p_type = PT_DYNAMIC,
                  .p_flags = PF_R | PF_W,
                  .p_offset = MADE_IMAGE_DATA_OFF,
                  .p_vaddr = MADE_IMAGE_DATA_SVMA,
                  .p_filesz = 5 * sizeof(Elf64_Dyn),
                  .p_memsz = 5 * sizeof(Elf64_Dyn) },
                { .p_type = PT_NOTE,
                  .p_flags = PF_R,
                  .p_offset = NOTE_OFF,
                  .p_vaddr = NOTE_OFF,
                  .p_filesz = 36,
                  .p_memsz = 36 },
        };
        Elf64_Ehdr header = make_header(ET_DYN);

        *image = (struct made_image){ .n_bytes = 0x1600 };
        header.e_phoff = sizeof(header);
        header.e_phnum = options->has_build_id ? 5 : 4;
        for (size_t i = 0; i < MADE_IMAGE_CODE_BYTES; i++)
                image->bytes[MADE_IMAGE_CODE_OFF + i] = (uint8_t)(i * 7 + options->seed);
        put_dynamic(image);
        if (options->has_build_id)
                put_note(image, options->seed);
        if (!options->has_no_sections) {
                header.e_shoff = sections_off;
                header.e_shnum = 3;
                header.e_shstrndx = 2;
                put(image, names_off, names, sizeof(names));
                put(image, sections_off, sections, sizeof(sections));
        }
        put(image, 0, &header, sizeof(header));
        put(image, sizeof(header), segments, header.e_phnum * sizeof(segments[0]));
}

void made_image_load(const struct made_image *image, uint8_t *base, bool only_code)
{
        memcpy(base + MADE_IMAGE_CODE_SVMA, image->bytes + MADE_IMAGE_CODE_OFF, MADE_IMAGE_CODE_BYTES);
        if (only_code)
                return;
        memcpy(base, image->bytes, 0x800);
        memcpy(base + MADE_IMAGE_DATA_SVMA, image->bytes + MADE_IMAGE_DATA_OFF, 0x100);
}

void made_image_init_object(struct made_image *object, uint64_t text_avma)
{
        static const char names[] = "\0.text\0.debug_made\0.rela\0.symtab\0.strtab";
        static const char symbols_names[] = "\0" MADE_OBJECT_FUNCTION;
        const Elf64_Rela relocations[3] = {
                { .r_offset = 0, .r_info = ELF64_R_INFO(1, ABSOLUTE_64), .r_addend = 4 },
                { .r_offset = 8, .r_info = ELF64_R_INFO(2, ABSOLUTE_32), .r_addend = 2 },
                { .r_offset = 100, .r_info = ELF64_R_INFO(1, ABSOLUTE_64) }, /* past its end */
        };
        const Elf64_Sym symbols[3] = {
                { .st_name = 0 },
                { .st_name = 1,
                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                  .st_shndx = 1,
                  .st_value = 0x10,
                  .st_size = 0x10 },
                { .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = 2 },
        };
        const Elf64_Shdr sections[6] = {
                { .sh_type = SHT_NULL },
                { .sh_name = 0x40 + 1,
                  .sh_type = SHT_PROGBITS,
                  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                  .sh_addr = text_avma,
                  .sh_offset = MADE_OBJECT_TEXT_OFF,
                  .sh_size = MADE_OBJECT_TEXT_BYTES },
                { .sh_name = 0x40 + 7,
                  .sh_type = SHT_PROGBITS,
                  .sh_offset = MADE_OBJECT_DEBUG_OFF,
                  .sh_size = 16,
                  .sh_addr = 0x99990000 /* as some loaders say: it counts from 0 for all that */ },
                { .sh_name = 0x40 + 19,
                  .sh_type = SHT_RELA,
                  .sh_offset = 0x100,
                  .sh_size = sizeof(relocations),
                  .sh_link = 4,
                  .sh_info = 2,
                  .sh_entsize = sizeof(Elf64_Rela) },
                { .sh_name = 0x40 + 25,
                  .sh_type = SHT_SYMTAB,
                  .sh_offset = 0x180,
                  .sh_size = sizeof(symbols),
                  .sh_link = 5,
                  .sh_info = 1,
                  .sh_entsize = sizeof(Elf64_Sym) },
                { .sh_name = 0x40 + 33, .sh_type = SHT_STRTAB, .sh_offset = 0x200, .sh_size = 0x80 },
        };
        Elf64_Ehdr header = make_header(ET_REL);

        *object = (struct made_image){ .n_bytes = 0x300 };
        header.e_shoff = 0x300;
        header.e_shnum = 6;
        header.e_shstrndx = 5;
        put(object, 0, &header, sizeof(header));
        memset(object->bytes + MADE_OBJECT_TEXT_OFF, 0x90, MADE_OBJECT_TEXT_BYTES);
        put(object, 0x100, relocations, sizeof(relocations));
        put(object, 0x180, symbols, sizeof(symbols));
        put(object, 0x200, symbols_names, sizeof(symbols_names));
        put(object, 0x300, sections, sizeof(sections));
        memcpy(object->bytes + 0x240, names, sizeof(names));
}
