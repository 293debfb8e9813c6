/* SPDX-License-Identifier: MIT */
/*
 * w_moved_code KIND [MS]
 *
 * moved() burns nearly all of the time, MS ms (400), where no record of the kernel announces code: main()
 * calls it in a second mapping of this program's file.  Kinds:
 *
 *      mremap  that mapping was moved there
 *      shared  a child that shares the memory has mapped it, so the record has the child's number
 *      plain   moved() runs where it is announced
 */
#include "tests/workloads/burn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CODE_BYTES ((size_t)4096)

/* One page of its own, which works anywhere. */
void moved(uint64_t n_rounds);

__attribute__((noinline, aligned(4096), section(".text.moved"))) void moved(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}

static struct {
        int fd;
        off_t offset;
        void *volatile code;
} file;

static char child_stack[65536];

static int map_file(void *unused)
{
        (void)unused;
        file.code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.fd, file.offset);
        return 0;
}

/* Where moved() lies in the file that it is of. */
static int find_file(void)
{
        unsigned long start, end, offset, wanted = (unsigned long)(uintptr_t)moved;
        FILE *maps = fopen("/proc/self/maps", "r");
        char line[4096];

        file.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        while (maps && fgets(line, sizeof(line), maps))
                if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && wanted >= start &&
                    wanted < end)
                        file.offset = (off_t)(offset + (wanted - start));
        if (maps)
                (void)fclose(maps);
        return maps && file.fd >= 0 && file.offset > 0 ? 0 : -1;
}

__attribute__((noinline)) static void run_moved(void (*function)(uint64_t), uint64_t n_ms)
{
        uint64_t n_rounds = burn_rounds_of(1000000);

        for (uint64_t i = 0; i < n_ms; i++)
                function(n_rounds);
        __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
        uint64_t n_ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 400;
        void (*function)(uint64_t) = moved;
        void *code;

        if (argc < 2 || find_file() < 0)
                return 1;
        if (strcmp(argv[1], "shared") == 0) {
                pid_t child = clone(map_file, child_stack + sizeof(child_stack), CLONE_VM | SIGCHLD, NULL);

                if (child < 0 || waitpid(child, NULL, 0) != child)
                        return 1;
        } else if (strcmp(argv[1], "mremap") == 0) {
                (void)map_file(NULL);
                code = mmap(NULL, CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (file.code == MAP_FAILED || code == MAP_FAILED)
                        return 1;
                file.code = mremap(file.code, CODE_BYTES, CODE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, code);
        } else {
                file.code = NULL;
        }
        if (file.code == MAP_FAILED)
                return 1;
        if (file.code)
                memcpy(&function, (const void *[]){ file.code }, sizeof(function));
        run_moved(function, n_ms);
        return 0;
}
