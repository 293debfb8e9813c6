// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/TracyClient.cpp - in the place of Tracy's, which programs compile or include: nothing
 *
 * The functions lie in libhyprof and libhyprof_tracy, which the program is linked with:
 * docs/use/tracy-compat.md
 */
