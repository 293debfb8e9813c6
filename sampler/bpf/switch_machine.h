/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/switch_machine.h - the registers and other state that each machine's kernel keeps of a thread
 *
 * Way of the data:  kernel -> [switch_machine] -> switch_events.bpf
 *
 * Own, short definitions of the kernel's structs: the loader moves each access to
 * where the running kernel has that field.
 */
#ifndef SAMPLER_BPF_SWITCH_MACHINE_H
#define SAMPLER_BPF_SWITCH_MACHINE_H

#include <linux/types.h>

#define KERNEL_STRUCT __attribute__((preserve_access_index))

/*
 * Each machine says:
 *   MACHINE_REGISTER_BYTES                   of struct pt_regs, as far as it is copied
 *   MACHINE_PC, _SP, _IS_32_BIT(regs)        of the user's registers
 *   MACHINE_IS_32_BIT_CALL(task, regs)       a system call with a number of 32-bit programs
 *   MACHINE_FUTEX(regs)                      the address that futex(2) was called with; 0 = it was not
 *   MACHINE_TASK_MEMBERS                     of struct task_struct
 *   MACHINE_IS_INTERRUPT(task, regs, stack)  is this thread only what an interrupt came
 *   into?  @regs may be NULL;
 *                                            @stack is an address in the stack that the CPU is on
 *   MACHINE_STORE_RELEASE(to, value)         everything before it is seen before it
 */
#if defined(SWITCH_MACHINE_x86_64)

struct pt_regs {
        unsigned long orig_ax, di, ip, cs, sp;
} KERNEL_STRUCT;

struct thread_info {
        __u32 status;
} KERNEL_STRUCT;

#define X86_TS_COMPAT 2 /* of `status`, meanwhile: a 64-bit program may make such calls too, by int 0x80 */

#define MACHINE_REGISTER_BYTES  (21 * 8)
#define MACHINE_PC(regs)        ((regs)->ip)
#define MACHINE_SP(regs)        ((regs)->sp)
#define MACHINE_IS_32_BIT(regs) ((regs)->cs == 0x23)
#define MACHINE_FUTEX(regs)     ((regs)->orig_ax == 202 && !MACHINE_IS_32_BIT(regs) ? (regs)->di : 0)
#define MACHINE_TASK_MEMBERS            \
        struct thread_info thread_info; \
        void *stack;
#define MACHINE_IS_32_BIT_CALL(task, regs) (((task)->thread_info.status & X86_TS_COMPAT) != 0)

/*
 * The kernel counts interrupts in a variable for each CPU, but versions of the kernel have it in different
 * places, and some do not report where.  So two signs show an interrupt: one in the kernel runs on a stack of
 * its own, and one in the user's code leaves no system call's number in orig_ax.  A page fault leaves none
 * either, but hardly ever wakes a thread.
 */
#define X86_STACK_BYTES 16384
#define MACHINE_IS_INTERRUPT(task, regs, at) \
        ((at) - (__u64)(task)->stack >= X86_STACK_BYTES || ((regs) && (long)(regs)->orig_ax == -1))

/* Stores are never seen out of their order here. */
#define MACHINE_STORE_RELEASE(to, value)                 \
        do {                                             \
                __asm__ __volatile__("" : : : "memory"); \
                *(to) = (value);                         \
        } while (0)

#elif defined(SWITCH_MACHINE_aarch64) || defined(SWITCH_MACHINE_riscv64)

#define INTERRUPT_BITS 0x00ff0100 /* of preempt_count: serving a softirq, in an interrupt, in an NMI */

#if defined(SWITCH_MACHINE_aarch64)

struct pt_regs {
        __u64 sp, pc, pstate, orig_x0;
        __s32 syscallno;
} KERNEL_STRUCT;

struct thread_info {
        __u64 preempt_count;
} KERNEL_STRUCT;

#define MACHINE_REGISTER_BYTES  (33 * 8)
#define MACHINE_PC(regs)        ((regs)->pc)
#define MACHINE_IS_32_BIT(regs) (((regs)->pstate & 0x10) != 0)
#define MACHINE_FUTEX(regs)     ((regs)->syscallno == 98 && !MACHINE_IS_32_BIT(regs) ? (regs)->orig_x0 : 0)

#else

struct pt_regs {
        unsigned long epc, sp, a7, orig_a0;
} KERNEL_STRUCT;

struct thread_info {
        int preempt_count;
} KERNEL_STRUCT;

#define MACHINE_REGISTER_BYTES  (32 * 8)
#define MACHINE_PC(regs)        ((regs)->epc)
#define MACHINE_IS_32_BIT(regs) false
#define MACHINE_FUTEX(regs)     ((regs)->a7 == 98 ? (regs)->orig_a0 : 0)

#endif

#define MACHINE_IS_32_BIT_CALL(task, regs)      MACHINE_IS_32_BIT(regs)
#define MACHINE_SP(regs)                        ((regs)->sp)
#define MACHINE_TASK_MEMBERS                    struct thread_info thread_info;
#define MACHINE_IS_INTERRUPT(task, regs, stack) (((task)->thread_info.preempt_count & INTERRUPT_BITS) != 0)

/* An exchange is a full barrier in BPF; there is no weaker store. */
#define MACHINE_STORE_RELEASE(to, value)        ((void)__sync_lock_test_and_set((to), (value)))

#else
#error "no such machine"
#endif

#endif /* SAMPLER_BPF_SWITCH_MACHINE_H */
