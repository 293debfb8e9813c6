// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/common/TracyAlign.hpp - tracy::MemRead and tracy::MemWrite, for values at any address
 *
 * Way of the data:  program -> [TracyAlign.hpp] -> nothing
 */
#ifndef HYPROF_COMPAT_COMMON_TRACY_ALIGN_HPP
#define HYPROF_COMPAT_COMMON_TRACY_ALIGN_HPP

#include "TracyForceInline.hpp"

#include <string.h>
#include <type_traits>

#define TracyUnaligned

namespace tracy
{

template <typename T> inline T MemRead(const T *address)
{
        T value;

        memcpy(&value, address, sizeof(value));
        return value;
}

template <typename T, typename U> inline void MemWrite(T *address, U value)
{
        static_assert(std::is_same<T, U>::value, "the value has the type of its place");
        memcpy(address, &value, sizeof(value));
}

} // namespace tracy

#endif // HYPROF_COMPAT_COMMON_TRACY_ALIGN_HPP
