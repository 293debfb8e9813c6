/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_report.h"

#include "base/error.h"
#include "format/tt_run_key.h"
#include "import/file/csv_rows.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"
#include "import/tt/import_tt_cells.h"
#include "import/tt/import_tt_device.h"
#include "import/tt/import_tt_tracks.h"

#include <errno.h>
#include <math.h>

/* Operations that are too short do not tell the frequency: nanoseconds are rounded. */
#define CYCLES_TO_JUDGE 1000

enum column {
        COLUMN_NAME,
        COLUMN_TYPE,
        COLUMN_NUMBER,
        COLUMN_CHIP,
        COLUMN_ATTRIBUTES,
        COLUMN_HOST_BEGIN,
        COLUMN_HOST_END,
        COLUMN_CYCLE_BEGIN,
        COLUMN_CYCLE_END,
        COLUMN_NS,
        COLUMN_TRACE,
        COLUMN_REPLAY,
        N_COLUMNS,
};

static const struct {
        const char *name;
        enum column column;
} names[] = {
        { "OP CODE", COLUMN_NAME },
        { "OP NAME", COLUMN_NAME },
        { "OP TYPE", COLUMN_TYPE },
        { "GLOBAL CALL COUNT", COLUMN_NUMBER },
        { "DEVICE ID", COLUMN_CHIP },
        { "ATTRIBUTES", COLUMN_ATTRIBUTES },
        { "HOST START TS", COLUMN_HOST_BEGIN },
        { "HOST END TS", COLUMN_HOST_END },
        { "DEVICE FW START CYCLE", COLUMN_CYCLE_BEGIN },
        { "DEVICE FW END CYCLE", COLUMN_CYCLE_END },
        { "DEVICE FW DURATION [ns]", COLUMN_NS },
        { "METAL TRACE ID", COLUMN_TRACE },
        { "METAL TRACE REPLAY SESSION ID", COLUMN_REPLAY },
};

struct report {
        struct import_tt_tracks *tracks;
        struct csv_rows csv;
        uint32_t places[N_COLUMNS]; /* of the column in a row, from 1; 0 = there is none */
        uint32_t n_columns;
        uint32_t host; /* track; 0 = not asked yet */
        bool is_tsc;
        uint64_t n_lacking; /* operations of a chip of which it has no row */
};

static struct text_view find_cell(const struct report *p, enum column column)
{
        uint32_t place = p->places[column];

        if (place == 0 || place > p->csv.n_fields)
                return (struct text_view){ .bytes = NULL };
        return import_tt_trim(p->csv.fields[place - 1]);
}

static int refuse(struct report *p, const char *why)
{
        import_rows_malformed(p->tracks->rows, p->csv.line, why);
        return 0;
}

/* ---- the host ------------------------------------------------------------------------------------------ */

static int find_host(struct report *p)
{
        struct import_clock clock = { .kind = IMPORT_CLOCK_OWN,
                                      .period_ns = 1,
                                      .name = { "host of tt-metal", 16 } };
        struct import_track track = { .kind = IMPORT_TRACK_PROCESS, .name = { "tt-metal", 8 } };
        int r = 0;

        if (p->host != 0)
                return 0;
        p->is_tsc = p->tracks->tsc != 0 && p->tracks->sync.base_tsc > 0;
        track.clock = p->tracks->tsc;
        if (!p->is_tsc)
                r = import_rows_clock(p->tracks->rows, &clock, &track.clock, p->tracks->err);
        if (r == 0)
                r = import_rows_track(p->tracks->rows, &track, &track.parent, p->tracks->err);
        track.kind = IMPORT_TRACK_THREAD;
        track.name = (struct text_view){ "operations", 10 };
        return r < 0 ? r : import_rows_track(p->tracks->rows, &track, &p->host, p->tracks->err);
}

/* The host's times count in nanoseconds from the begin of its recording. */
static bool read_host_time(const struct report *p, enum column column, uint64_t *ret_ticks)
{
        const struct import_tt_sync *sync = &p->tracks->sync;
        uint64_t ns;
        double ticks;

        if (!import_tt_number(find_cell(p, column), &ns))
                return false;
        *ret_ticks = ns;
        if (!p->is_tsc)
                return true;
        ticks = (double)ns / sync->tsc_period_ns;
        return ticks < 9e18 && !__builtin_add_overflow(sync->base_tsc, (uint64_t)llround(ticks), ret_ticks);
}

/* Returns 1 if the host has a row of the operation, else 0 or -errno. */
static int take_host(struct report *p, const struct import_span *common)
{
        struct import_span span = *common;
        struct text_view type = find_cell(p, COLUMN_TYPE);
        struct import_instant instant = { .name = span.name, .text = span.text, .key = span.key };
        int r;

        if (find_cell(p, COLUMN_HOST_BEGIN).n_bytes == 0)
                return 0;
        r = find_host(p);
        if (r < 0)
                return r;
        if (!read_host_time(p, COLUMN_HOST_BEGIN, &span.begin))
                return refuse(p, "HOST START TS is not a number");
        span.track = instant.track = p->host;
        instant.time = span.begin;
        if (text_view_is(type, "signpost")) {
                r = import_rows_instant(p->tracks->rows, &instant, p->tracks->err);
                return r < 0 ? r : 1;
        }
        if (!read_host_time(p, COLUMN_HOST_END, &span.end) || span.end < span.begin)
                return refuse(p, "HOST END TS is not a number, or before HOST START TS");
        r = import_rows_span(p->tracks->rows, &span, p->tracks->err);
        return r < 0 ? r : 1;
}

/* ---- the chip ------------------------------------------------------------------------------------------ */

