/* SPDX-License-Identifier: MIT */
/*
 * w_announced_image IMAGE ADDRESS - puts the code of an ELF image into memory, announces
 * it, and forgets the image
 *
 * As runtimes do that link kernels themselves: only the code is copied, nothing of the headers.  ADDRESS is
 * that of `unsigned hot_kernel(unsigned)` in the image, hexadecimal.  The file is deleted.
 */
#include <hyprof/hyprof.h>

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME   "announced"
#define ROUNDS 60
#define TURNS  20000000u

typedef unsigned kernel(unsigned);

static uint8_t *read_image(const char *path, size_t *ret_bytes)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        uint8_t *image;

        if (fd < 0 || fstat(fd, &status) < 0)
                return NULL;
        *ret_bytes = (size_t)status.st_size;
        image = malloc(*ret_bytes);
        if (!image || read(fd, image, *ret_bytes) != (ssize_t)*ret_bytes || unlink(path) < 0)
                return NULL;
        (void)close(fd);
        return image;
}

static const Elf64_Phdr *find_code(const uint8_t *image)
{
        const Elf64_Ehdr *header = (const void *)image;
        const Elf64_Phdr *segments = (const void *)(image + header->e_phoff);

        for (int i = 0; i < header->e_phnum; i++)
                if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
                        return &segments[i];
        return NULL;
}

int main(int argc, char **argv)
{
        size_t n_bytes = 0, code_bytes;
        uint8_t *image = argc == 3 ? read_image(argv[1], &n_bytes) : NULL;
        const Elf64_Phdr *code = image ? find_code(image) : NULL;
        unsigned sum = 0;
        uint8_t *memory;
        kernel *run;

        if (!code)
                return 2;
        code_bytes = (code->p_filesz + 4095) & ~UINT64_C(4095);
        memory = mmap(NULL, code_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return 2;
        memcpy(memory, image + code->p_offset, code->p_filesz);
        run = (kernel *)(uintptr_t)(memory + (strtoul(argv[2], NULL, 16) - code->p_vaddr));
        hyprof_code_add(memory, code_bytes, NAME, strlen(NAME), image, n_bytes);
        memset(image, 0, n_bytes);
        free(image);
        if (mprotect(memory, code_bytes, PROT_READ | PROT_EXEC) < 0)
                return 2;
        for (int i = 0; i < ROUNDS; i++)
                sum += run(TURNS);
        hyprof_code_remove(memory, code_bytes);
        (void)printf("%u\n", sum);
        return 0;
}
