/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_log.h"

#include "base/array.h"
#include "base/error.h"
#include "format/tt_run_key.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"
#include "import/tt/import_tt_cells.h"
#include "import/tt/import_tt_device.h"
#include "import/tt/import_tt_header.h"
#include "import/tt/import_tt_tracks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACE_BYTES_MAX 128 /* of the cells that name a lane */

struct reader {
        struct import_source *source;
        struct import_rows *rows;
        struct error *err; /* never NULL */
        struct import_tt_tracks *tracks;
        struct import_tt_header header;
        struct import_tt_row row;

        char place[PLACE_BYTES_MAX]; /* the first cells of the last row, which name its lane */
        size_t place_bytes;
        uint32_t lane; /* of the last row; 0 = not known */

        uint32_t cycles; /* string; 0 = not asked yet */
        size_t n_open;
        uint64_t n_begins_lost, n_ends_lost;
        uint64_t short_row; /* a row with too few cells: if it is the last one, the file is cut */
};

static int refuse(struct reader *r, const char *why)
{
        import_rows_malformed(r->rows, import_source_line(r->source), why);
        return 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/*
 * The lane of the row.  Returns 1, or 0 for a row that names none.  The rows of a lane follow each other, and
 * its cells come first in all versions: most rows need but look whether they begin as the one before.
 */
static int find_lane(struct reader *r, struct text_view line, uint32_t *ret_lane)
{
        const struct text_view *cells = r->row.cells;
        const char *end = cells[TT_PROCESSOR].bytes + cells[TT_PROCESSOR].n_bytes;
        size_t place_bytes = (size_t)(end - line.bytes);
        bool is_usual = r->header.columns[TT_PROCESSOR] == TT_PROCESSOR && place_bytes <= sizeof(r->place);
        struct import_tt_core core;
        int code;

        if (is_usual && r->lane != 0 && place_bytes == r->place_bytes &&
            memcmp(r->place, line.bytes, place_bytes) == 0) {
                *ret_lane = r->lane;
                return 1;
        }
        if (!import_tt_number(cells[TT_CHIP], &core.chip) || core.chip > INT64_MAX ||
            !import_tt_number(cells[TT_CORE_X], &core.x) || !import_tt_number(cells[TT_CORE_Y], &core.y))
                return refuse(r, "the numbers of chip and core cannot be read");
        if (import_tt_trim(cells[TT_PROCESSOR]).n_bytes == 0)
                return refuse(r, "the processor has no name");
        code = import_tt_tracks_find_lane(r->tracks, &core, import_tt_trim(cells[TT_PROCESSOR]), ret_lane);
        if (code == -EOVERFLOW && r->err->code == 0) {
                import_rows_left_out(r->rows, "rows of processors beyond the first 262144", 1);
                return 0;
        }
        if (code < 0)
                return r->err->code != 0 ? code : error_set(r->err, code, "out of memory for tracks");
        r->lane = 0;
        if (is_usual) {
                memcpy(r->place, line.bytes, place_bytes);
                r->place_bytes = place_bytes;
                r->lane = *ret_lane;
        }
        return 1;
}

/* Numbers that a row may leave empty. */
static bool read_optional(struct text_view cell, uint64_t empty, uint64_t *ret_number)
{
        cell = import_tt_trim(cell);
        *ret_number = empty;
        return cell.n_bytes == 0 || import_tt_number(cell, ret_number);
}

static bool read_key(struct reader *r, uint64_t chip, uint64_t *ret_key)
{
        struct tt_run run = { .chip = chip };

        if (!read_optional(r->row.cells[TT_RUN_HOST_ID], 0, &run.run_host_id) ||
            !read_optional(r->row.cells[TT_TRACE], TT_RUN_NONE, &run.trace) ||
            !read_optional(r->row.cells[TT_REPLAY], TT_RUN_NONE, &run.replay))
                return false;
        *ret_key = tt_run_key_encode(&run);
        return true;
}

/* Zones that lost their end are let go from below, so that those above still find theirs. */
static void drop_outermost(struct reader *r, struct import_tt_lane *lane)
{
        r->n_ends_lost++;
        r->n_open--;
        memmove(lane->open, lane->open + 1, --lane->n_open * sizeof(*lane->open));
}

static int begin_zone(struct reader *r, struct import_tt_lane *lane, uint64_t time, uint64_t key)
{
        struct import_tt_zone zone = { .begin = time, .key = key };
        struct text_view meta = import_tt_trim(r->row.cells[TT_META]);
        uint32_t file_id;
        uint64_t source_line;
        int code;

        if (lane->n_open >= IMPORT_TT_LANE_OPEN_MAX)
                drop_outermost(r, lane);
        if (r->n_open >= IMPORT_TT_OPEN_MAX) {
                import_rows_left_out(r->rows, "zones beyond a million that are open at once", 1);
                return 0;
        }
        code = import_tt_tracks_find_name(r->tracks, r->row.cells[TT_NAME], &zone.name, &zone.string);
        if (code == 0)
                code = import_tt_tracks_find_name(r->tracks, r->row.cells[TT_FILE], &file_id, &zone.file);
        if (code == 0 && meta.n_bytes > 0)
                code = import_rows_string(r->rows, meta, &zone.text, r->err);
        if (code < 0)
                return code;
        if (import_tt_number(r->row.cells[TT_LINE], &source_line) && source_line <= UINT32_MAX)
                zone.line = (uint32_t)source_line;
        code = array_reserve(&lane->open, &lane->capacity, lane->n_open + 1, sizeof(*lane->open));
        if (code < 0)
                return error_set(r->err, code, "out of memory for zones that are open");
        lane->open[lane->n_open++] = zone;
        r->n_open++;
        return 0;
}

static int end_zone(struct reader *r, struct import_tt_lane *lane, uint64_t time, uint64_t key)
{
        struct import_span span = { .track = lane->track, .end = time };
        const struct import_tt_zone *zone;
        size_t at = lane->n_open;
        uint32_t name, string;
        int code = import_tt_tracks_find_name(r->tracks, r->row.cells[TT_NAME], &name, &string);

        if (code < 0)
                return code;
        while (at > 0 && lane->open[at - 1].name != name)
                at--;
        if (at == 0) {
                r->n_begins_lost++;
                return 0;
        }
        r->n_ends_lost += lane->n_open - at;
        r->n_open -= lane->n_open - at + 1;
        lane->n_open = at - 1;
        zone = &lane->open[at - 1];
        if (zone->begin > time) {
                r->n_ends_lost++;
                return refuse(r, "the zone ends before it begins");
        }
        span.begin = zone->begin;
        span.name = zone->string;
        span.file = zone->file;
        span.line = zone->line;
        span.text = zone->text;
        code = import_tt_tracks_find_key(r->tracks, zone->key != 0 ? zone->key : key, &span.key);
        return code < 0 ? code : import_rows_span(r->rows, &span, r->err);
}

static int add_total(struct reader *r, const struct import_tt_lane *lane, uint64_t time)
{
        struct import_value value = { .track = lane->track, .time = time, .kind = IMPORT_VALUE_UNSIGNED };
        uint32_t id;
        int code;

        if (!import_tt_number(r->row.cells[TT_DATA], &value.bits))
                return refuse(r, "the sum has no number");
        code = import_tt_tracks_find_name(r->tracks, r->row.cells[TT_NAME], &id, &value.name);
        if (code == 0)
                code = import_tt_tracks_find_word(r->tracks, "cycles", &r->cycles);
        value.unit = r->cycles;
        return code < 0 ? code : import_rows_value(r->rows, &value, r->err);
}

/* The text of an instant: its number and its meta data. */
static int describe_data(struct reader *r, uint32_t *ret_text)
{
        struct text_view data = import_tt_trim(r->row.cells[TT_DATA]);
        struct text_view meta = import_tt_trim(r->row.cells[TT_META]);
        char text[512];
        int n;

        *ret_text = 0;
        if (data.n_bytes > IMPORT_TT_NUMBER_BYTES_MAX)
                data.n_bytes = 0;
        /* Long meta data stands alone: it is never cut. */
        if (meta.n_bytes + data.n_bytes + 1 > sizeof(text) || data.n_bytes == 0)
                return meta.n_bytes > 0 ? import_rows_string(r->rows, meta, ret_text, r->err) : 0;
        if (meta.n_bytes == 0)
                return import_rows_string(r->rows, data, ret_text, r->err);
        memcpy(text, data.bytes, data.n_bytes);
        text[data.n_bytes] = ' ';
        memcpy(text + data.n_bytes + 1, meta.bytes, meta.n_bytes);
        n = (int)(data.n_bytes + 1 + meta.n_bytes);
        return import_rows_string(r->rows, (struct text_view){ text, (size_t)n }, ret_text, r->err);
}

/* @name: for a row without one of its own. */
static int add_instant(struct reader *r, const struct import_tt_lane *lane, uint64_t time, uint64_t key,
                       struct text_view name)
{
        struct import_instant instant = { .track = lane->track, .time = time };
        struct text_view own = import_tt_trim(r->row.cells[TT_NAME]);
        uint32_t id;
        int code = import_tt_tracks_find_name(r->tracks, own.n_bytes > 0 ? own : name, &id, &instant.name);

        if (code == 0)
                code = describe_data(r, &instant.text);
        if (code == 0)
                code = import_tt_tracks_find_key(r->tracks, key, &instant.key);
        return code < 0 ? code : import_rows_instant(r->rows, &instant, r->err);
}

/* Logs of the first version have times, and a number where in the program each was taken. */
static int add_timer(struct reader *r, const struct import_tt_lane *lane, uint64_t time)
{
        struct text_view timer = import_tt_trim(r->row.cells[TT_TIMER]);
        char name[32];
        uint64_t number;
        int n;

        if (!import_tt_number(timer, &number))
                return refuse(r, "the timer has no number");
        n = snprintf(name, sizeof(name), "timer %" PRIu64, number);
        return add_instant(r, lane, time, 0, (struct text_view){ name, (size_t)n });
}

static int take_event(struct reader *r, struct import_tt_lane *lane, uint64_t time)
{
        struct text_view type = import_tt_trim(r->row.cells[TT_TYPE]);
        uint64_t key;

        if (!r->header.has[TT_TYPE])
                return add_timer(r, lane, time);
        if (!read_key(r, lane->chip, &key))
                return refuse(r, "the run host ID or the trace id is not a number");
        if (text_view_is(type, "ZONE_START") || text_view_is(type, "begin"))
                return begin_zone(r, lane, time, key);
        if (text_view_is(type, "ZONE_END") || text_view_is(type, "end"))
                return end_zone(r, lane, time, key);
        if (text_view_is(type, "ZONE_TOTAL"))
                return add_total(r, lane, time);
        if (text_view_begins_with(type, "TS_"))
                return add_instant(r, lane, time, key, type);
        return refuse(r, "the type of the row is not known");
}

static int take_row(struct reader *r, struct text_view line)
{
        uint32_t lane;
        uint64_t time;
        int code;

        import_rows_count_row(r->rows);
        if (!import_tt_header_split(&r->header, line, &r->row)) {
                r->short_row = import_source_line(r->source);
                return 0;
        }
        code = find_lane(r, line, &lane);
        if (code <= 0)
                return code;
        if (!import_tt_number(r->row.cells[TT_TIME], &time))
                return refuse(r, "the time is not a number of 64 bits");
        return take_event(r, &r->tracks->lanes[lane - 1], time);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* Read-outs are appended; logs that were joined have their first two lines again. */
static int take_line(struct reader *r, struct text_view line)
{
        struct import_tt_header again = { .mhz = 0 };

        if (r->short_row != 0) {
                import_rows_malformed(r->rows, r->short_row,
                                      "the row has fewer cells than the log has columns");
                r->short_row = 0;
        }
        if (line.n_bytes == 0)
                return 0;
        if (line.bytes[0] == 'A' && import_tt_header_is_first(line)) {
                import_tt_header_read_chip(&again, line);
                return again.mhz == r->header.mhz ? 0 : refuse(r, "another frequency than that of line 1");
        }
        if (line.bytes[0] == 'P' && import_tt_header_read_columns(&again, line, NULL) == 0) {
                memcpy(again.chip, r->header.chip, sizeof(again.chip));
                again.mhz = r->header.mhz;
                r->header = again;
                r->row = (struct import_tt_row){ .cells = { { .bytes = NULL } } };
                r->lane = 0;
                return 0;
        }
        return take_row(r, line);
}

static int read_header(struct reader *r)
{
        struct text_view line;
        char version[128];
        int n, code = import_source_next_line(r->source, &line, r->err);

        if (code < 0)
                return code;
        if (code == 0 || !import_tt_header_is_first(line))
                return error_set(r->err, -EBADMSG, "%s: not a device log of tt-metal",
                                 import_source_path(r->source));
        import_tt_header_read_chip(&r->header, line);
        code = import_source_next_line(r->source, &line, r->err);
        if (code < 0)
                return code;
        if (code == 0)
                return error_set(r->err, -ENODATA, "%s: the device log ends after its first line",
                                 import_source_path(r->source));
        code = import_tt_header_read_columns(&r->header, line, r->err);
        if (code < 0)
                return code;
        r->tracks->mhz = r->header.mhz;
        (void)snprintf(r->tracks->chip, sizeof(r->tracks->chip), "%s", r->header.chip);
        n = snprintf(version, sizeof(version), "%u, %s, %g MHz", r->header.version, r->header.chip,
                     r->header.mhz);
        return import_rows_file(r->rows, IMPORT_TT_FORMAT, (struct text_view){ version, (size_t)n }, r->err);
}

static void say_losses(struct reader *r)
{
        uint64_t n_ends_lost = r->n_ends_lost + r->n_open;

        if (r->short_row != 0)
                import_rows_cut(r->rows, r->short_row);
        if (n_ends_lost > 0)
                import_rows_left_out(r->rows, "zones without their end", n_ends_lost);
        if (r->n_begins_lost > 0)
                import_rows_left_out(r->rows, "zones without their begin", r->n_begins_lost);
}

int import_tt_log_read(struct import_tt_tracks *tracks, struct import_source *source)
{
        struct reader r = { .source = source, .rows = tracks->rows, .err = tracks->err, .tracks = tracks };
        struct text_view line;
        int code = read_header(&r);

        while (code == 0 && (code = import_source_next_line(source, &line, r.err)) == 1)
                code = take_line(&r, line);
        if (code == 0)
                say_losses(&r);
        return code;
}

bool import_tt_log_recognise(struct text_view head)
{
        struct text_view line = import_tt_cut(&head, '\n');

        if (!import_tt_header_is_first(line))
                return false;
        /* Nothing after it: a log that is cut there. */
        return head.n_bytes == 0 || text_view_begins_with(import_tt_trim(head), "PCIe slot");
}
