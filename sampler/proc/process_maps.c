/* SPDX-License-Identifier: MIT */
#include "sampler/proc/process_maps.h"

#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAPS_BYTES_MAX (UINT32_C(1) << 26) /* of text: 65,530 mappings, the kernel's limit, take 10 MB */
#define READ_BYTES     32768

/* linux/fs.h of 6.11; older headers lack it. */
struct mapping_query {
        uint64_t size;
        uint64_t query_flags; /* 0 = the mapping at query_addr */
        uint64_t query_addr;
        uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset;
        uint64_t inode;
        uint32_t dev_major, dev_minor;
        uint32_t vma_name_size;
        uint32_t build_id_size; /* room in, length out */
        uint64_t vma_name_addr;
        uint64_t build_id_addr;
};

#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)

_Static_assert(sizeof(struct mapping_query) == 104, "the kernel's layout");

/* The name that the kernel's records give to anonymous memory. */
static const char anonymous[] = "//anon";

int process_maps_open_fd(struct process_maps *maps, int fd, struct error *err)
{
        size_t got = READ_BYTES;
        int r = 0;

        *maps = (struct process_maps){ .fd = fd };
        while (r == 0 && got == READ_BYTES) {
                uint8_t *to = byte_buffer_reserve(&maps->text, READ_BYTES);

                r = !to                                      ? -ENOMEM
                    : maps->text.used_bytes > MAPS_BYTES_MAX ? -EFBIG
                                                             : io_read_full(fd, to, READ_BYTES, &got, err);
                maps->text.used_bytes += r == 0 ? got : 0;
        }
        if (r < 0)
                process_maps_close(maps);
        return r < 0 ? error_set(err, r, "cannot read the mappings of a process") : 0;
}

