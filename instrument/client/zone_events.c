/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/zone_events.c - the beginning and the end of zones, and details about them
 *
 * The fast paths use inline functions alone: a few compares, a time stamp, a store of 8 bytes and the store
 * of the head.  A begin takes its time stamp late and an end early, so that the time between them is the
 * program's.  Everything rare is in functions of its own.
 */
#include "instrument/client/blob_area.h"
#include "instrument/client/callstack.h"
#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/location_table.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <stddef.h>
#include <stdint.h>

#define ZONES_WITH_CALLSTACKS (CLIENT_ABI_FAMILY_ZONES << CLIENT_ABI_CALLSTACK_SHIFT)
#define RARE                  __attribute__((noinline, cold))

/* The bytes of a begin event, and of the room kept for its end. */
#define ZONE_BYTES (2 * THREAD_RING_EVENT_BYTES)

/* Writes a begin event, for which there is room, and keeps room for its end.  Returns the zone. */
THREAD_RING_INLINE hyprof_zone put_begin(struct thread_ring *t, uint64_t ticks, uint32_t location)
{
        hyprof_zone zone = ++t->zone_top;

        t->limit_bytes -= THREAD_RING_EVENT_BYTES;
        thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_ZONE_BEGIN, location);
        thread_ring_publish(t);
        return zone;
}

static inline bool is_deepest(const struct thread_ring *t)
{
        return zone_handle_depth(t->zone_top) == ZONE_HANDLE_DEPTH_MAX;
}

/* Counts a begin for which there was no location, depth or room. */
static RARE void count_lost_begin(struct thread_ring *t)
{
        thread_ring_count_loss(t, is_deepest(t) ? THREAD_RING_LOSS_DEEP_ZONE : THREAD_RING_LOSS_ZONE);
}

/*
 * Called if the ring cannot be entered: passes the zone on to the copy of the library that has the region.
 */
static RARE hyprof_zone begin_elsewhere(struct hyprof_location *location)
{
        return client_self.other ? client_self.other->zone_begin(location) : 0;
}

static RARE hyprof_zone begin_with_callstack(struct hyprof_location *location, struct callstack_origin from,
                                             uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        struct callstack callstack;
        hyprof_zone zone = 0;
        uint32_t id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_ZONE))
                return client_self.other ? client_self.other->zone_begin_callstack(location, depth) : 0;
        callstack_walk(&callstack, from, callstack_depth(word, CLIENT_ABI_FAMILY_ZONES, depth));
        id = location_table_id(location);
        if (id != 0 && !is_deepest(t) && thread_ring_has_room(t, ZONE_BYTES + callstack_room(&callstack))) {
                uint64_t ticks = ticks_read(client_self.clock_kind);

                callstack_put(t, ticks, &callstack);
                zone = put_begin(t, ticks, id);
        } else {
                count_lost_begin(t);
        }
        thread_ring_leave(t, word);
        return zone;
}

static RARE hyprof_zone begin_slowly(struct hyprof_location *location, struct callstack_origin from)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        hyprof_zone zone = 0;
        uint32_t id;

        if (!location)
                return 0;
        if ((word & ZONES_WITH_CALLSTACKS) && !client_self.other)
                return begin_with_callstack(location, from, 0);
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_ZONE))
                return begin_elsewhere(location);

        id = location_table_id(location);
        if (id != 0 && !is_deepest(t) && thread_ring_has_room(t, ZONE_BYTES))
                zone = put_begin(t, ticks_read(client_self.clock_kind), id);
        else
                count_lost_begin(t);
        thread_ring_leave(t, word);
        return zone;
}

