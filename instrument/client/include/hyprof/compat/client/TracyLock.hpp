// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/client/TracyLock.hpp - the classes for locks, for programs that include it by itself
 *
 * Way of the data:  program -> [TracyLock.hpp] -> hyprof_tracy.hpp -> libhyprof
 */
#ifndef HYPROF_COMPAT_CLIENT_TRACY_LOCK_HPP
#define HYPROF_COMPAT_CLIENT_TRACY_LOCK_HPP

#include "TracyProfiler.hpp"

#endif // HYPROF_COMPAT_CLIENT_TRACY_LOCK_HPP
