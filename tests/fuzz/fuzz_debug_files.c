/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as a file of debug information, split or not, give sections, units
 * and stubs, or an error.
 */
#include "symbolize/debug/debug_file_search.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/debug/dwp_index.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/function_bounds.h"
#include "symbolize/elf/plt_table.h"
#include "symbolize/index/debug_files.h"
#include "symbolize/index/split_files.h"
#include "symbolize/index/symbol_table.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IDS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Touches each byte, so that a sanitizer sees what is not there. */
static uint64_t touch(const struct debug_sections *s)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < DEBUG_SECTION_COUNT; i++)
                for (size_t at = 0; at < s->sections[i].n_bytes; at++)
                        sum += s->sections[i].bytes[at];
        return sum;
}

/* Ids that are in the file somewhere: at the place of the first unit's, and in the index. */
static uint64_t find_id(const struct debug_sections *s, unsigned number)
{
        static const struct {
                enum debug_section section;
                size_t at;
        } places[IDS] = { { DEBUG_SECTION_INFO, 12 },
                          { DEBUG_SECTION_CU_INDEX, 16 },
                          { DEBUG_SECTION_CU_INDEX, 24 },
                          { DEBUG_SECTION_INFO, 24 } };
        const struct debug_section_bytes *section = &s->sections[places[number].section];
        uint64_t id = 0;

        if (section->n_bytes >= places[number].at + sizeof(id))
                memcpy(&id, section->bytes + places[number].at, sizeof(id));
        return id;
}

static uint64_t read_sections(Elf *elf, bool split)
{
        struct debug_sections whole, unit;
        uint64_t sum = 0;

        if (debug_sections_load(&whole, elf, split, NULL) < 0)
                return 0;
        sum = touch(&whole);
        for (unsigned i = 0; i < IDS; i++) {
                uint64_t id = find_id(&whole, i);
                size_t offset, unit_bytes;

                if (dwp_index_find(&whole, id, &unit))
                        sum += touch(&unit);
                if (split_unit_find(&whole, id, &offset, &unit_bytes) &&
                    (offset > whole.sections[DEBUG_SECTION_INFO].n_bytes ||
                     unit_bytes > whole.sections[DEBUG_SECTION_INFO].n_bytes - offset))
                        abort();
        }
        debug_sections_deinit(&whole);
        return sum;
}

static void read_image(const struct elf_image *image)
{
        const struct symbol_search nowhere = { .sysroot = "/nonexistent" };
        const struct debug_sections *sections;
        struct symbol_table table = { .entries = NULL };
        struct function_bounds bounds = { .rows = NULL };
        struct debug_files *files;
        uint64_t bias;

        if (debug_files_open(image, NULL, &nowhere, &files, NULL) < 0)
                abort();
        if (debug_files_find_sections(files, &sections, &bias, NULL) > 0)
                (void)touch(sections);
        (void)debug_files_find_supplement(files);
        (void)symbol_table_load(&table, files, &bounds, NULL);
        for (size_t i = 0; i < table.n_entries; i++)
                if (strlen(table.entries[i].name) == 0)
                        abort();
        symbol_table_deinit(&table);
        function_bounds_deinit(&bounds);
        debug_files_close(files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct debug_file_reference reference;
        struct elf_image *image;
        uint8_t *copy = malloc(n_bytes + 1);
        Elf *elf;

        if (!copy)
                abort();
        memcpy(copy, data, n_bytes);
        (void)elf_version(EV_CURRENT);
        if (elf_image_open_memory(copy, n_bytes, &image, NULL) == 0) {
                read_image(image);
                elf_image_close(image);
        }
        elf = elf_memory((char *)copy, n_bytes);
        if (elf && elf_kind(elf) == ELF_K_ELF) {
                (void)read_sections(elf, false);
                (void)read_sections(elf, true);
                (void)supplement_link_read(elf, &reference);
        }
        if (elf)
                (void)elf_end(elf);
        free(copy);
        return 0;
}
