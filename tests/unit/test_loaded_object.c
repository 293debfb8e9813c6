/* SPDX-License-Identifier: MIT */
/*
 * An object that a JIT loaded is read as if it was linked there; an image without sections has
 * names; damage does no harm.
 */
#include "symbolize/elf/dynamic_symbols.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/loaded_object.h"
#include "symbolize/images/module_landmarks.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_AVMA UINT64_C(0x7f1234567000)

static struct made_image made;
static struct elf_image *image;

static void setup(void)
{
        image = NULL;
}

static void teardown(void)
{
        elf_image_close(image);
}

/* The symbol of this name. */
static bool find_symbol(const char *wanted, GElf_Sym *ret_symbol)
{
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while ((section = elf_nextscn(image->elf, section))) {
                Elf_Data *data = gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB ||
                                                                    header.sh_type == SHT_DYNSYM)
                                         ? elf_getdata(section, NULL)
                                         : NULL;

                for (int i = 1; data && gelf_getsym(data, i, ret_symbol); i++) {
                        const char *name = elf_strptr(image->elf, header.sh_link, ret_symbol->st_name);

                        if (name && strcmp(name, wanted) == 0)
                                return true;
                }
        }
        return false;
}

START_TEST(sections_become_segments)
{
        GElf_Sym symbol;
        uint64_t svma;
        GElf_Shdr debug;

        made_image_init_object(&made, TEXT_AVMA);
        ck_assert_int_eq(elf_image_open_memory(made.bytes, made.n_bytes, &image, NULL), 0);
        ck_assert_uint_eq(image->n_segments, 1);
        ck_assert(image->segments[0].executable);
        ck_assert(elf_image_find_svma(image, MADE_OBJECT_TEXT_OFF + 5, &svma));
        ck_assert_uint_eq(svma, TEXT_AVMA + 5);
        ck_assert(find_symbol(MADE_OBJECT_FUNCTION, &symbol));
        ck_assert_uint_eq(symbol.st_value, TEXT_AVMA + 0x10);
        ck_assert_ptr_nonnull(gelf_getshdr(elf_getscn(image->elf, 2), &debug));
        ck_assert_uint_eq(debug.sh_addr, 0);
}
END_TEST

START_TEST(debug_information_is_relocated)
{
        uint64_t function;
        uint32_t offset;

        made_image_init_object(&made, TEXT_AVMA);
        ck_assert_int_eq(elf_image_open_memory(made.bytes, made.n_bytes, &image, NULL), 0);
        memcpy(&function, image->memory + MADE_OBJECT_DEBUG_OFF, sizeof(function));
        memcpy(&offset, image->memory + MADE_OBJECT_DEBUG_OFF + 8, sizeof(offset));
        ck_assert_uint_eq(function, TEXT_AVMA + 0x10 + 4);
        ck_assert_uint_eq(offset, 2); /* though its section was given an address */
}
END_TEST

START_TEST(an_object_that_is_nowhere_is_refused)
{
        made_image_init_object(&made, 0);
        ck_assert_int_eq(elf_image_open_memory(made.bytes, made.n_bytes, &image, NULL), -EBADMSG);
        made_image_init_object(&made, UINT64_MAX - 2);
        ck_assert_int_eq(elf_image_open_memory(made.bytes, made.n_bytes, &image, NULL), -EBADMSG);
}
END_TEST

START_TEST(without_sections_names_come_from_the_dynamic_table)
{
        struct module_landmarks landmarks;
        GElf_Sym symbol;
        uint64_t svma;

        made_image_init(&made, &(struct made_image_options){ .has_no_sections = true });
        ck_assert(dynamic_symbols_are_needed(made.bytes, made.n_bytes));
        ck_assert_int_eq(elf_image_open_memory(made.bytes, made.n_bytes, &image, NULL), 0);
        ck_assert(find_symbol(MADE_IMAGE_FUNCTION, &symbol));
        ck_assert_uint_eq(symbol.st_value, MADE_IMAGE_FUNCTION_AT);
        ck_assert_uint_eq(symbol.st_shndx, 1);
        ck_assert(elf_image_find_svma(image, MADE_IMAGE_CODE_OFF, &svma));
        ck_assert_uint_eq(svma, MADE_IMAGE_CODE_SVMA);
        module_landmarks_find(image, &landmarks);
        ck_assert_uint_eq(landmarks.jit_svma, 0);
        ck_assert_uint_eq(landmarks.python_runtime_svma, 0);
}
END_TEST

