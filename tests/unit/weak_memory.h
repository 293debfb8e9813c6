/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/weak_memory.h - runs threads in every order, with every value that C11 lets an atomic load
 * return
 *
 * A file includes this, then weak_builtins.h, which gives the builtins for atomics this file's meaning,
 * and then the .c files whose protocol it checks: the code itself is checked, not a model of it.  The
 * threads are coroutines, and each atomic operation is a place where another one may go on.
 *
 * Memory is the release-acquire part of C11's model, by views: a thread sees, of each variable, what it
 * saw before, what it wrote, and what an acquire of a release brought it; a load may return any later
 * value.  So outcomes that no x86 shows are tried as well.  A sequentially consistent load also sees the
 * last sequentially consistent store to its variable.  Not tried: loads that see stores which their own
 * thread makes possible later, and stores that another store overtakes.
 *
 * weak_read() and weak_write() report accesses to plain memory that threads share: each must have seen all
 * that others did there.
 *
 * One place of the source can be weakened to a relaxed order.  A check that still passes then does not
 * need that order, or does not look.
 */
#ifndef TESTS_UNIT_WEAK_MEMORY_H
#define TESTS_UNIT_WEAK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The threads are coroutines, which ThreadSanitizer takes for one thread with many stacks. */
#ifdef __SANITIZE_THREAD__
#define WEAK_MEMORY_RUNS false
#else
#define WEAK_MEMORY_RUNS true
#endif

#define WEAK_THREADS_MAX 4
#define WEAK_PLACES_MAX  64

/* Where the source states an order that is not relaxed. */
struct weak_place {
        const char *file;
        const char *function;
        int line;
};

struct weak_check {
        void (*begin)(void); /* sets the memory; one thread, whose writes all others have seen */
        void (*threads[WEAK_THREADS_MAX])(void);
        const char *(*end)(void); /* judges what came out, having seen all writes; NULL = it is right */
        /* Only what lies here is shared: other atomics are a thread's own. */
        void *base;
        size_t n_bytes;
        unsigned n_switches; /* how often a thread may be interrupted in one run */
        unsigned n_old;      /* how many loads of a run may return an older value */
};

struct weak_result {
        uint64_t n_runs;
        const char *wrong;                         /* what the first wrong run said; NULL = all are right */
        struct weak_place places[WEAK_PLACES_MAX]; /* that were met */
        size_t n_places;
};

/* @weakened: NULL = none */
struct weak_result weak_memory_check(const struct weak_check *check, const struct weak_place *weakened);

/* For the threads.  Ends the run, which is wrong. */
_Noreturn void weak_fail(const char *words);
/* Lets others go on until the condition holds; it looks at the newest values. */
void weak_wait(bool (*condition)(void));
/* Words of 8 bytes of plain memory. */
void weak_read(const void *at, size_t n_bytes);
void weak_write(void *at, size_t n_bytes);
/* One thread at a time stores here: each must have seen the last one's store. */
void weak_is_owned(const void *at);

/* The builtins, as weak_builtins.h calls them.  @order: of the builtin. */
struct weak_at {
        const char *file, *function;
        int line, order;
};

enum weak_change { WEAK_SET, WEAK_ADD, WEAK_AND, WEAK_OR };

uint64_t weak_load(const void *at, size_t n_bytes, struct weak_at where);
void weak_store(void *at, size_t n_bytes, uint64_t value, struct weak_at where);
/* Returns the value before. */
uint64_t weak_change(void *at, size_t n_bytes, enum weak_change change, uint64_t value, struct weak_at where);
bool weak_compare(void *at, size_t n_bytes, uint64_t *expected, uint64_t value, struct weak_at where);

#endif /* TESTS_UNIT_WEAK_MEMORY_H */
