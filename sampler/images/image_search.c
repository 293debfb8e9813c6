/* SPDX-License-Identifier: MIT */
#include "sampler/images/image_search.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/io.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/proc/process_maps.h"
#include "sampler/proc/process_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES  (UINT32_C(1) << 20)
#define NEAR_BYTES   (UINT64_C(1) << 20) /* on both sides of a place that is looked at first */
#define PRESENT_MASK (UINT64_C(3) << 62) /* of an entry of /proc/PID/pagemap: in memory, or swapped out */

static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 }; /* 64 bits, little endian, version 1 */

enum rank { RANK_NEAR, RANK_ANONYMOUS, RANK_DATA, RANK_CODE, RANK_COUNT };

struct stretch {
        uint64_t start_avma, end_avma;
        enum rank rank;
};

struct image_search {
        const struct process_memory *memory;
        struct image_search_limits limits;
        struct stretch *stretches; /* heap */
        size_t n_stretches, capacity;
        enum rank rank, end_rank;
        size_t stretch;      /* in which the search is */
        uint64_t at_avma;    /* place in that stretch: the part before was searched; 0 = none was */
        uint64_t chunk_avma; /* of the bytes in `chunk` */
        size_t chunk_bytes, chunk_at;
        uint64_t n_bytes;
        uint64_t page_bytes;
        uint8_t begin[IMAGE_SEARCH_BEGIN_BYTES];
        uint64_t entries[CHUNK_BYTES / 4096];
        uint8_t chunk[CHUNK_BYTES];
};

static enum rank rank_of(const struct perf_mmap *m)
{
        return m->inode == 0 ? RANK_ANONYMOUS : RANK_DATA;
}

static int add_stretch(struct image_search *s, const struct stretch *stretch)
{
        if (array_reserve(&s->stretches, &s->capacity, s->n_stretches + 1, sizeof(*s->stretches)) < 0)
                return -ENOMEM;
        s->stretches[s->n_stretches++] = *stretch;
        return 0;
}

/* Adds the surroundings of the given place; they are searched a second time when their stretch is due. */
static int add_near(struct image_search *s, const struct stretch *whole)
{
        uint64_t near_avma = s->limits.near_avma;
        struct stretch near = { .rank = RANK_NEAR };

        if (near_avma < whole->start_avma || near_avma >= whole->end_avma)
                return 0;
        near.start_avma = near_avma - whole->start_avma > NEAR_BYTES ? near_avma - NEAR_BYTES
                                                                     : whole->start_avma;
        near.end_avma = whole->end_avma - near_avma > NEAR_BYTES ? near_avma + NEAR_BYTES : whole->end_avma;
        return add_stretch(s, &near);
}

