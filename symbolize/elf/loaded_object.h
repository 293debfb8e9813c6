/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/loaded_object.h - a relocatable object that lies in memory already -> an image
 * as a linker had made it
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

#define LOADED_OBJECT_SEGMENTS_MAX    4096     /* sections that are loaded */
#define LOADED_OBJECT_RELOCATIONS_MAX 67108864 /* of one object, 24 bytes each in it */

struct byte_buffer;
struct error;

/*
 * loaded_object_link() - do this to the object in @object
 * Damaged debug information is skipped.
 * Returns 0; -EBADMSG for another kind of file, a damaged one, or one without an address; -ENOMEM.
 */
int loaded_object_link(struct byte_buffer *object, struct error *err);

#endif /* SYMBOLIZE_ELF_LOADED_OBJECT_H */
