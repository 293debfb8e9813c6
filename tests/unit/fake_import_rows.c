/* SPDX-License-Identifier: MIT */
#include "fake_import_rows.h"

#include "base/array.h"
#include "base/error.h"
#include "import/file/import_source.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_BYTES 4096

enum { CLOCKS, READINGS, TRACKS, SPANS, VALUES, INSTANTS };

static const char *const clock_words[] = {
        [IMPORT_CLOCK_UNKNOWN] = "unknown",   [IMPORT_CLOCK_RAW] = "raw",
        [IMPORT_CLOCK_MONOTONIC] = "mono",    [IMPORT_CLOCK_REALTIME] = "realtime",
        [IMPORT_CLOCK_BOOTTIME] = "boottime", [IMPORT_CLOCK_TSC] = "tsc",
        [IMPORT_CLOCK_OWN] = "own",
};
static const char *const track_words[] = {
        [IMPORT_TRACK_PROCESS] = "process",     [IMPORT_TRACK_THREAD] = "thread",
        [IMPORT_TRACK_DEVICE] = "device",       [IMPORT_TRACK_CORE] = "core",
        [IMPORT_TRACK_PROCESSOR] = "processor", [IMPORT_TRACK_STREAM] = "stream",
        [IMPORT_TRACK_OTHER] = "other",
};

/* ------------------------------------------------------------------ what a reader calls */

static bool fails(struct import_rows *rows, struct error *err)
{
        rows->n_calls++;
        if (rows->n_calls != rows->fails_after)
                return false;
        (void)error_set(err, -ENOSPC, "no space left on device");
        return true;
}

static void require_string(const struct import_rows *rows, uint32_t id)
{
        ck_assert_uint_le(id, rows->strings.n_items);
}

static void require_track(const struct import_rows *rows, uint32_t id)
{
        ck_assert_uint_ge(id, 1);
        ck_assert_uint_le(id, rows->n_tracks);
}

static void require_key(const struct import_rows *rows, struct import_key key)
{
        require_string(rows, key.kind);
}

static uint32_t add_string(struct import_rows *rows, struct text_view text)
{
        uint32_t id = 0;

        if (text.n_bytes > 0)
                ck_assert_int_ge(intern_add(&rows->strings, text.bytes, text.n_bytes, &id), 0);
        return id;
}

int import_rows_string(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        *ret_id = add_string(rows, text);
        return 0;
}

int import_rows_text(struct import_rows *rows, struct text_view text, uint32_t *ret_id, struct error *err)
{
        return import_rows_string(rows, text, ret_id, err);
}

int import_rows_clock(struct import_rows *rows, const struct import_clock *clock, uint32_t *ret_id,
                      struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        ck_assert_uint_le(clock->kind, IMPORT_CLOCK_OWN);
        ck_assert(clock->period_ns >= 0);
        ck_assert_uint_le(clock->of, rows->n_clocks);
        ck_assert(clock->of == 0 || clock->kind == IMPORT_CLOCK_OWN);
        ck_assert_int_eq(array_reserve(&rows->clocks, &rows->capacities[CLOCKS], rows->n_clocks + 1,
                                       sizeof(*rows->clocks)),
                         0);
        rows->clocks[rows->n_clocks++] = (struct fake_import_clock){
                .kind = clock->kind,
                .period_ns = clock->period_ns,
                .name = add_string(rows, clock->name),
                .of = clock->of,
                .error_ns = clock->error_ns,
        };
        *ret_id = (uint32_t)rows->n_clocks;
        return 0;
}

int import_rows_reading(struct import_rows *rows, const struct import_reading *reading, struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        ck_assert_uint_ge(reading->clock, 1);
        ck_assert_uint_le(reading->clock, rows->n_clocks);
        ck_assert(reading->host >= IMPORT_CLOCK_RAW && reading->host <= IMPORT_CLOCK_TSC);
        ck_assert_uint_le(reading->host_begin, reading->host_end);
        ck_assert_int_eq(array_reserve(&rows->readings, &rows->capacities[READINGS], rows->n_readings + 1,
                                       sizeof(*rows->readings)),
                         0);
        rows->readings[rows->n_readings++] = *reading;
        return 0;
}

