/* SPDX-License-Identifier: MIT */
#include "c_calls.h"

#include "argument.h"
#include "task_steps.h"

#include <hyprof/hyprof.h>

#define KEPT_MAX 65536

bool c_calls_are_wanted;

static PyObject *name_function;
static PyObject *known; /* a dict: the number of a key -> that of a location, 0 = it is left out */
static PyObject *kept;  /* a list of what must not be freed while its key is known */

void c_calls_name_by(PyObject *namer)
{
        PyObject *last = name_function;

        Py_XINCREF(namer);
        name_function = namer;
        Py_XDECREF(last);
        Py_CLEAR(known);
        Py_CLEAR(kept);
        known = PyDict_New();
        kept = PyList_New(0);
        c_calls_are_wanted = namer && known && kept;
        PyErr_Clear();
}

/* The key of a function, by which its end is known as well; NULL = the callable itself is the key. */
static void *method_of(PyObject *callable)
{
        if (PyCFunction_Check(callable))
                return ((PyCFunctionObject *)(void *)callable)->m_ml;
        if (Py_IS_TYPE(callable, &PyMethodDescr_Type) || Py_IS_TYPE(callable, &PyClassMethodDescr_Type))
                return ((PyMethodDescrObject *)(void *)callable)->d_method;
        return NULL;
}

static bool is_python(PyObject *callable)
{
        return PyFunction_Check(callable) || PyMethod_Check(callable) || PyType_Check(callable);
}

/* Returns false if nothing is known of @key. */
static bool find_known(void *key, struct hyprof_location **ret_location)
{
        PyObject *number = PyLong_FromVoidPtr(key);
        PyObject *found = number ? PyDict_GetItemWithError(known, number) : NULL;

        Py_XDECREF(number);
        if (!found)
                return false;
        *ret_location = PyLong_AsVoidPtr(found);
        return true;
}

static void remember(void *key, struct hyprof_location *location)
{
        PyObject *number = PyLong_FromVoidPtr(key);
        PyObject *value = PyLong_FromVoidPtr(location);

        if (number && value)
                (void)PyDict_SetItem(known, number, value);
        Py_XDECREF(number);
        Py_XDECREF(value);
}

static struct hyprof_location *location_named(PyObject *name)
{
        struct text_argument text;
        struct hyprof_location *location;

        if (!text_argument_take(&text, name))
                return NULL;
        location = hyprof_location_of(text.text, text.n_bytes, text.text, text.n_bytes, "", 0, 0, 0);
        text_argument_drop(&text);
        return location;
}

/* NULL: the callable is left out. */
static struct hyprof_location *ask_name(PyObject *callable, void *method)
{
        struct hyprof_location *location = NULL;
        void *key = method ? method : callable;
        PyObject *keep = method ? NULL : callable;
        PyObject *name;

        if (PyList_GET_SIZE(kept) >= KEPT_MAX)
                return NULL;
        name = PyObject_CallFunctionObjArgs(name_function, callable, NULL);
        if (!name)
                return NULL;
        if (PyUnicode_Check(name)) {
                location = location_named(name);
        } else if (name == Py_False && !method) {
                key = Py_TYPE(callable);
                keep = (PyObject *)Py_TYPE(callable);
        }
        Py_DECREF(name);
        if (!keep || PyList_Append(kept, keep) == 0)
                remember(key, location);
        return location;
}

/* Keeps a pending exception. */
static struct hyprof_location *find_location(PyObject *callable, void *method)
{
        struct hyprof_location *location = NULL;
        PyObject *type, *value, *traceback;

        PyErr_Fetch(&type, &value, &traceback);
        if (method ? !find_known(method, &location)
                   : !find_known(Py_TYPE(callable), &location) && !find_known(callable, &location))
                location = ask_name(callable, method);
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
        return location;
}

void c_calls_begin(struct strand_thread *t, PyObject *callable)
{
        void *method = method_of(callable);
        struct hyprof_location *location;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) || !hyprof_is_recording() || is_python(callable))
                return;
        location = find_location(callable, method);
        if (!location)
                return;
        task_steps_catch_up(t);
        (void)strand_begin(t->current, method ? method : callable, location, true);
}

/*
 * A generator that waits inside a zone of the program keeps that zone open, and the call of next() around it:
 * that call ends with the one that is around it.
 */
void c_calls_end(struct strand_thread *t, PyObject *callable)
{
        void *method = method_of(callable);
        const void *key = method ? method : callable;
        const struct strand *s = t->current;
        uint32_t n = s->n_entries;

        if (n == 0 || is_python(callable))
                return;
        if (s->entries[n - 1].key != key && !find_location(callable, method))
                return;
        for (; n > 0 && !s->entries[n - 1].is_suspended; n--) {
                if (s->entries[n - 1].key == key) {
                        (void)strand_end(t->current, key);
                        return;
                }
        }
}
