/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/source_file.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int join(const struct source_file_path *path, char joined[PATH_MAX], struct error *err)
{
        const char *root = path->root ? path->root : "";
        int n;

        if (path->n_bytes == 0 || path->n_bytes >= PATH_MAX || path->path[0] != '/' ||
            memchr(path->path, '\0', path->n_bytes))
                return error_set(err, -ENOENT, "a source without an absolute path");
        n = snprintf(joined, PATH_MAX, "%s%.*s", root, (int)path->n_bytes, path->path);
        return n < PATH_MAX ? 0 : error_set(err, -ENAMETOOLONG, "a source's path is too long");
}

/* The rule judges the path of the open file itself, because a link may lead anywhere. */
static bool is_source_allowed(int fd, const struct stat *st, const struct source_file_path *path)
{
        struct source_folders given = { .n_paths = 0 };
        char link[32], resolved[PATH_MAX];
        ssize_t n;

        if (path->given)
                given = *path->given;
        if (path->root && given.n_paths < SOURCE_FOLDERS_MAX)
                given.paths[given.n_paths++] = path->root;
        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, resolved, sizeof(resolved) - 1);
        if (n <= 0)
                return false;
        resolved[n] = '\0';
        return source_rule_allows(resolved, st, &given);
}

static int check(int fd, const struct stat *st, const struct source_file_path *path, const char *name,
                 struct error *err)
{
        if (!is_source_allowed(fd, st, path))
                return error_set(err, -EPERM, "%s: private, or not named like a source", name);
        if (st->st_size > SOURCE_FILE_BYTES_MAX)
                return error_set(err, -EFBIG, "%s: %lld bytes are too many", name, (long long)st->st_size);
        return 0;
}

static int read_text(int fd, size_t n_wanted, const char *name, struct byte_buffer *text, struct error *err)
{
        uint8_t *at = byte_buffer_reserve(text, n_wanted + 1);
        size_t n_bytes = 0;
        int r = at ? io_read_full(fd, at, n_wanted, &n_bytes, err)
                   : error_set(err, -ENOMEM, "no memory for %s", name);

        if (r < 0)
                return r;
        if (n_bytes == 0 || memchr(at, '\0', n_bytes))
                return error_set(err, -EINVAL, "%s: not a text file", name);
        text->used_bytes += n_bytes;
        return 0;
}

int source_file_read(const struct source_file_path *path, struct byte_buffer *ret_text,
                     uint64_t *ret_modified_ns, struct error *err)
{
        char name[PATH_MAX];
        struct stat st = { .st_size = 0 };
        int fd = -1, r = join(path, name, err);

        if (r == 0)
                r = regular_file_open(name, &fd, err);
        if (r < 0)
                return r;
        r = fstat(fd, &st) < 0 ? error_errno(err, "%s", name) : check(fd, &st, path, name, err);
        if (r == 0)
                r = read_text(fd, (size_t)st.st_size, name, ret_text, err);
        if (r == 0 && ret_modified_ns)
                *ret_modified_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
        io_close(&fd);
        return r;
}