/* Files whose code is mapped are programs and libraries; the loader maps the parts of a file in a row. */
static int list_memory(struct image_search *s, struct process_maps *maps)
{
        uint64_t inode = 0, code_inode = 0;
        struct perf_mmap m;

        while (process_maps_next(maps, &m) == 1) {
                struct stretch new = { m.start_avma, m.start_avma + m.length_bytes, rank_of(&m) };

                if (m.path_bytes > 2 && (memcmp(m.path, "[v", 2) == 0 || memcmp(m.path, "/dev/", 5) == 0))
                        continue; /* the kernel's, or a device's */
                if (m.inode != inode)
                        code_inode = 0;
                inode = m.inode;
                if (m.executable)
                        code_inode = inode;
                if (inode != 0 && (m.executable || inode == code_inode))
                        new.rank = RANK_CODE;
                if (add_near(s, &new) < 0 || add_stretch(s, &new) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int image_search_new(struct process_memory *memory, const struct image_search_limits *limits,
                     struct image_search **ret_search)
{
        struct image_search *s = calloc(1, sizeof(*s));
        struct process_maps maps;
        int r;

        if (!s)
                return -ENOMEM;
        s->memory = memory;
        s->limits = *limits;
        s->end_rank = RANK_COUNT;
        s->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
        r = memory->maps_fd >= 0 ? process_maps_open_fd(&maps, memory->maps_fd, NULL)
                                 : process_maps_open(&maps, memory->pid, NULL);
        memory->maps_fd = -1;
        if (r < 0) {
                image_search_free(s);
                return r == -ENOMEM ? r : -ENOENT;
        }
        r = list_memory(s, &maps);
        process_maps_close(&maps);
        if (r < 0) {
                image_search_free(s);
                return r;
        }
        *ret_search = s;
        return 0;
}

void image_search_free(struct image_search *s)
{
        if (!s)
                return;
        free(s->stretches);
        free(s);
}

/* ---- going through memory ------------------------------------------------------------------------------ */

/* Anonymous memory is often reserved by the gigabyte and used little. */
static bool is_empty(struct image_search *s, uint64_t start_avma, uint64_t n_bytes)
{
        size_t n_pages = (n_bytes + s->page_bytes - 1) / s->page_bytes;
        size_t got;

        if (s->memory->pagemap_fd < 0 || n_pages > sizeof(s->entries) / sizeof(s->entries[0]) ||
            io_pread_full(s->memory->pagemap_fd, s->entries, n_pages * sizeof(s->entries[0]),
                          start_avma / s->page_bytes * sizeof(s->entries[0]), &got, NULL) < 0 ||
            got < n_pages * sizeof(s->entries[0]))
                return false;
        for (size_t i = 0; i < n_pages; i++)
                if (s->entries[i] & PRESENT_MASK)
                        return false;
        return true;
}

static bool is_over(const struct image_search *s)
{
        const struct image_search_limits *limits = &s->limits;

        return s->n_bytes >= limits->bytes_max ||
               (limits->until_ns > 0 ? clock_raw_ns() >= limits->until_ns
                                     : clock_thread_ns() >= limits->until_thread_ns);
}

static void leave_stretch(struct image_search *s)
{
        s->stretch++;
        s->at_avma = 0;
}

/* Reads the next part into the chunk; false at the end. */
static bool read_chunk(struct image_search *s)
{
        while (!is_over(s)) {
                const struct stretch *stretch;
                uint64_t n;

                if (s->stretch == s->n_stretches) {
                        if (++s->rank >= s->end_rank)
                                return false;
                        s->stretch = 0;
                        s->at_avma = 0;
                        continue;
                }
                stretch = &s->stretches[s->stretch];
                if (stretch->rank != s->rank || s->at_avma >= stretch->end_avma) {
                        leave_stretch(s);
                        continue;
                }
                if (s->at_avma < stretch->start_avma)
                        s->at_avma = stretch->start_avma;
                n = stretch->end_avma - s->at_avma < CHUNK_BYTES ? stretch->end_avma - s->at_avma
                                                                 : CHUNK_BYTES;
                if (s->rank == RANK_ANONYMOUS && is_empty(s, s->at_avma, n)) {
                        s->at_avma += n;
                        continue;
                }
                s->chunk_avma = s->at_avma;
                s->chunk_at = 0;
                s->chunk_bytes = process_memory_read(s->memory, s->at_avma, s->chunk, n);
                s->n_bytes += s->chunk_bytes;
                s->at_avma += n;
                if (s->chunk_bytes < n) /* an error here means that the following pages cannot be read */
                        s->at_avma = stretch->end_avma;
                else if (n == CHUNK_BYTES) /* a header across the end is seen whole in the next chunk */
                        s->at_avma -= sizeof(magic) - 1;
                if (s->chunk_bytes > 0)
                        return true;
        }
        return false;
}

int image_search_next(struct image_search *s, struct image_search_hit *ret_hit)
{
        while (s->rank < s->end_rank) {
                const uint8_t *found = memmem(s->chunk + s->chunk_at, s->chunk_bytes - s->chunk_at, magic,
                                              sizeof(magic));

                if (!found) {
                        if (!read_chunk(s))
                                return 0;
                        continue;
                }
                s->chunk_at = (size_t)(found - s->chunk) + 1;
                *ret_hit = (struct image_search_hit){ .avma = s->chunk_avma + (uint64_t)(found - s->chunk),
                                                      .begin = s->begin };
                ret_hit->begin_bytes = process_memory_read(s->memory, ret_hit->avma, s->begin,
                                                           sizeof(s->begin));
                if (elf_header_read(s->begin, ret_hit->begin_bytes, &ret_hit->header) == 0)
                        return 1;
        }
        return 0;
}

void image_search_go_on_in_heap(struct image_search *s, uint64_t bytes_max)
{
        s->end_rank = RANK_ANONYMOUS + 1;
        if (s->n_bytes + bytes_max < s->limits.bytes_max)
                s->limits.bytes_max = s->n_bytes + bytes_max;
}

bool image_search_has_heap(const struct image_search *s)
{
        return s->rank > RANK_ANONYMOUS;
}
