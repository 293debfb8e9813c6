/* SPDX-License-Identifier: MIT */
/*
 * w_restless [SECONDS=2]
 *
 * Truth: for so long it maps, moves, shuts and unmaps memory that can be executed, calls code in it, writes
 * random bytes over the region that it shares with a recorder, changes its name, and executes itself anew
 * every tenth of a second.  Its process number stays.  Ends with status 0.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LIFE_NS    INT64_C(100000000)
#define PAGES      16
#define PAGE_BYTES ((size_t)4096)

struct span {
        uint8_t *at;
        size_t n_bytes;
};

/* The region of the client library in this process, found as a recorder finds it. */
static struct span find_region(void)
{
        FILE *maps = fopen("/proc/self/maps", "re");
        struct span found = { NULL, 0 };
        char line[512];

        while (maps && fgets(line, sizeof(line), maps)) {
                uintptr_t begin, end;

                if (strstr(line, "/memfd:hyprof-client") && strstr(line, " rw-") &&
                    sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2) {
                        memcpy(&found.at, &begin, sizeof(begin));
                        found.n_bytes = end - begin;
                        break;
                }
        }
        if (maps)
                (void)fclose(maps);
        return found;
}

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

/* Not its first page, which says that it is a region. */
static void spoil(struct span region, uint64_t *state)
{
        uint64_t word;

        for (int i = 0; region.n_bytes > 2 * PAGE_BYTES && i < 64; i++) {
                size_t where = PAGE_BYTES + next_random(state) % (region.n_bytes - 2 * PAGE_BYTES);

                word = next_random(state);
                memcpy(region.at + where, &word, sizeof(word));
        }
}

/* `ret`, in a place that is gone a moment later. */
static void remap(int fd, uint64_t *state)
{
        size_t n_bytes = PAGE_BYTES * (1 + next_random(state) % PAGES);
        uint8_t *code = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                             -1, 0);
        void *file = mmap(NULL, n_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        void *moved;
        void (*call)(void);

        if (code == MAP_FAILED || file == MAP_FAILED)
                _exit(EXIT_FAILURE);
#ifdef __x86_64__
        code[0] = 0xc3;
        memcpy(&call, &code, sizeof(call));
        call();
#else
        (void)call;
#endif
        moved = mremap(code, n_bytes, n_bytes + PAGE_BYTES, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED)
                _exit(EXIT_FAILURE);
        (void)munmap(file, n_bytes);
        (void)mprotect(moved, n_bytes, PROT_READ);
        (void)munmap(moved, n_bytes + PAGE_BYTES);
}

int main(int argc, char **argv)
{
        double seconds = burn_argument(argc, argv, 1, 2);
        int64_t begin_ns = burn_clock_ns(CLOCK_MONOTONIC);
        uint64_t state = (uint64_t)begin_ns | 1;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct span region;
        char left[32], name[16];
        char *again[] = { argv[0], left, NULL };

        HYPROF_ZONE("restless");
        region = find_region();
        while (burn_clock_ns(CLOCK_MONOTONIC) < begin_ns + LIFE_NS) {
                {
                        HYPROF_ZONE("inner");
                        remap(fd, &state);
                }
                spoil(region, &state);
                (void)snprintf(name, sizeof(name), "\033[%x", (unsigned)next_random(&state));
                (void)prctl(PR_SET_NAME, name);
        }
        if (seconds * 1e9 <= (double)LIFE_NS)
                _exit(EXIT_SUCCESS); /* without the library's last words */
        (void)snprintf(left, sizeof(left), "%f", seconds - (double)LIFE_NS / 1e9);
        (void)execv("/proc/self/exe", again);
        return EXIT_FAILURE;
}
