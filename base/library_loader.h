/* SPDX-License-Identifier: MIT */
/*
 * base/library_loader.h - shared libraries that are loaded while running, where they are installed
 *
 * Way of the data:  file system -> [library_loader] -> disassembler, debuginfod_client
 *
 * A static build has library_loader_none.c, which finds none: such a program cannot load libraries that were
 * made for another libc than its own.
 */
#ifndef BASE_LIBRARY_LOADER_H
#define BASE_LIBRARY_LOADER_H

#include <stdbool.h>

/* Returns a handle that stays valid until the process ends; NULL = there is none. */
void *library_loader_open(const char *name, bool symbols_are_global);

/* Returns a function's address; NULL = there is none of that name.  @library NULL: search all libraries. */
void *library_loader_find(void *library, const char *name);

#endif /* BASE_LIBRARY_LOADER_H */
