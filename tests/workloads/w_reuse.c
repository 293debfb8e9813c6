/* SPDX-License-Identifier: MIT */
/*
 * w_reuse FIRST_LIBRARY SECOND_LIBRARY [CPU_SECONDS=0.5]
 *
 * Truth: the function work(uint64_t rounds) of FIRST_LIBRARY burns CPU_SECONDS in
 * the zone "first"; the library is closed; that of SECOND_LIBRARY burns as long in
 * the zone "second".  If libraries of the same size come to lie at the same
 * address, as they do when nothing else was mapped meanwhile, "same address" is
 * printed, else "different addresses".
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <stdio.h>

#define CALL_NS 100000

typedef void work_function(uint64_t n_rounds);

static void *open_library(const char *path, work_function **ret_work)
{
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "work") : NULL;

        if (!symbol) {
                (void)fprintf(stderr, "w_reuse: %s\n", dlerror());
                exit(EXIT_FAILURE);
        }
        *(void **)ret_work = symbol; /* the way that POSIX shows: ISO C has no such cast */
        return library;
}

static void burn(work_function *work, uint64_t n_rounds, int64_t budget_ns)
{
        int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns;

        while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                work(n_rounds);
}

int main(int argc, char **argv)
{
        int64_t budget_ns = (int64_t)(burn_argument(argc, argv, 3, 0.5) * 1e9);
        uint64_t n_rounds = burn_rounds_of(CALL_NS);
        work_function *first;
        work_function *second;
        void *library;

        if (argc < 3) {
                (void)fprintf(stderr, "usage: w_reuse FIRST_LIBRARY SECOND_LIBRARY [CPU_SECONDS]\n");
                return EXIT_FAILURE;
        }
        library = open_library(argv[1], &first);
        {
                HYPROF_ZONE("first");
                burn(first, n_rounds, budget_ns);
        }
        (void)dlclose(library);
        library = open_library(argv[2], &second);
        {
                HYPROF_ZONE("second");
                burn(second, n_rounds, budget_ns);
        }
        (void)dlclose(library);
        (void)puts((uintptr_t)first == (uintptr_t)second ? "same address" : "different addresses");
        return EXIT_SUCCESS;
}
