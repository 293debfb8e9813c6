/* SPDX-License-Identifier: MIT */
/*
 * Why a zone that was begun can always be ended
 *
 * A recorder that sees begins without ends, or ends without begins, shows nonsense.  So a begin is only
 * written if room is left for its own end and for the ends of all zones that are open already, and nothing
 * else may use that room.  An end takes two words at most (its own and a TIME before it).  limit_bytes is
 * where the ring would be full, less these reserves; an end gives its reserve back and then fits below the
 * limit, without looking at the tail.
 *
 * A fiber brings its open zones along.  This ring needs room for their ends, for leaving the fiber, and for
 * the ends of the thread's own zones, which wait.  Where there is not enough room, the thread is astray:
 * its state is never the control word, so that every event takes the slow path, tries again to say which
 * fiber this is, and is dropped until that succeeds.  Zones that end meanwhile are ended by the number of
 * open zones that FIBER_ENTER states.
 *
 * Why signal handlers do no harm
 *
 * A handler may interrupt the thread between any two instructions of an event.  `state` is BUSY from the
 * first to the last of them, and a handler that finds it BUSY drops its own event.  The handler runs on the
 * same thread, so that only the compiler's order matters: signal fences, no barriers.
 */
#include "instrument/client/thread_ring.h"

#include "instrument/client/name_table.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_DESTRUCTOR_RUNS     (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#define N_YIELDS_BEFORE_SLEEP 16
#define WAIT_NS               50000

_Thread_local struct thread_ring thread_ring_self = { .state = THREAD_RING_NEW };

static uint64_t *loss_counter(struct client_abi_slot *slot, enum thread_ring_loss kind)
{
        switch (kind) {
        case THREAD_RING_LOSS_ZONE:
                return &slot->n_dropped_zones;
        case THREAD_RING_LOSS_DEEP_ZONE:
                return &slot->n_dropped_deep_zones;
        case THREAD_RING_LOSS_MESSAGE:
                return &slot->n_dropped_messages;
        case THREAD_RING_LOSS_PLOT:
                return &slot->n_dropped_plots;
        case THREAD_RING_LOSS_FRAME:
                return &slot->n_dropped_frames;
        case THREAD_RING_LOSS_MEMORY:
                return &slot->n_dropped_memory;
        case THREAD_RING_LOSS_LOCK:
                return &slot->n_dropped_locks;
        case THREAD_RING_LOSS_DEVICE:
                return &slot->n_dropped_devices;
        case THREAD_RING_LOSS_NO_PICTURE:
                return &slot->n_unrecorded_pictures;
        case THREAD_RING_LOSS_NO_DEVICE_ZONE:
                return &slot->n_unrecorded_device_zones;
        case THREAD_RING_LOSS_NO_EVENT:
                return &slot->n_unrecorded_other;
        case THREAD_RING_LOSS_OTHER:
                break;
        }
        return &slot->n_dropped_other;
}

/* Atomic additions: a handler may come between the load and the store of a plain one. */
void thread_ring_count_loss(struct thread_ring *t, enum thread_ring_loss kind)
{
        if (t->slot && t->generation == client_self.generation)
                (void)__atomic_fetch_add(loss_counter(t->slot, kind), 1, __ATOMIC_RELAXED);
        else if (client_self.region.base)
                (void)__atomic_fetch_add(&client_self.region.header->n_dropped_no_ring, 1, __ATOMIC_RELAXED);
}

