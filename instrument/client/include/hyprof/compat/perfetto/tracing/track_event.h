// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/tracing/track_event.h - for programs that include <perfetto/tracing/track_event.h>
 *
 * Way of the data:  program -> [tracing/track_event.h] -> perfetto.h
 */
#include "../perfetto.h" // NOLINT(llvm-include-order)
