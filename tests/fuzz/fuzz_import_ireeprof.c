/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes are read as an IREE profile, of either form, to their end.  All ids that the reader
 * uses were given to it, no span ends before it begins, all text is there, and a failure has words.
 */
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/iree/import_ireeprof.h"
#include "import/rows/import_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Takes the place of import_rows.c. */
struct import_rows {
        uint32_t n_strings, n_clocks, n_tracks;
        uint64_t n_rows, sum;
};

static void require(bool holds)
{
        if (!holds)
                abort();
}

static void require_event(const struct import_rows *rows, uint32_t track, uint32_t name, uint32_t text)
{
        require(track >= 1 && track <= rows->n_tracks);
        require(name <= rows->n_strings && text <= rows->n_strings);
}

static void read_text(struct import_rows *rows, struct text_view text)
{
        for (size_t i = 0; i < text.n_bytes; i++)
                rows->sum += (unsigned char)text.bytes[i];
}

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        (void)err;
        read_text(rows, text);
        *ret_id = text.n_bytes ? ++rows->n_strings : 0;
        return 0;
}

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        require(clock->kind == IMPORT_CLOCK_MONOTONIC || clock->kind == IMPORT_CLOCK_OWN);
        read_text(rows, clock->name);
        *ret_id = ++rows->n_clocks;
        return 0;
}

int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err)
{
        (void)err;
        require(reading->clock >= 1 && reading->clock <= rows->n_clocks);
        require(reading->host == IMPORT_CLOCK_RAW || reading->host == IMPORT_CLOCK_MONOTONIC);
        require(reading->host_begin <= reading->host_end);
        return 0;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        require(track->parent <= rows->n_tracks);
        require(track->clock >= 1 && track->clock <= rows->n_clocks);
        require((track->kind == IMPORT_TRACK_DEVICE || track->kind == IMPORT_TRACK_PROCESS) ==
                (track->parent == 0));
        read_text(rows, track->name);
        *ret_id = ++rows->n_tracks;
        return 0;
}

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err)
{
        (void)err;
        require_event(rows, span->track, span->name, span->text);
        require(span->begin <= span->end && span->key.kind <= rows->n_strings);
        return 0;
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        (void)err;
        require_event(rows, value->track, value->name, value->unit);
        require(value->kind <= IMPORT_VALUE_UNSIGNED);
        return 0;
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        (void)err;
        require_event(rows, instant->track, instant->name, instant->text);
        require(instant->key.kind <= rows->n_strings);
        return 0;
}

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        (void)err;
        require(format != NULL);
        read_text(rows, version);
        return 0;
}

void import_rows_count_row(struct import_rows *rows)
{
        rows->n_rows++;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        require(why != NULL && at <= (UINT64_C(1) << 40));
        rows->sum++;
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        require(kind != NULL && n > 0);
        rows->sum++;
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        rows->sum += n;
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        rows->sum += at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct import_rows rows = { .n_strings = 0 };
        struct import_source *source;
        struct error err = ERROR_NONE;
        struct text_view head;
        char path[40];
        int fd = memfd_create("profile", MFD_CLOEXEC), r;

        require(fd >= 0 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        require(import_source_open(&source, path, &err) == 0);
        r = import_source_head(source, &head, &err);
        if (r == 0) {
                (void)import_ireeprof_recognise(head);
                r = import_ireeprof_read(source, &rows, &err);
        }
        require(r == 0 || err.text[0] != '\0');
        import_source_close(source);
        (void)close(fd);
        return rows.sum == UINT64_MAX; /* used, so that no byte is left unread */
}
