/* SPDX-License-Identifier: MIT */
#include "instrument/ring_reader.h"

#include "base/clock.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define BITS_OF_WORD 64
#define TRIM_MAX     64

static struct client_abi_slot *slot_at(const struct chunk_pool *pool, uint32_t slot)
{
        return (struct client_abi_slot *)(void *)(pool->map + pool->h->slots_offset +
                                                  (uint64_t)slot * pool->h->slot_bytes);
}

static const struct client_abi_link *link_of(const struct ring_reader *r, const struct chunk_pool *pool,
                                             uint32_t slot)
{
        const void *links = pool->map + CLIENT_ABI_CHUNK_LINKS_OFFSET;

        if (r->chunk == 0)
                return &slot_at(pool, slot)->ring_link;
        return (const struct client_abi_link *)links + (r->chunk - 1);
}

static uint64_t *free_word(const struct chunk_pool *pool, uint32_t index)
{
        void *words = pool->map + CLIENT_ABI_FREE_CHUNKS_OFFSET;

        return (uint64_t *)words + index / BITS_OF_WORD;
}

static uint64_t free_bit(uint32_t index)
{
        return UINT64_C(1) << index % BITS_OF_WORD;
}

static uint64_t size_of(const struct ring_reader *r, const struct chunk_pool *pool)
{
        return r->chunk ? pool->h->chunk_bytes : pool->h->ring_bytes;
}

/* Copies @n bytes from the tail on, in one piece or two. */
static int copy(const struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot, uint8_t *to,
                size_t n)
{
        const struct client_abi_header *h = pool->h;
        uint64_t size = size_of(r, pool);
        uint64_t offset = r->chunk ? h->chunks_offset + (uint64_t)(r->chunk - 1) * size
                                   : h->rings_offset + slot * size;
        uint64_t at = r->tail_bytes & (size - 1);
        size_t first = n < size - at ? n : (size_t)(size - at);
        size_t got_first = 0, got_rest = 0;
        int code = io_pread_full(pool->fd, to, first, offset + at, &got_first, NULL);

        if (code == 0 && n > first)
                code = io_pread_full(pool->fd, to + first, n - first, offset, &got_rest, NULL);
        if (code < 0)
                return code;
        if (got_first + got_rest != n)
                return -EBADMSG;
        return 0;
}

static void give_back(struct chunk_pool *pool, uint32_t chunk)
{
        uint32_t index = chunk - 1;

        if (!pool->freed_ns) /* without it, memory of chunks is only given back with the region */
                pool->freed_ns = calloc(pool->h->n_chunks, sizeof(*pool->freed_ns));
        if (pool->freed_ns) {
                pool->n_freed += pool->freed_ns[index] == 0;
                pool->freed_ns[index] = clock_raw_ns();
        }
        /*
         * Pairs with the acquire in the client: a thread that takes the chunk overwrites only words that
         * were copied.
         */
        (void)__atomic_fetch_or(free_word(pool, index), free_bit(index), __ATOMIC_RELEASE);
}

/*
 * Returns where the words before @head end in the ring or chunk that the tail is in.
 * @ret_next:  where the thread goes on from there; 0 = nowhere yet
 */
static uint64_t find_end(const struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot,
                         uint64_t head, uint32_t *ret_next)
{
        const struct client_abi_link *link = link_of(r, pool, slot);
        uint32_t next;
        uint64_t at;

        *ret_next = 0;
        if (pool->h->n_chunks == 0)
                return head;                                   /* a client of ABI 1.0 has no links either */
        next = __atomic_load_n(&link->next, __ATOMIC_ACQUIRE); /* pairs with ring_chunks_move() */
        at = __atomic_load_n(&link->at_bytes, __ATOMIC_RELAXED);
        /* Words after the known head are left for the next time. */
        *ret_next = next != 0 && at - r->tail_bytes <= head - r->tail_bytes ? next : 0;
        return *ret_next ? at : head;
}

/* Moves the reader to where the thread went on.  Returns false if there is no such place. */
static bool follow(struct ring_reader *r, struct chunk_pool *pool, uint32_t next)
{
        if (next == CLIENT_ABI_CHUNK_IS_RING)
                next = 0;
        if (next > pool->h->n_chunks)
                return false;
        if (r->chunk)
                give_back(pool, r->chunk);
        r->chunk = next;
        return true;
}

static int break_off(struct ring_reader *r)
{
        r->is_broken = true;
        return -EBADMSG;
}

/*
 * Pairs with the acquire in the client's look for room: the client overwrites only words that were copied.
 */
