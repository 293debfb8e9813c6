/* SPDX-License-Identifier: MIT */
#include "import/formats/import_csv.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/intern.h"
#include "import/file/csv_rows.h"
#include "import/file/decimal_time.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum column {
        COLUMN_NAME,
        COLUMN_BEGIN,
        COLUMN_END,
        COLUMN_DURATION,
        COLUMN_PROCESS,
        COLUMN_THREAD,
        COLUMN_THREAD_NAME,
        COLUMN_DEVICE,
        COLUMN_LANE,
        COLUMN_TRACK,
        COLUMN_CLOCK,
        COLUMN_KEY,
        COLUMN_KEY_KIND,
        COLUMN_TEXT,
        COLUMN_VALUE,
        COLUMN_UNIT,
        COLUMN_INSTANT,
        COLUMN_FILE,
        COLUMN_LINE,
        N_COLUMNS,
};

struct column_name {
        const char *name;
        bool is_time; /* may have a unit at its end */
};

static const struct column_name own_names[N_COLUMNS] = {
        [COLUMN_NAME] = { "name", false },
        [COLUMN_BEGIN] = { "begin", true },
        [COLUMN_END] = { "end", true },
        [COLUMN_DURATION] = { "duration", true },
        [COLUMN_PROCESS] = { "process", false },
        [COLUMN_THREAD] = { "thread", false },
        [COLUMN_DEVICE] = { "device", false },
        [COLUMN_LANE] = { "lane", false },
        [COLUMN_TRACK] = { "track", false },
        [COLUMN_CLOCK] = { "clock", false },
        [COLUMN_KEY] = { "key", false },
        [COLUMN_KEY_KIND] = { "key_kind", false },
        [COLUMN_TEXT] = { "text", false },
        [COLUMN_VALUE] = { "value", false },
        [COLUMN_UNIT] = { "unit", false },
        [COLUMN_INSTANT] = { "instant", false },
        [COLUMN_FILE] = { "file", false },
        [COLUMN_LINE] = { "line", false },
        [COLUMN_THREAD_NAME] = { "thread_name", false },
};

/* hyprof csv -u has the tid and the name of the thread as well. */
static const struct column_name tracy_names[N_COLUMNS] = {
        [COLUMN_NAME] = { "name", false },
        [COLUMN_BEGIN] = { "ns_since_start", false },
        [COLUMN_DURATION] = { "exec_time_ns", false },
        [COLUMN_THREAD] = { "thread", false },
        [COLUMN_VALUE] = { "value", false },
        [COLUMN_FILE] = { "src_file", false },
        [COLUMN_LINE] = { "src_line", false },
        [COLUMN_THREAD_NAME] = { "thread_name", false },
};

#define TID_NAME "tid" /* in the place of "thread" where it is there */

struct reading {
        struct import_rows *rows;
        struct csv_rows csv;
        uint8_t places[N_COLUMNS]; /* of the field + 1; 0 = there is no such column */
        uint64_t scales[N_COLUMNS];
        bool is_tracy;
        struct text_view file_name; /* what a process is called that the table does not name */

        struct intern clock_keys; /* word -> */
        uint32_t *clocks;
        size_t clocks_capacity;
        struct intern track_keys; /* all words that say where -> */
        uint32_t *tracks;
        size_t tracks_capacity;
        struct byte_buffer key;
};

/* ---- the first row ------------------------------------------------------------------------------------- */

static struct text_view trim(struct text_view text)
{
        while (text.n_bytes > 0 && (text.bytes[0] == ' ' || text.bytes[0] == '\t'))
                text = (struct text_view){ text.bytes + 1, text.n_bytes - 1 };
        while (text.n_bytes > 0 &&
               (text.bytes[text.n_bytes - 1] == ' ' || text.bytes[text.n_bytes - 1] == '\r'))
                text.n_bytes--;
        return text;
}

/* Whether a title is the name, with a unit after it for times. */
static bool is_named(struct text_view title, const struct column_name *column, uint64_t *ret_scale)
{
        static const struct {
                const char *ending;
                uint64_t ns;
        } units[] = { { "", 1 }, { "_ns", 1 }, { "_us", 1000 }, { "_ms", 1000000 }, { "_s", 1000000000 } };
        size_t n;

        title = trim(title);
        if (title.n_bytes >= 2 && title.bytes[0] == '"')
                title = (struct text_view){ title.bytes + 1, title.n_bytes - 2 };
        if (!column->name)
                return false;
        n = strlen(column->name);
        if (title.n_bytes < n || strncasecmp(title.bytes, column->name, n) != 0)
                return false;
        title = (struct text_view){ title.bytes + n, title.n_bytes - n };
        for (size_t i = 0; i < (column->is_time ? sizeof(units) / sizeof(units[0]) : 1); i++) {
                *ret_scale = units[i].ns;
                if (title.n_bytes == strlen(units[i].ending) &&
                    (title.n_bytes == 0 || strncasecmp(title.bytes, units[i].ending, title.n_bytes) == 0))
                        return true;
        }
        return false;
}

