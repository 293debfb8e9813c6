/* SPDX-License-Identifier: MIT */
/* instrument/client/device_events.c - what queues with clocks of their own did */
#include "instrument/client/location_table.h"
#include "instrument/client/payload_event.h"
#include "instrument/client/word_event.h"

#include <string.h>

/* False if the thread cannot write. */
WORD_EVENT_INLINE bool emit(enum client_abi_event event, struct hyprof_device *device, unsigned n_words,
                            uint64_t word_1, uint64_t word_2)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_DEVICE))
                return false;
        id = location_table_device_id(device);
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_DEVICE,
                                  .event = event,
                                  .argument = id,
                                  .is_lost = id == 0,
                                  .n_words = n_words,
                                  .words = { word_1, word_2 },
                          });
        thread_ring_leave(t, word);
        return true;
}

/* The host's clock is read before anything else: the caller has just read the device's. */
void hyprof_emit_device_calibration(struct hyprof_device *device, uint64_t ticks, uint64_t host_ns)
{
        if (host_ns == 0)
                host_ns = ticks_kernel_ns();
        if (device && !emit(CLIENT_ABI_EVENT_DEVICE_CALIBRATION, device, 2, ticks, ticks_machine_ns(host_ns)))
                CLIENT_LINK_PASS_ON(device_calibration, device, ticks, host_ns);
}
CLIENT_LINK_OWN(device_calibration);

/* To be called after thread_ring_enter().  @c: NULL = no call stack. */
static inline void put_begin(struct thread_ring *t, const struct callstack *c, struct hyprof_device *device,
                             struct hyprof_location *location, uint64_t query)
{
        uint32_t device_id = location_table_device_id(device);
        uint32_t location_id = location_table_id(location);

        word_event_put_after(t, c,
                             &(struct word_event){
                                     .loss = THREAD_RING_LOSS_DEVICE,
                                     .event = CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN,
                                     .argument = device_id,
                                     .is_lost = device_id == 0 || location_id == 0,
                                     .n_words = 2,
                                     .words = { query, location_id },
                             });
}

WORD_EVENT_RARE bool begin_with_callstack(struct hyprof_device *device, struct hyprof_location *location,
                                          uint64_t query, struct callstack_origin from, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        struct callstack c;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_DEVICE))
                return false;
        callstack_walk(&c, from, depth);
        put_begin(t, &c, device, location, query);
        thread_ring_leave(t, word);
        return true;
}

void hyprof_emit_device_zone_begin(struct hyprof_device *device, struct hyprof_location *location,
                                   uint64_t query, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (!device || !location)
                return;
        depth = callstack_depth(word, CLIENT_ABI_FAMILY_DEVICES, depth);
        if (CLIENT_UNLIKELY(depth > 0)) {
                if (!begin_with_callstack(device, location, query, CALLSTACK_HERE, depth))
                        CLIENT_LINK_PASS_ON(device_zone_begin, device, location, query, depth);
                return;
        }
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_DEVICE)) {
                CLIENT_LINK_PASS_ON(device_zone_begin, device, location, query, 0);
                return;
        }
        put_begin(t, NULL, device, location, query);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(device_zone_begin);

void hyprof_emit_device_zone_end(struct hyprof_device *device, uint64_t query)
{
        if (device && !emit(CLIENT_ABI_EVENT_DEVICE_ZONE_END, device, 1, query, 0))
                CLIENT_LINK_PASS_ON(device_zone_end, device, query);
}
CLIENT_LINK_OWN(device_zone_end);

void hyprof_emit_device_time(struct hyprof_device *device, uint64_t query, uint64_t ticks)
{
        if (device && !emit(CLIENT_ABI_EVENT_DEVICE_TIME, device, 2, query, ticks))
                CLIENT_LINK_PASS_ON(device_time, device, query, ticks);
}
CLIENT_LINK_OWN(device_time);

void hyprof_emit_device_span(struct hyprof_device *device, struct hyprof_location *location,
                             uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane, uint32_t key)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t device_id, location_id;

        if (!device || !location)
                return;
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_DEVICE)) {
                CLIENT_LINK_PASS_ON(device_span, device, location, begin_ticks, end_ticks, lane, key);
                return;
        }
        device_id = location_table_device_id(device);
        location_id = location_table_id(location);
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_DEVICE,
                                  .event = CLIENT_ABI_EVENT_DEVICE_SPAN,
                                  .argument = 4 * CLIENT_ABI_WORD_BYTES,
                                  .is_lost = device_id == 0 || location_id == 0,
                                  .n_words = 4,
                                  .words = { device_id | (uint64_t)location_id << 32, begin_ticks, end_ticks,
                                             lane | (uint64_t)key << 32 },
                          });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(device_span);

#define FACT_WORDS_MAX 5

/* An event about a device: its payload begins with the device and a location. */
struct fact {
        enum client_abi_event event;
        unsigned n_words;
        uint64_t words[FACT_WORDS_MAX];
};

