/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes are read as Perfetto's packets, as text of ftrace, as a table of rocprofv3 and as
 * each form of OTLP to their end, whether they are recognised or not.  All ids that the readers use were
 * given to them, and no span ends before it begins.
 */
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/otlp/otlp_json.h"
#include "import/otlp/otlp_protobuf.h"
#include "import/otlp/otlp_spans.h"
#include "import/perfetto/import_pftrace.h"
#include "import/rows/import_rows.h"
#include "import/text/import_ftrace.h"
#include "import/text/import_rocprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Takes the place of import_rows.c. */
struct import_rows {
        uint32_t n_strings, n_clocks, n_tracks;
};

static void require(bool holds)
{
        if (!holds)
                abort();
}

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        static volatile char sum; /* all bytes are there */

        (void)err;
        for (size_t i = 0; i < text.n_bytes; i++)
                sum = (char)(sum ^ text.bytes[i]);
        *ret_id = text.n_bytes ? ++rows->n_strings : 0;
        return 0;
}

int import_rows_text(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        return import_rows_string(rows, text, ret_id, err);
}

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        require(clock->kind <= IMPORT_CLOCK_OWN);
        *ret_id = ++rows->n_clocks;
        return 0;
}

int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err)
{
        (void)err;
        require(reading->clock >= 1 && reading->clock <= rows->n_clocks);
        require(reading->host >= IMPORT_CLOCK_RAW && reading->host <= IMPORT_CLOCK_TSC);
        require(reading->host_begin <= reading->host_end);
        return 0;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        require(track->kind <= IMPORT_TRACK_OTHER && track->parent <= rows->n_tracks);
        require(track->clock >= 1 && track->clock <= rows->n_clocks);
        require(track->has_number || track->name.n_bytes > 0);
        *ret_id = ++rows->n_tracks;
        return 0;
}

int import_rows_name_track(struct import_rows *rows, uint32_t track, struct text_view name, struct error *err)
{
        uint32_t id;

        require(track >= 1 && track <= rows->n_tracks);
        return import_rows_string(rows, name, &id, err);
}

int import_rows_add_key(struct import_rows *rows, struct import_key *key, struct import_key further,
                        struct error *err)
{
        (void)rows;
        (void)err;
        if (key->kind == 0)
                *key = further;
        return 0;
}

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err)
{
        (void)err;
        require(span->track >= 1 && span->track <= rows->n_tracks);
        require(span->name <= rows->n_strings && span->text <= rows->n_strings);
        require(span->file <= rows->n_strings && span->key.kind <= rows->n_strings);
        require(span->begin <= span->end);
        return 0;
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        (void)err;
        require(value->track >= 1 && value->track <= rows->n_tracks);
        require(value->name <= rows->n_strings && value->unit <= rows->n_strings);
        return 0;
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        (void)err;
        require(instant->track >= 1 && instant->track <= rows->n_tracks);
        require(instant->name <= rows->n_strings && instant->text <= rows->n_strings);
        return 0;
}

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        (void)rows;
        (void)version;
        (void)err;
        require(format != NULL);
        return 0;
}

int import_rows_join_set(struct import_rows *rows, struct text_view name, struct error *err)
{
        (void)rows;
        (void)err;
        require(name.n_bytes == 0 || name.bytes != NULL);
        return 0;
}

void import_rows_count_row(struct import_rows *rows)
{
        (void)rows;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        (void)rows;
        (void)at;
        require(why != NULL);
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        (void)rows;
        require(kind != NULL && n > 0);
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        (void)rows;
        require(n > 0);
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        (void)rows;
        (void)at;
}

int import_rows_namesake(struct import_rows *rows, uint64_t number, uint64_t who, uint32_t *ret_index,
                         struct error *err)
{
        (void)rows;
        (void)number;
        (void)err;
        *ret_index = (uint32_t)(who % 3);
        return 0;
}

static void read_as(const char *path, bool (*recognise)(struct text_view head),
                    int (*read_file)(struct import_source *source, struct import_rows *rows,
                                     struct error *err))
{
        struct import_rows rows = { .n_strings = 0 };
        struct import_source *source;
        struct text_view head;

        require(import_source_open(&source, path, NULL) == 0);
        if (import_source_head(source, &head, NULL) == 0) {
                (void)recognise(head);
                (void)read_file(source, &rows, NULL);
        }
        import_source_close(source);
}

static void read_otlp(const char *path, bool (*recognise)(struct text_view head),
                      int (*read_file)(struct import_source *source, struct otlp_spans *spans,
                                       struct error *err))
{
        struct import_rows rows = { .n_strings = 0 };
        struct import_source *source;
        struct otlp_spans spans;
        struct text_view head;

        require(import_source_open(&source, path, NULL) == 0);
        require(otlp_spans_init(&spans, &rows, NULL) == 0);
        if (import_source_head(source, &head, NULL) == 0) {
                (void)recognise(head);
                (void)read_file(source, &spans, NULL);
                otlp_spans_finish(&spans);
        }
        otlp_spans_deinit(&spans);
        import_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        char path[32];
        int fd = memfd_create("file", 0);

        require(fd >= 0 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        read_as(path, import_pftrace_recognise, import_pftrace_read);
        read_as(path, import_ftrace_recognise, import_ftrace_read);
        read_as(path, import_rocprof_recognise, import_rocprof_read);
        read_otlp(path, otlp_json_recognise, otlp_json_read);
        read_otlp(path, otlp_protobuf_recognise, otlp_protobuf_read);
        read_otlp(path, otlp_protobuf_recognise_framed, otlp_protobuf_read_framed);
        (void)close(fd);
        return 0;
}
