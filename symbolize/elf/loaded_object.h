/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/loaded_object.h - a relocatable object that lies in memory already -> an image as if a linker
 * had made it
 *
 * Way of the data:  elf_image (ET_REL) -> [loaded_object] -> elf_image
 *
 * A JIT hands its debugger the object that it loaded, with the address of each section in its header.
 * Nothing else was done to it: its symbols count from their sections, and its debug and unwind information
 * waits for relocation.  Here its sections become load segments, symbols get addresses, and .debug_* and
 * .eh_frame are relocated, so that it can be read like any other image.  Places of bytes in the file stay as
 * they are.  64 bits, little endian.
 */
#ifndef SYMBOLIZE_ELF_LOADED_OBJECT_H
#define SYMBOLIZE_ELF_LOADED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOADED_OBJECT_SEGMENTS_MAX    4096     /* sections that are loaded */
#define LOADED_OBJECT_RELOCATIONS_MAX 67108864 /* of one object, 24 bytes each in it */

struct byte_buffer;
struct error;

/*
 * loaded_object_link() - turn the object in @object into such an image
 * Damaged debug information is skipped.
 * Returns 0; -EBADMSG for another kind of file, a damaged one, or one without an address; -ENOMEM.
 */
int loaded_object_link(struct byte_buffer *object, struct error *err);

/*
 * One place of the object that waits for an address.
 *
 * The kinds that debug and unwind information has, of x86-64, aarch64 and riscv64: absolute and relative
 * numbers of 8 to 64 bits, and RISC-V's sums and differences.  Other kinds, for code and its tables, are left
 * out: the loader has relocated the code.
 */
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

#endif /* SYMBOLIZE_ELF_LOADED_OBJECT_H */
