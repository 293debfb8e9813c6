// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/client/TracyProfiler.hpp - tracy::Profiler, for programs that include it by itself
 *
 * Way of the data:  program -> [TracyProfiler.hpp] -> hyprof_tracy.hpp -> libhyprof
 */
#ifndef HYPROF_COMPAT_CLIENT_TRACY_PROFILER_HPP
#define HYPROF_COMPAT_CLIENT_TRACY_PROFILER_HPP

#include "../common/TracyApi.h"
#include "../common/TracyForceInline.hpp"
#include "../common/TracySystem.hpp"
#include "../tracy/hyprof_tracy.hpp"
#include "TracyCallstack.hpp"

#endif // HYPROF_COMPAT_CLIENT_TRACY_PROFILER_HPP
