/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_reader.h - memory of a Python program: as it is now, or as it was at a sample
 *
 * Way of the data:  process_memory, python_record (pieces) -> [python_reader] -> python_objects
 *
 * Pure but for reads of a program that runs.
 */
#ifndef SAMPLER_PYTHON_PYTHON_READER_H
#define SAMPLER_PYTHON_PYTHON_READER_H

#include "sampler/proc/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_reader {
        struct process_memory memory; /* where there are no pieces */
        const uint8_t *pieces;        /* borrowed: each a struct python_piece; or NULL */
        size_t n_bytes;
};

static inline struct python_reader python_reader_of(uint32_t pid)
{
        return (struct python_reader){ .memory = process_memory_of(pid) };
}

/* Up to @n_bytes from @avma on; returns how many there are. */
size_t python_reader_read(const struct python_reader *reader, uint64_t avma, void *to, size_t n_bytes);

static inline bool python_reader_read_all(const struct python_reader *reader, uint64_t avma, void *to,
                                          size_t n_bytes)
{
        return python_reader_read(reader, avma, to, n_bytes) == n_bytes;
}

#endif /* SAMPLER_PYTHON_PYTHON_READER_H */
