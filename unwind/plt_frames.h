/* SPDX-License-Identifier: MIT */
/*
 * unwind/plt_frames.h - the stack within the stubs that a linker made for calls into other
 * modules, by their instructions
 *
 * Way of the data:  elf_image -> [plt_frames] -> unwind_table
 *
 * GNU ld and gold describe their stubs in .eh_frame for x86-64; mold and lld do not, and no linker does
 * for AArch64 and RISC-V.  A stub has a few instructions of a known form: this code follows them one by one,
 * and ends at an instruction that it does not know.  It finds stubs by the names of their sections, so only
 * in a file that has section headers.
 */
#ifndef UNWIND_PLT_FRAMES_H
#define UNWIND_PLT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLT_SECTIONS_MAX      8                   /* .plt, .plt.sec, .plt.got, .iplt */
#define PLT_SECTION_BYTES_MAX (UINT32_C(1) << 24) /* larger sections are left out */

#define PLT_CFA_OFFSET_MAX 64 /* no stub pushes more */
#define PLT_RA_BYTES       8  /* a saved return address is so many bytes below the CFA */

struct elf_image;
struct unwind_machine;

struct plt_section {
        const uint8_t *bytes; /* borrowed from the image */
        size_t n_bytes;
        uint64_t svma;
};

/* From one address on. */
struct plt_frames_row {
        uint64_t svma;
        uint8_t cfa_offset; /* CFA = stack pointer + this */
        /* the return address is on the stack, PLT_RA_BYTES below the CFA; else it is in its register */
        bool is_ra_saved;
};

struct plt_frames {
        const struct unwind_machine *machine;
        const struct plt_section *section;
        size_t at;          /* bytes that were followed; at the end, all that are understood */
        uint8_t cfa_offset; /* there */
        bool has_row;       /* the first row was handed out */
};

/* The sections with stubs.  Returns their number. */
size_t plt_frames_find(const struct elf_image *image, struct plt_section ret_sections[PLT_SECTIONS_MAX]);

/* @machine, @section: borrowed as long as @f is used. */
void plt_frames_init(struct plt_frames *f, const struct unwind_machine *machine,
                     const struct plt_section *section);

/*
 * The next address from which the stack differs.  Returns 1, or 0 at the end of the bytes that are
 * understood.
 */
int plt_frames_next(struct plt_frames *f, struct plt_frames_row *ret_row);

#endif /* UNWIND_PLT_FRAMES_H */
