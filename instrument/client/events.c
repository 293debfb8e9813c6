/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/events.c - what an instrumented program calls while somebody records
 *
 * The fast paths, a zone's above all, run through the inline functions of
 * thread_ring.h alone: two compares, a time stamp, a store of 8 bytes and the
 * store of the head.  A begin takes its time stamp late and an end early, so
 * that what lies between is the program's.
 */
#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/location_table.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t whole_words(uint64_t n_bytes)
{
        return (n_bytes + CLIENT_ABI_WORD_BYTES - 1) / CLIENT_ABI_WORD_BYTES * CLIENT_ABI_WORD_BYTES;
}

void hyprof_emit_message(const char *text, size_t text_bytes, enum hyprof_severity severity, uint32_t color,
                         uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        (void)depth;
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_MESSAGE))
                return;
        if (text_bytes <= CLIENT_ABI_TEXT_BYTES_MAX &&
            thread_ring_has_room(t,
                                 THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES + whole_words(text_bytes))) {
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_MESSAGE,
                                      (uint32_t)text_bytes);
                thread_ring_put_word(t, color | (uint64_t)severity << 32);
                thread_ring_put_bytes(t, text, text_bytes);
                thread_ring_publish(t);
        } else {
                thread_ring_count_loss(t, THREAD_RING_LOSS_MESSAGE);
        }
        thread_ring_leave(t, word);
}

static void emit_plot(struct hyprof_location *name, enum client_abi_event event, uint64_t bits)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_PLOT))
                return;
        id = location_table_id(name);
        if (id != 0 && thread_ring_has_room(t, THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES)) {
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), event, id);
                thread_ring_put_word(t, bits);
                thread_ring_publish(t);
        } else {
                thread_ring_count_loss(t, THREAD_RING_LOSS_PLOT);
        }
        thread_ring_leave(t, word);
}

void hyprof_emit_plot_int(struct hyprof_location *name, int64_t value)
{
        emit_plot(name, CLIENT_ABI_EVENT_PLOT_I64, (uint64_t)value);
}

void hyprof_emit_plot_double(struct hyprof_location *name, double value)
{
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        emit_plot(name, CLIENT_ABI_EVENT_PLOT_F64, bits);
}

void hyprof_emit_frame_mark(struct hyprof_location *name)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_FRAME))
                return;
        id = name ? location_table_id(name) : 0;
        if ((id != 0 || !name) && thread_ring_has_room(t, THREAD_RING_EVENT_BYTES)) {
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_FRAME_MARK, id);
                thread_ring_publish(t);
        } else {
                thread_ring_count_loss(t, THREAD_RING_LOSS_FRAME);
        }
        thread_ring_leave(t, word);
}

/* Kept first, and in any case: a session that begins later repeats it. */
void hyprof_emit_thread_name(const char *name)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t n;

        if (!name || *name == '\0')
                return;
        n = (uint32_t)strnlen(name, sizeof(t->name) - 1);
        t->name_bytes = 0;
        memcpy(t->name, name, n);
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler that opens a session sees no half name */
        t->name_bytes = n;

        if (!hyprof_is_wanted_(HYPROF_FAMILY_ANY_) || !thread_ring_enter(t, word, THREAD_RING_LOSS_OTHER))
                return;
        if (thread_ring_has_room(t, THREAD_RING_EVENT_BYTES + THREAD_RING_NAME_BYTES)) {
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), CLIENT_ABI_EVENT_THREAD_NAME, n);
                thread_ring_put_bytes(t, name, n);
                thread_ring_publish(t);
        } else {
                thread_ring_count_loss(t, THREAD_RING_LOSS_OTHER);
        }
        thread_ring_leave(t, word);
}
