/* SPDX-License-Identifier: MIT */
#include "symbolize/index/code_unit_builder.h"

#include "base/array.h"
#include "symbolize/index/code_names.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RADIX_BITS    11
#define RADIX_BUCKETS (1U << RADIX_BITS)

void code_unit_builder_deinit(struct code_unit_builder *b)
{
        dwarf_lines_deinit(&b->lines);
        free(b->file_places);
        free(b->nodes);
        free(b->ranges);
        free(b->sorted);
        free(b->rows);
        free(b->sequences);
        free(b->files);
        free(b->segment_starts);
        free(b->segment_nodes);
        free(b->open);
        *b = (struct code_unit_builder){ .names = NULL };
}

void code_unit_builder_start(struct code_unit_builder *b, uint64_t base_svma)
{
        b->base_svma = base_svma;
        b->n_nodes = b->n_ranges = b->n_rows = b->n_sequences = b->n_files = b->n_segments = 0;
        b->n_file_places = 0;
}

int code_unit_builder_add_node(struct code_unit_builder *b, const struct code_node *node, uint32_t *ret_node)
{
        if (b->n_nodes >= CODE_UNIT_NONE)
                return -EOVERFLOW;
        if (b->n_nodes == b->nodes_capacity &&
            array_reserve(&b->nodes, &b->nodes_capacity, b->n_nodes + 1, sizeof(*b->nodes)) < 0)
                return -ENOMEM;
        b->nodes[b->n_nodes] = *node;
        *ret_node = (uint32_t)b->n_nodes++;
        return 0;
}

int code_unit_builder_add_range(struct code_unit_builder *b, uint64_t low_svma, uint64_t high_svma,
                                uint32_t node)
{
        if (low_svma < b->base_svma || high_svma - b->base_svma > UINT32_MAX || low_svma >= high_svma)
                return 0;
        if (b->n_ranges >= UINT32_MAX)
                return -EOVERFLOW;
        if (b->n_ranges == b->ranges_capacity &&
            array_reserve(&b->ranges, &b->ranges_capacity, b->n_ranges + 1, sizeof(*b->ranges)) < 0)
                return -ENOMEM;
        b->ranges[b->n_ranges++] = (struct code_range){ (uint32_t)(low_svma - b->base_svma),
                                                        (uint32_t)(high_svma - b->base_svma), node };
        return 0;
}

/* Makes room for as many files as there are by now: a line program may define files as it runs. */
static int reserve_file_places(struct code_unit_builder *b)
{
        size_t n = b->lines.n_files;

        if (n <= b->n_file_places)
                return 0;
        if (array_extend(&b->file_places, &b->file_places_capacity, b->n_file_places, n,
                         sizeof(*b->file_places)) < 0)
                return -ENOMEM;
        b->n_file_places = n;
        return 0;
}

/* The number of a file among those that the unit uses; 0 if it is unknown. */
static int find_file(struct code_unit_builder *b, uint64_t number, uint32_t *ret_place)
{
        const struct dwarf_line_file *file = dwarf_lines_find_file(&b->lines, number);
        uint32_t *place, path;
        int r;

        *ret_place = 0;
        if (!file)
                return 0;
        if (reserve_file_places(b) < 0)
                return -ENOMEM;
        place = &b->file_places[file - b->lines.files];
        if (*place == 0) {
                r = code_names_add_path(b->names, file->name, dwarf_lines_directory(&b->lines, file),
                                        b->lines.comp_dir, &path);
                if (r == -EOVERFLOW)
                        return 0;
                if (r < 0 ||
                    array_reserve(&b->files, &b->files_capacity, b->n_files + 1, sizeof(*b->files)) < 0)
                        return -ENOMEM;
                b->files[b->n_files++] = path;
                *place = (uint32_t)b->n_files;
        }
        *ret_place = *place;
        return 0;
}

int code_unit_builder_find_path(struct code_unit_builder *b, uint64_t file, uint32_t *ret_path)
{
        uint32_t place;
        int r = find_file(b, file, &place);

        *ret_path = r == 0 && place != 0 ? b->files[place - 1] : 0;
        return r;
}

int code_unit_builder_pack(struct code_unit_builder *b, uint64_t file, uint64_t line, uint64_t column,
                           uint64_t *ret_place)
{
        uint32_t place;
        int r = find_file(b, file, &place);

        *ret_place = code_pack(place, line, column);
        return r;
}