static void publish(const struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot)
{
        struct client_abi_slot *s = slot_at(pool, slot);

        __atomic_store_n(&s->tail_chunk, r->chunk, __ATOMIC_RELAXED);
        __atomic_store_n(&s->tail_bytes, r->tail_bytes, __ATOMIC_RELEASE);
}

int ring_reader_drain(struct ring_reader *r, struct chunk_pool *pool, uint32_t slot, uint8_t *to,
                      size_t max_bytes, size_t *ret_bytes)
{
        /* Pairs with the release in thread_ring_publish(): the words before the head are there. */
        uint64_t head = __atomic_load_n(&slot_at(pool, slot)->head_bytes, __ATOMIC_ACQUIRE);
        size_t done = 0;
        int code = 0;

        *ret_bytes = 0;
        max_bytes -= max_bytes % CLIENT_ABI_WORD_BYTES;
        /*
         * A thread rarely leaves a place without writing there, so more steps than there are chunks mean
         * that the links form a circle.
         */
        for (uint32_t n = 0; code == 0 && r->tail_bytes != head && done < max_bytes; n++) {
                uint32_t next;
                uint64_t end = find_end(r, pool, slot, head, &next);
                uint64_t left = end - r->tail_bytes;
                size_t part = left < max_bytes - done ? (size_t)left : max_bytes - done;

                if (n > pool->h->n_chunks + 1 || left > size_of(r, pool) || left % CLIENT_ABI_WORD_BYTES != 0)
                        return break_off(r);
                if (part > 0 && to)
                        code = copy(r, pool, slot, to + done, part);
                if (code < 0)
                        break;
                done += part;
                *ret_bytes = done;
                r->tail_bytes += part;
                if (next != 0 && part == left && !follow(r, pool, next))
                        return break_off(r);
                publish(r, pool, slot);
        }
        return code;
}

uint64_t ring_reader_count_unread(const struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot)
{
        if (r->is_broken)
                return 0;
        return __atomic_load_n(&slot_at(pool, slot)->head_bytes, __ATOMIC_RELAXED) - r->tail_bytes;
}

bool ring_reader_is_possible(struct ring_reader *r, const struct chunk_pool *pool, uint64_t unread_bytes)
{
        const struct client_abi_header *h = pool->h;

        r->is_broken = unread_bytes % CLIENT_ABI_WORD_BYTES != 0 ||
                       unread_bytes > h->ring_bytes + (uint64_t)h->n_chunks * h->chunk_bytes;
        return !r->is_broken;
}

void ring_reader_resume(struct ring_reader *r, const struct chunk_pool *pool, uint32_t slot)
{
        const struct client_abi_slot *s = slot_at(pool, slot);

        r->tail_bytes = __atomic_load_n(&s->tail_bytes, __ATOMIC_RELAXED);
        r->chunk = __atomic_load_n(&s->tail_chunk, __ATOMIC_RELAXED);
        if (r->chunk > pool->h->n_chunks)
                r->chunk = 0;
}

/*
 * Gives a chunk's memory to the kernel.  Meanwhile the chunk is marked as taken, so that no thread takes it.
 */
static void trim(const struct chunk_pool *pool, uint32_t index)
{
        const struct client_abi_header *h = pool->h;
        uint64_t *word = free_word(pool, index);
        uint64_t bit = free_bit(index);

        /*
         * Pairs with our own release when we gave the chunk back; the program may have changed the word
         * since.
         */
        if (!(__atomic_fetch_and(word, ~bit, __ATOMIC_ACQUIRE) & bit))
                return; /* it is in use again */
        /* A failure is no harm: the memory is used again with the chunk. */
        (void)fallocate(pool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)(h->chunks_offset + (uint64_t)index * h->chunk_bytes), (off_t)h->chunk_bytes);
        (void)__atomic_fetch_or(word, bit, __ATOMIC_RELEASE);
}

void chunk_pool_trim(struct chunk_pool *pool, uint64_t until_ns)
{
        unsigned n = 0;

        for (uint32_t i = 0; i < pool->h->n_chunks && pool->n_freed > 0 && n < TRIM_MAX; i++) {
                if (pool->freed_ns[i] == 0 || pool->freed_ns[i] > until_ns)
                        continue;
                trim(pool, i);
                pool->freed_ns[i] = 0;
                pool->n_freed--;
                n++;
        }
}

void chunk_pool_deinit(struct chunk_pool *pool)
{
        while (pool->n_freed > 0)
                chunk_pool_trim(pool, UINT64_MAX);
        free(pool->freed_ns);
        pool->freed_ns = NULL;
}
