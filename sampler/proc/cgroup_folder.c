/* SPDX-License-Identifier: MIT */
#include "sampler/proc/cgroup_folder.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/proc/running_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (UINT32_C(1) << 24) /* of mountinfo, and of a list of processes */
#define FOLDERS_DEEP   64

/* ---- the mount ----------------------------------------------------------------------------------------- */

/*
 * Copies a field and decodes its blanks and the like, which are written as three octal digits.
 * Returns 0 or -ENAMETOOLONG.
 */
static int copy_field(char *path, const char *field, size_t n_bytes)
{
        size_t n = 0;

        for (size_t i = 0; i < n_bytes; i++) {
                char c = field[i];

                if (c == '\\' && i + 3 < n_bytes) {
                        char digits[4] = { field[i + 1], field[i + 2], field[i + 3], '\0' };

                        c = (char)strtoul(digits, NULL, 8);
                        i += 3;
                }
                if (n + 1 >= PATH_MAX)
                        return -ENAMETOOLONG;
                path[n++] = c;
        }
        path[n] = '\0';
        return 0;
}

/* True if the options of a mount, the last field of its line, include this word. */
static bool has_option(const char *options, size_t n_bytes, const char *word)
{
        size_t n_word = strlen(word);

        for (size_t i = 0; i + n_word <= n_bytes; i++)
                if (memcmp(options + i, word, n_word) == 0 && i > 0 && options[i - 1] == ',' &&
                    (i + n_word == n_bytes || options[i + n_word] == ','))
                        return true;
        return false;
}

/*
 * "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw"
 * "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
 */
static bool take_line(struct cgroup_mount *mount, const char *line, size_t n_bytes, const char *controller)
{
        const char *type = controller ? " - cgroup " : " - cgroup2 ";
        const char *root = line, *path, *behind = memmem(line, n_bytes, type, strlen(type));

        if (!behind ||
            (controller && !has_option(behind + strlen(type),
                                       n_bytes - (size_t)(behind + strlen(type) - line), controller)))
                return false;
        n_bytes = (size_t)(behind - line);
        for (int i = 0; root && i < 3; i++) {
                root = memchr(root, ' ', n_bytes - (size_t)(root - line));
                root = root ? root + 1 : NULL;
        }
        path = root ? memchr(root, ' ', n_bytes - (size_t)(root - line)) : NULL;
        return path && copy_field(mount->root, root, (size_t)(path - root)) == 0 &&
               copy_field(mount->path, path + 1, strcspn(path + 1, " ")) == 0;
}

static int parse(struct cgroup_mount *mount, const char *text, const char *controller)
{
        mount->controller = controller;
        while (*text != '\0') {
                size_t n_bytes = strcspn(text, "\n");

                if (take_line(mount, text, n_bytes, controller))
                        return 0;
                text += n_bytes + (text[n_bytes] == '\n');
        }
        return -ENOENT;
}

int cgroup_mount_parse(struct cgroup_mount *mount, const char *text)
{
        return parse(mount, text, NULL);
}

int cgroup_mount_parse_v1(struct cgroup_mount *mount, const char *controller, const char *text)
{
        return parse(mount, text, controller);
}

static int read_mount(struct cgroup_mount *mount, const char *controller, struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        int r = io_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_BYTES_MAX, &text, err);

        mount->path[0] = '\0';
        mount->root[0] = '\0';
        if (r == 0 && parse(mount, (const char *)text.data, controller) < 0)
                r = error_set(err, -ENOENT, "%s%s is not mounted", controller ? controller : "cgroup2",
                              controller ? " (cgroup v1)" : "");
        byte_buffer_deinit(&text);
        return r;
}

int cgroup_mount_read(struct cgroup_mount *mount, struct error *err)
{
        return read_mount(mount, NULL, err);
}

bool cgroup_mount_find(struct cgroup_mount *mount, const char *controller)
{
        return read_mount(mount, controller, NULL) == 0 || read_mount(mount, NULL, NULL) == 0;
}

/* ---- that of a process --------------------------------------------------------------------------------- */

/* Lines look like "0::/user.slice" and "4:cpu,memory:/group".  Returns where the path begins, or NULL. */
static const char *find_path(const char *text, const char *controller)
{
        size_t n_word = controller ? strlen(controller) : 0;

        for (const char *line = text; line; line = strchr(line, '\n')) {
                const char *list, *end;

                line += line[0] == '\n';
                list = line + strcspn(line, ":\n");
                end = list[0] == ':' ? strpbrk(list + 1, ":\n") : NULL;
                if (!end || end[0] != ':' || end[1] != '/')
                        continue;
                if (!controller && end == list + 1)
                        return end + 1;
                while (controller && list < end) {
                        size_t n = strcspn(++list, ",:");

                        if (n == n_word && memcmp(list, controller, n) == 0)
                                return end + 1;
                        list += n;
                }
        }
        return NULL;
}

