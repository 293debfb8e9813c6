/* SPDX-License-Identifier: MIT */
/*
 * IREE identifies a lock by a number, hyprof by a struct of its own: the numbers are places in a table
 * here.
 *
 * After a lock is gone, the next lock from the same source line takes its place and keeps the name that the
 * place has in recordings.  So a program that makes and destroys locks for days needs no more names than it
 * has locks at a time.
 */
#include <hyprof/compat/iree/iree_calls.h>

#define LOCKS_MAX   65536
#define N_FREE_BITS 6

/* The memory of unused places is never touched. */
static struct iree_lock {
        struct hyprof_lock lock;
        uint32_t next_free; /* a place, 0 = the last one */
} locks[LOCKS_MAX + 1];
static uint32_t n_locks;

/* Free places. */
static struct place_list {
        /* atomic; a place in the low half, in the high half a number that is new after each change */
        uint64_t head;
} free_places[1 << N_FREE_BITS];

static struct place_list *free_list_of(const char *file, uint32_t line)
{
        return &free_places[((uintptr_t)file + line) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - N_FREE_BITS)];
}

static void push_place(struct place_list *list, uint32_t place)
{
        uint64_t head = __atomic_load_n(&list->head, __ATOMIC_RELAXED);
        uint64_t wanted;

        do {
                __atomic_store_n(&locks[place].next_free, (uint32_t)head, __ATOMIC_RELAXED);
                wanted = ((head >> 32) + 1) << 32 | place;
                /* Release: publishes what the last owner wrote; pairs with the acquire in pop_place(). */
        } while (!__atomic_compare_exchange_n(&list->head, &head, wanted, true, __ATOMIC_RELEASE,
                                              __ATOMIC_RELAXED));
}

/* Returns a place, or 0 when the list is empty. */
static uint32_t pop_place(struct place_list *list)
{
        uint64_t head = __atomic_load_n(&list->head, __ATOMIC_ACQUIRE);
        uint64_t wanted;

        do {
                if ((uint32_t)head == 0)
                        return 0;
                wanted = ((head >> 32) + 1) << 32 |
                         __atomic_load_n(&locks[(uint32_t)head].next_free, __ATOMIC_RELAXED);
        } while (!__atomic_compare_exchange_n(&list->head, &head, wanted, true, __ATOMIC_ACQUIRE,
                                              __ATOMIC_ACQUIRE));
        return (uint32_t)head;
}

/* Returns a place that was never used, or 0. */
static uint32_t take_new_place(void)
{
        static const char text[] = "more than 65536 locks at a time: the others are not recorded";
        uint32_t n = __atomic_load_n(&n_locks, __ATOMIC_RELAXED);

        do {
                if (n == LOCKS_MAX) {
                        hyprof_message(text, sizeof(text) - 1, HYPROF_SEVERITY_WARNING, 0);
                        return 0;
                }
        } while (!__atomic_compare_exchange_n(&n_locks, &n, n + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        return n + 1;
}

/* Returns NULL for a number that iree_tracing_mutex_announce() cannot have returned. */
static struct hyprof_lock *lock_of(uint32_t id)
{
        return id >= 1 && id <= LOCKS_MAX ? &locks[id].lock : NULL;
}

static int is_at(const struct hyprof_location *a, const iree_tracing_location_t *b)
{
        return a->name == b->name && a->function == b->function && a->file == b->file && a->line == b->line;
}

void iree_tracing_mutex_announce(const iree_tracing_location_t *location, uint32_t *ret_id)
{
        const struct hyprof_location site = {
                .name = location->name,
                .function = location->function,
                .file = location->file,
                .line = location->line,
                .color = location->color,
        };
        uint32_t place = pop_place(free_list_of(location->file, location->line));

        if (place == 0)
                place = take_new_place();
        if (place != 0 && !is_at(&locks[place].lock.location, location))
                hyprof_lock_init(&locks[place].lock, &site);
        *ret_id = place;
}

void iree_tracing_mutex_terminate(uint32_t id)
{
        struct hyprof_lock *lock = lock_of(id);

        if (!lock)
                return;
        hyprof_lock_gone(lock);
        push_place(free_list_of(lock->location.file, lock->location.line), id);
}

void iree_tracing_mutex_before_lock(uint32_t id)
{
        struct hyprof_lock *lock = lock_of(id);

        if (lock)
                hyprof_lock_wait(lock);
}

void iree_tracing_mutex_after_lock(uint32_t id)
{
        struct hyprof_lock *lock = lock_of(id);

        if (lock)
                hyprof_lock_obtain(lock);
}

void iree_tracing_mutex_after_try_lock(uint32_t id, bool was_acquired)
{
        if (was_acquired)
                iree_tracing_mutex_after_lock(id);
}

void iree_tracing_mutex_after_unlock(uint32_t id)
{
        struct hyprof_lock *lock = lock_of(id);

        if (lock)
                hyprof_lock_release(lock);
}
