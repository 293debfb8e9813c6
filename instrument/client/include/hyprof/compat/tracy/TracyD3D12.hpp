// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyD3D12.hpp - Tracy's macros for Direct3D 12, which record nothing
 *
 * Way of the data:  program -> [TracyD3D12.hpp]
 *
 * They record what a device does by asking its driver, which is not done here.  Programs that use them
 * compile and run, and the report says how many zones were not recorded; a program that reads the time stamps
 * itself can report them: <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_D3D12_HPP
#define HYPROF_COMPAT_TRACY_D3D12_HPP

#include "hyprof_tracy_no_device.h"

namespace tracy
{
class D3D12ZoneScope
{
};
} // namespace tracy

using TracyD3D12Ctx = void *;

#define TracyD3D12Context(...) nullptr
#define TracyD3D12Destroy(...)
#define TracyD3D12ContextName(...)
#define TracyD3D12NewFrame(...)
#define TracyD3D12Collect(...)
#define TracyD3D12NamedZone(...)      HYPROF_TRACY_NO_ZONE_
#define TracyD3D12NamedZoneC(...)     HYPROF_TRACY_NO_ZONE_
#define TracyD3D12Zone(...)           HYPROF_TRACY_NO_ZONE_
#define TracyD3D12ZoneC(...)          HYPROF_TRACY_NO_ZONE_
#define TracyD3D12ZoneTransient(...)  HYPROF_TRACY_NO_ZONE_
#define TracyD3D12NamedZoneS(...)     HYPROF_TRACY_NO_ZONE_
#define TracyD3D12NamedZoneCS(...)    HYPROF_TRACY_NO_ZONE_
#define TracyD3D12ZoneS(...)          HYPROF_TRACY_NO_ZONE_
#define TracyD3D12ZoneCS(...)         HYPROF_TRACY_NO_ZONE_
#define TracyD3D12ZoneTransientS(...) HYPROF_TRACY_NO_ZONE_

#endif // HYPROF_COMPAT_TRACY_D3D12_HPP
