/* SPDX-License-Identifier: MIT */
/*
 * python/native/zone_object.h - hyprof.zone as an object of Python: what a `with` begins and ends
 *
 * Way of the data:  program -> [zone_object] -> strand -> libhyprof
 */
#ifndef PYTHON_NATIVE_ZONE_OBJECT_H
#define PYTHON_NATIVE_ZONE_OBJECT_H

#include "python_api.h"

/* Adds the type to @module as "zone"; a program cannot derive from it.  0, or -1 with an exception set. */
int zone_object_add_type(PyObject *module);

#endif /* PYTHON_NATIVE_ZONE_OBJECT_H */
