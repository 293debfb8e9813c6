/* SPDX-License-Identifier: MIT */
#include "view/answers/debian_package.h"

#include "base/byte_buffer.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define LIST_SUFFIX    ".list"
#define LIST_BYTES_MAX (UINT32_C(1) << 26)

/* A list has a path a line. */
static bool debian_package_has_line(const char *text, const char *path)
{
        size_t n_bytes = strlen(path);

        for (const char *at = strstr(text, path); at; at = strstr(at + 1, path))
                if ((at == text || at[-1] == '\n') && at[n_bytes] == '\n')
                        return true;
        return false;
}

/* @path without "/usr", and with it. */
static bool debian_package_lists(int dir_fd, const char *name, const char *path)
{
        struct byte_buffer text = { .data = NULL };
        bool found = false;

        if (io_read_file(dir_fd, name, LIST_BYTES_MAX, &text, NULL) == 0)
                found = debian_package_has_line((const char *)text.data, path) ||
                        debian_package_has_line((const char *)text.data, path + sizeof("/usr") - 1);
        byte_buffer_deinit(&text);
        return found;
}

/* The name in that of a list, "libc6:amd64.list".  False for any other file. */
static bool debian_package_of_list(const char *list, char ret_name[DEBIAN_PACKAGE_NAME_BYTES])
{
        size_t n_bytes = strlen(list);
        size_t n_suffix = sizeof(LIST_SUFFIX) - 1;

        if (n_bytes <= n_suffix || strcmp(list + n_bytes - n_suffix, LIST_SUFFIX) != 0)
                return false;
        n_bytes = strcspn(list, ":");
        if (list[n_bytes] == '\0')
                n_bytes -= n_suffix;
        if (n_bytes == 0 || n_bytes >= DEBIAN_PACKAGE_NAME_BYTES)
                return false;
        memcpy(ret_name, list, n_bytes);
        ret_name[n_bytes] = '\0';
        return strspn(ret_name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == n_bytes;
}

/* The path with "/usr" before it.  False if it is not the path of a file that is here. */
static bool debian_package_full_path(struct text_view path, char ret_path[PATH_MAX])
{
        static const char usr[] = "/usr";
        size_t n_usr = sizeof(usr) - 1;
        bool has_usr = path.n_bytes > n_usr && memcmp(path.bytes, "/usr/", n_usr + 1) == 0;
        char *file = ret_path + (has_usr ? 0 : n_usr);

        if (path.n_bytes == 0 || path.bytes[0] != '/' || path.n_bytes >= PATH_MAX - n_usr ||
            memchr(path.bytes, '\0', path.n_bytes) || memchr(path.bytes, '\n', path.n_bytes))
                return false;
        memcpy(ret_path, usr, n_usr);
        memcpy(file, path.bytes, path.n_bytes);
        file[path.n_bytes] = '\0';
        return access(file, F_OK) == 0;
}

bool debian_package_find(const char *lists, struct text_view path, char ret_name[DEBIAN_PACKAGE_NAME_BYTES])
{
        char full_path[PATH_MAX];
        const struct dirent *entry;
        bool found = false;
        DIR *dir;

        if (!debian_package_full_path(path, full_path))
                return false;
        dir = opendir(lists);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): only this function uses the directory stream */
        while (dir && !found && (entry = readdir(dir)) != NULL)
                found = debian_package_of_list(entry->d_name, ret_name) &&
                        debian_package_lists(dirfd(dir), entry->d_name, full_path);
        if (dir)
                (void)closedir(dir);
        return found;
}
