/* SPDX-License-Identifier: MIT */
/*
 * Copies a trace but for its STATES chunks, so that a range of it is found by reading all:
 * without_states TRACE COPY
 */
#include "base/error.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(int r, const struct error *err)
{
        if (r >= 0)
                return;
        (void)fprintf(stderr, "without_states: %s\n", err->text);
        exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        struct trace_writer *writer;
        struct trace_item item;
        unsigned n_states = 0;
        int fd, r;

        if (argc != 3)
                return EXIT_FAILURE;
        must(trace_reader_open(argv[1], &reader, &err), &err);
        fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        must(fd, &err);
        must(trace_writer_new(fd, &writer, &err), &err);
        while ((r = trace_reader_next(reader, &item, &err)) == 1) {
                n_states += item.header.kind == TRACE_CHUNK_STATES;
                if (item.header.kind != TRACE_CHUNK_STATES && item.header.kind != TRACE_CHUNK_INDEX)
                        must(trace_writer_copy(writer, &item, &err), &err);
        }
        must(r, &err);
        must(trace_writer_finish(writer, &err), &err);
        (void)printf("%u\n", n_states);
        trace_writer_free(writer);
        trace_reader_close(reader);
        return close(fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
