/* SPDX-License-Identifier: MIT */
/*
 * python/native/call_hooks.h - each call of a Python function as a zone
 *
 * Way of the data:  CPython -> [call_hooks] -> strand -> libhyprof
 *
 * On 3.11 by the profile function of each thread (profile_hooks.c), and the trace function for lines; since
 * 3.12 by callbacks of sys.monitoring (monitoring_hooks.c), which hyprof/_calls.py registers.
 */
#ifndef PYTHON_NATIVE_CALL_HOOKS_H
#define PYTHON_NATIVE_CALL_HOOKS_H

#include "python_api.h"

/* Adds the methods of this version of CPython to @module.  0, or -1 with an exception set. */
int call_hooks_add(PyObject *module);

#endif /* PYTHON_NATIVE_CALL_HOOKS_H */
