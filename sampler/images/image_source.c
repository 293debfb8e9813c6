/* SPDX-License-Identifier: MIT */
#include "sampler/images/image_source.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_spec.h"
#include "sampler/images/image_search.h"
#include "sampler/images/memory_image.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/image_reader.h"
#include "sampler/pace/pace.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct image_source {
        struct memory_image image;
        struct byte_buffer held; /* the image's mapped bytes; empty = the keeper reads them later */
        bool has_several;        /* wholes: ambiguous, since several match */
};

/*
 * Another loaded instance of the image has the same beginning, but it is not followed by the rest of the
 * file.  The section headers show this: in a whole file the first one is empty, and the names of sections
 * are where the headers say.
 */
static bool has_sections(const struct elf_header *header, const uint8_t *bytes, size_t n_bytes)
{
        static const uint8_t zeros[ELF_HEADER_SECTION_BYTES] = { 0 };
        struct elf_header_section names;

        if (header->n_sections == 0)
                return true;
        if (header->names_section >= header->n_sections ||
            memcmp(bytes + header->sections_off, zeros, sizeof(zeros)) != 0)
                return false;
        elf_header_section_read(bytes + header->sections_off +
                                        (size_t)header->names_section * ELF_HEADER_SECTION_BYTES,
                                &names);
        return names.type == SHT_STRTAB && names.n_bytes > 0 && names.file_off < n_bytes &&
               names.n_bytes <= n_bytes - names.file_off && bytes[names.file_off] == 0 &&
               bytes[names.file_off + names.n_bytes - 1] == 0;
}

/* Section headers are at the end of most files, but some have sections after them. */
static uint64_t count_with_sections(const struct elf_header *header, const uint8_t *bytes, uint64_t n_bytes)
{
        uint64_t end = n_bytes;

        for (uint32_t i = 0; i < header->n_sections; i++) {
                struct elf_header_section s;

                elf_header_section_read(bytes + header->sections_off + (size_t)i * ELF_HEADER_SECTION_BYTES,
                                        &s);
                if (s.type != SHT_NOBITS && s.type != SHT_NULL && s.file_off <= IMAGE_SOURCE_BYTES_MAX &&
                    s.n_bytes <= IMAGE_SOURCE_BYTES_MAX && s.file_off + s.n_bytes > end)
                        end = s.file_off + s.n_bytes;
        }
        return end;
}

/*
 * Does a range of bytes equal the one that was read?  Code may lie in one segment with the headers, which
 * are compared separately: the headers that are held name no sections.
 */
static bool has_bytes(const struct image_source *s, const uint8_t *bytes, uint64_t from, uint64_t to)
{
        if (from < s->image.header.n_bytes)
                from = s->image.header.n_bytes;
        return from >= to || memcmp(bytes + from, s->held.data + from, to - from) == 0;
}

/*
 * Is the code in @bytes, a whole image, the same as the mapped code, now or when the mapped bytes were
 * read?
 */
static bool has_code(const struct image_source *s, const uint8_t *bytes, size_t n_bytes)
{
        if (s->held.used_bytes == 0)
                return memory_image_has_code(&s->image, bytes, n_bytes);
        for (size_t i = 0; i < s->image.n_parts; i++) {
                const struct memory_image_part *p = &s->image.parts[i];
                uint64_t n = p->end_avma - p->start_avma;
                size_t least_bytes = n_bytes < s->held.used_bytes ? n_bytes : s->held.used_bytes;

                if (p->file_off > least_bytes || n > least_bytes - p->file_off ||
                    !has_bytes(s, bytes, p->file_off, p->file_off + n))
                        return false;
        }
        return s->image.n_parts > 0 && memory_image_has_content(&s->image, bytes, n_bytes);
}

