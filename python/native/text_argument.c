/* SPDX-License-Identifier: MIT */
#include "text_argument.h"

static bool take_str(struct text_argument *t, PyObject *object)
{
        Py_ssize_t n;

        t->text = PyUnicode_AsUTF8AndSize(object, &n);
        if (t->text) {
                t->n_bytes = (size_t)n;
                return true;
        }
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
                return false;
        PyErr_Clear();
        t->owner = PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace");
        if (!t->owner)
                return false;
        t->text = PyBytes_AS_STRING(t->owner);
        t->n_bytes = (size_t)PyBytes_GET_SIZE(t->owner);
        return true;
}

bool text_argument_take(struct text_argument *t, PyObject *object)
{
        PyObject *words;

        *t = (struct text_argument){ .owner = NULL };
        if (PyUnicode_Check(object))
                return take_str(t, object);
        words = PyObject_Str(object);
        if (!words)
                return false;
        if (!take_str(t, words)) {
                Py_DECREF(words);
                return false;
        }
        if (t->owner)
                Py_DECREF(words);
        else
                t->owner = words;
        return true;
}

void text_argument_drop(struct text_argument *t)
{
        Py_CLEAR(t->owner);
}
