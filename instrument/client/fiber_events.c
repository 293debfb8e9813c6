/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/fiber_events.c - a thread goes on as a fiber, and back
 *
 * The zones' fast paths know only the handle of the innermost zone.  Entering a fiber puts the handle of
 * the fiber's innermost zone there and keeps the previous handle: the thread's handle in the thread, a
 * fiber's handle in its entry of the name table, where the next thread that enters the fiber finds it.
 */
#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/location_table.h"
#include "instrument/client/name_table.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Stands for any fiber whose name found no room.  It has no number and is never announced, so each thread
 * that enters it is astray: several threads may be in it at once, and none of them may end the zones of
 * another.
 */
static struct name_entry nameless;

/*
 * Saves the open zones.  In a correct program no other thread enters a fiber before its thread has left it.
 */
static void keep_zones(struct thread_ring *t)
{
        if (t->fiber)
                __atomic_store_n(&t->fiber->zone_top, t->zone_top, __ATOMIC_RELAXED);
        else
                t->own_zone_top = t->zone_top;
}

/* The open zones of a fiber; none if it was last entered in another session. */
static uint32_t zones_of(const struct name_entry *fiber, uint32_t session)
{
        uint32_t id = __atomic_load_n(&fiber->location.id, __ATOMIC_ACQUIRE);
        uint32_t none = zone_handle_of_track(session,
                                             ~id); /* fibers count from the end, threads from the front */
        uint32_t top = __atomic_load_n(&fiber->zone_top, __ATOMIC_RELAXED);

        return ((top ^ none) & ~ZONE_HANDLE_DEPTH_MAX) != 0 ? none : top;
}

/* Writes a FIBER_LEAVE; room for it has been kept since the thread entered the fiber. */
static void put_leave(struct thread_ring *t)
{
        thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_FIBER_LEAVE, 0);
        thread_ring_publish(t);
}

/* The room that is kept free as long as a thread is on a fiber whose innermost zone is @top. */
static uint64_t bytes_for(uint32_t top)
{
        return (zone_handle_depth(top) + 1) * THREAD_RING_EVENT_BYTES;
}

/* Returns true if there is room, as far as the thread knows, and then keeps the fiber's share of it free. */
static bool keep_room(struct thread_ring *t, uint64_t n_bytes)
{
        uint64_t kept_bytes = bytes_for(t->zone_top);

        if (t->limit_bytes < kept_bytes || t->head_bytes + n_bytes > t->limit_bytes - kept_bytes)
                return false;
        t->limit_bytes -= kept_bytes;
        return true;
}

bool thread_ring_tell_fiber(struct thread_ring *t)
{
        uint32_t id = __atomic_load_n(&t->fiber->location.id, __ATOMIC_ACQUIRE);

        t->is_astray = false; /* there must be room for the fiber's zones as well */
        if (id != 0 && (keep_room(t, THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES) ||
                        thread_ring_find_room(t, THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES))) {
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_FIBER_ENTER,
                                      id);
                thread_ring_put_word(t, zone_handle_depth(t->zone_top));
                thread_ring_publish(t);
                return true;
        }
        t->is_astray = true;
        t->limit_bytes = 0; /* unknown */
        return false;
}

static void enter(struct thread_ring *t, struct name_entry *fiber)
{
        bool was_told = t->fiber && !t->is_astray;

        if (was_told)
                t->limit_bytes += bytes_for(t->zone_top);
        keep_zones(t);
        t->fiber = fiber;
        t->zone_top = zones_of(fiber, t->session);
        if (thread_ring_tell_fiber(t))
                return;
        if (was_told)
                put_leave(t); /* so that later events are not taken for that fiber's */
        thread_ring_count_loss(t, THREAD_RING_LOSS_OTHER);
}

/*
 * Returns the fiber that the thread entered last, if @name means it again; a program may have put another
 * name at the same address.
 */
static struct name_entry *find_again(const struct thread_ring *t, const char *name)
{
        const struct name_entry *last = t->last_fiber;
        const char *strings = (const char *)client_self.region.strings;
        size_t n_bytes;

        if (!last || t->last_fiber_name != name || last->lengths == NAME_TABLE_NO_STRINGS)
                return NULL;
        n_bytes = (size_t)last->lengths; /* it has a name alone */
        if (strncmp(name, strings + last->strings_at, n_bytes) != 0 || name[n_bytes] != '\0')
                return NULL;
        return t->last_fiber;
}

static struct name_entry *find_fiber(struct thread_ring *t, const char *name)
{
        struct name_key key = { .name = name, .identity = name };
        struct name_entry *fiber = find_again(t, name);

        if (fiber)
                return fiber;
        key.name_bytes = strlen(name);
        fiber = name_table_add(&key);
        if (fiber && name_table_is_too_many(fiber))
                return &nameless;
        t->last_fiber = fiber;
        t->last_fiber_name = name;
        return fiber;
}

