/* SPDX-License-Identifier: MIT */
#include "import/import_tt_device.h"

#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "format/tt_run_key.h"
#include "import/import_rows.h"
#include "import/import_source.h"
#include "import/import_tt_cells.h"
#include "import/import_tt_files.h"
#include "import/import_tt_header.h"
#include "import/import_tt_sync.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHIPS_MAX       (UINT32_C(1) << 12)
#define NAME_BYTES_MAX  (UINT32_C(64) << 20) /* of all distinct names */
#define NEO             "QUASAR_NEO"
#define PLACE_BYTES_MAX 128 /* of the cells that name a lane */

struct open_zone {
        uint64_t begin, key;
        uint32_t name; /* in `names` */
        uint32_t string, file, line, text;
};

struct lane {
        uint32_t track;
        uint64_t chip;
        struct open_zone *open; /* heap; the innermost last */
        size_t n_open, capacity;
};

struct chip {
        uint32_t track, clock;
};

struct lane_key {
        uint32_t core, processor; /* in `cores`, `names` */
};

struct core_key {
        uint64_t chip, x, y;
};

/* What a NEO processor runs on is a chip of its own here: its clock is another one. */
struct chip_key {
        uint64_t number, is_neo;
};

struct reader {
        struct import_source *source;
        struct import_rows *rows;
        struct error *err; /* never NULL */
        struct import_tt_header header;
        struct import_tt_sync sync;
        struct import_tt_row row;

        struct intern chip_keys, core_keys, lane_keys, names;
        struct chip *chips; /* by id in chip_keys, as all below */
        uint32_t *core_tracks;
        struct lane *lanes;
        uint32_t *strings; /* of `names`: the ids of import_rows; 0 = not asked yet */
        size_t chips_capacity, cores_capacity, lanes_capacity, strings_capacity;

        char place[PLACE_BYTES_MAX]; /* the first cells of the last row, which name its lane */
        size_t place_bytes;
        uint32_t lane; /* of the last row */

        uint32_t key_kind, cycles; /* strings; 0 = not asked yet */
        size_t n_open;
        uint64_t n_begins_lost, n_ends_lost;
        uint64_t short_row; /* a row with too few cells: if it is the last one, the file is cut */
};

