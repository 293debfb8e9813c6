/* SPDX-License-Identifier: MIT */
#include "instrument/client/client.h"

#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client/ticks.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* A recorder that is not stopped takes over a region within milliseconds of hearing of it. */
#define CLAIM_NS UINT64_C(2000000000)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the rings are little endian");
_Static_assert(sizeof(struct client_abi_header) == 256, "ABI");
_Static_assert(sizeof(struct client_abi_slot) == 256, "ABI");
_Static_assert(sizeof(struct client_abi_location) == 64, "ABI");
_Static_assert(sizeof(struct client_abi_link) == 16, "ABI");
_Static_assert(CLIENT_ABI_CHUNK_LINKS_OFFSET + CLIENT_ABI_CHUNKS_MAX * sizeof(struct client_abi_link) ==
                       CLIENT_ABI_HEADER_ROOM_BYTES,
               "ABI");
_Static_assert(offsetof(struct client_abi_header, control_word) == HYPROF_CONTROL_AT_ * sizeof(uint32_t),
               "ABI");
_Static_assert(CLIENT_ABI_HEADER_ROOM_BYTES == HYPROF_CONTROL_WORDS_ * sizeof(uint32_t), "ABI");
_Static_assert(HYPROF_FAMILY_ZONES_ == CLIENT_ABI_FAMILY_ZONES, "ABI");
_Static_assert(HYPROF_FAMILY_FRAMES_ == CLIENT_ABI_FAMILY_FRAMES, "ABI");
_Static_assert(HYPROF_FAMILY_MESSAGES_ == CLIENT_ABI_FAMILY_MESSAGES, "ABI");
_Static_assert(HYPROF_FAMILY_PLOTS_ == CLIENT_ABI_FAMILY_PLOTS, "ABI");
_Static_assert(HYPROF_FAMILY_MEMORY_ == CLIENT_ABI_FAMILY_MEMORY, "ABI");
_Static_assert(HYPROF_FAMILY_LOCKS_ == CLIENT_ABI_FAMILY_LOCKS, "ABI");
_Static_assert(HYPROF_FAMILY_DEVICES_ == CLIENT_ABI_FAMILY_DEVICES, "ABI");
_Static_assert(HYPROF_FAMILY_ANY_ == CLIENT_ABI_FAMILIES, "ABI");
_Static_assert((CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS) == (UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT) - 1,
               "ABI");
_Static_assert(REGION_MEMORY_SLOTS_MAX == ZONE_HANDLE_TRACK_MAX + 1, "a thread's track is its own");
_Static_assert(REGION_MEMORY_LOCATIONS_MAX <= CLIENT_ABI_ARG_MAX, "ABI");

/*
 * Until the region's first page is mapped over this page, it says that every event is wanted, in no
 * session.  So the first event makes the client begin; constructors of libraries may run before ours.
 */
uint32_t hyprof_control[HYPROF_CONTROL_WORDS_] __attribute__((aligned(CLIENT_ABI_HEADER_ROOM_BYTES))) = {
        [HYPROF_CONTROL_AT_] = CLIENT_ABI_FAMILIES,
};

struct client client_self;

/*
 * The control word of a new region: recording already, if the environment asks
 * for it.  A child counts on from its parent's session, so that a zone which
 * was open at the fork is never taken for one of the child's own.
 */
static struct region_options options_for(uint32_t parent_session)
{
        uint32_t session_max = UINT32_MAX >> CLIENT_ABI_SESSION_SHIFT;
        uint32_t wanted = client_self.settings.wanted;
        uint32_t session = parent_session;

        if (wanted)
                session = parent_session < session_max ? parent_session + 1 : 1;
        return (struct region_options){
                .ring_bytes = client_self.settings.ring_bytes,
                .clock_kind = client_self.clock_kind,
                .control_word = session << CLIENT_ABI_SESSION_SHIFT | wanted,
                .spare_bytes = wanted ? client_self.settings.spare_bytes : 0,
        };
}

/*
 * Sends the region to the recorder that the environment names, and shows the region if that fails.
 * Programs that a recorded program starts inherit its environment, and may start after the recorder has
 * ended.  (The client cannot tell an ended recorder from one in another network namespace.)
 */
static void announce(void)
{
        int r = announcement_send(client_self.settings.recorder, client_self.region.fd);

        if (r < 0) /* once sent, it must not be shown: another recorder could take it */
                region_memory_show(&client_self.region);
        client_self.is_orphan = r == -ECONNREFUSED && client_self.settings.wanted != 0;
        client_self.claim_ns = r == 0 || client_self.is_orphan ? ticks_kernel_ns() + CLAIM_NS : 0;
}

/* Tells a recorder that waits for a region that there is none. */
static void announce_lack(void)
{
        (void)announcement_send(client_self.settings.recorder, -1);
}

