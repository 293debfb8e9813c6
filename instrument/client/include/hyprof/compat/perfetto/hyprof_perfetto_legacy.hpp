// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/hyprof_perfetto_legacy.hpp - Perfetto's macros of Chromium, with numbers
 *
 * Way of the data:  program -> [hyprof_perfetto_legacy.hpp] -> hyprof_perfetto_events.hpp
 *
 * With PERFETTO_ENABLE_LEGACY_TRACE_EVENTS=1.  Names may be any `const char *`.  Included by perfetto.h.
 */
#ifndef HYPROF_PERFETTO_LEGACY_HPP
#define HYPROF_PERFETTO_LEGACY_HPP

#include "hyprof_perfetto_events.hpp"

#define TRACE_DISABLED_BY_DEFAULT(name) "disabled-by-default-" name
#define TRACE_STR_COPY(text)            ::perfetto::DynamicString(text)

#define TRACE_EVENT_SCOPE_GLOBAL  1
#define TRACE_EVENT_SCOPE_PROCESS 2
#define TRACE_EVENT_SCOPE_THREAD  3

#define TRACE_EVENT0(category, name)                      TRACE_EVENT(category, name)
#define TRACE_EVENT1(category, name, k, v)                TRACE_EVENT(category, name, k, v)
#define TRACE_EVENT2(category, name, k, v, k2, v2)        TRACE_EVENT(category, name, k, v, k2, v2)
#define TRACE_EVENT_BEGIN0(category, name)                TRACE_EVENT_BEGIN(category, name)
#define TRACE_EVENT_BEGIN1(category, name, k, v)          TRACE_EVENT_BEGIN(category, name, k, v)
#define TRACE_EVENT_BEGIN2(category, name, k, v, k2, v2)  TRACE_EVENT_BEGIN(category, name, k, v, k2, v2)
#define TRACE_EVENT_END0(category, name)                  TRACE_EVENT_END(category)
#define TRACE_EVENT_END1(category, name, k, v)            TRACE_EVENT_END(category, k, v)
#define TRACE_EVENT_END2(category, name, k, v, k2, v2)    TRACE_EVENT_END(category, k, v, k2, v2)
#define TRACE_EVENT_INSTANT0(category, name, scope)       TRACE_EVENT_INSTANT(category, name)
#define TRACE_EVENT_INSTANT1(category, name, scope, k, v) TRACE_EVENT_INSTANT(category, name, k, v)
#define TRACE_EVENT_INSTANT2(category, name, scope, k, v, k2, v2) \
        TRACE_EVENT_INSTANT(category, name, k, v, k2, v2)
#define TRACE_COUNTER1(category, name, value) TRACE_COUNTER(category, name, value)
#define TRACE_COUNTER2(category, name, k, v, k2, v2)                                                   \
        do {                                                                                           \
                TRACE_COUNTER(category, ::perfetto::DynamicString(std::string(name ": ") + (k)), v);   \
                TRACE_COUNTER(category, ::perfetto::DynamicString(std::string(name ": ") + (k2)), v2); \
        } while (0)
#define TRACE_EVENT_CATEGORY_GROUP_ENABLED(category, ret)        \
        do {                                                     \
                *(ret) = TRACE_EVENT_CATEGORY_ENABLED(category); \
        } while (0)

#define HYPROF_PERFETTO_ID_(id) ::perfetto::Track(::perfetto::hyprof_::number_of(id))
#define TRACE_EVENT_ASYNC_BEGIN0(category, name, id) \
        TRACE_EVENT_BEGIN(category, name, HYPROF_PERFETTO_ID_(id))
#define TRACE_EVENT_ASYNC_END0(category, name, id)            TRACE_EVENT_END(category, HYPROF_PERFETTO_ID_(id))
#define TRACE_EVENT_NESTABLE_ASYNC_BEGIN0(category, name, id) TRACE_EVENT_ASYNC_BEGIN0(category, name, id)
#define TRACE_EVENT_NESTABLE_ASYNC_END0(category, name, id)   TRACE_EVENT_ASYNC_END0(category, name, id)

namespace perfetto
{
namespace hyprof_
{

template <class T> uint64_t number_of(const T &id)
{
        if constexpr (std::is_pointer_v<T>)
                return reinterpret_cast<uintptr_t>(id);
        else
                return static_cast<uint64_t>(id);
}

} // namespace hyprof_
} // namespace perfetto

#endif // HYPROF_PERFETTO_LEGACY_HPP
