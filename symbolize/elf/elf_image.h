/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/elf_image.h - one ELF file: its identity and its load segments
 *
 * Way of the data:  module of a trace -> [elf_image] -> debug_files -> symbol_table, code_index
 *
 * Executables and shared objects of any class and byte order that libelf reads, and objects that a JIT has
 * loaded (symbolize/elf/loaded_object.h), which are read as if they were linked.  One without section headers
 * gets those that its dynamic segment describes (symbolize/elf/dynamic_symbols.h).
 * The bytes are not trusted: the tables of the header must lie within the file
 * before libelf sees it.  Not thread-safe.
 */
#ifndef SYMBOLIZE_ELF_ELF_IMAGE_H
#define SYMBOLIZE_ELF_ELF_IMAGE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_IMAGE_BUILD_ID_MAX 64                  /* bytes; 20 is usual */
#define ELF_IMAGE_MEMORY_MAX   (UINT32_C(1) << 29) /* of a file that is read into memory */

struct error;

struct elf_image_segment {
        uint64_t file_off; /* bytes of the file that are loaded ... */
        uint64_t file_bytes;
        uint64_t svma; /* ... at this address */
        uint64_t memory_bytes;
        bool executable;
        bool writable;
};

/* Bytes of a file, and the address that they are loaded at. */
struct elf_image_part {
        uint64_t file_off, file_bytes;
        uint64_t svma;
};

struct elf_image {
        Elf *elf;
        int fd;          /* borrowed; -1 for an image in memory, also for a file that was read into it */
        uint8_t *memory; /* heap, owned: the bytes of an image in memory */
        struct elf_image_segment *segments; /* PT_LOAD in the file's order */
        size_t n_segments;
        uint8_t build_id[ELF_IMAGE_BUILD_ID_MAX];
        size_t build_id_bytes; /* 0 = it has none */
};

/*
 * elf_image_open() - an ELF file by descriptor
 * @fd:  borrowed until elf_image_close(); a file that is cut while it is open ends the process by SIGBUS
 * Returns 0, -EBADMSG for a file that is no executable, shared object or loaded object, -ENOMEM, -errno.
 */
int elf_image_open(int fd, struct elf_image **ret_image, struct error *err);

/*
 * The same without mapping the file: one that is cut while it is open gives errors.  For
 * processes that must live on.
 */
int elf_image_open_unmapped(int fd, struct elf_image **ret_image, struct error *err);

/* The same for @n_bytes bytes in memory, which are copied. */
int elf_image_open_memory(const void *bytes, size_t n_bytes, struct elf_image **ret_image, struct error *err);

/* The vdso of this process; every process of this kernel and ABI has the same.  -ENODATA if there is none. */
int elf_image_open_vdso(struct elf_image **ret_image, struct error *err);

/* NULL is fine. */
void elf_image_close(struct elf_image *image);

/*
 * elf_image_find_svma() - the address that a byte of the file is loaded at
 * When two segments hold the byte (they share pages), the executable one counts.
 * Returns false if no segment holds it.
 */
bool elf_image_find_svma(const struct elf_image *image, uint64_t file_off, uint64_t *ret_svma);

/* The first section called @name, with its header; NULL if there is none. */
Elf_Scn *elf_image_find_section(const struct elf_image *image, const char *name, GElf_Shdr *ret_header);

/*
 * elf_image_first_code() - the lowest address that code of the image can have
 * Linkers leave entries of discarded functions in, at 0 or 1, and the first segment of code may begin there:
 * with the headers of the file.  So sections count; without them what follows the ELF header.
 */
uint64_t elf_image_first_code(const struct elf_image *image);

/*
 * elf_image_part_find_bias() - the address as mapped, less that in the file
 * @start_avma:   of a mapping of the file,
 * @file_off:     of the byte that is mapped there, and
 * @length_bytes: the length of the mapping
 * Returns false if the mapping contains nothing of the part.
 */
bool elf_image_part_find_bias(const struct elf_image_part *part, uint64_t start_avma, uint64_t file_off,
                              uint64_t length_bytes, uint64_t *ret_bias);

#endif /* SYMBOLIZE_ELF_ELF_IMAGE_H */
