/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/elf_relocation.h - one place of a relocatable object that waits for an address
 *
 * Way of the data:  loaded_object (.rela.debug_*, .rela.eh_frame) -> [elf_relocation] -> bytes of the section
 *
 * The kinds that debug and unwind information has, of x86-64, aarch64 and riscv64: absolute and relative
 * numbers of 8 to 64 bits, and RISC-V's sums and differences.  Other kinds, for code and its tables, are left
 * out: the loader has relocated the code.
 */
#ifndef SYMBOLIZE_ELF_ELF_RELOCATION_H
#define SYMBOLIZE_ELF_ELF_RELOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_relocation {
        uint16_t machine;    /* EM_* */
        uint32_t type;       /* R_* of that machine */
        uint64_t value;      /* the symbol's address and the addend */
        uint64_t place_svma; /* where the section's byte is in memory; 0 for sections that are not loaded */
};

/*
 * elf_relocation_apply() - write the number
 * @at, @n_bytes: the place, and the rest of its section from there on
 * Returns false if the kind is not known or the number does not fit there: nothing is written then.
 */
bool elf_relocation_apply(const struct elf_relocation *relocation, uint8_t *at, size_t n_bytes);

#endif /* SYMBOLIZE_ELF_ELF_RELOCATION_H */
