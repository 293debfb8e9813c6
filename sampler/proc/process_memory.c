/* SPDX-License-Identifier: MIT */
#include "sampler/proc/process_memory.h"

#include "base/byte_buffer.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int open_part(uint32_t pid, const char *name)
{
        char path[40];

        (void)snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
        return open(path, O_RDONLY | O_CLOEXEC);
}

void process_memory_open(struct process_memory *m, uint32_t pid)
{
        *m = (struct process_memory){ .pid = pid,
                                      .memory_fd = open_part(pid, "mem"),
                                      .maps_fd = open_part(pid, "maps"),
                                      .pagemap_fd = open_part(pid, "pagemap") };
}

void process_memory_reopen_maps(struct process_memory *m)
{
        io_close(&m->maps_fd);
        m->maps_fd = open_part(m->pid, "maps");
}

void process_memory_close(struct process_memory *m)
{
        io_close(&m->memory_fd);
        io_close(&m->maps_fd);
        io_close(&m->pagemap_fd);
}

static ssize_t read_some(const struct process_memory *m, uint64_t avma, void *to, size_t n_bytes)
{
        struct iovec here = { .iov_base = to, .iov_len = n_bytes };
        struct iovec there = { .iov_len = n_bytes };

        if (m->memory_fd >= 0)
                return avma <= INT64_MAX ? pread(m->memory_fd, to, n_bytes, (off_t)avma) : -1;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process is only a number here */
        there.iov_base = (void *)(uintptr_t)avma;
        return process_vm_readv((pid_t)m->pid, &here, 1, &there, 1, 0);
}

/* Repeats the read, because one call ends at unmapped memory, and after two gibibytes. */
size_t process_memory_read(const struct process_memory *m, uint64_t avma, void *to, size_t n_bytes)
{
        size_t done = 0;

        while (done < n_bytes) {
                ssize_t n = read_some(m, avma + done, (uint8_t *)to + done, n_bytes - done);

                if (n <= 0)
                        break;
                done += (size_t)n;
        }
        return done;
}

int process_memory_append(const struct process_memory *m, uint64_t avma, size_t n_bytes,
                          struct byte_buffer *out)
{
        uint8_t *to = byte_buffer_reserve(out, n_bytes);

        if (!to)
                return -ENOMEM;
        if (!process_memory_read_all(m, avma, to, n_bytes))
                return -EFAULT;
        out->used_bytes += n_bytes;
        return 0;
}