int process_maps_open(struct process_maps *maps, uint32_t tid, struct error *err)
{
        char path[32];
        int fd;

        *maps = (struct process_maps){ .fd = -1 };
        (void)snprintf(path, sizeof(path), "/proc/%u/maps", tid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? error_set(err, -ESRCH, "thread %u has ended", tid)
                                       : error_errno(err, "%s", path);
        return process_maps_open_fd(maps, fd, err);
}

void process_maps_close(struct process_maps *maps)
{
        io_close(&maps->fd);
        byte_buffer_deinit(&maps->text);
        maps->at_bytes = 0;
}

/* ---- one line ------------------------------------------------------------------------------------------ */

/* The rest of a line. */
struct line {
        char *at;
        char *end;
};

static unsigned digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return (unsigned)(c - '0');
        return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Reads a number in @base, at most 16 digits, and the character after it.  Returns 0, or -EBADMSG. */
static int take_number(struct line *line, unsigned base, char behind, uint64_t *ret_number)
{
        const char *begin = line->at;
        uint64_t number = 0;

        for (; line->at < line->end && digit_of(*line->at) < base; line->at++)
                number = number * base + digit_of(*line->at);
        if (line->at == begin || line->at - begin > 16 || line->at == line->end || *line->at != behind)
                return -EBADMSG;
        line->at++;
        *ret_number = number;
        return 0;
}

/* The kernel writes a newline in a name as "\012". */
static size_t restore_newlines(char *path, size_t n_bytes)
{
        static const char escape[] = { '\\', '0', '1', '2' };
        size_t used = 0;

        for (size_t i = 0; i < n_bytes; used++) {
                bool is_escape = n_bytes - i >= sizeof(escape) &&
                                 memcmp(path + i, escape, sizeof(escape)) == 0;

                if (is_escape)
                        path[used] = '\n';
                else
                        path[used] = path[i];
                i += is_escape ? sizeof(escape) : 1;
        }
        return used;
}

/* "7f00-7f10 r-xp 00001000 fe:01 1234   /usr/lib/libc.so.6" */
static int parse_line(struct line line, struct perf_mmap *m)
{
        uint64_t end_avma, major, minor;

        *m = (struct perf_mmap){ .path = anonymous, .path_bytes = sizeof(anonymous) - 1 };
        if (take_number(&line, 16, '-', &m->start_avma) < 0 || take_number(&line, 16, ' ', &end_avma) < 0 ||
            end_avma <= m->start_avma || line.end - line.at < 5)
                return -EBADMSG;
        m->length_bytes = end_avma - m->start_avma;
        m->writable = line.at[1] == 'w';
        m->executable = line.at[2] == 'x';
        m->is_shared = line.at[3] == 's';
        line.at += sizeof("r-xp ") - 1;
        if (take_number(&line, 16, ' ', &m->file_offset_bytes) < 0 ||
            take_number(&line, 16, ':', &major) < 0 || take_number(&line, 16, ' ', &minor) < 0 ||
            take_number(&line, 10, ' ', &m->inode) < 0)
                return -EBADMSG;
        m->device_major = (uint32_t)major;
        m->device_minor = (uint32_t)minor;
        while (line.at < line.end && *line.at == ' ')
                line.at++;
        if (line.at == line.end)
                return 0;
        m->path = line.at;
        m->path_bytes = restore_newlines(line.at, (size_t)(line.end - line.at));
        return 0;
}

/* True for a page of the kernel that is the same in every process, and so holds no code of a JIT. */
static bool is_of_kernel(const struct perf_mmap *m)
{
        static const char name[] = "[vsyscall]";

        return m->path_bytes == sizeof(name) - 1 && memcmp(m->path, name, m->path_bytes) == 0;
}

/*
 * Asks the kernel for the build-id: the kernel reads it from the file, so hyprof opens no file of the
 * program.
 */
static void ask_build_id(int fd, struct perf_mmap *m)
{
        struct mapping_query query = { .size = sizeof(query),
                                       .query_addr = m->start_avma,
                                       .build_id_size = sizeof(m->build_id),
                                       .build_id_addr = (uint64_t)(uintptr_t)m->build_id };

        if (ioctl(fd, MAPPING_QUERY, &query) < 0 || query.build_id_size == 0 ||
            query.build_id_size > sizeof(m->build_id) || query.vma_start != m->start_avma)
                return;
        m->build_id_bytes = (uint8_t)query.build_id_size;
        m->inode = 0;
        m->device_major = 0;
        m->device_minor = 0;
}

int process_maps_next(struct process_maps *maps, struct perf_mmap *ret_mapping)
{
        while (maps->at_bytes < maps->text.used_bytes) {
                char *begin = (char *)maps->text.data + maps->at_bytes;
                size_t left_bytes = maps->text.used_bytes - maps->at_bytes;
                char *end = memchr(begin, '\n', left_bytes);
                struct line line = { .at = begin, .end = end ? end : begin + left_bytes };

                maps->at_bytes += (size_t)(line.end - begin) + (end != NULL);
                if (parse_line(line, ret_mapping) < 0 || is_of_kernel(ret_mapping))
                        continue;
                if (ret_mapping->executable && ret_mapping->inode != 0)
                        ask_build_id(maps->fd, ret_mapping);
                return 1;
        }
        return 0;
}

bool process_maps_are_empty(uint32_t tid)
{
        struct process_maps maps;
        struct perf_mmap m;
        bool are_empty;

        if (process_maps_open(&maps, tid, NULL) < 0)
                return true;
        are_empty = process_maps_next(&maps, &m) != 1;
        process_maps_close(&maps);
        return are_empty;
}

bool process_maps_has_code_at(uint32_t tid, uint64_t avma)
{
        struct process_maps maps;
        struct perf_mmap m;
        bool has_code = false;

        if (process_maps_open(&maps, tid, NULL) < 0)
                return false;
        while (process_maps_next(&maps, &m) == 1 && m.start_avma <= avma)
                if (avma - m.start_avma < m.length_bytes)
                        has_code = m.executable;
        process_maps_close(&maps);
        return has_code;
}

bool process_maps_is_writable_at(uint32_t tid, uint64_t avma)
{
        struct process_maps maps;
        struct perf_mmap m;
        bool is_writable = false;

        if (process_maps_open(&maps, tid, NULL) < 0)
                return false;
        while (process_maps_next(&maps, &m) == 1 && m.start_avma <= avma)
                if (avma - m.start_avma < m.length_bytes)
                        is_writable = m.writable || m.is_shared;
        process_maps_close(&maps);
        return is_writable;
}
