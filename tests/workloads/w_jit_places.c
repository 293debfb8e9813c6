/* SPDX-License-Identifier: MIT */
/*
 * w_jit_places PLACE [LINE]
 *
 * made() is code that the program writes, and runs nearly all of the time, for 600 ms; the perf map
 * /tmp/perf-PID.map names it.  x86-64 only; elsewhere it exits with 2.  Places:
 *
 *      anon     memory of no file
 *      memfd    a private mapping of a memfd
 *      deleted  a private mapping of a file that has no name any more
 *      data     a page of this program's data
 *      text     a function of this program, reserved(), that is written over
 *
 * Lines: whole (as it should be), open (the last line has no end), empty (its size is 0).
 */
#include "tests/workloads/burn.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
#define CODE_BYTES ((size_t)4096)

/* mov %rdi, %rcx; 1: dec %rcx; jnz 1b; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
static unsigned char data[3 * 4096] = { 1 };

void reserved(uint64_t n);

__attribute__((noinline, aligned(4096))) void reserved(uint64_t n)
{
        (void)n;
        __asm__ volatile(".fill 8192, 1, 0x90");
}

static unsigned char *page_of(uintptr_t at)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): the next page */
        return (unsigned char *)((at + CODE_BYTES - 1) & ~(CODE_BYTES - 1));
}

static unsigned char *map_file(int fd)
{
        if (fd < 0 || ftruncate(fd, (off_t)CODE_BYTES) < 0)
                return MAP_FAILED;
        return mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

static unsigned char *find_place(const char *place)
{
        char name[] = "/tmp/w_jit_places.XXXXXX";
        int fd;

        if (strcmp(place, "memfd") == 0)
                return map_file(memfd_create("made code", 0));
        if (strcmp(place, "deleted") == 0) {
                fd = mkstemp(name);
                (void)unlink(name);
                return map_file(fd);
        }
        if (strcmp(place, "data") == 0)
                return page_of((uintptr_t)data);
        if (strcmp(place, "text") == 0)
                return page_of((uintptr_t)reserved);
        return mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int write_map(const char *path, const unsigned char *place, const char *line)
{
        FILE *map = fopen(path, "w");

        if (!map)
                return -1;
        (void)fprintf(map, "%lx %x made%s", (unsigned long)(uintptr_t)place,
                      strcmp(line, "empty") == 0 ? 0U : 16U, strcmp(line, "open") == 0 ? "" : "\n");
        return fclose(map);
}

int main(int argc, char **argv)
{
        unsigned char *place = argc > 1 ? find_place(argv[1]) : MAP_FAILED;
        int64_t end_ns = burn_clock_ns(CLOCK_MONOTONIC) + 600000000;
        void (*made)(uint64_t);
        char path[64];

        if (place == MAP_FAILED || mprotect(place, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
                return 1;
        memcpy(place, code, sizeof(code));
        (void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
        if (write_map(path, place, argc > 2 ? argv[2] : "whole") != 0)
                return 1;
        memcpy(&made, &place, sizeof(made));
        while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns)
                made(1000000);
        (void)unlink(path);
        return 0;
}
#else
int main(void)
{
        (void)fputs("w_jit_places: no code for this machine\n", stderr);
        return 2;
}
#endif
