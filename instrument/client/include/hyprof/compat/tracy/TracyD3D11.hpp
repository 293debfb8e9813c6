// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyD3D11.hpp - Tracy's macros for Direct3D 11, which do nothing
 *
 * Way of the data:  program -> [TracyD3D11.hpp]
 *
 * They record what a GPU does by asking its driver, which is not done here.  Programs that use them compile
 * and run, without zones of that GPU; a program that reads the time stamps itself can report them:
 * <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_D3D11_HPP
#define HYPROF_COMPAT_TRACY_D3D11_HPP

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
#define TracyD3D11NamedZone(...)
#define TracyD3D11NamedZoneC(...)
#define TracyD3D11Zone(...)
#define TracyD3D11ZoneC(...)
#define TracyD3D11ZoneTransient(...)
#define TracyD3D11NamedZoneS(...)
#define TracyD3D11NamedZoneCS(...)
#define TracyD3D11ZoneS(...)
#define TracyD3D11ZoneCS(...)
#define TracyD3D11ZoneTransientS(...)

#endif // HYPROF_COMPAT_TRACY_D3D11_HPP
