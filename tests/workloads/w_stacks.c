/* SPDX-License-Identifier: MIT */
/*
 * w_stacks [ROUNDS=20 [denied]]
 *
 * denied: the program forbids itself process_vm_readv(), as a sandbox may.
 *
 * Truth: every situation ends and is printed, and the status is 0, however it is recorded.  Events come from
 * functions without frame pointers near the ends of stacks of all kinds, while the memory right above them
 * goes away, comes back and is made inaccessible: freed blocks, guard pages, ended threads, fibers, alternate
 * stacks, stacks that the program gave, children that share the memory.
 */
#include <hyprof/hyprof.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE_BYTES  ((size_t)4096)
#define STACK_BYTES ((size_t)64 * 1024)
#define BLOCK_BYTES ((size_t)1024 * 1024)
#define SAYS        20

static struct hyprof_lock lock = HYPROF_LOCK("lock");
static int n_rounds = 20;

/* All families whose events can have a call stack. */
__attribute__((noinline)) static void emit_all(void)
{
        HYPROF_ZONE("zone");
        HYPROF_MESSAGE("message");
        hyprof_memory_alloc(NULL, &lock, 10);
        hyprof_memory_free(NULL, &lock);
        hyprof_lock_obtain(&lock);
        hyprof_lock_release(&lock);
}

__attribute__((noinline)) static void emit_deeper(void)
{
        emit_all();
        __asm__ volatile("");
}

