/* SPDX-License-Identifier: MIT */
/* For static builds. */
#include "base/library_loader.h"

#include <stddef.h>

void *library_loader_open(const char *name, bool symbols_are_global)
{
        (void)name, (void)symbols_are_global;
        return NULL;
}

void *library_loader_find(void *library, const char *name)
{
        (void)library, (void)name;
        return NULL;
}
