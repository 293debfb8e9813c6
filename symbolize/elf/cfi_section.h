/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/cfi_section.h - the entries of .eh_frame or .debug_frame: which function
 * has which instructions
 *
 * Way of the data:  frame_sections -> [cfi_section] -> cfi_program -> unwind_table_build
 *
 * Reads bytes of the profiled program's files: all is checked, damaged entries are left out and counted.
 * Allocates nothing; not thread-safe.
 */
#ifndef SYMBOLIZE_ELF_CFI_SECTION_H
#define SYMBOLIZE_ELF_CFI_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_SECTION_BYTES_MAX (UINT32_C(1) << 28)
#define CFI_CIES_KEPT         16 /* a file has a handful, and its functions take turns */
#define CFI_REGISTERS_MAX     33 /* DWARF numbers of registers that may hold a return address */

struct cfi_section {
        const uint8_t *bytes; /* borrowed */
        size_t n_bytes;       /* at most CFI_SECTION_BYTES_MAX */
        uint64_t svma;        /* of its first byte: pointers are relative to where they lie */
        bool is_debug_frame;
        bool ends_at_zero; /* its length is not known: an entry of length 0 is the last */
};

/* The common part of several functions ("common information entry"). */
struct cfi_cie {
        size_t off; /* in the section */
        uint64_t code_align;
        int64_t data_align;
        uint32_t ra_register; /* DWARF number of the return address */
        uint32_t instructions_off, n_instruction_bytes;
        uint8_t pointer_encoding; /* DW_EH_PE_* of the addresses in its entries */
        bool has_augmentation_data;
        bool is_signal_frame;
        bool is_good; /* false: damaged, or of an unknown kind */
};

/* One piece of code ("frame description entry"). */
struct cfi_fde {
        uint64_t start_svma, end_svma; /* end is the first address after it */
        const struct cfi_cie *cie;     /* borrowed from the reader; valid until the next entry */
        uint32_t cie_place;            /* of the CIE in the reader's `cies` */
        uint32_t instructions_off, n_instruction_bytes;
};

struct cfi_reader {
        struct cfi_section section;
        size_t at; /* of the next entry */
        struct cfi_cie cies[CFI_CIES_KEPT];
        size_t n_damaged; /* entries that were left out */
};

void cfi_reader_init(struct cfi_reader *r, const struct cfi_section *section);

/* The next FDE.  Returns 1, or 0 at the end. */
int cfi_reader_next(struct cfi_reader *r, struct cfi_fde *ret_fde);

/*
 * cfi_pointer_read() - an address as .eh_frame encodes it
 * @off:  its place in the section; moved past it
 * Returns false if it does not lie within @end_off or is encoded in a way that needs more than the file.
 */
bool cfi_pointer_read(const struct cfi_section *section, uint8_t encoding, size_t *off, size_t end_off,
                      uint64_t *ret_value);

#endif /* SYMBOLIZE_ELF_CFI_SECTION_H */
