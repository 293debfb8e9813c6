// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyD3D12.hpp - Tracy's macros for Direct3D 12, which do nothing
 *
 * Way of the data:  program -> [TracyD3D12.hpp]
 *
 * They record what a GPU does by asking its driver, which is not done here.  Programs that use them compile
 * and run, without zones of that GPU; a program that reads the time stamps itself can report them:
 * <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_D3D12_HPP
#define HYPROF_COMPAT_TRACY_D3D12_HPP

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
#define TracyD3D12NamedZone(...)
#define TracyD3D12NamedZoneC(...)
#define TracyD3D12Zone(...)
#define TracyD3D12ZoneC(...)
#define TracyD3D12ZoneTransient(...)
#define TracyD3D12NamedZoneS(...)
#define TracyD3D12NamedZoneCS(...)
#define TracyD3D12ZoneS(...)
#define TracyD3D12ZoneCS(...)
#define TracyD3D12ZoneTransientS(...)

#endif // HYPROF_COMPAT_TRACY_D3D12_HPP
