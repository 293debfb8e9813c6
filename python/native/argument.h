/* SPDX-License-Identifier: MIT */
/*
 * python/native/argument.h - an object of Python as text, or as a number
 *
 * Way of the data:  program -> [argument] -> libhyprof
 *
 * May run code of the program (__str__, __index__, __float__).
 */
#ifndef PYTHON_NATIVE_ARGUMENT_H
#define PYTHON_NATIVE_ARGUMENT_H

#include "python_api.h"

#include <stdbool.h>
#include <stdint.h>

/* The UTF-8 of an object of Python. */
struct text_argument {
        const char *text; /* ends in NUL; lives as long as the object, or @owner */
        size_t n_bytes;
        PyObject *owner; /* NULL, or what holds the bytes */
};

/*
 * text_argument_take() - the text of @object: a str itself, or str() of another object
 * Lone surrogates become \udcxx.  Returns false with an exception set; else the caller calls
 * text_argument_drop() later.  May run code of the program (__str__).
 */
bool text_argument_take(struct text_argument *t, PyObject *object);
void text_argument_drop(struct text_argument *t);

/* ---- numbers ---- */

/* Takes an int of at most 64 bits.  Returns false, with no exception set, if it has more. */
bool number_argument_fits(int64_t *ret_value, PyObject *number);

/*
 * number_argument_take_whole() - a number without its fraction, cut to INT64_MIN .. INT64_MAX
 * Returns false with an exception set if @object is not a number.
 */
bool number_argument_take_whole(int64_t *ret_value, PyObject *object);

/*
 * Takes a number as it is; an int larger than any double becomes the largest one.  Returns as the one above.
 */
bool number_argument_take(double *ret_value, PyObject *object);

#endif /* PYTHON_NATIVE_ARGUMENT_H */
