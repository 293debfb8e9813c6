/* SPDX-License-Identifier: MIT */
/*
 * unwind/cfi_program.h - runs the instructions of one function's unwind information, row by row
 *
 * Way of the data:  cfi_section -> [cfi_program] -> unwind_table_build
 *
 * The instructions describe a table: for each address of the function where the
 * caller's registers are.  They are foreign bytes; a damaged program ends early.
 * Allocates nothing; not thread-safe.
 */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "symbolize/elf/cfi_section.h"
#include "unwind/unwind_machine.h"

#include <stddef.h>
#include <stdint.h>

#define CFI_STATES_MAX           8    /* nested DW_CFA_remember_state; compilers use one level */
#define CFI_EXPRESSION_BYTES_MAX 4096 /* of one expression */

enum cfi_saved_kind {
        CFI_SAVED_SAME = 0, /* as enum unwind_saved_kind, with expressions in the section */
        CFI_SAVED_UNDEFINED,
        CFI_SAVED_AT_CFA,
        CFI_SAVED_CFA_PLUS,
        CFI_SAVED_IN_REGISTER,
        CFI_SAVED_AT_EXPRESSION,
        CFI_SAVED_BY_EXPRESSION,
};

struct cfi_saved {
        uint16_t kind; /* enum cfi_saved_kind */
        uint16_t n_expression_bytes;
        int32_t value; /* offset from the CFA, register, or offset of an expression in the section */
};

struct cfi_row {
        bool is_cfa_expression;
        uint16_t cfa_n_expression_bytes;
        uint32_t cfa_register;
        int32_t cfa_value; /* added to the register, or the expression's offset in the section */
        struct cfi_saved saved[UNWIND_REGISTERS_MAX];
        /*
         * The digest of all of `saved`: rows with equal entries have equal digests, in whatever order the
         * entries came.
         */
        uint64_t digest;
};

struct cfi_program {
        const struct cfi_section *section; /* borrowed */
        const struct cfi_cie *cie;         /* borrowed */
        const struct cfi_row *initial;     /* borrowed; DW_CFA_restore goes back to it; NULL in a CIE */
        size_t at_off, end_off;            /* instructions */
        uint64_t svma, end_svma;           /* code */
        struct cfi_row row;
        struct cfi_row states[CFI_STATES_MAX];
        unsigned n_states;
        uint64_t n_instructions_left; /* the caller's limit for hostile files; counts down */
        bool is_damaged;              /* an instruction made no sense: the rest was left out */
};

/*
 * Runs the instructions of a CIE, for the row with which each of its functions starts.  Returns false if they
 * make no sense.
 */
bool cfi_program_run_cie(const struct cfi_section *section, const struct cfi_cie *cie,
                         struct cfi_row *ret_row);

/* Starts on a function.  @initial: the row of its CIE. */
void cfi_program_start(struct cfi_program *p, const struct cfi_section *section, const struct cfi_fde *fde,
                       const struct cfi_row *initial);

/*
 * cfi_program_next() - runs to the end of the next row
 * Returns 1 with `row`, which is valid from @ret_start_svma up to the start of the next row; 0 at the end.
 */
int cfi_program_next(struct cfi_program *p, uint64_t *ret_start_svma);

#endif /* UNWIND_CFI_PROGRAM_H */
