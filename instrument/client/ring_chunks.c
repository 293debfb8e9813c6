/* SPDX-License-Identifier: MIT */
/*
 * A recorder may write anything into the region.  The values that decide where we write are kept here, in
 * memory of our own, and chunk numbers stay below the region's own count of them, so that we write within our
 * rings and chunks whatever the region says.
 */
#include "instrument/client/thread_ring.h"

#include "instrument/client/client.h"
#include "instrument/client/ticks.h"
#include "instrument/client_abi.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A recorder that reads changes its beat many times a second; a stopped or killed recorder does not. */
#define BEAT_NS UINT64_C(2000000000)

#define BITS_OF_WORD 64

/* The kernel's FUTEX_WAKE of linux/futex.h, a header that musl's compiler does not find. */
#define CLIENT_FUTEX_WAKE 1

/* Where the owner of a slot writes.  Used by the owner alone, and by the next one after it. */
static struct place {
        uint64_t from_bytes; /* the byte count at which the owner moved there */
        uint64_t left_bytes; /* in a chunk: the byte count at which it left the ring */
        uint32_t chunk;      /* the chunk's number + 1; 0 = it is in the ring */
        uint32_t generation; /* of the region: another one has other rings */
} places[REGION_MEMORY_SLOTS_MAX];

/* When the recorder was seen to read; all threads share it, so all of it is atomic. */
static struct {
        uint32_t seen;
        uint64_t since_ns; /* 0 = never looked */
} beat;

static struct client_abi_link *link_of(const struct thread_ring *t, const struct place *p)
{
        return p->chunk ? &client_self.region.chunk_links[p->chunk - 1] : &t->slot->ring_link;
}

static void write_to(struct thread_ring *t, const struct place *p)
{
        const struct region_memory *region = &client_self.region;

        if (p->chunk) {
                t->bytes = region->chunks + (uint64_t)(p->chunk - 1) * region->chunk_bytes;
                t->mask = region->chunk_bytes - 1;
        } else {
                t->bytes = region->rings + t->track * region->ring_bytes;
                t->mask = region->ring_bytes - 1;
        }
}

void ring_chunks_resume(struct thread_ring *t)
{
        struct place *p = &places[t->track];

        if (p->generation != t->generation)
                *p = (struct place){ .generation = t->generation };
        write_to(t, p);
}

uint64_t ring_chunks_begin(const struct thread_ring *t, uint64_t tail)
{
        uint64_t from = places[t->track].from_bytes;

        return tail > from ? tail : from;
}

/* False if the recorder seems to have been killed, or stopped: then no more memory is filled for it. */
static bool recorder_reads(void)
{
        uint32_t now = __atomic_load_n(&client_self.region.header->recorder_beat, __ATOMIC_RELAXED);
        uint64_t since_ns = __atomic_load_n(&beat.since_ns, __ATOMIC_RELAXED);
        uint64_t now_ns = ticks_kernel_ns();

        if (since_ns != 0 && __atomic_load_n(&beat.seen, __ATOMIC_RELAXED) == now)
                return now_ns - since_ns < BEAT_NS;
        __atomic_store_n(&beat.seen, now, __ATOMIC_RELAXED);
        __atomic_store_n(&beat.since_ns, now_ns, __ATOMIC_RELAXED);
        return true;
}

/*
 * Takes the free chunk with the lowest number: it was used last, and is in the caches.
 * Returns its number + 1, or 0.
 */
