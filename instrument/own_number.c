/* SPDX-License-Identifier: MIT */
#include "instrument/own_number.h"

#include "base/byte_buffer.h"
#include "base/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES_MAX 65536
#define PATH_BYTES       32 /* room for "/proc/4294967295/task" */

int own_number_read(int proc_fd, uint32_t number, uint32_t *ret_own_number, struct error *err)
{
        struct byte_buffer status = { .data = NULL };
        int r = io_read_file(proc_fd, "status", STATUS_BYTES_MAX, &status, err);
        const char *at = r < 0 ? NULL : strstr((const char *)status.data, "\nNSpid:");
        uint32_t own = number;

        /* Our number first, then one for each namespace further in; the last is its own. */
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

/* True if the thread with the directory @name calls itself @own_tid. */
static bool own_number_is_thread(int task_fd, const char *name, uint32_t own_tid)
{
        int fd = openat(task_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        uint32_t own = 0;
        bool found = fd >= 0 && own_number_read(fd, 0, &own, NULL) == 0 && own == own_tid;

        io_close(&fd);
        return found;
}

uint32_t own_number_find_thread(uint32_t pid, uint32_t own_tid)
{
        char path[PATH_BYTES];
        const struct dirent *entry;
        uint32_t tid = 0;
        DIR *dir;

        (void)snprintf(path, sizeof(path), "/proc/%u/task", pid);
        dir = opendir(path);
        if (!dir)
                return 0;
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
        while (tid == 0 && (entry = readdir(dir)) != NULL)
                if (entry->d_name[0] != '.' && own_number_is_thread(dirfd(dir), entry->d_name, own_tid))
                        tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        (void)closedir(dir);
        return tid;
}
