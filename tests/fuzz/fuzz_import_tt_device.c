/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes of a device log or report of operations, and of the readings of clocks that follow a
 * byte 0 in them, are read to their end.  Spans do not end before they begin, ids are those that were given,
 * and every row is accounted for: an event, a part of a zone, malformed, or left out.
 */
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"
#include "import/tt/import_tt_device.h"
#include "import/tt/import_tt_sync.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

struct import_rows {
        uint32_t n_strings, n_clocks, n_tracks;
        uint64_t n_rows, n_spans, n_events, n_wrong;
};

static void demand(bool holds)
{
        if (!holds)
                abort();
}

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        (void)text;
        (void)err;
        *ret_id = ++rows->n_strings;
        return 0;
}

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        demand(clock->period_ns >= 0 && clock->period_ns < 1e12);
        *ret_id = ++rows->n_clocks;
        return 0;
}

int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err)
{
        (void)err;
        demand(reading->clock <= rows->n_clocks && reading->host_begin <= reading->host_end);
        return 0;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        (void)err;
        demand(track->parent <= rows->n_tracks && track->clock > 0 && track->clock <= rows->n_clocks);
        *ret_id = ++rows->n_tracks;
        return 0;
}

int import_rows_name_track(struct import_rows *rows, uint32_t track, struct text_view name, struct error *err)
{
        (void)name;
        (void)err;
        demand(track > 0 && track <= rows->n_tracks);
        return 0;
}

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err)
{
        (void)err;
        demand(span->track > 0 && span->track <= rows->n_tracks && span->begin <= span->end);
        demand(span->name <= rows->n_strings && span->file <= rows->n_strings);
        rows->n_spans++;
        return 0;
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        (void)err;
        demand(value->track > 0 && value->track <= rows->n_tracks && value->name <= rows->n_strings);
        rows->n_events++;
        return 0;
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        (void)err;
        demand(instant->track > 0 && instant->track <= rows->n_tracks && instant->name <= rows->n_strings);
        rows->n_events++;
        return 0;
}

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        (void)rows;
        (void)version;
        (void)err;
        demand(strcmp(format, IMPORT_TT_FORMAT) == 0);
        return 0;
}

void import_rows_written(struct import_rows *rows, uint64_t realtime_ns)
{
        (void)rows;
        (void)realtime_ns;
}

void import_rows_count_row(struct import_rows *rows)
{
        rows->n_rows++;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        demand(at > 0 && why[0] != '\0');
        rows->n_wrong++;
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        demand(kind[0] != '\0' && n > 0);
        rows->n_wrong += n;
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        rows->n_wrong += n;
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        demand(at > 0);
        rows->n_wrong++;
}

static struct import_source *open_bytes(const uint8_t *data, size_t n_bytes, char *path, size_t path_bytes,
                                        int *ret_fd)
{
        struct import_source *source;

        *ret_fd = memfd_create("fuzz", MFD_CLOEXEC);
        if (*ret_fd < 0 || write(*ret_fd, data, n_bytes) != (ssize_t)n_bytes ||
            lseek(*ret_fd, 0, SEEK_SET) != 0)
                exit(1);
        (void)snprintf(path, path_bytes, "/proc/self/fd/%d", *ret_fd);
        if (import_source_open(&source, path, NULL) < 0)
                exit(1);
        return source;
}

static void read_log(const uint8_t *data, size_t n_bytes)
{
        struct import_rows rows = { .n_strings = 0 };
        struct error err = ERROR_NONE;
        struct text_view head;
        char path[64];
        int r, fd;
        struct import_source *source = open_bytes(data, n_bytes, path, sizeof(path), &fd);

        if (import_source_head(source, &head, NULL) == 0)
                (void)import_tt_device_recognise(head);
        r = import_tt_device_read(source, &rows, &err);
        demand(r == 0 || (r < 0 && err.code == r && err.text[0] != '\0'));
        demand(r < 0 || 2 * rows.n_spans + rows.n_events + rows.n_wrong >= rows.n_rows);
        import_source_close(source);
        (void)close(fd);
}

static void read_sync(const uint8_t *data, size_t n_bytes)
{
        struct import_rows rows = { .n_strings = 0, .n_clocks = 1 };
        struct import_tt_sync sync = { .points = NULL };
        char path[64];
        int fd;
        struct import_source *source = open_bytes(data, n_bytes, path, sizeof(path), &fd);
        uint64_t root = UINT64_MAX;

        if (import_tt_sync_read(&sync, source, &rows, NULL) == 0)
                for (uint64_t chip = 0; chip < 4; chip++) {
                        if (import_tt_sync_find(&sync, chip, &root) == IMPORT_TT_THROUGH)
                                demand(root != chip);
                        demand(import_tt_sync_give(&sync, chip, 1, &rows, NULL) == 0);
                }
        import_tt_sync_deinit(&sync);
        import_source_close(source);
        (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        const uint8_t *end = n_bytes > 0 ? memchr(data, '\0', n_bytes) : NULL;
        size_t n_log = end ? (size_t)(end - data) : n_bytes;

        read_log(data, n_log);
        if (end)
                read_sync(end + 1, n_bytes - n_log - 1);
        return 0;
}