static bool may_be_below(enum import_track_kind kind, const struct fake_import_track *parent)
{
        switch (kind) {
        case IMPORT_TRACK_PROCESS:
                return !parent;
        case IMPORT_TRACK_THREAD:
                return parent && parent->kind == IMPORT_TRACK_PROCESS;
        case IMPORT_TRACK_DEVICE:
                return !parent || parent->kind == IMPORT_TRACK_PROCESS;
        case IMPORT_TRACK_CORE:
        case IMPORT_TRACK_PROCESSOR:
        case IMPORT_TRACK_STREAM:
                return parent && parent->kind >= IMPORT_TRACK_DEVICE;
        case IMPORT_TRACK_OTHER:
                break;
        }
        return true;
}

int import_rows_track(struct import_rows *rows, const struct import_track *track, uint32_t *ret_id,
                      struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        ck_assert_uint_le(track->kind, IMPORT_TRACK_OTHER);
        ck_assert_uint_le(track->parent, rows->n_tracks);
        ck_assert(may_be_below(track->kind, track->parent ? &rows->tracks[track->parent - 1] : NULL));
        ck_assert_uint_ge(track->clock, 1);
        ck_assert_uint_le(track->clock, rows->n_clocks);
        ck_assert_int_eq(array_reserve(&rows->tracks, &rows->capacities[TRACKS], rows->n_tracks + 1,
                                       sizeof(*rows->tracks)),
                         0);
        rows->tracks[rows->n_tracks++] = (struct fake_import_track){
                .kind = track->kind,
                .parent = track->parent,
                .clock = track->clock,
                .name = add_string(rows, track->name),
                .number = track->number,
                .has_number = track->has_number,
        };
        *ret_id = (uint32_t)rows->n_tracks;
        return 0;
}

int import_rows_name_track(struct import_rows *rows, uint32_t track, struct text_view name, struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        require_track(rows, track);
        rows->tracks[track - 1].name = add_string(rows, name);
        return 0;
}

int import_rows_namesake(struct import_rows *rows, uint64_t number, uint64_t who, uint32_t *ret_index,
                         struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        return import_namesakes_find(&rows->namesakes, number, who, ret_index);
}

/* A span has its first key. */
int import_rows_add_key(struct import_rows *rows, struct import_key *key, struct import_key further,
                        struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        require_key(rows, further);
        if (key->kind == 0)
                *key = further;
        else if (further.kind != 0)
                rows->further_keys[rows->n_further_keys++ % 64] = further;
        return 0;
}

int import_rows_span(struct import_rows *rows, const struct import_span *span, struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        require_track(rows, span->track);
        require_string(rows, span->name);
        require_string(rows, span->file);
        require_string(rows, span->text);
        require_key(rows, span->key);
        ck_assert_uint_le(span->begin, span->end);
        ck_assert_int_eq(array_reserve(&rows->spans, &rows->capacities[SPANS], rows->n_spans + 1,
                                       sizeof(*rows->spans)),
                         0);
        rows->spans[rows->n_spans++] = *span;
        return 0;
}

int import_rows_value(struct import_rows *rows, const struct import_value *value, struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        require_track(rows, value->track);
        require_string(rows, value->name);
        require_string(rows, value->unit);
        ck_assert_uint_le(value->kind, IMPORT_VALUE_UNSIGNED);
        ck_assert_int_eq(array_reserve(&rows->values, &rows->capacities[VALUES], rows->n_values + 1,
                                       sizeof(*rows->values)),
                         0);
        rows->values[rows->n_values++] = *value;
        return 0;
}

