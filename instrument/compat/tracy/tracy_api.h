/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/tracy_api.h - the functions that this library gives to programs
 *
 * Way of the data:  program -> [tracy_api] -> *_calls -> libhyprof
 *
 * TRACY_COMPAT_API and HYPROF_TRACY_ON_DEMAND_ABI, given to the compiler, choose what differs between Tracy's
 * revisions; see docs/use/tracy-compat.md.
 */
#ifndef INSTRUMENT_COMPAT_TRACY_TRACY_API_H
#define INSTRUMENT_COMPAT_TRACY_TRACY_API_H

#ifndef TRACY_ENABLE
#define TRACY_ENABLE
#endif

#include <hyprof/compat/tracy/TracyC.h>

#endif /* INSTRUMENT_COMPAT_TRACY_TRACY_API_H */
