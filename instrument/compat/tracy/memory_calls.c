/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/tracy/memory_calls.c - Tracy's functions for memory, of one revision
 *
 * For programs that were compiled with Tracy's header: the header of ours defines the same functions in each
 * program.  Which revision they are of is up to TRACY_COMPAT_API, so each has a library of its own.
 */
#define HYPROF_TRACY_MEMORY_API_ TRACY_API

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* they are defined in the header */

#include "instrument/compat/tracy/tracy_api.h"