int import_rows_instant(struct import_rows *rows, const struct import_instant *instant, struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        require_track(rows, instant->track);
        require_string(rows, instant->name);
        require_string(rows, instant->text);
        require_key(rows, instant->key);
        ck_assert_int_eq(array_reserve(&rows->instants, &rows->capacities[INSTANTS], rows->n_instants + 1,
                                       sizeof(*rows->instants)),
                         0);
        rows->instants[rows->n_instants++] = *instant;
        return 0;
}

int import_rows_join_set(struct import_rows *rows, struct text_view name, struct error *err)
{
        rows->set = add_string(rows, name);
        return fails(rows, err) ? -ENOSPC : 0;
}

int import_rows_file(struct import_rows *rows, const char *format, struct text_view version,
                     struct error *err)
{
        if (fails(rows, err))
                return -ENOSPC;
        ck_assert_ptr_null(rows->format);
        rows->format = format;
        rows->version = add_string(rows, version);
        return 0;
}

void import_rows_written(struct import_rows *rows, uint64_t realtime_ns)
{
        rows->written_ns = realtime_ns;
}

void import_rows_count_row(struct import_rows *rows)
{
        rows->n_rows++;
}

void import_rows_malformed(struct import_rows *rows, uint64_t at, const char *why)
{
        ck_assert_ptr_nonnull(why);
        if (rows->n_malformed++ > 0)
                return;
        rows->first_malformed_at = at;
        rows->first_malformed_why = why;
}

void import_rows_left_out(struct import_rows *rows, const char *kind, uint64_t n)
{
        size_t i = 0;

        while (i < rows->n_left_out && strcmp(rows->left_out[i].kind, kind) != 0)
                i++;
        ck_assert_uint_lt(i, sizeof(rows->left_out) / sizeof(rows->left_out[0]));
        if (i == rows->n_left_out) {
                char *copy = strdup(kind);

                ck_assert_ptr_nonnull(copy);
                rows->left_out[rows->n_left_out++] = (struct fake_left_out){ .kind = copy };
        }
        rows->left_out[i].n += n;
}

void import_rows_dropped(struct import_rows *rows, uint64_t n)
{
        rows->n_dropped += n;
}

void import_rows_cut(struct import_rows *rows, uint64_t at)
{
        rows->is_cut = true;
        rows->cut_at = at;
}

/* ------------------------------------------------------------------ what a test asks */

void fake_import_rows_init(struct import_rows *rows)
{
        *rows = (struct import_rows){ .format = NULL };
        intern_init(&rows->strings, 0, 0);
        import_namesakes_init(&rows->namesakes);
}

void fake_import_rows_deinit(struct import_rows *rows)
{
        intern_deinit(&rows->strings);
        import_namesakes_deinit(&rows->namesakes);
        free(rows->clocks);
        free(rows->readings);
        free(rows->tracks);
        free(rows->spans);
        free(rows->values);
        free(rows->instants);
        for (size_t i = 0; i < rows->n_left_out; i++)
                free((void *)(uintptr_t)rows->left_out[i].kind);
}

const char *fake_import_rows_text(const struct import_rows *rows, uint32_t string)
{
        static char texts[4][TEXT_BYTES];
        static unsigned which;
        char *text = texts[which++ % 4];
        size_t n_bytes = 0;
        const void *bytes;

        if (string == 0)
                return "";
        bytes = intern_get(&rows->strings, string, &n_bytes);
        if (n_bytes >= TEXT_BYTES)
                n_bytes = TEXT_BYTES - 1;
        memcpy(text, bytes, n_bytes);
        text[n_bytes] = '\0';
        return text;
}

static void add_path(const struct import_rows *rows, uint32_t id, struct byte_buffer *path)
{
        const struct fake_import_track *track = &rows->tracks[id - 1];

        if (track->parent) {
                add_path(rows, track->parent, path);
                byte_buffer_add_u8(path, '/');
        }
        if (track->name)
                byte_buffer_add_format(path, "%s", fake_import_rows_text(rows, track->name));
        else if (track->has_number)
                byte_buffer_add_format(path, "%s %llu", track_words[track->kind],
                                       (unsigned long long)track->number);
        else
                byte_buffer_add_format(path, "%s", track_words[track->kind]);
}