static int refuse(struct reader *r, const char *why)
{
        import_rows_malformed(r->rows, import_source_line(r->source), why);
        return 0;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* The id in `names`, and the string for import_rows.  Names without end have the id 0 and no string. */
static int find_name(struct reader *r, struct text_view text, uint32_t *ret_id, uint32_t *ret_string)
{
        uint32_t id;
        int code;

        text = import_tt_trim(text);
        *ret_id = *ret_string = 0;
        if (text.n_bytes == 0)
                return 0;
        code = intern_add(&r->names, text.bytes, text.n_bytes, &id);
        if (code == -EOVERFLOW) {
                import_rows_left_out(r->rows, "names beyond the first million", 1);
                return 0;
        }
        if (code == 1)
                code = array_extend(&r->strings, &r->strings_capacity, id - 1, id, sizeof(*r->strings));
        if (code < 0)
                return error_set(r->err, code, "out of memory for the names of zones");
        if (r->strings[id - 1] == 0) {
                code = import_rows_string(r->rows, text, &r->strings[id - 1], r->err);
                if (code < 0)
                        return code;
        }
        *ret_id = id;
        *ret_string = r->strings[id - 1];
        return 0;
}

static int find_word(struct reader *r, const char *word, uint32_t *string)
{
        if (*string != 0)
                return 0;
        return import_rows_string(r->rows, (struct text_view){ word, strlen(word) }, string, r->err);
}

static int find_key(struct reader *r, uint64_t value, struct import_key *ret_key)
{
        int code = value != 0 ? find_word(r, TT_RUN_KEY_KIND, &r->key_kind) : 0;

        *ret_key = (struct import_key){ .kind = value != 0 ? r->key_kind : 0, .value = value };
        return code;
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

static int add_clock(struct reader *r, const struct chip_key *key, uint32_t *ret_clock)
{
        char name[128];
        double mhz = key->is_neo ? IMPORT_TT_NEO_CLOCK_MHZ : r->header.mhz;
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN, .period_ns = mhz > 0 ? 1000 / mhz : 0 };
        uint64_t root = 0;
        int n, code;

        if (key->is_neo)
                n = snprintf(name, sizeof(name), "chip %" PRIu64 " NEO", key->number);
        else if (import_tt_sync_find(&r->sync, key->number, &root) == IMPORT_TT_THROUGH)
                n = snprintf(name, sizeof(name), "chip %" PRIu64 ", by the clock of chip %" PRIu64,
                             key->number, root);
        else
                n = snprintf(name, sizeof(name), "chip %" PRIu64, key->number);
        clock.name = (struct text_view){ name, (size_t)n };
        code = import_rows_clock(r->rows, &clock, ret_clock, r->err);
        if (code == 0 && !key->is_neo)
                code = import_tt_sync_give(&r->sync, key->number, *ret_clock, r->rows, r->err);
        return code;
}

static int find_chip(struct reader *r, const struct chip_key *key, struct chip *ret_chip)
{
        char name[128];
        struct import_track track = { .kind = IMPORT_TRACK_DEVICE,
                                      .number = key->number,
                                      .has_number = true };
        uint32_t id;
        int n, code = intern_add_row(&r->chip_keys, key, &r->chips, &r->chips_capacity, sizeof(*r->chips),
                                     &id);

        if (code < 0)
                return code;
        if (r->chips[id - 1].track == 0) {
                code = add_clock(r, key, &r->chips[id - 1].clock);
                if (code < 0)
                        return code;
                n = snprintf(name, sizeof(name), "chip %" PRIu64 "%s%s%s", key->number,
                             r->header.chip[0] ? ", " : "", r->header.chip, key->is_neo ? ", NEO" : "");
                track.name = (struct text_view){ name, (size_t)n };
                track.clock = r->chips[id - 1].clock;
                code = import_rows_track(r->rows, &track, &r->chips[id - 1].track, r->err);
                if (code < 0)
                        return code;
        }
        *ret_chip = r->chips[id - 1];
        return 0;
}

static int find_core(struct reader *r, const struct core_key *key, const struct chip *chip,
                     uint32_t *ret_core)
{
        char name[64];
        struct import_track track = { .kind = IMPORT_TRACK_CORE,
                                      .parent = chip->track,
                                      .clock = chip->clock };
        int n, code = intern_add_row(&r->core_keys, key, &r->core_tracks, &r->cores_capacity,
                                     sizeof(*r->core_tracks), ret_core);

        if (code < 0 || r->core_tracks[*ret_core - 1] != 0)
                return code < 0 ? code : 0;
        n = snprintf(name, sizeof(name), "core %" PRIu64 ",%" PRIu64, key->x, key->y);
        track.name = (struct text_view){ name, (size_t)n };
        return import_rows_track(r->rows, &track, &r->core_tracks[*ret_core - 1], r->err);
}

static int add_lane(struct reader *r, const struct core_key *core, struct text_view processor,
                    uint32_t *ret_lane)
{
        bool is_neo = text_view_begins_with(processor, NEO);
        struct chip_key chip_key = { .number = core->chip, .is_neo = is_neo };
        struct core_key core_key = *core;
        struct lane_key lane_key;
        struct import_track track = { .kind = IMPORT_TRACK_PROCESSOR, .name = processor };
        struct chip chip;
        uint32_t string;
        int code = find_chip(r, &chip_key, &chip);

        /* The core of a NEO processor lies below the chip with the NEO's clock. */
        core_key.chip = core->chip ^ (is_neo ? UINT64_C(1) << 63 : 0);
        if (code == 0)
                code = find_core(r, &core_key, &chip, &lane_key.core);
        if (code == 0)
                code = find_name(r, processor, &lane_key.processor, &string);
        if (code == 0)
                code = intern_add_row(&r->lane_keys, &lane_key, &r->lanes, &r->lanes_capacity,
                                      sizeof(*r->lanes), ret_lane);
        if (code < 0 || r->lanes[*ret_lane - 1].track != 0)
                return code < 0 ? code : 0;
        r->lanes[*ret_lane - 1].chip = core->chip;
        track.parent = r->core_tracks[lane_key.core - 1];
        track.clock = chip.clock;
        return import_rows_track(r->rows, &track, &r->lanes[*ret_lane - 1].track, r->err);
}

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
        struct core_key core;
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
        code = add_lane(r, &core, import_tt_trim(cells[TT_PROCESSOR]), ret_lane);
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

/* ---- rows ---------------------------------------------------------------------------------------------- */

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
static void drop_outermost(struct reader *r, struct lane *lane)
{
        r->n_ends_lost++;
        r->n_open--;
        memmove(lane->open, lane->open + 1, --lane->n_open * sizeof(*lane->open));
}

static int begin_zone(struct reader *r, struct lane *lane, uint64_t time, uint64_t key)
{
        struct open_zone zone = { .begin = time, .key = key };
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
        code = find_name(r, r->row.cells[TT_NAME], &zone.name, &zone.string);
        if (code == 0)
                code = find_name(r, r->row.cells[TT_FILE], &file_id, &zone.file);
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

static int end_zone(struct reader *r, struct lane *lane, uint64_t time, uint64_t key)
{
        struct import_span span = { .track = lane->track, .end = time };
        const struct open_zone *zone;
        size_t at = lane->n_open;
        uint32_t name, string;
        int code = find_name(r, r->row.cells[TT_NAME], &name, &string);

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
        code = find_key(r, zone->key != 0 ? zone->key : key, &span.key);
        return code < 0 ? code : import_rows_span(r->rows, &span, r->err);
}

static int add_total(struct reader *r, const struct lane *lane, uint64_t time)
{
        struct import_value value = { .track = lane->track, .time = time, .kind = IMPORT_VALUE_UNSIGNED };
        uint32_t id;
        int code;

        if (!import_tt_number(r->row.cells[TT_DATA], &value.bits))
                return refuse(r, "the sum has no number");
        code = find_name(r, r->row.cells[TT_NAME], &id, &value.name);
        if (code == 0)
                code = find_word(r, "cycles", &r->cycles);
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
static int add_instant(struct reader *r, const struct lane *lane, uint64_t time, uint64_t key,
                       struct text_view name)
{
        struct import_instant instant = { .track = lane->track, .time = time };
        struct text_view own = import_tt_trim(r->row.cells[TT_NAME]);
        uint32_t id;
        int code = find_name(r, own.n_bytes > 0 ? own : name, &id, &instant.name);

        if (code == 0)
                code = describe_data(r, &instant.text);
        if (code == 0)
                code = find_key(r, key, &instant.key);
        return code < 0 ? code : import_rows_instant(r->rows, &instant, r->err);
}

/* Logs of the first version have times, and a number where in the program each was taken. */
static int add_timer(struct reader *r, const struct lane *lane, uint64_t time)
{
        struct text_view timer = import_tt_trim(r->row.cells[TT_TIMER]);
        char name[32];
        uint64_t number;

        if (!import_tt_number(timer, &number))
                return refuse(r, "the timer has no number");
        return add_instant(
                r, lane, time, 0,
                (struct text_view){ name, (size_t)snprintf(name, sizeof(name), "timer %" PRIu64, number) });
}

static int take_event(struct reader *r, struct lane *lane, uint64_t time)
{
        struct text_view type = import_tt_trim(r->row.cells[TT_TYPE]);
        uint64_t key;

        if (!r->header.has[TT_TYPE])
                return add_timer(r, lane, time);
        if (!read_key(r, lane->chip, &key))
                return refuse(r, "the run host ID or the trace id is no number");
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
                return refuse(r, "the time is no number of 64 bits");
        return take_event(r, &r->lanes[lane - 1], time);
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

static void init(struct reader *r)
{
        intern_init(&r->chip_keys, sizeof(struct chip_key), CHIPS_MAX);
        intern_init(&r->core_keys, sizeof(struct core_key), IMPORT_TT_LANES_MAX);
        intern_init(&r->lane_keys, sizeof(struct lane_key), IMPORT_TT_LANES_MAX);
        intern_init(&r->names, 0, IMPORT_TT_NAMES_MAX);
        r->names.items_bytes_max = NAME_BYTES_MAX;
}

static void deinit(struct reader *r)
{
        for (uint32_t i = 0; i < r->lane_keys.n_items && i < r->lanes_capacity; i++)
                free(r->lanes[i].open);
        intern_deinit(&r->chip_keys);
        intern_deinit(&r->core_keys);
        intern_deinit(&r->lane_keys);
        intern_deinit(&r->names);
        free(r->chips);
        free(r->core_tracks);
        free(r->lanes);
        free(r->strings);
        import_tt_sync_deinit(&r->sync);
}

/* @sync_path: NULL = there are no readings of the clocks */
static int read_log(struct import_source *source, const char *sync_path, struct import_rows *rows,
                    struct error *err)
{
        struct error own = ERROR_NONE; /* with a code: import_rows or the source failed */
        struct reader r = { .source = source, .rows = rows, .err = &own };
        struct import_source *sync_source = NULL;
        struct text_view line;
        int code;

        init(&r);
        code = read_header(&r);
        if (code == 0 && sync_path) {
                code = import_source_open(&sync_source, sync_path, r.err);
                if (code == 0)
                        code = import_tt_sync_read(&r.sync, sync_source, rows, r.err);
                if (sync_source)
                        import_source_close(sync_source);
        }
        while (code == 0 && (code = import_source_next_line(source, &line, r.err)) == 1)
                code = take_line(&r, line);
        if (code == 0)
                say_losses(&r);
        deinit(&r);
        if (code < 0 && err)
                *err = own;
        return code;
}

bool import_tt_device_recognise(struct text_view head)
{
        struct text_view line = import_tt_cut(&head, '\n');

        if (!import_tt_header_is_first(line))
                return false;
        /* Nothing after it: a log that is cut there. */
        return head.n_bytes == 0 || text_view_begins_with(import_tt_trim(head), "PCIe slot");
}

int import_tt_device_read(struct import_source *source, struct import_rows *rows, struct error *err)
{
        char *sync_path = NULL;
        int code = import_tt_files_find_sync(import_source_path(source), &sync_path);

        if (code < 0)
                return error_set(err, code, "out of memory");
        code = read_log(source, sync_path, rows, err);
        free(sync_path);
        return code;
}
