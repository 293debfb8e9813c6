// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/Tracy.hpp - the macros of Tracy for C++, recorded by hyprof
 *
 * Way of the data:  program -> [Tracy.hpp] -> hyprof_tracy.hpp -> hyprof.h -> libhyprof -> hyprof record
 * Specification:    docs/use/tracy-compat.md
 *
 * A program that is instrumented for Tracy is compiled again with
 * -I<prefix>/include/hyprof/compat instead of Tracy's folder `public`, with its
 * own definitions (TRACY_ENABLE, TRACY_CALLSTACK, TRACY_FIBERS, ...), and linked
 * with -lhyprof instead of Tracy's client.
 *
 * Without TRACY_ENABLE all macros are empty, and nothing has to be linked.
 * C++11 and later; gcc and clang.
 */
#ifndef HYPROF_COMPAT_TRACY_HPP
#define HYPROF_COMPAT_TRACY_HPP

#include "../common/TracyApi.h"
#include "../common/TracyColor.hpp"
#include "../common/TracyForceInline.hpp"
#include "../common/TracySystem.hpp"

/* Tracy's header brings these, which take ten times as long to compile: only for programs that need it. */
#ifdef TRACY_COMPAT_INCLUDES
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#if __cplusplus >= 201703L
#include <string_view>
#endif
#endif

/* A program may define these in its own way first. */
#ifndef TracyFunction
#define TracyFunction __FUNCTION__
#endif
#ifndef TracyFile
#define TracyFile __FILE__
#endif
#ifndef TracyLine
#define TracyLine __LINE__
#endif

#define TracyParamTypeInt     0
#define TracyParamTypeBool    1
#define TracyParamTypeTrigger 2

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE

#include "../client/TracyCallstack.h"
#include "hyprof_tracy.hpp"

#include <string.h>

#ifndef TRACY_CALLSTACK
#define TRACY_CALLSTACK 0
#endif

#ifndef TracyConcat
#define TracyConcat(x, y) TracyConcatIndirect(x, y)
#endif
#ifndef TracyConcatIndirect
#define TracyConcatIndirect(x, y) x##y
#endif

/* ------------------------------------------------------------------- zones */

#define HYPROF_TRACY_ZONE_(var, name, color, depth, active)                                        \
        static constexpr tracy::SourceLocationData HYPROF_JOIN_(hyprof_tracy_location_, __LINE__){ \
                name, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), color            \
        };                                                                                         \
        tracy::ScopedZone var(&HYPROF_JOIN_(hyprof_tracy_location_, __LINE__), (depth), (active))

/*
 * The zone of an inner block shadows that of the outer one on purpose: events there are about the inner zone.
 * g++ takes no pragma inside of a class.  So a program with a zone in a function that initialises a member
 * defines TRACY_ALLOW_SHADOW_WARNING.
 */
#ifdef TRACY_ALLOW_SHADOW_WARNING
#define HYPROF_TRACY_SCOPED_(name, color, depth) \
        HYPROF_TRACY_ZONE_(___tracy_scoped_zone, name, color, (depth), true)
#else
// clang-format off
#define HYPROF_TRACY_SCOPED_(name, color, depth)                              \
        _Pragma("GCC diagnostic push")                                        \
        _Pragma("GCC diagnostic ignored \"-Wshadow\"")                        \
        HYPROF_TRACY_ZONE_(___tracy_scoped_zone, name, color, (depth), true); \
        _Pragma("GCC diagnostic pop")
// clang-format on
#endif

#define HYPROF_TRACY_TRANSIENT_(var, name, color, depth, active)                                             \
        tracy::ScopedZone var(static_cast<uint32_t>(TracyLine), TracyFile, strlen(TracyFile), TracyFunction, \
                              strlen(TracyFunction), name, tracy::detail::length(name), color, (depth),      \
                              (active))

