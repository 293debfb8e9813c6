// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyOpenGL.hpp - Tracy's macros for OpenGL, which do nothing
 *
 * Way of the data:  program -> [TracyOpenGL.hpp]
 *
 * They record what a GPU does by asking its driver, which is not done here.  Programs that use them compile
 * and run, without zones of that GPU; a program that reads the time stamps itself can report them:
 * <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_OPENGL_HPP
#define HYPROF_COMPAT_TRACY_OPENGL_HPP

#define TracyGpuContext
#define TracyGpuContextName(...)
#define TracyGpuCollect
#define TracyGpuNamedZone(...)
#define TracyGpuNamedZoneC(...)
#define TracyGpuZone(...)
#define TracyGpuZoneC(...)
#define TracyGpuZoneTransient(...)
#define TracyGpuNamedZoneS(...)
#define TracyGpuNamedZoneCS(...)
#define TracyGpuZoneS(...)
#define TracyGpuZoneCS(...)
#define TracyGpuZoneTransientS(...)

#endif // HYPROF_COMPAT_TRACY_OPENGL_HPP
