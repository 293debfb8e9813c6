/* SPDX-License-Identifier: MIT */
#include "base/library_loader.h"

#include <dlfcn.h>

void *library_loader_open(const char *name, bool symbols_are_global)
{
        return dlopen(name, RTLD_NOW | (symbols_are_global ? RTLD_GLOBAL : RTLD_LOCAL));
}

void *library_loader_find(void *library, const char *name)
{
        return dlsym(library ? library : RTLD_DEFAULT, name);
}
