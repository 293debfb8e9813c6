/* SPDX-License-Identifier: MIT */
#include "symbolize/code_unit.h"

#include "base/bytes.h"

/* Where the arrays of a block begin. */
struct layout {
        const uint8_t *nodes, *row_places, *segment_starts, *segment_nodes, *row_starts, *files;
};

static uint32_t load_u32(const uint8_t *array, size_t i)
{
        struct byte_reader r = byte_reader_of(array + 4 * i, 4);

        return bytes_u32(&r);
}

static uint64_t load_u64(const uint8_t *array, size_t i)
{
        struct byte_reader r = byte_reader_of(array + 8 * i, 8);

        return bytes_u64(&r);
}

size_t code_unit_bytes(const struct code_unit *unit)
{
        uint64_t n = (uint64_t)unit->n_nodes * CODE_NODE_BYTES + (uint64_t)unit->n_rows * 12 +
                     (uint64_t)unit->n_segments * 8 + (uint64_t)unit->n_files * 4;

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
        return l;
}

/* How many of @n ascending numbers are not above @wanted.  No branch depends on what is found: they are not guessed. */
static size_t count_not_above(const uint8_t *array, size_t n, uint32_t wanted)
{
        size_t low = 0;

        while (n > 1) {
                size_t half = n / 2;

                low = load_u32(array, low + half - 1) <= wanted ? low + half : low;
                n -= half;
        }
        return low + (n == 1 && load_u32(array, low) <= wanted);
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
        uint64_t packed = 0;
        size_t at;

        if (!unit->bytes || svma < unit->base_svma || relative > UINT32_MAX)
                return 0;
        l = lay_out(unit);
        at = count_not_above(l.row_starts, unit->n_rows, (uint32_t)relative);
        if (at > 0)
                packed = load_u64(l.row_places, at - 1);
        at = count_not_above(l.segment_starts, unit->n_segments, (uint32_t)relative);
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
