/* SPDX-License-Identifier: MIT */
/*
 * Where a thread's stack is
 *
 * pthread_getattr_np() of glibc knows it, but allocates and locks, and our caller may be an allocator or a
 * signal handler.  That function reads three words of the thread's control block: the address of the
 * stack's block, the block's size and the size of the guard.  Their place in the control block depends on
 * the version of glibc.  So this code searches the whole control block for three words that describe a
 * block around it whose lower end can be read: glibc always puts the control block at the stack's upper
 * end, also in a stack that the program gave.  The main thread has a counter beside a pointer instead.
 * Without such words the bounds are unknown, and each read asks the kernel.
 *
 * The stack of the process, which the main thread has, ends below the arguments that the kernel has put
 * there.  The kernel places no mapping where that stack may grow to.
 */
#include "instrument/client/own_stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ARGUMENTS_BYTES_MAX  (UINT64_C(1) << 20)
#define MAIN_STACK_BYTES_MAX (UINT64_C(8) << 20) /* deeper is not certain: there the kernel is asked */
#define STACK_BYTES_MIN      UINT64_C(16384)     /* PTHREAD_STACK_MIN, or less */
#define STACK_BYTES_MAX      (UINT64_C(1) << 37) /* a larger word is an address, even one of 39 bits */
#define STACK_LOW_MIN        UINT64_C(4096)      /* a smaller word is a number */
#define STATIC_TLS_BYTES_MAX (UINT64_C(1) << 20)

static const struct own_stack unknown = { 1, 1 };

/* The environment's array lies right above the first frame, unless the program has moved it. */
static struct own_stack stack_of_process(void)
{
        uintptr_t high = (uintptr_t)getauxval(AT_RANDOM);
        uintptr_t names = (uintptr_t)environ;
        uint64_t n_bytes = MAIN_STACK_BYTES_MAX;
        struct rlimit limit;

        if (high <= MAIN_STACK_BYTES_MAX)
                return unknown;
        if (names < high && high - names < ARGUMENTS_BYTES_MAX)
                high = names;
        if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < n_bytes)
                n_bytes = limit.rlim_cur;
        high &= ~(uintptr_t)(sizeof(uint64_t) - 1);
        return (struct own_stack){ .low = high - n_bytes, .high = high };
}

#if defined(__GLIBC__)
#define CONTROL_BLOCK_WORDS 288 /* 2304 bytes; from 2.17 to 2.41 they hold the block's address */

/* The kernel copies the signal set before it finds that there is no such operation. */
static bool is_readable(uintptr_t address)
{
        uintptr_t page = address & ~(uintptr_t)(OWN_STACK_PAGE_BYTES - 1);

        return syscall(SYS_rt_sigprocmask, ~0, page, NULL, sizeof(uint64_t)) < 0 && errno == EINVAL;
}

bool own_stack_is_block(const uintptr_t *words, uintptr_t self)
{
        uintptr_t low = words[0], n_bytes = words[1], guard_bytes = words[2], high = low + n_bytes;

        return low >= STACK_LOW_MIN && low < self && n_bytes >= STACK_BYTES_MIN &&
               n_bytes <= STACK_BYTES_MAX && high >= self && high - self <= STATIC_TLS_BYTES_MAX &&
               guard_bytes < self - low && guard_bytes % OWN_STACK_PAGE_BYTES == 0 &&
               is_readable(low + guard_bytes);
}

/* The control block begins at the thread pointer on x86-64, and lies before it on the other machines. */
static __attribute__((no_sanitize("address", "thread"))) struct own_stack stack_of_thread(void)
{
        uintptr_t self = (uintptr_t)__builtin_thread_pointer(), first, far;
        const uintptr_t *words;

#ifdef __x86_64__
        first = self;
        far = self + (CONTROL_BLOCK_WORDS - 1) * sizeof(*words);
#else
        first = self - CONTROL_BLOCK_WORDS * sizeof(*words);
        far = first;
#endif
        if (self % sizeof(*words) != 0 || !is_readable(far))
                return unknown;
        words = (const uintptr_t *)first; /* NOLINT(performance-no-int-to-ptr) */
        for (size_t i = 0; i + 3 <= CONTROL_BLOCK_WORDS; i++)
                if (own_stack_is_block(words + i, self))
                        return (struct own_stack){ .low = words[i] + words[i + 2], .high = self };
        return unknown;
}
#else
/*
 * For another thread than the main one, musl reads its control block, without a lock.  For the process's
 * stack musl would have to search.
 */
static struct own_stack stack_of_thread(void)
{
        struct own_stack found = unknown;
        uintptr_t here = (uintptr_t)__builtin_frame_address(0), high;
        struct own_stack of_process = stack_of_process();
        pthread_attr_t attributes;
        void *low;
        size_t n_bytes;

        if (here >= of_process.low && here < of_process.high)
                return of_process;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0 &&
            pthread_attr_getstack(&attributes, &low, &n_bytes) == 0 &&
            !__builtin_add_overflow((uintptr_t)low, n_bytes, &high))
                found = (struct own_stack){ .low = (uintptr_t)low, .high = high };
        return found;
}
#endif

struct own_stack own_stack_find(void)
{
        int saved_errno = errno;
        struct own_stack found = stack_of_thread();

        if (found.high == unknown.high)
                found = stack_of_process();
        errno = saved_errno;
        return found;
}

/* One piece per page, so that a missing page costs only its own bytes. */
size_t own_stack_read(const struct own_stack_room *room, uintptr_t from, size_t n_bytes)
{
        struct iovec to[2] = { { room->to, n_bytes < room->to_bytes ? n_bytes : room->to_bytes },
                               { room->to_more, n_bytes < room->to_bytes ? 0 : n_bytes - room->to_bytes } };
        struct iovec pages[4];
        size_t n_pages = 0;
        int saved_errno = errno;
        ssize_t n;

        while (n_bytes > 0 && n_pages < sizeof(pages) / sizeof(pages[0])) {
                size_t part = OWN_STACK_PAGE_BYTES - from % OWN_STACK_PAGE_BYTES;

                if (part > n_bytes)
                        part = n_bytes;
                /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
                pages[n_pages++] = (struct iovec){ (void *)from, part };
                from += part;
                n_bytes -= part;
        }
        n = syscall(SYS_process_vm_readv, getpid(), to, sizeof(to) / sizeof(to[0]), pages, n_pages, 0);
        errno = saved_errno;
        return n > 0 ? (size_t)n : 0;
}
