/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/probe_machine.h - the registers of a thread at a probe
 *
 * Way of the data:  kernel -> [probe_machine] -> function_probes.bpf
 *
 * The kernel hands over its struct pt_regs, whose layout is a part of each machine's ABI for debuggers.
 */
#ifndef SAMPLER_BPF_PROBE_MACHINE_H
#define SAMPLER_BPF_PROBE_MACHINE_H

#include <linux/types.h>

/*
 * Each machine says:
 *   struct probe_registers        struct pt_regs, as words
 *   PROBE_PC, _SP(regs)           the address of the instruction, and the stack pointer
 *   probe_register(regs, number)  the register that an instruction calls `number`
 */
#if defined(SWITCH_MACHINE_x86_64)

struct probe_registers {
        __u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp;
};

#define PROBE_PC(regs) ((regs)->ip)
#define PROBE_SP(regs) ((regs)->sp)

/*
 * The verifier allows only constant places in the kernel's struct.  So each register has a load of its own,
 * and the compiler must not make one of all.
 */
#define PROBE_LOAD(to, regs, name)                    \
        __asm__ __volatile__("%0 = *(u64 *)(%1 + %2)" \
                             : "=r"(to)               \
                             : "r"(regs), "i"(__builtin_offsetof(struct probe_registers, name)))

static __always_inline __u64 probe_register(const struct probe_registers *regs, __u32 number)
{
        __u64 value = 0;

        switch (number) {
        case 0:
                PROBE_LOAD(value, regs, ax);
                break;
        case 1:
                PROBE_LOAD(value, regs, cx);
                break;
        case 2:
                PROBE_LOAD(value, regs, dx);
                break;
        case 3:
                PROBE_LOAD(value, regs, bx);
                break;
        case 5:
                PROBE_LOAD(value, regs, bp);
                break;
        case 6:
                PROBE_LOAD(value, regs, si);
                break;
        case 7:
                PROBE_LOAD(value, regs, di);
                break;
        case 8:
                PROBE_LOAD(value, regs, r8);
                break;
        case 9:
                PROBE_LOAD(value, regs, r9);
                break;
        case 10:
                PROBE_LOAD(value, regs, r10);
                break;
        case 11:
                PROBE_LOAD(value, regs, r11);
                break;
        case 12:
                PROBE_LOAD(value, regs, r12);
                break;
        case 13:
                PROBE_LOAD(value, regs, r13);
                break;
        case 14:
                PROBE_LOAD(value, regs, r14);
                break;
        case 15:
                PROBE_LOAD(value, regs, r15);
                break;
        default: /* 4 */
                PROBE_LOAD(value, regs, sp);
                break;
        }
        return value;
}

#else /* no function is probed there: probe_plan.c */

struct probe_registers {
        __u64 first;
};

#define PROBE_PC(regs) ((regs)->first)
#define PROBE_SP(regs) ((regs)->first)

static __always_inline __u64 probe_register(const struct probe_registers *regs, __u32 number)
{
        (void)number;
        return regs->first;
}

#endif

#endif /* SAMPLER_BPF_PROBE_MACHINE_H */
