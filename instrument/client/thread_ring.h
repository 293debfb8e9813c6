/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/thread_ring.h - the calling thread's ring, where its events go
 *
 * Way of the data:  events -> [thread_ring] -> region -> client_region
 * Specification:    docs/understand/client-abi.md, "Rings"
 *
 *      if (thread_ring_enter(t, word, kind)) {
 *              if (thread_ring_has_room(t, n)) {
 *                      thread_ring_put_event(t, ...);
 *                      thread_ring_publish(t);
 *              }
 *              thread_ring_leave(t, word);
 *      }
 *
 * One producer, the thread; one consumer, the recorder.  Signal handlers of the
 * thread are kept out between enter and leave: their events are dropped and
 * counted.  The functions that every event runs through are inline.
 */
#ifndef INSTRUMENT_CLIENT_THREAD_RING_H
#define INSTRUMENT_CLIENT_THREAD_RING_H

#include "instrument/client/client.h"
#include "instrument/client/ticks.h"
#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct name_entry;

/*
 * The handle of a zone: what a program holds while it is open
 *
 * Way of the data:  zone_events -> [zone_handle] -> program -> zone_events
 *
 *      bits  0 .. 11   depth: how many zones are open on its track, with itself
 *      bits 12 .. 23   track, in which zones nest: a thread's, by its slot, or a fiber's, by its location
 *      bits 24 .. 31   which session, modulo 255, never 0: so no handle is 0
 *
 * A thread keeps the handle of its innermost zone, of depth 0 if none is open.
 * The next begin adds 1 to it, an end compares with it and takes 1 away.
 */

#define ZONE_HANDLE_DEPTH_MAX     UINT32_C(0xfff)
#define ZONE_HANDLE_TRACK_SHIFT   12
#define ZONE_HANDLE_TRACK_MAX     UINT32_C(0xfff)
#define ZONE_HANDLE_SESSION_SHIFT 24
#define ZONE_HANDLE_SESSIONS      255

/* The handle for a track without open zones.  @track may be any number. */
static inline uint32_t zone_handle_of_track(uint32_t session, uint32_t track)
{
        return (session % ZONE_HANDLE_SESSIONS + 1) << ZONE_HANDLE_SESSION_SHIFT |
               (track & ZONE_HANDLE_TRACK_MAX) << ZONE_HANDLE_TRACK_SHIFT;
}

static inline uint32_t zone_handle_depth(uint32_t handle)
{
        return handle & ZONE_HANDLE_DEPTH_MAX;
}

/* 0 = not even the session is the same. */
static inline int zone_handle_is_of_session(uint32_t handle, uint32_t session)
{
        return handle >> ZONE_HANDLE_SESSION_SHIFT == session % ZONE_HANDLE_SESSIONS + 1;
}

/*
 * zone_handle_find() - look for an open zone
 * @top:  the handle of the innermost zone of the track
 * Returns its depth, or 0 if it is not open there: it has ended, or is another track's or session's.
 */
static inline uint32_t zone_handle_find(uint32_t handle, uint32_t top)
{
        if ((handle ^ top) & ~ZONE_HANDLE_DEPTH_MAX || handle > top)
                return 0;
        return zone_handle_depth(handle);
}

#define THREAD_RING_NAME_BYTES 64

/*
 * The thread's state: one of these, or else the control word that its ring is in step with.  Those have a
 * session number and are above 65535.  No state is 0, the value of the control word before the first
 * recording.
 */
enum thread_ring_state {
        THREAD_RING_NEW = 1,     /* no session yet */
        THREAD_RING_BUSY = 2,    /* between enter and leave */
        THREAD_RING_FORKING = 3, /* between the fork handlers: the region is about to change */
        THREAD_RING_ENDED = 4,   /* the slot was given back for good */
        THREAD_RING_ASTRAY = 5,  /* on a fiber that the ring had no room to name: no events until it has */
};

enum thread_ring_loss {
        THREAD_RING_LOSS_ZONE,
        THREAD_RING_LOSS_DEEP_ZONE,
        THREAD_RING_LOSS_MESSAGE,
        THREAD_RING_LOSS_PLOT,
        THREAD_RING_LOSS_FRAME,
        THREAD_RING_LOSS_OTHER,
        THREAD_RING_LOSS_MEMORY,
        THREAD_RING_LOSS_LOCK,
        THREAD_RING_LOSS_DEVICE,
        THREAD_RING_LOSS_NO_PICTURE, /* the last three: hyprof has no event for them */
        THREAD_RING_LOSS_NO_DEVICE_ZONE,
        THREAD_RING_LOSS_NO_EVENT,
};

