/* SPDX-License-Identifier: MIT */
#include "tests/unit/iree_profile.h"

#include "base/io.h"
#include "import/file/import_source.h"
#include "import/iree/import_ireeprof.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTENT        "application/vnd.iree.hal.profile."
#define HEADER_BYTES   24
#define RECORD_BYTES   104
#define NO_ORDINAL     UINT32_MAX
#define DISPATCH_BYTES 88
#define FUNCTION_BYTES 64
#define CLOCK_BYTES    72
#define MEMORY_BYTES   160
#define TRACE_BYTES    88

struct chunk {
        uint32_t device, queue;
        uint64_t flags, n_dropped;
        uint32_t status;
};

static void put(uint8_t *at, uint64_t value, unsigned n_bytes)
{
        for (unsigned i = 0; i < n_bytes; i++)
                at[i] = (uint8_t)(value >> 8 * i);
}

static void add_record(struct iree_profile *p, uint16_t type, const char *content, const struct chunk *chunk,
                       const void *payload, size_t n_bytes)
{
        uint8_t header[RECORD_BYTES] = { 0 };
        size_t n_content = sizeof(CONTENT) - 1 + strlen(content);

        put(header, RECORD_BYTES + n_content + n_bytes, 8);
        put(header + 8, n_bytes, 8);
        put(header + 16, 1, 8);
        put(header + 24, p->stream, 8);
        put(header + 56, RECORD_BYTES, 4);
        put(header + 60, n_content, 4);
        put(header + 68, chunk->device, 4);
        put(header + 72, chunk->queue, 4);
        put(header + 80, chunk->flags, 8);
        put(header + 88, chunk->n_dropped, 8);
        put(header + 96, chunk->status, 4);
        put(header + 100, type, 2);
        byte_buffer_add(&p->bytes, header, sizeof(header));
        byte_buffer_add(&p->bytes, CONTENT, sizeof(CONTENT) - 1);
        byte_buffer_add(&p->bytes, content, strlen(content));
        if (n_bytes)
                byte_buffer_add(&p->bytes, payload, n_bytes);
        ck_assert(!p->bytes.failed);
}

/* A chunk with this row, its length put in. */
static void add_row(struct iree_profile *p, const char *content, struct chunk chunk, uint8_t *row,
                    size_t n_bytes)
{
        n_bytes += p->n_more_bytes;
        put(row, n_bytes, 4);
        add_record(p, 2, content, &chunk, row, n_bytes);
}

static const struct chunk NOWHERE = { .device = NO_ORDINAL, .queue = NO_ORDINAL };

void iree_profile_begin(struct iree_profile *p)
{
        uint8_t header[HEADER_BYTES] = { 'I', 'R', 'P', 'F', 1, 0, 6, 0, HEADER_BYTES };

        *p = (struct iree_profile){ .n_more_bytes = 0 };
        byte_buffer_add(&p->bytes, header, sizeof(header));
        add_record(p, 1, "session", &NOWHERE, NULL, 0);
}

void iree_profile_end(struct iree_profile *p, uint32_t status)
{
        struct chunk chunk = { .device = NO_ORDINAL, .queue = NO_ORDINAL, .status = status };

        add_record(p, 3, "session", &chunk, NULL, 0);
}

void iree_profile_set_length(struct iree_profile *p, uint64_t n_bytes)
{
        put(p->bytes.data + 16, n_bytes, 8);
}

void iree_profile_deinit(struct iree_profile *p)
{
        byte_buffer_deinit(&p->bytes);
}

void iree_profile_record(struct iree_profile *p, uint16_t type, const char *content, const void *payload,
                         size_t n_bytes)
{
        add_record(p, type, content, &NOWHERE, payload, n_bytes);
}

