/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/memory_events.c - allocations
 *
 * The way without a call stack calls nothing: an allocator is called often.
 */
#include "instrument/client/location_table.h"
#include "instrument/client/word_event.h"

/* To be called after thread_ring_enter().  @n_words: of address and bytes; @c: NULL = no call stack. */
WORD_EVENT_INLINE void put(struct thread_ring *t, const struct callstack *c, enum client_abi_event event,
                           struct hyprof_location *pool, unsigned n_words, const uint64_t words[2])
{
        uint32_t id = pool ? location_table_id(pool) : 0;

        word_event_put_after(t, c,
                             &(struct word_event){
                                     .loss = THREAD_RING_LOSS_MEMORY,
                                     .event = event,
                                     .argument = id,
                                     .is_lost = pool && id == 0,
                                     .n_words = n_words,
                                     .words = { words[0], words[1] },
                             });
}

HYPROF_NOT_FOLLOWED_(2)
WORD_EVENT_RARE bool alloc_with_callstack(struct hyprof_location *pool, const void *address, size_t bytes,
                                          struct callstack_origin from, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        struct callstack c;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_MEMORY))
                return false;
        callstack_walk(&c, from, depth);
        put(t, &c, CLIENT_ABI_EVENT_MEMORY_ALLOC, pool, 2, (const uint64_t[2]){ (uintptr_t)address, bytes });
        thread_ring_leave(t, word);
        return true;
}

HYPROF_NOT_FOLLOWED_(2)
WORD_EVENT_RARE bool free_with_callstack(struct hyprof_location *pool, const void *address,
                                         struct callstack_origin from, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();
        struct callstack c;

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_MEMORY))
                return false;
        callstack_walk(&c, from, depth);
        put(t, &c, CLIENT_ABI_EVENT_MEMORY_FREE, pool, 1, (const uint64_t[2]){ (uintptr_t)address });
        thread_ring_leave(t, word);
        return true;
}

void hyprof_emit_memory_alloc(struct hyprof_location *pool, const void *address, size_t bytes, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        depth = callstack_depth(word, CLIENT_ABI_FAMILY_MEMORY, depth);
        if (CLIENT_UNLIKELY(depth > 0)) {
                if (!alloc_with_callstack(pool, address, bytes, CALLSTACK_HERE, depth))
                        CLIENT_LINK_PASS_ON(memory_alloc, pool, address, bytes, depth);
                return;
        }
        if (CLIENT_UNLIKELY(!thread_ring_enter(t, word, THREAD_RING_LOSS_MEMORY))) {
                CLIENT_LINK_PASS_ON(memory_alloc, pool, address, bytes, 0);
                return;
        }
        put(t, NULL, CLIENT_ABI_EVENT_MEMORY_ALLOC, pool, 2,
            (const uint64_t[2]){ (uintptr_t)address, bytes });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(memory_alloc);

void hyprof_emit_memory_free(struct hyprof_location *pool, const void *address, uint32_t depth)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        depth = callstack_depth(word, CLIENT_ABI_FAMILY_MEMORY, depth);
        if (CLIENT_UNLIKELY(depth > 0)) {
                if (!free_with_callstack(pool, address, CALLSTACK_HERE, depth))
                        CLIENT_LINK_PASS_ON(memory_free, pool, address, depth);
                return;
        }
        if (CLIENT_UNLIKELY(!thread_ring_enter(t, word, THREAD_RING_LOSS_MEMORY))) {
                CLIENT_LINK_PASS_ON(memory_free, pool, address, 0);
                return;
        }
        put(t, NULL, CLIENT_ABI_EVENT_MEMORY_FREE, pool, 1, (const uint64_t[2]){ (uintptr_t)address });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(memory_free);

void hyprof_emit_memory_discard(struct hyprof_location *pool)
{
        struct thread_ring *t = &thread_ring_self;
        uint32_t word = client_control_word();

        if (!thread_ring_enter(t, word, THREAD_RING_LOSS_MEMORY)) {
                CLIENT_LINK_PASS_ON(memory_discard, pool);
                return;
        }
        put(t, NULL, CLIENT_ABI_EVENT_MEMORY_DISCARD, pool, 0, (const uint64_t[2]){ 0 });
        thread_ring_leave(t, word);
}
CLIENT_LINK_OWN(memory_discard);
