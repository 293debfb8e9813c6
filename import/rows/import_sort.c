/* SPDX-License-Identifier: MIT */
#include "import/rows/import_sort.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"
#include "base/large_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All that are in memory at once while parts are merged, and those of each part. */
#define MERGE_RECORDS    (((size_t)8 << 20) / sizeof(struct import_record))
#define PART_RECORDS_MIN 16
#define PART_RECORDS_MAX 4096 /* more make reading no faster */

/* Records of one clock in a sorted run. */
struct part {
        uint64_t file_offset_bytes; /* of the next one that is not in memory */
        uint64_t n_left;            /* in the file */
        struct import_record *records;
        size_t at, n; /* of those in memory */
        uint64_t begin_ns, end_ns;
        size_t number; /* in the order in which they were added */
};

struct import_sort {
        struct import_record *records, *spare; /* heap, `capacity` each */
        size_t n, capacity;
        int fd; /* of the runs; -1 = none yet */
        bool is_own_fd;
        uint64_t n_file_bytes;
        struct import_record last; /* of the file */

        struct part *parts; /* heap */
        size_t n_parts, parts_capacity;
        size_t *heap; /* heap: numbers of parts that have records, the earliest first */
        size_t n_heap;
        struct import_record *room; /* heap: of all parts in the file */
        size_t n_room;              /* records of each part */
        import_sort_place *place;
        const void *context;
};

int import_sort_new(struct import_sort **ret_sort, int fd, size_t run_bytes, struct error *err)
{
        struct import_sort *s = calloc(1, sizeof(*s));

        if (!s)
                return error_set(err, -ENOMEM, "no memory to sort events");
        s->fd = fd;
        s->capacity = (run_bytes != 0 ? run_bytes : IMPORT_RUN_BYTES) / sizeof(*s->records);
        s->records = malloc(s->capacity * sizeof(*s->records));
        s->spare = malloc(s->capacity * sizeof(*s->records));
        if (!s->records || !s->spare) {
                import_sort_free(s);
                return error_set(err, -ENOMEM, "no memory to sort events");
        }
        large_memory_hint(s->records, s->capacity * sizeof(*s->records));
        large_memory_hint(s->spare, s->capacity * sizeof(*s->spare));
        *ret_sort = s;
        return 0;
}

void import_sort_free(struct import_sort *sort)
{
        if (!sort)
                return;
        if (sort->is_own_fd)
                io_close(&sort->fd);
        free(sort->records);
        free(sort->spare);
        free(sort->parts);
        free(sort->heap);
        free(sort->room);
        free(sort);
}

/* ---- a run --------------------------------------------------------------------------------------------- */

/* Whether @b has to come before @a, which was added before it. */
static bool is_after(const struct import_record *a, const struct import_record *b)
{
        if (a->clock != b->clock)
                return a->clock > b->clock;
        if (a->begin != b->begin)
                return a->begin > b->begin;
        return a->kind == IMPORT_RECORD_SPAN && b->kind == IMPORT_RECORD_SPAN && a->end < b->end;
}

/* Where the stretch that is in order from @from on ends. */
static size_t find_stretch(const struct import_record *r, size_t from, size_t n)
{
        size_t i = from + 1;

        while (i < n && !is_after(&r[i - 1], &r[i]))
                i++;
        return i < n ? i : n;
}

