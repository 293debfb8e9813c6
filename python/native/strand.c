/* SPDX-License-Identifier: MIT */
#include "strand.h"

#include "fiber_name.h"

#include <pthread.h>
#include <stdlib.h>

#define ENTRIES_FIRST 64

__thread struct strand_thread *strand_thread_self;

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static bool has_end_key;

/* The interpreter may have gone by then: nothing of it is used. */
static void free_thread(void *p)
{
        struct strand_thread *t = p;

        strand_thread_self = NULL;
        free(t->own.entries);
        free(t);
}

static void make_end_key(void)
{
        has_end_key = pthread_key_create(&end_key, free_thread) == 0;
}

struct strand_thread *strand_thread_make(void)
{
        struct strand_thread *t;

        (void)pthread_once(&end_once, make_end_key);
        t = has_end_key ? calloc(1, sizeof(*t)) : NULL;
        if (!t)
                return NULL;
        if (pthread_setspecific(end_key, t) != 0) {
                free(t);
                return NULL;
        }
        t->current = &t->own;
        strand_thread_self = t;
        return t;
}

struct strand *strand_new(const char *base)
{
        struct strand *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        s->fiber = fiber_name_take(base);
        if (!s->fiber) {
                free(s);
                return NULL;
        }
        return s;
}

void strand_free(struct strand *s)
{
        fiber_name_give_back(s->fiber, s->n_entries == 0);
        free(s->entries);
        free(s);
}

void strand_switch(struct strand_thread *t, struct strand *s)
{
        if (t->current == s)
                return;
        t->current = s;
        if (s->fiber)
                hyprof_fiber_enter(fiber_name_text(s->fiber));
        else
                hyprof_fiber_leave();
}

bool strand_grow(struct strand *s)
{
        uint32_t n = s->n_allocated ? 2 * s->n_allocated : ENTRIES_FIRST;
        struct strand_entry *entries;

        if (s->n_allocated == STRAND_ENTRIES_MAX)
                return false;
        n = n < STRAND_ENTRIES_MAX ? n : STRAND_ENTRIES_MAX;
        entries = realloc(s->entries, n * sizeof(*entries));
        if (!entries)
                return false;
        s->entries = entries;
        s->n_allocated = n;
        return true;
}

bool strand_end_outer(struct strand *s, const void *key)
{
        for (uint32_t i = s->n_entries; i > 0; i--) {
                if (s->entries[i - 1].key != key)
                        continue;
                /* One that began without a recorder has no handle to end those inside by. */
                for (; s->n_entries >= i; s->n_entries--)
                        hyprof_zone_end(s->entries[s->n_entries - 1].zone);
                return true;
        }
        return false;
}

/* The innermost call with this key that runs; the number of entries up to it, 0 = there is none. */
static uint32_t find_running(const struct strand *s, const void *key)
{
        uint32_t n = s->n_entries;

        while (n > 0 && (s->entries[n - 1].key != key || s->entries[n - 1].is_suspended))
                n--;
        return n;
}

/* Coroutines outside of a task may be those of several tasks of a loop that is not asyncio's. */
static bool goes_on_later(const struct strand *s, int co_flags)
{
        return co_flags & CO_GENERATOR || (co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR) && s->is_task);
}

bool strand_leave(struct strand *s, const void *key, int co_flags)
{
        uint32_t n = goes_on_later(s, co_flags) ? find_running(s, key) : 0;

        for (uint32_t i = n; n > 0 && i < s->n_entries; i++) {
                if (s->entries[i].is_call)
                        continue;
                s->entries[n - 1].is_suspended = true;
                s->may_be_suspended = true;
                return true;
        }
        return strand_end(s, key);
}

/*
 * Several with one key: coroutines that wait for each other go on in the order in which they began, the
 * generators of context managers in the opposite one.
 */
bool strand_find_suspended(struct strand *s, const void *key, int co_flags)
{
        struct strand_entry *found = NULL;
        bool is_any = false;

        if (!(co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)))
                return false;
        for (uint32_t i = 0; i < s->n_entries; i++) {
                is_any = is_any || s->entries[i].is_suspended;
                if (!s->entries[i].is_suspended || s->entries[i].key != key)
                        continue;
                found = &s->entries[i];
                if (co_flags & CO_COROUTINE)
                        break;
        }
        if (found)
                found->is_suspended = false;
        s->may_be_suspended = is_any;
        return found != NULL;
}

void strand_end_calls(struct strand *s)
{
        uint32_t n_kept = 0;

        while (n_kept < s->n_entries && !s->entries[n_kept].is_call)
                n_kept++;
        for (; s->n_entries > n_kept; s->n_entries--)
                hyprof_zone_end(s->entries[s->n_entries - 1].zone);
}
