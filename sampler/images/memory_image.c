/* SPDX-License-Identifier: MIT */
#include "sampler/images/memory_image.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "sampler/images/image_search.h"
#include "sampler/keep/build_id_note.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"
#include "sampler/proc/process_maps.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define BELOW_MAX        16   /* mappings below the code that are looked at */
#define NOTE_BYTES_MAX   1024 /* of the notes that may have the build-id */
#define TRIES_MAX        3    /* tries to read an image that is being written over */
#define COMPARE_BYTES    65536
#define HEADER_SECTIONS  40 /* place in the ELF header of the offset of the section headers */
#define HEADER_SECTION_N 60 /* place of their number, and of the index of the one with the names */

/* ---- what an image says -------------------------------------------------------------------------------- */

/* Lists where the image's code is mapped, if address 0 of its file is at @base_avma. */
static void list_parts(struct memory_image *image)
{
        const struct elf_header_segment *s;
        size_t at = 0;

        image->n_parts = 0;
        while (image->n_parts < MEMORY_IMAGE_PARTS_MAX && (s = elf_header_next_code(&image->header, &at)))
                image->parts[image->n_parts++] =
                        (struct memory_image_part){ .start_avma = image->base_avma + s->svma,
                                                    .end_avma = image->base_avma + s->svma + s->file_bytes,
                                                    .file_off = s->file_off };
}

const struct memory_image_part *memory_image_find_part(const struct memory_image *image,
                                                       const struct memory_image_place *place)
{
        for (size_t i = 0; i < image->n_parts; i++) {
                const struct memory_image_part *p = &image->parts[i];

                if (p->start_avma > p->end_avma || p->end_avma - p->start_avma > MEMORY_IMAGE_PART_BYTES)
                        return NULL;
                if (place->avma != place->start_avma
                            ? p->start_avma <= place->avma && place->avma < p->end_avma
                            : p->start_avma < place->end_avma && place->start_avma < p->end_avma)
                        return p;
        }
        return NULL;
}

/* Is the memory in question code of this image? */
static bool covers(const struct memory_image *image, const struct memory_image_place *place)
{
        return memory_image_find_part(image, place) != NULL;
}

/* Returns its length; 0 = these notes have none. */
static size_t take_build_id(const uint8_t *notes, size_t n_bytes, uint8_t ret_id[MEMORY_IMAGE_BUILD_ID_MAX])
{
        const uint8_t *id = NULL;
        size_t n = build_id_note_find_in(notes, n_bytes, &id);

        if (n > MEMORY_IMAGE_BUILD_ID_MAX)
                n = MEMORY_IMAGE_BUILD_ID_MAX;
        if (n > 0)
                memcpy(ret_id, id, n);
        return n;
}

static void read_build_id(struct memory_image *image)
{
        for (size_t i = 0; i < image->header.n_segments && image->build_id_bytes == 0; i++) {
                const struct elf_header_segment *s = &image->header.segments[i];
                uint8_t notes[NOTE_BYTES_MAX];
                size_t n = s->file_bytes < sizeof(notes) ? s->file_bytes : sizeof(notes);

                if (s->type == PT_NOTE &&
                    process_memory_read_all(&image->memory, image->base_avma + s->svma, notes, n))
                        image->build_id_bytes = take_build_id(notes, n, image->build_id);
        }
}

/* Whether the header at @avma is still the same after the code was read. */
static bool is_there_still(const struct memory_image *image, uint64_t avma)
{
        uint8_t begin[IMAGE_SEARCH_BEGIN_BYTES];

        return process_memory_read_all(&image->memory, avma, begin, image->header.n_bytes) &&
               memcmp(begin, image->begin, image->header.n_bytes) == 0;
}

/*
 * Constants and the names of functions lie beside the code: two images may have the same code but different
 * names or constants.  Writable parts are left out: they differ at each load address, and change.
 */
static bool is_constant(const struct elf_header_segment *s)
{
        return s->type == PT_LOAD && !(s->flags & (PF_W | PF_X)) && s->file_bytes > 0;
}

