/* SPDX-License-Identifier: MIT */
/*
 * symbolize/images/module_landmarks.h - variables of a file that lead to more: a JIT's list of code, an
 * interpreter
 *
 * Way of the data:  elf_image -> [module_landmarks] -> table_process -> code_tables
 *
 * GDB's interface for JITs: a program that makes code at run time has a variable __jit_debug_descriptor,
 * which leads to a
 * list of ELF objects in memory.  CPython's interpreter has its state in a variable _PyRuntime, and
 * exports its version and
 * the function that runs Python code.
 */
#ifndef SYMBOLIZE_IMAGES_MODULE_LANDMARKS_H
#define SYMBOLIZE_IMAGES_MODULE_LANDMARKS_H

#include "symbolize/elf/elf_image.h"

#include <stdbool.h>
#include <stdint.h>

/* Addresses of the file; 0 = it has none. */
struct module_landmarks {
        struct elf_image_part code;   /* its first executable segment: tells where a mapping has them */
        uint64_t jit_svma;            /* of __jit_debug_descriptor */
        uint64_t python_runtime_svma; /* of _PyRuntime; if it is there, so are the next two */
        uint64_t python_version_svma; /* of Py_Version */
        uint64_t python_eval_svma, python_eval_bytes; /* of _PyEval_EvalFrameDefault() */
        uint64_t python_rest_svma, python_rest_bytes; /* of its other part (".cold"), if it was split */
        bool python_is_old;                           /* CPython before 3.11, which has no Py_Version */
        bool python_is_stripped;                      /* an interpreter whose symbols are missing */
};

static inline bool module_landmarks_are_there(const struct module_landmarks *l)
{
        return l->jit_svma != 0 || l->python_runtime_svma != 0 || l->python_is_old || l->python_is_stripped;
}

/*
 * Looks for them in .symtab or .dynsym.  A file without the symbols of Python, but with a section .PyRuntime,
 * is a stripped interpreter.
 */
void module_landmarks_find(const struct elf_image *image, struct module_landmarks *ret_landmarks);

#endif /* SYMBOLIZE_IMAGES_MODULE_LANDMARKS_H */
