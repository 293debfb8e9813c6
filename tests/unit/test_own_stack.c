/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/own_stack.c: the bounds are those of libc, also of a stack that the program gave; a read
 * stops where there is no memory
 */
#include "instrument/client/own_stack.h"

#include "tests/unit/unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)4 << 20) /* a sanitizer puts a megabyte of its own into each */
#define PAGE_BYTES  ((size_t)OWN_STACK_PAGE_BYTES)
#define LOW_PAGE    UINT64_C(0x10000) /* the lowest that the kernel lets a program have */

struct seen {
        struct own_stack stack;
        uintptr_t here;
        uintptr_t low, high; /* as pthread_getattr_np() says */
};

static void *look(void *seen)
{
        struct seen *s = seen;
        pthread_attr_t attributes;
        void *low;
        size_t n_bytes;

        errno = 7;
        s->stack = own_stack_find();
        ck_assert_int_eq(errno, 7);
        s->here = (uintptr_t)__builtin_frame_address(0);
        ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attributes), 0);
        ck_assert_int_eq(pthread_attr_getstack(&attributes, &low, &n_bytes), 0);
        s->low = (uintptr_t)low;
        s->high = (uintptr_t)low + n_bytes;
        ck_assert_int_eq(pthread_attr_destroy(&attributes), 0);
        return NULL;
}

static struct seen look_in_thread(const pthread_attr_t *attributes)
{
        struct seen s;
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, attributes, look, &s), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        return s;
}

static void check_thread(const struct seen *s)
{
        ck_assert_uint_eq(s->stack.low, s->low);
        ck_assert_uint_gt(s->stack.high, s->here);
        ck_assert_uint_le(s->stack.high, s->high);
        ck_assert_uint_ge(s->stack.high, s->high - 65536); /* less what belongs to libc */
}

START_TEST(test_stack_of_the_process)
{
        struct seen s;

        (void)look(&s);
        ck_assert_uint_lt(s.stack.low, s.here);
        ck_assert_uint_gt(s.stack.high, s.here);
        ck_assert_uint_le(s.stack.high, getauxval(AT_EXECFN)); /* the last that the kernel puts there */
}
END_TEST

