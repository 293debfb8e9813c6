// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/client/TracyScoped.hpp - tracy::ScopedZone, for programs that include it by itself
 *
 * Way of the data:  program -> [TracyScoped.hpp] -> hyprof_tracy.hpp -> libhyprof
 */
#ifndef HYPROF_COMPAT_CLIENT_TRACY_SCOPED_HPP
#define HYPROF_COMPAT_CLIENT_TRACY_SCOPED_HPP

#include "TracyProfiler.hpp"

#endif // HYPROF_COMPAT_CLIENT_TRACY_SCOPED_HPP