static void find_columns(struct reading *c, const struct text_view *titles, uint32_t n_titles)
{
        static const struct column_name tid = { TID_NAME, false };
        const struct column_name *names = c->is_tracy ? tracy_names : own_names;
        uint64_t scale;

        for (uint32_t i = 0; i < n_titles; i++)
                for (unsigned j = 0; j < N_COLUMNS; j++)
                        if (c->places[j] == 0 && is_named(titles[i], &names[j], &scale)) {
                                c->places[j] = (uint8_t)(i + 1);
                                c->scales[j] = scale;
                        }
        for (uint32_t i = 0; i < n_titles && c->is_tracy; i++)
                if (is_named(titles[i], &tid, &scale))
                        c->places[COLUMN_THREAD] = (uint8_t)(i + 1);
}

static bool has_needed(const struct reading *c)
{
        return c->places[COLUMN_NAME] != 0 && c->places[COLUMN_BEGIN] != 0 &&
               (c->places[COLUMN_END] != 0 || c->places[COLUMN_DURATION] != 0 ||
                c->places[COLUMN_VALUE] != 0 || c->places[COLUMN_INSTANT] != 0);
}

static bool recognise(struct text_view head, bool is_tracy)
{
        struct reading c = { .is_tracy = is_tracy };
        struct text_view fields[CSV_FIELDS_MAX];
        const char *end;

        end = head.n_bytes > 0 ? memchr(head.bytes, '\n', head.n_bytes) : NULL;
        if (end)
                head.n_bytes = (size_t)(end - head.bytes);
        find_columns(&c, fields, csv_rows_split(head, csv_rows_guess_separator(head), fields));
        return has_needed(&c);
}

bool import_csv_recognise(struct text_view head)
{
        return recognise(head, false);
}

bool import_csv_recognise_tracy(struct text_view head)
{
        return recognise(head, true);
}

/* ---- where it happened --------------------------------------------------------------------------------- */

static struct text_view field(const struct reading *c, enum column column)
{
        uint8_t place = c->places[column];
        struct text_view text;

        if (place == 0 || place > c->csv.n_fields)
                return (struct text_view){ "", 0 };
        text = trim(c->csv.fields[place - 1]);
        return text.n_bytes > 0 ? text : (struct text_view){ "", 0 };
}

static bool read_number(struct text_view text, uint64_t *ret)
{
        return decimal_time_parse(text, 1, ret) && !memchr(text.bytes, '.', text.n_bytes);
}

static int find_clock(struct reading *c, uint32_t *ret_clock, struct error *err)
{
        static const struct {
                const char *word;
                enum import_clock_kind kind;
        } kinds[] = { { "", IMPORT_CLOCK_UNKNOWN },
                      { "raw", IMPORT_CLOCK_RAW },
                      { "monotonic", IMPORT_CLOCK_MONOTONIC },
                      { "realtime", IMPORT_CLOCK_REALTIME },
                      { "boottime", IMPORT_CLOCK_BOOTTIME } };
        struct text_view word = field(c, COLUMN_CLOCK);
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN, .period_ns = 1, .name = word };
        uint32_t id;
        int r = intern_add(&c->clock_keys, word.bytes, word.n_bytes, &id);

        if (r == 1 && array_reserve(&c->clocks, &c->clocks_capacity, id, sizeof(*c->clocks)) < 0)
                r = -ENOMEM;
        if (r < 0)
                return error_set(err, r, "no memory for clocks");
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 1; i++)
                if (text_view_is(word, kinds[i].word))
                        clock.kind = kinds[i].kind;
        if (r == 1)
                r = import_rows_clock(c->rows, &clock, &c->clocks[id - 1], err);
        *ret_clock = r < 0 ? 0 : c->clocks[id - 1];
        return r;
}

/* A number is that of the track, any other word its name. */
static int add_track(struct reading *c, enum import_track_kind kind, struct text_view word, uint32_t clock,
                     uint32_t *track, struct error *err)
{
        struct import_track t = { .kind = kind, .parent = *track, .clock = clock };

        t.has_number = word.n_bytes > 0 && read_number(word, &t.number);
        if (!t.has_number)
                t.name = word;
        if (kind == IMPORT_TRACK_THREAD && t.has_number)
                t.name = field(c, COLUMN_THREAD_NAME);
        return import_rows_track(c->rows, &t, track, err);
}

