// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/TracyCUDA.hpp - Tracy's macros for CUDA, which record nothing
 *
 * Way of the data:  program -> [TracyCUDA.hpp]
 *
 * They record what a device does by asking its driver, which is not done here.  Programs that use them
 * compile and run, and the report says how many zones were not recorded; a program that reads the time stamps
 * itself can report them: <hyprof/device.h>, or the functions ___tracy_emit_gpu_*.
 */
#ifndef HYPROF_COMPAT_TRACY_CUDA_HPP
#define HYPROF_COMPAT_TRACY_CUDA_HPP

#include "hyprof_tracy_no_device.h"

namespace tracy
{
using CUDACtx = decltype(nullptr);
} // namespace tracy

#define TracyCUDAContext() nullptr
#define TracyCUDAContextDestroy(...)
#define TracyCUDAContextName(...)
#define TracyCUDAStartProfiling(...) HYPROF_TRACY_NO_ZONE_
#define TracyCUDAStopProfiling(...)
#define TracyCUDACollect(...)

#endif // HYPROF_COMPAT_TRACY_CUDA_HPP
