// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyD3D11.hpp - Tracy's macros for Direct3D 11, which record nothing
 *
 * Way of the data:  program -> [TracyD3D11.hpp]
 *
 * They record what a device does by asking its driver, which is not done here.  Programs that use them
 * compile and run, and the report says how many zones were not recorded; a program that reads the time stamps
 * itself can report them: <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_D3D11_HPP
#define HYPROF_COMPAT_TRACY_D3D11_HPP

#include "hyprof_tracy_no_device.h"

namespace tracy
{
class D3D11ZoneScope
{
};
} // namespace tracy

using TracyD3D11Ctx = void *;

#define TracyD3D11Context(...) nullptr
#define TracyD3D11Destroy(...)
#define TracyD3D11ContextName(...)
#define TracyD3D11NewFrame(...)
#define TracyD3D11Collect(...)
#define TracyD3D11NamedZone(...)      HYPROF_TRACY_NO_ZONE_
#define TracyD3D11NamedZoneC(...)     HYPROF_TRACY_NO_ZONE_
#define TracyD3D11Zone(...)           HYPROF_TRACY_NO_ZONE_
#define TracyD3D11ZoneC(...)          HYPROF_TRACY_NO_ZONE_
#define TracyD3D11ZoneTransient(...)  HYPROF_TRACY_NO_ZONE_
#define TracyD3D11NamedZoneS(...)     HYPROF_TRACY_NO_ZONE_
#define TracyD3D11NamedZoneCS(...)    HYPROF_TRACY_NO_ZONE_
#define TracyD3D11ZoneS(...)          HYPROF_TRACY_NO_ZONE_
#define TracyD3D11ZoneCS(...)         HYPROF_TRACY_NO_ZONE_
#define TracyD3D11ZoneTransientS(...) HYPROF_TRACY_NO_ZONE_

#endif // HYPROF_COMPAT_TRACY_D3D11_HPP