static uint32_t take_chunk(void)
{
        const struct region_memory *region = &client_self.region;
        uint32_t allowed = __atomic_load_n(&region->header->n_chunks_allowed, __ATOMIC_RELAXED);

        if (allowed > region->n_chunks)
                allowed = region->n_chunks;
        if (allowed == 0 || !recorder_reads())
                return 0;
        for (uint32_t first = 0; first < allowed; first += BITS_OF_WORD) {
                uint64_t *word = &region->free_chunks[first / BITS_OF_WORD];
                uint64_t wanted = allowed - first < BITS_OF_WORD ? (UINT64_C(1) << (allowed - first)) - 1
                                                                 : UINT64_MAX;
                uint64_t bits = __atomic_load_n(word, __ATOMIC_RELAXED) & wanted;

                while (bits != 0) {
                        uint64_t bit = bits & -bits;

                        /*
                         * Acquire pairs with the recorder's release: the recorder has read the words that
                         * we will overwrite.
                         */
                        bits = __atomic_fetch_and(word, ~bit, __ATOMIC_ACQUIRE) & wanted;
                        if (bits & bit)
                                return first + (uint32_t)__builtin_ctzll(bit) + 1;
                }
        }
        return 0;
}

static void give_chunk_back(uint32_t chunk)
{
        uint32_t index = chunk - 1;

        (void)__atomic_fetch_or(&client_self.region.free_chunks[index / BITS_OF_WORD],
                                UINT64_C(1) << index % BITS_OF_WORD, __ATOMIC_RELEASE);
}

/*
 * Wakes a recorder that rests while a burst fills memory.  Threads take the lowest chunks first, so a
 * chunk's number says how much memory is filled.  A thread wakes the recorder only when it takes a chunk,
 * and once for each time that the recorder asked for it.
 */
static void wake_recorder(uint32_t index)
{
        uint32_t *word = &client_self.region.header->wake_chunk;
        uint32_t from = __atomic_load_n(word, __ATOMIC_RELAXED);

        if (from == 0 || index < from || __atomic_exchange_n(word, 0, __ATOMIC_RELAXED) == 0)
                return;
        (void)syscall(SYS_futex, word, CLIENT_FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Returns the next place in the form that a link stores; 0 = there is none. */
static uint32_t find_next(const struct thread_ring *t, const struct place *p, uint64_t n_bytes)
{
        struct region_memory *region = &client_self.region;
        /* Pairs with the release of the tail in client_region_drain(), as in look_for_room(). */
        uint64_t tail = __atomic_load_n(&t->slot->tail_bytes, __ATOMIC_ACQUIRE);
        uint32_t chunk;

        /*
         * The recorder has read past the point where the thread left the ring: it has followed the link
         * there, and no longer needs it.
         */
        if (p->chunk && tail > p->left_bytes && n_bytes <= region->ring_bytes)
                return CLIENT_ABI_CHUNK_IS_RING;
        if (n_bytes > region->chunk_bytes)
                return 0;
        chunk = take_chunk();
        if (chunk && region_area_open(&region->chunk_area, chunk * region->chunk_bytes) < 0) {
                give_chunk_back(chunk);
                return 0;
        }
        if (chunk)
                wake_recorder(chunk - 1);
        return chunk;
}

bool ring_chunks_move(struct thread_ring *t, uint64_t n_bytes)
{
        struct place *p = &places[t->track];
        struct client_abi_link *link = link_of(t, p);
        uint32_t next = find_next(t, p, n_bytes);

        if (next == 0)
                return false;
        if (p->chunk == 0)
                p->left_bytes = t->head_bytes;
        p->chunk = next == CLIENT_ABI_CHUNK_IS_RING ? 0 : next;
        p->from_bytes = t->head_bytes;
        /*
         * A newly entered place has no successor yet; the release below publishes that as well.  Acquire
         * pairs with the release of the thread that left the place last: that thread's words come before
         * ours, also for a checker that cannot see the recorder.
         */
        (void)__atomic_exchange_n(&link_of(t, p)->next, 0, __ATOMIC_ACQUIRE);
        __atomic_store_n(&link->at_bytes, t->head_bytes, __ATOMIC_RELAXED);
        /* Pairs with the acquire in ring_reader_drain(). */
        __atomic_store_n(&link->next, next, __ATOMIC_RELEASE);
        write_to(t, p);
        return true;
}
