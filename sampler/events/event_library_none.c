/* SPDX-License-Identifier: MIT */
/*
 * Replaces event_library.c where hyprof is built without libpfm4 (HYPROF_NO_PFM=1): this library knows no
 * events.
 */
#include "sampler/events/event_library.h"

int event_library_encode(const char *name, struct event_spec *spec, struct error *err)
{
        (void)name, (void)spec, (void)err;
        return 0;
}

int event_library_visit(event_library_taker *take, void *context)
{
        (void)take, (void)context;
        return 0;
}