#define ZoneNamed(varname, active)                 ZoneNamedS(varname, TRACY_CALLSTACK, active)
#define ZoneNamedN(varname, name, active)          ZoneNamedNS(varname, name, TRACY_CALLSTACK, active)
#define ZoneNamedC(varname, color, active)         ZoneNamedCS(varname, color, TRACY_CALLSTACK, active)
#define ZoneNamedNC(varname, name, color, active)  ZoneNamedNCS(varname, name, color, TRACY_CALLSTACK, active)
#define ZoneNamedS(varname, depth, active)         HYPROF_TRACY_ZONE_(varname, nullptr, 0, depth, active)
#define ZoneNamedNS(varname, name, depth, active)  HYPROF_TRACY_ZONE_(varname, name, 0, depth, active)
#define ZoneNamedCS(varname, color, depth, active) HYPROF_TRACY_ZONE_(varname, nullptr, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active) \
        HYPROF_TRACY_ZONE_(varname, name, color, depth, active)

#define ZoneScoped                        HYPROF_TRACY_SCOPED_(nullptr, 0, TRACY_CALLSTACK)
#define ZoneScopedN(name)                 HYPROF_TRACY_SCOPED_(name, 0, TRACY_CALLSTACK)
#define ZoneScopedC(color)                HYPROF_TRACY_SCOPED_(nullptr, color, TRACY_CALLSTACK)
#define ZoneScopedNC(name, color)         HYPROF_TRACY_SCOPED_(name, color, TRACY_CALLSTACK)
#define ZoneScopedS(depth)                HYPROF_TRACY_SCOPED_(nullptr, 0, depth)
#define ZoneScopedNS(name, depth)         HYPROF_TRACY_SCOPED_(name, 0, depth)
#define ZoneScopedCS(color, depth)        HYPROF_TRACY_SCOPED_(nullptr, color, depth)
#define ZoneScopedNCS(name, color, depth) HYPROF_TRACY_SCOPED_(name, color, depth)

#define ZoneTransient(varname, active)        ZoneTransientS(varname, TRACY_CALLSTACK, active)
#define ZoneTransientN(varname, name, active) ZoneTransientNS(varname, name, TRACY_CALLSTACK, active)
#define ZoneTransientNC(varname, name, color, active) \
        ZoneTransientNCS(varname, name, color, TRACY_CALLSTACK, active)
#define ZoneTransientS(varname, depth, active)        HYPROF_TRACY_TRANSIENT_(varname, nullptr, 0, depth, active)
#define ZoneTransientNS(varname, name, depth, active) HYPROF_TRACY_TRANSIENT_(varname, name, 0, depth, active)
#define ZoneTransientNCS(varname, name, color, depth, active) \
        HYPROF_TRACY_TRANSIENT_(varname, name, color, depth, active)

#define ZoneText(txt, size)           ___tracy_scoped_zone.Text(txt, size)
#define ZoneTextV(varname, txt, size) varname.Text(txt, size)
#define ZoneTextF(...)                ___tracy_scoped_zone.TextFmt(__VA_ARGS__)
#define ZoneTextVF(varname, ...)      varname.TextFmt(__VA_ARGS__)
#define ZoneName(txt, size)           ___tracy_scoped_zone.Name(txt, size)
#define ZoneNameV(varname, txt, size) varname.Name(txt, size)
#define ZoneNameF(...)                ___tracy_scoped_zone.NameFmt(__VA_ARGS__)
#define ZoneNameVF(varname, ...)      varname.NameFmt(__VA_ARGS__)
#define ZoneColor(color)              ___tracy_scoped_zone.Color(color)
#define ZoneColorV(varname, color)    varname.Color(color)
#define ZoneValue(value)              ___tracy_scoped_zone.Value(value)
#define ZoneValueV(varname, value)    varname.Value(value)
#define ZoneIsActive                  ___tracy_scoped_zone.IsActive()
#define ZoneIsActiveV(varname)        varname.IsActive()

/* ------------------------------------------------ frames, plots, messages */

