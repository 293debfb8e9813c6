// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyWebGPU.hpp - Tracy's macros for WebGPU, which record nothing
 *
 * Way of the data:  program -> [TracyWebGPU.hpp]
 *
 * They record what a device does by asking its driver, which is not done here.  Programs that use them
 * compile and run, and the report says how many zones were not recorded; a program that reads the time stamps
 * itself can report them: <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_WEBGPU_HPP
#define HYPROF_COMPAT_TRACY_WEBGPU_HPP

#include "hyprof_tracy_no_device.h"

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
#define TracyWebGPUNamedZone(...)      HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUNamedZoneC(...)     HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUZone(...)           HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUZoneC(...)          HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUZoneTransient(...)  HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUNamedZoneS(...)     HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUNamedZoneCS(...)    HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUZoneS(...)          HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUZoneCS(...)         HYPROF_TRACY_NO_ZONE_
#define TracyWebGPUZoneTransientS(...) HYPROF_TRACY_NO_ZONE_

#endif // HYPROF_COMPAT_TRACY_WEBGPU_HPP
