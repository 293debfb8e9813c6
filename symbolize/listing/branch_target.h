/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/branch_target.h - where a jump or call goes, from the bytes of its instruction
 *
 * Way of the data:  code of a module -> disassembler -> [branch_target] -> code_listing
 *
 * Direct ones only, of x86, AArch64 and RISC-V; of other machines nothing is known.
 */
#ifndef SYMBOLIZE_LISTING_BRANCH_TARGET_H
#define SYMBOLIZE_LISTING_BRANCH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum branch_kind {
        BRANCH_NONE,        /* the code goes on after it, or its target is unknown */
        BRANCH_JUMP,        /* always */
        BRANCH_CONDITIONAL, /* perhaps */
        BRANCH_CALL,
};

struct branch_target {
        enum branch_kind kind;
        uint64_t svma; /* where to; 0 for BRANCH_NONE */
};

/*
 * branch_target_decode() - look at one whole instruction
 * @machine:  EM_* of the ELF header
 * @svma:     of the first of @n_bytes bytes
 */
struct branch_target branch_target_decode(uint16_t machine, uint64_t svma, const uint8_t *bytes,
                                          size_t n_bytes);

#endif /* SYMBOLIZE_LISTING_BRANCH_TARGET_H */
