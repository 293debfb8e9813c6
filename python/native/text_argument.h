/* SPDX-License-Identifier: MIT */
/*
 * python/native/text_argument.h - the UTF-8 of an object of Python
 *
 * Way of the data:  program -> [text_argument] -> libhyprof
 */
#ifndef PYTHON_NATIVE_TEXT_ARGUMENT_H
#define PYTHON_NATIVE_TEXT_ARGUMENT_H

#include "python_api.h"

#include <stdbool.h>

struct text_argument {
        const char *text; /* ends in NUL; lives as long as the object, or @owner */
        size_t n_bytes;
        PyObject *owner; /* NULL, or what holds the bytes */
};

/*
 * text_argument_take() - the text of @object: of a str its own, of another object that of str()
 * Lone surrogates become \udcxx.  Returns false with an exception set; else text_argument_drop() afterwards.
 * May run code of the program (__str__).
 */
bool text_argument_take(struct text_argument *t, PyObject *object);
void text_argument_drop(struct text_argument *t);

#endif /* PYTHON_NATIVE_TEXT_ARGUMENT_H */
