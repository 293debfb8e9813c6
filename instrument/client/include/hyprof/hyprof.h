/* SPDX-License-Identifier: MIT */
/*
 * hyprof/hyprof.h - tell a recording what your program is doing
 *
 * Way of the data:  program -> [hyprof.h] -> libhyprof -> shared memory -> hyprof record
 * Specification:    docs/understand/client-abi.md
 *
 *      #include <hyprof/hyprof.h>
 *
 *      void render(void)
 *      {
 *              HYPROF_ZONE("render");         // ends with the enclosing block
 *              ...
 *      }
 *
 * Link with -lhyprof.  Nothing has to be started or stopped; `hyprof record`
 * finds the program before or while it runs.
 *
 * Cost.  Without a recorder, every call is one relaxed load and a branch.  While a recorder is active, an
 * event is one time stamp and one or two stores of 8 bytes into a ring of the calling thread.
 *
 * Threads and signals.  Everything here may be called from any thread and from
 * signal handlers, and leaves errno alone.  Nothing blocks, allocates, prints,
 * starts a thread or ends the program.  An event from a handler that
 * interrupted the library in the middle of writing another one is dropped and
 * counted.  (HYPROF_FULL=wait in the environment asks for waiting, instead of
 * dropping, when a ring is full.)
 *
 * Ownership.  Texts and names are copied before a call returns.  Structs that
 * a caller hands in by a pointer (locations, locks, devices) must stay where
 * they are as long as they may be used.
 *
 * -DHYPROF_DISABLE makes all of it nothing: the same machine code as without
 * the lines, arguments not evaluated by the macros, nothing to link with.
 *
 * C99 and later, C++11 and later; gcc and clang.  <hyprof/hyprof.hpp> adds
 * classes for C++.
 *
 * The headers include each other by relative paths: this one works by any path
 * to it, with no -I.
 */
#ifndef HYPROF_HYPROF_H
#define HYPROF_HYPROF_H

#include "device.h"
#include "fiber.h"
#include "flow.h"
#include "location.h"
#include "lock.h"
#include "memory.h"
#include "moment.h"
#include "program.h"
#include "zone.h"

#endif /* HYPROF_HYPROF_H */
