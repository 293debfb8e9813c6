/* SPDX-License-Identifier: MIT */
/*
 * python/native/native_module.h - the parts from which the module _native is put together
 *
 * Way of the data:  CPython, program -> [native_module] -> strand, libhyprof
 */
#ifndef PYTHON_NATIVE_NATIVE_MODULE_H
#define PYTHON_NATIVE_NATIVE_MODULE_H

#include "python_api.h"

/*
 * zone_object.c - hyprof.zone as an object of Python: what a `with` begins and ends
 *
 * Way of the data:  program -> [zone_object] -> strand -> libhyprof
 */

/* Adds the type to @module as "zone"; a program cannot derive from it.  0, or -1 with an exception set. */
int zone_object_add_type(PyObject *module);

/*
 * moment_events.c - messages, plots, frames, memory, names of threads, pauses: libhyprof's calls
 * as functions of Python
 *
 * Way of the data:  program -> [moment_events] -> libhyprof
 */

/* Adds the functions to @module; _native.pyi says what they take.  0, or -1 with an exception set. */
int moment_events_add(PyObject *module);

/*
 * call_hooks_add() - each call of a Python function as a zone
 *
 * Way of the data:  CPython -> [call_hooks] -> strand -> libhyprof
 *
 * On 3.11 by the profile function of each thread (profile_hooks.c), and the trace function for lines; since
 * 3.12 by callbacks of sys.monitoring (monitoring_hooks.c), which hyprof/_calls.py registers.
 */

/* Adds the methods of this version of CPython to @module.  0, or -1 with an exception set. */
int call_hooks_add(PyObject *module);

/*
 * garbage_zones.c - each garbage collection as a zone, in the thread in which it runs
 *
 * Way of the data:  CPython's collector -> [garbage_zones] -> strand -> libhyprof
 */

/*
 * The function that hyprof/_garbage.py adds to gc.callbacks.  It is in C, so that profilers and tracers in
 * the program do not see it.
 */
PyObject *garbage_zones_note(PyObject *module, PyObject *const *args, Py_ssize_t n_args);

#endif /* PYTHON_NATIVE_NATIVE_MODULE_H */
