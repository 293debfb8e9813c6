/* SPDX-License-Identifier: MIT */
/*
 * python/native/call_site.h - the place in the program where an explicit zone is, as a location of libhyprof
 *
 * Way of the data:  zone_object, events -> [call_site] -> libhyprof
 */
#ifndef PYTHON_NATIVE_CALL_SITE_H
#define PYTHON_NATIVE_CALL_SITE_H

#include "python_api.h"

#include <hyprof/hyprof.h>

/*
 * call_site_find() - the location of the line that runs, under this name
 * @name:  a str
 * @code:  NULL = the Python frame that runs; else the first line of this code object
 * The last 1024 places are found without their texts.  NULL while no recorder is there; never sets an
 * exception.
 */
struct hyprof_location *call_site_find(PyObject *name, uint32_t color, PyCodeObject *code);

/* The location of a name alone: of a plot, of frames. */
struct hyprof_location *call_site_find_name(PyObject *name);

#endif /* PYTHON_NATIVE_CALL_SITE_H */
