/* SPDX-License-Identifier: MIT */
/*
 * w_memory_forks
 *
 * Truth: three children, one after the other, allocate 100 blocks of 1,000 bytes each at addresses that are
 * the same in all of them, and free none.  Then the parent allocates 50 blocks of 100 bytes, and a fourth
 * child frees its copies of these.  The parent frees 10 of its own.  So 300,000 + 4,000 bytes in 340 blocks
 * are never freed, and no free is of unknown memory.
 */
#include <hyprof/hyprof.h>

#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CHILDREN 3
#define N_BLOCKS   100
#define N_OWN      50
#define N_FREED    10

static char memory[N_BLOCKS][1000]; /* nothing of it is used but its addresses */

static void allocate_all(void)
{
        for (int i = 0; i < N_BLOCKS; i++)
                HYPROF_ALLOC(memory[i], 1000);
}

static void release(int n_blocks)
{
        for (int i = 0; i < n_blocks; i++)
                HYPROF_FREE(memory[i]);
}

static int run_child(void (*run)(void))
{
        pid_t pid = fork();
        int status = 1;

        if (pid == 0) {
                run();
                _exit(0);
        }
        return pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0;
}

static void release_copies(void)
{
        release(N_OWN);
}

int main(void)
{
        int n_failed = 0;

        for (int i = 0; i < N_CHILDREN; i++)
                n_failed += run_child(allocate_all);
        for (int i = 0; i < N_OWN; i++)
                HYPROF_ALLOC(memory[i], 100);
        n_failed += run_child(release_copies);
        release(N_FREED);
        return n_failed != 0;
}
