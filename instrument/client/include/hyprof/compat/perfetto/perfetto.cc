// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/perfetto.cc - in the place of the SDK's, which programs compile: nothing
 *
 * All of it is in the header and in libhyprof, which the program is linked with: docs/use/perfetto-compat.md
 */