/* The state after the rows of a program so far. */
struct row_run {
        uint64_t file; /* that `place` is the place of */
        uint32_t place;
        uint64_t last_svma;
        bool is_open;      /* within a sequence */
        bool is_discarded; /* the sequence is not of this module */
};

static int add_row(struct code_unit_builder *b, uint32_t start, uint64_t place)
{
        struct code_sequence *sequence = &b->sequences[b->n_sequences - 1];
        struct code_row *last = sequence->n_rows > 0 ? &b->rows[b->n_rows - 1] : NULL;

        if (last && last->start == start) {
                last->place = place; /* the last one of an address counts */
                return 0;
        }
        if (last && last->place == place)
                return 0;
        if (b->n_rows == b->rows_capacity &&
            array_reserve(&b->rows, &b->rows_capacity, b->n_rows + 1, sizeof(*b->rows)) < 0)
                return -ENOMEM;
        assert(b->rows);
        b->rows[b->n_rows++] = (struct code_row){ start, place };
        sequence->n_rows++;
        return 0;
}

static int open_sequence(struct code_unit_builder *b, uint64_t svma)
{
        if (b->n_sequences >= UINT32_MAX || array_reserve(&b->sequences, &b->sequences_capacity,
                                                          b->n_sequences + 1, sizeof(*b->sequences)) < 0)
                return -ENOMEM;
        b->sequences[b->n_sequences] = (struct code_sequence){
                .start = (uint32_t)(svma - b->base_svma),
                .order = (uint32_t)b->n_sequences,
                .first_row = b->n_rows,
        };
        b->n_sequences++;
        return 0;
}

static bool is_in_reach(const struct code_unit_builder *b, uint64_t svma)
{
        return svma >= b->base_svma && svma - b->base_svma < UINT32_MAX;
}

static int take_row(struct code_unit_builder *b, struct row_run *run, const struct dwarf_line_row *row,
                    uint64_t svma)
{
        int r;

        if (row->is_end)
                return add_row(b, (uint32_t)(svma - b->base_svma), 0);
        if (row->file != run->file) {
                r = find_file(b, row->file, &run->place);
                if (r < 0)
                        return r;
                run->file = row->file;
        }
        return add_row(b, (uint32_t)(svma - b->base_svma), code_pack(run->place, row->line, row->column));
}

int code_unit_builder_add_rows(struct code_unit_builder *b, uint64_t bias, uint64_t first_svma)
{
        struct row_run run = { .file = UINT64_MAX };
        struct dwarf_line_row row;
        int r = 0;

        while (r == 0 && dwarf_lines_next(&b->lines, &row)) {
                uint64_t svma = row.address + bias;

                if (!run.is_open) {
                        run.is_open = true;
                        run.is_discarded = svma < first_svma || row.address >= UINT64_MAX - 1 ||
                                           !is_in_reach(b, svma);
                        run.last_svma = svma;
                        if (!run.is_discarded && !row.is_end)
                                r = open_sequence(b, svma);
                }
                /* Addresses of a sequence ascend; a row that goes back is damage. */
                if (r == 0 && !run.is_discarded && svma >= run.last_svma && is_in_reach(b, svma) &&
                    b->n_sequences > 0) {
                        r = take_row(b, &run, &row, svma);
                        run.last_svma = svma;
                }
                if (row.is_end)
                        run.is_open = false;
        }
        return r;
}

/* Sorts by start, eleven bits at a time; equal ones keep their order: outer ranges before those in them. */
static int sort_ranges(struct code_unit_builder *b)
{
        uint32_t counts[RADIX_BUCKETS], largest = 0;
        struct code_range *from = b->ranges, *to;
        bool is_sorted = true;

        for (size_t i = 0; i < b->n_ranges; i++) {
                is_sorted = is_sorted && (i == 0 || from[i - 1].start <= from[i].start);
                largest = from[i].start > largest ? from[i].start : largest;
        }
        if (is_sorted)
                return 0;
        if (array_reserve(&b->sorted, &b->sorted_capacity, b->n_ranges, sizeof(*b->sorted)) < 0)
                return -ENOMEM;
        to = b->sorted;
        for (unsigned shift = 0; shift < 32 && largest >> shift; shift += RADIX_BITS) {
                uint32_t at = 0;
                struct code_range *other = from;

                memset(counts, 0, sizeof(counts));
                for (size_t i = 0; i < b->n_ranges; i++)
                        counts[from[i].start >> shift & (RADIX_BUCKETS - 1)]++;
                for (size_t i = 0; i < RADIX_BUCKETS; i++) {
                        uint32_t n = counts[i];

                        counts[i] = at;
                        at += n;
                }
                for (size_t i = 0; i < b->n_ranges; i++)
                        to[counts[from[i].start >> shift & (RADIX_BUCKETS - 1)]++] = from[i];
                from = to;
                to = other;
        }
        if (from != b->ranges)
                memcpy(b->ranges, from, b->n_ranges * sizeof(*from));
        return 0;
}

