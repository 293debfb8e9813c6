/* SPDX-License-Identifier: MIT */
#include "import/tt/import_tt_sync.h"

#include "base/array.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/rows/import_rows.h"
#include "import/tt/import_tt_cells.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Cycles of two chips differ by parts per million: a ratio beyond this is no ratio. */
#define RATIO_ERROR_MAX 1e-3

#define N_CELLS 14
enum cell {
        CELL_CHIP,
        CELL_TICKS = 3,
        CELL_HOST_END,
        CELL_WRITE = 6,
        CELL_HOST_START,
        CELL_TSC_PERIOD = 10,
        CELL_BASE,
        CELL_RATIO,
        CELL_SHIFT,
};

void import_tt_sync_deinit(struct import_tt_sync *s)
{
        free(s->points);
        free(s->shifts);
        *s = (struct import_tt_sync){ .points = NULL };
}

static bool read_signed(struct text_view cell, int64_t *ret_number)
{
        bool is_negative;
        uint64_t number;

        cell = import_tt_trim(cell);
        is_negative = text_view_begins_with(cell, "-");
        if (is_negative) {
                cell.bytes++;
                cell.n_bytes--;
        }
        if (!import_tt_number(cell, &number) || number > INT64_MAX)
                return false;
        *ret_number = is_negative ? -(int64_t)number : (int64_t)number;
        return true;
}

/* The row of a root, RATIO 1 and SHIFT 0, comes after those of the chips that are placed through it. */
static void name_root(struct import_tt_sync *s, uint64_t root)
{
        for (size_t i = s->n_shifts; i-- > 0 && !s->shifts[i].has_root;) {
                s->shifts[i].root = root;
                s->shifts[i].has_root = true;
        }
}

/* Returns words for what is wrong with the row, or NULL. */
static const char *add_shift(struct import_tt_sync *s, const struct text_view *cells, int *ret_r)
{
        struct import_tt_shift shift = { .has_root = false };

        if (!import_tt_number(cells[CELL_CHIP], &shift.chip) ||
            !import_tt_decimal(cells[CELL_RATIO], &shift.ratio) ||
            !read_signed(cells[CELL_SHIFT], &shift.shift))
                return "sync_device_info.csv: a row of ratio and shift has no numbers";
        if (fabs(shift.ratio - 1) > RATIO_ERROR_MAX)
                return "sync_device_info.csv: the ratio of two chips is not within 0.001 of 1";
        if (shift.ratio == 1 && shift.shift == 0) {
                name_root(s, shift.chip);
                return NULL;
        }
        if (s->n_shifts >= IMPORT_TT_SYNC_SHIFTS_MAX)
                return "sync_device_info.csv: more rows of ratio and shift than 4096";
        *ret_r = array_reserve(&s->shifts, &s->shifts_capacity, s->n_shifts + 1, sizeof(*s->shifts));
        if (*ret_r == 0)
                s->shifts[s->n_shifts++] = shift;
        return NULL;
}

static const char *add_point(struct import_tt_sync *s, const struct text_view *cells, int *ret_r)
{
        struct import_tt_point point = { .order = (uint32_t)s->n_points };
        uint64_t since, write, start, base;
        double period_ns;

        if (!import_tt_number(cells[CELL_CHIP], &point.chip) ||
            !import_tt_number(cells[CELL_TICKS], &point.ticks) ||
            !import_tt_number(cells[CELL_HOST_END], &since) || !import_tt_number(cells[CELL_WRITE], &write) ||
            !import_tt_number(cells[CELL_HOST_START], &start))
                return "sync_device_info.csv: a reading has no numbers";
        if (__builtin_add_overflow(start, since, &point.host_end) ||
            __builtin_sub_overflow(point.host_end, write, &point.host_begin))
                return "sync_device_info.csv: the host's time of a reading is out of range";
        if (s->n_points >= IMPORT_TT_SYNC_POINTS_MAX)
                return "sync_device_info.csv: more readings than 1048576";
        if (import_tt_decimal(cells[CELL_TSC_PERIOD], &period_ns) && period_ns > 0)
                s->tsc_period_ns = period_ns;
        if (import_tt_number(cells[CELL_BASE], &base))
                s->base_tsc = base;
        *ret_r = array_reserve(&s->points, &s->points_capacity, s->n_points + 1, sizeof(*s->points));
        if (*ret_r == 0)
                s->points[s->n_points++] = point;
        return NULL;
}

static int compare_points(const void *a, const void *b)
{
        const struct import_tt_point *p = a, *q = b;

        if (p->chip != q->chip)
                return p->chip < q->chip ? -1 : 1;
        return p->order < q->order ? -1 : p->order > q->order;
}

static const char *take_row(struct import_tt_sync *s, struct text_view line, int *ret_r)
{
        struct text_view cells[N_CELLS];

        for (size_t i = 0; i < N_CELLS; i++)
                cells[i] = import_tt_trim(import_tt_cut(&line, ','));
        return cells[CELL_TICKS].n_bytes == 0 ? add_shift(s, cells, ret_r) : add_point(s, cells, ret_r);
}

