/* SPDX-License-Identifier: MIT */
/* format/trace_reader.c, trace_dump.c: any file is read up to some chunk or refused with words; never a crash */
#include "base/error.h"
#include "format/event_decoder.h"
#include "format/trace_dump.h"
#include "format/trace_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
        if (!holds)
                abort();
}

static void read_events(const struct trace_reader *reader, const struct trace_item *item)
{
        struct error err = ERROR_NONE;
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = event_decoder_init(&decoder, trace_reader_dictionary(reader), item->body, item->body_bytes,
                                   &err);

        while (r == 0 && (r = event_decoder_next_run(&decoder, &run, &err)) == 1)
                while ((r = event_decoder_next(&decoder, &event, &err)) == 1)
                        require(trace_op_schema_find(event.op));
        require(r == 0 || (r == err.code && err.text[0] != '\0'));
}

/* What the reader says about the file is true. */
static void read_all(const char *path, uint64_t size)
{
        struct trace_reader *reader;
        struct error err = ERROR_NONE;
        enum trace_ending ending;
        struct trace_item item;
        uint64_t whole_bytes;
        const char *words;
        int r = trace_reader_open(path, &reader, &err);

        if (r < 0) {
                require(err.code == r && err.text[0] != '\0');
                return;
        }
        while ((r = trace_reader_next(reader, &item, &err)) == 1) {
                require(item.file_offset_bytes < size);
                if (item.header.kind == TRACE_CHUNK_EVENTS)
                        read_events(reader, &item);
        }
        require(r == 0);
        ending = trace_reader_ending(reader, &words, &whole_bytes);
        require(ending != TRACE_ENDING_OPEN && whole_bytes <= size);
        require((ending == TRACE_ENDING_WHOLE) == (words[0] == '\0'));
        if (ending == TRACE_ENDING_WHOLE)
                require(whole_bytes + TRACE_TRAILER_BYTES == size);
        trace_reader_close(reader);
}

static void dump(const char *path)
{
        struct trace_reader *reader;
        FILE *out;

        if (trace_reader_open(path, &reader, NULL) < 0)
                return;
        out = fopen("/dev/null", "we");
        require(out);
        (void)trace_dump_write(reader, out, NULL);
        (void)fclose(out);
        trace_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        int fd = memfd_create("trace", MFD_CLOEXEC);
        char path[40];

        require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        read_all(path, size);
        dump(path);
        (void)close(fd);
        return 0;
}
