/* SPDX-License-Identifier: MIT */
/*
 * python/native/native_module.c - the module hyprof._native
 *
 * One for a process: libhyprof's rings belong to threads, and not to interpreters.
 */
#include "native_module.h"

#include "c_calls.h"
#include "code_table.h"
#include "task_steps.h"

static PyObject *code_filter(PyObject *module, PyObject *filter)
{
        (void)module;
        code_table_set_filter(filter == Py_None ? NULL : filter);
        Py_RETURN_NONE;
}

static PyObject *c_functions(PyObject *module, PyObject *namer)
{
        (void)module;
        c_calls_name_by(namer == Py_None ? NULL : namer);
        Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
        { "c_functions", c_functions, METH_O, NULL },
        { "code_filter", code_filter, METH_O, NULL },
        { "garbage_note", PYTHON_API_METHOD(garbage_zones_note), METH_FASTCALL, NULL },
        { "task_steps_begin", task_steps_begin, METH_O, NULL },
        { "task_steps_end", task_steps_end, METH_NOARGS, NULL },
        { "task_steps_watch", task_steps_watch, METH_VARARGS, NULL },
        { "task_steps_set_all", task_steps_set_all, METH_O, NULL },
        { "task_steps_switch_greenlet", task_steps_switch_greenlet, METH_O, NULL },
        { NULL, NULL, 0, NULL },
};

/* Refuses sub-interpreters: since 3.12 the interpreter refuses those with a lock of their own before us. */
static int fill_module(PyObject *module)
{
        if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
                PyErr_SetString(PyExc_ImportError,
                                "hyprof: sub-interpreters are not supported; import it in the main one");
                return -1;
        }
        if (code_table_init() < 0 || moment_events_add(module) < 0 || call_hooks_add(module) < 0 ||
            zone_object_add_type(module) < 0)
                return -1;
        if (PyModule_AddStringConstant(module, "VERSION", HYPROF_VERSION) < 0)
                return -1;
        return PyModule_AddIntConstant(module, "HAS_MONITORING", PYTHON_API_HAS_MONITORING);
}

static PyModuleDef_Slot slots[] = {
        { Py_mod_exec, __extension__(void *) fill_module },
#ifdef Py_mod_multiple_interpreters
        { Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
        { 0, NULL },
};

static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT,
        .m_name = "hyprof._native",
        .m_doc = "The part of hyprof that is written in C; use the package hyprof.",
        .m_methods = methods,
        .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
        return PyModuleDef_Init(&definition);
}
