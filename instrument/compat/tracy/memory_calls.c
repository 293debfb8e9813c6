/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/memory_calls.c - Tracy's functions for memory, of one revision
 *
 * For programs that were compiled with Tracy's header: hyprof's header defines the same functions in each
 * program.  TRACY_COMPAT_API decides the revision of the functions, so each revision has a library of its
 * own.
 */
#define HYPROF_TRACY_MEMORY_API_ TRACY_API

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* they are defined in the header */

#include "instrument/compat/tracy/tracy_api.h"
