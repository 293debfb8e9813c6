// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyOpenCL.hpp - Tracy's macros for OpenCL, which do nothing
 *
 * Way of the data:  program -> [TracyOpenCL.hpp]
 *
 * They record what a GPU does by asking its driver, which is not done here.  Programs that use them compile
 * and run, without zones of that GPU; a program that reads the time stamps itself can report them:
 * <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_OPENCL_HPP
#define HYPROF_COMPAT_TRACY_OPENCL_HPP

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
#define TracyCLNamedZone(...)
#define TracyCLNamedZoneC(...)
#define TracyCLZone(...)
#define TracyCLZoneC(...)
#define TracyCLZoneTransient(...)
#define TracyCLNamedZoneS(...)
#define TracyCLNamedZoneCS(...)
#define TracyCLZoneS(...)
#define TracyCLZoneCS(...)
#define TracyCLZoneTransientS(...)

#endif // HYPROF_COMPAT_TRACY_OPENCL_HPP
