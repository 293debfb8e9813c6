/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/events.c - zones
 *
 * The fast paths run through the inline functions of
 * thread_ring.h alone: two compares, a time stamp, a store of 8 bytes and the
 * store of the head.  A begin takes its time stamp late and an end early, so
 * that what lies between is the program's.
 */
#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/location_table.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <stdint.h>

static inline uint32_t control_word(void)
{
        return __atomic_load_n(&hyprof_control[HYPROF_CONTROL_AT_], __ATOMIC_RELAXED);
}

hyprof_zone hyprof_emit_zone_begin(struct hyprof_location *location)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = control_word();
        hyprof_zone zone = 0;
        uint32_t id;

        if (CLIENT_UNLIKELY(!thread_ring_enter(t, word, THREAD_RING_LOSS_ZONE)))
                return 0;

        id = location_table_id(location);
        if (CLIENT_LIKELY(id != 0 && thread_ring_has_room(t, 2 * THREAD_RING_EVENT_BYTES))) {
                zone = t->session;
                t->n_open++;
                t->limit_bytes -= THREAD_RING_EVENT_BYTES;
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_ZONE_BEGIN, id);
                thread_ring_publish(t);
        } else {
                thread_ring_count_loss(t, THREAD_RING_LOSS_ZONE);
        }
        thread_ring_leave(t, word);
        return zone;
}

/* A zone of an earlier session, or one that another thread began, is none of this ring's. */
void hyprof_emit_zone_end(hyprof_zone zone)
{
        struct thread_ring *t = &thread_ring_self;
        uint64_t ticks = ticks_read(client_self.clock_kind);
        uint32_t word = control_word();

        if (CLIENT_UNLIKELY(zone != t->session || word >> CLIENT_ABI_SESSION_SHIFT != zone))
                return;
        if (CLIENT_UNLIKELY(!thread_ring_enter(t, word, THREAD_RING_LOSS_ZONE)))
                return;

        if (CLIENT_LIKELY(t->n_open != 0)) {
                t->n_open--;
                t->limit_bytes += THREAD_RING_EVENT_BYTES;
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_ZONE_END, 0);
                thread_ring_publish(t);
        }
        thread_ring_leave(t, word);
}
