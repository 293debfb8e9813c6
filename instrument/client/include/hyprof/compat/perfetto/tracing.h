// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/tracing.h - for programs that include <perfetto/tracing.h>
 *
 * Way of the data:  program -> [tracing.h] -> perfetto.h
 */
#include "perfetto.h" // NOLINT(llvm-include-order)
