/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/common/TracyApi.h - TRACY_API, for programs that include it by itself
 *
 * Way of the data:  program -> [TracyApi.h]
 */
#ifndef HYPROF_COMPAT_COMMON_TRACY_API_H
#define HYPROF_COMPAT_COMMON_TRACY_API_H

#ifndef TRACY_API
#define TRACY_API __attribute__((visibility("default")))
#endif

#endif /* HYPROF_COMPAT_COMMON_TRACY_API_H */