static int make_track(struct reading *c, uint32_t *ret_track, struct error *err)
{
        struct text_view device = field(c, COLUMN_DEVICE), lane = field(c, COLUMN_LANE);
        struct text_view process = field(c, COLUMN_PROCESS), thread = field(c, COLUMN_THREAD);
        struct text_view track = field(c, COLUMN_TRACK);
        uint32_t clock = 0, at = 0;
        int r = find_clock(c, &clock, err);

        if (r >= 0 && (device.n_bytes == 0 || process.n_bytes != 0))
                r = add_track(c, IMPORT_TRACK_PROCESS, process.n_bytes != 0 ? process : c->file_name, clock,
                              &at, err);
        if (r >= 0 && device.n_bytes != 0) {
                r = add_track(c, IMPORT_TRACK_DEVICE, device, clock, &at, err);
                if (r >= 0 && track.n_bytes != 0)
                        r = add_track(c, IMPORT_TRACK_OTHER, track, clock, &at, err);
                if (r >= 0 && lane.n_bytes != 0)
                        r = add_track(c, IMPORT_TRACK_STREAM, lane, clock, &at, err);
        } else if (r >= 0 && (thread.n_bytes != 0 || track.n_bytes == 0)) {
                r = add_track(c, IMPORT_TRACK_THREAD, thread, clock, &at, err);
        } else if (r >= 0) {
                r = add_track(c, IMPORT_TRACK_OTHER, track, clock, &at, err);
        }
        *ret_track = at;
        return r < 0 ? r : 0;
}

static int find_track(struct reading *c, uint32_t *ret_track, struct error *err)
{
        static const enum column columns[] = { COLUMN_CLOCK,  COLUMN_PROCESS, COLUMN_THREAD,
                                               COLUMN_DEVICE, COLUMN_TRACK,   COLUMN_LANE };
        uint32_t id;
        int r;

        byte_buffer_clear(&c->key);
        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
                struct text_view word = field(c, columns[i]);

                byte_buffer_add_u64(&c->key, word.n_bytes);
                if (word.n_bytes > 0)
                        byte_buffer_add(&c->key, word.bytes, word.n_bytes);
        }
        r = c->key.failed ? -ENOMEM : intern_add(&c->track_keys, c->key.data, c->key.used_bytes, &id);
        if (r == 1 && array_reserve(&c->tracks, &c->tracks_capacity, id, sizeof(*c->tracks)) < 0)
                r = -ENOMEM;
        if (r < 0)
                return error_set(err, r, "no memory for tracks");
        if (r == 1)
                r = make_track(c, &c->tracks[id - 1], err);
        if (r == 0)
                *ret_track = c->tracks[id - 1];
        return r;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void refuse(struct reading *c, const char *why)
{
        import_rows_malformed(c->rows, c->csv.line, why);
}

static bool read_value(struct text_view text, struct import_value *value)
{
        char copy[64], *end;
        double d;

        if (read_number(text, &value->bits)) {
                value->kind = IMPORT_VALUE_UNSIGNED;
                return true;
        }
        if (text.n_bytes == 0 || text.n_bytes >= sizeof(copy))
                return false;
        memcpy(copy, text.bytes, text.n_bytes);
        copy[text.n_bytes] = '\0';
        d = strtod(copy, &end);
        memcpy(&value->bits, &d, sizeof(d));
        value->kind = IMPORT_VALUE_DOUBLE;
        return *end == '\0' && end != copy;
}

static int read_texts(struct reading *c, struct import_span *span, struct error *err)
{
        struct text_view key = field(c, COLUMN_KEY), line = field(c, COLUMN_LINE);
        struct text_view kind = field(c, COLUMN_KEY_KIND);
        uint64_t number;
        int r = import_rows_string(c->rows, field(c, COLUMN_NAME), &span->name, err);

        if (r == 0)
                r = import_rows_string(c->rows, field(c, COLUMN_FILE), &span->file, err);
        if (r == 0)
                r = import_rows_text(c->rows, field(c, c->is_tracy ? COLUMN_VALUE : COLUMN_TEXT), &span->text,
                                     err);
        if (line.n_bytes > 0 && read_number(line, &number) && number <= UINT32_MAX)
                span->line = (uint32_t)number;
        if (r < 0 || key.n_bytes == 0)
                return r;
        if (!read_number(key, &span->key.value)) {
                import_rows_left_out(c->rows, "key that is not a number", 1);
                return 0;
        }
        if (kind.n_bytes == 0)
                kind = (struct text_view){ "key", 3 };
        return import_rows_string(c->rows, kind, &span->key.kind, err);
}

static bool is_yes(struct text_view word)
{
        return word.n_bytes > 0 && word.bytes[0] != '0' && !text_view_is(word, "no") &&
               !text_view_is(word, "false");
}

