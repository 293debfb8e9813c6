// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyVulkan.hpp - Tracy's macros for Vulkan, which do nothing
 *
 * Way of the data:  program -> [TracyVulkan.hpp]
 *
 * They record what a GPU does by asking its driver, which is not done here.  Programs that use them compile
 * and run, without zones of that GPU; a program that reads the time stamps itself can report them:
 * <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_VULKAN_HPP
#define HYPROF_COMPAT_TRACY_VULKAN_HPP

namespace tracy
{
class VkCtxScope
{
};
} // namespace tracy

using TracyVkCtx = void *;

#define TracyVkContext(...)               nullptr
#define TracyVkContextCalibrated(...)     nullptr
#define TracyVkContextHostCalibrated(...) nullptr
#define TracyVkDestroy(...)
#define TracyVkContextName(...)
#define TracyVkCollect(...)
#define TracyVkCollectHost(...)
#define TracyVkNamedZone(...)
#define TracyVkNamedZoneC(...)
#define TracyVkZone(...)
#define TracyVkZoneC(...)
#define TracyVkZoneTransient(...)
#define TracyVkNamedZoneS(...)
#define TracyVkNamedZoneCS(...)
#define TracyVkZoneS(...)
#define TracyVkZoneCS(...)
#define TracyVkZoneTransientS(...)

#endif // HYPROF_COMPAT_TRACY_VULKAN_HPP
