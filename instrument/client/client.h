/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/client.h - the client library's state in this process
 *
 * Way of the data:  program -> events -> [client] -> region_memory -> recorder
 *
 * The first event makes the region, or else a constructor; it stays until the process ends.  If anything
 * fails on the way, there is no region, the control page becomes zero and the program runs as if it were
 * never recorded.  Where another copy of this library in the process has a region already, this one passes
 * everything on to that.
 */
#ifndef INSTRUMENT_CLIENT_CLIENT_H
#define INSTRUMENT_CLIENT_CLIENT_H

#include "instrument/client/client_link.h"
#include "instrument/client/client_settings.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/region_memory.h"
#include "instrument/client_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CLIENT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define CLIENT_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum client_phase {
        CLIENT_NEW = 0,
        CLIENT_BEGINNING = 1,
        CLIENT_BEGUN = 2, /* pairs with an acquire: the rest of struct client is complete */
};

/*
 * Written by client_begin() and by fork handlers, when no other thread can look.
 */
struct client {
        uint32_t phase; /* atomic; enum client_phase */
        struct region_memory region;
        struct client_settings settings;
        uint32_t clock_kind;      /* enum client_abi_clock */
        uint32_t generation;      /* of the region: +1 for each fork on the way from the first process */
        pthread_key_t thread_key; /* its destructor gives a thread's slot back */
        /* A recorder that knows of a region which records since its start has it by then; 0 = long ago. */
        uint64_t claim_ns;
        bool is_orphan; /* records since its start, but the recorder of its environment does not listen */
        /*
         * The functions to call instead, in a copy without a region.  NULL in the one that has it: its fast
         * paths never look, for in a copy without a region thread_ring_enter() always fails.
         */
        const struct client_link_functions *other;
};

extern struct client client_self;

/*
 * client_begin() - make the region, or find the copy that has one, unless that was done
 * Returns false if it cannot be done yet, or another thread is about to: the event that asks is not recorded.
 * Allocates nothing.
 */
bool client_begin_now(void);
static inline bool client_begin(void)
{
        return CLIENT_LIKELY(__atomic_load_n(&client_self.phase, __ATOMIC_ACQUIRE) == CLIENT_BEGUN) ||
               client_begin_now();
}

/*
 * client_give_up() - stop recording if no recorder came in time to read the events of an orphan
 * @word:  the value of client_control_word() a moment ago
 * The program then costs as little as an idle one.  A recorder that comes later begins a session of its own.
 * May be called by any thread, and in signal handlers.
 */
void client_give_up(uint32_t word);

/* The recorder's present request.  A hint until the thread's ring agrees with it. */
static inline uint32_t client_control_word(void)
{
        return __atomic_load_n(&hyprof_control[HYPROF_CONTROL_AT_], __ATOMIC_RELAXED);
}

#endif /* INSTRUMENT_CLIENT_CLIENT_H */