/* Without the row of a root it is taken to be the first chip of the file, which the host reads itself. */
static void guess_roots(struct import_tt_sync *s)
{
        uint64_t root = 0;
        bool has_root = false;

        for (size_t i = 0; i < s->n_points && !has_root; i++) {
                root = s->points[i].chip;
                has_root = s->points[i].order == 0;
        }
        if (has_root)
                name_root(s, root);
}

int import_tt_sync_read(struct import_tt_sync *s, struct import_source *source, struct import_rows *rows,
                        struct error *err)
{
        struct text_view line;
        int r;

        while ((r = import_source_next_line(source, &line, err)) == 1) {
                const char *wrong;

                line = import_tt_trim(line);
                if (line.n_bytes == 0 || text_view_begins_with(line, "device id"))
                        continue;
                r = 0;
                wrong = take_row(s, line, &r);
                if (r < 0)
                        return error_set(err, r, "out of memory for readings of clocks");
                if (wrong)
                        import_rows_malformed(rows, import_source_line(source), wrong);
        }
        if (r < 0)
                return r;
        if (s->n_points > 0)
                qsort(s->points, s->n_points, sizeof(*s->points), compare_points);
        guess_roots(s);
        return 0;
}

/* The points of a chip, which are next to each other. */
static const struct import_tt_point *find_points(const struct import_tt_sync *s, uint64_t chip, size_t *ret_n)
{
        size_t end = array_count_to(s->points, s->n_points, sizeof(*s->points),
                                    offsetof(struct import_tt_point, chip), chip);
        size_t first = chip == 0 ? 0
                                 : array_count_to(s->points, s->n_points, sizeof(*s->points),
                                                  offsetof(struct import_tt_point, chip), chip - 1);

        *ret_n = end - first;
        return s->points ? s->points + first : NULL;
}

static const struct import_tt_shift *find_shift(const struct import_tt_sync *s, uint64_t chip)
{
        for (size_t i = s->n_shifts; i-- > 0;)
                if (s->shifts[i].chip == chip && s->shifts[i].has_root && s->shifts[i].root != chip)
                        return &s->shifts[i];
        return NULL;
}

enum import_tt_placed import_tt_sync_find(const struct import_tt_sync *s, uint64_t chip, uint64_t *ret_root)
{
        const struct import_tt_shift *shift;
        size_t n;

        (void)find_points(s, chip, &n);
        if (n > 0)
                return IMPORT_TT_OWN;
        shift = find_shift(s, chip);
        if (!shift)
                return IMPORT_TT_NOT_PLACED;
        (void)find_points(s, shift->root, &n);
        if (n == 0)
                return IMPORT_TT_NOT_PLACED;
        *ret_root = shift->root;
        return IMPORT_TT_THROUGH;
}

/*
 * The counter of a chip when that of its root was @ticks: (ticks - SHIFT) / RATIO.  A double has no room for
 * the quotient, but for its difference to the dividend.
 */
static bool invert_shift(const struct import_tt_shift *shift, uint64_t ticks, uint64_t *ret_ticks)
{
        double root = (double)ticks - (double)shift->shift;
        int64_t difference = llround(root * ((1 - shift->ratio) / shift->ratio));
        uint64_t shifted;

        return !__builtin_sub_overflow(ticks, shift->shift, &shifted) &&
               !__builtin_add_overflow(shifted, difference, ret_ticks);
}

int import_tt_sync_give(const struct import_tt_sync *s, uint64_t chip, uint32_t clock,
                        struct import_rows *rows, struct error *err)
{
        struct import_reading reading = { .clock = clock, .host = IMPORT_CLOCK_TSC };
        const struct import_tt_shift *shift = NULL;
        const struct import_tt_point *points;
        uint64_t last_ticks = 0, last_host = 0;
        size_t n;

        points = find_points(s, chip, &n);
        if (n == 0) {
                shift = find_shift(s, chip);
                if (!shift)
                        return 0;
                points = find_points(s, shift->root, &n);
        }
        for (size_t i = 0; i < n; i++) {
                int r;

                reading.ticks = points[i].ticks;
                reading.host_begin = points[i].host_begin;
                reading.host_end = points[i].host_end;
                if (shift && !invert_shift(shift, points[i].ticks, &reading.ticks)) {
                        import_rows_left_out(rows, "readings out of the range of a chip's counter", 1);
                        continue;
                }
                /* The counter of a chip that was reset, or times of another boot. */
                if (i > 0 && (reading.ticks < last_ticks) != (reading.host_end < last_host))
                        reading.epoch++;
                last_ticks = reading.ticks;
                last_host = reading.host_end;
                r = import_rows_reading(rows, &reading, err);
                if (r < 0)
                        return r;
        }
        return 0;
}
