/* SPDX-License-Identifier: MIT */
/*
 * python/native/python_api.h - CPython's interface, and where its versions differ
 *
 * Way of the data:  CPython -> [python_api.h] -> every file of this folder
 *
 * All functions of this folder are called with the GIL held, unless their header says otherwise.
 */
#ifndef PYTHON_NATIVE_PYTHON_API_H
#define PYTHON_NATIVE_PYTHON_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030f0000
#error "hyprof is for CPython 3.11 to 3.14"
#endif
#ifdef Py_GIL_DISABLED
#error "hyprof needs the GIL: it is not for free-threaded builds of CPython yet"
#endif

/* Calls are seen by the profile function of each thread, or by sys.monitoring. */
#define PYTHON_API_HAS_MONITORING (PY_VERSION_HEX >= 0x030c0000)

#if PYTHON_API_HAS_MONITORING
#define PYTHON_API_REQUEST_CODE_EXTRA PyUnstable_Eval_RequestCodeExtraIndex
#define PYTHON_API_CODE_EXTRA         PyUnstable_Code_GetExtra
#define PYTHON_API_SET_CODE_EXTRA     PyUnstable_Code_SetExtra
#else
#define PYTHON_API_REQUEST_CODE_EXTRA _PyEval_RequestCodeExtraIndex
#define PYTHON_API_CODE_EXTRA         _PyCode_GetExtra
#define PYTHON_API_SET_CODE_EXTRA     _PyCode_SetExtra
#endif

/* A function of three arguments as an entry of a method table. */
#define PYTHON_API_METHOD(function) ((PyCFunction)(void (*)(void))(function))

#endif /* PYTHON_NATIVE_PYTHON_API_H */
