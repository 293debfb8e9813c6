/* SPDX-License-Identifier: MIT */
#include "instrument/compat/inject/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEY_BYTES  256
#define YIELDS_MAX 100 /* of one wait for a lock */

static uint64_t n_forks = 1; /* of this process's line of ancestors */

static void note_fork(void)
{
        n_forks++;
}

__attribute__((constructor)) static void watch_forks(void)
{
        (void)pthread_atfork(NULL, NULL, note_fork);
}

uint32_t inject_fork_number(void)
{
        return (uint32_t)n_forks;
}

static bool is_named(const char *list, const char *name)
{
        size_t n_bytes = strlen(name);

        for (const char *at = list; at; at = strchr(at, ',')) {
                at += *at == ',';
                if (strncmp(at, name, n_bytes) == 0 && (at[n_bytes] == ',' || at[n_bytes] == '\0'))
                        return true;
        }
        return false;
}

bool inject_wants(enum inject_part part)
{
        const char *list;

        if (getauxval(AT_SECURE) != 0)
                return false;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): programs ask for their own variables just as well */
        list = getenv("HYPROF_INJECT");
        if (!list)
                return true;
        return is_named(list, part == INJECT_ITT ? "itt" : part == INJECT_OMPT ? "ompt" : "nvtx");
}

/* `hyprof record` looks for these words: see cli/record/injection.c. */
void inject_announce(const char *name, const void *address)
{
        char key[KEY_BYTES];
        const char *slash;
        Dl_info info;

        if (dladdr(address, &info) == 0 || !info.dli_fname)
                info.dli_fname = "a program";
        slash = strrchr(info.dli_fname, '/');
        (void)snprintf(key, sizeof(key), "injected into %s", slash ? slash + 1 : info.dli_fname);
        hyprof_program_value(key, name);
}

void inject_warn(const char *text)
{
        hyprof_message(text, strlen(text), HYPROF_SEVERITY_WARNING, 0);
}

struct inject_text inject_text_of(const char *text)
{
        return (struct inject_text){ .at = text, .n_bytes = text ? strlen(text) : 0 };
}

/* Writes a character as UTF-8, at most 4 bytes.  Returns their number. */
static size_t put_character(char *to, uint32_t c)
{
        if (c < 0x80) {
                to[0] = (char)c;
                return 1;
        }
        if (c < 0x800) {
                to[0] = (char)(0xc0 | c >> 6);
                to[1] = (char)(0x80 | (c & 0x3f));
                return 2;
        }
        if (c < 0x10000) {
                to[0] = (char)(0xe0 | c >> 12);
                to[1] = (char)(0x80 | (c >> 6 & 0x3f));
                to[2] = (char)(0x80 | (c & 0x3f));
                return 3;
        }
        to[0] = (char)(0xf0 | (c >> 18 & 7));
        to[1] = (char)(0x80 | (c >> 12 & 0x3f));
        to[2] = (char)(0x80 | (c >> 6 & 0x3f));
        to[3] = (char)(0x80 | (c & 0x3f));
        return 4;
}

struct inject_text inject_text_of_wide(const wchar_t *text, char room[INJECT_WIDE_BYTES])
{
        size_t n = 0;

        if (!text)
                return (struct inject_text){ .at = NULL };
        for (; *text && n + 4 <= INJECT_WIDE_BYTES; text++)
                n += put_character(room + n, (uint32_t)*text);
        return (struct inject_text){ .at = room, .n_bytes = n };
}

/* The memory after it is aligned as that of malloc() is. */
struct kept {
        struct kept *next;
} __attribute__((aligned(16)));

static struct kept *all_kept; /* atomic */

void *inject_allocate(size_t n_bytes)
{
        struct kept *kept = calloc(1, sizeof(*kept) + n_bytes);

        if (!kept)
                return NULL;
        kept->next = __atomic_load_n(&all_kept, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&all_kept, &kept->next, kept, true, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED))
                ;
        return kept + 1;
}

/* ---- memory that may not be there ---------------------------------------------------------------------- */

static bool copy(void *to, const void *from, size_t n_bytes)
{
        int fds[2], before = errno;
        bool done;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return false;
        /* Not by the functions of libc, in whose place a sanitizer looks at the memory itself. */
        done = syscall(SYS_write, fds[1], from, n_bytes) == (long)n_bytes &&
               syscall(SYS_read, fds[0], to, n_bytes) == (long)n_bytes;
        (void)close(fds[0]);
        (void)close(fds[1]);
        errno = before;
        return done;
}

bool inject_read(void *to, const void *from, size_t n_bytes)
{
        return copy(to, from, n_bytes);
}

bool inject_write(void *to, const void *from, size_t n_bytes)
{
        return copy(to, from, n_bytes);
}

/* ---- the lock ------------------------------------------------------------------------------------------ */

/* Different in each thread, and after each fork; the address of a thread's own variable has 48 bits. */
static uint64_t own_mark(void)
{
        static _Thread_local char place __attribute__((tls_model("initial-exec")));

        return (uintptr_t)&place ^ n_forks << 48;
}

/* A thread of a higher real-time priority than the holder's gets the CPU again and again by a mere yield. */
static void wait_a_moment(unsigned n_before)
{
        const struct timespec moment = { .tv_nsec = 20000 };

        if (n_before < YIELDS_MAX)
                (void)sched_yield();
        else
                (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
}

bool inject_lock(struct inject_lock *lock)
{
        uint64_t own = own_mark();

        for (unsigned n_waits = 0;; n_waits++) {
                uint64_t holder = 0;

                if (__atomic_compare_exchange_n(&lock->holder, &holder, own, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
                        return true;
                if (holder == own)
                        return false;
                /* Its holder is in the process from which this one was forked. */
                if (holder >> 48 != own >> 48 &&
                    __atomic_compare_exchange_n(&lock->holder, &holder, own, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
                        return true;
                wait_a_moment(n_waits);
        }
}

void inject_unlock(struct inject_lock *lock)
{
        __atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
}
