/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/inject.h - what the bridges of libhyprof_inject.so share
 *
 * Way of the data:  program -> ITT, OMPT, NVTX -> [inject] -> libhyprof
 *
 * A program that marks its work for another tool loads this library if the environment names it, and calls
 * the functions that the library hands over.  Each bridge turns one interface into the client's calls.
 * `hyprof record` sets the environment; see docs/use/programs-as-they-are.md.
 *
 * Any thread.  Nothing blocks for long: a lock that was held at a fork is taken over.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_INJECT_H
#define INSTRUMENT_COMPAT_INJECT_INJECT_H

#include <hyprof/hyprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define INJECT_EXPORT      __attribute__((visibility("default")))
#define INJECT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define INJECT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The interfaces, as HYPROF_INJECT in the environment names them: "itt,ompt,nvtx"; not set = all. */
enum inject_part {
        INJECT_ITT = 1,
        INJECT_OMPT = 2,
        INJECT_NVTX = 4,
};

/* Whether a bridge is to be used.  Never in a program with raised privileges. */
bool inject_wants(enum inject_part part);

/* Says in the trace that an interface is in use; @address: something in the library that uses it. */
void inject_announce(const char *name, const void *address);

/* A warning in the trace. */
void inject_warn(const char *text);

/* The number of the recording; changes when another one begins. */
static inline uint32_t inject_session(void)
{
        return hyprof_is_wanted_(UINT32_MAX) >> 16;
}

/* Changes when the process is forked: memory of the parent's is in the child as well. */
uint32_t inject_fork_number(void);

/* A piece of text; not owned. */
struct inject_text {
        const char *at; /* may be NULL */
        size_t n_bytes;
};

struct inject_text inject_text_of(const char *text); /* NULL is fine */

#define INJECT_WIDE_BYTES 1024

/* Wide characters as UTF-8 in @room, cut to it; NULL is fine. */
struct inject_text inject_text_of_wide(const wchar_t *text, char room[INJECT_WIDE_BYTES]);

/* The location with this name, of a domain, whose name stands in the place of the function. */
static inline struct hyprof_location *inject_location(struct inject_text name, struct inject_text domain,
                                                      uint32_t color)
{
        /* Without a NULL it is found without a hash of it, if it was asked for lately. */
        return hyprof_location_of(name.at ? name.at : "", name.n_bytes, domain.at ? domain.at : "",
                                  domain.n_bytes, "", 0, 0, color);
}

/*
 * Memory, all zeros, that lives as long as the process, whatever a program does with its handle: it never
 * counts as a leak.  NULL for a lack of it.
 */
void *inject_allocate(size_t n_bytes);

/*
 * inject.c - memory that a library claims to have
 * A library that states another layout than it has must not end the program: reads and writes go through a
 * pipe, where the kernel checks the address.  Return false if the memory cannot be read or written.
 */
bool inject_read(void *to, const void *from, size_t n_bytes);
bool inject_write(void *to, const void *from, size_t n_bytes);

/*
 * inject.c - a lock that never waits for ever
 * A holder that a signal handler interrupted, or that a fork left behind, is noticed.
 */
struct inject_lock {
        uint64_t holder; /* atomic; 0 = free */
};

/* Returns false if this thread holds it already. */
bool inject_lock(struct inject_lock *lock);
void inject_unlock(struct inject_lock *lock);

#endif /* INSTRUMENT_COMPAT_INJECT_INJECT_H */
