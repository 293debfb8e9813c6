// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyOpenCL.hpp - Tracy's macros for OpenCL, which record nothing
 *
 * Way of the data:  program -> [TracyOpenCL.hpp]
 *
 * They record what a device does by asking its driver, which is not done here.  Programs that use them
 * compile and run, and the report says how many zones were not recorded; a program that reads the time stamps
 * itself can report them: <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_OPENCL_HPP
#define HYPROF_COMPAT_TRACY_OPENCL_HPP

#include "hyprof_tracy_no_device.h"

namespace tracy
{
class OpenCLCtxScope
{
};
} // namespace tracy

using TracyCLCtx = void *;

#define TracyCLContext(...) nullptr
#define TracyCLDestroy(...)
#define TracyCLContextName(...)
#define TracyCLCollect(...)
#define TracyCLNamedZoneSetEvent(...)
#define TracyCLZoneSetEvent(...)
#define TracyCLNamedZone(...)      HYPROF_TRACY_NO_ZONE_
#define TracyCLNamedZoneC(...)     HYPROF_TRACY_NO_ZONE_
#define TracyCLZone(...)           HYPROF_TRACY_NO_ZONE_
#define TracyCLZoneC(...)          HYPROF_TRACY_NO_ZONE_
#define TracyCLZoneTransient(...)  HYPROF_TRACY_NO_ZONE_
#define TracyCLNamedZoneS(...)     HYPROF_TRACY_NO_ZONE_
#define TracyCLNamedZoneCS(...)    HYPROF_TRACY_NO_ZONE_
#define TracyCLZoneS(...)          HYPROF_TRACY_NO_ZONE_
#define TracyCLZoneCS(...)         HYPROF_TRACY_NO_ZONE_
#define TracyCLZoneTransientS(...) HYPROF_TRACY_NO_ZONE_

#endif // HYPROF_COMPAT_TRACY_OPENCL_HPP
