/* SPDX-License-Identifier: MIT */
#include "instrument/own_number.h"

#include "base/byte_buffer.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define STATUS_BYTES_MAX 65536
#define PATH_BYTES       40 /* room for "/proc/4294967295/task/4294967295" */

int own_number_read(int proc_fd, uint32_t number, uint32_t *ret_own_number, struct error *err)
{
        struct byte_buffer status = { .data = NULL };
        int r = io_read_file(proc_fd, "status", STATUS_BYTES_MAX, &status, err);
        const char *at = r < 0 ? NULL : strstr((const char *)status.data, "\nNSpid:");
        uint32_t own = number;

        /*
         * The number in our namespace comes first, then one for each namespace further in; the last is the
         * process's own.
         */
        if (at)
                at += sizeof("\nNSpid:") - 1;
        for (uint32_t value = 0; at && (*at == '\t' || (*at >= '0' && *at <= '9')); at++) {
                if (*at == '\t') {
                        value = 0;
                        continue;
                }
                value = value * 10 + (uint32_t)(*at - '0');
                own = value;
        }
        byte_buffer_deinit(&status);
        if (r == 0)
                *ret_own_number = own;
        return r;
}

int own_number_read_thread(uint32_t pid, uint32_t tid, uint32_t *ret_own_tid)
{
        char path[PATH_BYTES];
        int fd, r;

        (void)snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, tid);
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        r = fd < 0 ? -errno : own_number_read(fd, tid, ret_own_tid, NULL);
        io_close(&fd);
        return r;
}
