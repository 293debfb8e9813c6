/* SPDX-License-Identifier: MIT */
/*
 * tests/preload/client_events.c - any program as an instrumented one: its blocks, locks, zones around them
 *
 * For tests/soak_client.sh, which preloads it and compares the program with its bare run.  AddressSanitizer
 * has the allocator; its hooks report the blocks there.
 */
#include <hyprof/hyprof.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EVENTS_PER_MESSAGE 1024

static struct hyprof_lock any_lock = HYPROF_LOCK("a lock");
static _Thread_local unsigned n_events __attribute__((tls_model("initial-exec")));

static void tell_alloc(const volatile void *address, size_t n_bytes)
{
        HYPROF_ZONE("allocate");
        if (!address)
                return;
        hyprof_memory_alloc(NULL, (const void *)address, n_bytes);
        if (++n_events % EVENTS_PER_MESSAGE == 0)
                HYPROF_MESSAGE("allocations");
}

static void tell_free(const volatile void *address)
{
        if (address)
                hyprof_memory_free(NULL, (const void *)address);
}

#ifdef __SANITIZE_ADDRESS__
extern int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                                     void (*)(const volatile void *));

__attribute__((constructor(102))) static void install(void)
{
        (void)__sanitizer_install_malloc_and_free_hooks(tell_alloc, tell_free);
}
#else
extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *address, size_t n_bytes);
extern void *__libc_memalign(size_t alignment, size_t n_bytes);
extern void __libc_free(void *address);

static void *tell(void *address, size_t n_bytes)
{
        int saved_errno = errno;

        tell_alloc(address, n_bytes);
        errno = saved_errno;
        return address;
}

void *malloc(size_t n_bytes)
{
        return tell(__libc_malloc(n_bytes), n_bytes);
}

void *calloc(size_t n, size_t n_bytes)
{
        return tell(__libc_calloc(n, n_bytes), n * n_bytes);
}

void *realloc(void *address, size_t n_bytes)
{
        void *moved;

        tell_free(address);
        moved = __libc_realloc(address, n_bytes);
        if (moved || n_bytes == 0)
                return tell(moved, n_bytes);
        (void)tell(address, n_bytes); /* it is still there */
        return NULL;
}

void *memalign(size_t alignment, size_t n_bytes)
{
        return tell(__libc_memalign(alignment, n_bytes), n_bytes);
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
        return tell(__libc_memalign(alignment, n_bytes), n_bytes);
}

int posix_memalign(void **ret_address, size_t alignment, size_t n_bytes)
{
        int saved_errno = errno;
        void *address;

        if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
                return EINVAL;
        address = tell(__libc_memalign(alignment, n_bytes), n_bytes);
        errno = saved_errno;
        if (!address)
                return ENOMEM;
        *ret_address = address;
        return 0;
}

void free(void *address)
{
        int saved_errno = errno;

        tell_free(address);
        __libc_free(address);
        errno = saved_errno;
}
#endif

/* Kept in a variable: a call in place of the return would look as if the dynamic linker had made it. */
static int (*real_lock)(pthread_mutex_t *), (*real_unlock)(pthread_mutex_t *);

static void find(int (**ret_function)(pthread_mutex_t *), const char *name)
{
        void *found = dlsym(RTLD_NEXT, name);

        memcpy(ret_function, &found, sizeof(found));
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
        int r;

        if (!real_lock)
                find(&real_lock, "pthread_mutex_lock");
        {
                HYPROF_ZONE("lock");
                hyprof_lock_wait(&any_lock);
                r = real_lock(mutex);
                hyprof_lock_obtain(&any_lock);
        }
        return r;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
        int r;

        if (!real_unlock)
                find(&real_unlock, "pthread_mutex_unlock");
        hyprof_lock_release(&any_lock);
        r = real_unlock(mutex);
        return r;
}
