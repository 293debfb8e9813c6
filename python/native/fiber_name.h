/* SPDX-License-Identifier: MIT */
/*
 * python/native/fiber_name.h - names of fibers, used again
 *
 * Way of the data:  strand -> [fiber_name] -> libhyprof
 *
 * libhyprof keeps each name of a fiber as long as the process lives.  So a name that is free again is
 * handed to the next fiber that asks for the same; those that run at the same time get numbers: "request",
 * "request #2". At most 65536 names: more fibers at once are not recorded as such.
 */
#ifndef PYTHON_NATIVE_FIBER_NAME_H
#define PYTHON_NATIVE_FIBER_NAME_H

#include <stdbool.h>

struct fiber_name;

/* A name that begins with @base (copied, cut to 100 bytes); NULL: no memory, or too many. */
struct fiber_name *fiber_name_take(const char *base);

/* @is_clean: no zone is open on it; else the name is not used again. */
void fiber_name_give_back(struct fiber_name *name, bool is_clean);

/* Stays as long as the process. */
const char *fiber_name_text(const struct fiber_name *name);

#endif /* PYTHON_NATIVE_FIBER_NAME_H */
