/* SPDX-License-Identifier: MIT */
#include "symbolize/index/code_unit.h"

#include "base/bytes.h"

/* Where the arrays of a block begin. */
struct layout {
        const uint8_t *nodes, *files, *heads, *buckets;
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
        uint64_t n = (uint64_t)unit->n_nodes * CODE_NODE_BYTES + (uint64_t)unit->n_files * 4 +
                     (uint64_t)unit->n_rows * CODE_ROW_BYTES +
                     (uint64_t)unit->n_segments * CODE_SEGMENT_BYTES;
        uint64_t n_buckets = code_unit_buckets(unit);

        if (n > 0)
                n += n_buckets * CODE_BUCKET_BYTES + (n_buckets + 1) * CODE_HEAD_BYTES;
        return n > UINT32_MAX ? 0 : (size_t)n;
}

static struct layout lay_out(const struct code_unit *unit)
{
        struct layout l = { .nodes = unit->bytes };

        l.files = l.nodes + (size_t)unit->n_nodes * CODE_NODE_BYTES;
        l.heads = l.files + (size_t)unit->n_files * 4;
        l.buckets = l.heads + ((size_t)code_unit_buckets(unit) + 1) * CODE_HEAD_BYTES;
        return l;
}

/*
 * How many of @n ascending numbers are not above @wanted.  No branch depends on the result: processors would
 * guess it wrong half of the time.
 */
static inline uint32_t count_not_above(const uint8_t *array, uint32_t n, uint32_t wanted)
{
        uint32_t low = 0;

        while (n > 1) {
                uint32_t half = n / 2;

                low += half & (0U - (uint32_t)(load_u32(array, (size_t)low + half - 1) <= wanted));
                n -= half;
        }
        return low + (n == 1 && load_u32(array, low) <= wanted);
}

struct bucket {
        const uint8_t *bytes, *segments; /* NULL = the block is damaged */
        uint32_t n_rows, n_segments;
        uint32_t node; /* that it begins in */
};

static struct bucket find_bucket(const struct code_unit *unit, const struct layout *l, uint32_t relative)
{
        uint32_t number = relative >> (unit->bucket_shift & 31), last = code_unit_buckets(unit) - 1;
        const uint8_t *head = l->heads + (size_t)(number < last ? number : last) * CODE_HEAD_BYTES;
        uint32_t row = load_u32(head, 0), segment = load_u32(head, 1);
        struct bucket bucket = { .node = load_u32(head, 2),
                                 .n_rows = load_u32(head, 3) - row,
                                 .n_segments = load_u32(head, 4) - segment };

        if (row > unit->n_rows || bucket.n_rows > unit->n_rows - row || segment > unit->n_segments ||
            bucket.n_segments > unit->n_segments - segment)
                return bucket;
        bucket.bytes = l->buckets + (size_t)(number < last ? number : last) * CODE_BUCKET_BYTES +
                       (size_t)row * CODE_ROW_BYTES + (size_t)segment * CODE_SEGMENT_BYTES;
        bucket.segments = bucket.bytes + CODE_BUCKET_BYTES + (size_t)bucket.n_rows * CODE_ROW_BYTES;
        return bucket;
}

/* The state at @relative: the innermost node, or a number that stands for none, and the place. */
static void search_bucket(const struct code_unit *unit, const struct layout *l, uint32_t relative,
                          uint32_t *ret_node, uint64_t *ret_place)
{
        struct bucket bucket = find_bucket(unit, l, relative);
        uint32_t at;

        *ret_node = CODE_UNIT_NONE;
        *ret_place = 0;
        if (!bucket.bytes)
                return;
        /*
         * The wanted node will be this one or near it.  The prefetch lets the processor wait for the node
         * and for the whole bucket at the same time.
         */
        if (bucket.node < unit->n_nodes)
                __builtin_prefetch(l->nodes + (size_t)bucket.node * CODE_NODE_BYTES);
        __builtin_prefetch(bucket.segments);
        at = count_not_above(bucket.bytes + CODE_BUCKET_BYTES, bucket.n_rows, relative);
        *ret_place = load_u64(bucket.bytes + (at > 0 ? 4 * (size_t)bucket.n_rows + 8 * (size_t)at : 0), 0);
        at = count_not_above(bucket.segments, bucket.n_segments, relative);
        *ret_node = at > 0 ? load_u32(bucket.segments, (size_t)bucket.n_segments + at - 1) : bucket.node;
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
        uint32_t node, n = 0;
        uint64_t packed;

        if (!unit->bytes || svma < unit->base_svma || relative > UINT32_MAX)
                return 0;
        l = lay_out(unit);
        search_bucket(unit, &l, (uint32_t)relative, &node, &packed);
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
                if (found.parent >= node) /* not inlined into another node; or the block is damaged */
                        break;
                node = found.parent;
        }
        return n;
}

