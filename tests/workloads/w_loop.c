/* SPDX-License-Identifier: MIT */
/*
 * w_loop ROUNDS [ADDRESS]
 *
 * count_down() executes two instructions a round, nothing more: 2 * ROUNDS are in it.  With ADDRESS
 * (hexadecimal) a thread runs it on a stack that lies there, and then, for as many rounds, a copy of it 1 MiB
 * above ADDRESS.  The addresses of frames and code are then as long as ADDRESS is.
 */
#include "tests/workloads/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define AREA_BYTES ((size_t)1 << 20) /* of the stack; the code is in the next one */

void count_down(uint64_t n_rounds);
extern const uint8_t count_down_end[];

__asm__(".text\n"
        ".globl count_down, count_down_end\n"
        ".type count_down, %function\n"
        "count_down:\n"
        ".cfi_startproc\n"
#if defined(__x86_64__)
        "0: dec %rdi\n"
        "jnz 0b\n"
#elif defined(__aarch64__)
        "0: subs x0, x0, #1\n"
        "b.ne 0b\n"
#elif defined(__riscv)
        "0: addi a0, a0, -1\n"
        "bnez a0, 0b\n"
#else
#error "w_loop.c: write the loop for this architecture"
#endif
        "ret\n"
        ".cfi_endproc\n"
        ".size count_down, . - count_down\n"
        "count_down_end:\n");

struct work {
        uint64_t n_rounds;
        uint8_t *area;
};

static void *run_on_stack(void *argument)
{
        const struct work *work = argument;
        size_t n_bytes = (size_t)(count_down_end - (const uint8_t *)(uintptr_t)count_down);
        uint8_t *code = work->area + AREA_BYTES;
        void (*copy)(uint64_t n_rounds);

        count_down(work->n_rounds);
        memcpy(code, (const uint8_t *)(uintptr_t)count_down, n_bytes);
        if (mprotect(code, AREA_BYTES, PROT_READ | PROT_EXEC) < 0)
                abort();
        __builtin___clear_cache((char *)code, (char *)code + n_bytes);
        memcpy(&copy, &code, sizeof(copy));
        copy(work->n_rounds);
        return NULL;
}

static int run_there(struct work *work, const char *address)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): that is what the user says */
        void *wanted = (void *)(uintptr_t)strtoull(address, NULL, 16);
        pthread_attr_t attributes;
        pthread_t thread;

        work->area = mmap(wanted, 2 * AREA_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (work->area == MAP_FAILED) {
                (void)fprintf(stderr, "w_loop: there is no memory at %s\n", address);
                return 77;
        }
        if (pthread_attr_init(&attributes) != 0 ||
            pthread_attr_setstack(&attributes, work->area, AREA_BYTES) != 0 ||
            pthread_create(&thread, &attributes, run_on_stack, work) != 0 || pthread_join(thread, NULL) != 0)
                abort();
        return 0;
}

int main(int argc, char **argv)
{
        struct work work = { .n_rounds = (uint64_t)burn_argument(argc, argv, 1, 100000000) };

        if (argc > 2)
                return run_there(&work, argv[2]);
        count_down(work.n_rounds);
        return 0;
}
