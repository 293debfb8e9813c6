/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/itt_sync.c - objects that threads wait for, as locks
 *
 * Way of the data:  program -> itt_abi -> [itt_sync] -> libhyprof
 *
 * Only a mutex is held after the wait.  Any other object, as a barrier, is released at once:
 * the wait is ended by another thread, or by none.  A thread that acquires such
 * an object without a wait only reports which thread's work comes before its own, and is passed over.
 */
#include "instrument/compat/inject/itt_abi.h"
#include "instrument/compat/inject/word_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS     16 /* so that threads with different objects do not meet */
#define NAME_BYTES 256

struct sync_object {
        struct hyprof_lock lock;
        bool is_held; /* between acquired and releasing */
        char name[NAME_BYTES];
};

static struct word_map objects[SHARDS];

/* This thread waits for it. */
static _Thread_local const void *awaited __attribute__((tls_model("initial-exec")));

static struct word_map *shard_of(const void *address)
{
        return &objects[(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 60];
}

static struct word_key key_of(const void *address)
{
        return (struct word_key){ .a = (uintptr_t)address };
}

static struct sync_object *make(const char *type, const char *name, int attribute)
{
        struct sync_object *o = calloc(1, sizeof(*o));

        if (!o)
                return NULL;
        (void)snprintf(o->name, sizeof(o->name), "%s%s%s", type ? type : "",
                       type && *type && name && *name ? ": " : "", name ? name : "");
        o->is_held = attribute == ITT_SYNC_MUTEX;
        hyprof_lock_init(&o->lock,
                         &(struct hyprof_location)HYPROF_NAME(o->name[0] ? o->name : "sync object"));
        return o;
}

static struct sync_object *find(void *address)
{
        struct sync_object *o = word_map_find(shard_of(address), key_of(address)), *kept;

        if (o)
                return o;
        o = make(NULL, NULL, 0);
        kept = o ? word_map_keep(shard_of(address), key_of(address), o) : NULL;
        if (kept != o)
                free(o);
        return kept;
}

static void create(void *address, const char *type, const char *name, int attribute)
{
        struct sync_object *o = make(type, name, attribute);
        struct sync_object *before = word_map_take(shard_of(address), key_of(address));

        free(before);
        if (o && !word_map_put(shard_of(address), key_of(address), o))
                free(o);
}

static void rename_object(void *address, const char *name)
{
        struct sync_object *o = find(address);

        if (o && name)
                hyprof_lock_name(&o->lock, name, strlen(name));
}

static void destroy(void *address)
{
        struct sync_object *o = word_map_take(shard_of(address), key_of(address));

        if (!o)
                return;
        hyprof_lock_gone(&o->lock);
        free(o);
}

static bool is_wanted(void)
{
        return HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_) != 0;
}

static void prepare(void *address)
{
        struct sync_object *o = is_wanted() ? find(address) : NULL;

        awaited = address;
        if (o)
                hyprof_lock_wait(&o->lock);
}

/* The wait is over without success. */
static void cancel(void *address)
{
        struct sync_object *o = is_wanted() ? find(address) : NULL;

        if (o)
                hyprof_lock_release(&o->lock);
}

static void acquired(void *address)
{
        bool was_awaited = awaited == address;
        struct sync_object *o = is_wanted() ? word_map_find(shard_of(address), key_of(address)) : NULL;

        awaited = NULL;
        if (!o || (!o->is_held && !was_awaited))
                return;
        hyprof_lock_obtain(&o->lock);
        if (!o->is_held)
                hyprof_lock_release(&o->lock);
}

static void releasing(void *address)
{
        struct sync_object *o = is_wanted() ? word_map_find(shard_of(address), key_of(address)) : NULL;

        if (o && o->is_held)
                hyprof_lock_release(&o->lock);
}

#define ENTRY(name, function)                    \
        {                                        \
                name, (void (*)(void))(function) \
        }

/* clang-format off */
const struct itt_entry itt_sync_entries[] = {
        ENTRY("sync_create", create),
        ENTRY("sync_set_name", create),
        ENTRY("sync_rename", rename_object),
        ENTRY("sync_destroy", destroy),
        ENTRY("sync_prepare", prepare),
        ENTRY("sync_cancel", cancel),
        ENTRY("sync_acquired", acquired),
        ENTRY("sync_releasing", releasing),
        ENTRY("notify_sync_prepare", prepare),
        ENTRY("notify_sync_cancel", cancel),
        ENTRY("notify_sync_acquired", acquired),
        ENTRY("notify_sync_releasing", releasing),
        { NULL, NULL },
};
/* clang-format on */
