/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_objects.h - objects of Python in another process's memory -> their bytes, and the
 * line of an instruction
 *
 * Way of the data:  process_memory, python_record (pieces) -> [python_objects] -> python_functions
 *
 * The memory is as it is now, or as it was at a sample.  All of it is hostile: lengths are bounded, and no
 * address in it is used as one of our own.
 */
#ifndef SAMPLER_PYTHON_PYTHON_OBJECTS_H
#define SAMPLER_PYTHON_PYTHON_OBJECTS_H

#include "sampler/proc/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_objects;

/* ------------------------------------------------------------------ memory */

/*
 * Memory of a Python program: as it is now, or as it was at a sample.  Pure, except when it reads a running
 * program.
 */
struct python_reader {
        struct process_memory memory; /* where there are no pieces */
        const uint8_t *pieces;        /* borrowed: each a struct python_piece; or NULL */
        size_t n_bytes;
};

static inline struct python_reader python_reader_of(uint32_t pid)
{
        return (struct python_reader){ .memory = process_memory_of(pid) };
}

/* Reads up to @n_bytes from @avma on; returns how many there are. */
size_t python_reader_read(const struct python_reader *reader, uint64_t avma, void *to, size_t n_bytes);

static inline bool python_reader_read_all(const struct python_reader *reader, uint64_t avma, void *to,
                                          size_t n_bytes)
{
        return python_reader_read(reader, avma, to, n_bytes) == n_bytes;
}

/* ------------------------------------------------------------------ objects */

#define PYTHON_TEXT_MAX  1024                /* characters of a name or a path; the rest is left out */
#define PYTHON_LINES_MAX (UINT32_C(1) << 20) /* bytes of a code object's line table */

/* A code object, without the objects to which it refers. */
struct python_code {
        uint64_t file_avma, name_avma, lines_avma; /* of a str, a str, a bytes */
        uint64_t instructions_avma;
        uint64_t identity; /* as python_identity() */
        uint32_t first_line;
};

/* Returns 0, or -EFAULT if it cannot be read. */
int python_code_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                     struct python_code *ret_code);

/*
 * python_text_read() - a str, as UTF-8
 * @to: PYTHON_TEXT_MAX * 4 bytes
 * Returns how many bytes of it could be read, or -EFAULT, -EBADMSG.
 */
int python_text_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                     char *to);

/*
 * python_bytes_read() - a bytes
 * @ret_bytes: heap, the caller's; NULL if it is empty
 * Returns 0; 1 if only its beginning could be read; -EFAULT, -EBADMSG (too long), -ENOMEM.
 */
int python_bytes_read(const struct python_reader *reader, const struct python_objects *objects, uint64_t avma,
                      uint8_t **ret_bytes, size_t *ret_n_bytes);

/* ------------------------------------------------------------------ lines */

/*
 * The line of an instruction, from the table of a code object (CPython 3.11 and later).
 * The format is that of Objects/locations.md of CPython 3.11: entries of a first byte, 1 kkkk lll, of the
 * kind k and l + 1 units of code (2 bytes each), and of numbers that depend on the kind.
 */

/*
 * python_lines_find() - the line at a byte of the code
 * @table:      hostile
 * @first_line: co_firstlineno
 * @code_off:   byte of the code, from its first instruction on
 * Returns 0 where the table has none.  Linear in the table.
 */
uint32_t python_lines_find(const uint8_t *table, size_t table_bytes, uint32_t first_line, uint64_t code_off);

#endif /* SAMPLER_PYTHON_PYTHON_OBJECTS_H */
