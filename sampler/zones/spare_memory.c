/* SPDX-License-Identifier: MIT */
#include "sampler/zones/spare_memory.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "sampler/kernel/ring_size.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_OF_MACHINE   32
#define SHARE_OF_GROUP     8 /* of what a cgroup allows */
#define SHARE_OF_LEFT      4 /* of the rest of that */
#define TEXT_BYTES_MAX     65536
#define OLD_RING_BYTES_MAX (UINT64_C(1) << 28)

void spare_memory_init(struct spare_memory *m, uint64_t wanted_bytes)
{
        *m = (struct spare_memory){ .wanted_bytes = wanted_bytes };
        m->controller = "memory"; /* the kernel has it in one hierarchy alone */
        m->has_mount = cgroup_mount_read_memory(&m->mount, NULL) == 0;
        if (m->has_mount)
                return;
        m->controller = "";
        m->has_mount = cgroup_mount_read(&m->mount, NULL) == 0;
}

static uint64_t spare_memory_least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* The number in a file of @folder; UINT64_MAX if it has none. */
static uint64_t spare_memory_read_number(const char *folder, const char *name)
{
        struct byte_buffer text = { .data = NULL };
        uint64_t number = UINT64_MAX;
        char path[PATH_MAX];
        char *end;

        if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path) &&
            io_read_file(AT_FDCWD, path, TEXT_BYTES_MAX, &text, NULL) == 0) {
                number = strtoull((const char *)text.data, &end, 10);
                if (end == (const char *)text.data)
                        number = UINT64_MAX; /* "max" */
        }
        byte_buffer_deinit(&text);
        return number;
}

/* In cgroup2 and in cgroup v1, where no limit is a number of nearly 2^63. */
static uint64_t spare_memory_read_either(const char *folder, const char *name, const char *name_v1)
{
        uint64_t number = spare_memory_read_number(folder, name);

        return number != UINT64_MAX ? number : spare_memory_read_number(folder, name_v1);
}

uint64_t spare_memory_of_group(const char *folder, const char *top)
{
        uint64_t bytes = UINT64_MAX;
        size_t top_bytes = strlen(top);
        char path[PATH_MAX];

        if ((size_t)snprintf(path, sizeof(path), "%s", folder) >= sizeof(path))
                return bytes;
        while (strncmp(path, top, top_bytes) == 0) {
                uint64_t max = spare_memory_read_either(path, "memory.max", "memory.limit_in_bytes");
                uint64_t used = max == UINT64_MAX ? 0
                                                  : spare_memory_read_either(path, "memory.current",
                                                                             "memory.usage_in_bytes");
                char *slash = strrchr(path, '/');

                if (max != UINT64_MAX)
                        bytes = spare_memory_least(
                                bytes, spare_memory_least(max / SHARE_OF_GROUP,
                                                          (used < max ? max - used : 0) / SHARE_OF_LEFT));
                if (!slash || slash == path)
                        break;
                *slash = '\0';
        }
        return bytes;
}

/* Lines are as "0::/user.slice" and "4:cpu,memory:/group". */
const char *spare_memory_find_path(const char *text, const char *controller)
{
        size_t n_bytes = strlen(controller);

        for (const char *line = text; line; line = strchr(line, '\n')) {
                const char *list, *end;

                line += line[0] == '\n';
                list = line + strcspn(line, ":\n");
                end = list[0] == ':' ? strpbrk(list + 1, ":\n") : NULL;
                if (!end || end[0] != ':' || end[1] != '/')
                        continue;
                if (n_bytes == 0 && end == list + 1)
                        return end + 1;
                while (n_bytes != 0 && list < end) {
                        size_t n = strcspn(++list, ",:");

                        if (n == n_bytes && memcmp(list, controller, n) == 0)
                                return end + 1;
                        list += n;
                }
        }
        return NULL;
}

/* The folder of the cgroup that a process is in.  False if it cannot be seen from here. */
static bool spare_memory_find_folder(const struct spare_memory *m, uint32_t pid, char *ret_path)
{
        struct byte_buffer text = { .data = NULL };
        const char *root = strcmp(m->mount.root, "/") == 0 ? "" : m->mount.root;
        char path[48] = "/proc/self/cgroup";
        const char *line;
        bool found = false;

        if (pid != 0)
                (void)snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
        if (io_read_file(AT_FDCWD, path, TEXT_BYTES_MAX, &text, NULL) == 0) {
                line = spare_memory_find_path((const char *)text.data, m->controller);
                if (line && strncmp(line, root, strlen(root)) == 0) {
                        int n_bytes = (int)strcspn(line + strlen(root), "\n");

                        found = snprintf(ret_path, PATH_MAX, "%s%.*s", m->mount.path, n_bytes,
                                         line + strlen(root)) < PATH_MAX;
                }
        }
        byte_buffer_deinit(&text);
        return found;
}

uint64_t spare_memory_left_by_group(const struct spare_memory *m, uint32_t pid)
{
        char folder[PATH_MAX];

        return m->has_mount && spare_memory_find_folder(m, pid, folder)
                       ? spare_memory_of_group(folder, m->mount.path)
                       : UINT64_MAX;
}

uint64_t spare_memory_of_process(const struct spare_memory *m, uint32_t pid)
{
        uint64_t bytes = spare_memory_least(ring_size_machine_memory() / SHARE_OF_MACHINE,
                                            SPARE_MEMORY_BYTES_MAX);

        if (m->wanted_bytes != 0)
                return m->wanted_bytes > SPARE_MEMORY_RING_BYTES ? m->wanted_bytes : 0;
        return spare_memory_least(bytes, spare_memory_left_by_group(m, pid));
}

uint64_t spare_memory_share(uint64_t bytes, size_t n_programs)
{
        return n_programs <= SPARE_MEMORY_PROGRAMS ? bytes : bytes / n_programs * SPARE_MEMORY_PROGRAMS;
}

uint64_t spare_memory_old_ring_bytes(uint64_t wanted_bytes)
{
        uint64_t bytes = OLD_RING_BYTES_MAX;

        while (bytes > 1 && bytes > wanted_bytes)
                bytes /= 2;
        return bytes;
}

/* Programs share, as spare_memory_share() says: that one has more takes more for all of them. */
void spare_need_add(struct spare_need *need, const struct spare_lack *lack)
{
        uint64_t n_shares = lack->n_programs > SPARE_MEMORY_PROGRAMS ? lack->n_programs
                                                                     : SPARE_MEMORY_PROGRAMS;
        struct spare_need this = { .group_bytes = lack->group_bytes, .room_bytes = lack->room_bytes };

        if (__builtin_add_overflow(lack->had_bytes, lack->lost_bytes, &this.program_bytes))
                this.program_bytes = UINT64_MAX;
        if (__builtin_mul_overflow(this.program_bytes, n_shares, &this.bytes))
                this.bytes = UINT64_MAX;
        else
                this.bytes /= SPARE_MEMORY_PROGRAMS;
        if (lack->lost_bytes != 0 && this.bytes > need->bytes)
                *need = this;
}

uint64_t spare_memory_round_up(uint64_t bytes)
{
        uint64_t rounded = UINT64_C(1) << 24;

        if (bytes > SPARE_MEMORY_BYTES_MAX)
                return 0;
        while (rounded < bytes && rounded < SPARE_MEMORY_BYTES_MAX)
                rounded *= 2;
        return rounded < SPARE_MEMORY_BYTES_MAX ? rounded : SPARE_MEMORY_BYTES_MAX;
}
