/* SPDX-License-Identifier: MIT */
/*
 * code_trace OUT FILE PATH WAY [N [BYTES]] - a trace of a program that was never run: FILE, mapped as
 * PATH, with its code kept
 *
 * A frame at every 16th byte of its segments with code, up to N (1000), and a sample in each; these
 * over and over, until the trace has BYTES.  WAY:
 *   whole     FILE is kept; parts: as what was mapped; none: it is not kept, and was too late
 *   cut       the last part of the attachment is missing
 *   order     the parts of the attachment come in the wrong order
 *   huge      the attachment says that it has 2^62 bytes
 *   garbage   what is kept is noise of the size of FILE
 *   twins     two modules of one name with different code
 */
#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/io.h"
#include "format/attachment_chunk.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_writer.h"
#include "symbolize/elf/elf_image.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_STEP     16
#define FRAMES_DEFAULT 1000
#define NOISE_EVENTS   200000 /* about 2 MB */
#define FILE_BYTES_MAX (1U << 28)

struct maker {
        struct trace_dictionary d;
        struct trace_writer *writer;
        struct byte_buffer file;
        struct elf_image *image;
        struct event_encoder events;
        const char *way;
        uint32_t n_frames_max, n_frames;
};

static void must(bool good, const char *what)
{
        if (good)
                return;
        (void)fprintf(stderr, "code_trace: %s\n", what);
        exit(EXIT_FAILURE);
}

static bool is_way(const struct maker *m, const char *way)
{
        return strcmp(m->way, way) == 0;
}

static uint32_t add(struct maker *m, enum trace_table table, const void *row)
{
        uint32_t id;

        must(trace_dictionary_add(&m->d, table, row, &id) == 0, "a row");
        return id;
}

static uint32_t add_string(struct maker *m, const void *text, size_t n_bytes)
{
        uint32_t id;

        must(trace_dictionary_add_string(&m->d, text, n_bytes, &id) == 0, "a string");
        return id;
}

static void put_part(struct maker *m, uint32_t attachment, uint64_t at, size_t n_bytes)
{
        const struct attachment_chunk part = { attachment, at, m->file.data + at, n_bytes };
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_ATTACHMENT, .n_items = 1 };
        struct byte_buffer body = { .data = NULL };

        must(attachment_chunk_encode(&part, &body) == 0, "a part");
        must(trace_writer_put(m->writer, header, body.data, body.used_bytes, NULL) == 0, "a chunk");
        byte_buffer_deinit(&body);
}

static void put_parts(struct maker *m, uint32_t attachment)
{
        size_t n_bytes = m->file.used_bytes, step = n_bytes / 3 + 1;

        must(trace_writer_put_tables(m->writer, &m->d, NULL) == 0, "tables");
        if (step > ATTACHMENT_CHUNK_BYTES_MAX)
                step = ATTACHMENT_CHUNK_BYTES_MAX;
        for (size_t at = is_way(m, "order") ? step : 0; at < n_bytes; at += step) {
                size_t left = n_bytes - at;

                if (is_way(m, "cut") && left <= step)
                        return;
                put_part(m, attachment, at, left < step ? left : step);
        }
}

/* The module and its code; @salt makes another one of it. */
static uint32_t add_module(struct maker *m, const char *path, uint8_t salt)
{
        struct trace_module module = { .kind = TRACE_MODULE_FILE };
        struct trace_attachment attachment = { .size_bytes = m->file.used_bytes,
                                               .kind = TRACE_ATTACHMENT_MODULE_FILE };
        struct trace_module_image kept = { .state = TRACE_IMAGE_KEPT };

        module.path = add_string(m, path, strlen(path));
        if (m->image->build_id_bytes > 0) {
                m->image->build_id[0] ^= salt;
                module.build_id = add_string(m, m->image->build_id, m->image->build_id_bytes);
        }
        kept.module = add(m, TRACE_TABLE_MODULES, &module);
        if (is_way(m, "none")) {
                kept.state = TRACE_IMAGE_TOO_LATE;
        } else {
                if (is_way(m, "parts"))
                        attachment.kind = TRACE_ATTACHMENT_MODULE_PARTS;
                if (is_way(m, "huge"))
                        attachment.size_bytes = UINT64_C(1) << 62;
                for (size_t i = 0; is_way(m, "garbage") && i < m->file.used_bytes; i++)
                        m->file.data[i] = (uint8_t)(i * i >> 3);
                m->file.data[m->file.used_bytes - 1] ^= salt;
                attachment.hash = content_hash(m->file.data, m->file.used_bytes);
                kept.attachment = add(m, TRACE_TABLE_ATTACHMENTS, &attachment);
        }
        (void)add(m, TRACE_TABLE_MODULE_IMAGES, &kept);
        if (kept.attachment != 0)
                put_parts(m, kept.attachment);
        return kept.module;
}

