// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/common/TracyVersion.hpp - the version of Tracy whose interface this is
 *
 * Way of the data:  program -> [TracyVersion.hpp] -> nothing
 */
#ifndef HYPROF_COMPAT_COMMON_TRACY_VERSION_HPP
#define HYPROF_COMPAT_COMMON_TRACY_VERSION_HPP

namespace tracy
{
namespace Version
{
#if defined TRACY_COMPAT_API && TRACY_COMPAT_API < 1400
enum { Major = 0, Minor = 13, Patch = 1 };
#else
enum { Major = 0, Minor = 14, Patch = 0 };
#endif
} // namespace Version
} // namespace tracy

#endif // HYPROF_COMPAT_COMMON_TRACY_VERSION_HPP
