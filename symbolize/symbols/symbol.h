/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/symbol.h - one function at a place in the code
 *
 * Way of the data:  module_symbols -> [symbol] -> symbolizer_sink, code_listing
 */
#ifndef SYMBOLIZE_SYMBOLS_SYMBOL_H
#define SYMBOLIZE_SYMBOLS_SYMBOL_H

#include <stdint.h>

#define SYMBOLIZER_CHAIN_MAX 128   /* symbols of one frame; more inlined functions are cut at the outer end */
#define SYMBOLIZER_TEXT_MAX  65535 /* bytes of a function's or file's name; longer ones are cut */

/* Strings are borrowed for the call that passes it, NULL = unknown. */
struct symbol {
        const char *function; /* demangled */
        const char *file;
        uint32_t line;             /* 0 = unknown */
        uint32_t column;           /* 0 = unknown */
        uint32_t flags;            /* TRACE_SYMBOL_* */
        uint64_t start_svma;       /* where the function begins in its ELF file; 0 = unknown, or inlined */
        const char *declared_file; /* where it is declared */
        uint32_t declared_line;    /* 0 = unknown */
        uint32_t instance;         /* tells functions of one name and declaration apart */
        const char *aliases;       /* other names of its address, one a line */
};

#endif /* SYMBOLIZE_SYMBOLS_SYMBOL_H */
