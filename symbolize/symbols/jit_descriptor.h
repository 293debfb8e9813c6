/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/jit_descriptor.h - where a program tells debuggers of the code that it makes
 *
 * Way of the data:  elf_image -> [jit_descriptor] -> table_process -> code_tables
 *
 * GDB's interface for JITs: a program that makes code at run time has a variable __jit_debug_descriptor,
 * which leads to a list of ELF objects in memory.
 */
#ifndef SYMBOLIZE_SYMBOLS_JIT_DESCRIPTOR_H
#define SYMBOLIZE_SYMBOLS_JIT_DESCRIPTOR_H

#include <stdint.h>

struct elf_image;

/* The address of the variable, from .symtab or .dynsym.  Returns 1, or 0 if the image has none. */
int jit_descriptor_find(const struct elf_image *image, uint64_t *ret_svma);

#endif /* SYMBOLIZE_SYMBOLS_JIT_DESCRIPTOR_H */