#define FrameMark            hyprof_frame_mark(nullptr)
#define FrameMarkNamed(name) hyprof_tracy_frame_mark_(HYPROF_TRACY_NAME_(name))
#define FrameMarkStart(name) hyprof_tracy_frame_begin_(HYPROF_TRACY_NAME_(name))
#define FrameMarkEnd(name)   hyprof_tracy_frame_end_(HYPROF_TRACY_NAME_(name))
#define FrameImage(image, width, height, offset, flip) \
        hyprof_frame_picture(image, width, height, offset, flip)

#define TracyPlot(name, val) tracy::detail::plot(HYPROF_TRACY_NAME_(name), val)
#define TracyPlotConfig(name, type, step, fill, color) \
        tracy::detail::plot_config(HYPROF_TRACY_NAME_(name), type, step, fill, color)

#define TracyLogString(severity, color, depth, ...) tracy::detail::log(severity, color, depth, __VA_ARGS__)
#define TracyMessage(txt, size)                     TracyMessageCS(txt, size, 0, TRACY_CALLSTACK)
#define TracyMessageL(txt)                          TracyMessageLCS(txt, 0, TRACY_CALLSTACK)
#define TracyMessageC(txt, size, color)             TracyMessageCS(txt, size, color, TRACY_CALLSTACK)
#define TracyMessageLC(txt, color)                  TracyMessageLCS(txt, color, TRACY_CALLSTACK)
#define TracyMessageS(txt, size, depth)             TracyMessageCS(txt, size, 0, depth)
#define TracyMessageLS(txt, depth)                  TracyMessageLCS(txt, 0, depth)
#define TracyMessageCS(txt, size, color, depth) \
        TracyLogString(tracy::MessageSeverity::Info, color, depth, size, txt)
#define TracyMessageLCS(txt, color, depth) \
        tracy::detail::log_literal(HYPROF_TRACY_NAME_(txt), tracy::MessageSeverity::Info, color, depth)
#define TracyAppInfo(txt, size) hyprof_program_info(txt, size)

/* ------------------------------------------------------------------ memory */

#define HYPROF_TRACY_MAIN_POOL_ (hyprof_tracy_name_{ nullptr, nullptr })

#define TracyAlloc(ptr, size)                TracyAllocS(ptr, size, TRACY_CALLSTACK)
#define TracyFree(ptr)                       TracyFreeS(ptr, TRACY_CALLSTACK)
#define TracyAllocN(ptr, size, name)         TracyAllocNS(ptr, size, TRACY_CALLSTACK, name)
#define TracyFreeN(ptr, name)                TracyFreeNS(ptr, TRACY_CALLSTACK, name)
#define TracyMemoryDiscard(name)             TracyMemoryDiscardS(name, TRACY_CALLSTACK)
#define TracyAllocS(ptr, size, depth)        hyprof_tracy_alloc_(HYPROF_TRACY_MAIN_POOL_, ptr, size, depth)
#define TracyFreeS(ptr, depth)               hyprof_tracy_free_(HYPROF_TRACY_MAIN_POOL_, ptr, depth)
#define TracyAllocNS(ptr, size, depth, name) hyprof_tracy_alloc_(HYPROF_TRACY_NAME_(name), ptr, size, depth)
#define TracyFreeNS(ptr, depth, name)        hyprof_tracy_free_(HYPROF_TRACY_NAME_(name), ptr, depth)
#define TracyMemoryDiscardS(name, depth)     hyprof_tracy_discard_(HYPROF_TRACY_NAME_(name))

/*
 * Up to Tracy 0.13, only these are safe before the program's constructors and after its destructors; here all
 * macros are.
 */