START_TEST(test_threads)
{
        pthread_attr_t attributes;
        uint8_t *given = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct seen s = look_in_thread(NULL);

        check_thread(&s);
        ck_assert_ptr_ne(given, MAP_FAILED);
        ck_assert_int_eq(pthread_attr_init(&attributes), 0);
        ck_assert_int_eq(pthread_attr_setguardsize(&attributes, 0), 0);
        s = look_in_thread(&attributes);
        check_thread(&s);
        ck_assert_int_eq(pthread_attr_setguardsize(&attributes, 5 * PAGE_BYTES), 0);
        ck_assert_int_eq(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
        s = look_in_thread(&attributes);
        check_thread(&s);
        /* One that the program gave, and not at a page's boundary. */
        ck_assert_int_eq(pthread_attr_setstack(&attributes, given + 48, STACK_BYTES - 1024), 0);
        s = look_in_thread(&attributes);
        check_thread(&s);
        ck_assert_uint_eq(s.stack.low, (uintptr_t)given + 48);
        ck_assert_int_eq(pthread_attr_destroy(&attributes), 0);
        ck_assert_int_eq(munmap(given, STACK_BYTES), 0);
}
END_TEST

/* The child's thread has the stack of the thread that forked. */
static void *fork_and_look(void *seen)
{
        struct seen *s = seen;
        int status;
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
                struct own_stack stack = own_stack_find();
                uintptr_t here = (uintptr_t)__builtin_frame_address(0);

                _exit(here >= stack.low && here < stack.high ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        return look(s);
}

START_TEST(test_fork_in_a_thread)
{
        struct seen s;
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, fork_and_look, &s), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        check_thread(&s);
}
END_TEST

static struct seen on_fiber;
static ucontext_t of_thread, of_fiber;

static void fiber(void)
{
        on_fiber.stack = own_stack_find();
        on_fiber.here = (uintptr_t)__builtin_frame_address(0);
}

static void *look_on_fiber(void *stack)
{
        ck_assert_int_eq(getcontext(&of_fiber), 0);
        of_fiber.uc_stack.ss_sp = stack;
        of_fiber.uc_stack.ss_size = STACK_BYTES;
        of_fiber.uc_link = &of_thread;
        makecontext(&of_fiber, fiber, 0);
        ck_assert_int_eq(swapcontext(&of_thread, &of_fiber), 0);
        return NULL;
}

/* On a fiber the thread's own stack is still reported; the fiber's stack lies outside of it. */
START_TEST(test_fibers)
{
        uint8_t *given = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pthread_t thread;

        ck_assert_ptr_ne(given, MAP_FAILED);
        ck_assert_int_eq(pthread_create(&thread, NULL, look_on_fiber, given), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert(on_fiber.here < on_fiber.stack.low || on_fiber.here >= on_fiber.stack.high);
        (void)look_on_fiber(given);
        ck_assert(on_fiber.here < on_fiber.stack.low || on_fiber.here >= on_fiber.stack.high);
        ck_assert_int_eq(munmap(given, STACK_BYTES), 0);
}
END_TEST

/* Words that lie beside each other in the main thread's control block are a stack's only if they can be. */
START_TEST(test_words_of_a_block)
{
        uint8_t *block = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uintptr_t low = (uintptr_t)block, self = low + STACK_BYTES - 2048;
        const uintptr_t words[][3] = {
                { low, STACK_BYTES, PAGE_BYTES },        /* it is one */
                { 1, self + 1000, 0 },                   /* a counter and a pointer */
                { low, STACK_BYTES + 2 * (1 << 20), 0 }, /* too far beyond */
                { self - 2048, 4096, 0 },                /* too small */
                { low, STACK_BYTES, 8 },                 /* no guard has so many bytes */
                { self + 8, STACK_BYTES / 8, 0 },        /* it begins too late */
                { LOW_PAGE, self - LOW_PAGE, 0 },        /* an address, beside that of what can be read */
                { low, STACK_BYTES, PAGE_BYTES },
        };

        ck_assert_ptr_ne(block, MAP_FAILED);
        /* Where that is not permitted the row has one reason more. */
        (void)mmap((void *)LOW_PAGE, PAGE_BYTES, PROT_READ, /* NOLINT(performance-no-int-to-ptr) */
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        ck_assert(own_stack_is_block(words[0], self));
        for (size_t i = 1; i < 7; i++)
                ck_assert_msg(!own_stack_is_block(words[i], self), "row %zu", i);
        ck_assert_int_eq(mprotect(block, 2 * PAGE_BYTES, PROT_NONE), 0);
        ck_assert(!own_stack_is_block(words[7], self));
        ck_assert_int_eq(munmap(block, STACK_BYTES), 0);
}
END_TEST

/* loop test over places: of three pages the first one or two are there */
START_LOOP_TEST(test_read_stops_where_nothing_is, 0, 6)
{
        size_t n_there = PAGE_BYTES * (size_t)(1 + _i % 2), first = (size_t)(_i / 2) * 1000, n;
        uint8_t *pages = mmap(NULL, 3 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                              0);
        static uint8_t first_part[100], rest[8192];
        struct own_stack_room room = { .to = first_part, .to_more = rest, .to_bytes = sizeof(first_part) };

        ck_assert_ptr_ne(pages, MAP_FAILED);
        for (size_t i = 0; i < n_there; i++)
                pages[i] = (uint8_t)(i * 7 + i / 256);
        if (_i < 3)
                ck_assert_int_eq(munmap(pages + n_there, 3 * PAGE_BYTES - n_there), 0);
        else
                ck_assert_int_eq(mprotect(pages + n_there, 3 * PAGE_BYTES - n_there, PROT_NONE), 0);
        errno = 7;
        n = own_stack_read(&room, (uintptr_t)pages + first, 8192);
        ck_assert_int_eq(errno, 7);
        ck_assert_uint_eq(n, n_there - first < 8192 ? n_there - first : 8192);
        ck_assert_mem_eq(first_part, pages + first, sizeof(first_part));
        ck_assert_mem_eq(rest, pages + first + sizeof(first_part), n - sizeof(first_part));
        ck_assert_uint_eq(own_stack_read(&room, (uintptr_t)pages + n_there, 8), 0);
        (void)munmap(pages, 3 * PAGE_BYTES);
}
END_TEST