uint32_t fake_import_rows_find_track(const struct import_rows *rows, const char *path)
{
        struct byte_buffer b = { .data = NULL };
        uint32_t found = 0;

        for (uint32_t id = 1; id <= rows->n_tracks && !found; id++) {
                byte_buffer_clear(&b);
                add_path(rows, id, &b);
                if (b.used_bytes == strlen(path) && memcmp(b.data, path, b.used_bytes) == 0)
                        found = id;
        }
        byte_buffer_deinit(&b);
        return found;
}

/* The id of a string; UINT32_MAX, which no row has, if there is none. */
static uint32_t find_string(const struct import_rows *rows, const char *name)
{
        uint32_t id = intern_find(&rows->strings, name, strlen(name));

        return id || *name == '\0' ? id : UINT32_MAX;
}

struct match {
        uint32_t track, name; /* 0, UINT32_MAX - 1: any */
};

#define ANY_NAME (UINT32_MAX - 1)

static struct match match_of(const struct import_rows *rows, uint32_t track, const char *name)
{
        return (struct match){ .track = track, .name = name ? find_string(rows, name) : ANY_NAME };
}

static bool matches(struct match m, uint32_t track, uint32_t name)
{
        return (m.track == 0 || m.track == track) && (m.name == ANY_NAME || m.name == name);
}

const struct import_span *fake_import_rows_span(const struct import_rows *rows, uint32_t track,
                                                const char *name, uint64_t nth)
{
        struct match m = match_of(rows, track, name);

        for (size_t i = 0; i < rows->n_spans; i++)
                if (matches(m, rows->spans[i].track, rows->spans[i].name) && nth-- == 0)
                        return &rows->spans[i];
        return NULL;
}

const struct import_value *fake_import_rows_value(const struct import_rows *rows, uint32_t track,
                                                  const char *name, uint64_t nth)
{
        struct match m = match_of(rows, track, name);

        for (size_t i = 0; i < rows->n_values; i++)
                if (matches(m, rows->values[i].track, rows->values[i].name) && nth-- == 0)
                        return &rows->values[i];
        return NULL;
}

const struct import_instant *fake_import_rows_instant(const struct import_rows *rows, uint32_t track,
                                                      const char *name, uint64_t nth)
{
        struct match m = match_of(rows, track, name);

        for (size_t i = 0; i < rows->n_instants; i++)
                if (matches(m, rows->instants[i].track, rows->instants[i].name) && nth-- == 0)
                        return &rows->instants[i];
        return NULL;
}

uint64_t fake_import_rows_count_spans(const struct import_rows *rows, uint32_t track, const char *name)
{
        struct match m = match_of(rows, track, name);
        uint64_t n = 0;

        for (size_t i = 0; i < rows->n_spans; i++)
                n += matches(m, rows->spans[i].track, rows->spans[i].name);
        return n;
}

uint64_t fake_import_rows_sum_spans(const struct import_rows *rows, uint32_t track, const char *name)
{
        struct match m = match_of(rows, track, name);
        uint64_t sum = 0;

        for (size_t i = 0; i < rows->n_spans; i++)
                if (matches(m, rows->spans[i].track, rows->spans[i].name))
                        sum += rows->spans[i].end - rows->spans[i].begin;
        return sum;
}

uint64_t fake_import_rows_count_values(const struct import_rows *rows, uint32_t track, const char *name)
{
        struct match m = match_of(rows, track, name);
        uint64_t n = 0;

        for (size_t i = 0; i < rows->n_values; i++)
                n += matches(m, rows->values[i].track, rows->values[i].name);
        return n;
}

uint64_t fake_import_rows_count_instants(const struct import_rows *rows, uint32_t track, const char *name)
{
        struct match m = match_of(rows, track, name);
        uint64_t n = 0;

        for (size_t i = 0; i < rows->n_instants; i++)
                n += matches(m, rows->instants[i].track, rows->instants[i].name);
        return n;
}

