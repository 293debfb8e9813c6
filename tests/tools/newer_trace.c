/* SPDX-License-Identifier: MIT */
/*
 * Copies a trace as a newer hyprof might have written it: newer_trace TRACE COPY MAJOR MINOR
 *
 * The copy has this version, and after each chunk of events one of a kind that does not exist, and one
 * with three events of an op that does not exist, on the first thread.  Prints how many chunks and events
 * these are.
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEW_KIND 9999
#define NEW_OP   200
#define N_EVENTS 3

static void must(int r, const struct error *err)
{
        if (r >= 0)
                return;
        (void)fprintf(stderr, "newer_trace: %s\n", err->text);
        exit(EXIT_FAILURE);
}

static void put(struct trace_writer *writer, struct trace_chunk_header header, const struct byte_buffer *body)
{
        struct byte_buffer bytes = { .data = NULL };
        struct error err = ERROR_NONE;
        struct trace_item item = { .body = NULL };

        must(trace_chunk_encode(&header, body->data, body->used_bytes, 1, &bytes, &err), &err);
        item.header = header;
        item.header_bytes = bytes.data;
        item.stored = bytes.data + TRACE_CHUNK_HEADER_BYTES;
        must(trace_writer_copy(writer, &item, &err), &err);
        byte_buffer_deinit(&bytes);
}

/* One run of three events, each with a number in a column of its own. */
static void put_new_events(struct trace_writer *writer, uint64_t time_ns)
{
        struct byte_buffer body = { .data = NULL };
        struct byte_buffer numbers = { .data = NULL };

        byte_buffer_add_varint(&numbers, 7);
        byte_buffer_add_varint(&numbers, UINT64_MAX);
        byte_buffer_add_varint(&numbers, 0);
        byte_buffer_add_varint(&body, 1);
        byte_buffer_add_varint(&body, 1);
        byte_buffer_add_varint(&body, N_EVENTS);
        byte_buffer_add_varint(&body, time_ns << 1);
        byte_buffer_add_varint(&body, 3); /* columns: ops, times, the op's operand */
        byte_buffer_add_varint(&body, 0);
        byte_buffer_add_varint(&body, N_EVENTS);
        byte_buffer_add_varint(&body, 1);
        byte_buffer_add_varint(&body, N_EVENTS);
        byte_buffer_add_varint(&body, NEW_OP * 8);
        byte_buffer_add_varint(&body, numbers.used_bytes);
        for (int i = 0; i < N_EVENTS; i++)
                byte_buffer_add_u8(&body, NEW_OP);
        for (int i = 0; i < N_EVENTS; i++)
                byte_buffer_add_varint(&body, 0);
        byte_buffer_add(&body, numbers.data, numbers.used_bytes);
        put(writer,
            (struct trace_chunk_header){ .kind = TRACE_CHUNK_EVENTS,
                                         .n_items = N_EVENTS,
                                         .first_ns = time_ns,
                                         .last_ns = time_ns },
            &body);
        byte_buffer_deinit(&numbers);
        byte_buffer_deinit(&body);
}

static void put_new_chunk(struct trace_writer *writer)
{
        static const char words[] = "of tomorrow";
        struct byte_buffer body = { .data = NULL };

        byte_buffer_add(&body, words, strlen(words));
        put(writer, (struct trace_chunk_header){ .kind = NEW_KIND, .n_items = 1 }, &body);
        byte_buffer_deinit(&body);
}

/* The chunk at the beginning has the same length in every version. */
static void set_version(int fd, unsigned major, unsigned minor)
{
        const uint8_t version[] = { (uint8_t)major, (uint8_t)(major >> 8), (uint8_t)minor,
                                    (uint8_t)(minor >> 8) };
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_FILE, .n_items = 1 };
        struct byte_buffer bytes = { .data = NULL };
        struct error err = ERROR_NONE;

        must(trace_chunk_encode(&header, version, sizeof(version), 1, &bytes, &err), &err);
        if (pwrite(fd, bytes.data, bytes.used_bytes, 0) != (ssize_t)bytes.used_bytes)
                exit(EXIT_FAILURE);
        byte_buffer_deinit(&bytes);
}

int main(int argc, char **argv)
{
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        struct trace_writer *writer;
        struct trace_item item;
        unsigned n_chunks = 0;
        int fd, r;

        if (argc != 5)
                return EXIT_FAILURE;
        must(trace_reader_open(argv[1], &reader, &err), &err);
        fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        must(fd, &err);
        must(trace_writer_new(fd, &writer, &err), &err);
        while ((r = trace_reader_next(reader, &item, &err)) == 1) {
                if (item.header.kind != TRACE_CHUNK_INDEX)
                        must(trace_writer_copy(writer, &item, &err), &err);
                if (item.header.kind != TRACE_CHUNK_EVENTS)
                        continue;
                n_chunks++;
                put_new_events(writer, item.header.last_ns);
                put_new_chunk(writer);
        }
        must(r, &err);
        must(trace_writer_finish(writer, &err), &err);
        set_version(fd, (unsigned)strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10));
        (void)printf("%u %u\n", n_chunks, n_chunks * N_EVENTS);
        trace_writer_free(writer);
        trace_reader_close(reader);
        return close(fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
