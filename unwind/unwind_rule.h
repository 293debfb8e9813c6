/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_rule.h - how to get from a frame to its caller: the content of a row of a table
 *
 * Way of the data:  cfi_program -> [unwind_rule] -> unwind_table -> stack_walk
 *
 * CFA is the stack pointer of the caller, as it is after the call has returned.
 * A module has some hundreds of rules for some hundred thousand rows.
 */
#ifndef UNWIND_UNWIND_RULE_H
#define UNWIND_UNWIND_RULE_H

#include <stdint.h>

/* Where the CFA is. */
enum unwind_cfa {
        UNWIND_CFA_NONE = 0,   /* nothing is known of this code */
        UNWIND_CFA_SP,         /* stack pointer + cfa_offset */
        UNWIND_CFA_FP,         /* frame pointer + cfa_offset */
        UNWIND_CFA_REGISTER,   /* cfa_register + cfa_offset */
        UNWIND_CFA_DEREF,      /* the value stored at cfa_register + cfa_offset */
        UNWIND_CFA_PLT,        /* stack pointer + cfa_offset; 8 more if pc & 15 >= cfa_register */
        UNWIND_CFA_SIGNAL,     /* the kernel put the interrupted registers onto the stack */
        UNWIND_CFA_EXPRESSION, /* the expression at cfa_offset of the table's expressions */
        /*
         * Functions of Go's runtime that call on another stack: they call Go's code, C code, or never
         * return.
         */
        UNWIND_CFA_GO_SYSTEM,
        UNWIND_CFA_GO_C,
        UNWIND_CFA_GO_ROOT,
};

/* Where the caller's value of a register is. */
enum unwind_saved_kind {
        UNWIND_SAVED_SAME = 0,       /* still in the register */
        UNWIND_SAVED_UNDEFINED,      /* nowhere; of the return address: there is no caller */
        UNWIND_SAVED_AT_CFA,         /* stored at CFA + value */
        UNWIND_SAVED_CFA_PLUS,       /* is CFA + value */
        UNWIND_SAVED_IN_REGISTER,    /* in register number value */
        UNWIND_SAVED_AT_EXPRESSION,  /* stored at the result of the expression at value */
        UNWIND_SAVED_BY_EXPRESSION,  /* is the result of the expression at value */
        UNWIND_SAVED_ELSEWHERE = 15, /* of a rule: see the table's list */
};

struct unwind_saved {
        uint8_t number; /* of the register (DWARF) */
        uint8_t kind;   /* enum unwind_saved_kind */
        uint16_t unused;
        int32_t value;
};

/* `saved` of a rule: its part of the table's list of registers. */
#define UNWIND_SAVED_COUNT_BITS 6

struct unwind_rule {
        uint8_t cfa; /* enum unwind_cfa */
        uint8_t cfa_register;
        uint8_t ra, fp; /* enum unwind_saved_kind, of the return address and of the frame pointer */
        int32_t cfa_offset;
        int16_t ra_value, fp_value; /* bytes (UNWIND_SAVED_AT_CFA) or a register (UNWIND_SAVED_IN_REGISTER) */
        uint32_t saved;             /* all registers that are not "same": place << 6 | count */
};

_Static_assert(sizeof(struct unwind_rule) == 16, "four of them are a cache line");

#endif /* UNWIND_UNWIND_RULE_H */
