/* SPDX-License-Identifier: MIT */
/*
 * Touches 20 times 512 pages that it never touched before, with some work after each: 10,240 page
 * faults, and few others.
 */
#include "tests/workloads/burn.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 20
#define PAGES  512

BURN_FUNCTION(calm);

int main(void)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

        for (int round = 0; round < ROUNDS; round++) {
                char *pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

                if (pages == MAP_FAILED || madvise(pages, PAGES * page_bytes, MADV_NOHUGEPAGE) < 0)
                        return EXIT_FAILURE;
                for (size_t i = 0; i < PAGES; i++) {
                        pages[i * page_bytes] = 1;
                        if (i % 16 == 0)
                                calm(100000);
                }
                if (munmap(pages, PAGES * page_bytes) < 0)
                        return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