/* From the first byte of it on, and not beyond its end: there is the hash table, which has their number. */
START_LOOP_TEST(a_table_fills_its_segment, 0, 2)
{
        Elf64_Phdr segment;
        GElf_Sym symbol;

        made_image_init(&made, &(struct made_image_options){ .has_no_sections = true });
        memcpy(&segment, made.bytes + sizeof(Elf64_Ehdr), sizeof(segment));
        segment.p_offset = segment.p_vaddr =
                0x300; /* of the symbols; then come their names and the hash table */
        segment.p_filesz = segment.p_memsz = (_i == 0 ? 0x400 + 5 * sizeof(uint32_t) : 0x400) - 0x300;
        memcpy(made.bytes + sizeof(Elf64_Ehdr), &segment, sizeof(segment));
        ck_assert_int_eq(elf_image_open_memory(made.bytes, made.n_bytes, &image, NULL), 0);
        ck_assert(find_symbol(MADE_IMAGE_FUNCTION, &symbol) == (_i == 0));
}
END_TEST

/* Every byte of the headers and tables set to all ones, one after the other, and every cut. */
START_LOOP_TEST(damage_does_no_harm, 0, 4)
{
        struct made_image whole;

        if (_i % 2 == 0)
                made_image_init_object(&whole, TEXT_AVMA);
        else
                made_image_init(&whole, &(struct made_image_options){ .has_no_sections = true });
        for (size_t at = 0; at < whole.n_bytes; at += _i < 2 ? 1 : 7) {
                uint8_t *bytes = malloc(whole.n_bytes);
                size_t n_bytes = _i < 2 ? whole.n_bytes : at;
                struct elf_image *damaged;

                ck_assert_ptr_nonnull(bytes);
                memcpy(bytes, whole.bytes, whole.n_bytes);
                if (_i < 2)
                        bytes[at] ^= 0xff;
                if (elf_image_open_memory(bytes, n_bytes, &damaged, NULL) == 0)
                        elf_image_close(damaged);
                free(bytes);
        }
}
END_TEST

/*
 * Machine, kind, what is there, symbol + addend, place; what must be there after it, or 0 if it is refused.
 */
static const struct {
        uint16_t machine;
        uint32_t type;
        uint64_t before, value, place, after;
} relocations[] = {
        { EM_X86_64, R_X86_64_64, 7, UINT64_C(0x123456789), 0, UINT64_C(0x123456789) },
        { EM_X86_64, R_X86_64_32, UINT64_C(0xff00000000), 0x80000001, 0, UINT64_C(0xff80000001) },
        { EM_X86_64, R_X86_64_32, 7, UINT64_C(0x100000000), 0, 0 },
        { EM_X86_64, R_X86_64_PC32, 0, 0x1000, 0x1010, 0xfffffff0 },
        { EM_X86_64, R_X86_64_PC64, 0, 0x1000, 0x1010, UINT64_C(0xfffffffffffffff0) },
        { EM_X86_64, R_X86_64_GOTPCREL, 7, 0x1000, 0, 0 },
        { EM_AARCH64, R_AARCH64_ABS64, 0, 5, 0, 5 },
        { EM_AARCH64, R_AARCH64_PREL32, 0, 0x20, 0x10, 0x10 },
        { EM_RISCV, R_RISCV_ADD32, 10, 5, 0, 15 },
        { EM_RISCV, R_RISCV_SUB16, 10, 5, 0, 5 },
        { EM_RISCV, R_RISCV_SET6, 0xc1, 0x2a, 0, 0xea },
        { EM_RISCV, R_RISCV_SUB6, 0xcf, 0x4, 0, 0xcb },
        { EM_386, R_386_32, 7, 5, 0, 0 },
};

START_LOOP_TEST(each_kind_of_relocation, 0, sizeof(relocations) / sizeof(relocations[0]))
{
        struct elf_relocation r = { .machine = relocations[_i].machine,
                                    .type = relocations[_i].type,
                                    .value = relocations[_i].value,
                                    .place_svma = relocations[_i].place };
        uint64_t now = relocations[_i].before;
        bool is_known = relocations[_i].after != 0;

        ck_assert(elf_relocation_apply(&r, (uint8_t *)&now, sizeof(now)) == is_known);
        ck_assert_uint_eq(now, is_known ? relocations[_i].after : relocations[_i].before);
        ck_assert(!elf_relocation_apply(&r, (uint8_t *)&now, 0));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