/* Without a log, the frequency is that by which the report made nanoseconds of cycles. */
static void judge_frequency(struct report *p, uint64_t cycles)
{
        uint64_t ns;

        if (p->tracks->mhz == 0 && cycles >= CYCLES_TO_JUDGE &&
            import_tt_number(find_cell(p, COLUMN_NS), &ns) && ns >= CYCLES_TO_JUDGE)
                p->tracks->mhz = rint((double)cycles * 1000 / (double)ns);
}

static int take_chip(struct report *p, const struct import_span *common, uint64_t chip)
{
        struct import_span span = *common;
        int r;

        if (find_cell(p, COLUMN_CYCLE_BEGIN).n_bytes == 0)
                return 0;
        if (!import_tt_number(find_cell(p, COLUMN_CYCLE_BEGIN), &span.begin) ||
            !import_tt_number(find_cell(p, COLUMN_CYCLE_END), &span.end) || span.end < span.begin)
                return refuse(p, "the cycles of firmware are no numbers, or end before they begin");
        judge_frequency(p, span.end - span.begin);
        r = import_tt_tracks_find_operations(p->tracks, chip, &span.track);
        if (r == -EOVERFLOW && p->tracks->err->code == 0)
                return refuse(p, "more chips than 4096");
        if (r == 0)
                r = import_rows_span(p->tracks->rows, &span, p->tracks->err);
        return r < 0 ? r : 1;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static bool read_optional(struct text_view cell, uint64_t empty, uint64_t *ret_number)
{
        *ret_number = empty;
        return cell.n_bytes == 0 || import_tt_number(cell, ret_number);
}

/* In a trace: the call did not run it, replays do, which have rows of their own. */
static bool is_captured(const struct tt_run *run)
{
        return run->trace != TT_RUN_NONE && run->replay == TT_RUN_NONE;
}

static int take_row(struct report *p)
{
        struct tt_run run;
        struct import_span span = { .track = 0 };
        struct text_view attributes = find_cell(p, COLUMN_ATTRIBUTES);
        uint32_t id;
        int r, on_host, on_chip;

        import_rows_count_row(p->tracks->rows);
        if (p->csv.n_fields < p->n_columns)
                return refuse(p, "a row of fewer cells than there are columns");
        if (!read_optional(find_cell(p, COLUMN_NUMBER), 0, &run.run_host_id) ||
            !read_optional(find_cell(p, COLUMN_CHIP), 0, &run.chip) || run.chip > INT64_MAX ||
            !read_optional(find_cell(p, COLUMN_TRACE), TT_RUN_NONE, &run.trace) ||
            !read_optional(find_cell(p, COLUMN_REPLAY), TT_RUN_NONE, &run.replay))
                return refuse(p, "the numbers of the operation cannot be read");
        r = import_tt_tracks_find_name(p->tracks, find_cell(p, COLUMN_NAME), &id, &span.name);
        if (r == 0 && attributes.n_bytes > 0)
                r = import_rows_string(p->tracks->rows, attributes, &span.text, p->tracks->err);
        if (r == 0)
                r = import_tt_tracks_find_key(p->tracks, tt_run_key_encode(&run), &span.key);
        if (r < 0)
                return r;
        on_host = take_host(p, &span);
        if (on_host < 0)
                return on_host;
        on_chip = take_chip(p, &span, run.chip);
        if (on_chip == 0 && text_view_is(find_cell(p, COLUMN_TYPE), "tt_dnn_device"))
                p->n_lacking += !is_captured(&run);
        else if (on_chip == 0 && on_host == 0)
                import_rows_left_out(p->tracks->rows, "operations without times", 1);
        return on_chip < 0 ? on_chip : 0;
}

static int read_columns(struct report *p)
{
        int r = csv_rows_next(&p->csv, p->tracks->err);

        if (r < 0)
                return r;
        p->n_columns = p->csv.n_fields;
        for (uint32_t i = 0; r == 1 && i < p->csv.n_fields; i++)
                for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
                        if (import_tt_is(import_tt_trim(p->csv.fields[i]), names[j].name) &&
                            p->places[names[j].column] == 0)
                                p->places[names[j].column] = i + 1;
        if (p->places[COLUMN_NUMBER] == 0 || p->places[COLUMN_NAME] == 0)
                return error_set(p->tracks->err, -EBADMSG,
                                 "the report has no column GLOBAL CALL COUNT, or none OP CODE or OP NAME");
        return 0;
}

int import_tt_report_read(struct import_tt_tracks *tracks, struct import_source *source, bool is_alone)
{
        struct report p = { .tracks = tracks };
        int r;

        csv_rows_init(&p.csv, source, ',');
        r = read_columns(&p);
        if (r == 0 && is_alone)
                r = import_rows_file(tracks->rows, IMPORT_TT_FORMAT, (struct text_view){ "operations", 10 },
                                     tracks->err);
        while (r == 0 && (r = csv_rows_next(&p.csv, tracks->err)) == 1)
                r = take_row(&p);
        if (r == 2) {
                import_rows_cut(tracks->rows, p.csv.line);
                r = 0;
        }
        if (r == 0 && p.n_lacking > 0)
                import_rows_dropped(tracks->rows, p.n_lacking);
        csv_rows_deinit(&p.csv);
        return r;
}

bool import_tt_report_recognise(struct text_view head)
{
        struct text_view line = import_tt_cut(&head, '\n');

        return line.n_bytes > 0 && memmem(line.bytes, line.n_bytes, "GLOBAL CALL COUNT", 17) &&
               (memmem(line.bytes, line.n_bytes, "OP CODE", 7) ||
                memmem(line.bytes, line.n_bytes, "OP NAME", 7));
}
