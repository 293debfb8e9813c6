/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/image_code.h"

#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/elf/elf_image.h"

#include <stddef.h>
#include <string.h>

bool image_code_is_there(const struct elf_image *image)
{
        for (size_t i = 0; i < image->n_segments; i++)
                if (image->segments[i].executable && image->segments[i].file_bytes > 0)
                        return true;
        return false;
}

static const uint8_t *image_code_bytes_of(const struct elf_image *image,
                                          const struct elf_image_segment *segment)
{
        size_t n_bytes;
        const char *bytes = elf_rawfile(image->elf, &n_bytes);

        if (!bytes || segment->file_off > n_bytes || segment->file_bytes > n_bytes - segment->file_off)
                return NULL;
        return (const uint8_t *)bytes + segment->file_off;
}

/* Stripping changes the ELF header, which older linkers put into the segment of the code. */
static size_t count_header_bytes(const struct elf_image_segment *segment)
{
        if (segment->file_off >= sizeof(Elf64_Ehdr))
                return 0;
        return segment->file_bytes < sizeof(Elf64_Ehdr) - segment->file_off
                       ? (size_t)segment->file_bytes
                       : (size_t)(sizeof(Elf64_Ehdr) - segment->file_off);
}

static bool has_segment(const struct elf_image *image, const struct elf_image_segment *wanted,
                        const uint8_t *bytes)
{
        size_t skip = count_header_bytes(wanted);

        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                const uint8_t *own = image_code_bytes_of(image, s);

                if (s->executable == wanted->executable && s->file_off == wanted->file_off &&
                    s->svma == wanted->svma && s->file_bytes == wanted->file_bytes)
                        return own && memcmp(own + skip, bytes + skip, s->file_bytes - skip) == 0;
        }
        return false;
}

static bool image_code_is_zero(const uint8_t *bytes, uint64_t n_bytes)
{
        return bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)n_bytes - 1) == 0;
}

bool image_code_is_equal(const struct elf_image *a, const struct elf_image *b)
{
        for (size_t i = 0; i < a->n_segments; i++) {
                const struct elf_image_segment *s = &a->segments[i];
                const uint8_t *bytes = image_code_bytes_of(a, s);

                if (s->executable && (!bytes || !has_segment(b, s, bytes)))
                        return false;
                if (!s->executable && !s->writable && bytes && s->file_bytes > 0 &&
                    !image_code_is_zero(bytes, s->file_bytes) && !has_segment(b, s, bytes))
                        return false;
        }
        return image_code_is_there(a);
}

/* A mapping of @module as long as @segment in pages of some size; on return true its place is put in. */
static bool image_code_find_place(struct elf_image_segment *segment, const struct trace_dictionary *d,
                                  uint32_t module)
{
        static const uint64_t page_sizes[] = { 4096, 16384, 65536 };

        if (segment->memory_bytes > UINT64_MAX / 4 || segment->svma > UINT64_MAX / 4)
                return false;
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MAPPINGS); i++) {
                const struct trace_mapping *row = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS, i);

                for (size_t k = 0; k < sizeof(page_sizes) / sizeof(page_sizes[0]); k++) {
                        uint64_t in_page = segment->svma % page_sizes[k];
                        uint64_t n_pages = (in_page + segment->memory_bytes + page_sizes[k] - 1) /
                                           page_sizes[k];

                        if (row->module != module || row->length_bytes != n_pages * page_sizes[k] ||
                            row->file_offset_bytes > UINT64_MAX / 4)
                                continue;
                        segment->file_off = row->file_offset_bytes + in_page;
                        segment->file_bytes = segment->memory_bytes;
                        return true;
                }
        }
        return false;
}

bool image_code_place(struct elf_image *image, const struct trace_dictionary *dictionary, uint32_t module)
{
        struct elf_image_segment *code = NULL;

        for (size_t i = 0; i < image->n_segments; i++) {
                if (!image->segments[i].executable) {
                        image->segments[i].file_bytes = 0; /* its place is that of another file */
                        continue;
                }
                if (code)
                        return false;
                code = &image->segments[i];
        }
        return code && image_code_find_place(code, dictionary, module);
}
