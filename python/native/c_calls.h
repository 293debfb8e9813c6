/* SPDX-License-Identifier: MIT */
/*
 * python/native/c_calls.h - calls of functions that are written in C, as zones: --c-calls
 *
 * Way of the data:  call hooks -> [c_calls] -> strand -> libhyprof
 *
 * A function is named once, by Python (hyprof/_c_functions.py), which also says which are left out.  Those
 * that have no PyMethodDef, and so nothing else that lives as long as the function does, are kept.
 *
 * All is guarded by the GIL.
 */
#ifndef PYTHON_NATIVE_C_CALLS_H
#define PYTHON_NATIVE_C_CALLS_H

#include "strand.h"

extern bool c_calls_are_wanted;

/*
 * c_calls_name_by() - from now on, such calls are zones
 * @namer:  called with a callable; gives its name, None = it is left out, False = so is all of its type.
 *          NULL = such calls are no zones any more.  A reference is kept
 */
void c_calls_name_by(PyObject *namer);

/* A call begins, or one ends, on the thread's strand.  Callables that are no functions in C are ignored. */
void c_calls_begin(struct strand_thread *t, PyObject *callable);
void c_calls_end(struct strand_thread *t, PyObject *callable);

#endif /* PYTHON_NATIVE_C_CALLS_H */
