/* SPDX-License-Identifier: MIT */
/*
 * sampler/process_memory.h - bytes of another process's memory, as they are now
 *
 * Way of the data:  process_vm_readv(2) -> [process_memory] -> memory_image, image_search, jit_objects
 *
 * The program goes on meanwhile: two calls may see two states.  Needs the right
 * to trace the process.  Any thread.
 */
#ifndef SAMPLER_PROCESS_MEMORY_H
#define SAMPLER_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/* Reads up to @n_bytes; returns how many could be read from @avma on, without a gap. */
size_t process_memory_read(uint32_t pid, uint64_t avma, void *to, size_t n_bytes);

/* The same, all or nothing. */
static inline bool process_memory_read_all(uint32_t pid, uint64_t avma, void *to, size_t n_bytes)
{
        return process_memory_read(pid, avma, to, n_bytes) == n_bytes;
}

/* Appends @n_bytes.  Returns 0; -EFAULT if not all of them can be read: then nothing is added; -ENOMEM. */
int process_memory_append(uint32_t pid, uint64_t avma, size_t n_bytes, struct byte_buffer *out);

#endif /* SAMPLER_PROCESS_MEMORY_H */
