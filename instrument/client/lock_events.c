/* SPDX-License-Identifier: MIT */
/* instrument/client/lock_events.c - locks: who waits for them, and who holds them */
#include "instrument/client/location_table.h"
#include "instrument/client/payload_event.h"
#include "instrument/client/word_event.h"

_Static_assert((int)HYPROF_LOCK_WAIT_ == (int)CLIENT_ABI_EVENT_LOCK_WAIT, "ABI");
_Static_assert((int)HYPROF_LOCK_OBTAIN_ == (int)CLIENT_ABI_EVENT_LOCK_OBTAIN, "ABI");
_Static_assert((int)HYPROF_LOCK_RELEASE_ == (int)CLIENT_ABI_EVENT_LOCK_RELEASE, "ABI");
_Static_assert((int)HYPROF_LOCK_WAIT_SHARED_ == (int)CLIENT_ABI_EVENT_LOCK_WAIT_SHARED, "ABI");
_Static_assert((int)HYPROF_LOCK_OBTAIN_SHARED_ == (int)CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED, "ABI");
_Static_assert((int)HYPROF_LOCK_RELEASE_SHARED_ == (int)CLIENT_ABI_EVENT_LOCK_RELEASE_SHARED, "ABI");
_Static_assert((int)HYPROF_LOCK_GONE_ == (int)CLIENT_ABI_EVENT_LOCK_GONE, "ABI");

void hyprof_emit_lock(struct hyprof_lock *lock, enum hyprof_lock_event_ event)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!lock)
                return;
        /* A lock that was never in a recording needs no number only to report that it is gone. */
        if (event == HYPROF_LOCK_GONE_ && __atomic_load_n(&lock->location.id, __ATOMIC_RELAXED) == 0)
                return;
        if (CLIENT_UNLIKELY(!thread_ring_enter(t, word, THREAD_RING_LOSS_LOCK))) {
                CLIENT_LINK_PASS_ON(lock, lock, event);
                return;
        }
        id = location_table_id(&lock->location);
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_LOCK,
                                  .event = (enum client_abi_event)event,
                                  .argument = id,
                                  .is_lost = id == 0,
                          });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(lock);

void hyprof_emit_lock_mark(struct hyprof_lock *lock, struct hyprof_location *location)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t lock_id, location_id;

        if (!lock || !location)
                return;
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_LOCK)) {
                CLIENT_LINK_PASS_ON(lock_mark, lock, location);
                return;
        }
        lock_id = location_table_id(&lock->location);
        location_id = location_table_id(location);
        word_event_put(t, &(struct word_event){
                                  .loss = THREAD_RING_LOSS_LOCK,
                                  .event = CLIENT_ABI_EVENT_LOCK_MARK,
                                  .argument = lock_id,
                                  .is_lost = lock_id == 0 || location_id == 0,
                                  .n_words = 1,
                                  .words = { location_id },
                          });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(lock_mark);

void hyprof_emit_lock_name(struct hyprof_lock *lock, const char *name, size_t name_bytes)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        uint32_t id;

        if (!lock)
                return;
        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_LOCK)) {
                CLIENT_LINK_PASS_ON(lock_name, lock, name, name_bytes);
                return;
        }
        id = location_table_id(&lock->location);
        if (id != 0)
                payload_event_put(t, &(struct payload_event){
                                             .loss = THREAD_RING_LOSS_LOCK,
                                             .event = CLIENT_ABI_EVENT_LOCK_NAME,
                                             .n_words = 1,
                                             .words = { id },
                                             .content = name,
                                             .content_bytes = name ? name_bytes : 0,
                                     });
        else
                thread_ring_count_loss(t, THREAD_RING_LOSS_LOCK);
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(lock_name);