/* Raises the number of slots that a recorder looks at to @n at least. */
static void raise_slots_used(uint32_t n)
{
        uint32_t *used = &client_self.region.header->n_slots_used;
        uint32_t seen = __atomic_load_n(used, __ATOMIC_RELAXED);

        while (seen < n &&
               !__atomic_compare_exchange_n(used, &seen, n, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
                ;
}

/*
 * Takes the first free slot, so that a program with many short threads uses few.  The words of an earlier
 * owner may still be unread; new ones are appended after them.
 */
static bool take_slot(struct thread_ring *t)
{
        const struct region_memory *region = &client_self.region;
        uint32_t tid = (uint32_t)syscall(SYS_gettid);

        for (uint32_t i = 0; i < region->n_slots; i++) {
                struct client_abi_slot *slot = &region->slots[i];
                uint32_t no_owner = 0;

                if (__atomic_load_n(&slot->taken, __ATOMIC_RELAXED) != 0)
                        continue;
                /* Acquire pairs with the release in thread_ring_end(): the earlier owner's head is seen. */
                if (!__atomic_compare_exchange_n(&slot->taken, &no_owner, tid, false, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED))
                        continue;
                if (region_area_open(&client_self.region.ring_area, (i + 1) * region->ring_bytes) < 0) {
                        __atomic_store_n(&slot->taken, 0, __ATOMIC_RELEASE);
                        return false;
                }
                raise_slots_used(i + 1);
                t->slot = slot;
                t->track = i;
                t->generation = client_self.generation;
                ring_chunks_resume(t);
                t->last_fiber = NULL;
                t->head_bytes = slot->head_bytes & ~(uint64_t)(CLIENT_ABI_WORD_BYTES - 1);
                t->limit_bytes = 0;
                t->session = 0;
                (void)pthread_setspecific(client_self.thread_key, t);
                return true;
        }
        return false;
}

void thread_ring_forget_zones(struct thread_ring *t, uint32_t session)
{
        t->fiber = NULL;
        t->is_astray = false;
        t->zone_top = zone_handle_of_track(session, t->track);
        t->session = session;
}

/* Opens a session in the ring: writes whose events follow and from which time on; no zone is open then. */
static bool begin_session(struct thread_ring *t, uint32_t session)
{
        uint64_t ticks = ticks_read(client_self.clock_kind);
        uint64_t name_room = t->name_bytes ? THREAD_RING_EVENT_BYTES + THREAD_RING_NAME_BYTES : 0;
        uint64_t group_room = t->has_group ? THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES : 0;

        thread_ring_forget_zones(t, 0);
        t->limit_bytes = 0;
        if (!thread_ring_find_room(t,
                                   THREAD_RING_EVENT_BYTES + CLIENT_ABI_WORD_BYTES + name_room + group_room))
                return false;

        t->last_ticks = ~ticks; /* makes the next event write a TIME */
        thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_THREAD, 0);
        thread_ring_put_word(t, (uint32_t)syscall(SYS_gettid));
        if (t->name_bytes) {
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_THREAD_NAME, t->name_bytes);
                thread_ring_put_bytes(t, t->name, t->name_bytes);
        }
        if (t->has_group) {
                thread_ring_put_event(t, ticks, CLIENT_ABI_EVENT_THREAD_GROUP, 0);
                thread_ring_put_word(t, (uint64_t)(int64_t)t->group);
        }
        thread_ring_forget_zones(t, session);
        thread_ring_publish(t);
        return true;
}

static uint32_t family_of(enum thread_ring_loss kind)
{
        switch (kind) {
        case THREAD_RING_LOSS_ZONE:
        case THREAD_RING_LOSS_DEEP_ZONE:
                return CLIENT_ABI_FAMILY_ZONES;
        case THREAD_RING_LOSS_MESSAGE:
                return CLIENT_ABI_FAMILY_MESSAGES;
        case THREAD_RING_LOSS_PLOT:
                return CLIENT_ABI_FAMILY_PLOTS;
        case THREAD_RING_LOSS_FRAME:
        case THREAD_RING_LOSS_NO_PICTURE:
                return CLIENT_ABI_FAMILY_FRAMES;
        case THREAD_RING_LOSS_MEMORY:
                return CLIENT_ABI_FAMILY_MEMORY;
        case THREAD_RING_LOSS_LOCK:
                return CLIENT_ABI_FAMILY_LOCKS;
        case THREAD_RING_LOSS_DEVICE:
        case THREAD_RING_LOSS_NO_DEVICE_ZONE:
                return CLIENT_ABI_FAMILY_DEVICES;
        case THREAD_RING_LOSS_OTHER:
        case THREAD_RING_LOSS_NO_EVENT:
                break;
        }
        return CLIENT_ABI_FAMILY_ALWAYS;
}

/*
 * For an event that has seen the control word from before the client began.  Returns the present word, or 0
 * if the event is not wanted.
 */
static uint32_t word_of_first_event(enum thread_ring_loss kind)
{
        uint32_t word = client_begin() ? client_control_word() : 0;

        return (word & family_of(kind)) != 0 ? word : 0;
}