/* Lets @node hold from @start on.  There is room: a range puts at most two segments. */
static void put_segment(struct code_unit_builder *b, uint32_t start, uint32_t node)
{
        size_t n = b->n_segments;

        if (n > 0 && b->segment_starts[n - 1] == start)
                n--; /* the one before would be empty */
        b->n_segments = n;
        if (n > 0 ? b->segment_nodes[n - 1] == node : node == CODE_UNIT_NONE)
                return;
        b->segment_starts[n] = start;
        b->segment_nodes[n] = node;
        b->n_segments++;
}

/* Ends the open ranges that end at or before @address; the ranges around them go on after them. */
static size_t close_ranges(struct code_unit_builder *b, size_t n_open, uint32_t address)
{
        while (n_open > 0 && b->ranges[b->open[n_open - 1]].end <= address) {
                uint32_t end = b->ranges[b->open[--n_open]].end;

                /* An enclosing range may have ended earlier, when the two overlap without nesting. */
                while (n_open > 0 && b->ranges[b->open[n_open - 1]].end <= end)
                        n_open--;
                put_segment(b, end, n_open ? b->ranges[b->open[n_open - 1]].node : CODE_UNIT_NONE);
        }
        return n_open;
}

/* Nested ranges become disjoint segments. */
static int make_segments(struct code_unit_builder *b)
{
        size_t n_open = 0;

        if (sort_ranges(b) < 0 ||
            array_reserve(&b->segment_starts, &b->starts_capacity, 2 * b->n_ranges, 4) < 0 ||
            array_reserve(&b->segment_nodes, &b->nodes_of_capacity, 2 * b->n_ranges, 4) < 0 ||
            array_reserve(&b->open, &b->open_capacity, b->n_ranges, sizeof(*b->open)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < b->n_ranges; i++) {
                n_open = close_ranges(b, n_open, b->ranges[i].start);
                put_segment(b, b->ranges[i].start, b->ranges[i].node);
                b->open[n_open++] = (uint32_t)i;
        }
        (void)close_ranges(b, n_open, UINT32_MAX);
        return 0;
}

static int compare_sequences(const void *a, const void *b)
{
        const struct code_sequence *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Numbers of the rows in the order of their addresses, into `open`, which is free by then.  Where sequences
 * overlap the first one counts.
 */
static int order_rows(struct code_unit_builder *b, size_t *ret_n_rows)
{
        uint32_t last = 0;
        size_t n = 0;

        if (array_reserve(&b->open, &b->open_capacity, b->n_rows, sizeof(*b->open)) < 0)
                return -ENOMEM;
        if (b->n_sequences > 1)
                qsort(b->sequences, b->n_sequences, sizeof(*b->sequences), compare_sequences);
        for (size_t i = 0; i < b->n_sequences; i++) {
                const struct code_sequence *s = &b->sequences[i];

                for (size_t row = s->first_row; row < s->first_row + s->n_rows; row++) {
                        uint32_t start = b->rows[row].start;

                        if (n > 0 && (start < last || (start == last && b->rows[row].place == 0)))
                                continue;
                        if (n > 0 && start == last)
                                n--; /* the end of the sequence before */
                        b->open[n++] = (uint32_t)row;
                        last = start;
                }
        }
        *ret_n_rows = n;
        return 0;
}

/* Writes without a check for room: the size of the block is known. */
static inline uint8_t *put_u32(uint8_t *at, uint32_t v)
{
        at[0] = (uint8_t)v;
        at[1] = (uint8_t)(v >> 8);
        at[2] = (uint8_t)(v >> 16);
        at[3] = (uint8_t)(v >> 24);
        return at + 4;
}

static inline uint8_t *put_u64(uint8_t *at, uint64_t v)
{
        return put_u32(put_u32(at, (uint32_t)v), (uint32_t)(v >> 32));
}

/* The state before a bucket, while buckets are written. */
struct bucket_run {
        uint32_t row, segment;
        uint32_t node; /* that the bucket begins in */
        uint64_t place;
};

static uint8_t *write_head(const struct bucket_run *run, uint8_t *at)
{
        return put_u32(put_u32(put_u32(at, run->row), run->segment), run->node);
}

/* Rows and segments that begin before @end. */
static uint8_t *write_bucket(const struct code_unit_builder *b, const struct code_unit *unit, uint64_t end,
                             struct bucket_run *run, uint8_t *at)
{
        uint32_t first_row = run->row, first_segment = run->segment, row = first_row, segment = first_segment;

        at = put_u64(at, run->place);
        for (; row < unit->n_rows && b->rows[b->open[row]].start < end; row++)
                at = put_u32(at, b->rows[b->open[row]].start);
        for (uint32_t i = first_row; i < row; i++) {
                run->place = b->rows[b->open[i]].place;
                at = put_u64(at, run->place);
        }
        for (; segment < unit->n_segments && b->segment_starts[segment] < end; segment++)
                at = put_u32(at, b->segment_starts[segment]);
        for (uint32_t i = first_segment; i < segment; i++) {
                run->node = b->segment_nodes[i];
                at = put_u32(at, run->node);
        }
        run->row = row;
        run->segment = segment;
        return at;
}

static void write_buckets(const struct code_unit_builder *b, const struct code_unit *unit, uint8_t *head)
{
        uint32_t n_buckets = code_unit_buckets(unit);
        uint8_t *at = head + ((size_t)n_buckets + 1) * CODE_HEAD_BYTES;
        struct bucket_run run = { .node = CODE_UNIT_NONE };

        for (uint64_t i = 1; i <= n_buckets; i++) {
                head = write_head(&run, head);
                /* The last bucket takes all that is left. */
                at = write_bucket(b, unit, i < n_buckets ? i << unit->bucket_shift : UINT64_MAX, &run, at);
        }
        (void)write_head(&run, head);
}

static void write_block(const struct code_unit_builder *b, const struct code_unit *unit, uint8_t *at)
{
        for (size_t i = 0; i < unit->n_nodes; i++)
                at = put_u64(put_u32(put_u32(at, b->nodes[i].name), b->nodes[i].parent), b->nodes[i].call);
        for (size_t i = 0; i < unit->n_files; i++)
                at = put_u32(at, b->files[i]);
        write_buckets(b, unit, at);
}

/* Chooses the shift so that the last row or segment is in the last bucket. */
static uint8_t find_bucket_shift(const struct code_unit_builder *b, const struct code_unit *unit)
{
        uint32_t largest = unit->n_rows ? b->rows[b->open[unit->n_rows - 1]].start : 0;
        uint8_t shift = 0;

        if (unit->n_segments && b->segment_starts[unit->n_segments - 1] > largest)
                largest = b->segment_starts[unit->n_segments - 1];
        while (shift < 31 && largest >> shift >= code_unit_buckets(unit))
                shift++;
        return shift;
}

int code_unit_builder_finish(struct code_unit_builder *b, struct code_unit *ret_unit)
{
        struct code_unit unit = { .base_svma = b->base_svma };
        size_t n_rows, n_bytes;
        uint8_t *bytes;

        if (make_segments(b) < 0 || order_rows(b, &n_rows) < 0)
                return -ENOMEM;
        if (n_rows > UINT32_MAX || b->n_segments > UINT32_MAX || b->n_files > UINT32_MAX)
                return -EOVERFLOW;
        unit.n_nodes = (uint32_t)b->n_nodes;
        unit.n_segments = (uint32_t)b->n_segments;
        unit.n_rows = (uint32_t)n_rows;
        unit.n_files = (uint32_t)b->n_files;
        n_bytes = code_unit_bytes(&unit);
        if (n_bytes == 0) {
                *ret_unit = unit;
                return b->n_nodes + n_rows > 0 ? -EOVERFLOW : 0;
        }
        bytes = malloc(n_bytes);
        if (!bytes)
                return -ENOMEM;
        unit.bucket_shift = find_bucket_shift(b, &unit);
        write_block(b, &unit, bytes);
        unit.bytes = bytes;
        *ret_unit = unit;
        return 0;
}