/*
 * Both handles have the session in their highest bits; an entry's zones that belong to another session are
 * ended.
 */
THREAD_RING_INLINE bool is_of_one_session(uint32_t handle, uint32_t other)
{
        return (handle ^ other) >> ZONE_HANDLE_SESSION_SHIFT == 0;
}

/*
 * The usual case: a thread that is in step and on no fiber enters the fiber that it entered last, and has
 * room.
 * Returns false in any other case.
 */
THREAD_RING_INLINE bool enter_at_once(uint32_t word, const char *name)
{
        const uint64_t n_bytes = UINT64_C(2) * CLIENT_ABI_WORD_BYTES;
        struct thread_ring *t = &thread_ring_self;
        struct thread_ring_word *to = NULL;
        struct name_entry *fiber;
        uint64_t kept_bytes, ticks;
        uint32_t top;
        bool is_done = false;

        if (CLIENT_UNLIKELY(!ticks_are_counted(client_self.clock_kind) ||
                            !thread_ring_enter_at_once(t, word)))
                return false;
        fiber = t->fiber ? NULL : find_again(t, name);
        if (CLIENT_LIKELY(fiber)) {
                top = __atomic_load_n(&fiber->zone_top, __ATOMIC_RELAXED);
                kept_bytes = bytes_for(top);
                if (is_of_one_session(top, t->zone_top))
                        to = thread_ring_room_at_once(t, n_bytes + kept_bytes);
        }
        if (CLIENT_LIKELY(to)) {
                to[1].bits = zone_handle_depth(top);
                ticks = ticks_counter();
                is_done = thread_ring_is_near(t, ticks);
                if (CLIENT_LIKELY(is_done)) {
                        t->last_ticks = ticks;
                        t->limit_bytes -= kept_bytes;
                        t->fiber = fiber;
                        t->own_zone_top = t->zone_top;
                        t->zone_top = top;
                        to[0].bits = thread_ring_pack(ticks, fiber->location.id,
                                                      CLIENT_ABI_EVENT_FIBER_ENTER);
                        thread_ring_advance(t, n_bytes);
                }
        }
        thread_ring_leave(t, word);
        return is_done;
}

static __attribute__((noinline, cold)) void enter_slowly(const char *name)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        struct name_entry *fiber;

        (void)client_begin();
        if (client_self.other) {
                client_self.other->fiber_enter(name);
                return;
        }
        if (!name ||
            (!thread_ring_enter_at_once(t, word) && !thread_ring_hold(t, word, THREAD_RING_LOSS_OTHER)))
                return;
        fiber = find_fiber(t, name);
        if (fiber)
                enter(t, fiber);
        thread_ring_let_go(t, word);
}

void hyprof_emit_fiber_enter(const char *name)
{
        if (CLIENT_UNLIKELY(!name || !enter_at_once(client_control_word(), name)))
                enter_slowly(name);
}
CLIENT_LINK_OWN(fiber_enter);

/* The usual case, as in enter_at_once(): the room for this event was kept. */
THREAD_RING_INLINE bool leave_at_once(uint32_t word)
{
        struct thread_ring *t = &thread_ring_self;
        bool is_done = false;
        uint64_t ticks;

        if (CLIENT_UNLIKELY(!ticks_are_counted(client_self.clock_kind) ||
                            !thread_ring_enter_at_once(t, word)))
                return false;
        if (CLIENT_LIKELY(t->fiber)) {
                ticks = ticks_counter();
                is_done = thread_ring_is_near(t, ticks);
                if (CLIENT_LIKELY(is_done)) {
                        t->limit_bytes += bytes_for(t->zone_top);
                        __atomic_store_n(&t->fiber->zone_top, t->zone_top, __ATOMIC_RELAXED);
                        t->fiber = NULL;
                        t->zone_top = t->own_zone_top;
                        thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_FIBER_LEAVE, 0);
                        thread_ring_publish(t);
                }
        }
        thread_ring_leave(t, word);
        return is_done;
}

static __attribute__((noinline, cold)) void leave_slowly(void)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (client_self.other) {
                client_self.other->fiber_leave();
                return;
        }
        if (!thread_ring_enter_at_once(t, word) && !thread_ring_hold(t, word, THREAD_RING_LOSS_OTHER))
                return;
        if (t->fiber) {
                bool was_told = !t->is_astray;

                uint64_t kept_bytes = was_told ? bytes_for(t->zone_top) : 0;

                keep_zones(t);
                t->fiber = NULL;
                t->is_astray = false;
                t->zone_top = t->own_zone_top;
                t->limit_bytes += kept_bytes; /* an unknown limit, 0, stays too low */
                if (was_told)
                        put_leave(t);
        }
        thread_ring_let_go(t, word);
}

void hyprof_emit_fiber_leave(void)
{
        if (CLIENT_UNLIKELY(!leave_at_once(client_control_word())))
                leave_slowly();
}
CLIENT_LINK_OWN(fiber_leave);
