/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/go_functions.h - the table of functions and lines that every Go program carries
 *
 * Way of the data:  elf_image (.gopclntab) -> [go_functions] -> symbol_table, module_symbols, unwind_table
 *
 * Stripping leaves it, because the language's own call stacks need it.  Tables of Go 1.16 and later are read,
 * little endian.  The bytes are the program's: every offset is checked when it is followed.
 * An object belongs to one thread at a time.
 */
#ifndef SYMBOLIZE_ELF_GO_FUNCTIONS_H
#define SYMBOLIZE_ELF_GO_FUNCTIONS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GO_FUNCTIONS_MAX (UINT32_C(1) << 22) /* of a program; a table that claims more is not believed */

struct elf_image;

/* Zero-initialised is empty and valid. */
struct go_functions {
        const uint8_t *bytes; /* of the section, borrowed from the image; NULL = it has none */
        size_t n_bytes;
        uint64_t text_svma; /* what the functions' addresses are relative to; 0 before Go 1.18 */
        uint64_t names_off, units_off, files_off, values_off, functions_off; /* in the section */
        uint32_t n_functions;
        uint8_t address_bytes, code_bytes; /* of an address; an instruction is at least so long */
        uint8_t entry_bytes;               /* of a number in the list of functions: 4, or an address */
};

struct go_function {
        uint64_t start_svma, end_svma; /* end is the first address after it */
        const char *name;              /* borrowed from the image */
        uint64_t off;                  /* of its description in the section */
};

/* Where an address is in the source. */
struct go_place {
        const char *file; /* borrowed from the image; NULL = unknown */
        uint32_t line;    /* 0 = unknown */
};

/* A value along the code of a function, in pairs: how much it changes, how many bytes have it. */
struct go_values {
        struct byte_reader in;
        uint64_t start_svma, end_svma; /* of the code that has the value */
        int64_t value;
        uint8_t code_bytes;
        bool is_first;
};

/* Returns whether the image has such a table; else it is empty. */
bool go_functions_open(struct go_functions *go, const struct elf_image *image);

/* The same without its name: constant time. */
bool go_functions_get_code(const struct go_functions *go, uint32_t i, struct go_function *ret_function);

/* Function @i of `n_functions`, in the order of their addresses.  Returns false if its entry is damaged. */
bool go_functions_get(const struct go_functions *go, uint32_t i, struct go_function *ret_function);

/*
 * go_functions_find_place() - the line of the code at an address
 * Code that was inlined has none: the table has the line of the inlined function, but not in a
 * way that tells its name.
 * Returns false if nothing is known.
 */
bool go_functions_find_place(const struct go_functions *go, uint64_t svma, struct go_place *ret_place);

/*
 * go_functions_read_frame() - how many bytes the stack has grown by since the call, along a function's code
 * @ret_values: for go_functions_next_value(); it is empty if nothing is known.
 */
void go_functions_read_frame(const struct go_functions *go, const struct go_function *f,
                             struct go_values *ret_values);

/* The next value and its code.  Returns false at the end, or where the table is damaged. */
bool go_functions_next_value(struct go_values *v);

#endif /* SYMBOLIZE_ELF_GO_FUNCTIONS_H */
