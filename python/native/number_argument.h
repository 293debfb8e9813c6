/* SPDX-License-Identifier: MIT */
/*
 * python/native/number_argument.h - an object of Python as a number
 *
 * Way of the data:  program -> [number_argument] -> libhyprof
 *
 * May run code of the program (__index__, __float__).
 */
#ifndef PYTHON_NATIVE_NUMBER_ARGUMENT_H
#define PYTHON_NATIVE_NUMBER_ARGUMENT_H

#include "python_api.h"

#include <stdbool.h>
#include <stdint.h>

/* An int that has 64 bits at most.  False: it has more; no exception is set. */
bool number_argument_fits(int64_t *ret_value, PyObject *number);

/*
 * number_argument_take_whole() - without its fraction, and at most INT64_MAX, at least INT64_MIN
 * Returns false with an exception set: it is not a number.
 */
bool number_argument_take_whole(int64_t *ret_value, PyObject *object);

/* As it is; a larger int than there are doubles becomes the largest one.  Returns as the one above. */
bool number_argument_take(double *ret_value, PyObject *object);

#endif /* PYTHON_NATIVE_NUMBER_ARGUMENT_H */