static void add_frames(struct maker *m, uint32_t module, uint32_t event)
{
        for (size_t i = 0; i < m->image->n_segments; i++) {
                const struct elf_image_segment *s = &m->image->segments[i];

                for (uint64_t at = 0; s->executable && at < s->file_bytes && m->n_frames < m->n_frames_max;
                     at += FRAME_STEP) {
                        struct trace_frame frame = { .offset = s->file_off + at, .module = module };
                        struct trace_stack stack = { .frame = add(m, TRACE_TABLE_FRAMES, &frame) };
                        struct trace_event sample = { .time_ns = m->n_frames++, .op = TRACE_OP_SAMPLE };

                        sample.sample.event = event;
                        sample.sample.stack = add(m, TRACE_TABLE_STACKS, &stack);
                        sample.sample.weight = 1;
                        event_encoder_add(&m->events, &sample);
                }
        }
}

/* Samples of the first stack, with weights that do not shrink. */
static void add_noise(struct maker *m, uint32_t event)
{
        uint64_t random = 1;

        for (uint32_t i = 0; i < NOISE_EVENTS; i++) {
                struct trace_event sample = { .time_ns = m->n_frames, .op = TRACE_OP_SAMPLE };

                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                sample.sample.event = event;
                sample.sample.stack = 1;
                sample.sample.weight = random;
                event_encoder_add(&m->events, &sample);
        }
}

/* The same events over and over, up to so many bytes of file. */
static void put_events(struct maker *m, uint64_t file_bytes)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS };
        struct byte_buffer body = { .data = NULL };

        must(trace_writer_put_tables(m->writer, &m->d, NULL) == 0, "tables");
        must(event_encoder_take(&m->events, &body, &header.first_ns, &header.last_ns, &header.n_items) == 0,
             "events");
        do
                must(trace_writer_put(m->writer, header, body.data, body.used_bytes, NULL) == 0, "a chunk");
        while (trace_writer_count_bytes(m->writer) < file_bytes);
        byte_buffer_deinit(&body);
}

int main(int argc, char **argv)
{
        struct maker m = { .n_frames_max = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : FRAMES_DEFAULT };
        struct trace_sample_event event = { .mode = TRACE_SAMPLE_MODE_PERIOD, .rate = 1 };
        struct trace_process process = { .pid = 1 };
        struct trace_thread thread = { .tid = 1 };
        uint32_t event_id;
        int fd;

        must(argc >= 5 && argc <= 7, "OUT FILE PATH WAY [N [BYTES]]");
        m.way = argv[4];
        trace_dictionary_init(&m.d, 0);
        event_encoder_init(&m.events);
        must(io_read_file(AT_FDCWD, argv[2], FILE_BYTES_MAX, &m.file, NULL) == 0, "FILE");
        must(elf_image_open_memory(m.file.data, m.file.used_bytes, &m.image, NULL) == 0, "no ELF file");
        fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        must(fd >= 0 && trace_writer_new(fd, &m.writer, NULL) == 0, "OUT");
        thread.process = add(&m, TRACE_TABLE_PROCESSES, &process);
        event.name = add_string(&m, "cycles", strlen("cycles"));
        event_id = add(&m, TRACE_TABLE_SAMPLE_EVENTS, &event);
        event_encoder_begin_run(&m.events, add(&m, TRACE_TABLE_THREADS, &thread));
        add_frames(&m, add_module(&m, argv[3], 0), event_id);
        if (is_way(&m, "twins")) {
                m.n_frames_max *= 2;
                add_frames(&m, add_module(&m, argv[3], 1), event_id);
        }
        if (argc > 6)
                add_noise(&m, event_id);
        event_encoder_end_run(&m.events);
        put_events(&m, argc > 6 ? strtoull(argv[6], NULL, 10) : 0);
        must(trace_writer_finish(m.writer, NULL) == 0, "the index");
        trace_writer_free(m.writer);
        event_encoder_deinit(&m.events);
        trace_dictionary_deinit(&m.d);
        elf_image_close(m.image);
        byte_buffer_deinit(&m.file);
        (void)close(fd);
        return 0;
}
