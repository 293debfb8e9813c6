/* SPDX-License-Identifier: MIT */
/*
 * merge/trace_merge.c: any two traces give a whole trace, which is read back, or are refused in words
 *
 * The input is the chunks of both traces without checksums, which no change would pass: one byte (bit 0:
 * which trace), kind (2 bytes), first and last time (8 each), bytes of the body (4), the body.
 */
#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/trace_chunk.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "format/trace_spec.h"
#include "format/trace_writer.h"
#include "merge/trace_merge.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNKS_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
        if (!holds)
                abort();
}

static void add_chunk(struct byte_buffer *file, struct trace_chunk_header header, const uint8_t *body,
                      size_t n)
{
        require(trace_chunk_encode(&header, body, n, 1, file, NULL) == 0);
}

/* Both files, without index: merging takes them as cut off. */
static void make_files(const uint8_t *data, size_t size, struct byte_buffer files[2])
{
        static const uint8_t version[] = { TRACE_VERSION_MAJOR, 0, TRACE_VERSION_MINOR, 0 };
        struct byte_reader in = byte_reader_of(data, size);

        for (int i = 0; i < 2; i++)
                add_chunk(&files[i], (struct trace_chunk_header){ .kind = TRACE_CHUNK_FILE, .n_items = 1 },
                          version, sizeof(version));
        for (int i = 0; i < CHUNKS_MAX; i++) {
                uint8_t which = bytes_u8(&in);
                struct trace_chunk_header header = { .kind = bytes_u16(&in), .n_items = 1 };
                const uint8_t *body;
                uint32_t n_bytes;

                header.first_ns = bytes_u64(&in);
                header.last_ns = bytes_u64(&in);
                n_bytes = bytes_u32(&in);
                if (in.short_read)
                        return;
                if (n_bytes > in.left)
                        n_bytes = (uint32_t)in.left;
                body = bytes_take(&in, n_bytes);
                add_chunk(&files[which & 1], header, body, n_bytes);
        }
}

static uint64_t count_events(struct trace_reader *reader, const struct trace_item *item)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        uint64_t n = 0;

        require(event_decoder_init(&decoder, trace_reader_dictionary(reader), item->body, item->body_bytes,
                                   NULL) == 0);
        while (event_decoder_next_run(&decoder, &run, NULL) == 1)
                while (event_decoder_next(&decoder, &event, NULL) == 1)
                        n++;
        return n;
}

/* The result of a merge is a whole trace, with as many events as it said. */
static void read_back(const char *path, uint64_t n_wanted)
{
        struct trace_reader *reader;
        struct trace_item item;
        uint64_t n = 0;
        int r;

        require(trace_reader_open(path, &reader, NULL) == 0);
        while ((r = trace_reader_next(reader, &item, NULL)) == 1)
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        n += count_events(reader, &item);
        require(r == 0 && trace_reader_ending(reader, NULL, NULL) == TRACE_ENDING_WHOLE);
        require(n == n_wanted);
        trace_reader_close(reader);
}

static int open_file(const struct byte_buffer *bytes, char path[static 40])
{
        int fd = memfd_create("trace", MFD_CLOEXEC);

        require(fd >= 0);
        if (bytes)
                require(write(fd, bytes->data, bytes->used_bytes) == (ssize_t)bytes->used_bytes);
        (void)snprintf(path, 40, "/proc/self/fd/%d", fd);
        return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct byte_buffer files[2] = { { .data = NULL } };
        struct trace_merge merge = { .inputs = NULL };
        struct trace_writer *writer = NULL;
        struct error err = ERROR_NONE;
        char paths[3][40];
        const char *const inputs[] = { paths[0], paths[1] };
        int fds[3], r;

        make_files(data, size, files);
        for (int i = 0; i < 3; i++)
                fds[i] = open_file(i < 2 ? &files[i] : NULL, paths[i]);
        require(trace_writer_new(fds[2], &writer, &err) == 0);
        r = trace_merge_run(&merge, inputs, 2, writer, &err);
        if (r == 0)
                read_back(paths[2], merge.n_events);
        else
                require(err.text[0] != '\0');
        trace_writer_free(writer);
        trace_merge_deinit(&merge);
        for (int i = 0; i < 3; i++)
                (void)close(fds[i]);
        for (int i = 0; i < 2; i++)
                byte_buffer_deinit(&files[i]);
        return 0;
}