/* Makes no call except in place of its return, so that nothing has to be saved and restored. */
hyprof_zone hyprof_emit_zone_begin(struct hyprof_location *location)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        hyprof_zone slow;

        if (CLIENT_LIKELY(location && !(word & ZONES_WITH_CALLSTACKS) &&
                          ticks_are_counted(client_self.clock_kind) && thread_ring_enter_at_once(t, word))) {
                uint32_t id = __atomic_load_n(&location->id, __ATOMIC_ACQUIRE);

                if (CLIENT_LIKELY(id != 0 && !is_deepest(t) && thread_ring_has_room_at_once(t, ZONE_BYTES))) {
                        uint64_t ticks = ticks_counter();

                        if (thread_ring_is_near(t, ticks)) {
                                hyprof_zone zone = put_begin(t, ticks, id);

                                thread_ring_leave(t, word);
                                return zone;
                        }
                }
                thread_ring_leave(t, word);
        }
        slow = begin_slowly(location, CALLSTACK_HERE);
        CALLSTACK_STAY();
        return slow;
}
CLIENT_LINK_OWN(zone_begin);

hyprof_zone hyprof_emit_zone_begin_callstack(struct hyprof_location *location, uint32_t depth)
{
        hyprof_zone zone;

        if (!location)
                return 0;
        if (client_self.other)
                return client_self.other->zone_begin_callstack(location, depth);
        zone = begin_with_callstack(location, CALLSTACK_HERE, depth);
        CALLSTACK_STAY();
        return zone;
}
CLIENT_LINK_OWN(zone_begin_callstack);

/* Ends @zone and the open zones inside of it; does nothing if it is not open on this track. */
static RARE void end_several(struct thread_ring *t, hyprof_zone zone, uint64_t ticks)
{
        bool is_told = !t->is_astray;

        if (zone_handle_find(zone, t->zone_top) == 0)
                return;
        if (!is_told) {
                is_told = thread_ring_tell_fiber(t);
                ticks = ticks_read(client_self.clock_kind); /* not before that */
        }
        for (; t->zone_top >= zone; t->zone_top--) {
                if (!is_told)
                        continue; /* FIBER_ENTER states the number of open zones */
                t->limit_bytes += THREAD_RING_EVENT_BYTES;
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_ZONE_END, 0);
        }
        if (is_told)
                thread_ring_publish(t);
}

/* A zone of an earlier session, or of another process before a fork, is not ours. */
static RARE void end_out_of_step(struct thread_ring *t, hyprof_zone zone, uint64_t ticks, uint32_t word)
{
        if (client_self.other) {
                client_self.other->zone_end(zone);
                return;
        }
        if (!zone_handle_is_of_session(zone, word >> CLIENT_ABI_SESSION_SHIFT) ||
            !thread_ring_hold(t, word, THREAD_RING_LOSS_ZONE))
                return;
        end_several(t, zone, ticks);
        thread_ring_let_go(t, word);
}

static RARE void end_slowly(hyprof_zone zone)
{
        end_out_of_step(&thread_ring_self, zone, ticks_read(client_self.clock_kind), client_control_word());
}

void hyprof_emit_zone_end(hyprof_zone zone)
{
        struct thread_ring *t = &thread_ring_self;
        uint64_t ticks;
        uint32_t word;

        if (CLIENT_UNLIKELY(!ticks_are_counted(client_self.clock_kind))) {
                end_slowly(zone);
                return;
        }
        ticks = ticks_counter();
        word = client_control_word();
        if (CLIENT_UNLIKELY(!thread_ring_enter_at_once(t, word))) {
                end_out_of_step(t, zone, ticks, word);
                return;
        }
        if (CLIENT_UNLIKELY(zone != t->zone_top || !thread_ring_is_near(t, ticks))) {
                thread_ring_leave(t, word);
                end_out_of_step(t, zone, ticks, word);
                return;
        }
        t->zone_top--;
        t->limit_bytes += THREAD_RING_EVENT_BYTES;
        thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_ZONE_END, 0);
        thread_ring_publish(t);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(zone_end);

/*
 * Enters the ring for an event about an open zone, and makes sure of room for the prefix that says which
 * zone, and for @n_bytes more.
 * Returns false, with the ring left again, if there is nothing to write.
 */
