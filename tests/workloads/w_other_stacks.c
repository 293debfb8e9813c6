/* SPDX-License-Identifier: MIT */
/*
 * w_other_stacks KIND [ROUNDS]
 *
 * Calls whose callers are not simply further up the stack.  leaf() burns nearly all of the time, ROUNDS ms
 * (500).  x86-64 only; elsewhere it exits with 2.  Kinds:
 *
 *      other     work() calls leaf() on another stack, through call_on(), whose rule uses the frame pointer
 *      nested    the same three deep, on small stacks that lie higher and lower
 *      memory    the same through call_by_memory(), whose rule reads where the caller's stack is
 *      restorer  leaf() is called in a signal handler, which returns to a trampoline of the program's own;
 *                work() was interrupted
 *      zero      leaf() is called by bare(), which has no rule and a frame pointer of 0; work() calls bare()
 */
#include "tests/workloads/burn.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __x86_64__
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)1 << 15)
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
/* Nothing is left to do after a call would let compilers jump instead. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

void call_on(void (*f)(void), void *stack);
void call_by_memory(void (*f)(void), void *stack, uint64_t *state);
void bare(void (*f)(void));
void trampoline(void);
void leaf(void);
void second(void);
void third(void);
void handler(int number);
void work(const char *kind);

__asm__(".text\n"
        ".type call_on, @function\n"
        "call_on:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rsi, %rsp\n"
        "call *%rdi\n"
        "mov %rbp, %rsp\n"
        "pop %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_on, . - call_on\n"
        ".type call_by_memory, @function\n"
        "call_by_memory:\n"
        ".cfi_startproc\n"
        "push %r14\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %r14, -16\n"
        "mov %rdx, %r14\n"
        "mov %rsp, 8(%r14)\n"
        ".cfi_escape 0x0f, 5, 0x7e, 8, 0x06, 0x23, 16\n" /* the value at r14 + 8, plus 16 */
        "mov %rsi, %rsp\n"
        "call *%rdi\n"
        "mov 8(%r14), %rsp\n"
        ".cfi_def_cfa %rsp, 16\n"
        "pop %r14\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_by_memory, . - call_by_memory\n"
        ".type bare, @function\n"
        "bare:\n"
        "push %rbp\n"
        "sub $0x20, %rsp\n"
        "xor %ebp, %ebp\n"
        "call *%rdi\n"
        "mov 8(%rsp), %rdx\n"
        "add $0x20, %rsp\n"
        "pop %rbp\n"
        "ret\n"
        ".size bare, . - bare\n"
        ".type before_trampoline, @function\n"
        "before_trampoline:\n"
        "ret\n"
        ".size before_trampoline, . - before_trampoline\n"
        ".type trampoline, @function\n"
        "trampoline:\n"
        "mov $15, %rax\n"
        "syscall\n"
        ".size trampoline, . - trampoline\n");

static uint64_t n_bursts, burst_rounds;
static char *stacks[3];

BURN_FUNCTION(burn);

ALONE void leaf(void)
{
        for (uint64_t i = 0; i < n_bursts; i++)
                burn(burst_rounds);
        NO_TAIL_CALL();
}

ALONE void third(void)
{
        call_on(leaf, stacks[2] + STACK_BYTES - 64);
        NO_TAIL_CALL();
}

ALONE void second(void)
{
        call_on(third, stacks[1] + STACK_BYTES - 64);
        NO_TAIL_CALL();
}

ALONE void handler(int number)
{
        (void)number;
        leaf();
        NO_TAIL_CALL();
}

/* The kernel's own form: the C library's function would bring its own trampoline. */
static void interrupt(void)
{
        struct {
                void (*handler)(int);
                unsigned long flags;
                void (*restorer)(void);
                unsigned long mask;
        } action = { .handler = handler, .flags = 0x04000000, .restorer = trampoline };

        if (syscall(SYS_rt_sigaction, 10, &action, NULL, sizeof(action.mask)) < 0)
                abort();
        (void)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 10);
}

ALONE void work(const char *kind)
{
        static uint64_t state[2];

        if (strcmp(kind, "other") == 0)
                call_on(leaf, stacks[0] + STACK_BYTES - 64);
        else if (strcmp(kind, "nested") == 0)
                call_on(second, stacks[0] + STACK_BYTES - 64);
        else if (strcmp(kind, "memory") == 0)
                call_by_memory(leaf, stacks[0] + STACK_BYTES - 64, state);
        else if (strcmp(kind, "restorer") == 0)
                interrupt();
        else
                bare(leaf);
        NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
        static const unsigned places[] = { 1, 2, 0 }; /* higher, then lower */
        char *memory = mmap(NULL, 3 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                            0);

        if (argc < 2 || memory == MAP_FAILED)
                return 1;
        for (size_t i = 0; i < 3; i++)
                stacks[i] = memory + places[i] * STACK_BYTES;
        n_bursts = argc > 2 ? strtoull(argv[2], NULL, 10) : 500;
        burst_rounds = burn_rounds_of(1000000);
        work(argv[1]);
        return 0;
}
#else
int main(void)
{
        (void)fputs("w_other_stacks: no code for this machine\n", stderr);
        return 2;
}
#endif
