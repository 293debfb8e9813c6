/* SPDX-License-Identifier: MIT */
/*
 * hyprof/fiber.h - fibers, coroutines, tasks: work that moves from thread to thread
 *
 * Way of the data:  program -> [fiber.h] -> libhyprof -> shared memory -> hyprof record
 *
 * Between enter and leave, zones that the thread begins and ends are the
 * fiber's: they stay open while it does not run and go on where it is entered
 * again, on whatever thread.  The thread's own zones wait meanwhile.
 *
 * Cost while recording: one time stamp, a hash of the name and 16 bytes to
 * enter, 8 to leave; nothing for other events.
 *
 * Included by <hyprof/hyprof.h>.
 */
#ifndef HYPROF_FIBER_H
#define HYPROF_FIBER_H

#include "location.h"

#ifdef __cplusplus
extern "C" {
#endif

HYPROF_API_ void hyprof_emit_fiber_enter(const char *name);
HYPROF_API_ void hyprof_emit_fiber_leave(void);

/*
 * hyprof_fiber_enter() - the calling thread goes on as a fiber
 * @name:  ends in NUL, copied; address and content together tell one fiber from another
 * Entering another one without leaving the first is a change from one to the other.
 */
static inline void hyprof_fiber_enter(const char *name)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_fiber_enter(name);
}

/* The thread is itself again. */
static inline void hyprof_fiber_leave(void)
{
        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                hyprof_emit_fiber_leave();
}

#ifdef __cplusplus
}
#endif

#endif /* HYPROF_FIBER_H */
