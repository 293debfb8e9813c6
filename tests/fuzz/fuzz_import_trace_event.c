/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes are read as trace-event JSON and as ninja's log to their end.  All ids that the
 * readers use were given to them, no span ends before it begins, and each row is one event at most.
 */
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/json/import_ninja_log.h"
#include "import/json/import_trace_event.h"
#include "import/rows/import_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Takes the place of import_rows.c. */
struct import_rows {
        uint32_t n_strings, n_clocks, n_tracks;
        uint64_t n_rows, n_events;
};

static void require(bool holds)
{
        if (!holds)
                abort();
}

static void require_event(struct import_rows *rows, uint32_t track, uint32_t name, uint32_t text)
{
        rows->n_events++;
        require(track >= 1 && track <= rows->n_tracks);
        require(name <= rows->n_strings && text <= rows->n_strings);
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
        require(reading->host_begin <= reading->host_end);
        return 0;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        require(track->parent <= rows->n_tracks);
        require(track->clock >= 1 && track->clock <= rows->n_clocks);
        *ret_id = ++rows->n_tracks;
        return 0;
}

int import_rows_name_track(struct import_rows *rows, uint32_t track, struct text_view name, struct error *err)
{
        (void)err;
        require(track >= 1 && track <= rows->n_tracks && name.n_bytes > 0);
        return 0;
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
        require_event(rows, span->track, span->name, span->text);
        require(span->begin <= span->end && span->file <= rows->n_strings);
        return 0;
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        (void)err;
        require_event(rows, value->track, value->name, value->unit);
        rows->n_events--; /* a counter has many */
        return 0;
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        (void)err;
        require_event(rows, instant->track, instant->name, instant->text);
        return 0;
}

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        uint32_t ignored;

        require(format != NULL);
        return import_rows_string(rows, version, &ignored, err);
}

void import_rows_count_row(struct import_rows *rows)
{
        rows->n_rows++;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        (void)rows;
        require(at >= 1 && why != NULL);
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        (void)rows;
        require(kind != NULL && n > 0);
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        (void)rows;
        (void)n;
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        (void)rows;
        require(at >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct import_rows rows = { .n_rows = 0 };
        struct import_source *source;
        struct text_view head;
        struct error err;
        char path[64];
        int fd = memfd_create("fuzz", MFD_CLOEXEC);

        require(fd >= 0 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        require(import_source_open(&source, path, &err) == 0);
        if (import_source_head(source, &head, &err) == 0) {
                (void)import_trace_event_recognise(head);
                /* Whatever it is: it is read. */
                if (import_ninja_log_recognise(head))
                        (void)import_ninja_log_read(source, &rows, &err);
                else
                        (void)import_trace_event_read(source, &rows, &err);
        }
        require(rows.n_events <= rows.n_rows);
        import_source_close(source);
        require(close(fd) == 0);
        return 0;
}
