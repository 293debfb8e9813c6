/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes behind the magic of perf.data are read to their end or refused with words, and the
 * trace that comes of it is whole.
 */
#include "base/error.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "import/file/import_source.h"
#include "import/perf/import_perf_data.h"
#include "import/rows/import_trace.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(int holds)
{
        if (!holds)
                abort();
}

static void write_trace(struct import_rows *rows)
{
        struct trace_writer *writer = NULL;
        struct trace_reader *reader = NULL;
        struct trace_item item;
        uint64_t first_ns, last_ns;
        char path[32];
        int fd = memfd_create("trace", 0), r;

        require(fd >= 0);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (import_trace_place(rows, NULL) == 0) {
                require(trace_writer_new(fd, &writer, NULL) == 0);
                require(import_trace_write(rows, writer, NULL) == 0);
                require(trace_reader_open(path, &reader, NULL) == 0);
                require(trace_reader_read_tables(reader, &first_ns, &last_ns, NULL) == 0);
                while ((r = trace_reader_next(reader, &item, NULL)) == 1)
                        ;
                require(r == 0 && trace_reader_ending(reader, NULL, NULL) == TRACE_ENDING_WHOLE);
        }
        trace_reader_close(reader);
        trace_writer_free(writer);
        (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        const struct import_options options = { .run_bytes = 512 };
        struct import_rows *rows = NULL;
        struct import_source *source = NULL;
        struct error err = ERROR_NONE;
        char path[32];
        int fd = memfd_create("file", 0), r;

        require(fd >= 0 && write(fd, "PERFILE2", 8) == 8 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        require(import_trace_new(&rows, &options, NULL) == 0);
        require(import_trace_begin_file(rows, path, NULL) == 0);
        require(import_source_open(&source, path, NULL) == 0);
        r = import_perf_data_read(source, rows, &err);
        require(r == 0 || r == -EBADMSG || r == -ENOTSUP);
        require(r == 0 || err.text[0] != '\0');
        import_source_close(source);
        if (r == 0)
                write_trace(rows);
        import_trace_free(rows);
        (void)close(fd);
        return 0;
}