/*
 * @subject, @space: locations; NULL = 0 stands for it.  The space is in the upper half of the last word but
 * one.  Not inlined: these events are rarer than spans without a key, whose calls stay as they are.  Returns
 * false as above.
 */
static __attribute__((noinline)) bool emit_fact(struct hyprof_device *device, struct hyprof_location *subject,
                                                struct hyprof_location *space, const struct fact *fact)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t device_id, subject_id, space_id, n_bytes = fact->n_words * CLIENT_ABI_WORD_BYTES;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_DEVICE))
                return false;
        device_id = location_table_device_id(device);
        subject_id = subject ? location_table_id(subject) : 0;
        space_id = space ? location_table_id(space) : 0;
        if (device_id == 0 || (subject && subject_id == 0) || (space && space_id == 0) ||
            !thread_ring_has_room(t, THREAD_RING_EVENT_BYTES + n_bytes)) {
                thread_ring_count_loss(t, THREAD_RING_LOSS_DEVICE);
        } else {
                thread_ring_put_event(t, ticks_read(client_self.clock_kind), fact->event, n_bytes);
                thread_ring_put_word(t, device_id | (uint64_t)subject_id << 32);
                for (unsigned i = 1; i < fact->n_words; i++)
                        thread_ring_put_word(
                                t, fact->words[i] | (i + 2 == fact->n_words ? (uint64_t)space_id << 32 : 0));
                thread_ring_publish(t);
        }
        thread_ring_leave(t, word);
        return true;
}

void hyprof_emit_device_bracket(struct hyprof_device *device, uint64_t ticks, uint64_t host_begin_ns,
                                uint64_t host_end_ns)
{
        const struct fact fact = {
                .event = CLIENT_ABI_EVENT_DEVICE_BRACKET,
                .n_words = 4,
                .words = { 0, ticks, ticks_machine_ns(host_begin_ns), ticks_machine_ns(host_end_ns) },
        };

        if (device && !emit_fact(device, NULL, NULL, &fact))
                CLIENT_LINK_PASS_ON_LATER(device_bracket, device, ticks, host_begin_ns, host_end_ns);
}
CLIENT_LINK_OWN(device_bracket);

void hyprof_emit_device_track(struct hyprof_device *device, uint32_t lane, uint32_t parent_lane,
                              const char *name, enum hyprof_track_kind kind)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!device)
                return;
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_DEVICE)) {
                CLIENT_LINK_PASS_ON_LATER(device_track, device, lane, parent_lane, name, kind);
                return;
        }
        id = location_table_device_id(device);
        if (id != 0)
                payload_event_put(
                        t, &(struct payload_event){
                                   .loss = THREAD_RING_LOSS_DEVICE,
                                   .event = CLIENT_ABI_EVENT_DEVICE_TRACK,
                                   .n_words = 2,
                                   .words = { id | (uint64_t)lane << 32, parent_lane | (uint64_t)kind << 32 },
                                   .content = name,
                                   .content_bytes = name ? strlen(name) : 0,
                           });
        else
                thread_ring_count_loss(t, THREAD_RING_LOSS_DEVICE);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(device_track);

/* NOLINTNEXTLINE(readability-function-size): all that a span consists of */
void hyprof_emit_device_keyed_span(struct hyprof_device *device, struct hyprof_location *location,
                                   uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane,
                                   struct hyprof_location *space, uint64_t key)
{
        const struct fact fact = {
                .event = CLIENT_ABI_EVENT_DEVICE_KEYED_SPAN,
                .n_words = 5,
                .words = { 0, begin_ticks, end_ticks, lane, key },
        };

        if (device && location && !emit_fact(device, location, space, &fact))
                CLIENT_LINK_PASS_ON_LATER(device_keyed_span, device, location, begin_ticks, end_ticks, lane,
                                          space, key);
}
CLIENT_LINK_OWN(device_keyed_span);

void hyprof_emit_device_value(struct hyprof_device *device, struct hyprof_location *plot, uint64_t ticks,
                              uint32_t lane, uint32_t kind, uint64_t bits)
{
        const struct fact fact = {
                .event = CLIENT_ABI_EVENT_DEVICE_VALUE,
                .n_words = 4,
                .words = { 0, ticks, lane | (uint64_t)kind << 32, bits },
        };

        if (device && plot && !emit_fact(device, plot, NULL, &fact))
                CLIENT_LINK_PASS_ON_LATER(device_value, device, plot, ticks, lane, kind, bits);
}
CLIENT_LINK_OWN(device_value);

void hyprof_emit_device_instant(struct hyprof_device *device, struct hyprof_location *location,
                                uint64_t ticks, uint32_t lane, struct hyprof_location *space, uint64_t key)
{
        const struct fact fact = {
                .event = CLIENT_ABI_EVENT_DEVICE_INSTANT,
                .n_words = 4,
                .words = { 0, ticks, lane, key },
        };

        if (device && location && !emit_fact(device, location, space, &fact))
                CLIENT_LINK_PASS_ON_LATER(device_instant, device, location, ticks, lane, space, key);
}
CLIENT_LINK_OWN(device_instant);