/* Reads the image that begins at @avma, if it is this one and whole.  Returns 1, 0, -EFBIG, -ENOMEM. */
static int read_copy(const struct image_source *s, uint64_t avma, uint64_t bytes_max, struct byte_buffer *out)
{
        const struct memory_image *image = &s->image;
        uint64_t n_bytes = elf_header_count_bytes(&image->header), more_bytes;
        size_t before = out->used_bytes;
        const uint8_t *bytes;
        int r;

        if (n_bytes > bytes_max)
                return -EFBIG;
        r = process_memory_append(&image->memory, avma, n_bytes, out);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        more_bytes = count_with_sections(&image->header, out->data + before, n_bytes) - n_bytes;
        r = more_bytes <= bytes_max - n_bytes
                    ? process_memory_append(&image->memory, avma + n_bytes, more_bytes, out)
                    : -EFAULT;
        n_bytes = out->used_bytes - before;
        bytes = out->data + before;
        if (r == 0 && memcmp(bytes, image->begin, image->header.n_bytes) == 0 &&
            has_sections(&image->header, bytes, n_bytes) &&
            memory_image_has_build_id(image, bytes, n_bytes) && has_code(s, bytes, n_bytes))
                return 1;
        out->used_bytes = before;
        return r == -ENOMEM ? r : 0;
}

static bool may_be_copy(const struct memory_image *image, const struct image_search_hit *hit)
{
        return hit->avma != image->header_avma && hit->header.n_bytes == image->header.n_bytes &&
               memcmp(hit->begin, image->begin, image->header.n_bytes) == 0;
}

/*
 * Does the image at @avma differ from @whole, although the mapped part may belong to both?
 * Returns 1, 0, -ENOMEM.
 */
static int is_other_whole(const struct image_source *s, uint64_t avma, uint64_t bytes_max,
                          const struct byte_buffer *whole)
{
        struct byte_buffer other = { .data = NULL };
        int r = read_copy(s, avma, bytes_max, &other);

        if (r == 1)
                r = other.used_bytes != whole->used_bytes ||
                    memcmp(other.data, whole->data, whole->used_bytes) != 0;
        byte_buffer_deinit(&other);
        return r == -EFBIG ? 0 : r;
}

/*
 * Two images without a build-id may have the same mapped part: after the first copy, the search then goes
 * on in the heap.
 * @out:      empty
 * @ret_all:  all anonymous memory was searched
 * Returns 1 with all of the image, 0, -EEXIST if there is another one, -EFBIG, -ENOMEM.
 */
static int find_copy(struct image_source *s, const struct image_search_limits *limits, uint64_t bytes_max,
                     struct byte_buffer *out, uint64_t *ret_avma, bool *ret_all)
{
        struct memory_image *image = &s->image;
        struct image_search *search = NULL;
        struct image_search_hit hit;
        int found = image->copy_avma ? read_copy(s, image->copy_avma, bytes_max, out) : 0, r = found;

        *ret_avma = image->copy_avma;
        *ret_all = false;
        if (r >= 0 && !(found && image->build_id_bytes > 0))
                r = image_search_new(&image->memory, limits, &search);
        if (r == 0 && found)
                image_search_go_on_in_heap(search, PACE_SOURCE_SECOND_BYTES);
        while (r == 0 && image_search_next(search, &hit) == 1) {
                if (!may_be_copy(image, &hit) || (found && hit.avma == *ret_avma))
                        continue;
                if (found) {
                        r = is_other_whole(s, hit.avma, bytes_max, out);
                        r = r == 1 ? -EEXIST : r;
                        continue;
                }
                found = read_copy(s, hit.avma, bytes_max, out);
                *ret_avma = hit.avma;
                r = found < 0 || (found && image->build_id_bytes > 0) ? found : 0;
                if (found == 1)
                        image_search_go_on_in_heap(search, PACE_SOURCE_SECOND_BYTES);
        }
        *ret_all = search && image_search_has_heap(search);
        image_search_free(search);
        return r < 0 && r != -ENOENT ? r : found;
}

int image_source_find_only(const struct memory_image *image, const struct image_search_limits *limits,
                           struct byte_buffer *out, uint64_t *ret_avma, bool *ret_all)
{
        struct image_source s = { .image = *image };
        uint64_t avma;
        int r;

        process_memory_open(&s.image.memory, image->memory.pid);
        r = find_copy(&s, limits, limits->bytes_max, out, &avma, ret_all);
        process_memory_close(&s.image.memory);
        if (r == 1)
                *ret_avma = avma;
        else
                byte_buffer_deinit(out);
        return r == -EFBIG ? 0 : r;
}

