/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/client_link.h - several copies of this library in one process have one region
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
#ifndef INSTRUMENT_CLIENT_CLIENT_LINK_H
#define INSTRUMENT_CLIENT_CLIENT_LINK_H

#include "instrument/client/include/hyprof/hyprof.h"

#include <stdbool.h>
#include <stdint.h>

/* Another number is another layout of what follows, and its copies do not talk to each other. */
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
        X(device_span)

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
        void (*join)(struct client_link *copy); /* to be called with one's own, when a copy comes ... */
        void (*part)(struct client_link *copy); /* ... and when it is unloaded */
        struct client_link_functions functions;
};

struct region_memory;

/*
 * client_link_join() - look for a copy that has the region, and let it have our control page as well
 * @ret_functions: the functions to call from now on; not touched if the other copy is too different to be
 *                 called
 * Returns false if there is no other copy: then the region is to be made here.
 */
bool client_link_join(const struct client_link_functions **ret_functions);

/* This copy has made the region: others may join. */
void client_link_lead(void);

/* If it has: its code is never unloaded from now on. */
void client_link_pin(void);

/* After a fork: the copies that have joined look at the new region, or at zeros if there is no region. */
void client_link_renew(const struct region_memory *region);

/* Passes a call on if another copy has the region.  For functions that return nothing. */
#define CLIENT_LINK_PASS_ON(name, ...)                        \
        do {                                                  \
                if (client_self.other)                        \
                        client_self.other->name(__VA_ARGS__); \
        } while (0)

/*
 * After the definition of hyprof_emit_NAME(): a second name for it, which certainly means this copy's.  The
 * first one may be bound to another copy's by the dynamic linker.
 */
#define CLIENT_LINK_OWN(name)                                   \
        extern __typeof__(hyprof_emit_##name) client_own_##name \
                __attribute__((alias("hyprof_emit_" #name), visibility("hidden")))

#endif /* INSTRUMENT_CLIENT_CLIENT_LINK_H */
