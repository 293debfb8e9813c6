/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/tracy/hyprof_tracy_no_device.h - zones of devices that are only counted
 *
 * Way of the data:  program -> TracyOpenCL.hpp, ... -> [hyprof_tracy_no_device.h] -> libhyprof -> the report
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_NO_DEVICE_H
#define HYPROF_COMPAT_HYPROF_TRACY_NO_DEVICE_H

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE
#include "hyprof_tracy.h"
#define HYPROF_TRACY_NO_ZONE_ ((void)hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_DEVICE_ZONE_))
#else
#define HYPROF_TRACY_NO_ZONE_
#endif

#endif /* HYPROF_COMPAT_HYPROF_TRACY_NO_DEVICE_H */