int image_source_read_at(const struct memory_image *image, uint64_t avma, struct byte_buffer *out)
{
        const struct image_source s = { .image = *image };
        int r = avma != image->header_avma ? read_copy(&s, avma, IMAGE_SOURCE_BYTES_MAX, out) : 0;

        return r == -EFBIG ? 0 : r;
}

int image_source_search(void *source, const struct image_search_limits *limits, uint64_t bytes_max,
                        struct byte_buffer *out, uint64_t *ret_avma)
{
        struct image_source *s = source;
        uint64_t avma;
        bool all;
        int r = find_copy(s, limits, bytes_max < IMAGE_SOURCE_BYTES_MAX ? bytes_max : IMAGE_SOURCE_BYTES_MAX,
                          out, &avma, &all);

        process_memory_reopen_maps(&s->image.memory);
        if (r == 1)
                *ret_avma = avma;
        else
                byte_buffer_deinit(out);
        return r == -EFBIG || r == -EEXIST ? 0 : r;
}

int image_source_hold(void *source, uint64_t bytes_max)
{
        struct image_source *s = source;
        int r = s->held.used_bytes > 0 ? 0 : memory_image_append_parts(&s->image, bytes_max, &s->held);

        if (r < 0)
                byte_buffer_deinit(&s->held);
        return r;
}

void image_source_note_several(void *source)
{
        struct image_source *s = source;

        s->has_several = true;
}

void image_source_drop(void *source)
{
        struct image_source *s = source;

        byte_buffer_deinit(&s->held);
}

const struct byte_buffer *image_source_held(const void *source)
{
        const struct image_source *s = source;

        return &s->held;
}

static int read_parts(struct image_source *s, uint64_t bytes_max, struct byte_buffer *out)
{
        if (s->held.used_bytes == 0)
                return memory_image_append_parts(&s->image, bytes_max, out);
        if (s->held.used_bytes > bytes_max)
                return -EFBIG;
        byte_buffer_deinit(out);
        *out = s->held;
        s->held = (struct byte_buffer){ .data = NULL };
        return 0;
}

/*
 * The search is limited by processor time: on a loaded machine a limit by the clock would end it before it
 * begins.
 */
int image_source_read(void *source, uint64_t bytes_max, struct byte_buffer *out, uint32_t *ret_kind,
                      struct error *err)
{
        const struct image_search_limits limits = { .bytes_max = PACE_SOURCE_SEARCH_BYTES,
                                                    .until_thread_ns = clock_thread_ns() +
                                                                       PACE_SOURCE_SEARCH_NS };
        struct image_source *s = source;
        uint64_t avma;
        bool all;
        int r;

        if (bytes_max > IMAGE_SOURCE_BYTES_MAX)
                bytes_max = IMAGE_SOURCE_BYTES_MAX;
        r = s->has_several ? 0 : find_copy(s, &limits, bytes_max, out, &avma, &all);
        if (r == -ENOMEM)
                return error_set(err, r, "no memory for an image");
        if (r == 1) {
                *ret_kind = TRACE_ATTACHMENT_MODULE_FILE;
                return 0;
        }
        byte_buffer_deinit(out); /* one of several */
        /* An image that is too large as a whole may be small enough without its debug information. */
        r = read_parts(s, bytes_max, out);
        if (r == -EFAULT)
                return error_set(err, -ENOENT, "the image is gone");
        *ret_kind = TRACE_ATTACHMENT_MODULE_PARTS;
        return r < 0 ? error_set(err, r, "image in memory") : 0;
}

static void free_source(void *source)
{
        struct image_source *s = source;

        process_memory_close(&s->image.memory);
        byte_buffer_deinit(&s->held);
        free(s);
}

int image_source_new(const struct memory_image *image, struct code_source *ret_source)
{
        struct image_source *s = malloc(sizeof(*s));

        if (!s)
                return -ENOMEM;
        *s = (struct image_source){ .image = *image };
        process_memory_open(&s->image.memory, image->memory.pid); /* the keeper's thread has no right to */
        *ret_source = (struct code_source){ .source = s, .read = image_source_read, .free = free_source };
        return 0;
}
