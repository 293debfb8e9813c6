/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/lock_calls.c - Tracy's functions for locks
 *
 * Programs call these functions around locks that they take themselves, also before each lock, so a lock
 * costs three events; the classes for C++ report a wait only where there is one.  A NULL pointer, which
 * stands for a lack of memory, is ignored.
 */
#include "instrument/compat/tracy/tracy_api.h"

#include <stdlib.h>

struct __tracy_lockable_context_data {
        struct hyprof_lock lock;
};

struct __tracy_shared_lockable_context_data {
        struct hyprof_lock lock;
};

/* Tracy shows the name of a lock, else the function, where a wrapper puts its type and variable. */
static void init(struct hyprof_lock *lock, const struct ___tracy_source_location_data *srcloc)
{
        const struct hyprof_location location = {
                .name = srcloc->name ? srcloc->name : srcloc->function,
                .function = srcloc->name ? srcloc->function : NULL,
                .file = srcloc->file,
                .line = srcloc->line,
                .color = srcloc->color,
        };

        hyprof_lock_init(lock, &location);
}

static void mark(struct hyprof_lock *lock, const struct ___tracy_source_location_data *srcloc)
{
        if (HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_))
                hyprof_emit_lock_mark(lock, source_location_find(srcloc));
}

struct __tracy_lockable_context_data *___tracy_announce_lockable_ctx(
        const struct ___tracy_source_location_data *srcloc)
{
        struct __tracy_lockable_context_data *lockdata = malloc(sizeof(*lockdata));

        if (lockdata)
                init(&lockdata->lock, srcloc);
        return lockdata;
}

void ___tracy_terminate_lockable_ctx(struct __tracy_lockable_context_data *lockdata)
{
        if (!lockdata)
                return;
        hyprof_lock_gone(&lockdata->lock);
        free(lockdata);
}

/* Returns whether the call after the lock is to be made. */
int32_t ___tracy_before_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_wait(&lockdata->lock);
        return lockdata != NULL;
}

void ___tracy_after_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_obtain(&lockdata->lock);
}

void ___tracy_after_unlock_lockable_ctx(struct __tracy_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_release(&lockdata->lock);
}

void ___tracy_after_try_lock_lockable_ctx(struct __tracy_lockable_context_data *lockdata, int32_t acquired)
{
        if (lockdata)
                hyprof_lock_try(&lockdata->lock, acquired);
}

void ___tracy_mark_lockable_ctx(struct __tracy_lockable_context_data *lockdata,
                                const struct ___tracy_source_location_data *srcloc)
{
        if (lockdata)
                mark(&lockdata->lock, srcloc);
}

void ___tracy_custom_name_lockable_ctx(struct __tracy_lockable_context_data *lockdata, const char *name,
                                       size_t name_bytes)
{
        if (lockdata)
                hyprof_lock_name(&lockdata->lock, name, name_bytes);
}

struct __tracy_shared_lockable_context_data *___tracy_announce_shared_lockable_ctx(
        const struct ___tracy_source_location_data *srcloc)
{
        struct __tracy_shared_lockable_context_data *lockdata = malloc(sizeof(*lockdata));

        if (lockdata)
                init(&lockdata->lock, srcloc);
        return lockdata;
}

void ___tracy_terminate_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (!lockdata)
                return;
        hyprof_lock_gone(&lockdata->lock);
        free(lockdata);
}

int32_t ___tracy_before_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_wait(&lockdata->lock);
        return lockdata != NULL;
}

void ___tracy_after_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_obtain(&lockdata->lock);
}

void ___tracy_after_unlock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_release(&lockdata->lock);
}

void ___tracy_after_try_lock_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                                 int32_t acquired)
{
        if (lockdata)
                hyprof_lock_try(&lockdata->lock, acquired);
}

int32_t ___tracy_before_lock_shared_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_wait_shared(&lockdata->lock);
        return lockdata != NULL;
}

void ___tracy_after_lock_shared_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_obtain_shared(&lockdata->lock);
}

void ___tracy_after_unlock_shared_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata)
{
        if (lockdata)
                hyprof_lock_release_shared(&lockdata->lock);
}

void ___tracy_after_try_lock_shared_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                                        int32_t acquired)
{
        if (lockdata)
                hyprof_lock_try_shared(&lockdata->lock, acquired);
}

void ___tracy_mark_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                       const struct ___tracy_source_location_data *srcloc)
{
        if (lockdata)
                mark(&lockdata->lock, srcloc);
}

void ___tracy_custom_name_shared_lockable_ctx(struct __tracy_shared_lockable_context_data *lockdata,
                                              const char *name, size_t name_bytes)
{
        if (lockdata)
                hyprof_lock_name(&lockdata->lock, name, name_bytes);
}
