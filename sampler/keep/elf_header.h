/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/elf_header.h - the headers of an ELF image in another process's memory: what it is,
 * and how far it reaches
 *
 * Way of the data:  process_memory -> [elf_header] -> memory_image, jit_objects
 *
 * Pure functions on bytes.  The recorder has rights that a parser of the program's
 * bytes should not have, so this is as small as it can be: numbers at fixed
 * places, each checked, nothing followed.  Everything else is read by
 * processes without rights.  For 64 bits and little endian, as all recorded programs are.
 */
#ifndef SAMPLER_KEEP_ELF_HEADER_H
#define SAMPLER_KEEP_ELF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_HEADER_BYTES         64 /* of the first header alone */
#define ELF_HEADER_SEGMENTS_MAX  32
#define ELF_HEADER_SECTIONS_MAX  65535
#define ELF_HEADER_SECTION_BYTES 64

struct elf_header_segment {
        uint64_t file_off, file_bytes;
        uint64_t svma, memory_bytes;
        uint32_t type;  /* PT_LOAD, PT_NOTE, PT_DYNAMIC */
        uint32_t flags; /* PF_* */
};

struct elf_header {
        uint16_t type; /* ET_REL, ET_EXEC, ET_DYN */
        uint16_t machine;
        uint64_t segments_off;
        uint64_t sections_off; /* 0 = none */
        uint32_t n_sections;
        uint32_t names_section; /* the number of the section that has the sections' names */
        struct elf_header_segment segments[ELF_HEADER_SEGMENTS_MAX]; /* PT_LOAD, PT_NOTE and PT_DYNAMIC */
        size_t n_segments;
        size_t n_bytes; /* of both headers, from the beginning of the image on */
};

struct elf_header_section {
        uint64_t svma, file_off, n_bytes;
        uint64_t flags; /* SHF_* */
        uint32_t type;  /* SHT_* */
};

/*
 * elf_header_read() - read the headers at the beginning of an image
 * @n_bytes:  length of the bytes; more than the headers do no harm
 * Returns 0; -ENODATA if the program headers reach past @n_bytes; -EBADMSG if it cannot be an image that runs
 * on this machine, or contradicts itself.
 */
int elf_header_read(const void *bytes, size_t n_bytes, struct elf_header *ret_header);

/*
 * How many bytes the image has: to the end of its section headers and of all segments.  The headers say so;
 * 0 if they make no sense.  An ET_REL ends with its section headers, or later: see
 * elf_header_section_read().
 */
uint64_t elf_header_count_bytes(const struct elf_header *header);

/*
 * The address, in terms of the file, at which byte @file_off of the file is loaded.  Returns false if it is
 * not loaded.
 */
bool elf_header_find_svma(const struct elf_header *header, uint64_t file_off, uint64_t *ret_svma);

/*
 * The next executable PT_LOAD from *@at on that has bytes in the file, or NULL; *@at is moved past it.  *@at
 * is 0 at first.
 */
const struct elf_header_segment *elf_header_next_code(const struct elf_header *header, size_t *at);

/* One header of a section: ELF_HEADER_SECTION_BYTES bytes. */
void elf_header_section_read(const uint8_t bytes[ELF_HEADER_SECTION_BYTES],
                             struct elf_header_section *ret_section);

#endif /* SAMPLER_KEEP_ELF_HEADER_H */