static int put_value(struct reading *c, uint32_t track, uint64_t time, struct error *err)
{
        struct import_value value = { .track = track, .time = time };
        int r;

        if (!read_value(field(c, COLUMN_VALUE), &value)) {
                refuse(c, "the value is not a number");
                return 0;
        }
        r = import_rows_string(c->rows, field(c, COLUMN_NAME), &value.name, err);
        if (r == 0)
                r = import_rows_string(c->rows, field(c, COLUMN_UNIT), &value.unit, err);
        return r < 0 ? r : import_rows_value(c->rows, &value, err);
}

static int put_span(struct reading *c, struct import_span *span, bool is_instant, struct error *err)
{
        struct import_instant instant;
        int r = read_texts(c, span, err);

        if (r < 0)
                return r;
        if (!is_instant)
                return import_rows_span(c->rows, span, err);
        instant = (struct import_instant){ .track = span->track,
                                           .name = span->name,
                                           .text = span->text,
                                           .time = span->begin,
                                           .key = span->key };
        return import_rows_instant(c->rows, &instant, err);
}

/* The end of a row that has one; says what is wrong with it. */
static bool read_end(struct reading *c, struct import_span *span)
{
        struct text_view end = field(c, COLUMN_END), duration = field(c, COLUMN_DURATION);

        if (end.n_bytes > 0) {
                if (!decimal_time_parse(end, c->scales[COLUMN_END], &span->end))
                        refuse(c, "the end is not a time");
                else if (span->end < span->begin)
                        refuse(c, "it ends before it begins");
                else
                        return true;
                return false;
        }
        if (!decimal_time_parse(duration, c->scales[COLUMN_DURATION], &span->end) ||
            __builtin_add_overflow(span->begin, span->end, &span->end)) {
                refuse(c, "the duration is not a time");
                return false;
        }
        return true;
}

static int take_row(struct reading *c, struct error *err)
{
        struct import_span span = { .track = 0 };
        bool has_end = field(c, COLUMN_END).n_bytes > 0 || field(c, COLUMN_DURATION).n_bytes > 0;
        bool is_instant = is_yes(field(c, COLUMN_INSTANT));
        int r;

        import_rows_count_row(c->rows);
        if (!decimal_time_parse(field(c, COLUMN_BEGIN), c->scales[COLUMN_BEGIN], &span.begin)) {
                refuse(c, "the begin is not a time");
                return 0;
        }
        if (!has_end && !is_instant && field(c, COLUMN_VALUE).n_bytes == 0) {
                refuse(c, "it has neither end, duration nor value, and is no instant");
                return 0;
        }
        if (has_end && !is_instant && !read_end(c, &span))
                return 0;
        r = find_track(c, &span.track, err);
        if (r < 0)
                return r;
        return has_end || is_instant ? put_span(c, &span, is_instant, err)
                                     : put_value(c, span.track, span.begin, err);
}

static int take_rows(struct reading *c, struct import_source *source, struct error *err)
{
        struct text_view head;
        int r = import_source_head(source, &head, err);

        if (r < 0)
                return r;
        if (head.n_bytes > 0 && memchr(head.bytes, '\n', head.n_bytes))
                head.n_bytes = (size_t)((const char *)memchr(head.bytes, '\n', head.n_bytes) - head.bytes);
        csv_rows_init(&c->csv, source, csv_rows_guess_separator(head));
        r = csv_rows_next(&c->csv, err);
        if (r == 1)
                find_columns(c, c->csv.fields, c->csv.n_fields);
        if (r >= 0 && !has_needed(c))
                return error_set(err, -EBADMSG, "%s: its first row lacks columns",
                                 import_source_path(source));
        while (r == 1 && (r = csv_rows_next(&c->csv, err)) == 1) {
                r = take_row(c, err);
                if (r < 0)
                        return r;
                r = 1;
        }
        if (r == 2 || r == -EBADMSG) {
                import_rows_cut(c->rows, import_source_line(source));
                r = 0;
        }
        return r;
}

static int read_table(struct import_source *source, struct import_rows *rows, bool is_tracy,
                      struct error *err)
{
        const char *path = import_source_path(source), *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        struct reading c = { .rows = rows, .is_tracy = is_tracy, .file_name = { name, strlen(name) } };
        int r = import_rows_file(rows, is_tracy ? "tracy-csv" : "csv", (struct text_view){ NULL, 0 }, err);

        intern_init(&c.clock_keys, 0, 0);
        intern_init(&c.track_keys, 0, 0);
        if (r == 0)
                r = take_rows(&c, source, err);
        intern_deinit(&c.clock_keys);
        intern_deinit(&c.track_keys);
        byte_buffer_deinit(&c.key);
        csv_rows_deinit(&c.csv);
        free(c.clocks);
        free(c.tracks);
        return r;
}

int import_csv_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        return read_table(source, rows, false, err);
}

int import_csv_read_tracy(struct import_source *source, struct import_rows *rows, struct error *err)
{
        return read_table(source, rows, true, err);
}