static void merge(const struct import_record *a, size_t n_a, size_t n_b, struct import_record *to)
{
        const struct import_record *b = a + n_a, *a_end = b, *b_end = b + n_b;

        while (a < a_end && b < b_end)
                *to++ = is_after(a, b) ? *b++ : *a++;
        memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
        to += a_end - a;
        memcpy(to, b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges neighbouring stretches that are in order until there is one: files are mostly in order already. */
static void sort_run(struct import_sort *s)
{
        bool is_sorted = find_stretch(s->records, 0, s->n) >= s->n;

        while (!is_sorted) {
                struct import_record *was = s->records;
                size_t n_stretches = 0;

                for (size_t from = 0; from < s->n; n_stretches++) {
                        size_t middle = find_stretch(was, from, s->n);
                        size_t end = middle < s->n ? find_stretch(was, middle, s->n) : middle;

                        merge(was + from, middle - from, end - middle, s->spare + from);
                        from = end;
                }
                s->records = s->spare;
                s->spare = was;
                is_sorted = n_stretches <= 1;
        }
}

static int add_part(struct import_sort *s, struct part part, struct error *err)
{
        if (array_reserve(&s->parts, &s->parts_capacity, s->n_parts + 1, sizeof(*s->parts)) < 0)
                return error_set(err, -ENOMEM, "no memory to sort events");
        part.number = s->n_parts;
        s->parts[s->n_parts++] = part;
        return 0;
}

/* Whether the sorted run, which is about to be written, goes on as the part before it ended. */
static bool goes_on(const struct import_sort *s)
{
        const struct import_record *first = &s->records[0];

        return s->n_file_bytes > 0 && first->clock == s->records[s->n - 1].clock &&
               first->clock == s->last.clock && !is_after(&s->last, first);
}

/* Adds the parts of the sorted run, which is in memory or about to be written. */
static int add_parts(struct import_sort *s, bool is_in_file, struct error *err)
{
        for (size_t from = 0, to; from < s->n; from = to) {
                struct part part = { .n = 0 };
                int r;

                for (to = from + 1; to < s->n && s->records[to].clock == s->records[from].clock;)
                        to++;
                if (is_in_file) {
                        part.file_offset_bytes = s->n_file_bytes + from * sizeof(*s->records);
                        part.n_left = to - from;
                } else {
                        part.records = s->records + from;
                        part.n = to - from;
                }
                r = add_part(s, part, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int write_run(struct import_sort *s, struct error *err)
{
        size_t n_bytes = s->n * sizeof(*s->records);
        int r = 0;

        if (s->fd < 0) {
                s->fd = io_open_unnamed(err);
                s->is_own_fd = true;
        }
        if (s->fd < 0)
                return s->fd;
        sort_run(s);
        /* The runs of a file that is in order are one part. */
        if (goes_on(s))
                s->parts[s->n_parts - 1].n_left += s->n;
        else
                r = add_parts(s, true, err);
        if (r == 0)
                r = io_pwrite_all(s->fd, s->records, n_bytes, s->n_file_bytes, err);
        if (r < 0)
                return error_prefix(err, r, "sorted events");
        s->n_file_bytes += n_bytes;
        s->last = s->records[s->n - 1];
        s->n = 0;
        return 0;
}

int import_sort_add(struct import_sort *s, const struct import_record *record, struct error *err)
{
        if (s->n == s->capacity) {
                int r = write_run(s, err);

                if (r < 0)
                        return r;
        }
        s->records[s->n++] = *record;
        return 0;
}

/* ---- merging the parts --------------------------------------------------------------------------------- */

static bool is_earlier(const struct import_sort *s, size_t a, size_t b)
{
        const struct part *x = &s->parts[a], *y = &s->parts[b];

        if (x->begin_ns != y->begin_ns)
                return x->begin_ns < y->begin_ns;
        return x->end_ns != y->end_ns ? x->end_ns > y->end_ns : x->number < y->number;
}

static void sink(struct import_sort *s, size_t at)
{
        for (;;) {
                size_t best = at, left = 2 * at + 1, was = s->heap[at];

                if (left < s->n_heap && is_earlier(s, s->heap[left], s->heap[best]))
                        best = left;
                if (left + 1 < s->n_heap && is_earlier(s, s->heap[left + 1], s->heap[best]))
                        best = left + 1;
                if (best == at)
                        return;
                s->heap[at] = s->heap[best];
                s->heap[best] = was;
                at = best;
        }
}

/* Makes the part's next record ready.  Returns 1, or 0 if it has none left. */
static int ready_part(struct import_sort *s, struct part *part, struct error *err)
{
        const struct import_record *record;

        if (part->at == part->n) {
                size_t n = part->n_left < s->n_room ? (size_t)part->n_left : s->n_room, n_bytes;
                int r;

                if (n == 0)
                        return 0;
                r = io_pread_full(s->fd, part->records, n * sizeof(*part->records), part->file_offset_bytes,
                                  &n_bytes, err);
                if (r == 0 && n_bytes != n * sizeof(*part->records))
                        r = error_set(err, -EIO, "the file ends too early");
                if (r < 0)
                        return error_prefix(err, r, "sorted events");
                part->file_offset_bytes += n_bytes;
                part->n_left -= n;
                part->at = 0;
                part->n = n;
        }
        record = &part->records[part->at];
        part->begin_ns = s->place(s->context, record->clock, record->begin);
        part->end_ns = record->kind == IMPORT_RECORD_SPAN ? s->place(s->context, record->clock, record->end)
                                                          : part->begin_ns;
        return 1;
}

static size_t count_room(const struct import_sort *s)
{
        size_t n = s->n_parts != 0 ? MERGE_RECORDS / s->n_parts : 0;

        return n < PART_RECORDS_MIN ? PART_RECORDS_MIN : n > PART_RECORDS_MAX ? PART_RECORDS_MAX : n;
}

int import_sort_begin(struct import_sort *s, import_sort_place *place, const void *context, struct error *err)
{
        int r = 0;

        s->place = place;
        s->context = context;
        if (s->n_file_bytes > 0 && s->n > 0) {
                r = write_run(s, err);
        } else {
                sort_run(s);
                r = add_parts(s, false, err);
        }
        if (r < 0)
                return r;
        s->n_room = count_room(s);
        s->heap = calloc(s->n_parts + 1, sizeof(*s->heap));
        s->room = s->n_file_bytes > 0 ? calloc(s->n_parts * s->n_room + 1, sizeof(*s->room)) : NULL;
        if (!s->heap || (s->n_file_bytes > 0 && !s->room))
                return error_set(err, -ENOMEM, "no memory to sort events");
        for (size_t i = 0; i < s->n_parts; i++) {
                if (s->n_file_bytes > 0)
                        s->parts[i].records = s->room + i * s->n_room;
                r = ready_part(s, &s->parts[i], err);
                if (r < 0)
                        return r;
                s->heap[s->n_heap++] = i;
        }
        for (size_t i = s->n_heap; i-- > 0;)
                sink(s, i);
        return 0;
}

int import_sort_next(struct import_sort *s, struct import_record *ret_record, uint64_t *ret_begin_ns,
                     uint64_t *ret_end_ns, struct error *err)
{
        struct part *part;
        int r;

        if (s->n_heap == 0)
                return 0;
        part = &s->parts[s->heap[0]];
        *ret_record = part->records[part->at++];
        *ret_begin_ns = part->begin_ns;
        *ret_end_ns = part->end_ns;
        r = ready_part(s, part, err);
        if (r < 0)
                return r;
        if (r == 0)
                s->heap[0] = s->heap[--s->n_heap];
        if (s->n_heap > 1)
                sink(s, 0);
        return 1;
}
