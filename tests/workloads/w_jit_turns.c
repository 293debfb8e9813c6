/* SPDX-License-Identifier: MIT */
/*
 * w_jit_turns before|after OBJECT [KERNELS=200 [MILLISECONDS=2]]
 *
 * OBJECT is a relocatable object whose .text is the one function kernel_0000, without relocations.  One
 * kernel after the other is made of it, as w_kernel_turns makes them: each is put into the same memory,
 * announced by GDB's interface before or after that is made executable, run, announced as gone, and unmapped.
 *
 * Truth: a zone is named as the kernel that runs in it; all samples of the zone "kernel_0042" that lie in
 * such memory lie in the function kernel_0042.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NAME_BYTES  12 /* "kernel_0000" and its end */
#define CODE_BYTES  4096
#define OBJECT_MAX  65536
#define CODE_AVMA   UINT64_C(0x200000000000)
#define ACTION_ADD  1
#define ACTION_GONE 2

/* The names are the interface's. */
struct jit_entry {
        struct jit_entry *next, *previous;
        const void *object;
        uint64_t n_bytes;
};

struct {
        uint32_t version, action;
        struct jit_entry *relevant, *first;
        /* NOLINTNEXTLINE(readability-identifier-naming) */
} __jit_debug_descriptor = { .version = 1 };

void __jit_debug_register_code(void); /* NOLINT(readability-identifier-naming) */
/* NOLINTNEXTLINE(readability-identifier-naming) */
void __attribute__((noinline)) __jit_debug_register_code(void)
{
        __asm__ volatile("" ::: "memory");
}

static void tell(struct jit_entry *entry, uint32_t action)
{
        __jit_debug_descriptor.action = action;
        __jit_debug_descriptor.relevant = entry;
        __jit_debug_descriptor.first = action == ACTION_ADD ? entry : NULL;
        __jit_debug_register_code();
}

static void fail(const char *what)
{
        perror(what);
        exit(2); /* NOLINT(concurrency-mt-unsafe): there is one thread */
}

/* Copies .text to @memory, and says in the object that it is there. */
static void load(uint8_t *object, size_t n_bytes, void *memory)
{
        Elf64_Ehdr *header = (void *)object;
        Elf64_Shdr *sections = (void *)(object + header->e_shoff);

        if (n_bytes < sizeof(*header) || header->e_shoff + header->e_shnum * sizeof(*sections) > n_bytes)
                fail("OBJECT");
        for (unsigned i = 0; i < header->e_shnum; i++) {
                Elf64_Shdr *s = &sections[i];

                if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_EXECINSTR) || s->sh_size == 0 ||
                    s->sh_size > CODE_BYTES)
                        continue;
                memcpy(memory, object + s->sh_offset, s->sh_size);
                s->sh_addr = (uint64_t)(uintptr_t)memory;
        }
}

static void run(void *memory, const char *name, uint64_t n_rounds)
{
        void (*kernel)(uint64_t n_rounds);
        hyprof_zone zone = hyprof_zone_begin(hyprof_name_of(name));

        memcpy(&kernel, &memory, sizeof(kernel));
        kernel(n_rounds);
        hyprof_zone_end(zone);
}

static void take_turn(uint8_t *object, size_t n_bytes, bool before, const char *name, uint64_t n_rounds)
{
        void *memory = mmap((void *)CODE_AVMA, CODE_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        static struct jit_entry entry;

        if (memory == MAP_FAILED)
                fail("mmap");
        entry = (struct jit_entry){ .object = object, .n_bytes = n_bytes };
        load(object, n_bytes, memory);
        if (before)
                tell(&entry, ACTION_ADD);
        if (mprotect(memory, CODE_BYTES, PROT_READ | PROT_EXEC) < 0)
                fail("mprotect");
        if (!before)
                tell(&entry, ACTION_ADD);
        run(memory, name, n_rounds);
        tell(&entry, ACTION_GONE);
        (void)munmap(memory, CODE_BYTES);
}

int main(int argc, char **argv)
{
        static _Alignas(8) uint8_t object[OBJECT_MAX];
        int n_kernels = (int)burn_argument(argc, argv, 3, 200);
        uint64_t n_rounds = burn_rounds_of((int64_t)(burn_argument(argc, argv, 4, 2) * 1e6));
        FILE *f = argc > 2 ? fopen(argv[2], "re") : NULL;
        char old[NAME_BYTES] = "kernel_0000";
        size_t n_bytes;

        if (!f)
                fail("usage: w_jit_turns before|after OBJECT [KERNELS] [MILLISECONDS]");
        n_bytes = fread(object, 1, sizeof(object), f);
        (void)fclose(f);
        for (int i = 0; i < n_kernels; i++) {
                char name[NAME_BYTES + 8]; /* room for any int */

                (void)snprintf(name, sizeof(name), "kernel_%04d", i % 10000);
                for (size_t at = 0; at + NAME_BYTES <= n_bytes; at++)
                        if (memcmp(object + at, old, NAME_BYTES - 1) == 0)
                                memcpy(object + at, name, NAME_BYTES - 1);
                memcpy(old, name, sizeof(old));
                take_turn(object, n_bytes, strcmp(argv[1], "before") == 0, name, n_rounds);
        }
        return EXIT_SUCCESS;
}