static bool is_zero(const uint8_t *bytes, size_t n_bytes)
{
        return n_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n_bytes - 1) == 0);
}

/* The next segment of constants, and how much of it is hashed; NULL at the end.  @at: 0 at first. */
static const struct elf_header_segment *next_constant(const struct elf_header *header, size_t *at,
                                                      uint64_t *room_bytes, uint64_t *ret_bytes)
{
        while (*at < header->n_segments) {
                const struct elf_header_segment *s = &header->segments[(*at)++];

                if (!is_constant(s) || *room_bytes == 0)
                        continue;
                *ret_bytes = s->file_bytes < *room_bytes ? s->file_bytes : *room_bytes;
                *room_bytes -= *ret_bytes;
                return s;
        }
        return NULL;
}

/*
 * Appends the mapped constants.  @constants says which segments these are; if it is 0 at first, it is set
 * to the segments that are found.
 */
static int append_constants(const struct memory_image *image, uint32_t *constants, struct byte_buffer *out)
{
        const bool finds = *constants == 0;
        uint64_t room_bytes = MEMORY_IMAGE_CONTENT_BYTES, n_bytes;
        const struct elf_header_segment *s;
        size_t at = 0;

        while ((s = next_constant(&image->header, &at, &room_bytes, &n_bytes))) {
                uint32_t bit = UINT32_C(1) << (at - 1);
                size_t before = out->used_bytes;
                int r;

                if (!finds && !(*constants & bit))
                        continue;
                r = process_memory_append(&image->memory, image->base_avma + s->svma, n_bytes, out);
                if (r == -ENOMEM || (r < 0 && !finds))
                        return r;
                if (r == 0 && !finds)
                        continue;
                if (r == 0 && !is_zero(out->data + before, n_bytes))
                        *constants |= bit;
                else
                        out->used_bytes = before;
        }
        return 0;
}

uint64_t memory_image_count_hashed(const struct memory_image *image)
{
        uint64_t room = MEMORY_IMAGE_CONTENT_BYTES, n_bytes = image->header.n_bytes, n;
        size_t at = 0;

        for (size_t i = 0; i < image->n_parts; i++) {
                n = image->parts[i].end_avma - image->parts[i].start_avma;
                n = n < room ? n : room;
                room -= n;
                n_bytes += n;
        }
        room = MEMORY_IMAGE_CONTENT_BYTES;
        while (next_constant(&image->header, &at, &room, &n))
                if (image->constants & UINT32_C(1) << (at - 1))
                        n_bytes += n;
        return n_bytes;
}

/* Headers, code and constants as they are mapped now.  Returns 1, 0 if they cannot be read, -ENOMEM. */
static int hash_mapped(const struct memory_image *image, uint32_t *constants, uint64_t *ret_content)
{
        struct byte_buffer bytes = { .data = NULL };
        uint64_t room = MEMORY_IMAGE_CONTENT_BYTES;
        int r = 0;

        byte_buffer_add(&bytes, image->begin, image->header.n_bytes);
        for (size_t i = 0; i < image->n_parts && r == 0 && room > 0; i++) {
                const struct memory_image_part *p = &image->parts[i];
                uint64_t n = p->end_avma - p->start_avma;

                n = n < room ? n : room;
                room -= n;
                r = process_memory_append(&image->memory, p->start_avma, n, &bytes);
        }
        if (r < 0)
                goto done;
        /* Without its header, it is unknown whether the memory around its code belongs to it. */
        if (image->header_avma != 0)
                r = append_constants(image, constants, &bytes);
        if (r < 0)
                goto done;
        if (bytes.failed)
                r = -ENOMEM;
        if (r < 0)
                goto done;
        *ret_content = content_hash(bytes.data, bytes.used_bytes);

done:
        byte_buffer_deinit(&bytes);
        return r == 0 ? 1 : r == -ENOMEM ? r : 0;
}