/* Bytes of an event with its possible CLIENT_ABI_EVENT_TIME; what an open zone keeps free for its end. */
#define THREAD_RING_EVENT_BYTES UINT64_C(16)
/* The bytes of the prefix that thread_ring_put_blob() writes. */
#define THREAD_RING_BLOB_BYTES (THREAD_RING_EVENT_BYTES + UINT64_C(2) * CLIENT_ABI_WORD_BYTES)
/* A text that is longer goes into the blob area. */
#define THREAD_RING_TEXT_BYTES_MAX UINT64_C(16384)
/* A text that fits into any ring without a look at its size: 1/8 of the smallest one. */
#define THREAD_RING_TEXT_BYTES_SHORT UINT64_C(512)

/*
 * For functions that every event runs through: without it, compilers make calls of them, and save registers
 * around them.
 */
#define THREAD_RING_INLINE static inline __attribute__((always_inline))

struct thread_ring {
        uint32_t state;       /* see above; shared with signal handlers of the thread */
        uint32_t zone_top;    /* handle of the innermost zone: of the fiber, if it is on one */
        uint32_t session;     /* what the ring's last THREAD event opened; 0 = none */
        uint64_t last_ticks;  /* of the last event; an event about an open zone has no time of its own */
        uint64_t head_bytes;  /* ever written */
        uint64_t limit_bytes; /* the head may go up to this, see thread_ring.c; if it is too low, we look */
        uint64_t mask;        /* ring bytes - 1 */
        uint8_t *bytes;       /* the ring */
        struct client_abi_slot *slot; /* NULL = none taken */

        struct name_entry *fiber;      /* that the thread runs as; NULL = as itself */
        struct name_entry *last_fiber; /* that it entered last: programs often enter the same one again */
        const char *last_fiber_name;   /* as it was called then */
        uint32_t own_zone_top;         /* while on a fiber: of the thread's own zones */
        bool is_astray;                /* the ring does not say yet which fiber it is */
        bool has_group;
        int32_t group; /* repeated at the beginning of each session, like the name */

        uintptr_t stack_low;  /* the thread's own stack, see own_stack.h */
        uintptr_t stack_high; /* 0 = not looked for yet */

        uint32_t track;             /* of the thread's own zones */
        uint32_t generation;        /* of the region that `slot` is in */
        uint32_t n_destructor_runs; /* of the thread key's destructor */
        uint32_t state_at_fork;
        uint32_t name_bytes;
        char name[THREAD_RING_NAME_BYTES];
};

/* initial-exec: reached without a call, so without the allocation that a first access otherwise may need. */
extern _Thread_local struct thread_ring thread_ring_self __attribute__((tls_model("initial-exec")));

/* The rare halves of the inline functions below. */
bool thread_ring_enter_slow(struct thread_ring *t, uint32_t word, enum thread_ring_loss kind);
bool thread_ring_find_room(struct thread_ring *t, uint64_t n_bytes);

/*
 * thread_ring_hold() - like thread_ring_enter(), but also for a thread that is astray
 * A thread that is astray may write nothing, but its zones and fibers are followed.  Ends with
 * thread_ring_let_go().
 */
bool thread_ring_hold(struct thread_ring *t, uint32_t word, enum thread_ring_loss kind);
void thread_ring_let_go(struct thread_ring *t, uint32_t word);

/*
 * Writes which fiber the thread is on.  Returns false if there is no room: then the thread is astray.  In
 * fiber_events.c.
 */
bool thread_ring_tell_fiber(struct thread_ring *t);

/* Notes that the thread is on no fiber and has no open zone, in a new session or in none (0). */
void thread_ring_forget_zones(struct thread_ring *t, uint32_t session);

/* Counts an event that is not recorded. */
void thread_ring_count_loss(struct thread_ring *t, enum thread_ring_loss kind);

/* The room that @n_bytes of payload take in a ring. */
static inline uint64_t thread_ring_whole_words(uint64_t n_bytes)
{
        return (n_bytes + CLIENT_ABI_WORD_BYTES - 1) / CLIENT_ABI_WORD_BYTES * CLIENT_ABI_WORD_BYTES;
}

