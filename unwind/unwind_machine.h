/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_machine.h - what unwinding has to know of a processor: its registers and its signal frames
 *
 * Way of the data:  perf_record (registers) -> [unwind_machine] -> stack_walk
 *
 * Registers go by their DWARF numbers.  A machine is chosen by the ELF file or by
 * the sample, not by the compiler: a table of any machine can be built and walked
 * on any other.  64 bit and little endian only.
 */
#ifndef UNWIND_UNWIND_MACHINE_H
#define UNWIND_UNWIND_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_REGISTERS_MAX 33   /* DWARF numbers that count; floating-point registers are beyond */
#define UNWIND_REGISTER_PC   0xfe /* in perf_to_dwarf: the program counter has no DWARF number everywhere */
#define UNWIND_REGISTER_NONE 0xff

struct unwind_machine {
        const char *name;
        uint16_t elf_machine; /* EM_* */
        uint8_t sp, fp, ra;   /* DWARF numbers; @ra is the column of the return address */
        /* the call itself puts the return address onto the stack; else it is in the register @ra */
        bool is_return_address_saved;
        uint64_t pc_mask; /* the bits of a return address that are no signature */

        uint64_t perf_registers;      /* for perf_event_attr.sample_regs_user */
        const uint8_t *perf_to_dwarf; /* by the number of the bit in perf_registers */
        uint8_t n_perf;

        /* Places of the saved frame pointer, return address and CFA, in bytes from the frame pointer. */
        int8_t record_fp, record_ra, record_cfa;

        /*
         * Where the kernel put the interrupted registers, in bytes from sp at the return from
         * a handler; 0 = nowhere.
         */
        uint16_t signal_pc;
        uint16_t signal_registers[UNWIND_REGISTERS_MAX];
        const uint8_t *sigreturn_code; /* the instructions that a handler returns to */
        uint8_t n_sigreturn_code_bytes;
        const uint8_t *short_sigreturn_code; /* another encoding of these; NULL = there is only one */
        uint8_t n_short_sigreturn_code_bytes;
        bool is_fp_kept; /* calls without a frame record are rare, and the first record's pointer is 0 */
        /*
         * The first bytes of the function to which a function of makecontext(3) returns;
         * n_context_start_bytes is the length of all of it.
         */
        const uint8_t *context_start_code;
        uint8_t n_context_start_code_bytes, n_context_start_bytes; /* 0 = not known */
};

extern const struct unwind_machine unwind_machine_x86_64;
extern const struct unwind_machine unwind_machine_aarch64;
extern const struct unwind_machine unwind_machine_riscv64;

/* Finds a machine by EM_*; NULL for one without rules here. */
const struct unwind_machine *unwind_machine_find(uint16_t elf_machine);

/* The machine that this program was compiled for, or NULL. */
const struct unwind_machine *unwind_machine_own(void);

/*
 * unwind_machine_address() - a return address as it was saved, without the signature that processors add
 * On AArch64 the processor itself removes the signature: signatures begin above the addresses that the kernel
 * gives to programs, which have 39 bits on many boards.
 */
uint64_t unwind_machine_address(const struct unwind_machine *machine, uint64_t saved);

struct unwind_registers {
        uint64_t values[UNWIND_REGISTERS_MAX]; /* by DWARF number */
        uint64_t known;                        /* a bit a number */
        uint64_t pc;
};

/*
 * unwind_registers_decode() - the registers of a sample
 * @mask:   attr.sample_regs_user of its event
 * @bytes:  a number of 8 bytes for each bit of @mask, lowest bit first
 * Returns false if there are fewer numbers, or the program counter or the stack pointer is missing.
 */
bool unwind_registers_decode(const struct unwind_machine *machine, uint64_t mask, const void *bytes,
                             size_t n_bytes, struct unwind_registers *ret_registers);

#endif /* UNWIND_UNWIND_MACHINE_H */