#define TracySecureAlloc(ptr, size)                TracyAlloc(ptr, size)
#define TracySecureFree(ptr)                       TracyFree(ptr)
#define TracySecureAllocN(ptr, size, name)         TracyAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name)                TracyFreeN(ptr, name)
#define TracySecureMemoryDiscard(name)             TracyMemoryDiscard(name)
#define TracySecureAllocS(ptr, size, depth)        TracyAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth)               TracyFreeS(ptr, depth)
#define TracySecureAllocNS(ptr, size, depth, name) TracyAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name)        TracyFreeNS(ptr, depth, name)
#define TracySecureMemoryDiscardS(name, depth)     TracyMemoryDiscardS(name, depth)

/* ------------------------------------------------------------------- locks */

#define HYPROF_TRACY_LOCK_(words)                                                            \
        {                                                                                    \
                hyprof_location                                                              \
                {                                                                            \
                        words, nullptr, TracyFile, static_cast<uint32_t>(TracyLine), 0, 0, 0 \
                }                                                                            \
        }
#define TracyLockable(type, varname)        tracy::Lockable<type> varname HYPROF_TRACY_LOCK_(#type " " #varname)
#define TracyLockableN(type, varname, desc) tracy::Lockable<type> varname HYPROF_TRACY_LOCK_(desc)
#define TracySharedLockable(type, varname) \
        tracy::SharedLockable<type> varname HYPROF_TRACY_LOCK_(#type " " #varname)
#define TracySharedLockableN(type, varname, desc) tracy::SharedLockable<type> varname HYPROF_TRACY_LOCK_(desc)
#define LockableBase(type)                        tracy::Lockable<type>
#define SharedLockableBase(type)                  tracy::SharedLockable<type>
#define LockMark(varname)                                                                      \
        do {                                                                                   \
                static constexpr tracy::SourceLocationData hyprof_tracy_mark_{                 \
                        nullptr, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), 0 \
                };                                                                             \
                (varname).Mark(&hyprof_tracy_mark_);                                           \
        } while (0)
#define LockableName(varname, txt, size) (varname).CustomName(txt, size)

/* ------------------------------------------------- fibers and the program */

#ifdef TRACY_FIBERS
#define TracyFiberEnter(fiber)                hyprof_fiber_enter(fiber)
#define TracyFiberEnterHint(fiber, groupHint) tracy::detail::fiber_enter(fiber, groupHint)
#define TracyFiberLeave                       hyprof_fiber_leave()
#endif

#define TracySectionEnter(...)                   tracy::detail::section_enter(__VA_ARGS__)
#define TracySectionEnterCategory(category, ...) tracy::detail::section_enter_category(category, __VA_ARGS__)
#define TracySectionLeave(id)                    tracy::detail::section_leave(id)
#define TracySectionSetup(...)                   tracy::detail::unrecorded(HYPROF_UNRECORDED_OTHER_, __VA_ARGS__)

#define TracySourceCallbackRegister(cb, data) tracy::detail::unrecorded(HYPROF_UNRECORDED_OTHER_, cb, data)
#define TracyParameterRegister(cb, data)      tracy::detail::unrecorded(HYPROF_UNRECORDED_OTHER_, cb, data)
#define TracyParameterSetup(idx, name, type, val) \
        tracy::detail::unrecorded(HYPROF_UNRECORDED_OTHER_, idx, name, type, val)

#define TracyIsConnected          tracy::GetProfiler().IsConnected()
#define TracyIsStarted            tracy::IsProfilerStarted()
#define TracySetProgramName(name) tracy::GetProfiler().SetProgramName(name)
#define TracyNoop                 tracy::ProfilerAvailable()

#else /* not TRACY_ENABLE */

#define ZoneNamed(varname, active)
#define ZoneNamedN(varname, name, active)
#define ZoneNamedC(varname, color, active)
#define ZoneNamedNC(varname, name, color, active)
#define ZoneNamedS(varname, depth, active)
#define ZoneNamedNS(varname, name, depth, active)
#define ZoneNamedCS(varname, color, depth, active)
#define ZoneNamedNCS(varname, name, color, depth, active)

