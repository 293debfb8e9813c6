/* SPDX-License-Identifier: MIT */
/*
 * w_unwind KIND [ROUNDS]
 *
 * Code that is hard for unwinders, one kind at a time, for ROUNDS rounds of about 100 us of processor time.
 * Every callstack goes up to main() and the C library's start, through recurse() twenty deep.  Compiled
 * without frame pointers; see the Makefile.  Kinds:
 *
 *      signal    handler() burns, about a fifth of the time; it interrupts burn() and what calls it at any
 *                instruction, and leaves every fourth time by siglongjmp()
 *      altstack  the same on a stack of its own
 *      vfork     children that burn on their parent's stack before they end
 *      plt       half of the time is in calls of the C library's labs(), through the PLT
 *      vdso      nothing but clock_gettime()
 *      jit       code made at run time, with frame pointers: it burns itself and calls burn()
 *      plain     burn() alone
 */
#include "tests/workloads/burn.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define DEPTH           20
#define BURNS           200000
#define ALT_STACK_BYTES ((size_t)65536)
/* Nothing is left to do after a call would let compilers jump instead. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

struct work {
        void (*round)(struct work *w);
        uint64_t n_rounds;
        void *code;
        uint64_t sum;
};

/* They have names in reports, so they are not static. */
void burn(uint64_t n);
void handler(int number);
void recurse(struct work *w, unsigned depth);
void round_plain(struct work *w);
void round_vfork(struct work *w);
void round_plt(struct work *w);
void round_vdso(struct work *w);
void round_jit(struct work *w);

ALONE void burn(uint64_t n)
{
        while (n-- > 0)
                __asm__ volatile("" ::: "memory");
}

ALONE void recurse(struct work *w, unsigned depth)
{
        if (depth > 1)
                recurse(w, depth - 1);
        else
                for (uint64_t i = 0; i < w->n_rounds; i++)
                        w->round(w);
        NO_TAIL_CALL();
}

ALONE void round_plain(struct work *w)
{
        (void)w;
        burn(BURNS);
        NO_TAIL_CALL();
}

/* ----------------------------------------------------------------- signals */

static sigjmp_buf out_of_handler;
static sig_atomic_t n_handled, may_jump;

ALONE void handler(int number)
{
        (void)number;
        burn(BURNS * 80);
        n_handled++;
        if (may_jump && n_handled % 4 == 0)
                siglongjmp(out_of_handler, 1);
        NO_TAIL_CALL();
}

ALONE static void round_signal(struct work *w)
{
        (void)w;
        if (sigsetjmp(out_of_handler, 1) == 0) {
                may_jump = 1;
                burn(BURNS);
        }
        may_jump = 0;
        NO_TAIL_CALL();
}

static void take_signals(bool on_other_stack)
{
        struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
        const struct itimerval every_20_ms = { .it_interval = { .tv_usec = 20000 },
                                               .it_value = { .tv_usec = 20000 } };

        if (on_other_stack) {
                stack_t stack = { .ss_sp = malloc(ALT_STACK_BYTES), .ss_size = ALT_STACK_BYTES };

                if (!stack.ss_sp || sigaltstack(&stack, NULL) < 0)
                        abort();
                action.sa_flags |= SA_ONSTACK;
        }
        if (sigaction(SIGPROF, &action, NULL) < 0 || setitimer(ITIMER_PROF, &every_20_ms, NULL) < 0)
                abort();
}

/* ------------------------------------------------------------------- others */

#ifdef __clang__
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif
ALONE void round_vfork(struct work *w)
{
        pid_t pid = vfork();

        (void)w;
        if (pid == 0) {
                burn(BURNS);
                _exit(0);
        }
        if (pid > 0)
                (void)waitpid(pid, NULL, 0);
        NO_TAIL_CALL();
}

ALONE void round_plt(struct work *w)
{
        for (uint64_t i = 0; i < BURNS / 6; i++)
                w->sum += (uint64_t)labs((long)i);
        NO_TAIL_CALL();
}

ALONE void round_vdso(struct work *w)
{
        struct timespec t;

        for (unsigned i = 0; i < 2000; i++)
                w->sum += (uint64_t)(clock_gettime(CLOCK_MONOTONIC, &t) + (int)t.tv_nsec);
        NO_TAIL_CALL();
}

ALONE void round_jit(struct work *w)
{
        void (*code)(void (*called)(uint64_t), uint64_t n_loops);

        memcpy(&code, &w->code, sizeof(code));
        code(burn, BURNS / 2);
        NO_TAIL_CALL();
}

/* void code(called, n): for (; n > 0; n--) ; called(50000) */
static void *make_code(void)
{
#ifdef __x86_64__
        static const uint8_t code[] = {
                0x55,                         /* push %rbp */
                0x48, 0x89, 0xe5,             /* mov %rsp, %rbp */
                0x48, 0xff, 0xce,             /* dec %rsi */
                0x75, 0xfb,                   /* jnz to the dec */
                0x48, 0x89, 0xf8,             /* mov %rdi, %rax */
                0xbf, 0x50, 0xc3, 0x00, 0x00, /* mov $50000, %edi */
                0xff, 0xd0,                   /* call *%rax */
                0x5d,                         /* pop %rbp */
                0xc3,                         /* ret */
        };
        void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (at == MAP_FAILED)
                abort();
        memcpy(at, code, sizeof(code));
        return at;
#else
        return NULL;
#endif
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*round)(struct work *w);
        } kinds[] = { { "signal", round_signal }, { "altstack", round_signal }, { "vfork", round_vfork },
                      { "plt", round_plt },       { "vdso", round_vdso },       { "jit", round_jit },
                      { "plain", round_plain } };
        const char *kind = argc > 1 ? argv[1] : "plain";
        struct work w = { .n_rounds = (uint64_t)burn_argument(argc, argv, 2, 10000), .code = make_code() };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (strcmp(kind, kinds[i].name) == 0)
                        w.round = kinds[i].round;
        if (!w.round) {
                (void)fprintf(stderr, "w_unwind: %s is not known\n", kind);
                return 2;
        }
        if (w.round == round_jit && !w.code) {
                (void)fprintf(stderr, "w_unwind: no code for this machine\n");
                return 77;
        }
        if (w.round == round_signal)
                take_signals(strcmp(kind, "altstack") == 0);
        recurse(&w, DEPTH);
        return 0;
}
