/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_memory.h - bytes of another process's memory, as they are now
 *
 * Way of the data:  process_vm_readv(2), /proc/PID/mem -> [process_memory] -> memory_image,
 *                   image_search, jit_objects
 *
 * The program goes on meanwhile: two calls may see two states.  May be used by any thread.
 */
#ifndef SAMPLER_PROC_PROCESS_MEMORY_H
#define SAMPLER_PROC_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

/*
 * Read by PID, by a thread with the right to trace the process; or by open files, by a thread without
 * rights.
 */
struct process_memory {
        uint32_t pid;
        int memory_fd, maps_fd, pagemap_fd; /* -1 = read by PID; owned if they were opened here */
};

static inline struct process_memory process_memory_of(uint32_t pid)
{
        return (struct process_memory){ .pid = pid, .memory_fd = -1, .maps_fd = -1, .pagemap_fd = -1 };
}

/* Opens /proc/PID/mem, maps and pagemap.  A file that cannot be opened stays -1. */
void process_memory_open(struct process_memory *m, uint32_t pid);
void process_memory_close(struct process_memory *m);

/* Opens `maps` again, after a search has read it to its end. */
void process_memory_reopen_maps(struct process_memory *m);

/* Reads up to @n_bytes; returns how many could be read from @avma on, without a gap. */
size_t process_memory_read(const struct process_memory *m, uint64_t avma, void *to, size_t n_bytes);

/* The same, all or nothing. */
static inline bool process_memory_read_all(const struct process_memory *m, uint64_t avma, void *to,
                                           size_t n_bytes)
{
        return process_memory_read(m, avma, to, n_bytes) == n_bytes;
}

/* Appends @n_bytes.  Returns 0; -EFAULT if not all of them can be read: then nothing is added; -ENOMEM. */
int process_memory_append(const struct process_memory *m, uint64_t avma, size_t n_bytes,
                          struct byte_buffer *out);

#endif /* SAMPLER_PROC_PROCESS_MEMORY_H */
