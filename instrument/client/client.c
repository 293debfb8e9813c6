/* SPDX-License-Identifier: MIT */
#include "instrument/client/client.h"

#include "instrument/client/announcement.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client/ticks.h"

#include <errno.h>
#include <stddef.h>

/* A recorder that hears of a region has it in its hands within milliseconds, if it is not stopped. */
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

/* Zero until the region's first page is mapped over it, so that instrumentation may run before us. */
uint32_t hyprof_control[HYPROF_CONTROL_WORDS_] __attribute__((aligned(CLIENT_ABI_HEADER_ROOM_BYTES)));

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
 * Hands the region in, if the environment says where, and else shows it.  Programs that a recorded one starts
 * inherit its environment, and may be started when the recorder has ended.  (One in another network namespace
 * cannot be told from that.)
 */
static void announce(void)
{
        int r = announcement_send(client_self.settings.recorder, client_self.region.fd);

        if (r < 0) /* else another recorder, which hears of it first, would take it from the one that waits */
                region_memory_show(&client_self.region);
        client_self.is_orphan = r == -ECONNREFUSED && client_self.settings.wanted != 0;
        client_self.claim_ns = r == 0 || client_self.is_orphan ? ticks_kernel_ns() + CLAIM_NS : 0;
}

/* There is no region: the recorder, if it waits for one, knows what it has not got. */
static void announce_lack(void)
{
        (void)announcement_send(client_self.settings.recorder, -1);
}

/*
 * A recorder that comes at this moment writes its PID, and then the control word: if it has what we
 * clear, we see its PID.
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

/* Early among the constructors, so that those of the program are recorded as well. */
__attribute__((constructor(101))) static void begin(void)
{
        struct region_options options;
        int saved_errno = errno;

        if (client_link_join(&client_self.other))
                return;
        client_self.settings = client_settings_read();
        client_self.clock_kind = ticks_choose_kind();
        options = options_for(0);

        if (pthread_key_create(&client_self.thread_key, thread_ring_end) == 0 &&
            region_memory_create(&client_self.region, &options, hyprof_control) == 0) {
                announce();
                (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
                client_link_lead();
        } else {
                announce_lack();
        }
        errno = saved_errno;
}