static bool begin_detail(struct thread_ring *t, uint32_t word, hyprof_zone zone, uint64_t n_bytes)
{
        uint32_t depth;

        if (!zone_handle_is_of_session(zone, word >> CLIENT_ABI_SESSION_SHIFT) ||
            !thread_ring_enter(t, word, THREAD_RING_LOSS_OTHER))
                return false;
        depth = zone_handle_find(zone, t->zone_top);
        if (depth == 0) {
                thread_ring_leave(t, word);
                return false;
        }
        if (!thread_ring_has_room(t, THREAD_RING_EVENT_BYTES + n_bytes)) {
                thread_ring_count_loss(t, THREAD_RING_LOSS_OTHER);
                thread_ring_leave(t, word);
                return false;
        }
        return true;
}

/* Writes the prefix that tells which zone, unless it is the innermost. */
static void put_zone_at(struct thread_ring *t, uint64_t ticks, hyprof_zone zone)
{
        if (zone != t->zone_top)
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_ZONE_AT, zone_handle_depth(zone));
}

static void put_text(struct thread_ring *t, uint64_t ticks, enum client_abi_event event, const char *text,
                     size_t text_bytes)
{
        thread_ring_put_event(t, ticks, event, (uint32_t)text_bytes);
        thread_ring_put_bytes(t, text, text_bytes);
}

/*
 * A long text goes into the blob area, once the ring is certain to have room for the event that says where.
 */
static void emit_text(hyprof_zone zone, enum client_abi_event event, const char *text, size_t text_bytes)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        const void *part = text;
        uint64_t at, blob_bytes, n_bytes;
        bool is_short;

        if (!text)
                text_bytes = 0;
        is_short = text_bytes <= thread_ring_text_max(t);
        n_bytes = is_short ? thread_ring_whole_words(text_bytes) : THREAD_RING_BLOB_BYTES;
        if (!begin_detail(t, word, zone, THREAD_RING_EVENT_BYTES + n_bytes))
                return;
        if (is_short || blob_area_put(&part, &text_bytes, 1, &at, &blob_bytes)) {
                uint64_t ticks = t->last_ticks;

                put_zone_at(t, ticks, zone);
                if (is_short) {
                        put_text(t, ticks, event, text, text_bytes);
                } else {
                        thread_ring_put_blob(t, ticks, at, blob_bytes);
                        put_text(t, ticks, event, NULL, 0);
                }
                thread_ring_publish(t);
        }
        thread_ring_leave(t, word);
}

/*
 * The usual case: a short text for the innermost zone of a thread that is in step.  Returns false in any
 * other case.  A copy of the library without a region is never in step.
 */
THREAD_RING_INLINE bool emit_text_at_once(hyprof_zone zone, enum client_abi_event event, const char *text,
                                          size_t text_bytes)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint64_t n_bytes = CLIENT_ABI_WORD_BYTES + thread_ring_whole_words(text_bytes);
        struct thread_ring_word *to;

        if (CLIENT_UNLIKELY(!text || text_bytes > THREAD_RING_TEXT_BYTES_SHORT ||
                            !thread_ring_enter_at_once(t, word)))
                return false;
        to = zone == t->zone_top ? thread_ring_room_at_once(t, n_bytes) : NULL;
        if (CLIENT_LIKELY(to)) {
                to->bits = thread_ring_pack(t->last_ticks, (uint32_t)text_bytes, event);
                thread_ring_advance(t, (uint64_t)((uint8_t *)thread_ring_store(to + 1, text, text_bytes) -
                                                  (uint8_t *)to));
        }
        thread_ring_leave(t, word);
        return to != NULL;
}

static RARE void emit_text_slowly(hyprof_zone zone, const char *text, size_t text_bytes)
{
        if (client_self.other)
                client_self.other->zone_text(zone, text, text_bytes);
        else
                emit_text(zone, CLIENT_ABI_EVENT_ZONE_TEXT, text, text_bytes);
}

