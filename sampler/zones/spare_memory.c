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
        m->has_mount = cgroup_mount_find(&m->mount, "memory");
}

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Reads the number in a file of @folder; UINT64_MAX if it has none. */
static uint64_t read_number(const char *folder, const char *name)
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

/* Reads the number in cgroup2 or in cgroup v1, where nearly 2^63 means no limit. */
static uint64_t read_either(const char *folder, const char *name, const char *name_v1)
{
        uint64_t number = read_number(folder, name);

        return number != UINT64_MAX ? number : read_number(folder, name_v1);
}

uint64_t spare_memory_of_group(const char *folder, const char *top)
{
        uint64_t bytes = UINT64_MAX;
        size_t top_bytes = strlen(top);
        char path[PATH_MAX];

        if ((size_t)snprintf(path, sizeof(path), "%s", folder) >= sizeof(path))
                return bytes;
        while (strncmp(path, top, top_bytes) == 0) {
                uint64_t max = read_either(path, "memory.max", "memory.limit_in_bytes");
                uint64_t used = max == UINT64_MAX
                                        ? 0
                                        : read_either(path, "memory.current", "memory.usage_in_bytes");
                char *slash = strrchr(path, '/');

                if (max != UINT64_MAX)
                        bytes = least(bytes, least(max / SHARE_OF_GROUP,
                                                   (used < max ? max - used : 0) / SHARE_OF_LEFT));
                if (!slash || slash == path)
                        break;
                *slash = '\0';
        }
        return bytes;
}

uint64_t spare_memory_left_by_group(const struct spare_memory *m, uint32_t pid)
{
        char folder[PATH_MAX];

        return m->has_mount && cgroup_mount_find_folder(&m->mount, pid, folder)
                       ? spare_memory_of_group(folder, m->mount.path)
                       : UINT64_MAX;
}

uint64_t spare_memory_of_process(const struct spare_memory *m, uint32_t pid)
{
        uint64_t bytes = least(ring_size_machine_memory() / SHARE_OF_MACHINE, SPARE_MEMORY_BYTES_MAX);

        if (m->wanted_bytes != 0)
                return m->wanted_bytes > SPARE_MEMORY_RING_BYTES ? m->wanted_bytes : 0;
        return least(bytes, spare_memory_left_by_group(m, pid));
}

uint64_t spare_memory_share(uint64_t bytes, size_t n_programs)
{
        return n_programs <= SPARE_MEMORY_PROGRAMS ? bytes : bytes / n_programs * SPARE_MEMORY_PROGRAMS;
}

uint64_t spare_memory_old_ring_bytes(uint64_t wanted_bytes)
{
        uint64_t bytes = OLD_RING_BYTES_MAX;

        while (bytes > wanted_bytes)
                bytes /= 2;
        return bytes;
}

/*
 * Programs share the memory, as spare_memory_share() says: more for one program means more for all of them.
 */
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