/* Takes the header that begins at @avma, if it is one and the memory in question is its code. */
static bool take_header(struct memory_image *image, const struct memory_image_place *place, uint64_t avma)
{
        size_t n = process_memory_read(&image->memory, avma, image->begin, sizeof(image->begin));
        uint64_t svma;

        if (elf_header_read(image->begin, n, &image->header) < 0 || image->header.type == ET_REL ||
            !elf_header_find_svma(&image->header, 0, &svma))
                return false;
        image->header_avma = avma;
        image->base_avma = avma - svma;
        list_parts(image);
        return covers(image, place);
}

/* ---- the header below the code ------------------------------------------------------------------------- */

struct mapping {
        uint64_t start_avma, end_avma;
};

/* The mappings below and at the code, the nearest one last.  Returns how many. */
static size_t list_below(const struct memory_image_place *place, struct mapping below[BELOW_MAX])
{
        struct process_maps maps;
        struct perf_mmap m;
        size_t n = 0;

        if (process_maps_open(&maps, place->pid, NULL) < 0)
                return 0;
        while (process_maps_next(&maps, &m) == 1 && m.start_avma <= place->avma) {
                if (place->avma - m.start_avma > MEMORY_IMAGE_BELOW_BYTES)
                        continue;
                if (n == BELOW_MAX)
                        memmove(below, below + 1, --n * sizeof(*below));
                below[n++] = (struct mapping){ m.start_avma, m.start_avma + m.length_bytes };
        }
        process_maps_close(&maps);
        return n;
}

/* The first bytes of pages, from @top_avma downwards, in one call.  Returns how many were there. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes there */
static size_t probe(uint32_t pid, uint64_t top_avma, uint64_t page_bytes, uint32_t *first, size_t n)
{
        struct iovec here = { .iov_base = first, .iov_len = n * sizeof(*first) };
        struct iovec there[PACE_IMAGES_PROBES];
        ssize_t got;

        for (size_t i = 0; i < n; i++) {
                there[i].iov_len = sizeof(*first);
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): another process's address is only a number */
                there[i].iov_base = (void *)(uintptr_t)(top_avma - i * page_bytes);
        }
        got = process_vm_readv((pid_t)pid, &here, 1, there, n, 0);
        return got > 0 ? (size_t)got / sizeof(*first) : 0;
}

/* Searches one mapping downwards, from the page of the code or from the mapping's end. */
static bool find_in_mapping(struct memory_image *image, const struct memory_image_place *place,
                            const struct mapping *m, uint64_t page_bytes, size_t *probes_left)
{
        uint64_t top_avma = (place->avma < m->end_avma ? place->avma : m->end_avma - 1) / page_bytes *
                            page_bytes;
        uint64_t n_pages = (top_avma - m->start_avma) / page_bytes + 1;

        while (n_pages > 0 && *probes_left > 0) {
                uint32_t first[PACE_IMAGES_PROBES];
                size_t n = PACE_IMAGES_PROBES, got;

                if (n > n_pages)
                        n = (size_t)n_pages;
                if (n > *probes_left)
                        n = *probes_left;
                got = probe(place->pid, top_avma, page_bytes, first, n);
                for (size_t i = 0; i < got; i++)
                        if (memcmp(&first[i], ELFMAG, SELFMAG) == 0 &&
                            take_header(image, place, top_avma - i * page_bytes))
                                return true;
                if (got < n) /* it cannot be read */
                        return false;
                *probes_left -= n;
                n_pages -= n;
                top_avma -= n * page_bytes;
        }
        return false;
}

static bool find_below(struct memory_image *image, const struct memory_image_place *place)
{
        uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
        size_t probes_left = MEMORY_IMAGE_PROBES_MAX;
        struct mapping below[BELOW_MAX];
        size_t n;

        /* An image that is mapped as a whole is found without looking at the mappings. */
        if (take_header(image, place, place->start_avma))
                return true;
        n = list_below(place, below);
        for (size_t i = n; i > 0; i--)
                if (below[i - 1].start_avma != place->start_avma &&
                    take_header(image, place, below[i - 1].start_avma))
                        return true;
        for (size_t i = n; i > 0 && probes_left > 0; i--)
                if (find_in_mapping(image, place, &below[i - 1], page_bytes, &probes_left))
                        return true;
        return false;
}

