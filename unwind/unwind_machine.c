/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_machine.h"

#include "base/bytes.h"

#include <elf.h>

#define NONE UNWIND_REGISTER_NONE
#define PC   UNWIND_REGISTER_PC

/* ax bx cx dx si di bp sp ip, flags and segments, r8 .. r15 */
static const uint8_t x86_64_from_perf[] = { 0,    3,    2,    1,    4, 5, 6,  7,  PC, NONE, NONE, NONE,
                                            NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,   14,   15 };

/* x0 .. x30, sp, pc */
static const uint8_t aarch64_from_perf[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                             11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                             22, 23, 24, 25, 26, 27, 28, 29, 30, 31, PC };

/* pc, x1 .. x31 */
static const uint8_t riscv64_from_perf[] = { PC, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };

/* mov $15, %rax; syscall */
static const uint8_t x86_64_sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
/* mov $15, %eax; syscall */
static const uint8_t x86_64_short_sigreturn[] = { 0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
/*
 * __start_context of glibc: mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je 1f; call
 * setcontext; ... 1: call exit; hlt
 */
static const uint8_t x86_64_context_start[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24,
                                                0x48, 0x85, 0xff, 0x74, 0x08, 0xe8 };
#define X86_64_CONTEXT_START_BYTES 26
/* mov x8, #139; svc #0 */
static const uint8_t aarch64_sigreturn[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
/* li a7, 139; ecall */
static const uint8_t riscv64_sigreturn[] = { 0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00 };

const struct unwind_machine unwind_machine_x86_64 = {
        .name = "x86-64",
        .elf_machine = EM_X86_64,
        .sp = 7,
        .fp = 6,
        .ra = 16,
        .is_return_address_saved = true,
        .pc_mask = UINT64_MAX,
        .perf_registers = 0xff01ff,
        .perf_to_dwarf = x86_64_from_perf,
        .n_perf = sizeof(x86_64_from_perf),
        .record_fp = 0,
        .record_ra = 8,
        .record_cfa = 16,
        /*
         * sp points to the ucontext, 40 bytes before its registers r8 .. r15, rdi, rsi, rbp, rbx,
         * rdx, rax, rcx, rsp, rip
         */
        .signal_pc = 168,
        .signal_registers = { 144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168 },
        .sigreturn_code = x86_64_sigreturn,
        .n_sigreturn_code_bytes = sizeof(x86_64_sigreturn),
        .short_sigreturn_code = x86_64_short_sigreturn,
        .n_short_sigreturn_code_bytes = sizeof(x86_64_short_sigreturn),
        .context_start_code = x86_64_context_start,
        .n_context_start_code_bytes = sizeof(x86_64_context_start),
        .n_context_start_bytes = X86_64_CONTEXT_START_BYTES,
};

const struct unwind_machine unwind_machine_aarch64 = {
        .name = "aarch64",
        .elf_machine = EM_AARCH64,
        .sp = 31,
        .fp = 29,
        .ra = 30,
        .pc_mask = (UINT64_C(1) << 48) - 1, /* above are a signature and a tag */
        .perf_registers = (UINT64_C(1) << 33) - 1,
        .perf_to_dwarf = aarch64_from_perf,
        .n_perf = sizeof(aarch64_from_perf),
        .record_fp = 0,
        .record_ra = 8,
        .record_cfa = 16,
        /* 128 bytes of siginfo, 176 of ucontext, the fault's address, x0 .. x30, sp, pc */
        .signal_pc = 568,
        .signal_registers = { 312, 320, 328, 336, 344, 352, 360, 368, 376, 384, 392,
                              400, 408, 416, 424, 432, 440, 448, 456, 464, 472, 480,
                              488, 496, 504, 512, 520, 528, 536, 544, 552, 560, 0 },
        .sigreturn_code = aarch64_sigreturn,
        .n_sigreturn_code_bytes = sizeof(aarch64_sigreturn),
        .is_fp_kept = true,
};

const struct unwind_machine unwind_machine_riscv64 = {
        .name = "riscv64",
        .elf_machine = EM_RISCV,
        .sp = 2,
        .fp = 8,
        .ra = 1,
        .pc_mask = UINT64_MAX,
        .perf_registers = (UINT64_C(1) << 32) - 1,
        .perf_to_dwarf = riscv64_from_perf,
        .n_perf = sizeof(riscv64_from_perf),
        .record_fp = -16,
        .record_ra = -8,
        .record_cfa = 0,
        /* 128 bytes of siginfo, 176 of ucontext, pc, x1 .. x31 */
        .signal_pc = 304,
        .signal_registers = { 0,   312, 320, 328, 336, 344, 352, 360, 368, 376, 384,
                              392, 400, 408, 416, 424, 432, 440, 448, 456, 464, 472,
                              480, 488, 496, 504, 512, 520, 528, 536, 544, 552, 0 },
        .sigreturn_code = riscv64_sigreturn,
        .n_sigreturn_code_bytes = sizeof(riscv64_sigreturn),
};

static const struct unwind_machine *const machines[] = { &unwind_machine_x86_64, &unwind_machine_aarch64,
                                                         &unwind_machine_riscv64 };

const struct unwind_machine *unwind_machine_find(uint16_t elf_machine)
{
        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
                if (machines[i]->elf_machine == elf_machine)
                        return machines[i];
        return NULL;
}

const struct unwind_machine *unwind_machine_own(void)
{
#if defined(__x86_64__)
        return &unwind_machine_x86_64;
#elif defined(__aarch64__)
        return &unwind_machine_aarch64;
#elif defined(__riscv) && __riscv_xlen == 64
        return &unwind_machine_riscv64;
#else
        return NULL;
#endif
}

#if defined(__aarch64__)
/* XPACLRI, which does nothing where there are no signatures. */
static uint64_t strip_signature(uint64_t saved)
{
        register uint64_t link __asm__("x30") = saved;

        __asm__("hint #7" : "+r"(link));
        return link;
}
#else
static uint64_t strip_signature(uint64_t saved)
{
        return saved;
}
#endif

uint64_t unwind_machine_address(const struct unwind_machine *machine, uint64_t saved)
{
        if (machine->elf_machine == EM_AARCH64)
                saved = strip_signature(saved);
        return saved & machine->pc_mask;
}

bool unwind_registers_decode(const struct unwind_machine *machine, uint64_t mask, const void *bytes,
                             size_t n_bytes, struct unwind_registers *ret_registers)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct unwind_registers registers = { .known = 0 };
        bool has_pc = false;

        for (uint64_t left = mask; left != 0; left &= left - 1) {
                unsigned bit = (unsigned)__builtin_ctzll(left);
                uint8_t number = bit < machine->n_perf ? machine->perf_to_dwarf[bit] : NONE;
                uint64_t value = bytes_u64(&in);

                if (number == PC) {
                        registers.pc = value;
                        has_pc = true;
                } else if (number != NONE) {
                        registers.values[number] = value;
                        registers.known |= UINT64_C(1) << number;
                }
        }
        if (in.short_read || !has_pc || !(registers.known >> machine->sp & 1))
                return false;
        *ret_registers = registers;
        return true;
}