/* The longest text that goes into this ring itself: a short ring is not to be filled by one event. */
static inline uint64_t thread_ring_text_max(const struct thread_ring *t)
{
        uint64_t share = (t->mask + 1) / 4;

        return share < THREAD_RING_TEXT_BYTES_MAX ? share : THREAD_RING_TEXT_BYTES_MAX;
}

/* Destructor of client_self.thread_key. */
void thread_ring_end(void *thread_ring);

/* thread_ring_enter(), or false if that needs more than a compare. */
THREAD_RING_INLINE bool thread_ring_enter_at_once(struct thread_ring *t, uint32_t word)
{
        if (CLIENT_UNLIKELY(__atomic_load_n(&t->state, __ATOMIC_RELAXED) != word))
                return false;
        __atomic_store_n(&t->state, THREAD_RING_BUSY, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        return true;
}

/*
 * thread_ring_enter() - the thread begins to write
 * @word:  client_control_word() of just now
 * @kind: the kind of loss to count if it cannot
 * Returns true, and then thread_ring_leave() must follow; false if nothing may be written.
 */
static inline bool thread_ring_enter(struct thread_ring *t, uint32_t word, enum thread_ring_loss kind)
{
        return CLIENT_LIKELY(thread_ring_enter_at_once(t, word)) || thread_ring_enter_slow(t, word, kind);
}

THREAD_RING_INLINE void thread_ring_leave(struct thread_ring *t, uint32_t word)
{
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        __atomic_store_n(&t->state, word, __ATOMIC_RELAXED);
}

/*
 * True if @n_bytes fit, by what the thread knows without looking, and without touching what open zones need.
 */
THREAD_RING_INLINE bool thread_ring_has_room_at_once(const struct thread_ring *t, uint64_t n_bytes)
{
        return CLIENT_LIKELY(t->head_bytes + n_bytes <= t->limit_bytes);
}

/* True if @n_bytes fit without touching what open zones need; may wait for it if the settings say so. */
static inline bool thread_ring_has_room(struct thread_ring *t, uint64_t n_bytes)
{
        return thread_ring_has_room_at_once(t, n_bytes) || thread_ring_find_room(t, n_bytes);
}

/*
 * A word of a ring has a type of its own, so that compilers know that storing one changes nothing in struct
 * thread_ring, and keep the head in a register from the first word of an event to the last.
 */
struct thread_ring_word {
        uint64_t bits;
};

THREAD_RING_INLINE struct thread_ring_word *thread_ring_word_at(uint8_t *bytes, uint64_t offset)
{
        return (struct thread_ring_word *)(void *)(bytes + offset);
}

/* Puts one word; the recorder does not see it before thread_ring_publish(). */
THREAD_RING_INLINE void thread_ring_put_word(struct thread_ring *t, uint64_t word)
{
        thread_ring_word_at(t->bytes, t->head_bytes & t->mask)->bits = word;
        t->head_bytes += CLIENT_ABI_WORD_BYTES;
}

/*
 * The last @n bytes before @end as a word; 8 bytes before @end must be readable.  Makes no call of memcpy(),
 * which would take longer than all else.
 */
THREAD_RING_INLINE uint64_t thread_ring_end_word(const uint8_t *end, size_t n)
{
        uint64_t word;

        memcpy(&word, end - sizeof(word), sizeof(word));
        return word >> (8 * (sizeof(word) - n));
}

/* 1 to 7 bytes. */
THREAD_RING_INLINE uint64_t thread_ring_short_word(const uint8_t *at, size_t n)
{
        uint32_t first, last;

        if (n < sizeof(first))
                return at[0] | (uint64_t)at[n / 2] << (8 * (n / 2)) | (uint64_t)at[n - 1] << (8 * (n - 1));
        memcpy(&first, at, sizeof(first));
        memcpy(&last, at + n - sizeof(last), sizeof(last));
        return first | (uint64_t)last << (8 * (n - sizeof(last)));
}

/*
 * Stores @n bytes, rounded up to whole words with zeros, where they lie in one piece.
 * Returns the word after them.
 */
THREAD_RING_INLINE struct thread_ring_word *thread_ring_store(struct thread_ring_word *to, const void *data,
                                                              size_t n)
{
        const uint8_t *at = data;
        size_t left = n;

        for (; left >= CLIENT_ABI_WORD_BYTES; left -= CLIENT_ABI_WORD_BYTES, to++) {
                memcpy(&to->bits, at, CLIENT_ABI_WORD_BYTES);
                at += CLIENT_ABI_WORD_BYTES;
        }
        if (left == 0)
                return to;
        to->bits = n > left ? thread_ring_end_word(at + left, left) : thread_ring_short_word(at, left);
        return to + 1;
}

/* Puts @n bytes, rounded up to whole words with zeros. */
void thread_ring_put_bytes(struct thread_ring *t, const void *data, size_t n);

THREAD_RING_INLINE uint64_t thread_ring_pack(uint64_t ticks_low, uint32_t argument,
                                             enum client_abi_event event)
{
        return (ticks_low & UINT32_MAX) | (uint64_t)argument << CLIENT_ABI_ARG_SHIFT |
               (uint64_t)event << CLIENT_ABI_EVENT_SHIFT;
}

/* Puts an event's first word, and before it the high half of its time stamp if that is news. */
THREAD_RING_INLINE void thread_ring_put_event(struct thread_ring *t, uint64_t ticks,
                                              enum client_abi_event event, uint32_t argument)
{
        if (CLIENT_UNLIKELY((ticks ^ t->last_ticks) >> 32 != 0))
                thread_ring_put_word(t, thread_ring_pack(ticks >> 32, 0, CLIENT_ABI_EVENT_TIME));
        t->last_ticks = ticks;
        thread_ring_put_word(t, thread_ring_pack(ticks, argument, event));
}

/* True if no TIME has to come before an event with this stamp. */
THREAD_RING_INLINE bool thread_ring_is_near(const struct thread_ring *t, uint64_t ticks)
{
        return CLIENT_LIKELY((ticks ^ t->last_ticks) >> 32 == 0);
}

/*
 * The place where @n_bytes can be stored in one piece, if the thread knows that they fit; NULL = look for
 * room, or put words.
 */
THREAD_RING_INLINE struct thread_ring_word *thread_ring_room_at_once(const struct thread_ring *t,
                                                                     uint64_t n_bytes)
{
        uint64_t offset = t->head_bytes & t->mask;
        bool fits = thread_ring_has_room_at_once(t, n_bytes) && offset + n_bytes <= t->mask + 1;

        return CLIENT_LIKELY(fits) ? thread_ring_word_at(t->bytes, offset) : NULL;
}

/* Writes the prefix of an event; blob_area_put() has just written the rest of the event's payload. */
static inline void thread_ring_put_blob(struct thread_ring *t, uint64_t ticks, uint64_t at, uint64_t bytes)
{
        thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_BLOB, 0);
        thread_ring_put_word(t, at);
        thread_ring_put_word(t, bytes);
}

