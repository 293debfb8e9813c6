// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/common/TracyForceInline.hpp - tracy_force_inline and tracy_no_inline
 *
 * Way of the data:  program -> [TracyForceInline.hpp] -> nothing
 */
#ifndef HYPROF_COMPAT_COMMON_TRACY_FORCE_INLINE_HPP
#define HYPROF_COMPAT_COMMON_TRACY_FORCE_INLINE_HPP

#ifndef tracy_force_inline
#define tracy_force_inline __attribute__((always_inline)) inline
#endif
#ifndef tracy_no_inline
#define tracy_no_inline __attribute__((noinline))
#endif

#endif // HYPROF_COMPAT_COMMON_TRACY_FORCE_INLINE_HPP
