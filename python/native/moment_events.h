/* SPDX-License-Identifier: MIT */
/*
 * python/native/moment_events.h - messages, plots, frames, names of threads, pauses: libhyprof's calls
 * as functions of Python
 *
 * Way of the data:  program -> [moment_events] -> libhyprof
 */
#ifndef PYTHON_NATIVE_MOMENT_EVENTS_H
#define PYTHON_NATIVE_MOMENT_EVENTS_H

#include "python_api.h"

/* Adds the functions to @module; _native.pyi says what they take.  0, or -1 with an exception set. */
int moment_events_add(PyObject *module);

#endif /* PYTHON_NATIVE_MOMENT_EVENTS_H */
