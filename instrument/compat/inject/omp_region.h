/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/omp_region.h - the names that libomp gives to parallel regions
 *
 * Way of the data:  itt_bridge (frames of libomp) -> [omp_region] -> ompt_bridge
 *
 * OMPT reports what threads do, but knows regions by addresses only; ITT has their functions, files and
 * lines.  So libomp's frames give names to the regions of OMPT, and the rest of what libomp says through ITT
 * is left out: it would be recorded twice.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_OMP_REGION_H
#define INSTRUMENT_COMPAT_INJECT_OMP_REGION_H

#include "instrument/compat/inject/inject.h"

/* "main$omp$parallel:2@omp.c:4:1" in its parts, which point into the name. */
struct omp_region_name {
        struct inject_text function, what, file;
        uint32_t line; /* 0 = unknown, as is the rest then: the program has no debug information */
};

/* Returns false for a name of another form. */
bool omp_region_parse(const char *domain, struct omp_region_name *ret_name);

/* Prints "omp WHAT FILE:LINE" as a location; NULL without a recorder, or without a line. */
struct hyprof_location *omp_region_location(const char *what, const struct omp_region_name *name);

/* OMPT is in use, and @address is in the library that reports through it. */
bool ompt_bridge_covers(const void *address);

/* The region that this thread is beginning has this name. */
void ompt_bridge_name_region(const char *domain);

#endif /* INSTRUMENT_COMPAT_INJECT_OMP_REGION_H */
