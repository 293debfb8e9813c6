/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/source_location.h - Tracy's source locations become ours
 *
 * Way of the data:  program -> *_calls -> [source_location] -> libhyprof
 *
 * Tracy's are constant, so that a number of ours has no room in them.  They are
 * known by their addresses here.  Any thread and signal handlers; nothing waits
 * and nothing allocates.
 */
#ifndef INSTRUMENT_COMPAT_TRACY_SOURCE_LOCATION_H
#define INSTRUMENT_COMPAT_TRACY_SOURCE_LOCATION_H

#include "instrument/compat/tracy/tracy_api.h"

/*
 * source_location_find() - the location with the contents of @srcloc
 * To be called while a recorder is active.  About 2 ns once it is known.  Returns NULL for NULL, else as
 * hyprof_location_of().
 */
struct hyprof_location *source_location_find(const struct ___tracy_source_location_data *srcloc);

#endif /* INSTRUMENT_COMPAT_TRACY_SOURCE_LOCATION_H */
