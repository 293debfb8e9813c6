/* SPDX-License-Identifier: MIT */
/*
 * python/native/strand.h - what zones nest in: a thread, a task of asyncio, a greenlet
 *
 * Way of the data:  zone_object, call hooks -> [strand] -> libhyprof
 *
 * A strand has the list of its open zones: calls, lines and explicit zones, each with a key that tells its
 * end from others.  An end of one ends those inside of it.  Where a task waits inside a zone of the program,
 * the calls around that zone stay open with it, and go on when their coroutines do.
 *
 * A strand that is not a thread is a fiber of libhyprof, under a name that is used again once the strand has
 * gone, so that a server with a task for each request has as many names as tasks at once.
 *
 * All belongs to the thread that runs the strand, and is guarded by the GIL.  Nothing here runs code of the
 * program.
 */
#ifndef PYTHON_NATIVE_STRAND_H
#define PYTHON_NATIVE_STRAND_H

#include "python_api.h"

#include <hyprof/hyprof.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fiber_name;

/* More than any stack has.  libhyprof counts what is deeper than it nests (4095) as lost. */
#define STRAND_ENTRIES_MAX (UINT32_C(1) << 30)

struct strand_entry {
        const void *key; /* a frame, a code object, a zone object; only compared */
        hyprof_zone zone;
        bool is_call;
        bool is_suspended; /* a call that goes on later, with a zone of the program inside */
};

struct strand {
        struct strand *next;          /* in the list of all */
        struct strand **link;         /* what points to it there */
        struct strand_entry *entries; /* owned */
        uint32_t n_entries;
        uint32_t n_allocated;
        struct fiber_name *fiber; /* NULL = a thread's own strand */
        bool is_task;             /* of asyncio */
        bool may_be_suspended;    /* some entry; false = none */
};

/* All that this folder knows about a thread. */
struct strand_thread {
        struct strand own;
        struct strand *current; /* &own, or that of the task or greenlet that runs */
        PyObject *task;         /* borrowed: the task of asyncio whose step runs, if it has no strand yet */
        uint32_t start_number;  /* task_steps_catch_up() */
        bool is_in_step;        /* its loop has told which task runs */
        bool watches_greenlets;
        atomic_bool has_ended; /* set without the GIL; freed when another thread begins */
};

extern __thread struct strand_thread *strand_thread_self __attribute__((tls_model("initial-exec")));

/*
 * Makes the calling thread's struct, at its first use.  Returns NULL without memory: nothing of the thread is
 * recorded.
 */
struct strand_thread *strand_thread_make(void);

static inline struct strand_thread *strand_thread_here(void)
{
        return __builtin_expect(strand_thread_self != NULL, 1) ? strand_thread_self : strand_thread_make();
}

/*
 * A strand that becomes the fiber @base, with a number if another one of that name is there.  NULL without
 * memory.
 */
struct strand *strand_new(const char *base);
void strand_free(struct strand *s); /* its open zones never end; no thread may be on it */

/* The thread goes on as @s; &t->own = as itself. */
void strand_switch(struct strand_thread *t, struct strand *s);

/* Makes room for one more entry.  Returns false if there is no memory for it. */
bool strand_grow(struct strand *s);

/* The slow half of strand_end(). */
bool strand_end_outer(struct strand *s, const void *key);

/* Ends the innermost calls; those with a zone of the program inside stay open until they return. */
void strand_end_calls(struct strand *s);

bool strand_has_call(const struct strand *s); /* that is open */

/* True if a call with this key is open on some strand; NULL = a call with any key. */
bool strand_is_call_open(const void *key);

/* True if a call is open on a strand that is not a thread. */
bool strand_is_fiber_call_open(void);

/* Begins a zone of @location; NULL = it is not recorded, but its end is expected.  Returns its handle. */
static inline hyprof_zone strand_begin(struct strand *s, const void *key, struct hyprof_location *location,
                                       bool is_call)
{
        struct strand_entry *e;

        if (__builtin_expect(s->n_entries == s->n_allocated, 0) && !strand_grow(s))
                return 0;
        e = &s->entries[s->n_entries++];
        e->key = key;
        e->is_call = is_call;
        e->is_suspended = false;
        e->zone = hyprof_zone_begin(location);
        return e->zone;
}

/* Ends the innermost zone with this key, and those inside of it.  Returns false if there is none. */
static inline bool strand_end(struct strand *s, const void *key)
{
        if (__builtin_expect(s->n_entries != 0 && s->entries[s->n_entries - 1].key == key, 1)) {
                hyprof_zone_end(s->entries[--s->n_entries].zone);
                return true;
        }
        return strand_end_outer(s, key);
}

/*
 * strand_leave() - a call returns, or its coroutine waits, or its generator yields: the interpreter does not
 * always say which
 * @co_flags:  of its code
 * Ends the call as strand_end() does, unless it goes on later: a generator, or a coroutine or asynchronous
 * generator of a task, stays open as long as a zone of the program is open inside of it.  This includes one
 * that waits already, if nothing reported that it went on.  Returns false if there is no such call.
 */
bool strand_leave(struct strand *s, const void *key, int co_flags);

/* The slow half of strand_resume(). */
bool strand_find_suspended(struct strand *s, const void *key, int co_flags);

/*
 * For when a call begins, or a coroutine or generator goes on.  Returns false if its call is not open: then
 * it begins.
 */
static inline bool strand_resume(struct strand *s, const void *key, int co_flags)
{
        return __builtin_expect(s->may_be_suspended, 0) && strand_find_suspended(s, key, co_flags);
}

/*
 * fiber_name.c - names of fibers, used again
 *
 * Way of the data:  strand -> [fiber_name] -> libhyprof
 *
 * libhyprof keeps each name of a fiber as long as the process lives.  So a name that is free again is
 * handed to the next fiber that asks for the same; those that run at the same time get numbers: "request",
 * "request #2". At most 65536 names: more fibers at once are not recorded as such.
 */

/* A name that begins with @base (copied, cut to 100 bytes); NULL: no memory, or too many. */
struct fiber_name *fiber_name_take(const char *base);

/* @is_clean: no zone is open on it; else the name is not used again. */
void fiber_name_give_back(struct fiber_name *name, bool is_clean);

/* Stays as long as the process. */
const char *fiber_name_text(const struct fiber_name *name);

#endif /* PYTHON_NATIVE_STRAND_H */
