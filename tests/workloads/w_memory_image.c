/* SPDX-License-Identifier: MIT */
/*
 * w_memory_image MODE FIRST SECOND [CPU_SECONDS=0.4]
 *
 * Truth: the image FIRST, an ELF shared object whose entry is a function
 * run(uint64_t rounds), is put into anonymous memory without the loader and burns
 * CPU_SECONDS; MODE "turns" does the same with SECOND after it, and SECOND comes to lie
 * where FIRST lay.
 *
 *   header      all segments are copied, then the code is made executable; the file stays in the heap
 *   freed       the same, but the copy in the heap is overwritten before the code runs
 *   bare        only the code is copied; the file stays in the heap
 *   late        memory that is executable at once, and is written a moment later
 *   turns       "header" with FIRST, then with SECOND at the same address
 *   written     memory that stays writable and executable: FIRST, then SECOND over it; both have the same
 *               place in the heap
 */
#include "tests/workloads/burn.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define CALL_NS     100000
#define WHERE       UINT64_C(0x2a0000000000) /* where images are put: nothing else is there */
#define IMAGE_BYTES (UINT64_C(1) << 24)
#define PAGE_BYTES  UINT64_C(4096)

typedef void run_function(uint64_t n_rounds);

static uint8_t *read_file(const char *path, size_t *ret_bytes)
{
        FILE *file = fopen(path, "rb");
        uint8_t *bytes = malloc(IMAGE_BYTES);

        if (!file || !bytes) {
                (void)fprintf(stderr, "w_memory_image: cannot read %s\n", path);
                exit(EXIT_FAILURE);
        }
        *ret_bytes = fread(bytes, 1, IMAGE_BYTES, file);
        (void)fclose(file);
        return bytes;
}

static uint8_t *reserve(int protection)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a place of our own choice */
        void *where = mmap((void *)(uintptr_t)WHERE, IMAGE_BYTES, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

        if (where == MAP_FAILED) {
                perror("w_memory_image: mmap");
                exit(EXIT_FAILURE);
        }
        return where;
}

static void copy_segments(uint8_t *base, const uint8_t *file, bool only_code)
{
        const Elf64_Ehdr *header = (const void *)file;
        const Elf64_Phdr *segments = (const void *)(file + header->e_phoff);

        for (unsigned i = 0; i < header->e_phnum; i++)
                if (segments[i].p_type == PT_LOAD && (!only_code || segments[i].p_flags & PF_X))
                        memcpy(base + segments[i].p_vaddr, file + segments[i].p_offset, segments[i].p_filesz);
}

static void protect_code(uint8_t *base, const uint8_t *file)
{
        const Elf64_Ehdr *header = (const void *)file;
        const Elf64_Phdr *segments = (const void *)(file + header->e_phoff);

        for (unsigned i = 0; i < header->e_phnum; i++) {
                uint64_t start = segments[i].p_vaddr / PAGE_BYTES * PAGE_BYTES;

                if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X &&
                    mprotect(base + start, segments[i].p_vaddr + segments[i].p_memsz - start,
                             PROT_READ | PROT_EXEC) < 0)
                        perror("w_memory_image: mprotect");
        }
}

static void burn(uint8_t *base, uint64_t entry, uint64_t n_rounds, int64_t budget_ns)
{
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns;
        run_function *run;

        *(void **)&run = base + entry; /* the way that POSIX shows: ISO C has no such cast */
        while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                run(n_rounds);
}

static void run_image(const char *mode, const char *path, uint64_t n_rounds, int64_t budget_ns)
{
        bool is_late = strcmp(mode, "late") == 0;
        size_t n_bytes;
        uint8_t *file = read_file(path, &n_bytes);
        uint8_t *base = reserve(PROT_READ | PROT_WRITE | (is_late ? PROT_EXEC : 0));
        uint64_t entry = ((const Elf64_Ehdr *)(const void *)file)->e_entry;

        if (is_late) /* the recorder sees memory with nothing in it */
                burn_calibration(burn_rounds_of(20000000));
        copy_segments(base, file, strcmp(mode, "bare") == 0);
        if (!is_late)
                protect_code(base, file);
        if (strcmp(mode, "freed") == 0)
                memset(file, 0, n_bytes);
        burn(base, entry, n_rounds, budget_ns);
        (void)munmap(base, IMAGE_BYTES);
        free(file);
}

/* No record says when the second image is written over the first one. */
static void run_written(char **paths, uint64_t n_rounds, int64_t budget_ns)
{
        static uint8_t file[IMAGE_BYTES];
        uint8_t *base = reserve(PROT_READ | PROT_WRITE | PROT_EXEC);

        for (unsigned i = 0; i < 2; i++) {
                size_t n_bytes;
                uint8_t *bytes = read_file(paths[i], &n_bytes);

                memcpy(file, bytes, n_bytes);
                memset(bytes, 0, n_bytes);
                free(bytes);
                copy_segments(base, file, false);
                burn(base, ((const Elf64_Ehdr *)(const void *)file)->e_entry, n_rounds, budget_ns);
        }
}

int main(int argc, char **argv)
{
        int64_t budget_ns = (int64_t)(burn_argument(argc, argv, 4, 0.4) * 1e9);
        uint64_t n_rounds = burn_rounds_of(CALL_NS);

        if (argc < 4) {
                (void)fprintf(stderr, "usage: w_memory_image MODE FIRST SECOND [CPU_SECONDS]\n");
                return EXIT_FAILURE;
        }
        if (strcmp(argv[1], "written") == 0) {
                run_written(argv + 2, n_rounds, budget_ns);
                return EXIT_SUCCESS;
        }
        run_image(argv[1], argv[2], n_rounds, budget_ns);
        if (strcmp(argv[1], "turns") == 0)
                run_image(argv[1], argv[3], n_rounds, budget_ns);
        return EXIT_SUCCESS;
}
