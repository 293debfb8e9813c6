/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jit_target.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES_MAX 65536 /* of a file in /proc */
#define LINK_BYTES     32
#define FIELD_START    19         /* of /proc/PID/stat, counted from the state, which is 0 */
#define FUSE_MAGIC     0x65735546 /* its reads end when the program likes */

static uint64_t now_ns(clockid_t clock)
{
        struct timespec t;

        (void)clock_gettime(clock, &t); /* cannot fail for the clocks used here */
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Returns false if it has ended. */
static bool read_proc(uint32_t pid, const char *name, struct byte_buffer *text)
{
        char path[LINK_BYTES];

        (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
        byte_buffer_clear(text);
        return io_read_file(AT_FDCWD, path, TEXT_BYTES_MAX, text, NULL) == 0;
}

/*
 * Parses the numbers in a line of /proc/PID/status, in order; numbers beyond @n_max overwrite the last one.
 */
static unsigned parse_numbers(const char *text, const char *name, uint32_t *numbers, unsigned n_max)
{
        const char *at = strstr(text, name);
        unsigned n = 0;
        char *end;

        if (!at)
                return 0;
        at += strlen(name);
        while (*at == '\t' || *at == ' ') {
                uint32_t number = (uint32_t)strtoul(at, &end, 10);

                if (end == at)
                        break;
                numbers[n < n_max ? n++ : n_max - 1] = number;
                at = end;
        }
        return n;
}

static void read_status(struct jit_target *t, uint32_t pid, struct byte_buffer *text)
{
        uint32_t ids[4], own_pids[2];
        unsigned n;

        if (!read_proc(pid, "status", text))
                return;
        if (parse_numbers((const char *)text->data, "\nUid:", ids, 4) == 4) {
                t->knows_user = true;
                t->uid = ids[1];
                t->fs_uid = ids[3];
        }
        n = parse_numbers((const char *)text->data, "\nNSpid:", own_pids, 2);
        if (n == 0)
                return;
        t->own_pid = own_pids[n - 1];
        (void)snprintf(t->map_name, sizeof(t->map_name), "perf-%" PRIu32 ".map", t->own_pid);
}

/* The kernel reports the start time in ticks since it was booted. */
static void read_start(struct jit_target *t, uint32_t pid, struct byte_buffer *text)
{
        long ticks_per_s = sysconf(_SC_CLK_TCK);
        uint64_t since_boot_ns = now_ns(CLOCK_BOOTTIME), boot_ns = now_ns(CLOCK_REALTIME);
        uint64_t start_ns;
        const char *at;

        if (!read_proc(pid, "stat", text) || ticks_per_s <= 0)
                return;
        at = strrchr((const char *)text->data, ')'); /* the name before it may hold anything */
        for (int i = 0; at && i <= FIELD_START; i++)
                at = strchr(at + 1, ' ');
        if (!at)
                return;
        start_ns = strtoull(at, NULL, 10) * (NS_PER_S / (uint64_t)ticks_per_s);
        if (start_ns <= since_boot_ns && since_boot_ns - start_ns < boot_ns)
                t->start_ns = boot_ns - (since_boot_ns - start_ns);
}

static int open_folder(const char *root)
{
        int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        int fd = root_fd < 0 ? -1 : openat(root_fd, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        io_close(&root_fd);
        return fd;
}

void jit_target_open(struct jit_target *t, uint32_t pid, uint64_t since_ns)
{
        struct byte_buffer text = { .data = NULL };
        char root[LINK_BYTES];

        *t = (struct jit_target){ .folder_fd = -1, .start_ns = since_ns };
        (void)snprintf(t->map_name, sizeof(t->map_name), "perf-%" PRIu32 ".map", pid);
        read_status(t, pid, &text);
        read_start(t, pid, &text);
        byte_buffer_deinit(&text);
        (void)snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", pid);
        t->folder_fd = open_folder(root);
        if (t->folder_fd < 0) /* ended, or not accessible: it likely has the same files */
                t->folder_fd = open_folder("/");
}

void jit_target_close(struct jit_target *t)
{
        io_close(&t->folder_fd);
}

/* Anybody may put a file of any name into /tmp. */
static bool is_believed(const struct jit_target *t, const struct stat *st)
{
        uint64_t changed_ns = (uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;

        if (!S_ISREG(st->st_mode) || changed_ns + PACE_JIT_START_SLACK_NS < t->start_ns)
                return false;
        /*
         * In its own folders, a program can place any file that it can name, without being able to read it.
         */
        if (st->st_uid == 0 && (st->st_mode & S_IROTH))
                return true;
        return t->knows_user ? st->st_uid == t->uid || st->st_uid == t->fs_uid : st->st_uid == geteuid();
}

int jit_target_open_map(const struct jit_target *t, struct error *err)
{
        struct statfs file_system;
        struct stat st;
        int name_fd, fd = -1;
        int r = 0;

        if (t->folder_fd < 0)
                return error_set(err, -ENOENT, "%s: not a folder", t->map_name);
        name_fd = openat(t->folder_fd, t->map_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (name_fd < 0)
                return error_errno(err, "%s", t->map_name);
        if (fstat(name_fd, &st) < 0 || fstatfs(name_fd, &file_system) < 0)
                r = error_errno(err, "%s", t->map_name);
        else if (!is_believed(t, &st) || (unsigned long)file_system.f_type == FUSE_MAGIC)
                r = error_set(err, -EACCES, "%s: not a file of the process", t->map_name);
        if (r == 0)
                r = regular_file_reopen(name_fd, t->map_name, &fd, err);
        io_close(&name_fd);
        return r < 0 ? r : fd;
}

bool jit_target_is_map(const struct jit_target *t, dev_t device, ino_t inode)
{
        struct stat st;

        return t->folder_fd >= 0 && fstatat(t->folder_fd, t->map_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               st.st_dev == device && st.st_ino == inode;
}
