/* SPDX-License-Identifier: MIT */
/* Compiled without frame pointers; see the Makefile. */
#include "tests/unit/deep_calls.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
/* Nothing is left to do after a call would let compilers jump instead. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

#pragma GCC diagnostic ignored "-Walloca"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstack-usage="
#endif

/* Their names are what the test asks for, so they are not static. */
void deep_burn(void);
void deep_recurse(uint64_t depth);
int deep_compare(const void *a, const void *b);
void deep_handler(int number);
void *deep_thread(void *rounds);
void deep_alloca(uint64_t depth);
void deep_aligned(uint64_t depth, void (*function)(void));
void deep_start(enum deep_calls_kind kind);

ALONE void deep_burn(void)
{
        for (unsigned i = 0; i < 50000; i++)
                __asm__ volatile("" ::: "memory");
}

ALONE void deep_recurse(uint64_t depth)
{
        if (depth > 1)
                deep_recurse(depth - 1);
        else
                deep_burn();
        NO_TAIL_CALL();
}

ALONE int deep_compare(const void *a, const void *b)
{
        const int *x = a, *y = b;

        deep_burn();
        NO_TAIL_CALL();
        return (*x > *y) - (*x < *y);
}

ALONE void deep_handler(int number)
{
        (void)number;
        deep_burn();
        NO_TAIL_CALL();
}

ALONE void *deep_thread(void *rounds)
{
        for (uint64_t n = *(const uint64_t *)rounds; n > 0; n--)
                deep_recurse(DEEP_CALLS_DEPTH);
        NO_TAIL_CALL();
        return NULL;
}

ALONE void deep_alloca(uint64_t depth)
{
        char *bytes = alloca(depth * 8 + 1);

        memset(bytes, 0, depth * 8 + 1);
        __asm__ volatile("" ::"r"(bytes) : "memory");
        if (depth > 1)
                deep_alloca(depth - 1);
        else
                deep_burn();
        NO_TAIL_CALL();
}

ALONE void deep_aligned(uint64_t depth, void (*function)(void))
{
        char bytes[128] __attribute__((aligned(64)));

        memset(bytes, (int)depth, sizeof(bytes));
        __asm__ volatile("" ::"r"(bytes) : "memory");
        if (depth > 1)
                deep_aligned(depth - 1, function);
        else
                function();
        NO_TAIL_CALL();
}

ALONE void deep_start(enum deep_calls_kind kind)
{
        int numbers[2] = { 2, 1 };

        switch (kind) {
        case DEEP_CALLS_QSORT:
                qsort(numbers, 2, sizeof(numbers[0]), deep_compare);
                break;
        case DEEP_CALLS_SIGNAL:
        case DEEP_CALLS_ALTERNATE_STACK:
                (void)raise(SIGUSR1);
                break;
        case DEEP_CALLS_ALLOCA:
                deep_alloca(DEEP_CALLS_DEPTH);
                break;
        case DEEP_CALLS_ALIGNED:
                deep_aligned(DEEP_CALLS_DEPTH, deep_burn);
                break;
        case DEEP_CALLS_RECURSION:
        case DEEP_CALLS_THREAD:
        case DEEP_CALLS_N_KINDS:
        default:
                deep_recurse(DEEP_CALLS_DEPTH);
                break;
        }
        NO_TAIL_CALL();
}

void deep_calls_run(enum deep_calls_kind kind, uint64_t n)
{
        size_t n_bytes = (size_t)1 << 16;
        struct sigaction action = { .sa_handler = deep_handler };
        stack_t stack = { .ss_size = n_bytes };
        pthread_t thread;

        if (kind == DEEP_CALLS_ALTERNATE_STACK) {
                stack.ss_sp = malloc(n_bytes);
                if (!stack.ss_sp || sigaltstack(&stack, NULL) < 0)
                        abort();
                action.sa_flags = SA_ONSTACK;
        }
        (void)sigaction(SIGUSR1, &action, NULL);
        if (kind == DEEP_CALLS_THREAD) {
                if (pthread_create(&thread, NULL, deep_thread, &n) == 0)
                        (void)pthread_join(thread, NULL);
                return;
        }
        while (n-- > 0)
                deep_start(kind);
        NO_TAIL_CALL();
}

const char *const *deep_calls_expected(enum deep_calls_kind kind)
{
#define TEN(name)   name, name, name, name, name, name, name, name, name, name
#define FORTY(name) TEN(name), TEN(name), TEN(name), TEN(name)
#define END         "deep_start", "deep_calls_run", NULL
        static const char *const expected[DEEP_CALLS_N_KINDS][DEEP_CALLS_DEPTH + 5] = {
                [DEEP_CALLS_RECURSION] = { "deep_burn", FORTY("deep_recurse"), END },
                [DEEP_CALLS_QSORT] = { "deep_burn", "deep_compare", END },
                [DEEP_CALLS_SIGNAL] = { "deep_burn", "deep_handler", END },
                [DEEP_CALLS_ALTERNATE_STACK] = { "deep_burn", "deep_handler", NULL },
                [DEEP_CALLS_THREAD] = { "deep_burn", FORTY("deep_recurse"), "deep_thread", NULL },
                [DEEP_CALLS_ALLOCA] = { "deep_burn", FORTY("deep_alloca"), END },
                [DEEP_CALLS_ALIGNED] = { "deep_burn", FORTY("deep_aligned"), END },
        };

        return expected[kind];
}