/* ---- the image elsewhere ------------------------------------------------------------------------------- */

/* Is the code of the image at @copy_avma the same as the mapped code, as far as it is hashed? */
static bool is_copy(const struct memory_image *image, uint64_t copy_avma, uint8_t *scratch)
{
        for (size_t i = 0; i < image->n_parts; i++) {
                const struct memory_image_part *p = &image->parts[i];
                uint64_t left = p->end_avma - p->start_avma, done = 0;

                if (left > MEMORY_IMAGE_CONTENT_BYTES)
                        left = MEMORY_IMAGE_CONTENT_BYTES;
                while (left > 0) {
                        size_t n = left < COMPARE_BYTES ? left : COMPARE_BYTES;

                        if (!process_memory_read_all(&image->memory, p->start_avma + done, scratch, n) ||
                            !process_memory_read_all(&image->memory, copy_avma + p->file_off + done,
                                                     scratch + COMPARE_BYTES, n) ||
                            memcmp(scratch, scratch + COMPARE_BYTES, n) != 0)
                                return false;
                        done += n;
                        left -= n;
                }
        }
        return image->n_parts > 0;
}

/*
 * Assumes that the code begins where the mapping begins: if there is no header, the program has mapped only
 * segments.
 */
static bool take_hit(struct memory_image *image, const struct memory_image_place *place,
                     const struct image_search_hit *hit, uint8_t *scratch)
{
        uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
        const struct elf_header_segment *s;
        size_t at = 0;

        if (hit->header.type == ET_REL)
                return false;
        image->header = hit->header;
        image->header_avma = 0;
        image->copy_avma = hit->avma;
        while ((s = elf_header_next_code(&hit->header, &at))) {
                image->base_avma = place->start_avma - s->svma / page_bytes * page_bytes;
                list_parts(image);
                if (s->file_bytes > place->end_avma - place->start_avma || !covers(image, place))
                        continue;
                if (is_copy(image, hit->avma, scratch)) {
                        memcpy(image->begin, hit->begin, hit->begin_bytes);
                        return true;
                }
        }
        return false;
}

/* Returns 1, 0, -ENOMEM. */
static int find_elsewhere(struct memory_image *image, const struct memory_image_place *place)
{
        const struct image_search_limits limits = { .bytes_max = PACE_IMAGES_SEARCH_BYTES,
                                                    .until_ns = clock_raw_ns() + place->search_ns };
        uint8_t *scratch = malloc((size_t)2 * COMPARE_BYTES);
        struct image_search *search = NULL;
        struct image_search_hit hit;
        bool found = false;
        int r = scratch ? image_search_new(&image->memory, &limits, &search) : -ENOMEM;

        while (r == 0 && !found && image_search_next(search, &hit) == 1)
                found = take_hit(image, place, &hit, scratch);
        image_search_free(search);
        free(scratch);
        return r == -ENOMEM ? r : found;
}

/*
 * Whether an image that was found by its code alone has a header by now: the header was still being written
 * then, and may be another image's.
 */
static bool has_header_now(const struct memory_image *image)
{
        struct memory_image now = { .memory = image->memory };
        const struct memory_image_place place = { .pid = image->memory.pid,
                                                  .start_avma = image->parts[0].start_avma,
                                                  .end_avma = image->parts[0].end_avma,
                                                  .avma = image->parts[0].start_avma };

        return image->n_parts > 0 && find_below(&now, &place) == 1;
}

