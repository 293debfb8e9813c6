/* SPDX-License-Identifier: MIT */
#include "cli/on_host/host_board.h"

#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/files/cache_folder.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define CURRENT_EXE "/proc/self/exe"
#define PATH_BYTES  4096
#define READ_BYTES  65536

static const struct {
        const char *name;
        uint16_t number;
} machines[] = { { "x86_64", EM_X86_64 }, { "aarch64", EM_AARCH64 }, { "riscv64", EM_RISCV } };

#define N_MACHINES (sizeof(machines) / sizeof(machines[0]))

const char *host_board_machine_of(int fd)
{
        uint8_t bytes[sizeof(Elf64_Ehdr)];
        struct byte_reader r = byte_reader_of(bytes, sizeof(bytes));
        size_t got = 0;
        uint16_t number;

        if (io_pread_full(fd, bytes, sizeof(bytes), 0, &got, NULL) < 0 || got < sizeof(bytes) ||
            memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64)
                return NULL;
        (void)bytes_take(&r, offsetof(Elf64_Ehdr, e_machine));
        number = bytes_u16(&r);
        for (size_t i = 0; i < N_MACHINES; i++)
                if (machines[i].number == number)
                        return machines[i].name;
        return NULL;
}

/* The folder with @up after it, seen from the folder of this program. */
static int open_beside_self(const char *up, const char *machine)
{
        char own[PATH_BYTES], path[2 * PATH_BYTES];
        ssize_t n = readlink(CURRENT_EXE, own, sizeof(own) - 1);
        char *slash;

        if (n <= 0)
                return -1;
        own[n] = '\0';
        slash = strrchr(own, '/');
        if (!slash)
                return -1;
        *slash = '\0';
        (void)snprintf(path, sizeof(path), "%s/%s/hyprof-%s", own, up, machine);
        return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_in_cache(const char *machine)
{
        char *folder = cache_folder_find_boards(), *path = NULL;
        int fd = -1;

        if (folder && asprintf(&path, "%s/" HYPROF_VERSION "/hyprof-%s", folder, machine) >= 0)
                fd = open(path, O_RDONLY | O_CLOEXEC);
        free(path);
        free(folder);
        return fd;
}

/* Without an interpreter it is static. */
static int open_self(const char *machine)
{
        int fd = getauxval(AT_BASE) == 0 ? open(CURRENT_EXE, O_RDONLY | O_CLOEXEC) : -1;
        const char *own = fd >= 0 ? host_board_machine_of(fd) : NULL;

        if (own && strcmp(own, machine) == 0)
                return fd;
        io_close(&fd);
        return -1;
}

static int count(struct host_board *b, struct error *err)
{
        struct content_hasher *hasher = content_hasher_new();
        uint8_t bytes[READ_BYTES / 8];
        ssize_t n = 0;

        if (!hasher)
                return error_set(err, -ENOMEM, "no memory for a checksum");
        while ((n = pread(b->fd, bytes, sizeof(bytes), (off_t)b->n_bytes)) > 0) {
                content_hasher_add(hasher, bytes, (size_t)n);
                b->n_bytes += (uint64_t)n;
        }
        b->number = content_hasher_number(hasher);
        content_hasher_free(hasher);
        return n < 0 ? error_errno(err, "hyprof for the host") : 0;
}

static bool is_known(const char *machine)
{
        for (size_t i = 0; i < N_MACHINES; i++)
                if (strcmp(machines[i].name, machine) == 0)
                        return true;
        return false;
}

int host_board_open(struct host_board *b, const char *machine, struct error *err)
{
        const char *found;
        int r;

        *b = (struct host_board){ .fd = -1 };
        if (!is_known(machine))
                return error_set(err, -ENOTSUP, "hyprof does not run on machines of %s", machine);
        b->fd = open_beside_self("../lib/hyprof/boards", machine);
        if (b->fd < 0)
                b->fd = open_in_cache(machine);
        if (b->fd < 0)
                b->fd = open_beside_self("../boards", machine);
        if (b->fd < 0)
                b->fd = open_self(machine);
        if (b->fd < 0)
                return error_set(err, -ENOENT, "there is no hyprof for %s here", machine);
        found = host_board_machine_of(b->fd);
        r = found && strcmp(found, machine) == 0
                    ? count(b, err)
                    : error_set(err, -EBADMSG, "hyprof-%s is for %s", machine, found ? found : "no machine");
        if (r < 0)
                host_board_close(b);
        return r;
}

void host_board_close(struct host_board *b)
{
        io_close(&b->fd);
}
