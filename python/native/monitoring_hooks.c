/* SPDX-License-Identifier: MIT */
/*
 * python/native/monitoring_hooks.c - calls as zones since CPython 3.12
 *
 * Callbacks of sys.monitoring.  For code that is left out they return DISABLE, and are not called again;
 * the interpreter does not allow that for PY_UNWIND and PY_THROW.
 */
#include "native_module.h"

#include "c_calls.h"
#include "code_table.h"
#include "strand.h"
#include "task_steps.h"

#include <hyprof/hyprof.h>

#if PYTHON_API_HAS_MONITORING

/* sys.monitoring.DISABLE, for ever.  Guarded by the GIL. */
static PyObject *disable;
static bool is_on;

static const void *line_key(const PyCodeObject *code)
{
        return (const char *)code + 1;
}

/* @co_flags: flags of the code; 0 = the call begins, and is not resumed. */
static bool begin_call(PyCodeObject *code, int co_flags)
{
        struct strand_thread *t = strand_thread_here();
        struct code_entry *entry = code_table_find(code, NULL);
        struct hyprof_location *location = NULL;

        if (!entry || !entry->is_included)
                return false;
        if (t)
                task_steps_catch_up(t);
        if (t && is_on && !strand_resume(t->current, code, co_flags)) {
                if (HYPROF_WANTED_(HYPROF_FAMILY_ZONES_))
                        location = code_table_location(entry, code);
                strand_begin(t->current, code, location, true);
        }
        return true;
}

/* False: the code is left out. */
static bool end_call(PyCodeObject *code)
{
        struct strand_thread *t = strand_thread_self;
        struct code_entry *entry;

        if (t && t->current->n_entries > 0 && t->current->entries[t->current->n_entries - 1].key == code) {
                strand_end(t->current, code);
                return true;
        }
        entry = code_table_find(code, NULL);
        if (!entry || !entry->is_included)
                return false;
        if (t)
                (void)strand_leave(t->current, code, code->co_flags);
        return true;
}

/* DISABLE would hold for all threads, and another thread may have a call of this code open. */
static bool is_end_wanted(const PyCodeObject *code)
{
        return is_on || strand_is_call_open(code);
}

static PyCodeObject *code_of(PyObject *const *args, Py_ssize_t n_args)
{
        return n_args > 0 && PyCode_Check(args[0]) ? (PyCodeObject *)(void *)args[0] : NULL;
}

static PyObject *on_start(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);

        (void)module;
        return Py_NewRef(code && begin_call(code, 0) ? Py_None : disable);
}

static PyObject *on_resume(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);

        (void)module;
        return Py_NewRef(code && begin_call(code, code->co_flags) ? Py_None : disable);
}

static PyObject *on_throw(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);

        (void)module;
        if (code)
                (void)begin_call(code, code->co_flags);
        Py_RETURN_NONE;
}

static PyObject *on_return(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);

        (void)module;
        return Py_NewRef(code && end_call(code) && is_end_wanted(code) ? Py_None : disable);
}

static PyObject *on_unwind(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);

        (void)module;
        if (code)
                (void)end_call(code);
        Py_RETURN_NONE;
}

static PyObject *on_line(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);
        struct strand_thread *t = strand_thread_self;
        struct code_entry *entry = code ? code_table_find(code, NULL) : NULL;
        struct strand *s;
        long line;

        (void)module;
        if (!entry || !entry->is_included || n_args < 2)
                return Py_NewRef(disable);
        if (!t || !is_on)
                Py_RETURN_NONE;
        s = t->current;
        line = PyLong_AsLong(args[1]);
        if (s->n_entries > 0 && s->entries[s->n_entries - 1].key == line_key(code))
                strand_end(s, line_key(code));
        strand_begin(s, line_key(code), code_table_line(entry, code, (int)line), true);
        Py_RETURN_NONE;
}

/* Arguments: the code, an offset in it, the callable, its first argument. */
static PyObject *on_c_call(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        PyCodeObject *code = code_of(args, n_args);
        struct code_entry *entry = code ? code_table_find(code, NULL) : NULL;
        struct strand_thread *t = strand_thread_here();

        (void)module;
        if (!entry || !entry->is_included || n_args < 3)
                return Py_NewRef(disable);
        if (t && is_on)
                c_calls_begin(t, args[2]);
        Py_RETURN_NONE;
}

/* A return or an exception; what it is of is not always what on_c_call() saw begin. */
static PyObject *on_c_end(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
        (void)module;
        if (n_args >= 3 && strand_thread_self)
                c_calls_end(strand_thread_self, args[2]);
        Py_RETURN_NONE;
}

static PyObject *start(PyObject *module, PyObject *unused)
{
        PyObject *monitoring;

        (void)module;
        (void)unused;
        if (!disable) {
                monitoring = PySys_GetObject("monitoring");
                disable = monitoring ? PyObject_GetAttrString(monitoring, "DISABLE") : NULL;
                if (!disable)
                        return NULL;
        }
        is_on = true;
        Py_RETURN_NONE;
}

static PyObject *stop(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        is_on = false;
        if (strand_thread_self)
                strand_end_calls(strand_thread_self->current);
        return PyBool_FromLong(strand_is_call_open(NULL));
}

static PyMethodDef methods[] = {
        { "calls_start", start, METH_NOARGS, NULL },
        { "calls_stop", stop, METH_NOARGS, NULL },
        { "calls_on_start", PYTHON_API_METHOD(on_start), METH_FASTCALL, NULL },
        { "calls_on_resume", PYTHON_API_METHOD(on_resume), METH_FASTCALL, NULL },
        { "calls_on_throw", PYTHON_API_METHOD(on_throw), METH_FASTCALL, NULL },
        { "calls_on_return", PYTHON_API_METHOD(on_return), METH_FASTCALL, NULL },
        { "calls_on_unwind", PYTHON_API_METHOD(on_unwind), METH_FASTCALL, NULL },
        { "calls_on_line", PYTHON_API_METHOD(on_line), METH_FASTCALL, NULL },
        { "calls_on_c_call", PYTHON_API_METHOD(on_c_call), METH_FASTCALL, NULL },
        { "calls_on_c_end", PYTHON_API_METHOD(on_c_end), METH_FASTCALL, NULL },
        { NULL, NULL, 0, NULL },
};

int call_hooks_add(PyObject *module)
{
        return PyModule_AddFunctions(module, methods);
}

#endif
