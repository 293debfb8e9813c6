/* SPDX-License-Identifier: MIT */
#include "sampler/probes/probe_plan.h"

#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/proc/process_maps.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDERS                                                                                           \
        "/usr/local/lib/x86_64-linux-gnu:/usr/local/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:" \
        "/lib64:/usr/lib64:/lib:/usr/lib"

static const char *base_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

/* "libz.so" means "libz.so.1.2.13" too, and "libfoo*" is a pattern. */
static bool is_called(const char *path, const char *module)
{
        size_t n = strlen(module);
        const char *name = base_name(path);

        return fnmatch(module, name, 0) == 0 ||
               (strncmp(name, module, n) == 0 && n > 3 && strcmp(module + n - 3, ".so") == 0 &&
                (name[n] == '.' || name[n] == '\0'));
}

/* Opens a file as a process sees it; @path: as its maps have it. */
static int open_seen(uint32_t pid, const char *path, struct probe_file *ret_file, struct error *err)
{
        char seen[PATH_MAX];
        int r;

        if (pid == 0)
                (void)snprintf(seen, sizeof(seen), "%s", path);
        else
                (void)snprintf(seen, sizeof(seen), "/proc/%u/root%s", pid, path);
        r = regular_file_open(seen, &ret_file->fd, err);
        if (r < 0)
                return r;
        ret_file->path = strdup(path);
        if (ret_file->path)
                return 0;
        (void)close(ret_file->fd);
        return error_set(err, -ENOMEM, "no memory for a path");
}

/* An empty name is the program itself. */
static int open_mapped(uint32_t pid, const char *module, struct probe_file *ret_file, struct error *err)
{
        char link[32], program[PATH_MAX] = "";
        struct process_maps maps;
        struct perf_mmap m;
        ssize_t n;
        int r;

        (void)snprintf(link, sizeof(link), "/proc/%u/exe", pid);
        n = readlink(link, program, sizeof(program) - 1);
        if (n <= 0)
                return error_set(err, -errno, "the program of process %u cannot be read", pid);
        program[n] = '\0';
        if (module[0] == '\0' || is_called(program, module))
                return open_seen(pid, program, ret_file, err);
        r = process_maps_open(&maps, pid, err);
        if (r < 0)
                return r;
        r = -ENOENT;
        while (r == -ENOENT && process_maps_next(&maps, &m) == 1) {
                char path[PATH_MAX];

                (void)snprintf(path, sizeof(path), "%.*s", (int)m.path_bytes, m.path);
                if (m.executable && path[0] == '/' && is_called(path, module))
                        r = open_seen(pid, path, ret_file, err);
        }
        process_maps_close(&maps);
        return r == -ENOENT ? error_set(err, r, "process %u has mapped no such file", pid) : r;
}

/* Linkers read texts of such names. */
static bool is_elf(int fd)
{
        char magic[SELFMAG];
        size_t got = 0;

        return io_pread_full(fd, magic, SELFMAG, 0, &got, NULL) == 0 && got == SELFMAG &&
               memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Takes the first file that is a library. */
static int open_first(const glob_t *found, const char *module, struct probe_file *ret_file)
{
        for (size_t i = 0; i < found->gl_pathc; i++) {
                if (!is_called(found->gl_pathv[i], module) ||
                    open_seen(0, found->gl_pathv[i], ret_file, NULL) < 0)
                        continue;
                if (is_elf(ret_file->fd))
                        return 0;
                io_close(&ret_file->fd);
                free(ret_file->path);
        }
        return -ENOENT;
}

/* Looks through folders with colons between them. */
static int open_library(const char *folders, const char *module, struct probe_file *ret_file)
{
        while (folders && *folders) {
                size_t n = strcspn(folders, ":");

                for (unsigned with_version = 0; with_version < 2; with_version++) {
                        char pattern[PATH_MAX];
                        glob_t found = { .gl_pathc = 0 };
                        int r = -ENOENT;

                        (void)snprintf(pattern, sizeof(pattern), "%.*s/%s%s", (int)n, folders, module,
                                       with_version ? ".*" : "");
                        if (glob(pattern, 0, NULL, &found) == 0) /* NOLINT(concurrency-mt-unsafe): no users */
                                r = open_first(&found, module, ret_file);
                        globfree(&found);
                        if (r == 0)
                                return 0;
                }
                folders += n + (folders[n] == ':');
        }
        return -ENOENT;
}

int probe_file_open(const struct probe_plan_request *request, const char *module, size_t module_bytes,
                    struct probe_file *ret_file, struct error *err)
{
        char name[PATH_MAX];

        if (module_bytes >= sizeof(name))
                return error_set(err, -ENAMETOOLONG, "the name of the module is too long");
        (void)snprintf(name, sizeof(name), "%.*s", (int)module_bytes, module);
        if (strchr(name, '/'))
                return open_seen(0, name, ret_file, err);
        if (request->pid != 0)
                return open_mapped(request->pid, name, ret_file, err);
        if (request->program && (name[0] == '\0' || is_called(request->program, name)))
                return open_seen(0, request->program, ret_file, err);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        if (name[0] != '\0' && (open_library(getenv("LD_LIBRARY_PATH"), name, ret_file) == 0 ||
                                open_library(FOLDERS, name, ret_file) == 0))
                return 0;
        return error_set(err, -ENOENT,
                         "there is no such program or library; a path with a / is always right");
}
