/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/function_bounds.h"

#include "base/array.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/frame_sections.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

/* Linkers keep the entries of discarded functions: their addresses are outside of all code, or 0. */
static bool is_code(const struct elf_image *image, uint64_t first_svma, const struct cfi_fde *fde)
{
        if (fde->start_svma < first_svma)
                return false;
        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];

                if (s->executable && fde->start_svma >= s->svma &&
                    fde->start_svma - s->svma < s->memory_bytes && fde->end_svma - s->svma <= s->memory_bytes)
                        return fde->end_svma > fde->start_svma;
        }
        return false;
}

static int add(struct function_bounds *bounds, const struct cfi_fde *fde)
{
        int r = array_reserve(&bounds->rows, &bounds->rows_capacity, bounds->n_rows + 1,
                              sizeof(*bounds->rows));

        if (r == 0)
                r = address_map_add(&bounds->ranges, fde->start_svma, fde->end_svma,
                                    (uint32_t)bounds->n_rows);
        if (r == 0)
                bounds->rows[bounds->n_rows++] = (struct function_bound){ fde->start_svma, fde->end_svma };
        return r;
}

static int add_section(struct function_bounds *bounds, const struct elf_image *image,
                       const struct cfi_section *section)
{
        uint64_t first_svma = elf_image_first_code(image);
        struct cfi_reader reader;
        struct cfi_fde fde;
        int r = 0;

        cfi_reader_init(&reader, section);
        while (r == 0 && bounds->n_rows < FUNCTION_BOUNDS_MAX && cfi_reader_next(&reader, &fde) == 1)
                if (is_code(image, first_svma, &fde))
                        r = add(bounds, &fde);
        return r;
}

int function_bounds_load(struct function_bounds *bounds, const struct elf_image *image)
{
        struct cfi_section sections[FRAME_SECTIONS_MAX];
        GElf_Ehdr header;
        size_t n_sections;
        int r = 0;

        if (bounds->is_loaded)
                return 0;
        bounds->is_loaded = true;
        /* The reader of the sections only knows little-endian files. */
        if (!gelf_getehdr(image->elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB)
                return 0;
        n_sections = frame_sections_find(image, sections);
        for (size_t i = 0; i < n_sections && r == 0; i++)
                r = add_section(bounds, image, &sections[i]);
        if (r == 0)
                r = address_map_build(&bounds->ranges);
        if (r < 0) {
                function_bounds_deinit(bounds);
                bounds->is_loaded = true;
        }
        return r;
}

void function_bounds_deinit(struct function_bounds *bounds)
{
        free(bounds->rows);
        address_map_deinit(&bounds->ranges);
        *bounds = (struct function_bounds){ .rows = NULL };
}

uint64_t function_bounds_find_next(const struct function_bounds *bounds, uint64_t svma)
{
        return address_map_find_next(&bounds->ranges, svma);
}

const struct function_bound *function_bounds_find(const struct function_bounds *bounds, uint64_t svma)
{
        uint32_t at = address_map_find(&bounds->ranges, svma);

        return at == ADDRESS_MAP_NONE ? NULL : &bounds->rows[at];
}
