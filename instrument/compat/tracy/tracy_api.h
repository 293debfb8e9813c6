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

/*
 * source_location.c - Tracy's source locations become ours
 *
 * Way of the data:  program -> *_calls -> [source_location] -> libhyprof
 *
 * Tracy's locations are constant, so they have no room for a number of ours.
 * This table finds them by their addresses.  Any thread and signal handlers;
 * nothing waits and nothing allocates.
 */

/*
 * source_location_find() - the location with the contents of @srcloc
 * To be called while a recorder is active.  About 2 ns once it is known.  Returns NULL for NULL, else as
 * hyprof_location_of().
 */
struct hyprof_location *source_location_find(const struct ___tracy_source_location_data *srcloc);

#endif /* INSTRUMENT_COMPAT_TRACY_TRACY_API_H */