bool cgroup_mount_parse_folder(const struct cgroup_mount *mount, const char *text, char *ret_path)
{
        const char *path = find_path(text, mount->controller);
        size_t n_root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
        int n;

        if (!path || strncmp(path, mount->root, n_root) != 0 || strncmp(path, "/..", 3) == 0)
                return false;
        path += n_root;
        n = snprintf(ret_path, PATH_MAX, "%s%.*s", mount->path, (int)strcspn(path, "\n"), path);
        while (n > 1 && n < PATH_MAX && ret_path[n - 1] == '/')
                ret_path[--n] = '\0';
        return n < PATH_MAX;
}

bool cgroup_mount_find_folder(const struct cgroup_mount *mount, uint32_t pid, char *ret_path)
{
        struct byte_buffer text = { .data = NULL };
        char file[48] = "/proc/self/cgroup";
        bool found;

        if (pid != 0)
                (void)snprintf(file, sizeof(file), "/proc/%" PRIu32 "/cgroup", pid);
        found = io_read_file(AT_FDCWD, file, TEXT_BYTES_MAX, &text, NULL) == 0 &&
                cgroup_mount_parse_folder(mount, (const char *)text.data, ret_path);
        byte_buffer_deinit(&text);
        return found;
}

/* Appends a path to another one.  Returns false if it does not fit. */
static bool join(char *ret_path, const char *folder, const char *name)
{
        const char *between = name[0] == '/' || (folder[0] != '\0' && folder[strlen(folder) - 1] == '/')
                                      ? ""
                                      : "/";

        return snprintf(ret_path, PATH_MAX, "%s%s%s", folder, between, name) < PATH_MAX;
}

static bool is_cgroup(const char *path)
{
        char file[PATH_MAX];

        return join(file, path, "cgroup.procs") && access(file, F_OK) == 0;
}

int cgroup_mount_own_folder(const struct cgroup_mount *mount, char *ret_path, struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        int r = io_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_BYTES_MAX, &text, err);

        if (r < 0)
                return r;
        if (!cgroup_mount_parse_folder(mount, (const char *)text.data, ret_path) || !is_cgroup(ret_path))
                memcpy(ret_path, mount->path, strlen(mount->path) + 1);
        byte_buffer_deinit(&text);
        return 0;
}

/* ---- one that is named --------------------------------------------------------------------------------- */

int cgroup_folder_open(const char *name, char *ret_path, struct error *err)
{
        struct cgroup_mount mount;
        int fd, r = cgroup_mount_read(&mount, err);

        if (r < 0)
                return r;
        if (!join(ret_path, mount.path, name) || !is_cgroup(ret_path)) {
                if (name[0] != '/' || strlen(name) >= PATH_MAX || !is_cgroup(name))
                        return error_set(err, -ENOENT, "no cgroup %s below %s", name, mount.path);
                memcpy(ret_path, name, strlen(name) + 1);
        }
        fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? error_errno(err, "cgroup %s", ret_path) : fd;
}

static int add_pids(const char *text, struct running_numbers *pids)
{
        int r = 0;

        while (r == 0 && *text != '\0') {
                uint32_t pid = (uint32_t)strtoul(text, NULL, 10);

                /* 0 = a process that cannot be seen from our PID namespace */
                if (pid != 0)
                        r = array_reserve(&pids->numbers, &pids->capacity, pids->n_numbers + 1,
                                          sizeof(*pids->numbers));
                if (r == 0 && pid != 0)
                        pids->numbers[pids->n_numbers++] = pid;
                text += strcspn(text, "\n");
                text += *text == '\n';
        }
        return r;
}

/* A folder that cannot be read has gone, or holds threads of processes that another folder lists. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the folders, with a limit */
static int add_folder(const char *path, unsigned depth, struct running_numbers *pids)
{
        struct byte_buffer text = { .data = NULL };
        char below[PATH_MAX];
        const struct dirent *entry;
        DIR *dir = opendir(path);
        int r = 0;

        if (!dir)
                return 0;
        if (io_read_file(dirfd(dir), "cgroup.procs", TEXT_BYTES_MAX, &text, NULL) == 0)
                r = add_pids((const char *)text.data, pids);
        byte_buffer_deinit(&text);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
        while (r == 0 && depth > 0 && (entry = readdir(dir)) != NULL)
                if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && join(below, path, entry->d_name))
                        r = add_folder(below, depth - 1, pids);
        (void)closedir(dir);
        return r;
}

int cgroup_folder_read_pids(const char *path, struct running_numbers *ret_pids, struct error *err)
{
        int r;

        ret_pids->n_numbers = 0;
        if (!is_cgroup(path))
                return error_set(err, -ENOENT, "cgroup %s no longer exists", path);
        r = add_folder(path, FOLDERS_DEEP, ret_pids);
        return r < 0 ? error_set(err, r, "no memory for a list of processes") : 0;
}