int memory_image_is_unchanged(const struct memory_image *image)
{
        uint32_t constants = image->constants;
        uint64_t content;
        int r;

        if (image->header_avma != 0 && !is_there_still(image, image->header_avma))
                return 0;
        if (image->header_avma == 0 && has_header_now(image))
                return 0;
        r = hash_mapped(image, &constants, &content);
        return r == 1 ? content == image->content && constants == image->constants : r;
}

/* The build-id was read before the code: in between, another image may have been put there. */
static bool has_same_build_id(const struct memory_image *image)
{
        struct memory_image now = *image;

        now.build_id_bytes = 0;
        read_build_id(&now);
        return now.build_id_bytes == image->build_id_bytes &&
               memcmp(now.build_id, image->build_id, image->build_id_bytes) == 0;
}

/* Returns 1, 0, -ENOMEM; -EAGAIN if it was written over meanwhile. */
static int find_once(const struct memory_image_place *place, struct memory_image *image)
{
        int r;

        *image = (struct memory_image){ .memory = process_memory_of(place->pid) };
        r = find_below(image, place);
        if (r == 0 && place->search_ns > 0)
                r = find_elsewhere(image, place);
        if (r != 1)
                return r;
        read_build_id(image);
        r = hash_mapped(image, &image->constants, &image->content);
        if (r != 1)
                return r;
        return is_there_still(image, image->header_avma ? image->header_avma : image->copy_avma) &&
                               has_same_build_id(image)
                       ? 1
                       : -EAGAIN;
}

int memory_image_find(const struct memory_image_place *place, struct memory_image *ret_image)
{
        int r = -EAGAIN;

        for (unsigned i = 0; r == -EAGAIN && i < TRIES_MAX; i++)
                r = find_once(place, ret_image);
        return r == -EAGAIN ? 0 : r;
}

/* ---- its bytes ----------------------------------------------------------------------------------------- */

static bool add_of_file(const uint8_t *bytes, size_t n_bytes, uint64_t file_off, uint64_t n,
                        struct byte_buffer *out)
{
        if (file_off > n_bytes || n > n_bytes - file_off)
                return false;
        byte_buffer_add(out, bytes + file_off, n);
        return true;
}

bool memory_image_has_content(const struct memory_image *image, const uint8_t *bytes, size_t n_bytes)
{
        struct byte_buffer hashed = { .data = NULL };
        uint64_t room = MEMORY_IMAGE_CONTENT_BYTES, n;
        const struct elf_header_segment *s;
        bool is_same = true;
        size_t at = 0;

        byte_buffer_add(&hashed, image->begin, image->header.n_bytes);
        for (size_t i = 0; i < image->n_parts && is_same && room > 0; i++) {
                n = image->parts[i].end_avma - image->parts[i].start_avma;
                n = n < room ? n : room;
                room -= n;
                is_same = add_of_file(bytes, n_bytes, image->parts[i].file_off, n, &hashed);
        }
        room = MEMORY_IMAGE_CONTENT_BYTES;
        while (is_same && (s = next_constant(&image->header, &at, &room, &n)))
                if (image->constants & UINT32_C(1) << (at - 1))
                        is_same = add_of_file(bytes, n_bytes, s->file_off, n, &hashed);
        is_same = is_same && !hashed.failed && content_hash(hashed.data, hashed.used_bytes) == image->content;
        byte_buffer_deinit(&hashed);
        return is_same;
}

static uint64_t count_loaded(const struct elf_header *header)
{
        uint64_t end = header->n_bytes;

        for (size_t i = 0; i < header->n_segments; i++) {
                const struct elf_header_segment *s = &header->segments[i];

                if (s->type == PT_LOAD && s->file_off + s->file_bytes > end)
                        end = s->file_off + s->file_bytes;
        }
        return end;
}

/* Reads all loaded segments, each to its place in the file.  Returns 0, -EFAULT. */
static int read_segments(const struct memory_image *image, uint8_t *bytes)
{
        for (size_t i = 0; i < image->header.n_segments; i++) {
                const struct elf_header_segment *s = &image->header.segments[i];

                if (s->type == PT_LOAD &&
                    process_memory_read(&image->memory, image->base_avma + s->svma, bytes + s->file_off,
                                        s->file_bytes) < s->file_bytes &&
                    s->flags & PF_X)
                        return -EFAULT;
        }
        return 0;
}