#define ZoneScoped
#define ZoneScopedN(name)
#define ZoneScopedC(color)
#define ZoneScopedNC(name, color)
#define ZoneScopedS(depth)
#define ZoneScopedNS(name, depth)
#define ZoneScopedCS(color, depth)
#define ZoneScopedNCS(name, color, depth)

#define ZoneTransient(varname, active)
#define ZoneTransientN(varname, name, active)
#define ZoneTransientNC(varname, name, color, active)
#define ZoneTransientS(varname, depth, active)
#define ZoneTransientNS(varname, name, depth, active)
#define ZoneTransientNCS(varname, name, color, depth, active)

#define ZoneText(txt, size)
#define ZoneTextV(varname, txt, size)
#define ZoneTextF(...)
#define ZoneTextVF(varname, ...)
#define ZoneName(txt, size)
#define ZoneNameV(varname, txt, size)
#define ZoneNameF(...)
#define ZoneNameVF(varname, ...)
#define ZoneColor(color)
#define ZoneColorV(varname, color)
#define ZoneValue(value)
#define ZoneValueV(varname, value)
#define ZoneIsActive           false
#define ZoneIsActiveV(varname) false

#define FrameMark
#define FrameMarkNamed(name)
#define FrameMarkStart(name)
#define FrameMarkEnd(name)
#define FrameImage(image, width, height, offset, flip)

#define TracyPlot(name, val)
#define TracyPlotConfig(name, type, step, fill, color)

#define TracyLogString(severity, color, depth, ...)
#define TracyMessage(txt, size)
#define TracyMessageL(txt)
#define TracyMessageC(txt, size, color)
#define TracyMessageLC(txt, color)
#define TracyMessageS(txt, size, depth)
#define TracyMessageLS(txt, depth)
#define TracyMessageCS(txt, size, color, depth)
#define TracyMessageLCS(txt, color, depth)
#define TracyAppInfo(txt, size)

#define TracyAlloc(ptr, size)
#define TracyFree(ptr)
#define TracyAllocN(ptr, size, name)
#define TracyFreeN(ptr, name)
#define TracyMemoryDiscard(name)
#define TracyAllocS(ptr, size, depth)
#define TracyFreeS(ptr, depth)
#define TracyAllocNS(ptr, size, depth, name)
#define TracyFreeNS(ptr, depth, name)
#define TracyMemoryDiscardS(name, depth)
#define TracySecureAlloc(ptr, size)
#define TracySecureFree(ptr)
#define TracySecureAllocN(ptr, size, name)
#define TracySecureFreeN(ptr, name)
#define TracySecureMemoryDiscard(name)
#define TracySecureAllocS(ptr, size, depth)
#define TracySecureFreeS(ptr, depth)
#define TracySecureAllocNS(ptr, size, depth, name)
#define TracySecureFreeNS(ptr, depth, name)
#define TracySecureMemoryDiscardS(name, depth)

#define TracyLockable(type, varname)              type varname
#define TracyLockableN(type, varname, desc)       type varname
#define TracySharedLockable(type, varname)        type varname
#define TracySharedLockableN(type, varname, desc) type varname
#define LockableBase(type)                        type
#define SharedLockableBase(type)                  type
#define LockMark(varname)                         (void)(varname)
#define LockableName(varname, txt, size)

#define TracyFiberEnter(fiber)
#define TracyFiberEnterHint(fiber, groupHint)
#define TracyFiberLeave

#define TracySectionEnter(...)         0
#define TracySectionEnterCategory(...) 0
#define TracySectionLeave(id)
#define TracySectionSetup(...)

#define TracySourceCallbackRegister(cb, data)
#define TracyParameterRegister(cb, data)
#define TracyParameterSetup(idx, name, type, val)

#define TracyIsConnected false
#define TracyIsStarted   false
#define TracySetProgramName(name)
#define TracyNoop

#endif

#endif // HYPROF_COMPAT_TRACY_HPP
