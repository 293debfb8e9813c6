/* SPDX-License-Identifier: MIT */
#include "sampler/process_memory.h"

#include "base/byte_buffer.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

/* One call ends at what is not mapped, and after two gibibytes. */
size_t process_memory_read(uint32_t pid, uint64_t avma, void *to, size_t n_bytes)
{
        size_t done = 0;

        while (done < n_bytes) {
                struct iovec here = { .iov_base = (uint8_t *)to + done, .iov_len = n_bytes - done };
                struct iovec there = { .iov_len = n_bytes - done };
                ssize_t n;

                /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process is only a number here */
                there.iov_base = (void *)(uintptr_t)(avma + done);
                n = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
                if (n <= 0)
                        break;
                done += (size_t)n;
        }
        return done;
}

int process_memory_append(uint32_t pid, uint64_t avma, size_t n_bytes, struct byte_buffer *out)
{
        uint8_t *to = byte_buffer_reserve(out, n_bytes);

        if (!to)
                return -ENOMEM;
        if (!process_memory_read_all(pid, avma, to, n_bytes))
                return -EFAULT;
        out->used_bytes += n_bytes;
        return 0;
}
