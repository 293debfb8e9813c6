/* SPDX-License-Identifier: MIT */
#include "argument.h"

#include <float.h>
#include <math.h>

#define FIRST_TOO_LARGE 0x1p63

/* ------------------------------------------------------------------ texts */

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

/* ------------------------------------------------------------------ numbers */

/* Returns 0, or -1 or 1 for a number that is too small or too large for 64 bits. */
static int cut_int(PyObject *number, int64_t *ret_value)
{
        int sign = 0;
        long long value = PyLong_AsLongLongAndOverflow(number, &sign);

        *ret_value = sign == 0 ? value : sign < 0 ? INT64_MIN : INT64_MAX;
        return sign;
}

bool number_argument_fits(int64_t *ret_value, PyObject *number)
{
        return cut_int(number, ret_value) == 0;
}

static bool cut_double(double value, int64_t *ret_value)
{
        if (isnan(value)) {
                PyErr_SetString(PyExc_ValueError, "NaN is not a whole number");
                return false;
        }
        if (value >= FIRST_TOO_LARGE)
                *ret_value = INT64_MAX;
        else if (value < -FIRST_TOO_LARGE)
                *ret_value = INT64_MIN;
        else
                *ret_value = (int64_t)value;
        return true;
}

bool number_argument_take_whole(int64_t *ret_value, PyObject *object)
{
        PyObject *number;
        double value;

        if (PyIndex_Check(object)) {
                number = PyNumber_Index(object);
                if (!number)
                        return false;
                (void)cut_int(number, ret_value);
                Py_DECREF(number);
                return true;
        }
        value = PyFloat_AsDouble(object);
        if (value == -1.0 && PyErr_Occurred())
                return false;
        return cut_double(value, ret_value);
}

bool number_argument_take(double *ret_value, PyObject *object)
{
        double value = PyFloat_AsDouble(object);
        int64_t whole;

        if (value == -1.0 && PyErr_Occurred()) {
                if (!PyLong_Check(object) || !PyErr_ExceptionMatches(PyExc_OverflowError))
                        return false;
                PyErr_Clear();
                value = cut_int(object, &whole) < 0 ? -DBL_MAX : DBL_MAX;
        }
        *ret_value = value;
        return true;
}
