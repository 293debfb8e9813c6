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

#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/region_memory.h"
#include "instrument/client_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * announcement.c - hand the region to the recorder that started this program
 *
 * Way of the data:  client -> [announcement] -> region_inbox
 * Specification:    docs/understand/client-abi.md, "How a recorder finds a region"
 *
 * The kernel tells a recorder of the region's mapping, but a program may have
 * ended before the recorder can open it.  A descriptor on its way through a
 * socket outlives its sender.
 */

#define ANNOUNCEMENT_ADDRESS_BYTES 64

/*
 * announcement_send() - send a descriptor to a listening socket
 * @address:  "@name" for an abstract address of AF_UNIX; "" = no recorder waits, nothing is done
 * @fd: stays the caller's; -1 = the program has no region, and its events are lost: no descriptor is sent
 * Nothing is sent to a process of another user but root, nor to any process but the recorder that the address
 * names.  Returns 0, -EINVAL if there is no address, -ECONNREFUSED if no process listens there or one that is
 * not the recorder, -errno.  Never blocks: without it the recorder looks for the region itself.
 * Async-signal-safe.  Six system calls.
 */
int announcement_send(const char *address, int fd);

/*
 * client_settings.c - what the environment asks of the client
 *
 * Way of the data:  environment -> [client_settings] -> client
 */

struct client_settings {
        /*
         * HYPROF_RECORD: record from the first instruction, before any recorder has come.
         * "all", names separated by commas (zones, frames, messages, plots, memory, locks,
         * devices), each also as "name=callstacks", or a decimal number.  As in the low half of
         * the control word: CLIENT_ABI_FAMILY_* and their callstacks.  0 = wait for a recorder.
         */
        uint32_t wanted;
        /* HYPROF_RING: bytes of each thread's ring, a power of two; else the default. */
        uint64_t ring_bytes;
        /*
         * HYPROF_SPARE: bytes of chunks that all threads together may fill when their rings are full; 0 =
         * none.  Where it is set, rings are no larger than the default.
         */
        uint64_t spare_bytes;
        /* HYPROF_RECORDER: where the region is handed in; "" = nowhere. */
        char recorder[ANNOUNCEMENT_ADDRESS_BYTES];
        /* HYPROF_FULL=wait: wait for the recorder instead of dropping events. */
        bool wait_when_full;
};

/* Reads the environment, which a program with raised privileges does not trust; nonsense is passed over. */
struct client_settings client_settings_read(void);

/*
 * The parsers of single settings, public for their tests; they return 0 for a text that makes no sense.
 * @text may be NULL.
 */
uint32_t client_settings_parse_wanted(const char *text);
uint64_t client_settings_parse_ring_bytes(const char *text);
uint64_t client_settings_parse_spare_bytes(const char *text);

/*
 * client_link.c - several copies of this library in one process have one region
 *
 * Way of the data:  events of a copy without a region -> [client_link] -> events of the copy with the region
 * Specification:    docs/understand/client-abi.md, "Several copies"
 *
 * A program and the shared objects that it loads may each have been linked with
 * the static library.  The first copy with an event, or else the one whose constructor
 * runs first, makes the region, the others find it and pass all calls on.  They find it by an ELF note, which
 * is there whether the copies' symbols are visible or not.
 *
 *      void hyprof_emit_plot_int(struct hyprof_location *name, int64_t value)
 *      {
 *              ...
 *              if (!thread_ring_enter(t, word, THREAD_RING_LOSS_PLOT)) {
 *                      CLIENT_LINK_PASS_ON(plot_int, name, value);
 *                      return;
 *              }
 *              ...
 *      }
 *      CLIENT_LINK_OWN(plot_int);
 */

/* Changes with the layout of the structs below; copies with different numbers do not call each other. */
#define CLIENT_LINK_VERSION 1

/*
 * The functions that a program can call and that need the region, hyprof_emit_*.  New ones come at the end.
 */
#define CLIENT_LINK_FUNCTIONS(X) \
        X(zone_begin)            \
        X(zone_begin_callstack)  \
        X(zone_end)              \
        X(zone_text)             \
        X(zone_name)             \
        X(zone_value)            \
        X(zone_color)            \
        X(fiber_enter)           \
        X(fiber_leave)           \
        X(location_of)           \
        X(frame_mark)            \
        X(frame_begin)           \
        X(frame_end)             \
        X(message)               \
        X(plot_int)              \
        X(plot_double)           \
        X(plot_config)           \
        X(memory_alloc)          \
        X(memory_free)           \
        X(memory_discard)        \
        X(lock)                  \
        X(lock_mark)             \
        X(lock_name)             \
        X(thread_name)           \
        X(thread_group)          \
        X(program_info)          \
        X(source_text)           \
        X(code_add)              \
        X(code_remove)           \
        X(device_calibration)    \
        X(device_zone_begin)     \
        X(device_zone_end)       \
        X(device_time)           \
        X(device_span)           \
        CLIENT_LINK_LATER_FUNCTIONS(X)