void hyprof_emit_zone_text(hyprof_zone zone, const char *text, size_t text_bytes)
{
        if (CLIENT_UNLIKELY(!emit_text_at_once(zone, CLIENT_ABI_EVENT_ZONE_TEXT, text, text_bytes)))
                emit_text_slowly(zone, text, text_bytes);
}
CLIENT_LINK_OWN(zone_text);

static RARE void emit_name_slowly(hyprof_zone zone, const char *name, size_t name_bytes)
{
        if (client_self.other)
                client_self.other->zone_name(zone, name, name_bytes);
        else
                emit_text(zone, CLIENT_ABI_EVENT_ZONE_NAME, name, name_bytes);
}

void hyprof_emit_zone_name(hyprof_zone zone, const char *name, size_t name_bytes)
{
        if (CLIENT_UNLIKELY(!emit_text_at_once(zone, CLIENT_ABI_EVENT_ZONE_NAME, name, name_bytes)))
                emit_name_slowly(zone, name, name_bytes);
}
CLIENT_LINK_OWN(zone_name);

static RARE void emit_value_slowly(hyprof_zone zone, int64_t value)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (client_self.other) {
                client_self.other->zone_value(zone, value);
                return;
        }
        if (!begin_detail(t, word, zone, THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES))
                return;
        put_zone_at(t, t->last_ticks, zone);
        thread_ring_put_event(t, t->last_ticks, CLIENT_ABI_EVENT_ZONE_VALUE, 0);
        thread_ring_put_word(t, (uint64_t)value);
        thread_ring_publish(t);
        thread_ring_leave(t, word);
}

void hyprof_emit_zone_value(hyprof_zone zone, int64_t value)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (CLIENT_LIKELY(thread_ring_enter_at_once(t, word))) {
                struct thread_ring_word *to =
                        zone == t->zone_top ? thread_ring_room_at_once(t, 2UL * CLIENT_ABI_WORD_BYTES) : NULL;

                if (CLIENT_LIKELY(to)) {
                        to[0].bits = thread_ring_pack(t->last_ticks, 0, CLIENT_ABI_EVENT_ZONE_VALUE);
                        to[1].bits = (uint64_t)value;
                        thread_ring_advance(t, 2UL * CLIENT_ABI_WORD_BYTES);
                        thread_ring_leave(t, word);
                        return;
                }
                thread_ring_leave(t, word);
        }
        emit_value_slowly(zone, value);
}
CLIENT_LINK_OWN(zone_value);

void hyprof_emit_zone_key(hyprof_zone zone, struct hyprof_location *space, uint64_t key)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id = 0;

        if (client_self.other) {
                CLIENT_LINK_PASS_ON_LATER(zone_key, zone, space, key);
                return;
        }
        if (!begin_detail(t, word, zone, THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES))
                return;
        if (space)
                id = location_table_id(space);
        if (space && id == 0) {
                thread_ring_count_loss(t, THREAD_RING_LOSS_OTHER);
        } else {
                put_zone_at(t, t->last_ticks, zone);
                thread_ring_put_event(t, t->last_ticks, CLIENT_ABI_EVENT_ZONE_KEY, id);
                thread_ring_put_word(t, key);
                thread_ring_publish(t);
        }
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(zone_key);

void hyprof_emit_zone_color(hyprof_zone zone, uint32_t color)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (client_self.other) {
                client_self.other->zone_color(zone, color);
                return;
        }
        if (!begin_detail(t, word, zone, THREAD_RING_EVENT_BYTES))
                return;
        put_zone_at(t, t->last_ticks, zone);
        thread_ring_put_event(t, t->last_ticks, CLIENT_ABI_EVENT_ZONE_COLOR, color & CLIENT_ABI_ARG_MAX);
        thread_ring_publish(t);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(zone_color);
