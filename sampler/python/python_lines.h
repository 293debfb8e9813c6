/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_lines.h - the line of an instruction, from the table of a code object (CPython
 * 3.11 and later)
 *
 * Way of the data:  python_functions (bytes of co_linetable) -> [python_lines] -> python_functions
 *
 * The format is that of Objects/locations.md of CPython 3.11: entries of a first byte, 1 kkkk lll, of the
 * kind k and l + 1
 * units of code (2 bytes each), and of numbers that depend on the kind.
 */
#ifndef SAMPLER_PYTHON_PYTHON_LINES_H
#define SAMPLER_PYTHON_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * python_lines_find() - the line at a byte of the code
 * @table:      hostile
 * @first_line: co_firstlineno
 * @code_off:   byte of the code, from its first instruction on
 * Returns 0 where the table has none.  Linear in the table.
 */
uint32_t python_lines_find(const uint8_t *table, size_t table_bytes, uint32_t first_line, uint64_t code_off);

#endif /* SAMPLER_PYTHON_PYTHON_LINES_H */
