/* SPDX-License-Identifier: MIT */
#include "strand.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define ENTRIES_FIRST 64

__thread struct strand_thread *strand_thread_self;

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static bool has_end_key;

static struct strand *strands;

static void link_strand(struct strand *s)
{
        s->next = strands;
        s->link = &strands;
        if (strands)
                strands->link = &s->next;
        strands = s;
}

static void unlink_strand(struct strand *s)
{
        *s->link = s->next;
        if (s->next)
                s->next->link = s->link;
}

/* The thread whose own strand @s is, or NULL. */
static struct strand_thread *own_thread_of(struct strand *s)
{
        return s->fiber ? NULL
                        : (struct strand_thread *)(void *)((char *)s - offsetof(struct strand_thread, own));
}

static bool is_of_ended_thread(struct strand *s)
{
        struct strand_thread *t = own_thread_of(s);

        /* pairs with the release in mark_ended() */
        return t && atomic_load_explicit(&t->has_ended, memory_order_acquire);
}

/*
 * When a thread ends, the interpreter may be gone already, and other threads read the list: so neither is
 * used here.
 */
static void mark_ended(void *p)
{
        struct strand_thread *t = p;

        strand_thread_self = NULL;
        /* pairs with the acquire in is_of_ended_thread() */
        atomic_store_explicit(&t->has_ended, true, memory_order_release);
}

static void free_ended_threads(void)
{
        struct strand **at = &strands;

        while (*at) {
                struct strand *s = *at;

                if (!is_of_ended_thread(s)) {
                        at = &s->next;
                        continue;
                }
                *at = s->next;
                if (s->next)
                        s->next->link = at;
                free(s->entries);
                free(own_thread_of(s));
        }
}

/* In a child of fork(), only the running thread is left to end anything. */
static void forget_other_threads(void)
{
        for (struct strand *s = strands; s; s = s->next) {
                if (own_thread_of(s) && own_thread_of(s) != strand_thread_self)
                        unlink_strand(s);
        }
}

static void make_end_key(void)
{
        has_end_key = pthread_key_create(&end_key, mark_ended) == 0 &&
                      pthread_atfork(NULL, NULL, forget_other_threads) == 0;
}

struct strand_thread *strand_thread_make(void)
{
        struct strand_thread *t;

        (void)pthread_once(&end_once, make_end_key);
        free_ended_threads();
        t = has_end_key ? calloc(1, sizeof(*t)) : NULL;
        if (!t)
                return NULL;
        if (pthread_setspecific(end_key, t) != 0) {
                free(t);
                return NULL;
        }
        t->current = &t->own;
        link_strand(&t->own);
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
        link_strand(s);
        return s;
}

void strand_free(struct strand *s)
{
        unlink_strand(s);
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
                /*
                 * A zone that began without a recorder has no handle with which to end the zones inside it.
                 */
                for (; s->n_entries >= i; s->n_entries--)
                        hyprof_zone_end(s->entries[s->n_entries - 1].zone);
                return true;
        }
        return false;
}

/*
 * Finds the innermost running call with this key, or if there is none, the innermost suspended one.  Returns
 * the number of entries up to and including it; 0 = there is no such call.
 */
static uint32_t find_call_of(const struct strand *s, const void *key)
{
        uint32_t n_waiting = 0;

        for (uint32_t n = s->n_entries; n > 0; n--) {
                if (s->entries[n - 1].key != key)
                        continue;
                if (!s->entries[n - 1].is_suspended)
                        return n;
                n_waiting = n_waiting ? n_waiting : n;
        }
        return n_waiting;
}

/* Coroutines outside a task may belong to several tasks of an event loop other than asyncio's. */
static bool goes_on_later(const struct strand *s, int co_flags)
{
        return co_flags & CO_GENERATOR || (co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR) && s->is_task);
}

bool strand_leave(struct strand *s, const void *key, int co_flags)
{
        uint32_t n = goes_on_later(s, co_flags) ? find_call_of(s, key) : 0;

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
 * If several calls have the same key, coroutines that wait for each other go on in the order in which they
 * began, and generators of context managers in the opposite order.
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
        for (; s->n_entries > 0 && s->entries[s->n_entries - 1].is_call; s->n_entries--)
                hyprof_zone_end(s->entries[s->n_entries - 1].zone);
}

bool strand_has_call(const struct strand *s)
{
        for (uint32_t i = 0; i < s->n_entries; i++) {
                if (s->entries[i].is_call)
                        return true;
        }
        return false;
}

static bool has_call_with(const struct strand *s, const void *key)
{
        for (uint32_t i = 0; i < s->n_entries; i++) {
                if (s->entries[i].key == key)
                        return true;
        }
        return false;
}

bool strand_is_call_open(const void *key)
{
        for (struct strand *s = strands; s; s = s->next) {
                if (!is_of_ended_thread(s) && (key ? has_call_with(s, key) : strand_has_call(s)))
                        return true;
        }
        return false;
}

bool strand_is_fiber_call_open(void)
{
        for (struct strand *s = strands; s; s = s->next) {
                if (s->fiber && strand_has_call(s))
                        return true;
        }
        return false;
}
