/* SPDX-License-Identifier: MIT */
#include "unwind/plt_frames.h"

#include "symbolize/elf/elf_image.h"
#include "unwind/unwind_machine.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#define ADDRESS_BYTES     8
#define INSTRUCTION_BYTES 4 /* of AArch64 */

/* x86-64: instructions by their first bytes. */
struct x86_form {
        uint8_t head[5];
        uint8_t n_head;
        uint8_t n_bytes; /* of the instruction */
        uint8_t n_pushed;
        /* other code enters after a jump, with only a return address on the stack */
        bool is_jump;
};

static const struct x86_form x86_forms[] = {
        { { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 4, 0, false }, /* endbr64 */
        { { 0xff, 0x25 }, 2, 6, 0, true },              /* jmp *slot(%rip) */
        { { 0xf2, 0xff, 0x25 }, 3, 7, 0, true },        /* bnd jmp *slot(%rip) */
        { { 0xe9 }, 1, 5, 0, true },                    /* jmp to the first stub */
        { { 0xf2, 0xe9 }, 2, 6, 0, true },              /* the same with bnd */
        { { 0x68 }, 1, 5, ADDRESS_BYTES, false },       /* push $number */
        { { 0xff, 0x35 }, 2, 6, ADDRESS_BYTES, false }, /* push slot(%rip) */
        { { 0x41, 0x53 }, 2, 2, ADDRESS_BYTES, false }, /* push %r11 */
        { { 0x41, 0xbb }, 2, 6, 0, false },             /* mov $number, %r11d */
        { { 0xcc }, 1, 1, 0, false },                   /* int3 */
        { { 0x90 }, 1, 1, 0, false },                   /* nop, and longer ones */
        { { 0x66, 0x90 }, 2, 2, 0, false },
        { { 0x0f, 0x1f, 0x00 }, 3, 3, 0, false },
        { { 0x0f, 0x1f, 0x40 }, 3, 4, 0, false },
        { { 0x0f, 0x1f, 0x44, 0x00 }, 4, 5, 0, false },
        { { 0x66, 0x0f, 0x1f, 0x44, 0x00 }, 5, 6, 0, false },
        { { 0x0f, 0x1f, 0x80 }, 3, 7, 0, false },
        { { 0x0f, 0x1f, 0x84, 0x00 }, 4, 8, 0, false },
};

/* AArch64: some bits of an instruction, and its effect. */
struct arm_form {
        uint32_t mask, bits;
        uint8_t n_pushed;
        bool is_jump;
};

static const struct arm_form arm_forms[] = {
        { 0xffffffff, 0xa9bf7bf0, 2 * ADDRESS_BYTES, false }, /* stp x16, x30, [sp, #-16]! */
        { 0x9f00001f, 0x90000010, 0, false },                 /* adrp x16, slot */
        { 0xffc003ff, 0xf9400211, 0, false },                 /* ldr x17, [x16, #slot] */
        { 0xff8003ff, 0x91000210, 0, false },                 /* add x16, x16, #slot */
        { 0xffffffff, 0xd61f0220, 0, true },                  /* br x17 */
        { 0xffffffff, 0xd503201f, 0, false },                 /* nop */
        { 0xffffffff, 0xd503245f, 0, false },                 /* bti c */
        { 0xffffffff, 0xd503219f, 0, false },                 /* autia1716 */
};

static bool is_plt_name(const char *name)
{
        return name &&
               (strcmp(name, ".plt") == 0 || strncmp(name, ".plt.", 5) == 0 || strcmp(name, ".iplt") == 0);
}

size_t plt_frames_find(const struct elf_image *image, struct plt_section ret_sections[PLT_SECTIONS_MAX])
{
        Elf_Scn *section = NULL;
        size_t names, n_sections = 0;

        if (elf_getshdrstrndx(image->elf, &names) != 0)
                return 0;
        while (n_sections < PLT_SECTIONS_MAX && (section = elf_nextscn(image->elf, section))) {
                const Elf_Data *data;
                GElf_Shdr header;

                if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
                    !(header.sh_flags & SHF_EXECINSTR) || header.sh_size == 0 ||
                    header.sh_size > PLT_SECTION_BYTES_MAX || header.sh_offset > INT64_MAX ||
                    !is_plt_name(elf_strptr(image->elf, names, header.sh_name)))
                        continue;
                data = elf_getdata_rawchunk(image->elf, (int64_t)header.sh_offset, header.sh_size,
                                            ELF_T_BYTE);
                if (data && data->d_buf)
                        ret_sections[n_sections++] = (struct plt_section){ .bytes = data->d_buf,
                                                                           .n_bytes = data->d_size,
                                                                           .svma = header.sh_addr };
        }
        return n_sections;
}