void iree_profile_dispatch(struct iree_profile *p, uint32_t device, uint32_t queue,
                           const struct iree_profile_dispatch *dispatch)
{
        struct chunk chunk = { .device = device, .queue = queue };
        uint8_t row[DISPATCH_BYTES + 64] = { 0 };

        put(row + 8, dispatch->event, 8);
        put(row + 16, dispatch->submission, 8);
        put(row + 32, dispatch->executable, 8);
        put(row + 44, dispatch->function, 4);
        put(row + 72, dispatch->begin, 8);
        put(row + 80, dispatch->end, 8);
        add_row(p, "dispatch-events", chunk, row, DISPATCH_BYTES);
}

void iree_profile_function(struct iree_profile *p, uint64_t executable, uint32_t function, const char *name,
                           size_t name_bytes)
{
        uint8_t row[FUNCTION_BYTES + 256] = { 0 };

        ck_assert_uint_le(name_bytes, 256);
        put(row + 8, executable, 8);
        put(row + 16, function, 4);
        put(row + 44, name_bytes, 4);
        memcpy(row + FUNCTION_BYTES, name, name_bytes);
        add_row(p, "executable-functions", NOWHERE, row, FUNCTION_BYTES + name_bytes);
}

void iree_profile_clock(struct iree_profile *p, uint32_t device, uint32_t flags, uint64_t ticks, uint64_t cpu,
                        uint64_t begin, uint64_t end)
{
        uint8_t row[CLOCK_BYTES] = { 0 };

        put(row + 4, flags, 4);
        put(row + 8, device, 4);
        put(row + 24, ticks, 8);
        put(row + 32, cpu, 8);
        put(row + 56, begin, 8);
        put(row + 64, end, 8);
        add_row(p, "clock-correlations", NOWHERE, row, CLOCK_BYTES);
}

void iree_profile_memory(struct iree_profile *p, uint32_t type, uint64_t time, uint64_t id, uint64_t n_bytes)
{
        uint8_t row[MEMORY_BYTES] = { 0 };

        put(row + 4, type, 4);
        put(row + 24, time, 8);
        put(row + 32, id, 8);
        put(row + 104, n_bytes, 8);
        add_row(p, "memory-events", NOWHERE, row, MEMORY_BYTES);
}

void iree_profile_trace(struct iree_profile *p, size_t n_bytes)
{
        uint8_t row[TRACE_BYTES + 4096] = { 0 };

        ck_assert_uint_le(n_bytes, 4096);
        put(row, TRACE_BYTES, 4);
        put(row + 80, n_bytes, 8);
        add_record(p, 2, "executable-traces", &NOWHERE, row, TRACE_BYTES + n_bytes);
}

void iree_profile_lossy(struct iree_profile *p, uint64_t n_dropped)
{
        struct chunk chunk = { .device = 0, .queue = 0, .flags = 1, .n_dropped = n_dropped };

        add_record(p, 2, "dispatch-events", &chunk, NULL, 0);
}

int iree_profile_read_path(const char *path, struct import_rows *rows, struct error *err)
{
        struct import_source *source;
        struct text_view head;
        int r;

        ck_assert_int_eq(import_source_open(&source, path, err), 0);
        ck_assert_int_eq(import_source_head(source, &head, err), 0);
        r = import_ireeprof_recognise(head) ? import_ireeprof_read(source, rows, err) : -EINVAL;
        import_source_close(source);
        return r;
}

int iree_profile_read_bytes(const void *bytes, size_t n_bytes, struct import_rows *rows, struct error *err)
{
        int fd = memfd_create("profile", MFD_CLOEXEC), r;
        char path[40];

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, bytes, n_bytes, NULL), 0);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = iree_profile_read_path(path, rows, err);
        (void)close(fd);
        return r;
}

struct byte_buffer iree_profile_load(const char *path)
{
        struct byte_buffer file = { .data = NULL };
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint8_t bytes[4096];
        ssize_t n;

        ck_assert_int_ge(fd, 0);
        while ((n = read(fd, bytes, sizeof(bytes))) > 0)
                byte_buffer_add(&file, bytes, (size_t)n);
        ck_assert_int_eq(n, 0);
        ck_assert(!file.failed);
        (void)close(fd);
        return file;
}
