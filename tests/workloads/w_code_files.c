/* SPDX-License-Identifier: MIT */
/*
 * Code that does not stay: shared objects that are loaded and go.
 *
 *     w_code_files HOW SO FILE [N]
 *
 *   deleted    SO is copied to FILE, loaded and deleted; its function runs for a quarter of a second
 *   memfd      the same from a memfd; FILE is not used
 *   stays      the same, and it is not deleted
 *   unloaded   as deleted, N times after each other, each copy with other bytes past its
 *              end; each runs for 20 ms
 *   replaced   SO is copied to FILE, loaded and unloaded; FILE.new is renamed to FILE, loaded
 *              and unloaded; each runs
 *   waits      as deleted, then says "loaded" and runs until it gets a signal
 *   sparse     FILE, which begins as SO and is 4 GiB long, is mapped
 *   mappings   one page of SO is mapped and unmapped N times
 *   device     /dev/zero is mapped to be executed; FILE, a FIFO, cannot be mapped: it is what FILE.so
 *              was when that was mapped
 *   truncated  FILE begins as SO and is 64 MiB long; it is mapped, and made shorter and longer N times
 *
 * The function is `kernel`, which burns what it is told.  Exit status 0.
 */
#include "tests/workloads/burn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUARTER_NS      250000000
#define SHORT_NS        20000000
#define PAGE_BYTES      4096
#define TRUNCATED_BYTES (64 << 20)
#define SPARSE_BYTES    (INT64_C(4) << 30)

typedef void kernel_function(uint64_t n_rounds);

static void must(bool done, const char *what)
{
        if (done)
                return;
        perror(what);
        exit(1);
}

static void copy(const char *from, int to_fd)
{
        static char bytes[1 << 16];
        int fd = open(from, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        must(fd >= 0, from);
        while ((n = read(fd, bytes, sizeof(bytes))) > 0)
                must(write(to_fd, bytes, (size_t)n) == n, "write");
        (void)close(fd);
}

static int make(const char *path)
{
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

        must(fd >= 0, path);
        return fd;
}

static void *load(const char *path, kernel_function **ret_kernel)
{
        void *loaded = dlopen(path, RTLD_NOW);
        void *symbol;

        if (!loaded) {
                (void)fprintf(stderr, "%s\n", dlerror());
                exit(1);
        }
        symbol = dlsym(loaded, "kernel");
        must(symbol != NULL, "kernel");
        memcpy(ret_kernel, &symbol, sizeof(symbol));
        return loaded;
}

static void run_for(kernel_function *kernel, int64_t ns)
{
        kernel(burn_rounds_of(ns));
}

static void run_file(const char *so, const char *path, bool deletes)
{
        kernel_function *kernel;
        int fd = make(path);

        copy(so, fd);
        (void)close(fd);
        (void)load(path, &kernel);
        if (deletes)
                must(unlink(path) == 0, "unlink");
        run_for(kernel, QUARTER_NS);
}

static void run_memfd(const char *so)
{
        kernel_function *kernel;
        char path[40];
        int fd = memfd_create("kernel", 0);

        must(fd >= 0, "memfd_create");
        copy(so, fd);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        (void)load(path, &kernel);
        run_for(kernel, QUARTER_NS);
}

static void run_unloaded(const char *so, const char *path, int n)
{
        const uint64_t n_rounds = burn_rounds_of(SHORT_NS);

        for (int i = 0; i < n; i++) {
                kernel_function *kernel;
                int fd = make(path);
                void *loaded;

                copy(so, fd);
                must(dprintf(fd, "copy %d\n", i) > 0, "write");
                (void)close(fd);
                loaded = load(path, &kernel);
                must(unlink(path) == 0, "unlink");
                kernel(n_rounds);
                (void)dlclose(loaded);
        }
}

static void run_replaced(const char *so, const char *path)
{
        char new_path[4096];
        kernel_function *kernel;
        int fd = make(path);
        void *loaded;

        (void)snprintf(new_path, sizeof(new_path), "%s.new", path);
        copy(so, fd);
        (void)close(fd);
        loaded = load(path, &kernel);
        run_for(kernel, QUARTER_NS);
        (void)dlclose(loaded);
        must(rename(new_path, path) == 0, "rename");
        loaded = load(path, &kernel);
        run_for(kernel, QUARTER_NS);
        (void)dlclose(loaded);
}

static void run_waiting(const char *so, const char *path)
{
        kernel_function *kernel;
        int fd = make(path);

        copy(so, fd);
        (void)close(fd);
        (void)load(path, &kernel);
        must(unlink(path) == 0, "unlink");
        must(puts("loaded") >= 0 && fflush(stdout) == 0, "stdout");
        while (true)
                kernel(1000000);
}

static void *map_page(int fd)
{
        void *at = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

        must(at != MAP_FAILED, "mmap");
        return at;
}

static void map_often(const char *so, int n)
{
        int fd = open(so, O_RDONLY | O_CLOEXEC);

        must(fd >= 0, so);
        for (int i = 0; i < n; i++)
                (void)munmap(map_page(fd), PAGE_BYTES);
}

static void map_sparse(const char *so, const char *path)
{
        int fd = make(path);

        copy(so, fd);
        must(ftruncate(fd, SPARSE_BYTES) == 0, "ftruncate");
        (void)map_page(fd);
        burn_calibration(burn_rounds_of(QUARTER_NS));
}

static void map_devices(const char *so, const char *path)
{
        char mapped[4096];
        int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);

        must(fd >= 0, "/dev/zero");
        (void)map_page(fd);
        must(mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) != MAP_FAILED, "mmap");
        (void)snprintf(mapped, sizeof(mapped), "%s.so", path);
        fd = make(mapped);
        copy(so, fd);
        (void)map_page(fd);
        must(rename(path, mapped) == 0, "rename");
        burn_calibration(burn_rounds_of(QUARTER_NS));
}

static void truncate_often(const char *so, const char *path, int n)
{
        int fd = make(path);

        copy(so, fd);
        must(ftruncate(fd, TRUNCATED_BYTES) == 0, "ftruncate");
        (void)map_page(fd);
        for (int i = 0; i < n; i++) {
                must(ftruncate(fd, 2 * PAGE_BYTES) == 0, "ftruncate");
                must(ftruncate(fd, TRUNCATED_BYTES) == 0, "ftruncate");
        }
        burn_calibration(burn_rounds_of(QUARTER_NS));
}

int main(int argc, char **argv)
{
        const char *how = argc >= 4 ? argv[1] : "";
        int n = argc > 4 ? atoi(argv[4]) : 1;

        if (strcmp(how, "deleted") == 0 || strcmp(how, "stays") == 0)
                run_file(argv[2], argv[3], how[0] == 'd');
        else if (strcmp(how, "memfd") == 0)
                run_memfd(argv[2]);
        else if (strcmp(how, "unloaded") == 0)
                run_unloaded(argv[2], argv[3], n);
        else if (strcmp(how, "replaced") == 0)
                run_replaced(argv[2], argv[3]);
        else if (strcmp(how, "waits") == 0)
                run_waiting(argv[2], argv[3]);
        else if (strcmp(how, "sparse") == 0)
                map_sparse(argv[2], argv[3]);
        else if (strcmp(how, "mappings") == 0)
                map_often(argv[2], n);
        else if (strcmp(how, "device") == 0)
                map_devices(argv[2], argv[3]);
        else if (strcmp(how, "truncated") == 0)
                truncate_often(argv[2], argv[3], n);
        else
                return 1;
        return 0;
}
