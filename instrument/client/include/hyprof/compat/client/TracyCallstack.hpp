// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/client/TracyCallstack.hpp - whether zones can come with call stacks
 *
 * Way of the data:  program -> [TracyCallstack.hpp] -> nothing
 */
#ifndef HYPROF_COMPAT_CLIENT_TRACY_CALLSTACK_HPP
#define HYPROF_COMPAT_CLIENT_TRACY_CALLSTACK_HPP

#include "TracyCallstack.h"

namespace tracy
{
static constexpr bool has_callstack()
{
#ifdef TRACY_HAS_CALLSTACK
        return true;
#else
        return false;
#endif
}
} // namespace tracy

#endif // HYPROF_COMPAT_CLIENT_TRACY_CALLSTACK_HPP
