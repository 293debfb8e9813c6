/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/cfi_builder.h - unwind information made by hand
 *
 * Way of the data:  tests -> [cfi_builder] -> cfi_section
 */
#ifndef TESTS_UNIT_CFI_BUILDER_H
#define TESTS_UNIT_CFI_BUILDER_H

#include "base/byte_buffer.h"
#include "symbolize/elf/cfi_section.h"
#include "unwind/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_BUILDER_SVMA 0x10000 /* of the section */

struct cfi_builder {
        struct byte_buffer bytes;
        bool is_debug_frame;
        bool is_64;                 /* lengths of 8 bytes */
        bool has_augmentation_data; /* of the CIE that was added last */
        size_t cie_off;
};

struct cfi_builder_cie {
        uint8_t version;          /* 0 stands for 1 */
        const char *augmentation; /* NULL stands for "zR" */
        uint8_t encoding;         /* of 'R'; 0 = 8 bytes, as it is */
        uint8_t code_align;       /* 0 stands for 1 */
        int8_t data_align;        /* 0 stands for -8 */
        uint8_t ra;               /* 0 stands for 16 */
};

/* Instructions and the like: a list of bytes and how many they are. */
#define CFI_BYTES(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })

void cfi_builder_init(struct cfi_builder *b);
void cfi_builder_deinit(struct cfi_builder *b);

/* Adds an entry; what follows belongs to the CIE that was added last. */
void cfi_builder_add_cie(struct cfi_builder *b, const struct cfi_builder_cie *cie,
                         const uint8_t *instructions, size_t n_bytes);
void cfi_builder_add_fde(struct cfi_builder *b, uint64_t start_svma, uint64_t n_code_bytes,
                         const uint8_t *instructions, size_t n_bytes);
void cfi_builder_add_zero(struct cfi_builder *b);

/* Borrowed; valid until something is added. */
struct cfi_section cfi_builder_section(const struct cfi_builder *b);

/* The table of it, with code from 0x1000 to 0x100000.  A test that fails here fails. */
struct unwind_table *cfi_builder_table(const struct cfi_builder *b, const struct unwind_machine *machine);

#endif /* TESTS_UNIT_CFI_BUILDER_H */