/* ---- extents ------------------------------------------------------------------------------------------- */

/* Addresses of one bucket in which one node holds: [start, end). */
struct piece {
        uint32_t node;
        uint64_t start, end; /* relative */
};

static bool find_piece(const struct code_unit *unit, const struct layout *l, uint32_t relative,
                       struct piece *ret_piece)
{
        uint32_t number = relative >> (unit->bucket_shift & 31), n_buckets = code_unit_buckets(unit);
        bool is_last = number + 1 >= n_buckets;
        struct bucket bucket = find_bucket(unit, l, relative);
        struct piece piece = { .node = bucket.node };
        uint32_t at;

        if (!bucket.bytes)
                return false;
        piece.start = (uint64_t)(is_last ? n_buckets - 1 : number) << (unit->bucket_shift & 31);
        piece.end = is_last ? UINT32_MAX : piece.start + (UINT64_C(1) << (unit->bucket_shift & 31));
        at = count_not_above(bucket.segments, bucket.n_segments, relative);
        if (at > 0) {
                piece.start = load_u32(bucket.segments, at - 1);
                piece.node = load_u32(bucket.segments, (size_t)bucket.n_segments + at - 1);
        }
        if (at < bucket.n_segments)
                piece.end = load_u32(bucket.segments, at);
        *ret_piece = piece;
        return piece.start <= relative && relative < piece.end;
}

/* The function that a node was inlined into; CODE_UNIT_NONE if there is none. */
static uint32_t find_root(const struct code_unit *unit, const struct layout *l, uint32_t node)
{
        while (node < unit->n_nodes) {
                struct code_node found = load_node(l, node);

                if (found.parent >= node)
                        return node;
                node = found.parent;
        }
        return CODE_UNIT_NONE;
}

bool code_unit_find_extent(const struct code_unit *unit, uint64_t svma, uint64_t *ret_start_svma,
                           uint64_t *ret_end_svma)
{
        uint64_t relative = svma - unit->base_svma;
        struct piece whole, next;
        struct layout l;
        uint32_t root;

        if (!unit->bytes || svma < unit->base_svma || relative >= UINT32_MAX)
                return false;
        l = lay_out(unit);
        if (!find_piece(unit, &l, (uint32_t)relative, &whole))
                return false;
        root = find_root(unit, &l, whole.node);
        if (root == CODE_UNIT_NONE)
                return false;
        /* Pieces are never empty, so that each step leads on, also in a damaged block. */
        while (whole.start > 0 && find_piece(unit, &l, (uint32_t)whole.start - 1, &next) &&
               find_root(unit, &l, next.node) == root)
                whole.start = next.start;
        while (whole.end < UINT32_MAX && find_piece(unit, &l, (uint32_t)whole.end, &next) &&
               find_root(unit, &l, next.node) == root)
                whole.end = next.end;
        *ret_start_svma = unit->base_svma + whole.start;
        *ret_end_svma = unit->base_svma + whole.end;
        return true;
}

bool code_unit_find_next(const struct code_unit *unit, uint64_t svma, uint64_t end_svma,
                         uint64_t *ret_start_svma)
{
        uint64_t relative = svma < unit->base_svma ? 0 : svma - unit->base_svma;
        uint32_t first = CODE_UNIT_NONE;
        struct piece piece;
        struct layout l;

        if (!unit->bytes || relative >= UINT32_MAX)
                return false;
        l = lay_out(unit);
        if (svma >= unit->base_svma && find_piece(unit, &l, (uint32_t)relative, &piece))
                first = find_root(unit, &l, piece.node);
        while (relative < UINT32_MAX && unit->base_svma + relative < end_svma &&
               find_piece(unit, &l, (uint32_t)relative, &piece)) {
                uint32_t root = find_root(unit, &l, piece.node);

                if (root != CODE_UNIT_NONE && root != first) {
                        *ret_start_svma = unit->base_svma + piece.start;
                        return true;
                }
                first = root == CODE_UNIT_NONE ? CODE_UNIT_NONE : first;
                relative = piece.end;
        }
        return false;
}