/*
 * A recorder that attaches at this moment writes its PID before the control word: if it has taken over the
 * word that we clear, we see its PID and put the word back.
 */
void client_give_up(uint32_t word)
{
        struct client_abi_header *header = client_self.region.header;
        uint32_t idle = word & ~(CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS);

        if (__atomic_load_n(&header->recorder_pid, __ATOMIC_ACQUIRE) != 0 ||
            ticks_kernel_ns() < client_self.claim_ns ||
            !__atomic_compare_exchange_n(&header->control_word, &word, idle, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
                return;
        if (__atomic_load_n(&header->recorder_pid, __ATOMIC_ACQUIRE) != 0)
                (void)__atomic_compare_exchange_n(&header->control_word, &idle, word, false, __ATOMIC_RELEASE,
                                                  __ATOMIC_RELAXED);
}

/* Keeps the forking thread from writing until it is known which process it is in. */
static void before_fork(void)
{
        struct thread_ring *t = &thread_ring_self;

        t->state_at_fork = __atomic_load_n(&t->state, __ATOMIC_RELAXED);
        __atomic_store_n(&t->state, THREAD_RING_FORKING, __ATOMIC_RELAXED);
}

static void after_fork_in_parent(void)
{
        struct thread_ring *t = &thread_ring_self;

        __atomic_store_n(&t->state, t->state_at_fork, __ATOMIC_RELAXED);
}

/*
 * The child gets a region of its own before it can write into its parent's.
 * If fork() was called from a signal handler that interrupted an event, that
 * event will still be written when the handler returns: where the parent's
 * region was, there must be harmless memory then.
 */
static void after_fork_in_child(void)
{
        struct thread_ring *t = &thread_ring_self;
        struct region_memory parent = client_self.region;
        struct region_options options = options_for(client_control_word() >> CLIENT_ABI_SESSION_SHIFT);
        int saved_errno = errno;

        client_self.generation++;
        if (region_memory_create(&client_self.region, &options, hyprof_control) == 0) {
                if (region_memory_copy_locations(&client_self.region, &parent) == 0)
                        announce();
                else
                        region_memory_destroy(&client_self.region);
        } else {
                client_self.region = (struct region_memory){ .base = NULL };
        }
        if (!client_self.region.base) {
                (void)region_memory_blank_control(hyprof_control);
                announce_lack();
        }
        client_link_renew(&client_self.region);

        if (t->state_at_fork == THREAD_RING_BUSY) {
                (void)region_memory_cover(&parent);
                __atomic_store_n(&t->state, THREAD_RING_BUSY, __ATOMIC_RELAXED);
        } else {
                region_memory_destroy(&parent);
                t->slot = NULL;
                thread_ring_forget_zones(t, 0);
                __atomic_store_n(&t->state,
                                 t->state_at_fork == THREAD_RING_ENDED ? THREAD_RING_ENDED : THREAD_RING_NEW,
                                 __ATOMIC_RELAXED);
        }
        errno = saved_errno;
}

/* Marks all events as unwanted, unless another copy of the library has put its control page here. */
static void want_nothing(void)
{
        uint32_t unwanted = CLIENT_ABI_FAMILIES;

        (void)__atomic_compare_exchange_n(&hyprof_control[HYPROF_CONTROL_AT_], &unwanted, 0, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void make_region_or_join(void)
{
        struct region_options options;

        if (client_link_join(&client_self.other)) {
                want_nothing();
                return;
        }
        client_self.settings = client_settings_read();
        client_self.clock_kind = ticks_choose_kind();
        options = options_for(0);

        if (pthread_key_create(&client_self.thread_key, thread_ring_end) == 0 &&
            region_memory_create(&client_self.region, &options, hyprof_control) == 0) {
                announce();
                (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
                client_link_lead();
        } else {
                want_nothing();
                announce_lack();
        }
}

/*
 * An event that an allocator or a signal handler emits during this function finds that the client has not
 * begun.
 */
static bool begin_once(void)
{
        uint32_t phase = CLIENT_NEW;
        int saved_errno = errno;

        if (!__atomic_compare_exchange_n(&client_self.phase, &phase, CLIENT_BEGINNING, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
                return phase == CLIENT_BEGUN;
        make_region_or_join();
        __atomic_store_n(&client_self.phase, CLIENT_BEGUN, __ATOMIC_RELEASE);
        errno = saved_errno;
        return true;
}

/*
 * While libc has not initialised itself, there is no environment and nothing can begin.  Our constructor does
 * not ask for the environment: the program may have removed it by then.
 */
bool client_begin_now(void)
{
        return environ && begin_once();
}

/*
 * Runs early among the constructors; an event in a still earlier constructor has begun the client already.
 */
__attribute__((constructor(101))) static void begin_at_last(void)
{
        (void)begin_once();
        client_link_pin();
}