/* As of a function that keeps @frame where others have their frame pointer. */
static void say(uint64_t frame)
{
        void (*emit)(void) = frame % 16 == 8 ? emit_deeper : emit_all;

#ifdef __x86_64__
        __asm__ volatile("mov %%rsp, %%rbx\n\t"
                         "mov %%rbp, %%r12\n\t"
                         "mov %1, %%rbp\n\t"
                         "sub $128, %%rsp\n\t" /* the red zone */
                         "and $-16, %%rsp\n\t"
                         "call *%0\n\t"
                         "mov %%rbx, %%rsp\n\t"
                         "mov %%r12, %%rbp"
                         : "+a"(emit), "+c"(frame)
                         :
                         : "rbx", "rdx", "rdi", "rsi", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
#else
        emit();
#endif
}

/* Small numbers, addresses of the stack and beyond it: whatever a function may have there. */
static void say_much(void)
{
        uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;

        for (uint64_t i = 0; i < SAYS; i++) {
                say(i);
                say(here + i * 64);
                say(here + i * 1024);
                say(here + i * PAGE_BYTES);
        }
}

static void *must_map(size_t n_bytes)
{
        void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (at == MAP_FAILED)
                exit(3);
        return at;
}

static pthread_barrier_t barrier;

static void *say_twice(void *unused)
{
        say_much();
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_barrier_wait(&barrier);
        say_much();
        return unused;
}

/* A block right above a thread's stack is freed between two events. */
static void freed_block(void)
{
        void *block = must_map(BLOCK_BYTES);
        pthread_t thread;

        (void)pthread_create(&thread, NULL, say_twice, NULL);
        (void)pthread_barrier_wait(&barrier);
        (void)munmap(block, BLOCK_BYTES);
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_join(thread, NULL);
}

/* The thread whose stack lies above has ended; such large stacks are unmapped at once. */
static void ended_thread(void)
{
        pthread_attr_t attributes;
        pthread_t above, below;

        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setstacksize(&attributes, (size_t)48 << 20);
        (void)pthread_attr_setguardsize(&attributes, 0);
        (void)pthread_create(&above, &attributes, (void *(*)(void *))say_much, NULL);
        (void)pthread_create(&below, &attributes, say_twice, NULL);
        (void)pthread_join(above, NULL);
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_join(below, NULL);
        (void)pthread_attr_destroy(&attributes);
}

/* A stack that the program gave, whose neighbours on both sides go away. */
static void given_stack(void)
{
        uint8_t *arena = must_map(3 * STACK_BYTES * 4);
        pthread_attr_t attributes;
        pthread_t thread;

        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setstack(&attributes, arena + STACK_BYTES * 4, STACK_BYTES * 4);
        if (pthread_create(&thread, &attributes, say_twice, NULL) != 0)
                exit(4);
        (void)pthread_barrier_wait(&barrier);
        (void)munmap(arena, STACK_BYTES * 4);
        (void)munmap(arena + STACK_BYTES * 8, STACK_BYTES * 4);
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_join(thread, NULL);
        (void)munmap(arena + STACK_BYTES * 4, STACK_BYTES * 4);
        (void)pthread_attr_destroy(&attributes);
}

static void run_fiber(uint8_t *stack, size_t n_bytes)
{
        static _Thread_local ucontext_t own, fiber;

        if (getcontext(&fiber) < 0)
                exit(5);
        fiber.uc_stack.ss_sp = stack;
        fiber.uc_stack.ss_size = n_bytes;
        fiber.uc_link = &own;
        makecontext(&fiber, say_much, 0);
        if (swapcontext(&own, &fiber) < 0)
                exit(6);
}

/* Small stacks of fibers, with memory, a guard page and nothing above them, in this order. */
static void fibers(void)
{
        uint8_t *stack = must_map(STACK_BYTES + BLOCK_BYTES);

        run_fiber(stack, STACK_BYTES);
        (void)mprotect(stack + STACK_BYTES, PAGE_BYTES, PROT_NONE);
        run_fiber(stack, STACK_BYTES);
        (void)munmap(stack + STACK_BYTES, BLOCK_BYTES);
        run_fiber(stack, STACK_BYTES);
        run_fiber(stack, STACK_BYTES - 3000);
        (void)munmap(stack, STACK_BYTES);
}

/* The fiber of a thread lies right below its own stack, and the memory between them goes away. */
static void *fiber_below(void *arena)
{
        uint8_t *stack = (uint8_t *)arena;

        run_fiber(stack, STACK_BYTES * 4);
        (void)mprotect(stack + STACK_BYTES, PAGE_BYTES, PROT_NONE);
        run_fiber(stack, STACK_BYTES);
        (void)munmap(stack + STACK_BYTES, STACK_BYTES);
        run_fiber(stack, STACK_BYTES);
        return NULL;
}

static void fiber_in_an_arena(void)
{
        uint8_t *arena = must_map(STACK_BYTES * 8);
        pthread_attr_t attributes;
        pthread_t thread;

        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setstack(&attributes, arena + STACK_BYTES * 4, STACK_BYTES * 4);
        if (pthread_create(&thread, &attributes, fiber_below, arena) != 0)
                exit(7);
        (void)pthread_join(thread, NULL);
        (void)munmap(arena, STACK_BYTES * 8);
        (void)pthread_attr_destroy(&attributes);
}

/* Another thread takes the memory above a fiber away and puts it back, all the time. */
static uint8_t *contested;
static bool is_over;

static void *change_mappings(void *unused)
{
        while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
                (void)munmap(contested, 2 * PAGE_BYTES);
                (void)mmap(contested, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        }
        return unused;
}

static void contested_fiber(void)
{
        uint8_t *stack = must_map(STACK_BYTES + 2 * PAGE_BYTES);
        pthread_t thread;

        contested = stack + STACK_BYTES;
        __atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
        (void)pthread_create(&thread, NULL, change_mappings, NULL);
        for (int i = 0; i < 10; i++)
                run_fiber(stack, STACK_BYTES);
        __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
        (void)pthread_join(thread, NULL);
        (void)munmap(stack, STACK_BYTES + 2 * PAGE_BYTES);
}

static void handle(int number)
{
        (void)number;
        say_much();
}

static void alternate_stack(void)
{
        uint8_t *memory = must_map(STACK_BYTES + PAGE_BYTES);
        struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
        stack_t stack = { .ss_sp = memory, .ss_size = STACK_BYTES }, none = { .ss_flags = SS_DISABLE };

        (void)munmap(memory + STACK_BYTES, PAGE_BYTES);
        if (sigaltstack(&stack, NULL) < 0 || sigaction(SIGUSR1, &action, NULL) < 0)
                exit(8);
        (void)raise(SIGUSR1);
        (void)sigaltstack(&none, NULL);
        (void)munmap(memory, STACK_BYTES);
}

static int say_in_child(void *unused)
{
        (void)unused;
        say_much();
        _exit(0);
}

/* It has its parent's memory and thread, and a small stack of its own. */
static void child_that_shares(void)
{
        uint8_t *stack = must_map(STACK_BYTES + PAGE_BYTES);
        pid_t child;
        int status;

        (void)munmap(stack + STACK_BYTES, PAGE_BYTES);
        child = clone(say_in_child, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
                exit(9);
        (void)munmap(stack, STACK_BYTES);
}

static const struct {
        const char *name;
        void (*run)(void);
} situations[] = {
        { "freed block", freed_block },
        { "ended thread", ended_thread },
        { "given stack", given_stack },
        { "fibers", fibers },
        { "fiber in an arena", fiber_in_an_arena },
        { "contested fiber", contested_fiber },
        { "alternate stack", alternate_stack },
        { "child that shares", child_that_shares },
};

static void deny_reads(void)
{
        static struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        static const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
                exit(10);
}

int main(int argc, char **argv)
{
        if (argc > 2)
                deny_reads();
        if (argc > 1)
                n_rounds = atoi(argv[1]);
        (void)pthread_barrier_init(&barrier, NULL, 2);
        for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
                for (int n = 0; n < n_rounds; n++)
                        situations[i].run();
                (void)printf("%s\n", situations[i].name);
                (void)fflush(stdout);
        }
        return 0;
}