bool thread_ring_hold(struct thread_ring *t, uint32_t word, enum thread_ring_loss kind)
{
        uint32_t state = __atomic_load_n(&t->state, __ATOMIC_RELAXED);
        uint32_t session;
        int saved_errno = errno;
        bool ready;

        if (CLIENT_UNLIKELY(word == CLIENT_ABI_FAMILIES))
                word = word_of_first_event(kind);
        session = word >> CLIENT_ABI_SESSION_SHIFT;
        if (!client_self.region.base)
                return false; /* another copy of this library has the region, or no copy has */
        if (!(word & CLIENT_ABI_FAMILIES) || session == 0)
                return false; /* the recording ended since the caller looked */
        if (state == THREAD_RING_FORKING)
                return false;
        if (state == THREAD_RING_BUSY || state == THREAD_RING_ENDED) {
                thread_ring_count_loss(t, kind);
                return false;
        }

        __atomic_store_n(&t->state, THREAD_RING_BUSY, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        ready = (t->slot && t->generation == client_self.generation) || take_slot(t);
        if (ready && t->session != session) /* else only the families changed, or the thread is astray */
                ready = begin_session(t, session);
        if (!ready) {
                thread_ring_count_loss(t, kind);
                thread_ring_leave(t, state);
        }
        errno = saved_errno;
        return ready;
}

void thread_ring_let_go(struct thread_ring *t, uint32_t word)
{
        thread_ring_leave(t, t->is_astray ? (uint32_t)THREAD_RING_ASTRAY : word);
}

bool thread_ring_enter_slow(struct thread_ring *t, uint32_t word, enum thread_ring_loss kind)
{
        if (!thread_ring_hold(t, word, kind))
                return false;
        if (!t->is_astray || thread_ring_tell_fiber(t))
                return true;
        thread_ring_count_loss(t, kind);
        thread_ring_let_go(t, word);
        return false;
}

/*
 * True as long as waiting makes sense: the same recording goes on, and its recorder
 * lives or is about to come.
 */
static bool recorder_lives(uint32_t word)
{
        uint32_t pid = __atomic_load_n(&client_self.region.header->recorder_pid, __ATOMIC_RELAXED);

        if (client_control_word() != word || pid > INT_MAX)
                return false;
        if (pid == 0)
                return !client_self.is_orphan && client_self.claim_ns != 0 &&
                       ticks_kernel_ns() < client_self.claim_ns;
        return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* The room that is kept free for the ends of open zones, and for leaving a fiber. */
static uint64_t reserved_bytes(const struct thread_ring *t)
{
        uint64_t n = zone_handle_depth(t->zone_top);

        if (t->fiber)
                n = zone_handle_depth(t->own_zone_top) + (t->is_astray ? 0 : n + 1);
        return n * THREAD_RING_EVENT_BYTES;
}

/* Learns how far the recorder has read. */
static bool look_for_room(struct thread_ring *t, uint64_t n_bytes)
{
        /*
         * Pairs with the release of the tail in client_region_drain(): the recorder has read the words that
         * we will overwrite.
         */
        uint64_t tail = __atomic_load_n(&t->slot->tail_bytes, __ATOMIC_ACQUIRE);
        uint64_t full = ring_chunks_begin(t, tail) + t->mask + 1;
        uint64_t reserved = reserved_bytes(t);

        t->limit_bytes = full > reserved ? full - reserved : 0;
        return t->head_bytes + n_bytes <= t->limit_bytes;
}

/* Looks for room where the thread writes now, or else where it can go on. */
static bool look_everywhere(struct thread_ring *t, uint64_t n_bytes)
{
        return look_for_room(t, n_bytes) ||
               (ring_chunks_move(t, n_bytes + reserved_bytes(t)) && look_for_room(t, n_bytes));
}

bool thread_ring_find_room(struct thread_ring *t, uint64_t n_bytes)
{
        const struct timespec pause = { .tv_nsec = WAIT_NS };
        uint32_t word = client_control_word();
        int saved_errno = errno;
        bool found = look_everywhere(t, n_bytes);
        /* An event that does not fit into an empty ring will never fit. */
        bool may_wait = client_self.settings.wait_when_full && n_bytes + reserved_bytes(t) <= t->mask + 1;

        for (unsigned n = 0; !found && may_wait && recorder_lives(word); n++) {
                if (n < N_YIELDS_BEFORE_SLEEP)
                        (void)sched_yield();
                else
                        (void)nanosleep(&pause, NULL);
                found = look_everywhere(t, n_bytes);
        }
        if (!found && client_self.is_orphan)
                client_give_up(word);
        errno = saved_errno;
        return found;
}

void thread_ring_put_bytes(struct thread_ring *t, const void *data, size_t n)
{
        const uint8_t *at = data;
        size_t left = n;

        for (; left >= CLIENT_ABI_WORD_BYTES; left -= CLIENT_ABI_WORD_BYTES) {
                uint64_t word;

                memcpy(&word, at, sizeof(word));
                thread_ring_put_word(t, word);
                at += sizeof(word);
        }
        if (left > 0)
                thread_ring_put_word(t, n > left ? thread_ring_end_word(at + left, left)
                                                 : thread_ring_short_word(at, left));
}

/*
 * Destructors of other keys may run after this one and still record, so the slot is given back in the last
 * but one of the destructor rounds that POSIX promises.  The last round belongs to the sanitizers, which
 * end the thread for themselves in it and must not be called afterwards.
 */
void thread_ring_end(void *thread_ring)
{
        struct thread_ring *t = thread_ring;

        if (++t->n_destructor_runs < N_DESTRUCTOR_RUNS && pthread_setspecific(client_self.thread_key, t) == 0)
                return;

        __atomic_store_n(&t->state, THREAD_RING_ENDED, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (t->fiber) /* which may go on elsewhere */
                __atomic_store_n(&t->fiber->zone_top, t->zone_top, __ATOMIC_RELAXED);
        t->fiber = NULL;
        /* Pairs with the acquire in take_slot(). */
        if (t->slot && t->generation == client_self.generation)
                __atomic_store_n(&t->slot->taken, 0, __ATOMIC_RELEASE);
        t->slot = NULL;
}
