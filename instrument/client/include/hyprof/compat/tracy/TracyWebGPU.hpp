// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyWebGPU.hpp - Tracy's macros for WebGPU, which do nothing
 *
 * Way of the data:  program -> [TracyWebGPU.hpp]
 *
 * They record what a GPU does by asking its driver, which is not done here.  Programs that use them compile
 * and run, without zones of that GPU; a program that reads the time stamps itself can report them:
 * <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_WEBGPU_HPP
#define HYPROF_COMPAT_TRACY_WEBGPU_HPP

namespace tracy
{
class WebGPUZoneScope
{
};
} // namespace tracy

using TracyWebGPUCtx = void *;

#define TracyWebGPUSetupDeviceDescriptor(...)
#define TracyWebGPUContext(...) nullptr
#define TracyWebGPUDestroy(...)
#define TracyWebGPUContextName(...)
#define TracyWebGPUCollect(...)
#define TracyWebGPUNamedZone(...)
#define TracyWebGPUNamedZoneC(...)
#define TracyWebGPUZone(...)
#define TracyWebGPUZoneC(...)
#define TracyWebGPUZoneTransient(...)
#define TracyWebGPUNamedZoneS(...)
#define TracyWebGPUNamedZoneCS(...)
#define TracyWebGPUZoneS(...)
#define TracyWebGPUZoneCS(...)
#define TracyWebGPUZoneTransientS(...)

#endif // HYPROF_COMPAT_TRACY_WEBGPU_HPP
