// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/perfetto.h - the track events of Perfetto's SDK, recorded by hyprof
 *
 * Way of the data:  program -> [perfetto.h] -> hyprof.h -> libhyprof -> hyprof record
 * Specification:    docs/use/perfetto-compat.md
 *
 * A program that is instrumented with Perfetto's SDK is compiled again with
 * -I<prefix>/include/hyprof/compat/perfetto instead of the SDK's folder, and linked with -lhyprof instead of
 * perfetto.cc.  C++17 and later, as the SDK; gcc and clang.
 *
 * Slices of threads are zones, those of other tracks and with times of their own are spans of a device,
 * instants are messages, counters are plots, annotations are texts.
 */
#ifndef HYPROF_COMPAT_PERFETTO_H
#define HYPROF_COMPAT_PERFETTO_H

#include "hyprof_perfetto_events.hpp"
#include "hyprof_perfetto_session.hpp"
#include "hyprof_perfetto_track_event.hpp"

#if defined PERFETTO_ENABLE_LEGACY_TRACE_EVENTS && PERFETTO_ENABLE_LEGACY_TRACE_EVENTS
#include "hyprof_perfetto_legacy.hpp"
#endif

#endif // HYPROF_COMPAT_PERFETTO_H