uint64_t fake_import_rows_left_out(const struct import_rows *rows, const char *kind)
{
        for (size_t i = 0; i < rows->n_left_out; i++)
                if (strcmp(rows->left_out[i].kind, kind) == 0)
                        return rows->left_out[i].n;
        return 0;
}

/* ------------------------------------------------------------------ all as text */

struct lines {
        const struct import_rows *rows;
        struct byte_buffer text; /* lines end with NUL */
        size_t *begins;
        size_t n, capacity;
};

static void begin_line(struct lines *lines, const char *what)
{
        ck_assert_int_eq(array_reserve(&lines->begins, &lines->capacity, lines->n + 1, sizeof(size_t)), 0);
        lines->begins[lines->n++] = lines->text.used_bytes;
        byte_buffer_add(&lines->text, what, strlen(what));
}

static void add_quoted(struct lines *lines, const char *label, uint32_t string)
{
        size_t n_bytes = 0;
        const uint8_t *bytes = string ? intern_get(&lines->rows->strings, string, &n_bytes) : NULL;

        if (!string)
                return;
        byte_buffer_add_format(&lines->text, " %s=\"", label);
        for (size_t i = 0; i < n_bytes; i++)
                if (bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\')
                        byte_buffer_add_format(&lines->text, "\\x%02x", bytes[i]);
                else
                        byte_buffer_add_u8(&lines->text, bytes[i]);
        byte_buffer_add_u8(&lines->text, '"');
}

static void add_number(struct lines *lines, const char *label, uint64_t number)
{
        byte_buffer_add_format(&lines->text, " %s=%llu", label, (unsigned long long)number);
}

static void add_track(struct lines *lines, uint32_t track)
{
        byte_buffer_add_u8(&lines->text, ' ');
        add_path(lines->rows, track, &lines->text);
}

static void add_key(struct lines *lines, struct import_key key)
{
        if (!key.kind)
                return;
        add_quoted(lines, "key", key.kind);
        add_number(lines, "is", key.value);
}

static void end_line(struct lines *lines)
{
        byte_buffer_add_u8(&lines->text, '\0');
}

static void add_clocks_and_tracks(struct lines *lines)
{
        const struct import_rows *rows = lines->rows;

        for (size_t i = 0; i < rows->n_clocks; i++) {
                begin_line(lines, "clock ");
                byte_buffer_add_format(&lines->text, "%s period=%g", clock_words[rows->clocks[i].kind],
                                       rows->clocks[i].period_ns);
                add_quoted(lines, "name", rows->clocks[i].name);
                end_line(lines);
        }
        for (size_t i = 0; i < rows->n_readings; i++) {
                const struct import_reading *reading = &rows->readings[i];

                begin_line(lines, "reading ");
                byte_buffer_add_format(&lines->text, "%s", clock_words[reading->host]);
                add_quoted(lines, "clock", rows->clocks[reading->clock - 1].name);
                add_number(lines, "ticks", reading->ticks);
                add_number(lines, "begin", reading->host_begin);
                add_number(lines, "end", reading->host_end);
                add_number(lines, "epoch", reading->epoch);
                end_line(lines);
        }
        for (uint32_t id = 1; id <= rows->n_tracks; id++) {
                begin_line(lines, "track");
                add_track(lines, id);
                byte_buffer_add_format(&lines->text, " kind=%s", track_words[rows->tracks[id - 1].kind]);
                if (rows->tracks[id - 1].has_number)
                        add_number(lines, "number", rows->tracks[id - 1].number);
                add_quoted(lines, "clock", rows->clocks[rows->tracks[id - 1].clock - 1].name);
                end_line(lines);
        }
}

static void add_spans(struct lines *lines)
{
        const struct import_rows *rows = lines->rows;

        for (size_t i = 0; i < rows->n_spans; i++) {
                const struct import_span *span = &rows->spans[i];

                begin_line(lines, "span");
                add_track(lines, span->track);
                add_quoted(lines, "name", span->name);
                add_quoted(lines, "file", span->file);
                if (span->line)
                        add_number(lines, "line", span->line);
                add_number(lines, "begin", span->begin);
                add_number(lines, "end", span->end);
                add_key(lines, span->key);
                add_quoted(lines, "text", span->text);
                end_line(lines);
        }
}

static void add_values_and_instants(struct lines *lines)
{
        static const char *const kinds[] = { "double", "signed", "unsigned" };
        const struct import_rows *rows = lines->rows;

        for (size_t i = 0; i < rows->n_values; i++) {
                const struct import_value *value = &rows->values[i];

                begin_line(lines, "value");
                add_track(lines, value->track);
                add_quoted(lines, "name", value->name);
                add_quoted(lines, "unit", value->unit);
                add_number(lines, "time", value->time);
                add_number(lines, kinds[value->kind], value->bits);
                end_line(lines);
        }
        for (size_t i = 0; i < rows->n_instants; i++) {
                const struct import_instant *instant = &rows->instants[i];

                begin_line(lines, "instant");
                add_track(lines, instant->track);
                add_quoted(lines, "name", instant->name);
                add_number(lines, "time", instant->time);
                add_key(lines, instant->key);
                if (instant->flow != 0)
                        add_number(lines, "flow", instant->flow);
                add_quoted(lines, "text", instant->text);
                end_line(lines);
        }
}

static void add_counts(struct lines *lines)
{
        const struct import_rows *rows = lines->rows;

        begin_line(lines, "file");
        add_number(lines, "malformed", rows->n_malformed);
        add_number(lines, "dropped", rows->n_dropped);
        add_number(lines, "cut", rows->is_cut);
        end_line(lines);
        for (size_t i = 0; i < rows->n_left_out; i++) {
                begin_line(lines, "left out ");
                byte_buffer_add_format(&lines->text, "%s", rows->left_out[i].kind);
                add_number(lines, "n", rows->left_out[i].n);
                end_line(lines);
        }
}

static int compare_lines(const void *a, const void *b, void *text)
{
        const char *bytes = text;

        return strcmp(bytes + *(const size_t *)a, bytes + *(const size_t *)b);
}

void fake_import_rows_dump(const struct import_rows *rows, struct byte_buffer *text)
{
        struct lines lines = { .rows = rows };

        add_counts(&lines);
        add_clocks_and_tracks(&lines);
        add_spans(&lines);
        add_values_and_instants(&lines);
        ck_assert(!lines.text.failed);
        qsort_r(lines.begins, lines.n, sizeof(size_t), compare_lines, lines.text.data);
        for (size_t i = 0; i < lines.n; i++)
                byte_buffer_add_format(text, "%s\n", (const char *)lines.text.data + lines.begins[i]);
        byte_buffer_deinit(&lines.text);
        free(lines.begins);
}

/* ------------------------------------------------------------------ files */

int fake_import_rows_read_path(struct import_rows *rows, const struct fake_import_reader *reader,
                               const char *path, struct error *err)
{
        struct import_source *source;
        struct text_view head;
        int r;

        fake_import_rows_init(rows);
        ck_assert_int_eq(import_source_open(&source, path, err), 0);
        ck_assert_int_eq(import_source_head(source, &head, err), 0);
        r = reader->recognise(head) ? reader->read(source, rows, err) : -EINVAL;
        import_source_close(source);
        return r;
}

int fake_import_rows_read_bytes(struct import_rows *rows, const struct fake_import_reader *reader,
                                const void *bytes, size_t n_bytes, struct error *err)
{
        int fd = memfd_create("text", MFD_CLOEXEC), r;
        char path[64];

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, n_bytes), (ssize_t)n_bytes);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = fake_import_rows_read_path(rows, reader, path, err);
        ck_assert_int_eq(close(fd), 0);
        return r;
}

int fake_import_rows_read_text(struct import_rows *rows, const struct fake_import_reader *reader,
                               const char *text, struct error *err)
{
        return fake_import_rows_read_bytes(rows, reader, text, strlen(text), err);
}