/* Pairs with the acquire of the head in client_region_drain(): the recorder sees the words, whole. */
THREAD_RING_INLINE void thread_ring_publish(struct thread_ring *t)
{
        __atomic_store_n(&t->slot->head_bytes, t->head_bytes, __ATOMIC_RELEASE);
}

/* Publishes @n_bytes that were stored at thread_ring_room_at_once(). */
THREAD_RING_INLINE void thread_ring_advance(struct thread_ring *t, uint64_t n_bytes)
{
        t->head_bytes += n_bytes;
        thread_ring_publish(t);
}

/*
 * ring_chunks.c - where a thread goes on when its ring is full
 *
 * Way of the data:  thread_ring <-> [ring_chunks] -> region -> client_region
 * Specification:    docs/understand/client-abi.md, "Chunks"
 *
 * All threads of the process share the region's chunks.  A thread takes one
 * when its ring is full, another one when that is full, and returns to its ring
 * once the recorder has read all of it.  Chunks are used like rings, so that
 * the fast paths do not know to which of the two they write.
 */

/* Sets where @t writes, when it has taken its slot: where the slot's last owner stopped. */
void ring_chunks_resume(struct thread_ring *t);

/*
 * The count of bytes from which the ring or chunk that @t writes to is empty, if the
 * recorder has read up to @tail.
 */
uint64_t ring_chunks_begin(const struct thread_ring *t, uint64_t tail);

/*
 * ring_chunks_move() - goes on in the ring, if that is empty, or in a free chunk
 * @n_bytes:  must have room there
 * Returns false if there is neither; then nothing has changed.
 */
bool ring_chunks_move(struct thread_ring *t, uint64_t n_bytes);

#endif /* INSTRUMENT_CLIENT_THREAD_RING_H */
