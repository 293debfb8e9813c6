/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_module.h - an ELF file as unwinding sees it: its table, and where its code lies
 *
 * Way of the data:  elf_image -> [unwind_module] -> unwind_cache -> stack_walk
 *
 * Takes .eh_frame and .debug_frame, also compressed; .eh_frame of a file whose
 * sections are stripped through PT_GNU_EH_FRAME.  Read-only once it is built: any
 * number of threads may use one.
 */
#ifndef UNWIND_UNWIND_MODULE_H
#define UNWIND_UNWIND_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_MODULE_SCAN_BYTES_MAX (UINT32_C(1) << 24) /* of code that is searched for signal trampolines */

struct byte_buffer;
struct elf_image;
struct elf_image_part;
struct error;
struct unwind_table;

struct unwind_module {
        struct unwind_table *table;      /* owned; NULL = the file tells nothing */
        struct elf_image_part *segments; /* heap, owned: the executable ones */
        size_t n_segments;
        size_t n_bytes; /* all of it in memory */
};

/*
 * unwind_module_build() - reads an ELF file's unwind information
 * @image:  needed during the call only
 * Returns 0, also for a file without such information; -ENOTSUP for a machine without rules here, -EBADMSG,
 * -ENOMEM.
 */
int unwind_module_build(const struct elf_image *image, struct unwind_module **ret_module, struct error *err);

/* NULL is fine. */
void unwind_module_free(struct unwind_module *module);

/* As elf_image_part_find_bias(), false if the mapping contains no executable segment. */
bool unwind_module_find_bias(const struct unwind_module *module, uint64_t start_avma, uint64_t file_off,
                             uint64_t length_bytes, uint64_t *ret_bias);

/*
 * unwind_module_encode() - a module as bytes, from the process that builds it to the one that uses it
 *
 * The process that builds a module reads hostile files, so its bytes are hostile too: a module that was
 * decoded is sorted, and every number in it is within the part that it refers to.  The bytes are for this
 * program on this machine, not for a file.
 * Appends to @out, whose `failed` says if there was no memory.
 */
void unwind_module_encode(const struct unwind_module *module, struct byte_buffer *out);

/*
 * unwind_module_decode() - makes a module, for unwind_module_free()
 * Returns 0, -EBADMSG, -ENODATA, -ENOMEM.
 */
int unwind_module_decode(const uint8_t *bytes, size_t n_bytes, struct unwind_module **ret_module,
                         struct error *err);

#endif /* UNWIND_UNWIND_MODULE_H */