/*
 * The CFA's offset where a stub is entered: the call has left its return address on the stack or in a
 * register.
 */
static uint8_t entered(const struct unwind_machine *machine)
{
        return machine->is_return_address_saved ? ADDRESS_BYTES : 0;
}

void plt_frames_init(struct plt_frames *f, const struct unwind_machine *machine,
                     const struct plt_section *section)
{
        *f = (struct plt_frames){ .machine = machine, .section = section, .cfa_offset = entered(machine) };
        /*
         * The first stub, which finds the function, begins with this push if the other stubs push a number
         * and jump to the first one.
         */
        if (machine == &unwind_machine_x86_64 && section->n_bytes >= 2 && section->bytes[0] == 0xff &&
            section->bytes[1] == 0x35)
                f->cfa_offset += ADDRESS_BYTES;
}

/* Returns the length of the instruction, or 0 if it is not known. */
static size_t step_x86(struct plt_frames *f, const uint8_t *bytes, size_t n_left)
{
        for (size_t i = 0; i < sizeof(x86_forms) / sizeof(x86_forms[0]); i++) {
                const struct x86_form *form = &x86_forms[i];

                if (form->n_bytes > n_left || memcmp(bytes, form->head, form->n_head) != 0)
                        continue;
                f->cfa_offset = form->is_jump ? ADDRESS_BYTES : (uint8_t)(f->cfa_offset + form->n_pushed);
                return form->n_bytes;
        }
        return 0;
}

static size_t step_arm(struct plt_frames *f, const uint8_t *bytes, size_t n_left)
{
        uint32_t instruction;

        if (n_left < INSTRUCTION_BYTES)
                return 0;
        instruction = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                      (uint32_t)bytes[3] << 24;
        for (size_t i = 0; i < sizeof(arm_forms) / sizeof(arm_forms[0]); i++) {
                const struct arm_form *form = &arm_forms[i];

                if ((instruction & form->mask) != form->bits)
                        continue;
                f->cfa_offset = form->is_jump ? 0 : (uint8_t)(f->cfa_offset + form->n_pushed);
                return INSTRUCTION_BYTES;
        }
        return 0;
}

/* Steps over one instruction.  Returns false at the end. */
static bool step(struct plt_frames *f)
{
        const uint8_t *bytes = f->section->bytes + f->at;
        size_t n_left = f->section->n_bytes - f->at, n_bytes;

        if (f->machine == &unwind_machine_x86_64)
                n_bytes = step_x86(f, bytes, n_left);
        else if (f->machine == &unwind_machine_aarch64)
                n_bytes = step_arm(f, bytes, n_left);
        else
                n_bytes = n_left; /* RISC-V: stubs leave the stack and the return address alone */
        f->at += n_bytes;
        return n_bytes > 0 && f->cfa_offset <= PLT_CFA_OFFSET_MAX;
}

int plt_frames_next(struct plt_frames *f, struct plt_frames_row *ret_row)
{
        uint8_t before = f->cfa_offset;

        while (f->has_row && f->cfa_offset == before)
                if (!step(f))
                        return 0;
        if (f->at == f->section->n_bytes)
                return 0;
        f->has_row = true;
        *ret_row = (struct plt_frames_row){ .svma = f->section->svma + f->at,
                                            .cfa_offset = f->cfa_offset,
                                            .is_ra_saved = f->cfa_offset > 0 };
        return 1;
}
