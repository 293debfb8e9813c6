/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/demangle.h - names for linkers -> names for people
 *
 * Way of the data:  symbol_table, code_names -> [demangle] -> symbolizer
 *
 * C++ (Itanium ABI), Rust (both schemes) and D; others by demangle_rules.  Mangled names refer back to parts
 * of themselves, so that a short hostile one stands for gigabytes: input and output are limited.
 */
#ifndef SYMBOLIZE_ELF_DEMANGLE_H
#define SYMBOLIZE_ELF_DEMANGLE_H

#include "symbolize/elf/demangle_rules.h"

#include <stdint.h>

#define DEMANGLE_MANGLED_MAX      32768 /* bytes of a mangled name; template names of some KiB are usual */
#define DEMANGLE_D_MANGLED_MAX    1024  /* libiberty cannot be stopped while it works on a name of D */
#define DEMANGLE_D_REFERENCES_MAX 24 /* back references in one, each of which may repeat what others repeat */
#define DEMANGLE_NAME_MAX         65535 /* limit of the output, in bytes */

/*
 * demangle_name() - the readable form of a linker's name
 * Returns heap memory that the caller frees; NULL if the name is not mangled, is over a limit, or memory
 * ran out: it is shown as it is then.
 */
char *demangle_name(const char *mangled, enum mangling mangling);

/*
 * demangle_symbol() - the same for a name in a symbol table
 * Leaves out the version that symbol tables add ("write@@GLIBC_2.2.5"); the "@plt" of a stub stays.
 * Returns as demangle_name() does.
 */
char *demangle_symbol(const char *symbol, enum mangling mangling);

/*
 * demangle_find_rust_hash() - a number that tells apart instances of a Rust function with one readable name
 * Returns a part of the hash that Rust's older scheme appends; 0 if there is none.
 */
uint32_t demangle_find_rust_hash(const char *mangled);

#endif /* SYMBOLIZE_ELF_DEMANGLE_H */
