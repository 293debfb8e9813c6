/* SPDX-License-Identifier: MIT */
/*
 * unwind/plt_frames.c: the stack within stubs as each linker writes them, up to the first
 * instruction that is not known
 */
#include "symbolize/elf/elf_image.h"
#include "tests/unit/unit_test.h"
#include "unwind/plt_frames.h"
#include "unwind/unwind_machine.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#define SVMA     UINT64_C(0x1000)
#define ROWS_MAX 8

#define X86 &unwind_machine_x86_64
#define ARM &unwind_machine_aarch64

struct expected_row {
        uint8_t at, cfa_offset;
};

static const struct {
        const char *name;
        const struct unwind_machine *machine;
        uint8_t bytes[64];
        size_t n_bytes;
        struct expected_row rows[ROWS_MAX];
        size_t n_rows, end; /* @end: bytes that are understood */
} stubs[] = {
        { "GNU ld, gold and lld: the first stub, then jump, push and jump back",
          X86,
          { 0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4,    0x0f, 0x1f, 0x40, 0x00, /* first */
            0xff, 0x25, 1, 2, 3, 4, 0x68, 0,    0, 0, 0, 0xe9, 1,    2,    3,    4,
            0xff, 0x25, 1, 2, 3, 4, 0x68, 1,    0, 0, 0, 0xe9, 1,    2,    3,    4 },
          48,
          { { 0, 16 }, { 6, 24 }, { 12, 8 }, { 27, 16 }, { 32, 8 }, { 43, 16 } },
          6,
          48 },
        { "mold: the number in a register",
          X86,
          { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x53, 0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4,
            0xcc, 0xcc, 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 0, 0, 0, 0, 0xff, 0x25, 1, 2, 3, 4 },
          36,
          { { 0, 8 }, { 6, 16 }, { 12, 24 }, { 18, 8 } },
          4,
          36 },
        { "with IBT: push and jump back",
          X86,
          { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xf2, 0xe9, 1, 2, 3, 4, 0x90 },
          16,
          { { 0, 8 }, { 9, 16 }, { 15, 8 } },
          3,
          16 },
        { ".plt.sec with MPX, and paddings",
          X86,
          { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3,    4,    0x0f, 0x1f, 0x44, 0x00,
            0x00, 0x66, 0x90, 0xff, 0x25, 1,    2,    3, 4, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
          30,
          { { 0, 8 } },
          1,
          30 },
        { "an instruction that is not known",
          X86,
          { 0x68, 0, 0, 0, 0, 0x50, 0x68, 0, 0, 0, 0 },
          11,
          { { 0, 8 }, { 5, 16 } },
          2,
          5 },
        { "one that is cut off", X86, { 0x68, 0, 0, 0, 0, 0xff, 0x25, 1 }, 8, { { 0, 8 }, { 5, 16 } }, 2, 5 },
        { "AArch64: the first stub saves the return address",
          ARM,
          { 0xf0, 0x7b, 0xbf, 0xa9, 0x10, 0x01, 0x00, 0x90, 0x11, 0x4a, 0x42, 0xf9, 0x10, 0x42, 0x12,
            0x91, 0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5, 0x5f, 0x24, 0x03, 0xd5, 0x10, 0x01,
            0x00, 0x90, 0x11, 0x4e, 0x42, 0xf9, 0x10, 0x62, 0x12, 0x91, 0x20, 0x02, 0x1f, 0xd6 },
          44,
          { { 0, 0 }, { 4, 16 }, { 20, 0 } },
          3,
          44 },
        { "AArch64: another register on the stack", ARM, { 0xf3, 0x7b, 0xbf, 0xa9 }, 4, { { 0, 0 } }, 1, 0 },
        { "RISC-V: never on the stack",
          &unwind_machine_riscv64,
          { 0x17, 0x2e, 0x00, 0x00, 0x03, 0x3e, 0x0e, 0x0d, 0x67, 0x03, 0x0e, 0x00, 0x13, 0x00, 0x00, 0x00 },
          16,
          { { 0, 0 } },
          1,
          16 },
};

/* loop test */
START_LOOP_TEST(test_rows, 0, sizeof(stubs) / sizeof(stubs[0]))
{
        const struct plt_section section = { stubs[_i].bytes, stubs[_i].n_bytes, SVMA };
        struct plt_frames_row row;
        struct plt_frames f;
        size_t n_rows = 0;

        plt_frames_init(&f, stubs[_i].machine, &section);
        while (plt_frames_next(&f, &row) == 1) {
                const struct expected_row *e = &stubs[_i].rows[n_rows];

                ck_assert_uint_lt(n_rows, ROWS_MAX);
                ck_assert_msg(row.svma == SVMA + e->at && row.cfa_offset == e->cfa_offset,
                              "%s: row %zu: %u at %u", stubs[_i].name, n_rows, row.cfa_offset,
                              (unsigned)(row.svma - SVMA));
                ck_assert_int_eq(row.is_ra_saved, stubs[_i].machine == X86 || e->cfa_offset > 0);
                n_rows++;
        }
        ck_assert_msg(n_rows == stubs[_i].n_rows && f.at == stubs[_i].end, "%s: %zu rows, end %zu",
                      stubs[_i].name, n_rows, f.at);
        ck_assert_int_eq(plt_frames_next(&f, &row), 0);
}
END_TEST

/* Pushes without end are no stub. */
START_TEST(test_bound)
{
        uint8_t bytes[256];
        const struct plt_section section = { bytes, sizeof(bytes), SVMA };
        struct plt_frames_row row;
        struct plt_frames f;
        unsigned n_rows = 0;

        for (size_t i = 0; i < sizeof(bytes); i += 2)
                memcpy(bytes + i, (const uint8_t[]){ 0x41, 0x53 }, 2);
        plt_frames_init(&f, X86, &section);
        while (plt_frames_next(&f, &row) == 1) {
                ck_assert_uint_le(row.cfa_offset, PLT_CFA_OFFSET_MAX);
                n_rows++;
        }
        ck_assert_uint_eq(n_rows, PLT_CFA_OFFSET_MAX / 8);
}
END_TEST

/* By their names alone: this program has other sections with code.  A static one may have no stubs. */
START_TEST(test_sections_that_are_stubs)
{
        struct plt_section sections[PLT_SECTIONS_MAX];
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct elf_image *image = NULL;
        size_t n_plts = 0, n_others = 0, n_found, names;
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_int_eq(elf_getshdrstrndx(image->elf, &names), 0);
        n_found = plt_frames_find(image, sections);
        while ((section = elf_nextscn(image->elf, section)) && gelf_getshdr(section, &header)) {
                const char *name = elf_strptr(image->elf, names, header.sh_name);
                bool is_plt = false;

                if (!(header.sh_flags & SHF_EXECINSTR))
                        continue;
                for (size_t i = 0; i < n_found; i++)
                        is_plt = is_plt || sections[i].svma == header.sh_addr;
                ck_assert_msg(is_plt == (strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0), "%s",
                              name);
                n_plts += is_plt;
                n_others += !is_plt;
        }
        ck_assert_uint_eq(n_plts, n_found);
        ck_assert_uint_gt(n_others, 1);
        elf_image_close(image);
        (void)close(fd);
}
END_TEST
