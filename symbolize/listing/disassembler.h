/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/disassembler.h - machine code -> instructions as text
 *
 * Way of the data:  code of a module -> [disassembler] -> code_listing
 *
 * LLVM's disassembler, through its C functions.  The library is large, so it is loaded when the first
 * disassembler is opened, and never by a process that does not need one.  It writes warnings to
 * standard error as it pleases, and code that no compiler made may crash it: run it in a process of its
 * own.  Not thread-safe.
 */
#ifndef SYMBOLIZE_LISTING_DISASSEMBLER_H
#define SYMBOLIZE_LISTING_DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISASSEMBLER_TEXT_BYTES 256 /* of an instruction, with its NUL */

struct disassembler;
struct error;

struct disassembler_options {
        uint16_t machine;   /* EM_* of the ELF header */
        bool is_64_bit;     /* EI_CLASS */
        bool is_big_endian; /* EI_DATA */
        bool intel_syntax;  /* of x86; else that of AT&T */
};

/*
 * disassembler_open() - for the code of one machine, with all of its extensions
 * Returns 0, -ENOENT without the library (the words name its package), -ENOTSUP for a machine that it does
 * not know, -ENOMEM.
 */
int disassembler_open(const struct disassembler_options *options, struct disassembler **ret_disassembler,
                      struct error *err);

/* NULL is fine. */
void disassembler_close(struct disassembler *d);

/*
 * disassembler_decode() - the instruction at the start of @bytes
 * @svma:      of the first of them; @n_bytes is at least 1
 * @ret_text:  mnemonic, one blank, operands; of bytes that are no instruction: ".byte 0x06"
 * The direct target of a jump or call is written as an address.
 * Returns how many bytes it has, 1 .. @n_bytes.
 */
size_t disassembler_decode(struct disassembler *d, uint64_t svma, const uint8_t *bytes, size_t n_bytes,
                           char ret_text[DISASSEMBLER_TEXT_BYTES]);

#endif /* SYMBOLIZE_LISTING_DISASSEMBLER_H */
