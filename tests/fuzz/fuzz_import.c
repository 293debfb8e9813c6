/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes are imported in whichever format they have, and the trace that comes of it is whole:
 * no id in it is wrong, no event before an earlier one of its thread.  Runs are short, so that they are
 * merged.
 */
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "import/formats/import_formats.h"
#include "import/rows/import_trace.h"

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

static void check_events(const struct trace_dictionary *d, const struct trace_item *item, uint64_t *last_ns)
{
        struct event_decoder decoder;
        struct event_run run;
        struct trace_event event;
        int r = event_decoder_init(&decoder, d, item->body, item->body_bytes, NULL);

        require(r == 0);
        while ((r = event_decoder_next_run(&decoder, &run, NULL)) == 1) {
                while ((r = event_decoder_next(&decoder, &event, NULL)) == 1) {
                        require(event.time_ns >= last_ns[run.thread]);
                        last_ns[run.thread] = event.time_ns;
                }
                require(r == 0);
        }
        require(r == 0);
}

static void check_trace(const char *path)
{
        struct trace_reader *reader = NULL;
        struct trace_item item;
        uint64_t first_ns, last_ns, *last;

        require(trace_reader_open(path, &reader, NULL) == 0);
        require(trace_reader_read_tables(reader, &first_ns, &last_ns, NULL) == 0);
        last = calloc(trace_dictionary_count(trace_reader_dictionary(reader), TRACE_TABLE_THREADS) + 1,
                      sizeof(*last));
        while (last && trace_reader_next(reader, &item, NULL) == 1)
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        check_events(trace_reader_dictionary(reader), &item, last);
        require(trace_reader_ending(reader, NULL, NULL) == TRACE_ENDING_WHOLE);
        trace_reader_close(reader);
        free(last);
}

static void write_trace(struct import_rows *rows)
{
        struct trace_writer *writer = NULL;
        char path[32];
        int fd = memfd_create("trace", 0);

        require(fd >= 0);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (import_trace_place(rows, NULL) == 0 && trace_writer_new(fd, &writer, NULL) == 0 &&
            import_trace_write(rows, writer, NULL) == 0)
                check_trace(path);
        trace_writer_free(writer);
        (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        const struct import_options options = { .run_bytes = 512 };
        struct import_rows *rows = NULL;
        const char *advice;
        char path[32];
        int fd = memfd_create("file", 0);

        require(fd >= 0 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        require(import_trace_new(&rows, &options, NULL) == 0);
        require(import_trace_begin_file(rows, path, NULL) == 0);
        if (import_formats_read(path, rows, &advice, NULL) == 0)
                write_trace(rows);
        import_trace_free(rows);
        (void)close(fd);
        return 0;
}
