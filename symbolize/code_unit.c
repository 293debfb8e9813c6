/* SPDX-License-Identifier: MIT */
#include "symbolize/code_unit.h"

#include "base/bytes.h"

/* Where the arrays of a block begin. */
struct layout {
        const uint8_t *nodes, *row_places, *segment_starts, *segment_nodes, *row_starts, *files, *buckets;
};

static inline uint32_t load_u32(const uint8_t *array, size_t i)
{
        struct byte_reader r = byte_reader_of(array + 4 * i, 4);

        return bytes_u32(&r);
}

static inline uint64_t load_u64(const uint8_t *array, size_t i)
{
        struct byte_reader r = byte_reader_of(array + 8 * i, 8);

        return bytes_u64(&r);
}

size_t code_unit_bytes(const struct code_unit *unit)
{
        uint64_t n = (uint64_t)unit->n_nodes * CODE_NODE_BYTES + (uint64_t)unit->n_rows * 12 +
                     (uint64_t)unit->n_segments * 8 + (uint64_t)unit->n_files * 4;

        if (n > 0)
                n += ((uint64_t)code_unit_buckets(unit) + 1) * CODE_BUCKET_BYTES;

        return n > UINT32_MAX ? 0 : (size_t)n;
}

static struct layout lay_out(const struct code_unit *unit)
{
        struct layout l = { .nodes = unit->bytes };

        l.row_places = l.nodes + (size_t)unit->n_nodes * CODE_NODE_BYTES;
        l.segment_starts = l.row_places + (size_t)unit->n_rows * 8;
        l.segment_nodes = l.segment_starts + (size_t)unit->n_segments * 4;
        l.row_starts = l.segment_nodes + (size_t)unit->n_segments * 4;
        l.files = l.row_starts + (size_t)unit->n_rows * 4;
        l.buckets = l.files + (size_t)unit->n_files * 4;
        return l;
}

/*
 * How many of @n ascending numbers are not above @wanted, if that is known to be from @low to @high.  No branch
 * depends on what is found: processors would guess it wrong half of the time.
 */
static uint32_t count_not_above(const uint8_t *array, uint32_t n, const uint32_t bounds[2], uint32_t wanted)
{
        uint32_t low = bounds[0], left = n;

        if (bounds[0] <= bounds[1] && bounds[1] <= n) /* else the block is damaged */
                left = bounds[1] - low;
        else
                low = 0;
        while (left > 1) {
                uint32_t half = left / 2;

                low += half & (0U - (uint32_t)(load_u32(array, (size_t)low + half - 1) <= wanted));
                left -= half;
        }
        return low + (left == 1 && load_u32(array, low) <= wanted);
}

/* Between which rows, and which segments, the last ones that begin at or before @relative are. */
static void find_bounds(const struct code_unit *unit, const struct layout *l, uint32_t relative,
                        uint32_t ret_rows[2], uint32_t ret_segments[2])
{
        uint32_t bucket = relative >> (unit->bucket_shift & 31), last = code_unit_buckets(unit) - 1;

        bucket = bucket < last ? bucket : last;
        for (uint32_t i = 0; i < 2; i++) {
                ret_rows[i] = load_u32(l->buckets, 2 * ((size_t)bucket + i));
                ret_segments[i] = load_u32(l->buckets, 2 * ((size_t)bucket + i) + 1);
        }
}

/* What both searches will read, so that the processor waits for all of it at once. */
static void announce(const struct code_unit *unit, const struct layout *l, const uint32_t rows[2],
                     const uint32_t segments[2])
{
        size_t row = rows[0] < unit->n_rows ? rows[0] : 0;
        size_t segment = segments[0] < unit->n_segments ? segments[0] : 0;

        __builtin_prefetch(l->row_starts + 4 * row);
        __builtin_prefetch(l->row_places + 8 * row);
        __builtin_prefetch(l->segment_starts + 4 * segment);
        __builtin_prefetch(l->segment_nodes + 4 * segment);
}

static struct code_node load_node(const struct layout *l, uint32_t i)
{
        const uint8_t *at = l->nodes + (size_t)i * CODE_NODE_BYTES;

        return (struct code_node){ load_u32(at, 0), load_u32(at, 1), load_u64(at, 1) };
}

static struct code_place make_place(const struct code_unit *unit, const struct layout *l, uint32_t name,
                                    uint64_t packed)
{
        uint64_t file = packed >> (CODE_LINE_BITS + CODE_COLUMN_BITS);

        return (struct code_place){
                .name = name,
                .path = file > 0 && file <= unit->n_files ? load_u32(l->files, (size_t)file - 1) : 0,
                .line = (uint32_t)(packed & ((UINT64_C(1) << CODE_LINE_BITS) - 1)),
                .column = (uint32_t)(packed >> CODE_LINE_BITS & ((UINT64_C(1) << CODE_COLUMN_BITS) - 1)),
        };
}

uint32_t code_unit_find(const struct code_unit *unit, uint64_t svma, struct code_place *ret_places,
                        uint32_t n_max)
{
        uint64_t relative = svma - unit->base_svma;
        struct layout l;
        uint32_t node = CODE_UNIT_NONE, n = 0;
        uint32_t rows[2], segments[2], at;
        uint64_t packed = 0;

        if (!unit->bytes || svma < unit->base_svma || relative > UINT32_MAX)
                return 0;
        l = lay_out(unit);
        find_bounds(unit, &l, (uint32_t)relative, rows, segments);
        announce(unit, &l, rows, segments);
        at = count_not_above(l.row_starts, unit->n_rows, rows, (uint32_t)relative);
        if (at > 0)
                packed = load_u64(l.row_places, at - 1);
        at = count_not_above(l.segment_starts, unit->n_segments, segments, (uint32_t)relative);
        if (at > 0)
                node = load_u32(l.segment_nodes, at - 1);
        if (node >= unit->n_nodes) {
                if (packed == 0 || n_max == 0)
                        return 0;
                ret_places[0] = make_place(unit, &l, 0, packed);
                return 1;
        }
        while (node < unit->n_nodes && n < n_max) {
                struct code_node found = load_node(&l, node);

                ret_places[n++] = make_place(unit, &l, found.name, packed);
                packed = found.call;
                if (found.parent >= node) /* it stands for itself; or the block is damaged */
                        break;
                node = found.parent;
        }
        return n;
}
