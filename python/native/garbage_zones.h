/* SPDX-License-Identifier: MIT */
/*
 * python/native/garbage_zones.h - each garbage collection as a zone, in the thread in which it runs
 *
 * Way of the data:  CPython's collector -> [garbage_zones] -> strand -> libhyprof
 */
#ifndef PYTHON_NATIVE_GARBAGE_ZONES_H
#define PYTHON_NATIVE_GARBAGE_ZONES_H

#include "python_api.h"

/*
 * The function that hyprof/_garbage.py adds to gc.callbacks.  It is in C, so that profilers and tracers in
 * the program do not see it.
 */
PyObject *garbage_zones_note(PyObject *module, PyObject *const *args, Py_ssize_t n_args);

#endif /* PYTHON_NATIVE_GARBAGE_ZONES_H */
