/* SPDX-License-Identifier: MIT */
/*
 * hyprof/compat/client/TracyCallstack.h - TRACY_HAS_CALLSTACK, as Tracy defines it for Linux
 *
 * Way of the data:  program -> [TracyCallstack.h]
 */
#ifndef HYPROF_COMPAT_CLIENT_TRACY_CALLSTACK_H
#define HYPROF_COMPAT_CLIENT_TRACY_CALLSTACK_H

#if !defined TRACY_NO_CALLSTACK && !defined TRACY_HAS_CALLSTACK
#define TRACY_HAS_CALLSTACK 3
#endif

#endif /* HYPROF_COMPAT_CLIENT_TRACY_CALLSTACK_H */
