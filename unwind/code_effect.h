/* SPDX-License-Identifier: MIT */
/*
 * unwind/code_effect.h - one instruction -> its effect on control flow, stack pointer, frame pointer and the
 * register of the return address
 *
 * Way of the data:  bytes of code -> [code_effect] -> code_paths -> unwind_rule
 *
 * For machines whose calls leave the return address in a register: RISC-V and AArch64, 64 bits.  Whatever
 * else an instruction does is left out.  One that could change the stack pointer in another way than these
 * is UNKNOWN; one that may write one of the other two registers counts as if it did.
 */
#ifndef UNWIND_CODE_EFFECT_H
#define UNWIND_CODE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_flow {
        CODE_FLOW_NEXT = 0,
        CODE_FLOW_BRANCH, /* to the target, or on */
        CODE_FLOW_JUMP,   /* to the target */
        CODE_FLOW_CALL,   /* comes back, with another return address in the register */
        CODE_FLOW_RETURN, /* to the address in the register */
        CODE_FLOW_AWAY,   /* to the address in another register */
        CODE_FLOW_UNKNOWN,
};

/* A register that is kept on the stack. */
enum code_register { CODE_REGISTER_RA = 0, CODE_REGISTER_FP, CODE_N_REGISTERS };

enum code_move_kind { CODE_MOVE_NONE = 0, CODE_MOVE_LOAD, CODE_MOVE_STORE };

struct code_move {
        uint8_t kind;   /* enum code_move_kind */
        uint8_t number; /* enum code_register */
        int32_t offset; /* bytes from the stack pointer */
};

struct code_effect {
        uint8_t n_bytes;
        uint8_t flow;   /* enum code_flow */
        int32_t target; /* bytes from the begin of this instruction */
        /* In this order: */
        int32_t sp_before; /* is added to the stack pointer */
        struct code_move moves[2];
        int32_t sp_after; /* is added to the stack pointer */
        bool sp_is_fp;    /* no: the stack pointer is set to the frame pointer + sp_after */
        bool fp_is_sp;    /* the frame pointer is set to the stack pointer + fp_offset */
        int32_t fp_offset;
        bool loses[CODE_N_REGISTERS]; /* the register gets another value */
};

/*
 * code_effect_read_riscv64(), _aarch64() - the effect of the first instruction of @bytes
 * Returns false if it is not there in full.
 */
bool code_effect_read_riscv64(const uint8_t *bytes, size_t n_bytes, struct code_effect *ret_effect);
bool code_effect_read_aarch64(const uint8_t *bytes, size_t n_bytes, struct code_effect *ret_effect);

#endif /* UNWIND_CODE_EFFECT_H */
