// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyVulkan.hpp - Tracy's macros for Vulkan: zones of the GPU by timestamp queries
 *
 * Way of the data:  program -> [TracyVulkan.hpp] -> hyprof_tracy_device.hpp -> device.h -> libhyprof
 *
 * A context with calibrated timestamps (VK_EXT_calibrated_timestamps) compares the device's clock with the
 * recording's each second; one without did it once, when it was made.  TRACY_VK_USE_SYMBOL_TABLE: functions
 * are asked of the instance and the device.  Without Vulkan's headers, zones are only counted.
 */
#ifndef HYPROF_COMPAT_TRACY_VULKAN_HPP
#define HYPROF_COMPAT_TRACY_VULKAN_HPP

#include "hyprof_tracy_no_device.h"

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE
#if !defined VK_NULL_HANDLE && defined __has_include
#if __has_include(<vulkan/vulkan.h>)
#include <vulkan/vulkan.h>
#endif
#endif
#endif

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE && defined VK_NULL_HANDLE

#include "Tracy.hpp"
#include "hyprof_tracy_vulkan.hpp"

using TracyVkCtx = tracy::VkCtx *;

#ifdef TRACY_VK_USE_SYMBOL_TABLE
#define TracyVkContext(instance, physdev, device, queue, cmdbuf, instanceProcAddr, deviceProcAddr) \
        tracy::detail::make_vulkan(instance, physdev, device, queue, cmdbuf, instanceProcAddr,     \
                                   deviceProcAddr, false)
#define TracyVkContextCalibrated(instance, physdev, device, queue, cmdbuf, instanceProcAddr, deviceProcAddr) \
        tracy::detail::make_vulkan(instance, physdev, device, queue, cmdbuf, instanceProcAddr,               \
                                   deviceProcAddr, true)
#define TracyVkContextHostCalibrated(instance, physdev, device, instanceProcAddr, deviceProcAddr) \
        tracy::detail::make_vulkan(instance, physdev, device, VK_NULL_HANDLE, VK_NULL_HANDLE,     \
                                   instanceProcAddr, deviceProcAddr, true)
#else
#define TracyVkContext(physdev, device, queue, cmdbuf) \
        tracy::detail::make_vulkan(physdev, device, queue, cmdbuf, nullptr, nullptr)
#define TracyVkContextCalibrated(physdev, device, queue, cmdbuf, gpdctd, gct) \
        tracy::detail::make_vulkan(physdev, device, queue, cmdbuf, gpdctd, gct)
#define TracyVkContextHostCalibrated(physdev, device, qpreset, gpdctd, gct) \
        tracy::detail::make_vulkan_of_host(physdev, device, qpreset, gpdctd, gct)
#endif
#define TracyVkDestroy(ctx)                 tracy::detail::destroy_vulkan(ctx)
#define TracyVkContextName(ctx, name, size) ((ctx) ? (ctx)->Name(name, size) : (void)0)
#define TracyVkCollect(ctx, cmdbuf)         ((ctx) ? (ctx)->Collect(cmdbuf) : (void)0)
#define TracyVkCollectHost(ctx)             ((ctx) ? (ctx)->Collect(VK_NULL_HANDLE) : (void)0)
#define TracyVkNamedZone(ctx, varname, cmdbuf, name, active) \
        TracyVkNamedZoneS(ctx, varname, cmdbuf, name, TRACY_CALLSTACK, active)
#define TracyVkNamedZoneC(ctx, varname, cmdbuf, name, color, active) \
        TracyVkNamedZoneCS(ctx, varname, cmdbuf, name, color, TRACY_CALLSTACK, active)
#define TracyVkZone(ctx, cmdbuf, name)         TracyVkZoneS(ctx, cmdbuf, name, TRACY_CALLSTACK)
#define TracyVkZoneC(ctx, cmdbuf, name, color) TracyVkZoneCS(ctx, cmdbuf, name, color, TRACY_CALLSTACK)
#define TracyVkZoneTransient(ctx, varname, cmdbuf, name, active) \
        TracyVkZoneTransientS(ctx, varname, cmdbuf, name, TRACY_CALLSTACK, active)
#define TracyVkNamedZoneS(ctx, varname, cmdbuf, name, depth, active) \
        TracyVkNamedZoneCS(ctx, varname, cmdbuf, name, 0, depth, active)
#define TracyVkNamedZoneCS(ctx, varname, cmdbuf, name, color, depth, active) \
        HYPROF_TRACY_PLACE_(name, color);                                    \
        tracy::VkCtxScope varname(ctx, HYPROF_TRACY_PLACE_HERE_, cmdbuf, (depth), (active))
#define TracyVkZoneS(ctx, cmdbuf, name, depth) \
        TracyVkNamedZoneS(ctx, ___tracy_gpu_zone, cmdbuf, name, depth, true)
#define TracyVkZoneCS(ctx, cmdbuf, name, color, depth) \
        TracyVkNamedZoneCS(ctx, ___tracy_gpu_zone, cmdbuf, name, color, depth, true)
#define TracyVkZoneTransientS(ctx, varname, cmdbuf, name, depth, active) \
        tracy::VkCtxScope varname(ctx, HYPROF_TRACY_MADE_PLACE_(name), cmdbuf, (depth), (active))

#else

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
#define TracyVkNamedZone(...)      HYPROF_TRACY_NO_ZONE_
#define TracyVkNamedZoneC(...)     HYPROF_TRACY_NO_ZONE_
#define TracyVkZone(...)           HYPROF_TRACY_NO_ZONE_
#define TracyVkZoneC(...)          HYPROF_TRACY_NO_ZONE_
#define TracyVkZoneTransient(...)  HYPROF_TRACY_NO_ZONE_
#define TracyVkNamedZoneS(...)     HYPROF_TRACY_NO_ZONE_
#define TracyVkNamedZoneCS(...)    HYPROF_TRACY_NO_ZONE_
#define TracyVkZoneS(...)          HYPROF_TRACY_NO_ZONE_
#define TracyVkZoneCS(...)         HYPROF_TRACY_NO_ZONE_
#define TracyVkZoneTransientS(...) HYPROF_TRACY_NO_ZONE_

#endif

#endif // HYPROF_COMPAT_TRACY_VULKAN_HPP