/* More bytes are read than are hashed, so the image is checked before and after the reading. */
int memory_image_append_parts(const struct memory_image *image, uint64_t bytes_max, struct byte_buffer *out)
{
        uint64_t n_bytes = count_loaded(&image->header);
        uint8_t *bytes;
        int r;

        if (n_bytes > bytes_max)
                return -EFBIG;
        r = memory_image_is_unchanged(image);
        if (r <= 0)
                return r < 0 ? r : -EFAULT;
        bytes = byte_buffer_reserve(out, n_bytes);
        if (!bytes)
                return -ENOMEM;
        memset(bytes, 0, n_bytes);
        r = read_segments(image, bytes);
        if (r == 0 && (!memory_image_has_content(image, bytes, n_bytes) ||
                       (image->header_avma != 0 && !is_there_still(image, image->header_avma))))
                r = -EFAULT;
        if (r < 0)
                return r;
        memcpy(bytes, image->begin, image->header.n_bytes);
        memset(bytes + HEADER_SECTIONS, 0, sizeof(uint64_t));
        memset(bytes + HEADER_SECTION_N, 0, 2 * sizeof(uint16_t));
        out->used_bytes += n_bytes;
        return 0;
}

/* Code beyond the hashed part is compared with the present mapping. */
static bool has_rest(const struct memory_image *image, const uint8_t *bytes, uint8_t *scratch)
{
        uint64_t hashed = 0;

        for (size_t i = 0; i < image->n_parts; i++) {
                const struct memory_image_part *p = &image->parts[i];
                uint64_t n_bytes = p->end_avma - p->start_avma;
                uint64_t room = MEMORY_IMAGE_CONTENT_BYTES - hashed;
                uint64_t done = n_bytes < room ? n_bytes : room;

                hashed += done;
                while (done < n_bytes) {
                        size_t n = n_bytes - done < COMPARE_BYTES ? n_bytes - done : COMPARE_BYTES;

                        if (!process_memory_read_all(&image->memory, p->start_avma + done, scratch, n) ||
                            memcmp(scratch, bytes + p->file_off + done, n) != 0)
                                return false;
                        done += n;
                }
        }
        return true;
}

static bool has_parts(const struct memory_image *image, size_t n_bytes)
{
        for (size_t i = 0; i < image->n_parts; i++) {
                const struct memory_image_part *p = &image->parts[i];

                if (p->file_off > n_bytes || p->end_avma - p->start_avma > n_bytes - p->file_off)
                        return false;
        }
        return image->n_parts > 0;
}

bool memory_image_has_code(const struct memory_image *image, const uint8_t *bytes, size_t n_bytes)
{
        uint8_t *scratch = malloc(COMPARE_BYTES);
        bool is_same = scratch && has_parts(image, n_bytes) &&
                       memory_image_has_content(image, bytes, n_bytes) && has_rest(image, bytes, scratch);

        free(scratch);
        return is_same;
}

bool memory_image_has_build_id(const struct memory_image *image, const uint8_t *bytes, size_t n_bytes)
{
        uint8_t id[MEMORY_IMAGE_BUILD_ID_MAX];
        size_t id_bytes = 0;

        if (image->build_id_bytes == 0)
                return true;
        for (size_t i = 0; i < image->header.n_segments && id_bytes == 0; i++) {
                const struct elf_header_segment *s = &image->header.segments[i];

                if (s->type == PT_NOTE && s->file_off <= n_bytes && s->file_bytes <= n_bytes - s->file_off)
                        id_bytes = take_build_id(bytes + s->file_off, s->file_bytes, id);
        }
        return id_bytes == image->build_id_bytes && memcmp(id, image->build_id, id_bytes) == 0;
}
