/* SPDX-License-Identifier: MIT */
#include "instrument/compat/inject/range_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#define RANGES_MAX     4096 /* as many as zones may be open on a thread */
#define UNRECORDED_TAG 1    /* no address, and no tag of a bridge */

_Thread_local struct range_stack range_stack_self;

static pthread_key_t ending_key;
static bool has_key;

__attribute__((constructor)) static void make_key(void);

/* The destructor of ending_key: a range that begins later in the ending thread gets new memory. */
static void end_thread(void *entries)
{
        range_stack_self = (struct range_stack){ .n = 0 };
        (void)munmap(entries, RANGES_MAX * sizeof(struct range_entry));
}

static void make_key(void)
{
        has_key = pthread_key_create(&ending_key, end_thread) == 0;
}

static bool make_entries(struct range_stack *s)
{
        void *memory = mmap(NULL, RANGES_MAX * sizeof(struct range_entry), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
                return false;
        s->entries = memory;
        s->capacity = RANGES_MAX;
        if (has_key)
                (void)pthread_setspecific(ending_key, memory);
        return true;
}

/* The place of the innermost range of @tag, + 1; 0 = there is none. */
static uint32_t find(const struct range_stack *s, uintptr_t tag)
{
        uint32_t n = s->n;

        while (n > 0 && s->entries[n - 1].tag != tag)
                n--;
        return n;
}

/* Where there is no room, the range counts as one that is not recorded. */
static int32_t leave_out(struct range_stack *s, hyprof_zone zone)
{
        hyprof_zone_end(zone); /* its own end would not find it */
        s->n_unrecorded += s->n > 0;
        return RANGE_STACK_UNRECORDED;
}

/* An entry in place of those that are not recorded, so that others can begin inside of them. */
static void settle_unrecorded(struct range_stack *s)
{
        struct range_entry entry = { .tag = UNRECORDED_TAG, .level = (int32_t)s->n_unrecorded };

        if (entry.level == 0)
                return;
        s->n++;
        s->n_unrecorded = 0;
        s->entries[s->n - 1] = entry;
}

int32_t range_stack_push_slowly(uintptr_t tag, hyprof_zone zone)
{
        struct range_stack *s = &range_stack_self;
        struct range_entry entry = { .tag = tag, .zone = zone };
        uint32_t around;

        if (!s->entries && !make_entries(s))
                return leave_out(s, zone);
        if (s->n + 2 > s->capacity)
                return leave_out(s, zone);
        settle_unrecorded(s);
        around = find(s, tag);
        entry.level = around > 0 ? s->entries[around - 1].level + 1 : 0;
        s->n++;
        s->entries[s->n - 1] = entry;
        return entry.level;
}

/* Takes away what has ended; ranges that are not recorded are counted again once they are innermost. */
static void trim(struct range_stack *s)
{
        while (s->n > 0 && s->entries[s->n - 1].tag == 0)
                s->n--;
        if (s->n > 0 && s->entries[s->n - 1].tag == UNRECORDED_TAG) {
                s->n_unrecorded = (uint32_t)s->entries[s->n - 1].level;
                s->n--;
        }
}

int32_t range_stack_end_slowly(uintptr_t tag)
{
        struct range_stack *s = &range_stack_self;
        struct range_entry found;
        uint32_t n;

        trim(s);
        if (s->n_unrecorded > 0) {
                s->n_unrecorded--;
                return RANGE_STACK_UNRECORDED;
        }
        n = find(s, tag);
        if (n == 0)
                return -1;
        found = s->entries[n - 1];
        s->entries[n - 1].tag = 0;
        trim(s);
        hyprof_zone_end(found.zone);
        return found.level;
}

hyprof_zone range_stack_top(uintptr_t tag)
{
        const struct range_stack *s = &range_stack_self;
        uint32_t n = s->n_unrecorded > 0 ? 0 : find(s, tag);

        return n > 0 ? s->entries[n - 1].zone : 0;
}
