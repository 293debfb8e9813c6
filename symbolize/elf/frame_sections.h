/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/frame_sections.h - where the unwind information of an image is
 *
 * Way of the data:  elf_image -> [frame_sections] -> cfi_section
 *
 * Finds .eh_frame and .debug_frame, also compressed; if the section headers are
 * stripped, .eh_frame through PT_GNU_EH_FRAME.
 */
#ifndef SYMBOLIZE_ELF_FRAME_SECTIONS_H
#define SYMBOLIZE_ELF_FRAME_SECTIONS_H

#include "symbolize/elf/cfi_section.h"

#include <stddef.h>

#define FRAME_SECTIONS_MAX 2 /* .eh_frame and .debug_frame */

struct elf_image;

/*
 * frame_sections_find() - the sections of an image
 * @ret_sections:  their bytes are borrowed from @image
 * Returns their number; damaged sections and those longer than CFI_SECTION_BYTES_MAX are left out.
 */
size_t frame_sections_find(const struct elf_image *image,
                           struct cfi_section ret_sections[FRAME_SECTIONS_MAX]);

#endif /* SYMBOLIZE_ELF_FRAME_SECTIONS_H */
