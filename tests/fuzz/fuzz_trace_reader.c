/* SPDX-License-Identifier: MIT */
/*
 * format/trace_reader.c, trace_dump.c, attachment_chunk.c: any file is read up to some chunk or refused
 * with words; never a crash
 */
#include "base/error.h"
#include "format/attachment_chunk.h"
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

/* Parts that were taken follow each other, and none has more than its attachment. */
static void read_attachment(const struct trace_reader *reader, const struct trace_item *item,
                            struct attachment_tally *tally)
{
        const struct trace_dictionary *d = trace_reader_dictionary(reader);
        const struct trace_attachment *row;
        struct error err = ERROR_NONE;
        struct attachment_chunk part;
        int r = attachment_chunk_decode(d, item->body, item->body_bytes, &part, &err);

        if (r == 0)
                r = attachment_tally_add(tally, d, &part, &err);
        require(r == 0 || (r == err.code && err.text[0] != '\0'));
        if (r < 0)
                return;
        row = trace_dictionary_row(d, TRACE_TABLE_ATTACHMENTS, part.attachment);
        require(attachment_tally_get(tally, part.attachment) == part.offset_bytes + part.n_bytes);
        require(attachment_tally_get(tally, part.attachment) <= row->size_bytes);
}

/* All that the reader says about the file is true. */
static void read_all(const char *path, uint64_t size)
{
        struct attachment_tally tally = { .n_bytes = NULL };
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
                else if (item.header.kind == TRACE_CHUNK_ATTACHMENT)
                        read_attachment(reader, &item, &tally);
        }
        require(r == 0);
        (void)attachment_tally_find_incomplete(&tally, trace_reader_dictionary(reader), 0);
        attachment_tally_deinit(&tally);
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