/* A copy that was made earlier lacks these: see CLIENT_LINK_PASS_ON_LATER(). */
#define CLIENT_LINK_LATER_FUNCTIONS(X) \
        X(device_bracket)              \
        X(device_track)                \
        X(device_keyed_span)           \
        X(device_value)                \
        X(device_instant)              \
        X(zone_key)                    \
        X(code_add_lines)              \
        X(unrecorded)                  \
        X(flow)                        \
        X(frame_picture)

struct client_link_functions {
#define X(name) __typeof__(hyprof_emit_##name) *(name);
        CLIENT_LINK_FUNCTIONS(X)
#undef X
};

/*
 * The part of a copy that the others see.  Never moved or resized within a version; `functions` grows at its
 * end.
 */
struct client_link {
        uint32_t version;
        uint32_t bytes;                         /* of this struct */
        uint32_t has_region;                    /* 1 = this copy made the region */
        uint32_t reserved;                      /* 0 */
        void *control_page;                     /* that this copy's program looks at */
        struct client_link *next;               /* of the copies that have joined the one with the region */
        void (*join)(struct client_link *copy); /* a new copy calls it with its own link ... */
        void (*part)(struct client_link *copy); /* ... and when it is unloaded */
        struct client_link_functions functions;
};

/*
 * client_link_join() - look for a copy that has the region, and let it have our control page as well
 * @ret_functions: the functions to call from now on; not touched if the other copy is too different to be
 *                 called
 * Returns false if there is no other copy: then the region is to be made here.
 */
bool client_link_join(const struct client_link_functions **ret_functions);

/* This copy has made the region: others may join. */
void client_link_lead(void);

/* If this copy has made the region, its code is never unloaded from now on. */
void client_link_pin(void);

/* After a fork: the copies that have joined look at the new region, or at zeros if there is no region. */
void client_link_renew(const struct region_memory *region);

/* A copy without CLIENT_LINK_LATER_FUNCTIONS, which can be called but for these, has so many. */
#define CLIENT_LINK_BYTES_MIN \
        (offsetof(struct client_link, functions) + offsetof(struct client_link_functions, device_bracket))

/* Whether the copy that has @functions has the one at this offset of them. */
static inline bool client_link_has(const struct client_link_functions *functions, size_t offset)
{
        size_t before = offsetof(struct client_link, functions);
        const struct client_link *link = (const struct client_link *)(const void *)((const char *)functions -
                                                                                    before);

        return before + offset + sizeof(functions->zone_begin) <= link->bytes;
}

/* Passes a call on if another copy has the region.  For functions that return nothing. */
#define CLIENT_LINK_PASS_ON(name, ...)                        \
        do {                                                  \
                if (client_self.other)                        \
                        client_self.other->name(__VA_ARGS__); \
        } while (0)

/* The same for CLIENT_LINK_LATER_FUNCTIONS: nothing is recorded if the other copy lacks the function. */
#define CLIENT_LINK_PASS_ON_LATER(name, ...)                                                         \
        do {                                                                                         \
                const struct client_link_functions *other_ = client_self.other;                      \
                                                                                                     \
                if (other_ && client_link_has(other_, offsetof(struct client_link_functions, name))) \
                        other_->name(__VA_ARGS__);                                                   \
        } while (0)

/*
 * After the definition of hyprof_emit_NAME(): a second name, which always means this copy's function.  The
 * dynamic linker may bind the first name to another copy's function.
 */
#define CLIENT_LINK_OWN(name)                                   \
        extern __typeof__(hyprof_emit_##name) client_own_##name \
                __attribute__((alias("hyprof_emit_" #name), visibility("hidden")))

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
        /*
         * By then, a recorder that knows of a self-started region has taken it over; 0 = that time is over.
         */
        uint64_t claim_ns;
        bool is_orphan; /* the program records since its start, but its recorder does not listen */
        /*
         * The functions to call instead, in a copy without a region.  NULL in the copy that has the region.
         * Fast paths never look at it: in a copy without a region thread_ring_enter() always fails.
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
